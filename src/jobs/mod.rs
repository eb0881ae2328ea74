//! What is done with duplicates: kept out as they come, or found afterwards.

mod guard;
