#!/usr/bin/env bash
# make clean: remove everything that the other targets made.

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/common.sh
source "$here/common.sh"

# Their state files are in target/ and must not be lost with the clusters running.
"$here/stop.sh" demo
"$here/stop.sh" dev
rm -rf "$ROOT/target"
