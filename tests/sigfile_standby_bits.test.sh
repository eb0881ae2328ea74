#!/usr/bin/env bash
# As sigfile_standby.test.sh, a standby: of an index over sampled sketches.

export SIGFILE_TYPE=minhash_bits
# shellcheck source=tests/sigfile_standby.test.sh
source "$(dirname "${BASH_SOURCE[0]}")/sigfile_standby.test.sh"
