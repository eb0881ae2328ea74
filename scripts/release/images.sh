#!/usr/bin/env bash
# scripts/release/images.sh [ARCH]: makes two images of containers, as archives that docker load takes: that for CloudNativePG, of PostgreSQL 18, and that for a trial, of 17.
# Both are made without a registry of images: the first of nothing, the second of a system that mmdebstrap makes. Where BASE names an image, such
# as docker.io/library/debian:trixie-slim, that one is taken. MOUNTED and TRIAL are other majors, to try this script with what is built.

# shellcheck source=scripts/release/release.sh
source "$(dirname "${BASH_SOURCE[0]}")/release.sh"
# shellcheck source=scripts/release/servers.sh
source "$(dirname "${BASH_SOURCE[0]}")/servers.sh"
# shellcheck source=scripts/release/chroots.sh
source "$(dirname "${BASH_SOURCE[0]}")/chroots.sh"

MOUNTED=${MOUNTED:-18} TRIAL=${TRIAL:-17}
arch=${1:-$(dpkg --print-architecture)}
need_packages buildah
context=$(mktemp -d "$RELEASE/image.XXXXXX")
trap 'rm -rf "$context"' EXIT
# Not what the machine has configured: a store of its own, without a daemon and without mounts that need one.
export STORAGE_DRIVER=vfs
buildah() { command buildah --root "$RELEASE/containers" --runroot "$RELEASE/containers-run" "$@"; }
build() { buildah build --quiet --isolation chroot --format docker --timestamp "$SOURCE_DATE_EPOCH" --platform "linux/$arch" "$@" >/dev/null; }

# save IMAGE FILE: as an archive.
save() {
    rm -f "$PACKAGES/$2"
    buildah push --quiet "localhost/$1" "docker-archive:$RELEASE/$2.tar:$1"
    gzip -9n <"$RELEASE/$2.tar" >"$PACKAGES/$2"
    rm "$RELEASE/$2.tar"
    say "made $PACKAGES/$2"
}

tarball() { echo "$PACKAGES/bloom-ident-v$VERSION-pg$1-$arch-linux-gnu.tar.gz"; }

if [[ -e $(tarball "$MOUNTED") ]]; then
    mkdir "$context/cloudnativepg"
    tar -C "$context/cloudnativepg" --strip-components=1 -xzf "$(tarball "$MOUNTED")"
    image=bloom-ident:$VERSION-$MOUNTED-trixie
    build --build-arg "VERSION=$VERSION" --build-arg "MAJOR=$MOUNTED" --tag "localhost/$image" --file "$ROOT/packaging/images/cloudnativepg.Dockerfile" "$context/cloudnativepg"
    save "$image" "bloom-ident-v$VERSION-pg$MOUNTED-$arch-cloudnativepg.tar.gz"
else
    warn "no image for CloudNativePG, since there is no $(tarball "$MOUNTED")"
fi

deb=$PACKAGES/bloom-ident-v$VERSION-pg$TRIAL-$arch-linux-gnu.deb
if [[ ! -e $deb ]]; then
    warn "no image for a trial, since there is no $deb"
elif foreign "$arch"; then
    warn "no image for a trial on $arch: its programs do not run here"
else
    if [[ -z ${BASE:-} ]]; then
        suite=$(chroot_suite "$TRIAL")
        BASE=localhost/debian:$suite
        chroot_base "$suite"
        container=$(buildah from --quiet scratch)
        buildah add --quiet "$container" "$BASE_TAR" / >/dev/null
        buildah commit --quiet "$container" "$BASE" >/dev/null
        buildah rm "$container" >/dev/null
    fi
    mkdir "$context/trial"
    cp "$deb" "$context/trial/bloom-ident.deb"
    cp "$ROOT/packaging/images/trial.sh" "$ROOT/docs/data/register.csv" "$context/trial/"
    image=bloom-ident-trial:$VERSION
    build --build-arg "BASE=$BASE" --build-arg "MAJOR=$TRIAL" --tag "localhost/$image" --file "$ROOT/packaging/images/trial.Dockerfile" "$context/trial"
    # What it says when it runs.
    container=$(buildah from --quiet "localhost/$image")
    answer=$(buildah run --isolation chroot --user postgres "$container" -- /usr/local/bin/trial -At -c "SELECT bloom_signature('Müller') IS NOT NULL")
    buildah rm "$container" >/dev/null
    [[ $answer == t ]] || die "the image for a trial answers: $answer"
    save "$image" "bloom-ident-v$VERSION-$arch-trial.tar.gz"
fi
