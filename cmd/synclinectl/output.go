package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// format is how a command writes its result; it is the value of --output.
type format string

const (
	formatTable format = "table"
	formatJSON  format = "json"
	formatYAML  format = "yaml"
)

var formats = []string{string(formatTable), string(formatJSON), string(formatYAML)}

// bindFormat adds --output to a command. The pointer holds the choice once flags have been
// parsed.
func bindFormat(cmd *cobra.Command) *format {
	f := formatTable
	cmd.Flags().VarP(&f, "output", "o", "table, json or yaml")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return &f
}

// String implements pflag.Value.
func (f *format) String() string { return string(*f) }

// Type implements pflag.Value.
func (*format) Type() string { return "format" }

// Set implements pflag.Value.
func (f *format) Set(text string) error {
	if !slices.Contains(formats, text) {
		return fmt.Errorf("must be one of %s", strings.Join(formats, ", "))
	}
	*f = format(text)
	return nil
}

// write writes the value, or, for a table, what text makes of it.
func (f format) write(out io.Writer, value any, text func() string) error {
	if f == formatTable {
		_, err := io.WriteString(out, text())
		return err
	}
	encode := yaml.Marshal
	if f == formatJSON {
		encode = func(v any) ([]byte, error) {
			raw, err := json.MarshalIndent(v, "", "  ")
			return append(raw, '\n'), err
		}
	}
	raw, err := encode(value)
	if err != nil {
		return fmt.Errorf("write %s: %w", f, err)
	}
	_, err = out.Write(raw)
	return err
}
