//! Strategy numbers of both operator classes, one for each pair of types: exclusion checks leave
//! the subtype of a scan key unset, and both are in one family.

/// bloom % bloom
pub const SIMILAR: u16 = 1;
/// bloom % bloom_query
pub const MATCHES: u16 = 2;
/// bloom = bloom
pub const EQUAL: u16 = 3;
/// bloom @> bloom
pub const COVERS: u16 = 4;
/// bloom <@ bloom
pub const COVERED_BY: u16 = 5;
/// bloom <-> bloom
pub const DISTANCE: u16 = 6;
/// bloom_query % bloom_query
pub const MATCH: u16 = 7;
/// bloom_query % bloom
pub const MATCHES_SIGNATURE: u16 = 8;
/// `~%`, to which the planner turns `%` with the column on the right.
pub const SIMILAR_COMMUTED: u16 = 9;
/// How many there are.
pub const COUNT: u16 = 9;

/// The left-hand side is a query, whose threshold counts.
pub fn is_keyed(number: u16) -> bool {
    matches!(number, MATCH | MATCHES_SIGNATURE)
}
