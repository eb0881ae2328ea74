//! Domains to one form: the lower-case ASCII of the DNS, with punycode for other letters.

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

use super::address::Refusal;

/// Most bytes of a domain.
const LONGEST: usize = 253;
/// Most bytes of what stands between two dots.
const LONGEST_LABEL: usize = 63;

const REFUSED: Refusal = "The domain is not one of letters, digits and hyphens between dots.";

/// The form of the DNS. A dot at the end, which stands for the root, is dropped.
pub(super) fn canonical_domain(written: &str) -> Result<String, Refusal> {
    let written = written.strip_suffix('.').unwrap_or(written);
    let domain = if written.is_ascii() && !has_punycode(written) {
        written.to_ascii_lowercase()
    } else {
        // Two of these let through what the checks below refuse.
        let ascii = Uts46::new().to_ascii(
            written.as_bytes(),
            AsciiDenyList::STD3,
            Hyphens::CheckFirstLast,
            DnsLength::Verify,
        );
        ascii.map_err(|_| REFUSED)?.into_owned()
    };
    check(&domain)?;
    Ok(domain)
}

fn has_punycode(domain: &str) -> bool {
    let label = |label: &str| {
        label
            .as_bytes()
            .get(..4)
            .is_some_and(|b| b.eq_ignore_ascii_case(b"xn--"))
    };
    domain.split('.').any(label)
}

fn check(domain: &str) -> Result<(), Refusal> {
    let label = |label: &str| {
        (1..=LONGEST_LABEL).contains(&label.len())
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if domain.len() > LONGEST {
        return Err("The domain is longer than 253 characters.");
    }
    if !domain.split('.').all(label) {
        return Err(REFUSED);
    }
    match domain.rsplit_once('.') {
        None => Err("The domain has no dot."),
        Some((_, top)) if top.bytes().all(|b| b.is_ascii_digit()) => {
            Err("The domain ends in a number.")
        }
        Some(_) => Ok(()),
    }
}
