// Package resource imports files, pages, repositories and archives into the viking:// tree. An import is a job: it survives a restart, goes on
// where it was, and changes only what changed since the import before. Watches repeat imports, uploads wait for theirs.
package resource
