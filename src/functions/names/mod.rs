//! Names of persons and companies.

mod forms;
mod parts;
mod similarity;
