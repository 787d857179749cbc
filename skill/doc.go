// Package skill keeps an agent's skills: folders of the viking:// tree that hold a SKILL.md and the files that it speaks of. A skill is read
// out of a text, an object or a zip archive, checked, stored with all its files in one transaction, listed, found and removed.
package skill
