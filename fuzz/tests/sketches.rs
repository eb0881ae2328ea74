//! What reads sketches of sets of tokens: their bytes, their text forms, those of their queries, and their type
//! modifiers.

use base::ErrorKind;
use bloom_ident_fuzz::{fuzz, message, Outcome};
use signature::sketch::query::{parse_bits_query_text, write_bits_query_text};
use signature::sketch::{self, typmod, BitsQueryView, BitsView, MinimaView, Signer};
use signature::sketch::{parse_text, write_text, SketchKind, SketchShape, SketchView};
use signature::sketch::{HEADER, VERSION};

const KINDS: [SketchKind; 2] = [SketchKind::Minima, SketchKind::Bits];

fn sketch_of(kind: SketchKind, n: i64, family: i64, tokens: &[&str]) -> Vec<u8> {
    let mut signer = Signer::new(SketchShape::new(n, family).unwrap());
    tokens.iter().for_each(|token| signer.add(token));
    let mut bytes = vec![0; HEADER + kind.payload(signer.shape())];
    match kind {
        SketchKind::Minima => sketch::write_minima(&mut signer, &mut bytes),
        SketchKind::Bits => sketch::write_bits(&mut signer, &mut bytes),
    }
    bytes
}

fn sketches(kind: SketchKind) -> Vec<Vec<u8>> {
    [
        sketch_of(kind, 8, 0, &["a", "b"]),
        sketch_of(kind, 9, 7, &["a"]),
        sketch_of(kind, 20, 0, &[]),
        sketch_of(kind, 1, 65535, &["x"]),
    ]
    .to_vec()
}

/// The bytes, and the same with the length, the mark and the padding that they ought to have: most changes are found
/// out by these.
fn mended(kind: SketchKind, bytes: &[u8]) -> [Vec<u8>; 2] {
    let mut whole = bytes.to_vec();
    whole.resize(whole.len().max(HEADER), 0);
    whole[1] &= 1;
    whole[3] &= 3;
    let n = i64::from(u16::from_le_bytes([whole[2], whole[3]]));
    if let Ok(shape) = SketchShape::new(n, 0) {
        whole.resize(HEADER + kind.payload(shape), 0);
        if whole[1] == 1 {
            let filler = if kind == SketchKind::Minima { 0xff } else { 0 };
            whole[HEADER..].fill(filler);
        } else if kind == SketchKind::Bits && n % 8 > 0 {
            *whole.last_mut().unwrap() &= 0xff >> (8 - n % 8);
        }
    }
    [bytes.to_vec(), whole]
}

fn read_sketch(kind: SketchKind, bytes: &[u8]) -> Outcome {
    let view = message(SketchView::untrusted(kind, bytes))?;
    assert_eq!(SketchView::stored(kind, bytes), Some(view));
    assert!(SketchView::of_any_kind(bytes).is_some());
    assert_eq!((bytes[0], view.bytes()), (VERSION, bytes));
    let same = if view.is_empty() { 0.0 } else { 1.0 };
    match kind {
        SketchKind::Bits => {
            let bits = BitsView::untrusted(bytes).expect("a sketch of this kind");
            assert_eq!(bits.similarity(&bits), Ok(same));
        }
        SketchKind::Minima => {
            let minima = MinimaView::untrusted(bytes).expect("a sketch of this kind");
            assert_eq!(minima.similarity(&minima), Ok(same));
            let mut united = bytes.to_vec();
            minima.unite_into(&mut united).expect("one shape");
            assert_eq!(united, bytes);
            let mut sampled = vec![0xff; HEADER + SketchKind::Bits.payload(view.shape())];
            sketch::sample(&minima, &mut sampled);
            let sampled = BitsView::untrusted(&sampled).expect("bits of a sketch");
            assert_eq!(sampled.sketch().is_empty(), view.is_empty());
        }
    }
    Ok(format!("empty: {}", view.is_empty()))
}

fn sketch_bytes(name: &str, kind: SketchKind) {
    fuzz(name, true, &sketches(kind), |bytes| {
        let mut outcome = Err(String::new());
        for bytes in mended(kind, bytes) {
            outcome = read_sketch(kind, &bytes);
            // whatever they are, a caller that takes them for stored ones gets an answer
            if let Some(view) = SketchView::stored(kind, &bytes) {
                assert!(view.order(&view).is_eq());
            }
        }
        outcome
    });
}

#[test]
fn minhash_bytes() {
    sketch_bytes("minhash_bytes", SketchKind::Minima);
}

#[test]
fn minhash_bits_bytes() {
    sketch_bytes("minhash_bits_bytes", SketchKind::Bits);
}

#[test]
fn minhash_query_bytes() {
    let thresholds = [0.0f64, 0.8, -1.0, 2.0, f64::NAN];
    let sketches = sketches(SketchKind::Bits);
    let seeds: Vec<Vec<u8>> = thresholds
        .iter()
        .zip(sketches.iter().cycle())
        .map(|(threshold, bytes)| [&bytes[..], &threshold.to_le_bytes()].concat())
        .collect();
    fuzz("minhash_query_bytes", true, &seeds, |bytes| {
        let (sketch, threshold) = bytes.split_at(bytes.len() - bytes.len().min(8));
        let [_, sketch] = mended(SketchKind::Bits, sketch);
        let bytes = [&sketch, threshold].concat();
        let view = message(BitsQueryView::untrusted(&bytes))?;
        let stored = BitsQueryView::stored(&bytes).expect("a query");
        assert_eq!(stored.threshold, view.threshold);
        Ok(format!("reachable: {}", view.threshold <= 1.0))
    });
}

fn seeds(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn sketch_text(name: &str, kind: SketchKind, texts: &[&str]) {
    fuzz(name, true, &seeds(texts), |bytes| {
        let mut read = vec![];
        message(parse_text(kind, &String::from_utf8_lossy(bytes), &mut read))?;
        let view = SketchView::untrusted(kind, &read).expect("what is read is a sketch");
        let (mut written, mut again) = (String::new(), vec![]);
        write_text(&view, &mut written);
        message(parse_text(kind, &written, &mut again))?;
        assert_eq!(again, read);
        Ok(format!("empty: {}", view.is_empty()))
    });
}

#[test]
fn minhash_text() {
    let texts = [
        "(1):0a1b2c3d",
        " (2,7):0A1B2C3DFFFFFFFF ",
        "( 3 , 65535 ):empty",
        "(1):0",
    ];
    sketch_text("minhash_text", SketchKind::Minima, &texts);
}

#[test]
fn minhash_bits_text() {
    let texts = ["(8):1f", " (9,7):ff01 ", "( 1024 ):empty", "(7):80"];
    sketch_text("minhash_bits_text", SketchKind::Bits, &texts);
}

#[test]
fn minhash_query_text() {
    let texts = [
        "0.5 (8):1f",
        "-0 (8,7):00",
        "2 (8):empty",
        "-0.25 (8):1f",
        "nan (8):1f",
        "1e-1 (7):80",
    ];
    fuzz("minhash_query_text", true, &seeds(&texts), |bytes| {
        let mut read = vec![];
        let text = String::from_utf8_lossy(bytes);
        message(parse_bits_query_text(&text, &mut read))?;
        let view = BitsQueryView::untrusted(&read).expect("what is read is a query");
        let (mut written, mut again) = (String::new(), vec![]);
        write_bits_query_text(&view, &mut written);
        message(parse_bits_query_text(&written, &mut again))?;
        assert_eq!(again, read);
        Ok(format!("below 0: {}", view.threshold < 0.0))
    });
}

/// What stands between the parentheses of `minhash(n,family)`.
#[test]
fn minhash_modifier() {
    let declared = [
        "128",
        "1024,65535",
        " 1 ,+7",
        "0",
        "1025",
        "8,-1",
        "8,65536",
        "x",
        "8,1,1",
        "",
    ];
    fuzz("minhash_modifier", true, &seeds(&declared), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let written: Vec<&str> = text.split(',').collect();
        let [of_minima, of_bits] = KINDS.map(|kind| typmod::parse(kind, &written));
        assert_eq!(of_minima.as_ref().ok(), of_bits.as_ref().ok());
        if let Err(error) = &of_bits {
            assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        }
        let shape = message(of_bits)?;
        assert!((1..=1024).contains(&shape.n()));
        let packed = typmod::pack(shape);
        assert_eq!(typmod::unpack(packed), Ok(Some(shape)));
        let shown = typmod::show(packed);
        let inner = shown.strip_prefix('(').and_then(|s| s.strip_suffix(')'));
        let again: Vec<&str> = inner.expect("parentheses").split(',').collect();
        assert_eq!(typmod::parse(SketchKind::Bits, &again), Ok(shape));
        let other = SketchShape::new(i64::from(shape.n()) % 1024 + 1, 0).unwrap();
        for kind in KINDS {
            assert_eq!(typmod::enforce(kind, packed, shape), Ok(()));
            let refused = typmod::enforce(kind, packed, other).expect_err("another shape");
            assert_eq!(refused.kind(), ErrorKind::DataException);
        }
        Ok(format!("family: {}", shape.family() > 0))
    });
}

/// A modifier as the server keeps it. There may be some that no declaration has given.
#[test]
fn packed_minhash_modifier() {
    let packed = |n, family| typmod::pack(SketchShape::new(n, family).unwrap());
    let numbers = [-1, 0, i32::MIN, i32::MAX, packed(1, 0), packed(1024, 65535)];
    let seeds = numbers.map(|n| n.to_le_bytes().to_vec());
    fuzz("packed_minhash_modifier", true, &seeds, |bytes| {
        let mut number = [0; 4];
        let given = number.iter_mut().zip(bytes);
        given.for_each(|(to, byte)| *to = *byte);
        let number = i32::from_le_bytes(number);
        let (shown, shape) = (typmod::show(number), typmod::unpack(number));
        if let Err(error) = &shape {
            assert_eq!(error.kind(), ErrorKind::InvalidParameter);
            assert_eq!(shown, format!("({number})"));
        }
        let Some(shape) = message(shape)? else {
            assert!(number < 0 && shown.is_empty());
            return Ok("none".into());
        };
        assert_eq!(typmod::pack(shape), number);
        assert_eq!(shown, shape.to_string());
        Ok("shape".into())
    });
}
