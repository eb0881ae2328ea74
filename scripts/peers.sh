# shellcheck shell=bash
# Sourced by benchmarks: libraries of Python that do alike, from the registry that pip is set up for. Needs common.sh and packages.sh.

PEERS=(datasketch==2.0.0 rensa==0.5.0)
# Those of keyed signatures, which set PEERS to them.
# shellcheck disable=SC2034
KEYED_PEERS=(anonlink==0.15.3 clkhash==0.18.3)

# peers_ready: they are installed under target/, or can be.
peers_ready() {
    local venv=$ROOT/target/peers/${PEERS[0]}
    [[ ! -e $venv/ready || $(<"$venv/ready") != "${PEERS[*]}" ]] || return 0
    need_packages python3 python3-venv
    say "pip: installing ${PEERS[*]}" >&2
    rm -rf "$venv"
    if python3 -m venv "$venv" && "$venv/bin/pip" install --quiet "${PEERS[@]}" >&2; then
        echo "${PEERS[*]}" >"$venv/ready"
    else
        warn "pip could not install ${PEERS[*]}: they are left out"
        return 1
    fi
}

# peers_python ARGUMENT...: with them, on one thread.
peers_python() { RAYON_NUM_THREADS=1 "$ROOT/target/peers/${PEERS[0]}/bin/python" "$@"; }
