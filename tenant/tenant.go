// Package tenant keeps accounts, their users and the users' keys, as records of the daemon's own scope. A key is shown once, when it is
// made: what is kept is its SHA-256 and its first characters. Who may call what is not decided here but by those who let callers in.
package tenant

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/skald-engine/skald"
)

// Account is a tenant: users share its resources and skills, and nothing crosses from it to another (I9). Its JSON is OpenViking's.
type Account struct {
	ID      string    `json:"account_id"`
	Created time.Time `json:"created_at"`
	Users   int       `json:"user_count"`
	Status  string    `json:"status"`            // active, deleting
	Task    string    `json:"task_id,omitempty"` // of the deletion
}

// The states of accounts and users.
const (
	Active   = "active"
	Deleting = "deleting"
)

// User is a user of an account.
type User struct {
	ID        string     `json:"user_id"`
	Role      skald.Rank `json:"role"`                 // user, admin
	KeyPrefix string     `json:"key_prefix,omitempty"` // first characters of the key's secret part; "" where the user has no key
	Status    string     `json:"status,omitempty"`     // "" active, deleting
	Task      string     `json:"task_id,omitempty"`    // of the deletion
}

// NewUser is a user to be made.
type NewUser struct {
	Account, User string
	Role          skald.Rank // "" is user
	Seed          string     // the key is derived from it; "": a random one
	NoKey         bool       // make no key: callers are told by headers
	Config        UserConfig
}

// UserConfig are a user's own settings.
type UserConfig struct {
	Targets Targets         `json:"add_targets"`
	Memory  json.RawMessage `json:"memory_policy,omitempty"` // an object of OpenViking's form, or nil
}

// Targets are where a user's resources and skills go when an import names no place. "" leaves it to the importer.
type Targets struct {
	Resource string `json:"resource_uri,omitempty"`
	Skill    string `json:"skill_uri,omitempty"`
}

// Settings are an account's settings. nil means: as the daemon's configuration says.
type Settings struct {
	Evolution *bool         `json:"agent_evolution,omitempty"`
	Policy    *skald.Policy `json:"policy,omitempty"` // how its namespaces are shared; it changes where things are stored
}

// Deletion is a deletion that has begun: the keys are revoked, and a job erases the data.
type Deletion struct {
	Account string `json:"account_id"`
	User    string `json:"user_id,omitempty"`
	Status  string `json:"status"`  // deleting
	Task    string `json:"task_id"` // id of the job
}

// BeingDeleted is the error for a caller whose user or account is being deleted.
type BeingDeleted struct {
	What string // "User" or "Account"
	Task string
}

func (e *BeingDeleted) Error() string { return e.What + " deletion is in progress" }

// ErrConfigured is the error of deleting a user whose key stands in the daemon's configuration, or the account of such a user.
var ErrConfigured = errors.New("a key of the daemon's configuration belongs to it: take that key out and start the daemon anew")

// What an error of this package is about, in its Field.
const (
	fieldAccount = "account"
	fieldUser    = "user"
)

// Missing and taken name an account or user; Op is "tenant" for all of them, URI the name.
func missing(field, name string) error {
	return &skald.Error{Op: "tenant", URI: name, Field: field, Kind: skald.KindNotFound, Err: fmt.Errorf("there is no such %s", field)}
}

func taken(field, name string) error {
	return &skald.Error{Op: "tenant", URI: name, Field: field, Kind: skald.KindExists, Err: fmt.Errorf("there is such a %s already", field)}
}

// CheckID checks the name of an account or user: a safe identifier with at most one @; an account's does not begin with an underscore.
func CheckID(field, name string) error {
	switch {
	case !skald.SafeID(name):
		return skald.Invalid("tenant", field, "%q: 1 to 128 letters, digits and _@.- only, not dots alone", name)
	case strings.Count(name, "@") > 1:
		return skald.Invalid("tenant", field, "%q has more than one @", name)
	case field == "account_id" && name[0] == '_':
		return skald.Invalid("tenant", field, "%q begins with an underscore", name)
	}
	return nil
}
