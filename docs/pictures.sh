#!/usr/bin/env bash
# Draws the README's pictures of the terminal from what the demo really prints. Needs Go and tmux. Usage: docs/pictures.sh
set -euo pipefail
cd "$(dirname "$0")/.."
columns=110

tmp=$(mktemp -d)
socket=pictures-$$
trap 'tmux -L "$socket" kill-server 2>/dev/null || true; rm -rf "$tmp"' EXIT
go build -o "$tmp/probedoctor" ./cmd/probedoctor

# The whole output is in the pane's history; the picture shows it up to what to do next.
tmux -L "$socket" -f /dev/null new-session -d -x "$columns" -y 60 \
  "env COLORTERM=truecolor XDG_CONFIG_HOME=$tmp $tmp/probedoctor demo; tmux -L $socket wait-for -S done; sleep 60"
tmux -L "$socket" wait-for done
tmux -L "$socket" capture-pane -e -p -S - >"$tmp/screen"
awk '/^(\033\[[0-9;]*m)* Next /{exit} {print}' "$tmp/screen" >"$tmp/top"

mkdir -p docs/pictures
for theme in dark light; do
  go run ./testdata/pictures -theme "$theme" -columns "$columns" -title 'probedoctor demo' <"$tmp/top" >"docs/pictures/demo-$theme.svg"
done
