//! Match models: what a stored model says, in words.

mod describe;
mod explain;
