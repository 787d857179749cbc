// Package fetch brings in what a resource is made from: an uploaded file, a page or file of the web, a Git repository, the members of a zip
// archive. What it hands on is a list of files with safe, readable and unique names; nothing outside a folder of its own is written, no address
// of an inner network is called, and everything is bounded.
package fetch
