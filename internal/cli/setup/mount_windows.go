package setup

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// networkMount names the kind of network mount that a folder is on, or "".
func networkMount(dir string) string {
	volume := filepath.VolumeName(dir)
	if strings.HasPrefix(volume, `\\`) {
		return "network share"
	}
	root, err := windows.UTF16PtrFromString(volume + `\`)
	if err == nil && windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		return "network drive"
	}
	return ""
}
