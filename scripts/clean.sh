#!/usr/bin/env bash
# make clean: remove everything that the other targets made.

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/common.sh
source "$here/common.sh"

# Its state file is in target/ and must not be lost with the cluster running.
"$here/demo-stop.sh"
rm -rf "$ROOT/target"
