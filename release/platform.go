package main

import (
	"fmt"
	"slices"
	"strings"
)

// platform is one target, in Go's words.
type platform struct{ os, arch string }

var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

func (p platform) String() string { return p.os + "/" + p.arch }

// binary is the program's file name.
func (p platform) binary() string {
	if p.os == "windows" {
		return "skald.exe"
	}
	return "skald"
}

// npmOS and npmCPU are node's process.platform and process.arch.
func (p platform) npmOS() string {
	if p.os == "windows" {
		return "win32"
	}
	return p.os
}

func (p platform) npmCPU() string {
	if p.arch == "amd64" {
		return "x64"
	}
	return p.arch
}

// choose reads a list as linux/amd64,darwin/arm64.
func choose(list string) ([]platform, error) {
	if list == "" {
		return platforms, nil
	}
	var chosen []platform
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("%q is none of the platforms %v", name, platforms)
		}
		chosen = append(chosen, platforms[i])
	}
	return chosen, nil
}
