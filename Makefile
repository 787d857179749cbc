# Skald. `make run` shows the main job on the real OpenClaw, `make test` runs every suite in its short form.
# Both set up what they need: Node and OpenClaw go to a cache folder outside the repository (scripts/setup-host.sh).

SHELL := /bin/bash
export CGO_ENABLED ?= 0
VERSION := $(patsubst v%,%,$(shell git describe --tags --dirty 2>/dev/null))
LDFLAGS := -s -w $(if $(VERSION),-X github.com/skald-engine/skald/internal/app.Version=$(VERSION))

.PHONY: openviking smoke compat mcp-test run build plugin setup test test-full lint unit plugin-test e2e crash release release-test conformance fuzz bench-engine bench-recall bench-evidence bench-strategies bench-replay clean help

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

run: build plugin setup ## set up, build, and show the main job on the real OpenClaw
	go run ./test/demo

build: ## bin/skald, one static binary
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/skald ./cmd/skald

plugin: openclaw/node_modules/.package-lock.json ## openclaw/dist/{skald,openviking}
	cd openclaw && npm run --silent build

openclaw/node_modules/.package-lock.json: openclaw/package-lock.json
	cd openclaw && npm ci --no-audit --no-fund --loglevel error
	@touch $@

setup: ## Node 24 and OpenClaw into the cache folder
	@scripts/setup-host.sh

openviking: ## a real OpenViking with its SDK into the cache folder, for tests; nothing where PyPI cannot be reached
	@scripts/setup-openviking.sh

test: lint unit conformance plugin-test mcp-test crash e2e smoke release-test ## every suite, short form

test-full: lint unit plugin-test ## every suite, long form
	SKALD_CONFORMANCE_LONG=1 $(MAKE) conformance
	SKALD_STRATEGY_LONG=1 go test -timeout 60m ./strategy
	SKALD_CRASH_CYCLES=200 $(MAKE) crash
	SKALD_E2E_LONG=1 $(MAKE) e2e
	SKALD_RELEASE_LONG=1 $(MAKE) release-test

lint: ## format, vet, import direction
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'run gofmt -w on these'; exit 1; }
	go vet ./...

unit: ## unit and conformance tests, with the race detector
	CGO_ENABLED=1 go test -race -short $$(go list ./... | grep -v -E '/test/(e2e|crash|gateway|compat|openviking|conformance)')
	go test -run TestHugeMessage ./server # 50 MB take long with the race detector

plugin-test: plugin ## the plugin's own tests
	cd openclaw && npm run --silent check && npm test --silent

mcp-test: build test/mcp/node_modules/.package-lock.json ## the official TypeScript client against the MCP server, on both transports
	cd test/mcp && npm test --silent

test/mcp/node_modules/.package-lock.json: test/mcp/package-lock.json
	cd test/mcp && npm ci --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@

crash: build ## kill -9 the real daemon under writers (SKALD_CRASH_CYCLES, default 30)
	go test -count=1 -v -timeout 30m ./test/crash

e2e: build plugin setup ## the suite on the real OpenClaw gateway
	go test -count=1 -v -p 1 -timeout 40m ./test/gateway ./test/e2e

smoke: build plugin setup ## the end-to-end smoke on every supported OpenClaw
	go test -count=1 -v -timeout 30m ./test/compat

compat: build plugin ## the smoke on every supported OpenClaw, and docs/compatibility.md
	go test -count=1 -v -timeout 30m ./test/compat -update

release: plugin ## dist/: archives, packages, bills of materials and checksums for every platform (VERSION=1.2.3; docs/packages.md)
	go run ./release $(if $(VERSION),-version $(VERSION))

release-test: plugin setup ## what a release holds, and the npm way on the real OpenClaw (SKALD_RELEASE_LONG=1: every platform)
	go test -count=1 -v -timeout 40m ./test/release

conformance: build openviking ## the stores' suite on every engine; OpenViking's SDK, CLI and API against Skald and against the real server
	go test -count=1 -timeout 15m ./store/...
	go test -count=1 -v -timeout 40m ./test/openviking ./test/conformance

fuzz: ## every fuzz target for FUZZTIME (default 10s)
	@for pkg in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
	  for f in $$(grep -ho '^func Fuzz[A-Za-z]*' $$pkg/*_test.go | sed 's/func //'); do \
	    go test -run '^$$' -fuzz "^$$f$$" -fuzztime $(or $(FUZZTIME),10s) $$pkg || exit 1; done; done

bench-engine: build ## the figures of docs/benchmarks.md
	@mkdir -p .run && rm -rf .run/bench
	bin/skald bench engine --data .run/bench --json | tee .run/bench-engine.json

bench-evidence: build ## how much of what answers a question is shown, on the shared data, into docs/benchmarks.md; skipped without the data
	go run ./bench/evidence/table

bench-recall: build ## how long recall takes inside assemble at 100,000 turns; loading them takes minutes, the first time
	@mkdir -p .run
	bin/skald bench recall --data .run/bench-recall --turns 100000 --json | tee .run/bench-recall.json

bench-strategies: build ## every strategy on the shared transcripts, side by side, into docs/strategies.md; skipped without the data
	go run ./bench/compare/table bin/skald ../shared/data/transcripts docs/strategies.md

bench-replay: build ## replay the shared transcripts, when they are there
	@for f in ../shared/data/transcripts/*.jsonl; do case $$f in *facts*) continue;; esac; echo "== $$(basename $$f)"; bin/skald replay $$f --budget 16000; done

clean: ## what was built here; the cache folder stays
	rm -rf bin dist .run openclaw/node_modules
