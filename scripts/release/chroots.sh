# shellcheck shell=bash
# Sourced: systems without anything but apt, in which packages are tried.
# Needs release.sh and servers.sh.
#
#   chroot_suite MAJOR    the suite of Debian whose own PostgreSQL that is; of 16, which is in none, the one nearest in age
#   chroot_base SUITE     sets BASE_TAR to an archive of an empty system, which is made once
#   chroot_new SUITE      a new system in $CHROOT, removed at the end
#   in_chroot COMMAND...  runs there as root, with processes of its own, which end with it

chroot_suite() {
    case $1 in
        15) echo bookworm ;;
        16 | 17) echo trixie ;;
        18) echo forky ;;
    esac
}

chroot_base() {
    BASE_TAR=$RELEASE/chroots/$1.tar
    [[ ! -e $BASE_TAR ]] || return 0
    ((EUID == 0)) || die 'a system of its own (chroot) is made by root: call this as root'
    need_packages mmdebstrap debian-archive-keyring
    say "making an empty system of Debian's $1"
    mkdir -p "$RELEASE/chroots"
    mmdebstrap --quiet --aptopt="${ANY_AGE/=/ }" --format=tar --variant=apt --include=ca-certificates "$1" "$BASE_TAR.new" "$(debian_sources "$1")"
    mv "$BASE_TAR.new" "$BASE_TAR"
}

chroot_new() {
    chroot_base "$1"
    CHROOT=$(mktemp -d "$RELEASE/chroots/$1.XXXXXX")
    # shellcheck disable=SC2064
    trap "rm -rf --one-file-system '$CHROOT'" EXIT
    chmod 755 "$CHROOT"
    tar -C "$CHROOT" -xf "$BASE_TAR"
    rm -f "$CHROOT/etc/resolv.conf"
    cp -L /etc/resolv.conf /etc/hosts "$CHROOT/etc/"
    # How this machine's apt reaches its sources.
    cp -r /etc/apt/apt.conf.d/*proxy* "$CHROOT/etc/apt/apt.conf.d/" 2>/dev/null || true
}

# Directories of this machine that are seen there, too, to be read: FROM:TO. And what else is kept apart, such as --net.
BINDS=()
APART=()

in_chroot() {
    unshare --mount --pid --fork --kill-child "${APART[@]}" sh -c '
        root=$1 binds=$2
        shift 2
        mount --make-rprivate /
        mount --rbind /dev "$root/dev" && mount -t proc proc "$root/proc" && mount -t tmpfs tmpfs "$root/run" || exit
        for bind in $binds; do
            mkdir -p "$root${bind#*:}" && mount --bind -o ro "${bind%%:*}" "$root${bind#*:}" || exit
        done
        exec chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
    ' sh "$CHROOT" "${BINDS[*]}" "$@" </dev/null
}
