package catalog

import (
	"regexp"
	"slices"
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Guess gives the stacks that the set speaks of without metrics: by images, environment variables, commands, and the
// threads and loggers of log lines. In the catalog's order.
func (c *Catalog) Guess(set *evidence.Set) []Stack {
	var out []Stack
	for _, i := range c.guess(set) {
		out = append(out, c.stacks[i])
	}
	return out
}

func (c *Catalog) guess(set *evidence.Set) []int {
	images, env, commands := map[string]bool{}, map[string]bool{}, map[string]bool{}
	see := func(containers []evidence.Container) {
		for _, k := range containers {
			images[k.Image] = true
			commands[strings.Join(k.Command, " ")] = true
			for name := range k.Env {
				env[name] = true
			}
		}
	}
	for _, p := range set.Pods {
		see(p.Containers)
	}
	for _, w := range set.Workloads {
		see(w.Containers)
	}
	threads, loggers := map[string]bool{}, map[string]bool{}
	for i := range set.Logs {
		threads[set.Logs[i].Thread] = true
		loggers[set.Logs[i].Logger] = true
	}
	var found []int
	for i := range c.stacks {
		h := &c.stacks[i].hints
		if anyMatch(h.images, images) || anyMatch(h.env, env) || anyMatch(h.commands, commands) ||
			anyMatch(h.threads, threads) || anyMatch(h.loggers, loggers) {
			found = append(found, i)
		}
	}
	return found
}

func anyMatch(res []*regexp.Regexp, texts map[string]bool) bool {
	for text := range texts {
		if text != "" && slices.ContainsFunc(res, func(re *regexp.Regexp) bool { return re.MatchString(text) }) {
			return true
		}
	}
	return false
}
