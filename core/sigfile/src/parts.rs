//! The two kinds of rows of an index.

/// Two kinds of rows, kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Rows with a signature.
    Signatures = 0,
    /// NULL instead of a signature.
    Nulls = 1,
}

impl Part {
    /// Both, in the order of their numbers.
    pub const ALL: [Part; 2] = [Part::Signatures, Part::Nulls];
}
