//! JSON that can stand in a page of HTML, whatever is in it.

use std::fmt::Write;

/// JSON in which everything beyond printable ASCII, and `<`, `>` and `&`, is written as `\u` and four digits. All of
/// that is within strings, so the values stay the same; nothing can end the element that holds them, and no encoding of
/// the page changes them.
pub fn data_block(json: &str) -> String {
    let mut block = String::with_capacity(json.len() + json.len() / 8);
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{7f}'.. => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    write!(block, "\\u{unit:04x}").expect("a text takes more");
                }
            }
            c => block.push(c),
        }
    }
    block
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_ends_it() {
        let json = serde_json::to_string("</script><!-- & \u{2028} ü 😀 \" \\ \u{7f}\0").unwrap();
        let escaped =
            "\"\\u003c/script\\u003e\\u003c!-- \\u0026 \\u2028 \\u00fc \\ud83d\\ude00 \\\" \\\\ \
            \\u007f\\u0000\"";
        assert_eq!(data_block(&json), escaped);
    }

    proptest! {
        #[test]
        fn the_value_stays(text in any::<String>()) {
            let block = data_block(&serde_json::to_string(&text).unwrap());
            prop_assert!(block.bytes().all(|b| (b' '..=b'~').contains(&b) && !b"<>&".contains(&b)));
            prop_assert_eq!(serde_json::from_str::<String>(&block).unwrap(), text);
        }
    }
}
