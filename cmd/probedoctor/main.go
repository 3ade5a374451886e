// Command probedoctor says why a Kubernetes health probe fails.
package main

import (
	"os"

	"github.com/probedoctor/probedoctor/cmd/probedoctor/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args, os.Stdin, os.Stdout, os.Stderr)) }
