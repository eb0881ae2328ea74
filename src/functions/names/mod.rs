//! Names of persons and companies.

mod similarity;
