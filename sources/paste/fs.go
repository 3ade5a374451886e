package paste

import (
	"io/fs"
	"path"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// ReadFS reads every file of a file system, such as an embedded folder, as [Read] reads a folder. The set is not finished.
func ReadFS(fsys fs.FS, opt Options) (*evidence.Set, error) {
	set := &evidence.Set{}
	g := &gathering{set: set, opt: opt, partial: map[string]bool{}}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Base(p) == "README.md" {
			return err
		}
		f, err := fsys.Open(p)
		if err != nil {
			return err
		}
		defer f.Close()
		g.opened++
		g.read(p, f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	g.coverage()
	return set, nil
}
