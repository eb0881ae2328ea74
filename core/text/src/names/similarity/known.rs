//! What is known of words of names, by their normal form: legal forms, business words, titles, particles, numbers,
//! generations, and full names of short ones.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::names::forms::full_names;

/// What a word is, besides a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Kind {
    #[default]
    Word,
    /// Particles and titles, which one source has and the other has not.
    Light,
    /// Links of surnames, between words only.
    Link,
    /// Behind a name, a number.
    Number(u64),
    /// A number wherever it stands.
    First,
    Generation(Generation),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generation {
    Junior,
    Senior,
}

/// What is known of a word.
#[derive(Clone, Copy, Default)]
pub(super) struct Known {
    pub kind: Kind,
    /// Words of the longest legal form that begins with it; 0 if none does.
    pub form: u8,
    /// The number of its line in the list of business words, from 1 on; 0 if it is none.
    meaning: u16,
    /// Full names that it may be short for.
    pub full: &'static [&'static str],
}

impl Known {
    pub fn is_of_one_meaning(&self, other: &Known) -> bool {
        self.meaning != 0 && self.meaning == other.meaning
    }

    pub fn is_business(&self) -> bool {
        self.meaning != 0
    }
}

const LEGAL_FORMS: &str = include_str!("legal_forms-1.txt");
const BUSINESS: &str = include_str!("business_words-1.txt");

/// Legal forms that stand in front of a name as well.
const IN_FRONT: [&str; 14] = [
    "ooo", "oao", "zao", "pao", "ao", "jsc", "ojsc", "pjsc", "cjsc", "pt", "tov", "too", "nao",
    "uab",
];

const LIGHT: &str = "von vom van der den dem de del della delle dello degli dei di da do dos das du des la las los le zu \
    zum zur ten ter te op het bin ibn bn ben bint binti al el ul ad ar as ash at az an abu abou the and und et of for \
    fuer vd ould mr mrs ms miss sir dame lady lord rev hon herr frau dr prof professor doktor doctor dipl ing mag sheikh \
    shaykh shaikh sheik sayyid sayed haji hajji mullah mulla maulana ayatollah capt gen col freiherr graf baron saint st \
    san santa mv mt ss";

const LINKS: [&str; 3] = ["y", "e", "i"];

const NUMBERS: [(&str, u64); 27] = [
    ("ii", 2),
    ("iii", 3),
    ("iv", 4),
    ("v", 5),
    ("vi", 6),
    ("vii", 7),
    ("viii", 8),
    ("ix", 9),
    ("x", 10),
    ("xi", 11),
    ("xii", 12),
    ("xiii", 13),
    ("xiv", 14),
    ("xv", 15),
    ("xvi", 16),
    ("xvii", 17),
    ("xviii", 18),
    ("xix", 19),
    ("xx", 20),
    ("xxi", 21),
    ("xxii", 22),
    ("xxiii", 23),
    ("2nd", 2),
    ("second", 2),
    ("3rd", 3),
    ("third", 3),
    ("4th", 4),
];

const GENERATIONS: [(&str, Generation); 6] = [
    ("jr", Generation::Junior),
    ("junior", Generation::Junior),
    ("jnr", Generation::Junior),
    ("sr", Generation::Senior),
    ("senior", Generation::Senior),
    ("snr", Generation::Senior),
];

/// The lines of a list behind its heading.
fn lines(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines().skip(1)
}

static KNOWN: LazyLock<FxHashMap<&'static [u8], Known>> = LazyLock::new(|| {
    let mut known: FxHashMap<&'static [u8], Known> = FxHashMap::default();
    let mut of = |word: &'static str, set: &dyn Fn(&mut Known)| {
        set(known.entry(word.as_bytes()).or_default());
    };
    for form in lines(LEGAL_FORMS) {
        let words = form.split(' ').count() as u8;
        let first = form.split(' ').next().unwrap_or_default();
        of(first, &|word| word.form = word.form.max(words));
    }
    for (line, words) in lines(BUSINESS).enumerate() {
        for one in words.split(' ') {
            of(one, &|word| word.meaning = line as u16 + 1);
        }
    }
    for one in LIGHT.split_ascii_whitespace() {
        of(one, &|word| word.kind = Kind::Light);
    }
    for one in LINKS {
        of(one, &|word| word.kind = Kind::Link);
    }
    for (one, number) in NUMBERS {
        of(one, &|word| word.kind = Kind::Number(number));
    }
    for one in ["first", "1st"] {
        of(one, &|word| word.kind = Kind::First);
    }
    for (one, generation) in GENERATIONS {
        of(one, &|word| word.kind = Kind::Generation(generation));
    }
    for (form, names) in full_names() {
        of(form, &|word| word.full = names);
    }
    known
});

static FORMS: LazyLock<FxHashSet<&'static [u8]>> =
    LazyLock::new(|| lines(LEGAL_FORMS).map(str::as_bytes).collect());

pub(super) fn known(word: &[u8]) -> Known {
    KNOWN.get(word).copied().unwrap_or_default()
}

/// Whether words with blanks between them are a legal form, `first` in front of a name.
pub(super) fn is_legal_form(words: &[u8], first: bool) -> bool {
    let in_front = || words.contains(&b' ') || IN_FRONT.iter().any(|one| one.as_bytes() == words);
    FORMS.contains(words) && (!first || in_front())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize;

    #[test]
    fn the_lists_are_in_normal_form_and_have_each_word_once() {
        let mut seen = FxHashSet::default();
        for form in lines(LEGAL_FORMS) {
            assert!(seen.insert(form), "{form}");
            assert_eq!(
                normalize(form, true, || ()).unwrap().replace('_', " "),
                form
            );
            assert!(
                form.split(' ').count() <= super::super::read::MAX_FORM,
                "{form}"
            );
        }
        seen.clear();
        for word in lines(BUSINESS).flat_map(|line| line.split(' ')) {
            assert!(seen.insert(word), "{word}");
            assert_eq!(normalize(word, false, || ()).unwrap(), word);
        }
    }
}
