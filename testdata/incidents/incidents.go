// Package incidents holds the evidence of whole incidents, in the formats of the tools that print it, for the demo and
// for tests. Each folder's README says where its evidence comes from. Nothing but the embed line lives here.
package incidents

import "embed"

// FS has one folder an incident: "saturated-pool/kube/pods.json" and so on, the README among them.
//
//go:embed all:saturated-pool
var FS embed.FS
