//! What a page shows of two values: how they differ in normal form, and text in a block of data.

use linkage::review::{data_block, marks, Mark};

use bloom_ident_fuzz::fuzz;

#[test]
fn value_marks() {
    let seeds = [
        "Müller-Lüdenscheidt\nMUELLER Ludenscheid",
        "Erika Mustermann\nMustermann, Erica",
        "O'Brien\nObrien",
        "😀 김철수\nキム a\u{301}",
        "a b c d\nd c b a",
        "\n",
    ];
    let seeds: Vec<Vec<u8>> = seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect();
    fuzz("value_marks", false, &seeds, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let (a, b) = text.split_once('\n').unwrap_or((&text, ""));
        let Some(both) = marks(a, b) else {
            assert_eq!(a, b);
            return Ok("equal".to_owned());
        };
        let mut class = String::new();
        for (side, value) in both.iter().zip([a, b]) {
            let units: usize = side.0.iter().map(|part| part.1).sum();
            assert_eq!(units, value.encode_utf16().count());
            assert!(side
                .0
                .iter()
                .all(|part| (part.1 == 0) == (part.0 == Mark::Gap)));
            class += &side.code().replace(|c: char| c.is_ascii_digit(), "");
        }
        // What the other value has word for word is no difference.
        let words = |text: &str| text::normalize(text, true, || ()).unwrap();
        if a.is_ascii() && b.is_ascii() && words(a) == words(b) {
            assert!(!class.contains('d'), "{class}");
        }
        class.truncate(6);
        Ok(class)
    });
}

#[test]
fn data_blocks() {
    let seeds = [b"</script>".to_vec(), "\u{2028}ü😀&\0".as_bytes().to_vec()];
    fuzz("data_blocks", false, &seeds, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let json = serde_json::to_string(&text).map_err(|e| e.to_string())?;
        let block = data_block(&json);
        assert!(block
            .bytes()
            .all(|b| (b' '..=b'~').contains(&b) && !b"<>&".contains(&b)));
        let again: String = serde_json::from_str(&block).map_err(|e| e.to_string())?;
        assert_eq!(again, text);
        Ok(format!("escaped: {}", block.len() > json.len()))
    });
}
