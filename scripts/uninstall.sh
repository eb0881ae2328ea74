#!/usr/bin/env bash
# make uninstall [PG_CONFIG=path] [DESTDIR=dir]: remove the extension's files from that PostgreSQL.

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/common.sh
source "$here/common.sh"
# shellcheck source=scripts/postgres.sh
source "$here/postgres.sh"

check_pg_config
destdir=${DESTDIR:-}
pkglibdir=$destdir$("$PG_CONFIG" --pkglibdir)
extension=$destdir$("$PG_CONFIG" --sharedir)/extension
docs=$destdir$("$PG_CONFIG" --docdir)/extension/bloom_ident
{ rm -f "$pkglibdir/bloom_ident.so" "$extension"/bloom_ident{,_citus}.control "$extension"/bloom_ident{,_citus}--*.sql && rm -rf "$docs"; } ||
    die "$pkglibdir, $extension or $docs is not writable for $(id -un). Use: sudo make uninstall PG_CONFIG=$PG_CONFIG"
say "removed from $pkglibdir and $extension; databases that still have the extension need DROP EXTENSION bloom_ident"
