//! Names with the surname first: of Han, Hangul and Kana, and romanised ones that are known by their words.

use super::lists::{BEFORE_HYPHEN, CHINESE, KOREAN, KOREAN_SYLLABLES, VIETNAMESE};
use super::read::Word;
use crate::letters::WordList;
use crate::normalize;

/// Surnames of two characters.
const COMPOUND: &str = "欧阳 歐陽 司马 司馬 上官 诸葛 諸葛 司徒 东方 東方 皇甫 尉迟 公孙 公孫 令狐 慕容 夏侯 南宫 南宮 端木 百里 남궁 황보 제갈 사공 선우 독고 동방";

/// Surname and given names; `None` if nothing says that the surname stands first.
pub(super) fn split(words: &[Word]) -> Option<[Vec<Word>; 2]> {
    if !words.is_empty()
        && words
            .iter()
            .all(|word| word.written.chars().all(is_east_asian))
    {
        return Some(of_characters(words));
    }
    let [first, rest @ ..] = words else {
        return None;
    };
    romanised(first, rest).then(|| [vec![first.clone()], rest.to_vec()])
}

fn is_hangul(c: char) -> bool {
    matches!(u32::from(c), 0x1100..=0x11FF | 0x3130..=0x318F | 0xAC00..=0xD7A3)
}

fn is_han(c: char) -> bool {
    matches!(u32::from(c), 0x3005..=0x3007 | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

fn is_kana(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30FF | 0x31F0..=0x31FF | 0xFF66..=0xFF9F) && !is_dot(c)
}

/// Between the words of a name from elsewhere, which has the given name first.
fn is_dot(c: char) -> bool {
    matches!(c, '・' | '·' | '･' | '‧' | '=' | '＝')
}

fn is_east_asian(c: char) -> bool {
    is_hangul(c) || is_han(c) || is_kana(c) || is_dot(c)
}

fn word(characters: &[char]) -> Vec<Word> {
    let written: String = characters.iter().collect();
    let key = normalize(&written, false, || ()).unwrap_or_default();
    match written.is_empty() {
        true => Vec::new(),
        false => vec![Word { written, key }],
    }
}

fn of_characters(words: &[Word]) -> [Vec<Word>; 2] {
    let [one] = words else {
        return [vec![words[0].clone()], words[1..].to_vec()];
    };
    let characters: Vec<char> = one.written.trim_matches(is_dot).chars().collect();
    if let Some(dot) = characters.iter().rposition(|&c| is_dot(c)) {
        let given: String = characters[..dot].iter().collect();
        let given = given
            .split(is_dot)
            .flat_map(|name| word(&name.chars().collect::<Vec<_>>()));
        return [word(&characters[dot + 1..]), given.collect()];
    }
    let n = characters.len();
    // Where a name with Kana parts is known to its readers only.
    if n == 1 || characters.iter().any(|&c| is_kana(c)) {
        return [word(&characters), Vec::new()];
    }
    let two: String = characters.iter().take(2).collect();
    let compound = n > 2 && COMPOUND.split(' ').any(|surname| surname == two);
    let of_two = compound || n > 3 && characters.iter().all(|&c| is_han(c));
    let (surname, given) = characters.split_at(if of_two { 2 } else { 1 });
    [word(surname), word(given)]
}

/// Bytes of the longest given name of two romanised syllables, and some more.
const LONGEST_GIVEN: usize = 16;

/// Whether a romanised name begins with its surname: that is a known one, what follows are one or two words of the
/// syllables of the same language, and none of them is a surname in turn that stands at the end.
fn romanised(first: &Word, rest: &[Word]) -> bool {
    let Some(last) = rest.last() else {
        return false;
    };
    let is_short = rest.len() <= 2;
    // Sun Yat-sen, Ban Ki-moon: two syllables, the second one written small
    let hyphen = |word: &Word| {
        let parts = word.written.split_once(['-', '‑']);
        parts.is_some_and(|(a, b)| {
            a.chars().next().is_some_and(char::is_uppercase)
                && word.written.len() <= LONGEST_GIVEN
                && !b.is_empty()
                && b.chars().all(char::is_lowercase)
        })
    };
    let is_surname =
        CHINESE.has(&first.key) || KOREAN.has(&first.key) || BEFORE_HYPHEN.has(&first.key);
    if is_surname && rest.len() == 1 && hyphen(last) {
        return true;
    }
    let all = |of: fn(&str) -> bool| {
        rest.iter().all(|word| {
            let mut parts = word.written.split(['-', '‑', '\'', '’']);
            parts.all(|part| part.len() <= LONGEST_GIVEN && of(&part.to_lowercase()))
        })
    };
    let chinese = is_short && CHINESE.has(&first.key) && all(is_pinyin);
    let korean = is_short && KOREAN.has(&first.key) && all(is_korean);
    // Of two surnames nothing says which is first, unless the given name has two syllables.
    let unclear = |of: WordList| of.has(&last.key) && rest.len() == 1;
    chinese && !unclear(CHINESE)
        || korean && !unclear(KOREAN)
        || VIETNAMESE.has(&first.key) && !VIETNAMESE.has(&last.key) && rest.len() <= 3
}

fn is_korean(word: &str) -> bool {
    let cut = |at: usize| word.is_char_boundary(at) && KOREAN_SYLLABLES.has(&word[..at]);
    KOREAN_SYLLABLES.has(word)
        || (1..word.len()).any(|at| cut(at) && KOREAN_SYLLABLES.has(&word[at..]))
}

/// Whether a word is one or two syllables of Pinyin.
fn is_pinyin(word: &str) -> bool {
    let cut = |at: usize| word.is_char_boundary(at) && is_syllable(&word[..at]);
    word.is_ascii()
        && (is_syllable(word) || (1..word.len()).any(|at| cut(at) && is_syllable(&word[at..])))
}

fn is_syllable(syllable: &str) -> bool {
    const INITIALS: [&str; 24] = [
        "zh", "ch", "sh", "b", "p", "m", "f", "d", "t", "n", "l", "g", "k", "h", "j", "q", "x",
        "r", "z", "c", "s", "y", "w", "",
    ];
    let (initial, rest) = INITIALS
        .iter()
        .find_map(|&initial| Some((initial, syllable.strip_prefix(initial)?)))
        .expect("the last initial is empty");
    let finals = match initial {
        "j" | "q" | "x" => " i ia iao ie iu ian in iang ing iong u ue uan un ",
        "zh" | "ch" | "sh" | "r" | "z" | "c" | "s" => {
            " i a e ai ei ao ou an en ang eng ong u ua uo uai ui uan un uang "
        }
        "b" | "p" | "m" | "f" => " a o ai ei ao ou an en ang eng u i iao ie ian in ing iu ",
        "d" | "t" | "n" | "l" => {
            " a e ai ei ao ou an en ang eng ong i ia iao ie iu ian in iang ing u uo ui uan un v ve ue "
        }
        "g" | "k" | "h" => " a e ai ei ao ou an en ang eng ong u ua uo uai ui uan un uang ",
        "y" => " a ao e i in ing o ong ou u uan ue un an ang ",
        "w" => " a o ai ei an en ang eng u ",
        _ => " a e ai ao ou an en ang er ",
    };
    finals.split(' ').any(|end| !end.is_empty() && end == rest)
}
