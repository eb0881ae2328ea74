# shellcheck shell=bash
# Sourced: systems without anything but apt, in which packages are tried.
# Needs release.sh and servers.sh.
#
#   chroot_suite MAJOR    the suite of Debian whose own PostgreSQL that is; of 16, which is in none, the one nearest in age
#   chroot_new SUITE      a new system in $CHROOT, removed at the end
#   in_chroot COMMAND...  runs there as root, with processes of its own, which end with it

chroot_suite() {
    case $1 in
        15) echo bookworm ;;
        16 | 17) echo trixie ;;
        18) echo forky ;;
    esac
}

chroot_new() {
    local suite=$1 base=$RELEASE/chroots/$1.tar
    ((EUID == 0)) || die 'a system of its own (chroot) is made by root: call this as root'
    need_packages mmdebstrap debian-archive-keyring
    mkdir -p "$RELEASE/chroots"
    if [[ ! -e $base ]]; then
        say "making an empty system of Debian's $suite"
        mmdebstrap --quiet --aptopt="${ANY_AGE/=/ }" --format=tar --variant=apt --include=ca-certificates "$suite" "$base.new" "$(debian_sources "$suite")"
        mv "$base.new" "$base"
    fi
    CHROOT=$(mktemp -d "$RELEASE/chroots/$suite.XXXXXX")
    # shellcheck disable=SC2064
    trap "rm -rf --one-file-system '$CHROOT'" EXIT
    chmod 755 "$CHROOT"
    tar -C "$CHROOT" -xf "$base"
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
