#!/bin/sh
# The program of the image for a trial: starts the server, creates the extension, and gives its arguments to psql, or a prompt.
set -eu
pg_ctlcluster "$MAJOR" main start -o "-c listen_addresses=" -- -s
psql -X -q -d postgres -c 'CREATE EXTENSION IF NOT EXISTS bloom_ident'
[ $# -gt 0 ] || echo 'bloom_ident is there. docs/data/register.csv is the register of README.md, whose statements can be pasted from "Clean a register" on.'
status=0
psql -X -d postgres "$@" || status=$?
pg_ctlcluster "$MAJOR" main stop -m immediate
exit "$status"
