package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestDebVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"1.2.3": "1.2.3", "1.2.3-rc.1": "1.2.3~rc.1", "1.2.3-4-gabc": "1.2.3+4.gabc",
		"1.2.3-4-gabc-dirty": "1.2.3+4.gabc.dirty", "1.2.3-dirty": "1.2.3+dirty",
	} {
		if got := debVersion(version); got != want {
			t.Errorf("%s: %s, not %s", version, got, want)
		}
	}
}

func TestVersionOf(t *testing.T) {
	t.Parallel()
	plugin, err := pluginVersion()
	if err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]string{
		"v" + plugin: plugin, plugin + "-rc.1": plugin + "-rc.1", "v" + plugin + "-3-gabc-dirty": plugin + "-3-gabc-dirty",
	} {
		if got, err := versionOf(t.Context(), given); err != nil || got != want {
			t.Errorf("%s: %s, %v", given, got, err)
		}
	}
	for _, given := range []string{"99.0.0", "latest", "1.2"} {
		if got, err := versionOf(t.Context(), given); err == nil {
			t.Errorf("%s is taken as %s", given, got)
		}
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	list, err := choose("linux/arm64,windows/amd64")
	if err != nil || len(list) != 2 || list[1].binary() != "skald.exe" || list[1].npmName() != "skald-openclaw-win32-x64" {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := choose("plan9/amd64"); err == nil {
		t.Error("a platform that is not built is taken")
	}
}

// TestClean: a folder with anything but artefacts is left alone.
func TestClean(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"skald_1.tar.gz", sumsFile, licencesFile} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := clean(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "letter.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := clean(dir); err == nil || !strings.Contains(err.Error(), "letter.txt") {
		t.Errorf("cleaned: %v", err)
	}
}

// TestOrderDoesNotMatter: archives depend on what is in them and on the date.
func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	a, b := text("a", []byte("1")), program("b/c", []byte("2"))
	for kind, pack := range map[string]func(string, time.Time, []file) error{"tar": writeTarGz, "zip": writeZip} {
		var packed [2]string
		for i, files := range [][]file{{a, b}, {b, a}} {
			path := filepath.Join(t.TempDir(), "x")
			if err := pack(path, time.Unix(1_000_000_000, 0).UTC(), files); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			packed[i] = string(data)
		}
		if packed[0] != packed[1] {
			t.Errorf("%s: the order of files shows", kind)
		}
	}
}

func TestLicenceKinds(t *testing.T) {
	t.Parallel()
	gpl := "GNU GENERAL\nPUBLIC LICENSE Version 3"
	for name, c := range map[string]struct {
		texts map[string]string
		want  string
	}{
		"MIT":        {map[string]string{"LICENSE": "Permission is hereby granted, free\nof charge, to any person"}, "MIT"},
		"Apache":     {map[string]string{"LICENSE": "Apache License\n   Version 2.0, January 2004", "NOTICE": "x"}, "Apache-2.0"},
		"GPL":        {map[string]string{"LICENSE": gpl}, ""},
		"GPL nested": {map[string]string{"LICENSE": "Redistribution and use in source and binary forms", "c/COPYING": gpl}, ""},
		"unknown":    {map[string]string{"LICENSE": "All rights reserved"}, ""},
		"none":       {nil, ""},
	} {
		kinds, err := (&linked{texts: c.texts}).kinds()
		if got := strings.Join(kinds, " "); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
