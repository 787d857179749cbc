package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skald-engine/skald"
)

// noSuchCommand refuses a name that is no command, and names those that are near.
func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return &skald.Error{Field: "command", Kind: skald.KindInvalid, Err: &hint{
		text: fmt.Sprintf("command %q does not exist", args[0]),
		fix:  cmp.Or(didYouMean(c, args[0], c.CommandPath()+" "), fmt.Sprintf("`%s --help` lists the commands", c.CommandPath())),
	}}
}

// didYouMean is the hint to the names near a mistyped one, or "".
func didYouMean(c *cobra.Command, typed, prefix string) string {
	if len(typed) < 4 {
		c.SuggestionsMinimumDistance = 1 // of three letters two may not be wrong
	}
	near := c.SuggestionsFor(typed)
	for i := range near {
		near[i] = "`" + prefix + near[i] + "`"
	}
	if len(near) == 0 {
		return ""
	}
	return "did you mean " + strings.Join(near, " or ") + "?"
}

// flagError says what is wrong with a flag in words, and which flag was meant.
func flagError(c *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	var bad *pflag.InvalidValueError
	var inner *skald.Error
	switch {
	case errors.As(err, &inner):
		return inner
	case errors.As(err, &missing):
		name := missing.GetSpecifiedName()
		typed := strings.Repeat("-", min(len(name), 2)) + name
		return &skald.Error{Field: "flags", Kind: skald.KindInvalid, Err: &hint{
			text: fmt.Sprintf("flag %s does not exist", typed),
			fix:  cmp.Or(didYouMean(flagsAsCommands(c), name, "--"), fmt.Sprintf("`%s --help` lists the flags", c.CommandPath())),
		}}
	case errors.As(err, &bad):
		return skald.Invalid("", bad.GetFlag().Name, "%q is not %s", bad.GetValue(), wanted(bad))
	}
	return skald.Invalid("", "flags", "%w", err)
}

// wanted says what a flag takes.
func wanted(bad *pflag.InvalidValueError) string {
	switch kind := bad.GetFlag().Value.Type(); kind {
	case "int", "int64", "uint", "intSlice":
		return "a whole number"
	case "float64":
		return "a number"
	case "duration":
		return "a time like 30s or 5m"
	case "bool":
		return "true or false"
	default:
		return fmt.Sprintf("a %s (%v)", kind, errors.Unwrap(bad))
	}
}

// flagsAsCommands lends the flags to cobra's search for near names.
func flagsAsCommands(c *cobra.Command) *cobra.Command {
	all := &cobra.Command{SuggestionsMinimumDistance: 2}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			all.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	return all
}
