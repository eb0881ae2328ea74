#!/usr/bin/env bash
# As sigfile_crash.test.sh, crashes: of an index over sampled sketches.

export SIGFILE_TYPE=minhash_bits
# shellcheck source=tests/sigfile_crash.test.sh
source "$(dirname "${BASH_SOURCE[0]}")/sigfile_crash.test.sh"
