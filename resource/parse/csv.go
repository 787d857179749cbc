package parse

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// table keeps a CSV or TSV file as it is, and says what its columns are.
func table(_ context.Context, in Input) (Document, error) {
	s := decode(in.Body)
	d := Document{Text: s, Own: true}
	r := csv.NewReader(strings.NewReader(s))
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = -1, true, true
	first, _, _ := strings.Cut(s, "\n")
	switch {
	case strings.EqualFold(path.Ext(in.Name), ".tsv") || strings.Count(first, "\t") > strings.Count(first, ","):
		r.Comma = '\t'
	case strings.Count(first, ";") > strings.Count(first, ","):
		r.Comma = ';'
	}
	head, err := r.Read()
	if err != nil {
		if !errors.Is(err, io.EOF) {
			d.Notes = append(d.Notes, "its rows cannot be told apart: "+err.Error())
		}
		return d, nil
	}
	columns := strings.Join(head[:min(len(head), maxColumns)], ", ")
	rows := 0
	for {
		if _, err = r.Read(); err != nil {
			break
		}
		rows++
	}
	if !errors.Is(err, io.EOF) {
		d.Notes = append(d.Notes, "its rows cannot be told apart: "+err.Error())
	}
	d.Abstract = fmt.Sprintf("A table of %d rows; its columns: %s", rows, columns)
	d.Outline = []string{"columns: " + columns}
	return d, nil
}
