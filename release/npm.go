package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"

	"github.com/skald-engine/skald/openclaw"
)

const repository = "github:skald-engine/skald"

// npm makes a package for each build of the plugin, and one for each platform's binary. The binaries are optional dependencies of the
// plugin's package, so that npm takes the right one.
func (r *release) npm(context.Context) error {
	licence, err := load("LICENSE")
	if err != nil {
		return err
	}
	optional, required := map[string]string{}, []string{}
	for _, p := range r.list {
		optional[p.npmName()] = r.version
		required = append(required, p.npmName())
		if err := r.npmPlatform(p, licence); err != nil {
			return err
		}
	}
	for _, id := range openclaw.Builds {
		if err := r.npmPlugin(id, licence, optional, required); err != nil {
			return err
		}
	}
	return nil
}

func (p platform) npmName() string { return "skald-openclaw-" + p.npmOS() + "-" + p.npmCPU() }

// npmBinary is where the binary lies in its package. The host copies a plugin's declared dependencies at every load, as it does the plugin,
// but no folder of the name node_modules; npm leaves alone what has a dot there.
func (p platform) npmBinary() string { return "node_modules/.skald/" + p.binary() }

func (r *release) npmPlatform(p platform, licence []file) error {
	binary, err := os.ReadFile(r.binaries[p])
	if err != nil {
		return err
	}
	readme := fmt.Sprintf("The `skald` binary for %s. Install `skald-openclaw`, which brings the right one.\n", p)
	return r.npmWrite(p.npmName(), map[string]any{
		"description": fmt.Sprintf("The skald binary for %s on %s", p.npmOS(), p.npmCPU()),
		"os":          []string{p.npmOS()}, "cpu": []string{p.npmCPU()},
		"preferUnplugged": true,
	}, append(licence,
		program(p.npmBinary(), binary),
		text(licencesFile, r.licences),
		text("README.md", []byte(readme)),
	))
}

// npmPlugin is the folder that the host loads, with the binaries as dependencies and the command line for `npm install -g`.
func (r *release) npmPlugin(id string, licence []file, optional map[string]string, required []string) error {
	plugin, err := pluginFiles(id)
	if err != nil {
		return err
	}
	var manifest map[string]any
	files := licence
	for _, f := range plugin {
		if f.name == "package.json" {
			if err := json.Unmarshal(f.data, &manifest); err != nil {
				return err
			}
			continue
		}
		files = append(files, f)
	}
	readme, err := r.render("npm-"+id+".md", nil)
	if err != nil {
		return err
	}
	files = append(files, text("README.md", readme))
	manifest["optionalDependencies"] = optional
	manifest["engines"] = map[string]string{"node": ">=20"}
	manifest["keywords"] = []string{"openclaw", "openclaw-plugin", "context-engine", "memory", "agent"}
	manifest["openclaw"].(map[string]any)["install"].(map[string]any)["requiredPlatformPackages"] = required
	if id == "skald" {
		shim, err := fs.ReadFile(templates, "templates/skald.mjs")
		if err != nil {
			return err
		}
		files = append(files, program("bin/skald.mjs", shim))
		manifest["bin"] = map[string]string{"skald": "bin/skald.mjs"}
	}
	return r.npmWrite(manifest["name"].(string), manifest, files)
}

// npmWrite packs as `npm pack` does: everything below package/.
func (r *release) npmWrite(name string, manifest map[string]any, files []file) error {
	manifest["name"], manifest["version"] = name, r.version
	manifest["license"], manifest["repository"] = "Apache-2.0", repository
	data, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return err
	}
	files = append(files, text("package.json", append(data, '\n')))
	return writeTarGz(r.artefact("%s-%s.tgz", name, r.version), r.date, below("package", files))
}

// pluginFiles is a build of the plugin, as the skald binary carries it.
func pluginFiles(id string) ([]file, error) {
	folder, err := openclaw.Files(id)
	if err != nil {
		return nil, err
	}
	var files []file
	err = fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(folder, path)
		files = append(files, text(path, data))
		return err
	})
	return files, err
}

// pluginVersion is the version that the plugin was built with.
func pluginVersion() (string, error) {
	folder, err := openclaw.Files("skald")
	if err != nil {
		return "", err
	}
	data, err := fs.ReadFile(folder, "package.json")
	if err != nil {
		return "", err
	}
	var manifest struct{ Version string }
	err = json.Unmarshal(data, &manifest)
	return manifest.Version, err
}
