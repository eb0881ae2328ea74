#!/usr/bin/env bash
# scripts/release/meta.sh [--here]: META.json is what PGXN takes, says its own validator, pgxn_meta. With --here that is not compiled, which takes minutes: where it is not
# there, only what every META.json must have is looked for.

# shellcheck source=scripts/release/release.sh
source "$(dirname "${BASH_SOURCE[0]}")/release.sh"

if [[ ${1:-} != --here ]]; then
    cargo_tool pgxn_meta 0.7.0
fi
if [[ -x $TOOLS/bin/pgxn_meta ]]; then
    "$TOOLS/bin/pgxn_meta" "$ROOT/META.json"
else
    for field in name version abstract maintainer license provides meta-spec; do
        grep -q "^  \"$field\": " "$ROOT/META.json" || die "META.json has no $field"
    done
fi
