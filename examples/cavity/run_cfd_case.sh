#!/bin/sh
# Tailrace runs a copy of this text in an empty folder: TAILRACE_CONFIG_DIR says where the original lies.
set -eu
here=${TAILRACE_CONFIG_DIR:-$(cd "$(dirname "$0")" && pwd)}
if [ ! -f "$here/solver.mjs" ]; then
  echo "run_cfd_case: no solver.mjs in $here; TAILRACE_CONFIG_DIR must name the folder that holds it" >&2
  exit 2
fi
# A stop must reach the solver itself, which then writes what it has.
exec node "$here/solver.mjs" "$@"
