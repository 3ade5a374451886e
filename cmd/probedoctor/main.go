// Command probedoctor says why a Kubernetes health probe fails.
package main

import (
	"os"
	"runtime/debug"

	"github.com/probedoctor/probedoctor/cmd/probedoctor/internal/cli"
)

// memoryTarget is where the garbage collector begins to work hard. Below it, it hardly runs: one answer lives for a second,
// and a list of 100,000 events stays under it (docs/performance.md).
const memoryTarget = 224 << 20

func main() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(memoryTarget)
	}
	os.Exit(cli.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
}
