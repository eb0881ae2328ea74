#!/usr/bin/env bash
# tests/citus_upgrade.test.sh: from each released version to this one on the nodes of Citus. ALTER EXTENSION on the coordinator reaches all nodes, and what they have then is
# by definition what CREATE EXTENSION makes. While nodes have different versions, rows are entered, searched and guarded as before, and jobs are refused and name
# the node. Nothing is tested where CITUS_SOURCE names no source of Citus.

# shellcheck source=tests/citus.sh
source "$(dirname "${BASH_SOURCE[0]}")/citus.sh"
# shellcheck source=scripts/released.sh
source "$ROOT/scripts/released.sh"

people 400
# catalogs NAME: what both extensions are on each node, in files citus_upgrade.NAME.NODE.
catalogs() {
    local node extension
    for node in coordinator worker1 worker2; do
        (
            citus_use "$node"
            # What it makes for itself is for no other node.
            PGOPTIONS+=' -c citus.enable_ddl_propagation=off'
            for extension in bloom_ident bloom_ident_citus; do released_catalog citus "$extension"; done
        ) >"$SCRATCH/citus_upgrade.$1.$node"
    done
}
citus_start 2
catalogs wanted
scripts=$("$PGBIN/pg_config" --sharedir)/extension
update=(-c 'ALTER EXTENSION bloom_ident UPDATE' -c 'ALTER EXTENSION bloom_ident_citus UPDATE')
# versions VERSION VERSION VERSION: of the coordinator and both workers, of both extensions.
versions() {
    local node
    for node in coordinator worker1 worker2; do
        (citus_use "$node" && is "$1 $1" "SELECT string_agg(extversion, ' ') FROM pg_extension WHERE extname IN ('bloom_ident', 'bloom_ident_citus')")
        shift
    done
}
# What goes on whatever the versions are: entering, searching by an index on the shards, the guard.
id=1000
goes_on() {
    local said
    id=$((id + 1))
    sql -c "INSERT INTO person_entry (n, name) VALUES ($id, md5('$id'))"
    refused 23P85 "INSERT INTO person_entry (n, name) VALUES ($((id + 500)), md5('$id'))"
    is "$id" "SELECT n FROM person WHERE bloom_sim(sig, bloom_signature(md5('$id'))) > 0.9"
    said=$(sql -c "SET citus.propagate_set_commands = 'local'" -c BEGIN -c 'SET LOCAL enable_seqscan = off' -c "EXPLAIN SELECT n FROM person WHERE bloom_sim(sig, bloom_signature(md5('$id'))) > 0.9")
    [[ $said == *' person_sig_'* ]] || die "the shards do not search by their indexes: $said"
}
# job: pairs of all shards are those of one node.
job() {
    sql -c 'DROP TABLE IF EXISTS found, truth, one' -c 'CREATE TABLE one AS TABLE person' -c "CREATE TABLE truth AS SELECT * FROM bloom_duplicates('one', 'n', 'sig', 0.6)" \
        -c "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.6, 'found')" >/dev/null
    same found truth "$version"
    [[ $(sql -c 'SELECT count(*) > 20 FROM found') == t ]] || die 'there are few pairs'
}
# no_job NODE DETAIL
no_job() {
    local said
    said=$(sql -c "SELECT bloom_citus_duplicates('person', 'n', 'sig', 0.6, 'none')" 2>&1) || true
    [[ $said == *"node $SCRATCH/$1:5432 has another version of bloom_ident"*"DETAIL:  $2"*'HINT:  Install the same version on all nodes'* ]] || die "a job over different versions says: $said"
}

current=$(sql -c "SELECT extversion FROM pg_extension WHERE extname = 'bloom_ident'")
for kept in "$RELEASED"/*/; do
    version=$(basename "$kept")
    cp "$kept"/*.sql "$scripts"
    sql -c 'DROP EXTENSION bloom_ident_citus' -c 'DROP EXTENSION bloom_ident' -c "CREATE EXTENSION bloom_ident VERSION '$version'" -c "CREATE EXTENSION bloom_ident_citus VERSION '$version'"
    versions "$version" "$version" "$version"
    people_table plain
    sql >/dev/null <<'SQL'
CREATE TABLE person (n bigint PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
SELECT create_distributed_table('person', 'n');
CREATE INDEX person_sig ON person USING sigfile (sig);
INSERT INTO person SELECT row_number() OVER (), concat_ws(' ', given_name, surname, dob) FROM plain;
SELECT bloom_citus_guard_create('person', 'sig', 0.9, 'reject');
SQL
    goes_on
    job

    # The coordinator alone.
    sql -c 'SET citus.enable_ddl_propagation = off' "${update[@]}"
    versions "$current" "$version" "$version"
    goes_on
    no_job worker1 "It says \"bloom_ident $version, bloom_ident_citus $version\", and this node \"bloom_ident $current, bloom_ident_citus $current\"."
    # A worker more, and by its own statement.
    (citus_use worker1 && sql -c 'SET citus.enable_ddl_propagation = off' "${update[@]}")
    versions "$current" "$current" "$version"
    goes_on
    no_job worker2 "It says \"bloom_ident $version, bloom_ident_citus $version\""
    # As everybody does it.
    sql "${update[@]}"
    versions "$current" "$current" "$current"
    catalogs now
    goes_on
    job
    for node in coordinator worker1 worker2; do
        diff "$SCRATCH/citus_upgrade.wanted.$node" "$SCRATCH/citus_upgrade.now.$node" >"$SCRATCH/citus_upgrade.diff" ||
            { head -n 30 "$SCRATCH/citus_upgrade.diff" >&2 && die "$version: the catalogs of $node after the upgrade (< expected, > said)"; }
    done
    sql -c "SELECT bloom_citus_guard_drop('person_entry')" -c 'DROP TABLE person, plain, one, truth, found' >/dev/null
done
