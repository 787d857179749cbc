package app

import (
	"net/http"
	"reflect"
	"slices"
	"testing"

	"github.com/skald-engine/skald/server"
)

// routesOf lists every pattern that a server's mux knows, as the mux itself has them: none can be forgotten here. ServeMux has no list, so
// its tree is walked.
func routesOf(t *testing.T, s *server.Server) []string {
	t.Helper()
	mux := reflect.ValueOf(s).Elem().FieldByName("mux")
	if mux.Type() != reflect.TypeFor[*http.ServeMux]() {
		t.Fatalf("server.Server.mux is a %s", mux.Type())
	}
	found := map[string]bool{}
	collect(mux.Elem().FieldByName("tree"), found)
	var all []string
	for p := range found {
		all = append(all, p)
	}
	slices.Sort(all)
	if len(all) < 100 {
		t.Fatalf("only %d routes are found: net/http.ServeMux is built otherwise now", len(all))
	}
	return all
}

// collect gathers the text of every *http.pattern below v.
func collect(v reflect.Value, found map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			collect(v.Elem(), found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			collect(v.Index(i), found)
		}
	case reflect.Map:
		for i := v.MapRange(); i.Next(); {
			collect(i.Value(), found)
		}
	case reflect.Struct:
		if v.Type().PkgPath() == "net/http" && v.Type().Name() == "pattern" {
			found[v.FieldByName("str").String()] = true
			return
		}
		for i := range v.NumField() {
			collect(v.Field(i), found)
		}
	}
}
