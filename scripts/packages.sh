# shellcheck shell=bash
# Sourced: need_packages installs Debian packages that are missing, and only those.

# True when every package (a name or a dpkg pattern) has an installed match.
packages_present() {
    local package states
    for package in "$@"; do
        states=$(dpkg-query -W -f ' ${db:Status-Status} ' "$package" 2>/dev/null) || true
        [[ $states == *' installed '* ]] || return 1
    done
}

# need_packages PACKAGE... ; PACKAGE=PATTERN accepts any installed match of PATTERN instead.
need_packages() {
    local spec missing=()
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        warn "not a Debian system; taken for granted: ${*%%=*}"
        return
    fi
    for spec in "$@"; do
        packages_present "${spec#*=}" || missing+=("${spec%%=*}")
    done
    ((${#missing[@]} == 0)) && return
    # Explicit, since "set -e" is off wherever a caller looks at the exit status.
    alone apt_install "${missing[@]}" || exit 1
    APT_UPDATED=1
}

apt_install() (
    as_root=()
    if ((EUID != 0)); then
        command -v sudo >/dev/null ||
            die "missing packages: $*. As root run: apt-get install $*"
        as_root=(sudo)
    fi
    log=$(mktemp)
    dropin_dir=/etc/postgresql-common/createcluster.d
    dropin=$dropin_dir/bloom_ident-install.conf
    # shellcheck disable=SC2317
    undo() {
        rm -f "$log"
        if [[ -e $dropin ]]; then
            "${as_root[@]}" rm -f "$dropin"
            "${as_root[@]}" rmdir --ignore-fail-on-non-empty "$dropin_dir"
        fi
    }
    trap undo EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM

    apt() {
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" >"$log" 2>&1
    }

    # Before anything is changed.
    say "these Debian packages are missing and are now installed${as_root:+ with sudo}: $*"
    say "to do that yourself, stop this and run: ${as_root:+sudo }apt-get install $*"
    if [[ -z ${APT_UPDATED:-} ]]; then
        say 'apt: reading the package lists'
        apt -o APT::Update::Error-Mode=any update || {
            tail -n 5 "$log" >&2
            warn 'apt-get update failed (no network?); trying with the package lists at hand'
        }
    fi

    for package in "$@"; do
        if [[ -z $(apt-cache madison "$package") ]]; then
            hint='Is there a network, is this Debian 12, and do its package sources name the main section?'
            [[ $package != postgresql* ]] ||
                hint+=' Otherwise name another PostgreSQL with PG_CONFIG=/path/to/pg_config.'
            die "apt knows no package $package. $hint"
        fi
    done

    # Debian's server packages create and start a cluster "main" when they are
    # first configured. Of the ways to prevent that, this is the least intrusive:
    # a drop-in that only pg_createcluster's caller reads and that is gone again
    # afterwards. (A policy-rc.d would affect all services, and edits of
    # createcluster.conf would stay.)
    if [[ " $* " == *" postgresql-"* ]] && ! packages_present 'postgresql-[0-9][0-9]'; then
        "${as_root[@]}" mkdir -p "$dropin_dir"
        echo 'create_main_cluster = false' | "${as_root[@]}" tee "$dropin" >/dev/null
    fi

    say 'apt: installing'
    apt install -y --no-install-recommends "$@" || {
        tail -n 20 "$log" >&2
        die "apt could not install $* (see above). Install them by hand, then run this again."
    }
)

# What compiling the extension takes, apart from PostgreSQL's headers, as arguments of need_packages; one a line.
build_packages() {
    # cc links and compiles; libclang (of any version) is for pgrx's bindgen.
    { command -v cc >/dev/null && packages_present libc6-dev; } || echo build-essential
    [[ -n ${LIBCLANG_PATH:-} ]] || echo 'libclang-dev=libclang-[0-9]*-dev'
}

need_build_packages() {
    local packages
    mapfile -t packages < <(build_packages)
    need_packages "${packages[@]}"
    need_cargo
}

need_cargo() {
    command -v cargo >/dev/null ||
        die 'no cargo found. Install Rust (rustup, https://rustup.rs), then run this again.'
}
