//! Identity text in other ways than by its normal form.

mod edit;
mod expand;
mod own;
mod sound;
