//! What the text forms of filters have in common: `(k,p,ngram):` and hexadecimal digits behind it.

use super::shape::Shape;
use base::error::shortened;
use base::{Error, ErrorKind, Result};

/// Characters of a text that messages show.
pub(crate) const LONGEST: usize = 60;

/// Appends bytes in hexadecimal.
pub(crate) fn write_hex(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        for nibble in [byte >> 4, byte & 15] {
            out.push(char::from_digit(nibble.into(), 16).expect("a nibble"));
        }
    }
}

/// A text form, for messages about it.
pub(crate) struct TextForm {
    /// Name of the type.
    pub of: &'static str,
    /// A sentence with an example of the form.
    pub example: &'static str,
    /// What to do instead of writing it.
    pub hint: &'static str,
}

impl TextForm {
    /// The error of a text that has not this form.
    pub fn malformed(&self, text: &str, detail: String) -> Error {
        let of = self.of;
        let text = shortened(text, LONGEST);
        let message = format!("invalid input syntax for type {of}: \"{text}\"");
        Error::new(ErrorKind::InvalidText, message).detail(detail)
    }

    /// The shape that a text begins with, and what is behind its colon. Blanks around the text are left out.
    ///
    /// Errors: no shape.
    pub fn read_shape<'t>(&self, text: &'t str) -> Result<(Shape, &'t str)> {
        let no_form = || self.malformed(text, self.example.into());
        let (head, digits) = text
            .trim()
            .strip_prefix('(')
            .and_then(|t| t.split_once("):"))
            .ok_or_else(|| no_form().hint(self.hint))?;
        let number = |digits: &str| -> Result<i64> {
            let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            match digits.parse() {
                Ok(n) if plain => Ok(n),
                _ => {
                    let detail = format!("\"{}\" is no number.", shortened(digits, LONGEST));
                    Err(self.malformed(text, detail))
                }
            }
        };
        let parts: Vec<&str> = head.splitn(7, ',').map(str::trim).collect();
        let [k, p, ngram, ref rest @ ..] = parts[..] else {
            return Err(no_form());
        };
        let ngram = number(ngram)?;
        let shape = Shape::new(number(k)?, number(p)?, ngram)?;
        let mut variant = [
            ("rules=", 1),
            ("hash=", Shape::family_of(ngram)),
            ("key=", 0),
        ];
        let mut rest = rest.iter().peekable();
        for (name, value) in &mut variant {
            if let Some(digits) = rest.peek().and_then(|part| part.strip_prefix(*name)) {
                *value = number(digits)?;
                rest.next();
            }
        }
        if rest.next().is_some() {
            return Err(no_form());
        }
        let shape = shape.with_variant(variant[0].1, variant[1].1, variant[2].1)?;
        Ok((shape, digits))
    }

    /// Errors: another number of digits than `wanted`.
    pub fn check_digits(
        &self,
        text: &str,
        shape: Shape,
        digits: &str,
        wanted: usize,
    ) -> Result<()> {
        if digits.len() == wanted {
            return Ok(());
        }
        let are = digits.chars().count();
        let detail = format!("Shape {shape} takes {wanted} hexadecimal digits, not {are}.");
        Err(self.malformed(text, detail))
    }

    /// The value of a hexadecimal digit.
    ///
    /// Errors: it is none.
    pub fn digit(&self, text: &str, digit: char) -> Result<u8> {
        let value = digit.to_digit(16).map(|value| value as u8);
        value.ok_or_else(|| self.malformed(text, format!("\"{digit}\" is no hexadecimal digit.")))
    }
}
