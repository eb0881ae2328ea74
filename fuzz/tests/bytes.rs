//! What reads bytes: signatures, queries, keys of a GiST index, weights, type modifiers, arguments of the trigger.

#[path = "../../core/sigfile/tests/damaged/tree_keys.rs"]
mod tree_keys;

use std::ffi::{CStr, CString};

use base::error::Text;
use base::ErrorKind;
use bloom_ident_fuzz::{fuzz, message};
use linkage::guard::options::{GuardAction, GuardArguments};
use sigfile::gist::{unite, united_size, TreeKey};
use signature::filter::typmod::Declared;
use signature::filter::{typmod, Builder, QueryView, Shape, View};
use signature::similarity::{profile, Popcounts, Weights};
use tree_keys::use_key;

const HEADER: usize = 12;
const KEYED_HEADER: usize = 20;

fn signature(k: i64, p: i64, text: &str) -> Vec<u8> {
    let shape = Shape::new(k, p, 3).unwrap();
    let mut bytes = vec![0; Builder::size(shape)];
    let mut builder = Builder::new(shape, &mut bytes);
    builder.add_text(text, false, || ()).unwrap();
    builder.finish();
    bytes
}

fn signatures() -> Vec<Vec<u8>> {
    let of = |(k, p, text)| signature(k, p, text);
    [
        (7, 43, "erika"),
        (7, 43, ""),
        (2, 5, "mustermann"),
        (1, 61, "x"),
        (64, 5, "y"),
    ]
    .map(of)
    .into_iter()
    .chain([signature_of_token()])
    .chain(
        [
            Shape::of_records(1024, 7),
            Shape::of_records(9, u64::MAX),
            Shape::new(2, 5, 3).and_then(|s| s.keyed(8)),
        ]
        .map(keyed),
    )
    .collect()
}

fn keyed(shape: base::Result<Shape>) -> Vec<u8> {
    let shape = shape.unwrap();
    let mut bytes = vec![0; Builder::size(shape)];
    let mut builder = Builder::new(shape, &mut bytes);
    builder.add_position(7).unwrap();
    builder.finish();
    bytes
}

fn signature_of_token() -> Vec<u8> {
    let shape = Shape::new(7, 43, 0).unwrap();
    let mut bytes = vec![0; Builder::size(shape)];
    let mut builder = Builder::new(shape, &mut bytes);
    builder.add_token("erika").unwrap();
    builder.finish();
    bytes
}

/// The bytes, and the same with the popcount and the padding that they ought to have: most changes are found out by
/// these.
fn mended(bytes: &[u8]) -> [Vec<u8>; 2] {
    let mut whole = bytes.to_vec();
    let size = if bytes.first() == Some(&2) {
        KEYED_HEADER
    } else {
        HEADER
    };
    if let Some((header, bits)) = whole.split_at_mut_checked(size) {
        let m = u32::from(header[1]) * u32::from(u16::from_le_bytes([header[2], header[3]]));
        if let Some(last) = bits.last_mut().filter(|_| m % 8 > 0) {
            *last &= 0xff >> (8 - m % 8);
        }
        let ones: u32 = bits.iter().map(|byte| byte.count_ones()).sum();
        header[8..HEADER].copy_from_slice(&ones.to_le_bytes());
    }
    [bytes.to_vec(), whole]
}

#[test]
fn signature_bytes() {
    fuzz("signature_bytes", true, &signatures(), |bytes| {
        let mut outcome = Err(String::new());
        for bytes in mended(bytes) {
            outcome = message(View::untrusted(&bytes)).map(|view| {
                assert!(View::stored(&bytes).is_some());
                assert_eq!(view.positions().count() as u32, view.popcount());
                assert_eq!(view.common(&view).ok(), Some(view.popcount()));
                let mut copy = bytes.clone();
                let mut builder = Builder::in_place(&mut copy).expect("a signature");
                let shape = view.shape();
                let (added, newest) = match shape.family() {
                    _ if shape.is_keyed() => (builder.add_token("erika"), 0),
                    Shape::OF_TOKENS => (builder.add_token("erika"), text::tokens::RULES),
                    _ => {
                        let added = builder.add_text("erika", false, || ());
                        (added, text::Rules::NEWEST.number())
                    }
                };
                assert_eq!(added.is_ok(), shape.rules() <= newest);
                let larger = builder.finish();
                assert!(Popcounts::new(&larger, &view).is_ok_and(|c| c.contains()));
                format!(
                    "empty: {}, full: {}",
                    view.popcount() == 0,
                    view.fill() == 1.0
                )
            });
            // whatever they are, a caller that takes them for stored ones gets an answer
            if let Some(view) = View::stored(&bytes) {
                view.positions().for_each(drop);
                view.shape();
            }
        }
        outcome
    });
}

#[test]
fn query_bytes() {
    let seeds: Vec<Vec<u8>> = [0.0, 0.8, 1.0, 2.0, f64::NAN]
        .iter()
        .zip(signatures())
        .map(|(threshold, bytes)| [&bytes[..], &threshold.to_le_bytes()].concat())
        .collect();
    fuzz("query_bytes", true, &seeds, |bytes| {
        let (signature, threshold) = bytes.split_at(bytes.len() - bytes.len().min(8));
        let [_, signature] = mended(signature);
        // Some are of a text.
        let edited: &[u8] = match threshold.first() {
            Some(n) if n % 3 == 1 => &[n % 40, b'a' + n % 26, b'1'],
            _ => &[],
        };
        let bytes = [&signature, edited, threshold].concat();
        let view = message(QueryView::untrusted(&bytes))?;
        let stored = QueryView::stored(&bytes).expect("a query");
        assert!(stored.threshold == view.threshold && stored.edited == view.edited);
        let itself = view.is_matched_by(&view.signature, 0.0);
        itself.expect("of one shape, and short");
        Ok(format!(
            "reachable: {}, of a text: {}",
            view.threshold <= 1.0,
            view.edited.is_some()
        ))
    });
}

#[test]
fn gist_keys() {
    let mut leaves = signatures();
    // sampled bits, and those of an empty set
    leaves.push(vec![1, 0, 13, 0, 0, 0, 0x5a, 0x11]);
    leaves.push(vec![1, 1, 13, 0, 0, 0, 0, 0]);
    let keys: Vec<TreeKey<'_>> = leaves.iter().map(|b| TreeKey::stored(b).unwrap()).collect();
    let mut inner = vec![0; united_size(keys[..2].iter().copied()).unwrap()];
    unite(keys[..2].iter().copied(), &mut inner);
    let mut mixed = vec![0; united_size(keys.iter().copied()).unwrap()];
    unite(keys.iter().copied(), &mut mixed);
    let mut sampled = vec![0; united_size(keys[5..].iter().copied()).unwrap()];
    unite(keys[5..].iter().copied(), &mut sampled);
    let query = |leaf: usize| [&leaves[leaf][..], &0.8f64.to_le_bytes()].concat();
    let seeds = [
        leaves.clone(),
        vec![inner, mixed, sampled, query(0), query(5)],
    ]
    .concat();
    fuzz("gist_keys", true, &seeds, |bytes| {
        let key = TreeKey::stored(bytes).ok_or("no key")?;
        message(use_key(key, &keys))?;
        Ok(key
            .describe()
            .split(' ')
            .next()
            .unwrap_or_default()
            .to_owned()
            + &bytes.len().min(3).to_string())
    });
}

#[test]
fn weights() {
    let seed = |numbers: &[f64]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    let seeds = [
        seed(&[1.0, 2.0, 0.5]),
        seed(&[0.0, 0.0]),
        seed(&[f64::NAN]),
        seed(&[f64::MAX, f64::MAX]),
        vec![],
    ];
    fuzz("weights", true, &seeds, |bytes| {
        let numbers: Vec<f64> = bytes
            .as_chunks()
            .0
            .iter()
            .map(|b| f64::from_le_bytes(*b))
            .collect();
        let weights = message(Weights::new(&numbers))?;
        let sims = (0..numbers.len()).map(|i| Ok((i % 3 != 1).then_some(0.5)));
        let result = message(profile(weights, sims))?;
        assert!(
            result.is_none_or(|r| (0.0..=1.0).contains(&r)),
            "{result:?}"
        );
        Ok(format!("{}", result.is_some()))
    });
}

/// A modifier as the server keeps it. There may be some that no declaration has given.
#[test]
fn packed_modifier() {
    let shape = |k, p, ngram| Shape::new(k, p, ngram).unwrap();
    let packed = |k, p, ngram| typmod::pack(Declared::Shape(shape(k, p, ngram)));
    let numbers = [
        -1,
        0,
        i32::MIN,
        i32::MAX,
        packed(1, 5, 2),
        packed(7, 43, 3),
        packed(64, 8191, 8),
        packed(7, 43, 0),
        typmod::pack(Declared::Keyed(shape(7, 43, 3))),
        typmod::pack(Declared::Records(1024)),
        1 << 23,
        7 << 27,
    ];
    let seeds = numbers.map(|n| n.to_le_bytes().to_vec());
    fuzz("packed_modifier", true, &seeds, |bytes| {
        let mut number = [0; 4];
        number
            .iter_mut()
            .zip(bytes)
            .for_each(|(to, byte)| *to = *byte);
        let number = i32::from_le_bytes(number);
        let shown = typmod::show(number);
        let shape = typmod::unpack(number);
        let is = Shape::new(7, 43, 3).unwrap();
        let enforced = typmod::enforce(&typmod::BLOOM, number, is);
        if let Err(error) = &shape {
            assert_eq!(error.kind(), ErrorKind::InvalidParameter);
            assert_eq!(shown, format!("({number})"));
            assert_eq!(enforced.as_ref(), Err(error));
        }
        let Some(declared) = message(shape)? else {
            assert!(number < 0 && shown.is_empty() && enforced.is_ok());
            return Ok("none".into());
        };
        assert_eq!(typmod::pack(declared), number);
        assert_eq!(enforced.is_ok(), declared == Declared::Shape(is));
        let of = |shape: Shape| {
            let (k, p, ngram) = (shape.k(), shape.p(), shape.ngram());
            match shape.rules() {
                1 => format!("{k},{p},{ngram}"),
                rules => format!("{k},{p},{ngram},{rules}"),
            }
        };
        let (kind, wanted) = match declared {
            Declared::Shape(shape) => ("shape", of(shape)),
            Declared::Keyed(shape) => ("keyed", format!("keyed,{}", of(shape))),
            Declared::Records(bits) => ("records", format!("clk,{bits}")),
        };
        assert_eq!(shown, format!("({wanted})"));
        Ok(kind.into())
    });
}

/// The arguments of a trigger, a zero byte between any two.
#[test]
fn trigger_arguments() {
    let seeds = [
        &b"sig\x000.85\0reject"[..],
        b"sig\0 1e-1 \0warn\0message\0zu \xe4hnlich",
        b"sig\x001\0skip\0blocklist\0public.list\0blocklist_column\0other",
        b"sig\x000\0flag\0review\0\"Review\"\0blocklist\0l",
        b"sig\x001.5\0reject",
        b"sig\0NaN\0reject",
        b"sig\0-0\0reject",
        b"\x83\x5c\x000.5\0\x83\x5c",
        b"sig\x000.85\0flag\0message\0m\0review\0r",
        b"sig\x000.85\0warn\0review\0r\0review\0s",
        b"sig\x000.85\0reject\0keep\x000.5",
        b"sig\x000.85\0flag\0review\0r\0keep\x000.5\0blocklist\0l",
        b"sig\x000.85\0skip\0keep\0inf",
        b"sig\x000.85\0skip\0skipped\0s",
        b"sig\x000.85\0warn\0skipped\0s",
        b"sig\x000.85\0warn\0saturated\0ignore",
        b"sig\x000.85\0warn\0saturated\0reject",
        b"",
    ]
    .map(<[u8]>::to_vec);
    fuzz("trigger_arguments", true, &seeds, |bytes| {
        let parts = bytes.split(|&byte| byte == 0).filter(|_| !bytes.is_empty());
        let args: Vec<CString> = parts.map(|part| CString::new(part).unwrap()).collect();
        let given = GuardArguments::parse(&args).map_err(|error| {
            let Some(Text::Stored(message)) = error.texts()[0] else {
                panic!("a message without bytes of the arguments: {error}")
            };
            let quoted = quoted(message);
            let names = [
                &b"review"[..],
                b"skipped",
                b"message",
                b"blocklist_column\" needs option \"blocklist",
                b"keep\" cannot be given with option \"blocklist",
            ];
            let is_argument = args.iter().any(|arg| arg.to_bytes() == quoted);
            assert!(quoted.is_empty() || is_argument || names.contains(&quoted));
            assert!(message.len() <= quoted.len() + 80);
            let hint = error.hint_text().unwrap_or_default();
            format!("{} {hint}", String::from_utf8_lossy(message))
        })?;
        assert!((0.0..=1.0).contains(&given.threshold));
        assert_eq!(given.review.is_some(), given.action == GuardAction::Flag);
        assert!(given.skipped.is_none() || given.action == GuardAction::Skip);
        assert!(given.list_column.is_none() || given.list.is_some());
        assert!(given.message.is_none() || given.action != GuardAction::Flag);
        assert!(given.keep.is_none_or(|keep| (0.0..=1.0).contains(&keep)));
        let searched = given.list_column.as_ref().unwrap_or(&given.column);
        assert_eq!(given.searched_column(), searched.as_c_str());

        // written in another way, they say the same
        let threshold = CString::new(given.threshold.to_string()).unwrap();
        let action = CString::new(given.action.name()).unwrap();
        let mut again: Vec<&CStr> = vec![&given.column, &threshold, &action];
        let keep = given
            .keep
            .map(|keep| CString::new(keep.to_string()).unwrap());
        let saturated = if given.compares_full {
            c"reject"
        } else {
            c"ignore"
        };
        let options = [
            (c"keep", keep.as_deref()),
            (c"saturated", Some(saturated)),
            (c"message", given.message.as_deref()),
            (c"blocklist_column", given.list_column.as_deref()),
            (c"blocklist", given.list.as_deref()),
            (c"review", given.review.as_deref()),
            (c"skipped", given.skipped.as_deref()),
        ];
        for (name, value) in options {
            again.extend(value.into_iter().flat_map(|value| [name, value]));
        }
        // All that was given is there, and "saturated" in any case.
        assert!([args.len(), args.len() + 2].contains(&again.len()));
        assert_eq!(GuardArguments::parse(&again).as_ref(), Ok(&given));
        Ok(format!(
            "{} list: {}, message: {}",
            given.action.name(),
            given.list.is_some(),
            given.message.is_some()
        ))
    });
}

/// What stands between the first and the last quotation mark.
fn quoted(message: &[u8]) -> &[u8] {
    let mark = |byte: &u8| *byte == b'"';
    match (
        message.iter().position(mark),
        message.iter().rposition(mark),
    ) {
        (Some(first), Some(last)) if first < last => &message[first + 1..last],
        _ => b"",
    }
}
