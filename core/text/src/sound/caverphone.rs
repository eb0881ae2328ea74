//! Caverphone 2.0 (D. Hood: Caverphone Revisited, Technical Paper CTP150804, University of Otago, 2004). Its steps are
//! replacements of letters by as many, so they are made in place. 2 and 3 stand for what vanishes in the end: 2 for
//! silent letters, 3 for vowels.

const LENGTH: usize = 10;

/// The code of a word of a to z.
pub(super) fn encode(word: &str) -> String {
    let mut w = word.as_bytes().to_vec();
    if w.last() == Some(&b'e') {
        w.pop();
    }
    for (from, to) in [
        (b"cough".as_slice(), b"cou2f".as_slice()),
        (b"rough", b"rou2f"),
        (b"tough", b"tou2f"),
        (b"enough", b"enou2f"),
        (b"trough", b"trou2f"),
        (b"gn", b"2n"),
    ] {
        if w.starts_with(from) {
            w[..to.len()].copy_from_slice(to);
        }
    }
    end(&mut w, b"mb", b"m2");
    for (from, to) in [
        (b"cq".as_slice(), b"2q".as_slice()),
        (b"ci", b"si"),
        (b"ce", b"se"),
        (b"cy", b"sy"),
        (b"tch", b"2ch"),
    ] {
        all(&mut w, from, to);
    }
    each(&mut w, |c| match c {
        b'c' | b'q' | b'x' => b'k',
        b'v' => b'f',
        c => c,
    });
    all(&mut w, b"dg", b"2g");
    all(&mut w, b"tio", b"sio");
    all(&mut w, b"tia", b"sia");
    each(&mut w, |c| if c == b'd' { b't' } else { c });
    all(&mut w, b"ph", b"fh");
    each(&mut w, |c| if c == b'b' { b'p' } else { c });
    all(&mut w, b"sh", b"s2");
    each(&mut w, |c| match c {
        b'z' => b's',
        b'a' | b'e' | b'i' | b'o' | b'u' => b'3',
        b'j' => b'y',
        c => c,
    });
    if w.first() == Some(&b'3') {
        w[0] = b'A';
    }
    if w.starts_with(b"y3") {
        w[0] = b'Y';
    } else if w.first() == Some(&b'y') {
        w[0] = b'A';
    }
    each(&mut w, |c| if c == b'y' { b'3' } else { c });
    all(&mut w, b"3gh3", b"3kh3");
    all(&mut w, b"gh", b"22");
    each(&mut w, |c| if c == b'g' { b'k' } else { c });
    let mut previous = 0;
    w.retain_mut(|c| {
        let keep = *c != previous || !b"stpkfmn".contains(c);
        previous = *c;
        if b"stpkfmn".contains(c) {
            c.make_ascii_uppercase();
        }
        keep
    });
    all(&mut w, b"w3", b"W3");
    all(&mut w, b"wh3", b"Wh3");
    end(&mut w, b"w", b"3");
    each(&mut w, |c| if c == b'w' { b'2' } else { c });
    if w.first() == Some(&b'h') {
        w[0] = b'A';
    }
    each(&mut w, |c| if c == b'h' { b'2' } else { c });
    for (letter, before_vowel, kept) in [(b"r", b"r3", b"R3"), (b"l", b"l3", b"L3")] {
        all(&mut w, before_vowel, kept);
        end(&mut w, letter, b"3");
        each(&mut w, |c| if c == letter[0] { b'2' } else { c });
    }
    w.retain(|&c| c != b'2');
    end(&mut w, b"3", b"A");
    w.retain(|&c| c != b'3');
    w.resize(LENGTH, b'1');
    w.into_iter().map(char::from).collect()
}

/// Replaces each occurrence of `from` by as long a `to`.
fn all(word: &mut [u8], from: &[u8], to: &[u8]) {
    let mut at = 0;
    while at + from.len() <= word.len() {
        if word[at] == from[0] && word[at..].starts_with(from) {
            word[at..at + to.len()].copy_from_slice(to);
            at += to.len();
        } else {
            at += 1;
        }
    }
}

/// Replaces `from` at the end by as long a `to`.
fn end(word: &mut [u8], from: &[u8], to: &[u8]) {
    if word.ends_with(from) {
        let at = word.len() - from.len();
        word[at..].copy_from_slice(to);
    }
}

fn each(word: &mut [u8], with: impl Fn(u8) -> u8) {
    for c in word {
        *c = with(*c);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rphonetic::Encoder;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5000))]
        #[test]
        fn as_the_crate_has_it(word in "[a-z]{1,12}|[aeghwyrlcdtqsm]{1,16}|(c|r|t|tr|en)ough[a-z]{0,5}|gn[a-z]{0,5}mb|[a-z]{1,64}") {
            prop_assert_eq!(super::encode(&word), rphonetic::Caverphone2.encode(&word));
        }
    }
}
