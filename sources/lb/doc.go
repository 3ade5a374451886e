// Package lb has one package for each load balancer whose view of its backends is evidence: awselb, haproxy, envoy.
//
// The idea: a balancer checks the same path as the kubelet, often with other limits and from another place, so where the
// two disagree the cause lies between them. Each package turns what its balancer prints about its backends into
// [github.com/probedoctor/probedoctor/sources/evidence.Target] and
// [github.com/probedoctor/probedoctor/sources/evidence.HealthCheck], from text or from decoded JSON.
//
// The parsers are pure: no network, no clock, no vendor's client library, and no opinion about what a state means for the
// pod behind it. What a balancer does not say stays empty.
package lb
