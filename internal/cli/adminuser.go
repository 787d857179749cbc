package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/skald-engine/skald"
	"github.com/skald-engine/skald/tenant"
)

func (s *shell) listUsers() *cobra.Command {
	var q tenant.UserQuery
	var role string
	c := &cobra.Command{
		Use: "list-users ACCOUNT", Short: "List an account's users, oldest first; of keys the first characters", Args: arguments("ACCOUNT"),
		Example: "  skald admin list-users acme --role admin",
		RunE: func(c *cobra.Command, args []string) error {
			q.Role = skald.Rank(role)
			return s.inOffice(c, func(ctx context.Context, o office) error {
				all, err := o.Users(ctx, args[0], q)
				if err != nil {
					return err
				}
				return s.print(list(all), func(w io.Writer) {
					rows := [][]string{{"USER", "ROLE", "KEY", "STATUS"}}
					for _, u := range all {
						key := "-"
						if u.KeyPrefix != "" {
							key = u.KeyPrefix + "…"
						}
						rows = append(rows, []string{u.ID, string(u.Role), key, or(u.Status, tenant.Active)})
					}
					table(w, rows)
				})
			})
		},
	}
	f := c.Flags()
	f.StringVar(&q.Name, "name", "", "only users whose name matches this pattern (*, ?)")
	f.StringVar(&role, "role", "", "only admins, or only users: admin, user")
	f.IntVar(&q.Limit, "limit", 1000, "at most so many")
	s.whereFlags(c)
	return c
}

func (s *shell) registerUser() *cobra.Command {
	var seed, role string
	c := &cobra.Command{
		Use: "register-user ACCOUNT USER", Short: "Add a user to an account, and show the user's key", Args: arguments("ACCOUNT", "USER"),
		Example: "  skald admin register-user acme bob",
		RunE: func(c *cobra.Command, args []string) error {
			u := tenant.NewUser{Account: args[0], User: args[1], Role: skald.Rank(role), Seed: seed}
			if u.Role != skald.RankUser && u.Role != skald.RankAdmin {
				return skald.Invalid("", "role", "%q is not user or admin", role)
			}
			return s.inOffice(c, func(ctx context.Context, o office) error {
				key, err := o.AddUser(ctx, u)
				if err != nil {
					return err
				}
				return s.showMade(made{u.Account, u.User, u.Role, key})
			})
		},
	}
	c.Flags().StringVar(&role, "role", string(skald.RankUser), "user, or admin of the account")
	seedFlag(c, &seed)
	s.whereFlags(c)
	return c
}

func (s *shell) removeUser() *cobra.Command {
	c := &cobra.Command{
		Use: "remove-user ACCOUNT USER", Short: "Erase a user with everything that is the user's", Args: arguments("ACCOUNT", "USER"),
		Long: `Erase a user with everything that is the user's: the key is worthless at once, and a background job erases sessions, memories, files and
settings. What the account shares stays. There is no way back.`,
		Example: "  skald admin remove-user acme bob",
		RunE: func(c *cobra.Command, args []string) error {
			return s.inOffice(c, func(ctx context.Context, o office) error {
				d, err := o.DeleteUser(ctx, args[0], args[1])
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

func (s *shell) setRole() *cobra.Command {
	c := &cobra.Command{
		Use: "set-role ACCOUNT USER ROLE", Short: "Make a user an admin of the account", Args: arguments("ACCOUNT", "USER", "ROLE"),
		Example: "  skald admin set-role acme bob admin",
		RunE: func(c *cobra.Command, args []string) error {
			if args[2] != string(skald.RankAdmin) {
				return skald.Invalid("", "ROLE", "%q: a user is made an admin, nothing else", args[2])
			}
			return s.inOffice(c, func(ctx context.Context, o office) error {
				if err := o.Promote(ctx, args[0], args[1]); err != nil {
					return err
				}
				return s.showMade(made{Account: args[0], User: args[1], Role: skald.RankAdmin})
			})
		},
	}
	s.whereFlags(c)
	return c
}

func (s *shell) regenerateKey() *cobra.Command {
	var seed string
	c := &cobra.Command{
		Use: "regenerate-key ACCOUNT USER", Short: "Give a user a new key; the old one is worthless at once", Args: arguments("ACCOUNT", "USER"),
		Example: "  skald admin regenerate-key acme bob",
		RunE: func(c *cobra.Command, args []string) error {
			return s.inOffice(c, func(ctx context.Context, o office) error {
				key, err := o.NewKey(ctx, args[0], args[1], seed)
				if err != nil {
					return err
				}
				return s.showMade(made{Account: args[0], User: args[1], Key: key})
			})
		},
	}
	seedFlag(c, &seed)
	s.whereFlags(c)
	return c
}
