#!/usr/bin/env bash
# scripts/release/older.sh COMMIT MAJOR ARCH: makes the Debian package of an older version, such as v0.1.0, with the scripts of this one, so that try-deb.sh updates from it.

# shellcheck source=scripts/release/release.sh
source "$(dirname "${BASH_SOURCE[0]}")/release.sh"

commit=${1:?of which commit, such as v0.1.0}
shift
for_target "$@"
source=$RELEASE/older/source
mkdir -p "$RELEASE/older"
git -C "$ROOT" rev-parse --verify --quiet "$commit^{commit}" >/dev/null || die "there is no commit $commit"
git -C "$ROOT" worktree remove --force "$source" 2>/dev/null || true
git -C "$ROOT" worktree add --quiet --detach "$source" "$commit"
trap 'git -C "$ROOT" worktree remove --force "$source"' EXIT
# What packs is not the question; what is packed is.
rm -rf "$source/scripts/release" "$source/packaging"
cp -R "$ROOT/scripts/release" "$source/scripts/"
cp -R "$ROOT/packaging" "$source/"
cp "$ROOT/scripts/postgres.sh" "$source/scripts/"
cp "$ROOT/META.json" "$source/"
mkdir -p "$source/target/release-work"
for unpacked in "$RELEASE"/{compiler-*,servers,cargo-*}; do [[ ! -d $unpacked ]] || ln -s "$unpacked" "$source/target/release-work/"; done
for step in library deb; do "$source/scripts/release/$step.sh" "$MAJOR" "$ARCH"; done
cp "$source"/target/packages/bloom-ident-v*-linux-gnu.deb "$RELEASE/older/"
say "made $(cd "$RELEASE/older" && ls bloom-ident-v*-pg"$MAJOR-$ARCH"-linux-gnu.deb)"
