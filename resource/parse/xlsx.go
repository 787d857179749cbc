package parse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"
)

// Limits of a sheet: what is beyond is counted, and said.
const (
	maxRows    = 5000
	maxColumns = 64
)

// sheets reads a workbook: a section with a table for each sheet.
func sheets(ctx context.Context, in Input) (Document, error) {
	if bytes.HasPrefix(in.Body, compoundFile) {
		return Document{}, encrypted(in)
	}
	f, err := excelize.OpenReader(bytes.NewReader(in.Body), excelize.Options{UnzipSizeLimit: maxParts, UnzipXMLSizeLimit: maxPart})
	switch {
	case errors.Is(err, excelize.ErrWorkbookPassword), errors.Is(err, excelize.ErrWorkbookFileFormat) && bytes.HasPrefix(in.Body, compoundFile):
		return Document{}, encrypted(in)
	case err != nil:
		return Document{}, broken(in, err)
	}
	defer f.Close()
	var b strings.Builder
	var d Document
	for _, name := range f.GetSheetList() {
		if ctx.Err() != nil {
			return Document{}, ctx.Err()
		}
		rows, total, err := readSheet(ctx, f, name)
		if err != nil {
			return Document{}, broken(in, fmt.Errorf("sheet %s: %w", name, err))
		}
		d.Outline = append(d.Outline, fmt.Sprintf("%s: %d rows", name, total))
		if total > maxRows {
			d.Notes = append(d.Notes, fmt.Sprintf("sheet %s: the first %d of %d rows are read", name, maxRows, total))
		}
		if len(rows) > 0 {
			fmt.Fprintf(&b, "## %s\n\n%s\n", name, tableOf(rows))
		}
	}
	d.Text = b.String()
	if d.Text == "" {
		d.Notes = append(d.Notes, "no cells with content in it")
	}
	if props, err := f.GetDocProps(); err == nil {
		d.Title = props.Title
	}
	return d, nil
}

// readSheet is a sheet's rows that are not empty, and how many there are; beyond maxRows the cells are not looked at: a short row can stand
// for 16,384 of them.
func readSheet(ctx context.Context, f *excelize.File, name string) (rows [][]string, total int, err error) {
	r, err := f.Rows(name)
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	for r.Next() {
		if total >= maxRows {
			if total++; total%1024 == 0 && ctx.Err() != nil {
				return nil, 0, ctx.Err()
			}
			continue
		}
		cells, err := r.Columns()
		if err != nil {
			return nil, 0, err
		}
		if strings.TrimSpace(strings.Join(cells, "")) == "" {
			continue
		}
		total++
		rows = append(rows, slices.Clone(cells[:min(len(cells), maxColumns)]))
	}
	return rows, total, r.Error()
}
