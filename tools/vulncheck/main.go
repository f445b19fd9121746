// Command vulncheck looks in a program for what is known to be vulnerable, and fails if a newer module would end it.
//
//	go run ./tools/vulncheck -govulncheck .cache/bin/govulncheck -database v0.0.0-20261105234957-e22db6528018 .cache/bin/function
//
// The database is that of https://vuln.go.dev. It comes as a Go module, golang.org/x/vulndb, so that it can be had wherever the
// function can be built, and so that its version says what a check knew. The flag also takes "latest", or a URL.
//
// What is wrong with Go itself is told, but does not fail: the Go that builds the function is chosen by who builds it.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

const databaseModule = "golang.org/x/vulndb"

func main() {
	govulncheck := flag.String("govulncheck", "", "path to govulncheck")
	database := flag.String("database", "latest", "version of the module "+databaseModule+", or a URL that govulncheck can read")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *govulncheck, *database, flag.Arg(0), os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "vulncheck:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, govulncheck, database, program string, out io.Writer) error {
	if govulncheck == "" || program == "" {
		return errors.New("usage: vulncheck -govulncheck <path> [-database <version>] <program>")
	}
	url, err := locate(ctx, database)
	if err != nil {
		return err
	}
	said, err := output(exec.CommandContext(ctx, govulncheck, "-mode", "binary", "-db", url, "-format", "json", program))
	if err != nil {
		return err
	}
	found, err := findings(bytes.NewReader(said))
	if err != nil {
		return fmt.Errorf("cannot read what govulncheck says: %w", err)
	}
	fmt.Fprintf(out, "%s, with %s %s\n", program, databaseModule, database)
	return judge(found, out)
}

// locate the database: a URL as it is, and the folder of a module's version.
func locate(ctx context.Context, database string) (string, error) {
	if strings.Contains(database, "://") {
		return database, nil
	}
	said, err := output(exec.CommandContext(ctx, "go", "mod", "download", "-json", databaseModule+"@"+database))
	if err != nil {
		return "", err
	}
	module := struct {
		Dir string `json:"Dir"` //nolint:tagliatelle // Go's own name.
	}{}
	if err := json.Unmarshal(said, &module); err != nil {
		return "", fmt.Errorf("cannot read where %s is: %w", databaseModule, err)
	}
	return "file://" + filepath.ToSlash(filepath.Join(module.Dir, "data", "osv")), nil
}

// output of a command, and its errors only if it failed.
func output(cmd *exec.Cmd) ([]byte, error) {
	stderr := &bytes.Buffer{}
	cmd.Stderr = stderr
	said, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", cmd, err, stderr)
	}
	return said, nil
}
