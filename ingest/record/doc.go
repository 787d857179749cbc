// Package record is what the import sources of other programs share: it writes messages in the host's form, reads files line by line, and
// counts what is left out. It knows no program.
package record
