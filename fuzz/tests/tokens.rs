//! What makes tokens: of texts and of JSON values.

#[path = "../../core/signature/tests/json_tokens/mod.rs"]
mod json_tokens;

use base::Result;
use bloom_ident_fuzz::{fuzz, message};
use json_tokens::json_tokens;
use serde_json::Value;
use text::tokens::{
    for_each_character, for_each_token, for_each_uax29_word, for_each_word, singular,
};

fn seeds(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// What `run` gives to its callback.
fn collected(run: impl FnOnce(&mut dyn FnMut(&str) -> Result<()>) -> Result<()>) -> Vec<String> {
    let mut all = vec![];
    run(&mut |one| {
        all.push(one.to_owned());
        Ok(())
    })
    .unwrap();
    all
}

fn tokens(text: &str) -> Vec<String> {
    collected(|each| for_each_token(text, || (), each))
}

#[test]
fn tokens_of_texts() {
    let texts = [
        "Let's take over the world!",
        "(-3.50), +1,200.5% .5 1e-5 v1.5 \u{2212}7",
        "Ca\u{301}fe\u{301} foot\u{ad}ball 1\u{fe0f}\u{20e3} ΟΔΟΣ İ",
        "राजेश 世界 김 \u{1100}\u{1175}\u{11b7}\u{a0}x\u{3000}y",
    ];
    fuzz("tokens_of_texts", false, &seeds(&texts), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let found = tokens(&text);
        let (mut numbers, mut marked) = (false, false);
        for token in &found {
            assert!(!token.is_empty());
            assert_eq!(tokens(token), [token.as_str()]);
            numbers |= token.contains(['-', '+', '.']);
            marked |= !token.is_ascii();
        }
        let words = collected(|each| for_each_word(&text, || (), each));
        for word in &words {
            let again = collected(|each| for_each_word(word, || (), each));
            assert_eq!(again, [word.as_str()]);
        }
        let by_uax29 = collected(|each| for_each_uax29_word(&text, || (), each));
        for word in &by_uax29 {
            let within = collected(|each| for_each_word(word, || (), each));
            assert!(!within.is_empty(), "{word:?}");
        }
        Ok(format!(
            "some {}, numbers {numbers}, marked {marked}, more words {}",
            !found.is_empty(),
            words.len() > found.len()
        ))
    });
}

#[test]
fn characters() {
    let texts = [
        "高石 早苗",
        "株式会社Sony 第3回",
        "ｶﾞｰﾄﾞ か\u{309a}い ㈱ \u{1100}\u{1175}\u{11b7}철수",
        "マイケル・ジャクソン O´Brien Müller",
        "葛\u{e0100}\u{20000}々〆〇",
    ];
    fuzz("characters", false, &seeds(&texts), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let of = |text: &str| collected(|each| for_each_character(text, || (), each));
        let found = of(&text);
        let (mut letters, mut words) = (0, 0);
        for token in &found {
            assert!(!token.is_empty() && !token.contains(char::is_whitespace));
            // a pair gives its letters again, and everything else itself
            let again = of(token);
            assert!(again.contains(token), "{token:?} {again:?}");
            match (token.is_ascii(), again.len()) {
                (true, 1) => words += 1,
                (false, 1) => letters += 1,
                (false, 3) => {}
                _ => panic!("{token:?} {again:?}"),
            }
        }
        // there is at most one pair for each letter but the first
        assert!(found.len() - words < (2 * letters).max(1), "{found:?}");
        Ok(format!(
            "letters {}, words {}, pairs {}",
            letters > 0,
            words > 0,
            found.len() > letters + words
        ))
    });
}

#[test]
fn tokens_of_json() {
    let values = [
        r#"{"browser":"Mozilla Firefox","plugins":"Flash,Silverlight","zipcode":20121}"#,
        r#"{"plugins":[{"name":"Flash","versions":[1.0,-2.50]},{"name":null}],"active":true}"#,
        r#"["a b",[[1e5,0.0]],{"":"x","user_names":{"--":false}}]"#,
        r#""Mozilla, Firefox""#,
        "null",
        "-0.0",
    ];
    fuzz("tokens_of_json", true, &seeds(&values), |bytes| {
        let value: Value = message(serde_json::from_slice(bytes))?;
        let found = json_tokens(&value, true);
        let as_it_is = json_tokens(&value, false);
        assert_eq!(found.len(), as_it_is.len());
        for token in &found {
            assert!(
                !token.is_empty() && !token.contains(char::is_whitespace),
                "{token:?}"
            );
        }
        // within an array it has the same tokens, under a key each has that in front
        let within = Value::Array(vec![value.clone()]);
        assert_eq!(json_tokens(&within, true), found);
        let under = Value::Object([("keys".to_owned(), value)].into_iter().collect());
        let under = json_tokens(&under, true);
        assert!(under.iter().eq(found
            .iter()
            .map(|token| format!("key_{token}"))
            .collect::<Vec<_>>()
            .iter()));
        Ok(format!(
            "some {}, several {}, keys {}, other singular {}",
            !found.is_empty(),
            found.len() > 1,
            found.iter().any(|token| token.contains('_')),
            found != as_it_is
        ))
    });
}

#[test]
fn singulars() {
    fuzz(
        "singulars",
        false,
        &seeds(&["boxes", "categories", "status", "s"]),
        |bytes| {
            let word = String::from_utf8_lossy(bytes);
            let (stem, ending) = singular(&word);
            assert!(word.starts_with(stem));
            assert!(word.is_empty() || stem.len() + ending.len() > 0);
            Ok(format!("changed {}, {ending}", stem != word))
        },
    );
}
