#!/usr/bin/env bash
# make demo-stop, make dev-stop: stop and remove the cluster that was left running.
# Usage: scripts/stop.sh demo|dev

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/common.sh
source "$here/common.sh"
# shellcheck source=scripts/cluster.sh
source "$here/cluster.sh"
# shellcheck source=scripts/kept.sh
source "$here/kept.sh"

kept_stop "$1"
