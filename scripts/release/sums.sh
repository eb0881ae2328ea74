#!/usr/bin/env bash
# scripts/release/sums.sh: the checksums of all packages, in target/packages/SHA256SUMS.

# shellcheck source=scripts/release/release.sh
source "$(dirname "${BASH_SOURCE[0]}")/release.sh"

cd "$PACKAGES"
rm -f SHA256SUMS
compgen -G 'bloom*' >/dev/null || die "there are no packages in $PACKAGES"
sha256sum bloom* >SHA256SUMS.new
mv SHA256SUMS.new SHA256SUMS
say "wrote $PACKAGES/SHA256SUMS of $(wc -l <SHA256SUMS) files"
