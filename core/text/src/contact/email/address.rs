//! Finds the address within what people write for one, by the grammar of RFC 5322 and RFC 6531: comments, display name
//! and quotes are taken away.

use super::provider::has_loose_dots;
use unicode_general_category::{get_general_category, GeneralCategory as Gc};

/// What is wrong with a text that is no address: a whole sentence.
pub(super) type Refusal = &'static str;

/// Local part and domain as they are written, without comments, quotes and blanks.
pub(super) struct Written {
    /// What the quotes contain, if it needs none to be a local part; with its quotes otherwise.
    pub(super) local: String,
    pub(super) domain: String,
}

/// Where the scan of a text is.
enum Place {
    Plain,
    Quotes,
    Comment(usize),
}

/// What stands outside of comments: before `<` a display name, and then the address.
#[derive(Default)]
struct Scan {
    /// Characters and whether they stood in quotes.
    address: Vec<(char, bool)>,
    has_angle: bool,
    closed: bool,
}

pub(super) fn written(text: &str) -> Result<Written, Refusal> {
    let scan = scan(text)?;
    let bare = without_scheme(trim(&scan.address))?;
    if bare.is_empty() {
        return Err("It is blank.");
    }
    let ats: Vec<usize> = positions(bare, '@');
    let [at] = ats[..] else {
        return Err(if ats.is_empty() {
            "It has no \"@\"."
        } else {
            "It has more than one \"@\"."
        });
    };
    let domain = domain(trim(&bare[at + 1..]));
    let loose = domain.as_deref().is_ok_and(has_loose_dots);
    Ok(Written {
        local: local(trim(&bare[..at]), loose)?,
        domain: domain?,
    })
}

/// The address of a link, `mailto:`, without what the link says of the message.
fn without_scheme(bare: &[(char, bool)]) -> Result<&[(char, bool)], Refusal> {
    const SCHEME: &str = "mailto:";
    let begins = SCHEME.chars().zip(bare);
    let is_link = bare.len() >= SCHEME.len()
        && begins
            .into_iter()
            .all(|(a, (b, quoted))| !quoted && b.eq_ignore_ascii_case(&a));
    if !is_link {
        return Ok(bare);
    }
    let address = &bare[SCHEME.len()..];
    let end = positions(address, '?').first().copied();
    let address = trim(&address[..end.unwrap_or(address.len())]);
    match positions(address, '%')[..] {
        [] => Ok(address),
        _ => Err("It is a link with characters that are encoded by \"%\"."),
    }
}

fn scan(text: &str) -> Result<Scan, Refusal> {
    let mut scan = Scan::default();
    let mut place = Place::Plain;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match place {
            Place::Comment(depth) => match c {
                '(' => place = Place::Comment(depth + 1),
                ')' if depth == 1 => place = Place::Plain,
                ')' => place = Place::Comment(depth - 1),
                '\\' => {
                    chars.next();
                }
                _ => {}
            },
            Place::Quotes => match c {
                '"' => {
                    scan.address.push((c, false));
                    place = Place::Plain;
                }
                '\\' => {
                    let quoted = chars.next().ok_or("A quotation has no end.")?;
                    scan.address.push((quoted, true));
                }
                _ => scan.address.push((c, true)),
            },
            Place::Plain => match c {
                '(' => place = Place::Comment(1),
                '<' if scan.has_angle => return Err("It has more than one \"<\"."),
                '<' => {
                    scan.has_angle = true;
                    scan.address.clear();
                }
                '>' if !scan.has_angle || scan.closed => {
                    return Err("A \">\" has no \"<\" before it.")
                }
                '>' => scan.closed = true,
                _ if scan.closed && !c.is_whitespace() => {
                    return Err("Something follows the \">\".")
                }
                _ if scan.closed => {}
                '"' => {
                    scan.address.push((c, false));
                    place = Place::Quotes;
                }
                _ => scan.address.push((c, false)),
            },
        }
    }
    match place {
        Place::Quotes => Err("A quotation has no end."),
        Place::Comment(_) => Err("A comment has no end."),
        Place::Plain if scan.has_angle && !scan.closed => Err("A \"<\" has no \">\" behind it."),
        Place::Plain => Ok(scan),
    }
}

/// Without the blanks around it.
fn trim(part: &[(char, bool)]) -> &[(char, bool)] {
    let is_blank = |&(c, quoted): &(char, bool)| !quoted && c.is_whitespace();
    let Some(start) = part.iter().position(|c| !is_blank(c)) else {
        return &[];
    };
    let end = part.iter().rposition(|c| !is_blank(c)).unwrap_or(start);
    &part[start..=end]
}

/// Where a character stands outside of quotes.
fn positions(part: &[(char, bool)], wanted: char) -> Vec<usize> {
    let at = part.iter().enumerate();
    at.filter(|(_, &(c, quoted))| c == wanted && !quoted)
        .map(|(i, _)| i)
        .collect()
}

/// `loose` allows dots behind each other, and at the end.
fn local(part: &[(char, bool)], loose: bool) -> Result<String, Refusal> {
    let quotes = positions(part, '"');
    if quotes.is_empty() {
        let local: String = part.iter().map(|(c, _)| c).collect();
        return dot_atom(&local, loose).map(|()| local);
    }
    if quotes != [0, part.len() - 1] {
        return Err("Quotation marks have to be around all of what stands before the \"@\".");
    }
    let inner: String = part[1..part.len() - 1].iter().map(|(c, _)| c).collect();
    if dot_atom(&inner, loose).is_ok() {
        return Ok(inner);
    }
    if inner.is_empty() {
        return Err("Nothing stands before the \"@\".");
    }
    if !inner.chars().all(|c| c == ' ' || is_safe(c)) {
        return Err("It has a character that no address has.");
    }
    let mut quoted = String::from("\"");
    for c in inner.chars() {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    Ok(quoted)
}

/// Checks what needs no quotes.
fn dot_atom(local: &str, loose: bool) -> Result<(), Refusal> {
    if local.is_empty() {
        return Err("Nothing stands before the \"@\".");
    }
    if local.starts_with('.') || !loose && local.split('.').any(str::is_empty) {
        return Err("A dot stands at an end of what is before the \"@\", or behind another dot.");
    }
    let allowed = |c: char| {
        if c.is_ascii() {
            c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(c)
        } else {
            is_safe(c)
        }
    };
    if local.chars().any(|c| c.is_whitespace()) {
        return Err("A blank stands within what is before the \"@\".");
    }
    if !local.chars().all(allowed) {
        return Err("It has a character that no address has.");
    }
    Ok(())
}

/// Neither control, format, unassigned nor private, nor a space, by a table of fixed version.
fn is_safe(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_graphic();
    }
    !matches!(
        get_general_category(c),
        Gc::Control
            | Gc::Format
            | Gc::Surrogate
            | Gc::PrivateUse
            | Gc::Unassigned
            | Gc::SpaceSeparator
            | Gc::LineSeparator
            | Gc::ParagraphSeparator
    )
}

fn domain(part: &[(char, bool)]) -> Result<String, Refusal> {
    let domain: String = part.iter().map(|(c, _)| c).collect();
    if domain.is_empty() {
        return Err("Nothing follows the \"@\".");
    }
    if domain.chars().any(|c| c.is_whitespace()) {
        return Err("A blank stands within the domain.");
    }
    if domain.starts_with('[') {
        return Err("It has an IP address in the place of a domain.");
    }
    Ok(domain)
}
