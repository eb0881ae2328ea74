# shellcheck shell=bash
# Sourced by tests that run programs in Python. Needs common.sh and packages.sh.

# need_venv NAME: sets `venv` to a virtual environment with the packages of tests/NAME/requirements.txt, which come from the package index of Python once, into target/NAME.
need_venv() {
    local list=$ROOT/tests/$1/requirements.txt python
    need_packages python3 python3-venv
    # Debian's own: one that is found first may have no venv, or be too old.
    python=$(command -v /usr/bin/python3 || command -v python3)
    venv=$ROOT/target/$1/$({ "$python" --version && cat "$list"; } | sha256sum | cut -c1-16)
    [[ ! -e $venv/complete ]] || return 0
    say "pip: installing $(paste -sd ' ' "$list")"
    rm -rf "$ROOT/target/$1"
    mkdir -p "$ROOT/target/$1"
    "$python" -m venv "$venv" || die 'a virtual environment of Python cannot be made (see above)'
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary=:all: -r "$list" ||
        die "pip could not install what tests/$1/requirements.txt names (see above); without it tests/$1.test.sh cannot run"
    : >"$venv/complete"
}
