#!/usr/bin/env bash
# Installs the pinned OpenViking (server, `ov`) and its Python SDK from PyPI into a virtual environment in a cache folder outside the
# repository, for the conformance tests and the comparison of `skald bench api`. They are AGPL: they are run, nothing of them is copied.
# Safe to run again and from several processes at once; quick when all is there.
#
#   scripts/setup-openviking.sh       prints SKALD_OPENVIKING=<folder of the virtual environment>; the rest goes to stderr
#
# Without python3 (3.10 or later) or PyPI it says why, prints an empty value and ends well: the tests then skip with that reason.
# SKALD_PYTHON names another Python. Cache: $SKALD_CACHE, else $XDG_CACHE_HOME/skald, else ~/.cache/skald. Takes 5 minutes and 1.3 GB.
set -euo pipefail

OPENVIKING_VERSION=0.5.2
SDK_VERSION=0.1.17

cache="${SKALD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/skald}"
mkdir -p "$cache"
cache="$(cd "$cache" && pwd)"
venv="$cache/openviking-$OPENVIKING_VERSION"
constraints="$(cd "$(dirname "$0")" && pwd)/openviking-constraints.txt"

say() { echo "setup-openviking: $*" >&2; }
done_with() { echo "SKALD_OPENVIKING=$1"; exit 0; }

complete() { [[ -e "$venv/.complete" && -x "$venv/bin/openviking-server" ]]; }

lock() {
  if command -v flock >/dev/null; then
    exec 9>"$cache/.lock-openviking"
    flock -n 9 || { say "waiting for another run"; flock 9; }
    return
  fi
  until mkdir "$cache/.lockdir-openviking" 2>/dev/null; do # macOS has no flock
    say "waiting for another run ($cache/.lockdir-openviking)"
    sleep 5
  done
  trap 'rmdir "$cache/.lockdir-openviking" 2>/dev/null || true' EXIT
}

complete && done_with "$venv"

python="${SKALD_PYTHON:-python3}"
if ! "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
  say "no Python 3.10 or later with venv ($python): the tests against the real OpenViking are skipped"
  done_with ""
fi

lock
complete && done_with "$venv"
rm -rf "$venv" # left over from an interrupted run; the lock is ours. A virtual environment cannot be renamed into place: .complete comes last.
say "installing openviking $OPENVIKING_VERSION and openviking-sdk $SDK_VERSION into $venv"
if ! "$python" -m venv "$venv" >&2 || ! "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: \
  --constraint "$constraints" "openviking==$OPENVIKING_VERSION" "openviking-sdk==$SDK_VERSION" >&2; then
  say "PyPI cannot be reached, or has no packages for this platform: the tests against the real OpenViking are skipped"
  rm -rf "$venv"
  done_with ""
fi
touch "$venv/.complete"
done_with "$venv"
