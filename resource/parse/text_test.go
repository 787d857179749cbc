package parse_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/resource/parse"
)

// CJK-05: a text reads the same in every common encoding; what is no text is refused.
func TestCJK05Encodings(t *testing.T) {
	t.Parallel()
	chinese := "第一行：我们在数据库中保存所有的对话。\n第二行：每一句话都可以找到。\n第三行：没有丢失。\n"
	japaneseText := "これは日本語の文章です。\nデータベースにすべてを保存します。\n"
	koreanText := "우리는 모든 대화를 데이터베이스에 저장합니다.\n다시 찾을 수 있습니다.\n"
	traditional := "我們在資料庫中保存所有的對話，每一句話都可以找到，沒有遺失。\n"
	french := "L'été dernier, la mère de François a mangé des pâtes à Noël.\n"
	for what, c := range map[string]struct {
		text string
		e    encoding.Encoding
	}{
		"utf-8": {chinese, encoding.Nop}, "utf-8 bom": {chinese, unicode.UTF8BOM},
		"utf-16le": {chinese, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)}, "utf-16be": {chinese, unicode.UTF16(unicode.BigEndian, unicode.UseBOM)},
		"gb18030": {chinese, simplifiedchinese.GB18030}, "gbk": {chinese, simplifiedchinese.GBK}, "shift-jis": {japaneseText, japanese.ShiftJIS},
		"euc-jp": {japaneseText, japanese.EUCJP}, "euc-kr": {koreanText, korean.EUCKR}, "big5": {traditional, traditionalchinese.Big5},
		"latin": {french, charmap.Windows1252}, "ascii as utf-16": {"plain words in UTF-16\n", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
	} {
		b, err := c.e.NewEncoder().Bytes([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, what, read(t, "a.txt", b).Text, c.text)
	}
	refused(t, "picture.txt", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), skald.KindUnsupported, "holds no text")
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	d := read(t, "a.md", []byte("---\ntitle: Front\n---\n# One [link](x)\r\n\r\nText\n\n```\n# no heading\n```\n\nTwo\n---\n\n### **Three**\n"))
	equal(t, "title", d.Title, "Front")
	equal(t, "outline", strings.Join(d.Outline, "|"), "One link|  Two|    Three")
	equal(t, "line ends", strings.ReplaceAll(d.Text, "\r", "?"), d.Text)
}

func TestPage(t *testing.T) {
	t.Parallel()
	d, err := parse.File(t.Context(), parse.Input{Name: "index", Media: "text/html; charset=utf-8", URL: "https://example.org/a/b",
		Body: []byte(`<html><head><title>Tides</title><style>x{}</style></head><body><nav>Menu here</nav><h1>Tides</h1><p>The sea <a href="/x">rises</a>.</p>
<script>alert(1)</script><table><tr><th>a</th></tr><tr><td>1</td></tr></table><img src="data:image/png;base64,AAAA"></body></html>`)})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "title", d.Title, "Tides")
	if !strings.Contains(d.Text, "[rises](https://example.org/x)") || strings.Contains(d.Text, "alert") || strings.Contains(d.Text, "Menu") || strings.Contains(d.Text, "base64") {
		t.Errorf("text %q", d.Text)
	}
	deep := read(t, "deep.html", []byte("<html><body>"+strings.Repeat("<div>", 450)+"words"))
	equal(t, "deep", deep.Text, "words")
	empty := read(t, "empty.html", []byte("<html><body><script>x</script></body></html>"))
	if len(empty.Notes) == 0 {
		t.Error("an empty page says nothing")
	}
	german := read(t, "l.html", []byte("<html><head><meta charset='iso-8859-1'></head><body><p>gr\xfc\xdfe</p></body></html>"))
	equal(t, "encoding", german.Text, "grüße")
}

func TestStructuredText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, outline, abstract string }{
		"a.json":     {`{"port": 1, "baud": {"x": 2}}`, "keys: port, baud", "JSON with port, baud"},
		"a.yaml":     {"# note\nserver:\n  port: 1\nlog: x\n", "keys: server, log", "YAML with server, log"},
		"a.toml":     {"name = 'x'\n[server]\nport = 1\n[[list]]\n", "keys: name, server, port, list", "TOML with name, server, port, list"},
		"a.csv":      {"time,height\n1,2\n3,\"4\n5\"\n", "columns: time, height", "A table of 2 rows; its columns: time, height"},
		"b.csv":      {"zeit;höhe\n1;2\n", "columns: zeit, höhe", "A table of 1 rows; its columns: zeit, höhe"},
		"a.tsv":      {"a\tb\n", "columns: a, b", "A table of 0 rows; its columns: a, b"},
		"a.json.bak": {"{}", "", ""},
	} {
		d := read(t, name, []byte(c.body))
		equal(t, name, d.Text, c.body)
		equal(t, name, strings.Join(d.Outline, "|"), c.outline)
		equal(t, name, d.Abstract, c.abstract)
	}
}

// Every kind of source of requirement 001-073 is read and outlined.
func TestSourceCode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, outline, abstract string }{
		"a.py":    {"#!/usr/bin/env python\n\"\"\"Reads the sensor.\n\nMore.\"\"\"\nimport os\n\nclass Buoy:\n    def read(self):\n        pass\n", "class Buoy:|    def read(self):", "Reads the sensor."},
		"a.js":    {"// Copyright x\n\n// Draws tides.\nexport function draw(a) {\n}\nif (x) {\n}\n", "export function draw(a)", "Draws tides."},
		"a.ts":    {"export interface Tide {\n}\nexport class Sea {\n}\n", "export interface Tide|export class Sea", ""},
		"a.go":    {"// Package a counts.\npackage a\n\nfunc (b *Buoy) Count() int {\n}\ntype Buoy struct{\n", "func (b *Buoy) Count() int|type Buoy struct", "Package a counts."},
		"a.rs":    {"pub fn read() -> u8 {\n}\npub struct Buoy {\n}\n", "pub fn read() -> u8|pub struct Buoy", ""},
		"a.java":  {"public class Buoy {\n", "public class Buoy", ""},
		"a.cpp":   {"int read(int a) {\n}\n", "int read(int a)", ""},
		"a.rst":   {"Guide\n=====\n", "", ""},
		"a.proto": {"message Tide {\n}\nservice Sea {\n", "message Tide|service Sea", ""},
		"a.tf":    {"resource \"aws_x\" \"y\" {\n", `resource "aws_x" "y"`, ""},
		"a.vue":   {"<template>\n</template>\n", "", ""},
		"a.sql":   {"CREATE TABLE tide (id INT);\n", "CREATE TABLE tide (id INT);", ""},
		"LICENSE": {"words", "", ""},
	} {
		d := read(t, name, []byte(c.body))
		equal(t, name, d.Text, c.body)
		equal(t, name+" outline", strings.Join(d.Outline, "|"), c.outline)
		equal(t, name+" abstract", d.Abstract, c.abstract)
	}
	refused(t, "a.bin", []byte{0, 1, 2, 3}, skald.KindUnsupported, "not known")
	refused(t, "a.go", []byte("\x7fELF\x00\x00\x00"), skald.KindUnsupported, "holds no text")
	own, err := os.ReadFile(filepath.Join("text_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	if d := read(t, "text_test.go", own); len(d.Outline) < 5 {
		t.Errorf("outline %q", d.Outline)
	}
}
