// Package pack is the built-in knowledge as data: rules, causes and log signatures, in the format that a user writes.
//
// It holds no code besides the embed line; package rules reads and checks it.
package pack

import "embed"

// FS holds rules/*.yaml, diagnoses.yaml and signatures.yaml.
//
//go:embed rules/*.yaml diagnoses.yaml signatures.yaml
var FS embed.FS
