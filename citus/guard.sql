
-- A guard over all shards of a distributed table.
