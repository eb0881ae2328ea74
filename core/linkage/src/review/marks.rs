//! How two values differ in normal form: what differs, and what only looks different, such as case and accents.
//!
//! Words are compared first. Words that both have are the same wherever they stand. What is between them is compared
//! letter by letter if the words are like each other, and marked as a whole if single letters would be confetti.

use text::{is_letter_or_digit, scan, Rules};
use unicode_segmentation::UnicodeSegmentation;

use super::parts::longest;

/// How a part of a value compares with the other value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The other one has it.
    Same,
    /// The other one has it, written in another way: case, accents, signs between words.
    Faint,
    /// The other one has it at another place.
    Moved,
    /// The other one does not have it.
    Differs,
    /// Nothing is here that the other one has.
    Gap,
}

/// The parts of a value, each with its length in UTF-16 code units, as scripts count them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks(pub Vec<(Mark, usize)>);

impl Marks {
    fn push(&mut self, mark: Mark, units: usize) {
        match self.0.last_mut() {
            Some((last, length)) if *last == mark && mark != Mark::Gap => *length += units,
            _ => self.0.push((mark, units)),
        }
    }

    /// Those of the first `most` characters of a value, and of the dots behind these: they differ if anything does
    /// that they stand for, or if `more` does.
    fn of_shown(self, value: &str, (most, dots): (usize, usize), more: bool) -> Marks {
        let Some((end, _)) = value.char_indices().nth(most) else {
            return self;
        };
        let mut left = value[..end].encode_utf16().count();
        let (mut shown, mut differs) = (Marks::default(), more);
        for (mark, units) in self.0 {
            let part = units.min(left);
            if left > 0 {
                shown.push(mark, part);
            }
            differs |= (units > part || left == 0) && matches!(mark, Mark::Differs | Mark::Gap);
            left -= part;
        }
        shown.push(if differs { Mark::Differs } else { Mark::Same }, dots);
        shown
    }

    /// As `5s1d`: lengths, each before the first letter of its mark.
    pub fn code(&self) -> String {
        let code = self.0.iter().map(|(mark, length)| {
            let mark = match mark {
                Mark::Same => 's',
                Mark::Faint => 'f',
                Mark::Moved => 'm',
                Mark::Differs => 'd',
                Mark::Gap => 'g',
            };
            format!("{length}{mark}")
        });
        code.collect()
    }
}

/// Words with a lower share of common letters differ as a whole.
const LEAST_COMMON: f64 = 0.6;

/// Words that letters would break into more parts differ as a whole.
const MOST_PARTS: usize = 2;

/// What is found of the letters of one value.
struct MarkedSide<'a> {
    parsed: Parsed<'a>,
    marks: Vec<Mark>,
    /// Whether something is left out before each letter, and at the end.
    gaps: Vec<bool>,
    /// For each letter that is there in the other value, the first of it there.
    partners: Vec<Option<usize>>,
}

impl<'a> MarkedSide<'a> {
    fn new(value: &'a str) -> MarkedSide<'a> {
        let parsed = Parsed::new(value);
        let n = parsed.letters.len();
        MarkedSide {
            parsed,
            marks: vec![Mark::Faint; n],
            gaps: vec![false; n + 1],
            partners: vec![None; n],
        }
    }

    fn mark(&mut self, letters: std::ops::Range<usize>, mark: Mark) {
        self.marks[letters].fill(mark);
    }

    fn result(&self) -> Marks {
        let mut marks = Marks::default();
        let parts = self.parsed.letters.iter().zip(&self.marks);
        for (i, (letter, mark)) in parts.enumerate() {
            // Between what differs there is nothing to be missed.
            let beside = i > 0 && self.marks[i - 1] == Mark::Differs;
            if self.gaps[i] && *mark != Mark::Differs && !beside {
                marks.push(Mark::Gap, 0);
            }
            marks.push(*mark, letter.text.encode_utf16().count());
        }
        if self.gaps[self.marks.len()] && self.marks.last() != Some(&Mark::Differs) {
            marks.push(Mark::Gap, 0);
        }
        marks
    }
}

/// How two values differ, each in its own parts; `None` if they are equal.
pub fn marks(a: &str, b: &str) -> Option<[Marks; 2]> {
    if a == b {
        return None;
    }
    let mut sides = [MarkedSide::new(a), MarkedSide::new(b)];
    let [x, y] = &sides;
    let common = longest(&x.parsed.words, &y.parsed.words, |a, b| {
        a.normal == b.normal
    });
    let mut blocks = Vec::new();
    let ends = [(x.parsed.words.len(), y.parsed.words.len())];
    let (mut i, mut j) = (0, 0);
    for (k, l) in common.iter().copied().chain(ends) {
        blocks.push([i..k, j..l]);
        (i, j) = (k + 1, l + 1);
    }
    for &(k, l) in &common {
        same_word(&mut sides, k, l);
    }
    let mut rest: Vec<[Vec<usize>; 2]> = blocks
        .into_iter()
        .map(|both| both.map(|r| r.collect()))
        .collect();
    take_moved(&mut sides, &mut rest);
    for [a, b] in rest {
        compare_block(&mut sides, &a, &b);
    }
    signs(&mut sides);
    let [x, y] = &sides;
    Some([x.result(), y.result()])
}

/// The same of the first characters of values that are too long to be shown, and of the dots behind these: how many
/// characters are shown, and how many dots. `more` says that the values differ behind what is given of them, too.
pub fn marks_of_shown([a, b]: [&str; 2], shown: (usize, usize), more: bool) -> Option<[Marks; 2]> {
    let same = |value: &str| Marks(vec![(Mark::Same, value.encode_utf16().count())]);
    let both = marks(a, b).or(more.then(|| [same(a), same(b)]))?;
    let [x, y] = both;
    Some([x.of_shown(a, shown, more), y.of_shown(b, shown, more)])
}

/// Two words of the same normal form: what is written in another way is faint.
fn same_word(sides: &mut [MarkedSide; 2], k: usize, l: usize) {
    let [x, y] = sides;
    let (a, b) = (&x.parsed.words[k], &y.parsed.words[l]);
    let (a, b) = (a.letters.clone(), b.letters.clone());
    let text = |side: &MarkedSide, letters: &std::ops::Range<usize>| -> String {
        side.parsed.letters[letters.clone()]
            .iter()
            .map(|l| l.text)
            .collect()
    };
    if text(x, &a) == text(y, &b) {
        x.mark(a.clone(), Mark::Same);
        y.mark(b.clone(), Mark::Same);
        for (i, j) in a.zip(b) {
            (x.partners[i], y.partners[j]) = (Some(j), Some(i));
        }
        return;
    }
    let symbols = |side: &MarkedSide, word: usize| owners(side, &[word]);
    let (s, t) = (symbols(x, k), symbols(y, l));
    let pairs: Vec<(usize, usize)> = s.iter().zip(&t).map(|(s, t)| (s.1, t.1)).collect();
    alike(sides, &pairs);
}

/// The symbols of words, each with the letter that it is from.
fn owners(side: &MarkedSide, words: &[usize]) -> Vec<(u8, usize)> {
    let letters = words
        .iter()
        .flat_map(|&w| side.parsed.words[w].letters.clone());
    letters
        .flat_map(|i| side.parsed.letters[i].normal.iter().map(move |&s| (s, i)))
        .collect()
}

/// Letters that contribute the same: equal ones are the same, others faint.
fn alike(sides: &mut [MarkedSide; 2], pairs: &[(usize, usize)]) {
    let [x, y] = sides;
    for &(i, j) in pairs {
        let mark = match x.parsed.letters[i].text == y.parsed.letters[j].text {
            true => Mark::Same,
            false => Mark::Faint,
        };
        for (side, at, partner) in [(&mut *x, i, j), (&mut *y, j, i)] {
            if side.partners[at].is_none() {
                side.partners[at] = Some(partner);
                side.marks[at] = mark;
            } else if side.marks[at] != mark {
                side.marks[at] = Mark::Faint;
            }
        }
    }
}

/// Takes out words that the other value has elsewhere.
fn take_moved(sides: &mut [MarkedSide; 2], rest: &mut [[Vec<usize>; 2]]) {
    let [x, y] = sides;
    for i in 0..rest.len() {
        for at in (0..rest[i][0].len()).rev() {
            let word = rest[i][0][at];
            let found = rest.iter().enumerate().find_map(|(j, [_, b])| {
                let place = b.iter().position(|&other| {
                    y.parsed.words[other].normal == x.parsed.words[word].normal
                })?;
                Some((j, place))
            });
            let Some((j, place)) = found else { continue };
            let other = rest[j][1].remove(place);
            rest[i][0].remove(at);
            x.mark(x.parsed.words[word].letters.clone(), Mark::Moved);
            y.mark(y.parsed.words[other].letters.clone(), Mark::Moved);
        }
    }
}

/// Words between those that both have: in pairs where there are as many, otherwise together.
fn compare_block(sides: &mut [MarkedSide; 2], a: &[usize], b: &[usize]) {
    if a.len() == b.len() {
        for (&k, &l) in a.iter().zip(b) {
            compare_words(sides, &[k], &[l]);
        }
    } else if a.is_empty() || b.is_empty() {
        for (side, words) in [(0, a), (1, b)] {
            for &word in words {
                let letters = sides[side].parsed.words[word].letters.clone();
                sides[side].mark(letters, Mark::Differs);
            }
        }
    } else {
        compare_words(sides, a, b);
    }
}

fn compare_words(sides: &mut [MarkedSide; 2], a: &[usize], b: &[usize]) {
    let (s, t) = (owners(&sides[0], a), owners(&sides[1], b));
    let common = longest(&s, &t, |x, y| x.0 == y.0);
    for (side, words) in [(0, a), (1, b)] {
        for &word in words {
            let letters = sides[side].parsed.words[word].letters.clone();
            sides[side].mark(letters, Mark::Differs);
        }
    }
    let share = 2.0 * common.len() as f64 / (s.len() + t.len()).max(1) as f64;
    // A part is a run of symbols that one of them does not share.
    let ends = [(s.len(), t.len())];
    let (mut parts, mut before) = (0, (0, 0));
    for &(i, j) in common.iter().chain(&ends) {
        parts += usize::from((i, j) != before);
        before = (i + 1, j + 1);
    }
    let too_short = s.len().min(t.len()) < 3;
    if share < LEAST_COMMON || parts > MOST_PARTS.max(a.len().max(b.len())) || too_short {
        return;
    }
    let pairs: Vec<(usize, usize)> = common.iter().map(|&(i, j)| (s[i].1, t[j].1)).collect();
    alike(sides, &pairs);
    // A letter of which only a part is shared differs.
    for (side, all, shared) in [
        (0, &s, common.iter().map(|c| c.0).collect::<Vec<_>>()),
        (1, &t, common.iter().map(|c| c.1).collect()),
    ] {
        for (i, (_, letter)) in all.iter().enumerate() {
            if shared.binary_search(&i).is_err() {
                sides[side].marks[*letter] = Mark::Differs;
            }
        }
    }
    // Where one has something between two letters that the other has side by side, the other one has a gap.
    let mut before = (0, 0);
    for &(i, j) in common.iter().chain(&ends) {
        let at = |all: &[(u8, usize)], i: usize| match all.get(i) {
            Some((_, letter)) => *letter,
            None => all.last().map_or(0, |(_, letter)| letter + 1),
        };
        if i > before.0 && j == before.1 {
            sides[1].gaps[at(&t, j)] = true;
        }
        if j > before.1 && i == before.0 {
            sides[0].gaps[at(&s, i)] = true;
        }
        before = (i + 1, j + 1);
    }
}

/// Signs and blanks go with the letters around them, or are faint where the other value has others there.
fn signs(sides: &mut [MarkedSide; 2]) {
    let [x, y] = sides;
    let texts = |side: &MarkedSide| -> Vec<String> {
        side.parsed
            .letters
            .iter()
            .map(|l| l.text.to_owned())
            .collect()
    };
    let both = [texts(x), texts(y)];
    for (side, own, other) in [(x, &both[0], &both[1]), (y, &both[1], &both[0])] {
        for (i, sign) in own.iter().enumerate() {
            if !side.parsed.letters[i].normal.is_empty() {
                continue;
            }
            // The letter before it tells where the other value would have it.
            let before = match i {
                0 => Some(0),
                i => side.partners[i - 1].map(|partner| partner + 1),
            };
            if let Some(at) = before.filter(|&at| other.get(at) == Some(sign)) {
                side.marks[i] = Mark::Same;
                side.partners[i] = Some(at);
            } else if i > 0 && sign == " " {
                // A blank says nothing by itself.
                side.marks[i] = Mark::Same;
            }
        }
    }
}

/// What a word is, for messages of tests.
impl std::fmt::Debug for Word {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.letters)
    }
}

// A value as its characters, its words, and what each contributes to the normal form.

/// A character as readers take it: a grapheme cluster.
struct Letter<'a> {
    pub text: &'a str,
    /// Its normal form, empty for what is no letter and no digit.
    pub normal: Vec<u8>,
}

/// A word: letters, and what stands within it without ending it.
struct Word {
    /// The first letter, and the one behind the last.
    pub letters: std::ops::Range<usize>,
    pub normal: Vec<u8>,
}

/// The characters of a value and the words that they make.
struct Parsed<'a> {
    pub letters: Vec<Letter<'a>>,
    pub words: Vec<Word>,
}

impl<'a> Parsed<'a> {
    pub fn new(value: &'a str) -> Parsed<'a> {
        let mut letters = Vec::new();
        let mut words: Vec<Word> = Vec::new();
        // Whether the next letter begins a word.
        let mut ended = true;
        for text in value.graphemes(true) {
            let mut normal = Vec::new();
            let mut ends = false;
            let symbols = &mut |symbol: text::Symbol| match symbol.ordinal() {
                Some(ordinal) => normal.push(ordinal),
                None => ends |= symbol == text::Symbol::SEPARATOR,
            };
            scan(text, Rules::FIRST, symbols, || ());
            let i = letters.len();
            if normal.is_empty() {
                // A letter that says nothing by itself ends no word.
                ended |= ends && !text.chars().any(is_letter_or_digit);
            } else {
                match words.last_mut() {
                    Some(word) if !ended => {
                        word.letters.end = i + 1;
                        word.normal.extend_from_slice(&normal);
                    }
                    _ => words.push(Word {
                        letters: i..i + 1,
                        normal: normal.clone(),
                    }),
                }
                ended = false;
            }
            letters.push(Letter { text, normal });
        }
        Parsed { letters, words }
    }
}
