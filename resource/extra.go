package resource

import "encoding/json"

// merged puts a mark over what stands in a node's Extra; members of other rooms stay.
func merged(extra []byte, m mark) []byte {
	all := map[string]json.RawMessage{}
	_ = json.Unmarshal(extra, &all) // nothing there: nothing to keep
	for _, own := range []string{"import", "from", "at", "hash", "way", "parse", "source", "reason", "instruction", "revision"} {
		delete(all, own)
	}
	var fresh map[string]json.RawMessage
	_ = json.Unmarshal(asJSON(m), &fresh) // it was encoded just now
	for k, v := range fresh {
		all[k] = v
	}
	return asJSON(all)
}
