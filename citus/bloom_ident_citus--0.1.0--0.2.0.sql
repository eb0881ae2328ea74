\echo Use "ALTER EXTENSION bloom_ident_citus UPDATE" to load this file. \quit
