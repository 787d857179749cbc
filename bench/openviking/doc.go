// Package openviking runs a real OpenViking server (a virtual environment that scripts/setup-openviking.sh made) with scripted models, for
// the conformance tests and for comparisons. Nothing of OpenViking is part of this repository: it is started, and asked over HTTP.
package openviking
