//! `cargo run -p bloom_ident_house [ROOT]`: prints what breaks a rule of the house, one finding a line, and fails if there is any.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = match std::env::args_os().nth(1) {
        Some(root) => PathBuf::from(root),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")),
    };
    match bloom_ident_house::findings(&root) {
        Ok(findings) => {
            findings.iter().for_each(|finding| println!("{finding}"));
            println!("house: {} findings", findings.len());
            ExitCode::from(u8::from(!findings.is_empty()))
        }
        Err(error) => {
            eprintln!("house: {error}");
            ExitCode::from(2)
        }
    }
}
