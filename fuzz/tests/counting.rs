//! What reads counting filters: their bytes and their text form.

use base::Error;
use bloom_ident_fuzz::{fuzz, message};
use signature::counting::{self, holds_text, holds_token, CountingBuilder, CountingView};
use signature::filter::{Builder, Shape, View};
use text::tokens::TokenHashList;

fn counting_filter(k: i64, p: i64, texts: &[&str]) -> Vec<u8> {
    let shape = Shape::new(k, p, 3).unwrap();
    let mut bytes = vec![0; CountingBuilder::size(shape)];
    let mut builder = CountingBuilder::new(shape, &mut bytes);
    for text in texts {
        builder.add_text(text, false, || ()).unwrap();
    }
    bytes
}

/// Bytes of a counting filter, and the same without what may be behind an odd number of counters.
#[test]
fn counting_bytes() {
    let seeds = [
        counting_filter(7, 43, &["erika", "erica", "mustermann"]),
        counting_filter(2, 5, &["mustermann"; 20]),
        counting_filter(1, 61, &[]),
        counting_filter(64, 5, &["y"]),
        counting_filter(2, 7, &["erika"; 14]),
        vec![1, 1, 5, 0, 0, 1, 1, 0, 0x10, 0, 0],
    ];
    fuzz("counting_bytes", true, &seeds, |bytes| {
        let mut mended = bytes.to_vec();
        if let Some((header, counters)) = mended.split_at_mut_checked(counting::HEADER) {
            let m = u32::from(header[1]) * u32::from(u16::from_le_bytes([header[2], header[3]]));
            if let Some(last) = counters.last_mut().filter(|_| m % 2 > 0) {
                *last &= 15;
            }
        }
        let mut outcome = Err(String::new());
        for bytes in [bytes, &mended] {
            // whatever they are, a caller that takes them for stored ones gets an answer
            if let Some(view) = CountingView::stored(bytes) {
                view.values().for_each(drop);
                view.shape();
            }
            outcome = message(CountingView::untrusted(bytes)).map(use_counting_filter);
        }
        outcome
    });
}

fn erika() -> TokenHashList {
    let mut tokens = TokenHashList::new();
    tokens.push("erika").unwrap();
    tokens
}

fn remove_erika(builder: &mut CountingBuilder<'_>, of_tokens: bool) -> Result<(), Error> {
    let of_text = builder.remove_text("erika", false, || ());
    let token = builder.remove_tokens(erika(), || ());
    match of_tokens {
        true => of_text.map_or(token, |()| panic!("a text of tokens")),
        false => token.map_or(of_text, |()| panic!("a token of texts")),
    }
}

/// Adds, merges, and takes away again.
fn use_counting_filter(view: CountingView<'_>) -> String {
    assert!(CountingView::stored(view.bytes()).is_some());
    let full = view.values().filter(|&value| value == counting::FULL);
    assert_eq!(full.count() as u32, view.full());
    let mut added = view.bytes().to_vec();
    let mut builder = CountingBuilder::in_place(&mut added).expect("a counting filter");
    let of_tokens = view.shape().family() == Shape::OF_TOKENS;
    let newest = match of_tokens {
        true => text::tokens::RULES,
        false => text::Rules::NEWEST.number(),
    };
    if view.shape().rules() > newest {
        assert!(builder.add_tokens(erika(), || ()).is_err());
        assert!(builder.add_text("erika", false, || ()).is_err());
        return "of unknown rules".to_owned();
    }
    assert_eq!(builder.add_tokens(erika(), || ()).is_ok(), of_tokens);
    assert_eq!(builder.add_text("erika", false, || ()).is_err(), of_tokens);
    let larger = builder.finish();
    let held = match of_tokens {
        true => holds_token(&larger, "erika"),
        false => holds_text(&larger, "erika", false, || ()),
    };
    assert_eq!(held, Ok(true));
    let mut more = larger.values().zip(view.values());
    assert!(more.all(|(larger, before)| larger >= before));
    let became_full = larger.full() > view.full();

    let mut removed = larger.bytes().to_vec();
    let mut builder = CountingBuilder::in_place(&mut removed).expect("a counting filter");
    let result = remove_erika(&mut builder, of_tokens);
    assert!(result.is_ok() && (became_full || removed == view.bytes()));
    let mut removed = view.bytes().to_vec();
    let mut builder = CountingBuilder::in_place(&mut removed).expect("a counting filter");
    let refused = remove_erika(&mut builder, of_tokens).is_err();
    assert!(!refused || removed == view.bytes());

    let mut merged = larger.bytes().to_vec();
    let mut builder = CountingBuilder::in_place(&mut merged).expect("a counting filter");
    builder.merge(&view).expect("one shape");
    let merged = builder.finish().values();
    let sums = larger
        .values()
        .zip(view.values())
        .map(|(a, b)| (a + b).min(15));
    assert!(merged.eq(sums));

    let mut signature = vec![0; Builder::size(view.shape())];
    let mut builder = Builder::new(view.shape(), &mut signature);
    view.to_signature(&mut builder);
    builder.finish();
    let signature = View::untrusted(&signature).expect("a signature");
    let counted = view.values().filter(|&value| value > 0);
    assert_eq!(signature.popcount() as usize, counted.count());
    format!("refused: {refused}, full: {}", view.full() > 0)
}

#[test]
fn counting_text() {
    fuzz(
        "counting_text",
        true,
        &[
            "(2,5,3):0102000003",
            "(1,5,2):00000",
            " (2,5,3) : 0A0f00000B ",
            "(1,7,3):fffffff",
            "(2,5,3,rules=1):0102000003",
            "(7,43,3):",
            "(1,5,0):01f2e",
        ]
        .map(|text| text.as_bytes().to_vec()),
        |bytes| {
            let mut read = vec![];
            message(counting::parse_text(
                &String::from_utf8_lossy(bytes),
                &mut read,
            ))?;
            let view = message(CountingView::untrusted(&read)).expect("a counting filter");
            let (mut written, mut again) = (String::new(), vec![]);
            counting::write_text(&view, &mut written);
            message(counting::parse_text(&written, &mut again))?;
            assert_eq!(again, read);
            Ok(format!("full: {}", view.full() > 0))
        },
    );
}
