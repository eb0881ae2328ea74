#!/usr/bin/env bash
# scripts/release/glibc.sh MAJOR ARCH | FILE: the library asks for no glibc that is newer than the oldest system of the packages has.

# shellcheck source=scripts/release/release.sh
source "$(dirname "${BASH_SOURCE[0]}")/release.sh"

if [[ -e ${1:-} ]]; then
    library=$1
else
    for_target "$@"
    library=$BUILT/bloom_ident.so
fi
# readelf reads the files of every processor.
versions=$(readelf --version-info --wide "$library" | grep -oE 'Name: GLIBC_[0-9.]+' | sed 's/.*_//' | sort -uV)
[[ -n $versions ]] || die "$library names no version of glibc at all"
newest=$(tail -n 1 <<<"$versions")
[[ $(printf '%s\n' "$newest" "$GLIBC_MOST" | sort -V | tail -n 1) == "$GLIBC_MOST" ]] ||
    die "$library asks for glibc $newest, which is newer than $GLIBC_MOST: $(readelf --dyn-syms --wide "$library" | grep -oE "[a-z_0-9]+@GLIBC_$newest" | paste -sd ' ')"
say "$library asks for glibc $newest, and $GLIBC_MOST is the newest it may"
