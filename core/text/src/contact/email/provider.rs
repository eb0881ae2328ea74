//! Which addresses reach the same mailbox, as far as the providers say so themselves, and which domains give mailboxes
//! away.

/// Version of the rules below, for `bloom_fingerprint()`: a change of any takes a new number.
pub const PROVIDER_RULES: &str = "1";

/// Source and version of the list of free providers.
pub const FREE_PROVIDERS: &str = "free-email-domains 1.12.6";

/// One domain a line, sorted by bytes. From the npm package free-email-domains 1.12.6 (MIT licence,
/// licenses/free-email-domains.txt), file domains.json, without change.
const FREE: &str = include_str!("free_providers.txt");

/// How a provider reads what stands before the `@`.
pub(super) struct Provider {
    /// The name that its mailboxes get; that of the domain itself if it is empty.
    pub(super) name: &'static str,
    /// What it passes over.
    pub(super) ignores: &'static [char],
    /// What begins a tag.
    pub(super) tag: char,
}

const fn plus(name: &'static str, ignores: &'static [char]) -> Provider {
    Provider {
        name,
        ignores,
        tag: '+',
    }
}

/// Gmail Help, "Dots don't matter in Gmail addresses" and "Create task-specific addresses": dots are passed over, a
/// plus begins a tag. "Gmail or Googlemail" (Gmail Help): both domains reach the same mailbox.
const GMAIL: Provider = plus("gmail.com", &['.']);
/// Microsoft Support, "Add or remove an email alias in Outlook.com", and Microsoft Learn, "Plus addressing": a plus
/// begins a tag. Dots count, and each domain has mailboxes of its own.
const OUTLOOK: Provider = plus("", &[]);
/// Yahoo Help, "Create and manage disposable email addresses": base name, hyphen, keyword. A plus is no tag, and Yahoo
/// gives out no names with a hyphen. Each domain has mailboxes of its own.
const YAHOO: Provider = Provider {
    name: "",
    ignores: &[],
    tag: '-',
};
/// Fastmail Help, "Plus addressing and subdomain addressing": a plus begins a tag. Subdomains are left as they are.
const FASTMAIL: Provider = plus("", &[]);
/// Proton Support, "Addresses and aliases": a plus begins a tag. "How to change your username": dots, hyphens and
/// underscores are passed over. Its domains are not taken for one another: names of addresses that one has bought are
/// free at the others.
const PROTON: Provider = plus("", &['.', '-', '_']);

/// The rules of a domain's provider, if they are known. Apple's are not in it, since it does not say that a plus begins
/// a tag; nor is Yahoo Japan, which is another company.
pub(super) fn provider(domain: &str) -> Option<&'static Provider> {
    Some(match domain {
        "gmail.com" | "googlemail.com" => &GMAIL,
        "hotmail.com" | "live.com" | "msn.com" | "outlook.com" | "hotmail.be" | "hotmail.ca"
        | "hotmail.co.uk" | "hotmail.de" | "hotmail.es" | "hotmail.fr" | "hotmail.it"
        | "hotmail.nl" | "hotmail.se" | "live.at" | "live.be" | "live.ca" | "live.co.uk"
        | "live.de" | "live.dk" | "live.fr" | "live.it" | "live.nl" | "live.se" | "outlook.at"
        | "outlook.be" | "outlook.com.br" | "outlook.de" | "outlook.dk" | "outlook.es"
        | "outlook.fr" | "outlook.ie" | "outlook.it" | "outlook.jp" | "outlook.pt" => &OUTLOOK,
        "yahoo.com" | "ymail.com" | "rocketmail.com" | "myyahoo.com" | "yahoo.at" | "yahoo.be"
        | "yahoo.ca" | "yahoo.co.id" | "yahoo.co.in" | "yahoo.co.nz" | "yahoo.co.uk"
        | "yahoo.co.za" | "yahoo.com.ar" | "yahoo.com.au" | "yahoo.com.br" | "yahoo.com.mx"
        | "yahoo.com.ph" | "yahoo.com.sg" | "yahoo.com.tr" | "yahoo.com.tw" | "yahoo.com.vn"
        | "yahoo.de" | "yahoo.dk" | "yahoo.es" | "yahoo.fr" | "yahoo.gr" | "yahoo.ie"
        | "yahoo.in" | "yahoo.it" | "yahoo.nl" | "yahoo.no" | "yahoo.pl" | "yahoo.ro"
        | "yahoo.se" => &YAHOO,
        "fastmail.com" | "fastmail.fm" => &FASTMAIL,
        "pm.me" | "proton.me" | "protonmail.ch" | "protonmail.com" => &PROTON,
        _ => return None,
    })
}

/// Whether the provider has given out names with dots behind each other, and at the end: carriers of Japan did, before
/// they took up RFC 5321, and let people keep them. They begin with a letter.
pub(super) fn has_loose_dots(domain: &str) -> bool {
    let domain = domain.strip_suffix('.').unwrap_or(domain);
    ["docomo.ne.jp", "ezweb.ne.jp"]
        .iter()
        .any(|carrier| domain.eq_ignore_ascii_case(carrier))
}

/// Whether the list of free providers has this domain.
pub(super) fn is_free(domain: &str) -> bool {
    let list = FREE.as_bytes();
    let wanted = domain.as_bytes();
    let (mut low, mut high) = (0, list.len());
    // Both are where a line begins, or the end.
    while low < high {
        let middle = (low + high) / 2;
        let start = list[low..middle]
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(low, |at| low + at + 1);
        let end = list[start..]
            .iter()
            .position(|&b| b == b'\n')
            .map_or(list.len(), |at| start + at);
        match list[start..end].cmp(wanted) {
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Less => low = end + 1,
            std::cmp::Ordering::Greater => high = start,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_each_of_it_is_found() {
        let lines: Vec<&str> = FREE.lines().collect();
        assert!(lines.len() > 10_000 && lines.is_sorted() && FREE.ends_with('\n'));
        assert!(lines.iter().all(|domain| is_free(domain)));
        for domain in [
            "",
            "a",
            "zzzz",
            "siemens.com",
            "example.com",
            "gmail.co",
            "gmail.comm",
            "\n",
            "gmail.com\n",
        ] {
            assert!(!is_free(domain), "{domain:?}");
        }
    }
}
