package report

import "testing"

func TestUndo(t *testing.T) {
	for in, want := range map[string][2]string{
		"":                                  {"", ""},
		"Set minReplicas back":              {"Set minReplicas back", ""},
		"kubectl -n shop rollout undo x":    {"", "kubectl -n shop rollout undo x"},
		"Scale back: kubectl -n shop scale": {"Scale back", "kubectl -n shop scale"},
		"Apply the patch:\nkubectl patch a\nkubectl patch b": {"Apply the patch", "kubectl patch a\nkubectl patch b"},
		"Note: with kubectl, roll back":                      {"Note: with kubectl, roll back", ""},
		"Two: parts: helm rollback x":                        {"Two: parts", "helm rollback x"},
		"kubectl":                                            {"kubectl", ""},
	} {
		prose, command := undo(in)
		if prose != want[0] || command != want[1] {
			t.Errorf("undo(%q) = %q, %q", in, prose, command)
		}
	}
}

func TestDoesNot(t *testing.T) {
	for in, want := range map[string]string{
		"free a worker":          "does not free a worker",
		"does not free a worker": "does not free a worker",
		"Nothing is freed":       "Nothing is freed",
	} {
		if got := doesNot(in); got != want {
			t.Errorf("doesNot(%q) = %q", in, got)
		}
	}
}
