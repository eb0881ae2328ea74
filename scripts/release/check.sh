#!/usr/bin/env bash
# make release-check, or scripts/release/check.sh [--source]: what must hold before a version is released. Versions agree wherever they are named, there is a script that
# leads to this version from each one before, and CHANGELOG.md has it; and, without --source, all packages are there, with the checksums that SHA256SUMS says.

# shellcheck source=scripts/release/release.sh
source "$(dirname "${BASH_SOURCE[0]}")/release.sh"

wrong=()
must() {
    local what=$1 found=$2
    [[ $found == "$VERSION" ]] || wrong+=("$what says ${found:-nothing}, not $VERSION, which bloom_ident.control says")
}

[[ $VERSION =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || wrong+=("the version '$VERSION' is not three numbers")
must Cargo.toml "$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' "$ROOT/Cargo.toml")"
must Cargo.lock "$(sed -n '/^name = "bloom_ident"$/{n;s/^version = "\(.*\)"/\1/p}' "$ROOT/Cargo.lock")"
must citus/bloom_ident_citus.control "$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$ROOT/citus/bloom_ident_citus.control")"
while read -r found; do must META.json "$found"; done < <(sed '/"meta-spec"/,$d; s/.*"version": "\(.*\)".*/\1/p; d' "$ROOT/META.json")
[[ -e $ROOT/$(sed -n 's/.*"file": "\(sql.*\)".*/\1/p' "$ROOT/META.json") ]] || wrong+=('META.json names a script that is not there')
if [[ ${GITHUB_REF_TYPE:-} == tag ]]; then must 'the tag' "${GITHUB_REF_NAME#v}"; fi

# A database of each released version is led to this one, by one script or several, and what was released has not changed.
for extension in sql/bloom_ident citus/bloom_ident_citus; do
    declare -A reached=([$VERSION]=1)
    mapfile -t steps < <(cd "$ROOT" && compgen -G "$extension--*--*.sql" | sed -E "s,^$extension--(.*)--(.*)\\.sql\$,\\1 \\2,")
    for ((round = 0; round <= ${#steps[@]}; round++)); do
        for step in "${steps[@]}"; do
            [[ -z ${reached[${step#* }]:-} ]] || reached[${step% *}]=1
        done
    done
    for version in "$ROOT"/tests/released/*/; do
        version=$(basename "$version")
        [[ -n ${reached[$version]:-} ]] || wrong+=("no script of ${extension#*/} leads from $version to $VERSION")
    done
    unset reached
done
(cd "$ROOT/tests/released" && sha256sum --check --quiet --strict SHA256SUMS) >/dev/null 2>&1 || wrong+=('tests/released is not as its SHA256SUMS says')

heading=$(grep -E "^## ${VERSION//./\\.}( |\$)" "$ROOT/CHANGELOG.md") || wrong+=("CHANGELOG.md has no section \"## $VERSION\"")
if [[ ${1:-} != --source || ${GITHUB_REF_TYPE:-} == tag ]]; then
    [[ $heading != *'not released'* ]] || wrong+=("CHANGELOG.md says of $VERSION that it is not released")
    # An address that cannot exist (RFC 2606) stands for that of whoever releases.
    [[ $MAINTAINER =~ ^.+\ \<.+@.+\..+\>$ && $MAINTAINER != *.example\> ]] ||
        wrong+=("META.json names as maintainer \"$MAINTAINER\": put there who answers for this release, with an address that takes mail, and build the packages again")
fi

if [[ ${1:-} != --source ]]; then
    [[ ! -e $PACKAGES/QUICK ]] || wrong+=('packages were built with QUICK=1, to try the scripts: make packages')
    for major in "${MAJORS[@]}"; do
        for arch in "${ARCHES[@]}"; do
            name=bloom-ident-v$VERSION-pg$major-$arch-linux-gnu
            for file in "$name.deb" "$name-dbgsym.deb" "$name.tar.gz" "$name.rpm"; do
                if [[ ! -s $PACKAGES/$file ]]; then
                    wrong+=("$file is not in $PACKAGES: make packages")
                elif ! grep -q " $file\$" "$PACKAGES/SHA256SUMS" 2>/dev/null; then
                    wrong+=("SHA256SUMS does not name $file")
                fi
            done
            maintainer=$(dpkg-deb --field "$PACKAGES/$name.deb" Maintainer 2>/dev/null) || continue
            [[ $maintainer == "$MAINTAINER" ]] || wrong+=("the maintainer of $name.deb is \"$maintainer\", and not that of META.json: make packages")
        done
    done
    if [[ -e $PACKAGES/SHA256SUMS ]]; then
        (cd "$PACKAGES" && sha256sum --check --quiet SHA256SUMS) || wrong+=('files are not as SHA256SUMS says')
    fi
fi

((${#wrong[@]} == 0)) || {
    printf 'error: %s\n' "${wrong[@]}" >&2
    exit 1
}
if [[ ${1:-} == --source ]]; then say "release $VERSION: versions, scripts and changes agree"; else say "release $VERSION: versions, scripts, changes, packages and checksums agree"; fi
