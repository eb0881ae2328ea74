#!/usr/bin/env bash
# make packages [MAJORS="15 18"] [ARCHES=amd64]: packages of all majors and processors in target/packages, each tried as far as this machine can. What could not
# be tried is said at the end. Root makes the systems that packages are tried in; without root they are only built.

# shellcheck source=scripts/release/release.sh
source "$(dirname "${BASH_SOURCE[0]}")/release.sh"

rm -f "$PACKAGES/QUICK"
notes=()
note() { notes+=("$*"); }
has() { [[ " ${*:2} " == *" $1 "* ]]; }

"$here/meta.sh"
for major in "${MAJORS[@]}"; do
    # The compiler keeps one of the machine's processors busy for most of the time.
    building=()
    for arch in "${ARCHES[@]}"; do
        "$here/library.sh" "$major" "$arch" &
        building+=($!)
    done
    for library in "${building[@]}"; do wait "$library"; done
    for arch in "${ARCHES[@]}"; do
        "$here/deb.sh" "$major" "$arch"
        "$here/tarball.sh" "$major" "$arch"
        "$here/rpm.sh" "$major" "$arch"
        if foreign "$arch"; then
            note "PostgreSQL $major on $arch: built; the package was not installed, since it is for another processor"
        elif ((EUID != 0)); then
            note "PostgreSQL $major on $arch: built; the package was not installed, since only root makes systems to try it in"
        else
            "$here/try-deb.sh" "$major"
            ((major != 16)) || note "PostgreSQL 16: tried beside a server from a Python package, on Debian's trixie, not on Ubuntu 24.04"
            "$here/try-rpm.sh" "$major" "$arch"
            note "PostgreSQL $major: the RPM was unpacked and its files compared, not installed on a system of Red Hat's"
        fi
    done
done
if has 18 "${MAJORS[@]}" && ! foreign "${ARCHES[0]}"; then "$here/try-tarball.sh" 18; fi
if has 16 "${MAJORS[@]}" && has arm64 "${ARCHES[@]}" && foreign arm64; then
    "$here/emulated.sh" 16
    note 'arm64: the tests of the core, and some of tests/sql with PostgreSQL 16, ran under qemu, as programs of a user'
fi
if ((EUID == 0)); then
    "$here/images.sh" "$(dpkg --print-architecture)"
    ! has 15 "${MAJORS[@]}" || "$here/offline.sh"
fi
"$here/sums.sh"
for line in "${notes[@]}"; do say "$line"; done
