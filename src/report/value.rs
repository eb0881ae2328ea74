//! Values as a report shows them: shortened, and without characters that would move others.

pub use base::range::{grouped, similarity, three_digits};

/// Characters of a value that are shown.
pub const LENGTH: usize = 80;

/// Characters of a value that those who decide are shown.
pub const SHOWN: usize = 120;

/// Stand for the characters of a value that are not shown.
pub const DOTS: &str = "...";

/// Line and paragraph separators.
const SEPARATORS: [char; 2] = ['\u{2028}', '\u{2029}'];

/// Whether a character is a control, changes the direction of the text around it, is not seen, or is no character at
/// all.
pub fn is_unfit(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{fdd0}'..='\u{fdef}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
        || SEPARATORS.contains(&c)
        || u32::from(c) & 0xfffe == 0xfffe
}

/// The first [`LENGTH`] characters of a value. Line breaks become blanks, other unfit characters become `unfit`.
pub fn tidy(value: &str, unfit: char) -> String {
    cut(value, LENGTH, unfit)
}

/// The same with `length` characters.
pub fn cut(value: &str, length: usize, unfit: char) -> String {
    let mut cut: String = tidied(value, unfit).take(length).collect();
    if value.chars().nth(length).is_some() {
        cut.push_str(DOTS);
    }
    cut
}

/// The same of all characters.
pub fn tidied(value: &str, unfit: char) -> impl Iterator<Item = char> + '_ {
    value.chars().map(move |c| match c {
        '\n' | '\r' | '\t' => ' ',
        c if SEPARATORS.contains(&c) => ' ',
        c if is_unfit(c) => unfit,
        c => c,
    })
}

/// A share of a whole in percent; an empty text if the whole is 0.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return String::new();
    }
    format!("{:.1} %", 100.0 * part as f64 / whole as f64)
}
