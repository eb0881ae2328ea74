
-- Match models over all shards of a distributed table: a fit by a sample of every shard, and pairs by the keys of the model's searches.
