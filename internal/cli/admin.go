package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/client"
	"github.com/skald-engine/skald/tenant"
)

// office is where accounts are managed: in a data folder, or at a daemon.
type office interface {
	Accounts(ctx context.Context) ([]tenant.Account, error)
	CreateAccount(ctx context.Context, u tenant.NewUser) (key string, err error)
	DeleteAccount(ctx context.Context, account string) (tenant.Deletion, error)
	ChangeSettings(ctx context.Context, account string, s tenant.Settings) (tenant.Settings, error)
	Users(ctx context.Context, account string, q tenant.UserQuery) ([]tenant.User, error)
	AddUser(ctx context.Context, u tenant.NewUser) (key string, err error)
	DeleteUser(ctx context.Context, account, user string) (tenant.Deletion, error)
	Promote(ctx context.Context, account, user string) error
	NewKey(ctx context.Context, account, user, seed string) (string, error)
}

func (s *shell) admin() *cobra.Command {
	c := &cobra.Command{
		Use: "admin", Short: "Manage accounts, their users and the users' keys",
		Long: `Manage accounts, their users and the users' keys: at the running daemon, or in a data folder that no daemon holds (--data). The daemon's
own key and the root key manage every account, an admin's key (--key) the own one. A key is shown once, when it is made; only its hash is
kept. The names are those of ` + "`ov admin`" + `.`,
		Example: "  skald admin create-account acme --admin ann\n  skald admin register-user acme bob\n  skald admin regenerate-key acme bob",
	}
	c.AddCommand(s.listAccounts(), s.createAccount(), s.deleteAccount(), s.accountSettings(),
		s.listUsers(), s.registerUser(), s.removeUser(), s.setRole(), s.regenerateKey())
	return c
}

// inOffice opens the place and hands over its accounts.
func (s *shell) inOffice(c *cobra.Command, do func(ctx context.Context, o office) error) error {
	return s.use(c.Context(), func(p *place) error {
		if p.app != nil {
			return do(c.Context(), p.app.Admin())
		}
		daemon, ok := p.Engine.(*client.Client)
		if !ok {
			return skald.E("admin", skald.KindInternal, "no accounts here")
		}
		return do(c.Context(), daemon.Admin())
	})
}

// made is a user with the one key that is ever shown.
type made struct {
	Account string     `json:"account_id"`
	User    string     `json:"user_id"`
	Role    skald.Rank `json:"role,omitempty"`
	Key     string     `json:"user_key,omitempty"`
}

func (s *shell) showMade(m made) error {
	return s.print(m, func(w io.Writer) {
		fmt.Fprintf(w, "user %s of account %s\n", m.User, m.Account)
		if m.Key != "" {
			fmt.Fprintf(w, "key, shown this once:\n%s\n", m.Key)
		}
	})
}

func (s *shell) showDeletion(d tenant.Deletion) error {
	return s.print(d, func(w io.Writer) {
		what := "account " + d.Account
		if d.User != "" {
			what = "user " + d.User + " of " + what
		}
		fmt.Fprintf(w, "%s: keys revoked, data being erased by job %s\n", what, d.Task)
	})
}

func (s *shell) listAccounts() *cobra.Command {
	c := &cobra.Command{
		Use: "list-accounts", Short: "List the accounts, oldest first", Args: arguments(),
		Example: "  skald admin list-accounts",
		RunE: func(c *cobra.Command, _ []string) error {
			return s.inOffice(c, func(ctx context.Context, o office) error {
				all, err := o.Accounts(ctx)
				if err != nil {
					return err
				}
				return s.print(list(all), func(w io.Writer) {
					rows := [][]string{{"ACCOUNT", "USERS", "CREATED", "STATUS"}}
					for _, a := range all {
						rows = append(rows, []string{a.ID, fmt.Sprint(a.Users), when(a.Created), a.Status})
					}
					table(w, rows)
				})
			})
		},
	}
	s.whereFlags(c)
	return c
}

func (s *shell) createAccount() *cobra.Command {
	var u tenant.NewUser
	c := &cobra.Command{
		Use: "create-account ACCOUNT", Short: "Make an account with its first admin, and show the admin's key", Args: arguments("ACCOUNT"),
		Example: "  skald admin create-account acme --admin ann",
		RunE: func(c *cobra.Command, args []string) error {
			if u.User == "" {
				return skald.Invalid("", "admin", "name the account's first admin: --admin USER")
			}
			return s.inOffice(c, func(ctx context.Context, o office) error {
				u.Account = args[0]
				key, err := o.CreateAccount(ctx, u)
				if err != nil {
					return err
				}
				return s.showMade(made{u.Account, u.User, skald.RankAdmin, key})
			})
		},
	}
	c.Flags().StringVar(&u.User, "admin", "", "the first admin")
	seedFlag(c, &u.Seed)
	s.whereFlags(c)
	return c
}

func seedFlag(c *cobra.Command, seed *string) {
	c.Flags().StringVar(seed, "seed", "", "derive the key from this text, as OpenViking does; as hard to guess as the text")
}

func (s *shell) deleteAccount() *cobra.Command {
	c := &cobra.Command{
		Use: "delete-account ACCOUNT", Short: "Erase an account with everything in it", Args: arguments("ACCOUNT"),
		Long: `Erase an account with everything in it: the keys of its users are worthless at once, and a background job erases sessions, memories,
files, skills and settings. There is no way back.`,
		Example: "  skald admin delete-account acme",
		RunE: func(c *cobra.Command, args []string) error {
			return s.inOffice(c, func(ctx context.Context, o office) error {
				d, err := o.DeleteAccount(ctx, args[0])
				if err != nil {
					return err
				}
				return s.showDeletion(d)
			})
		},
	}
	s.whereFlags(c)
	return c
}

func (s *shell) accountSettings() *cobra.Command {
	var evolution, byAgent, byUser bool
	c := &cobra.Command{
		Use: "set-account-settings ACCOUNT", Short: "Set how an account shares what its agents and users store", Args: arguments("ACCOUNT"),
		Long: `Set how an account shares what its agents and users store. The two isolate flags are set together, and hold instead of the daemon's
settings and of what a plugin asks for. They change where things are stored: what was stored before stays where it is and is not found in the
new place, so set them before the first turn.`,
		Example: "  skald admin set-account-settings acme --isolate-user-scope-by-agent",
		RunE: func(c *cobra.Command, args []string) error {
			var change tenant.Settings
			if c.Flags().Changed("agent-evolution") {
				change.Evolution = &evolution
			}
			if c.Flags().Changed("isolate-user-scope-by-agent") || c.Flags().Changed("isolate-agent-scope-by-user") {
				change.Policy = &skald.Policy{IsolateUserScopeByAgent: byAgent, IsolateAgentScopeByUser: byUser}
			}
			return s.inOffice(c, func(ctx context.Context, o office) error {
				now, err := o.ChangeSettings(ctx, args[0], change)
				if err != nil {
					return err
				}
				return s.print(now, func(w io.Writer) { showSettings(w, args[0], now) })
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&evolution, "agent-evolution", false, "memories of how the account's agents work (stored; this version makes none)")
	f.BoolVar(&byAgent, "isolate-user-scope-by-agent", false, "each agent has memories of the user of its own")
	f.BoolVar(&byUser, "isolate-agent-scope-by-user", false, "each user has memories of the agent of their own")
	s.whereFlags(c)
	return c
}

func showSettings(w io.Writer, account string, s tenant.Settings) {
	evolution, policy := "as the daemon's", "as the daemon's"
	if s.Evolution != nil {
		evolution = fmt.Sprint(*s.Evolution)
	}
	if s.Policy != nil {
		policy = fmt.Sprintf("by agent %v, by user %v", s.Policy.IsolateUserScopeByAgent, s.Policy.IsolateAgentScopeByUser)
	}
	fmt.Fprintf(w, "account %s\n  agent evolution: %s\n  isolation: %s\n", account, evolution, policy)
}
