//! Errors over damaged pages.

use base::{Error, ErrorKind};

use super::SigfileIndex;

impl SigfileIndex<'_> {
    /// The error over a page that no code of ours can have written so; `what` is half a sentence.
    #[cold]
    pub fn damaged(self, block: u32, what: &str) -> Error {
        let message = format!("index \"{}\" is damaged at block {block}", self.name());
        broken(message, what)
    }

    /// The same where it is not known which page it is.
    #[cold]
    pub fn unsound(self, what: &str) -> Error {
        broken(format!("index \"{}\" is damaged", self.name()), what)
    }

    /// An error of the core's as one about the index, and the block. `blocks` are those of the segment's pages. Errors of
    /// other kinds stay as they are.
    #[cold]
    pub fn locate(self, error: Error, blocks: &[u32]) -> Error {
        if error.kind() != ErrorKind::Corrupted || error.hint_text().is_some() {
            return error;
        }
        let block = error.page().and_then(|page| blocks.get(page as usize));
        match block {
            Some(&block) => self.damaged(block, error.message()),
            None => self.unsound(error.message()),
        }
    }
}

#[cold]
fn broken(message: String, what: &str) -> Error {
    let mut detail: String = what.chars().take(1).flat_map(char::to_uppercase).collect();
    detail.extend(what.chars().skip(1).chain(['.']));
    Error::new(ErrorKind::Corrupted, message)
        .detail(detail)
        .hint("Rebuild the index with REINDEX.")
}
