//! Values as a report shows them: of bounded length, and without characters that move others.

/// Characters of a value that are shown.
pub const LENGTH: usize = 80;

fn is_unfit(c: char) -> bool {
    // controls, and what changes the direction of the text around it
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Line breaks are shown as blanks, other unfit characters as `unfit`.
pub fn tidy(value: &str, unfit: char) -> String {
    let shown = |c: char| match c {
        '\n' | '\r' | '\t' => ' ',
        c if is_unfit(c) => unfit,
        c => c,
    };
    let mut tidy: String = value.chars().take(LENGTH).map(shown).collect();
    if value.chars().nth(LENGTH).is_some() {
        tidy.push_str("...");
    }
    tidy
}

/// 1234567 as 1,234,567.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A share of a whole in percent; nothing has no shares.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return String::new();
    }
    format!("{:.1} %", 100.0 * part as f64 / whole as f64)
}
