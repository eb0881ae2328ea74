-- Decisions that follow the records that are kept: what was judged before a merge is asked no more after it, and holds for the record that is kept.
SET client_min_messages = warning;
CREATE TABLE settler (id integer PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
INSERT INTO settler VALUES (1, 'Anna Zwilling'), (2, 'Anna Zwiling'), (3, 'Anne Zwilling'), (4, 'Anna Zwillinger'), (5, 'Otto Feld');
CREATE INDEX ON settler USING sigfile (sig);
SELECT bloom_decisions_create('settler_decision');
INSERT INTO settler_decision (a, b, decision) VALUES ('1', '2', 'different');
INSERT INTO settler_decision (a, b, decision) VALUES ('1', '2', 'same'), ('2', '3', 'different'), ('2', '4', 'unsure');
CREATE TABLE settler_cluster AS SELECT * FROM bloom_clusters('settler', 'id', 'sig', 0.7, decisions => 'settler_decision');
SELECT cluster, key FROM settler_cluster ORDER BY cluster, key;
UPDATE settler_cluster SET keep = key = '1';
BEGIN;
-- without it the clusters name a record that is gone
SELECT key, deleted, redirected FROM bloom_merge('settler_cluster', 'settler', 'id');
CREATE TABLE settler_pair AS SELECT * FROM bloom_duplicates('settler', 'id', 'sig', 0.6, decisions => 'settler_decision');
CREATE TABLE settler_again AS SELECT * FROM bloom_clusters('settler_pair', 0.7, decisions => 'settler_decision');
SELECT cluster, key FROM settler_again ORDER BY cluster, key;
SELECT * FROM bloom_merge('settler_again', 'settler', 'id');
ROLLBACK;
SELECT key, deleted, redirected FROM bloom_merge('settler_cluster', 'settler', 'id', redirect => '{settler_decision.a, settler_decision.b}');
SELECT a, b, decision FROM settler_decision ORDER BY id;
SELECT a, b FROM bloom_duplicates('settler', 'id', 'sig', 0.6) ORDER BY a, b;
SELECT a, b FROM bloom_duplicates('settler', 'id', 'sig', 0.6, decisions => 'settler_decision') ORDER BY a, b;
CREATE TABLE settler_pair AS SELECT * FROM bloom_duplicates('settler', 'id', 'sig', 0.6, decisions => 'settler_decision');
SELECT cluster, key FROM bloom_clusters('settler_pair', 0.7, decisions => 'settler_decision') ORDER BY cluster, key;
-- the guard knows them by the record that was kept
SELECT bloom_guard_create('settler', 'sig', 0.6, 'reject', 'decisions', 'settler_decision');
UPDATE settler SET name = 'Anne Zwillin' WHERE id = 3;
UPDATE settler SET name = 'Anna Zwilling' WHERE id = 5;
ALTER TABLE settler DISABLE TRIGGER ALL;
UPDATE settler SET name = 'Anne Zwilling' WHERE id = 3;
SELECT bloom_unmerge(id) FROM bloom_merges WHERE action = 'keep';
SELECT a, b, decision FROM settler_decision ORDER BY id;
DROP TABLE settler, settler_decision, settler_cluster, settler_pair, bloom_merges;
