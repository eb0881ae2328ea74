//! What a model has learned, in words.

use super::column_names::{is_address, is_given_name, is_surname, is_town};
use super::fitted::{Class, MatchModel, Search};
use super::values::{meaning, Kind, EQUAL, LEVELS, MISSING, PRESENT, SWAPPED};

/// Fewer matches behind a level than this make it weak.
pub(super) const WEAK: f64 = 10.0;

/// Shares that are less count as this much, as the score has it.
const LEAST_SHARE: f64 = 1e-12;

/// What a level of a field says.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelFacts {
    /// The number of the field.
    pub field: usize,
    /// The level.
    pub level: usize,
    /// In words.
    pub meaning: &'static str,
    /// Its share among matches.
    pub m: f64,
    /// Its share among random pairs.
    pub u: f64,
    /// What it adds to a pair's bits.
    pub bits: f64,
    /// Expected matches of the fit that have it.
    pub pairs: f64,
}

impl LevelFacts {
    /// Whether few matches are behind it.
    pub fn is_weak(&self) -> bool {
        self.pairs < WEAK
    }
}

/// What a class of pairs is.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassFacts {
    /// Its number in the model; that of the matches is 0.
    pub class: usize,
    /// In words, as half a sentence.
    pub meaning: String,
    /// Expected pairs of the fit.
    pub pairs: f64,
}

/// Bits that a level adds whose shares are `m` among matches and `u` among random pairs.
pub(super) fn bits_of(m: f64, u: f64) -> f64 {
    m.max(LEAST_SHARE).log2() - u.max(LEAST_SHARE).log2()
}

impl MatchModel {
    /// Every level that can occur, by field. Of two fields whose values change places, the first has that level: it
    /// stands for both.
    pub fn levels(&self) -> Vec<LevelFacts> {
        let matches = &self.classes[0];
        let pairs = matches.pairs_per_record * self.records;
        let fields = self.fields.iter().enumerate();
        let levels = fields.flat_map(|(k, field)| (0..LEVELS).map(move |level| (k, field, level)));
        let occurs = levels.filter(|&(k, field, level)| match level {
            SWAPPED => self.swap.is_some_and(|[speaks, _]| speaks == k),
            0..EQUAL => level >= usize::from(field.rare_level),
            // a code is equal, one character off, or different
            _ => {
                field.layout.kind() != Kind::Code || [EQUAL, SWAPPED - 1, MISSING].contains(&level)
            }
        });
        let facts = occurs.map(|(k, field, level)| {
            let (m, u) = (matches.shares[k][level], field.u[level]);
            LevelFacts {
                field: k,
                level,
                meaning: meaning(field.layout.kind(), field.layout.reading(), level),
                m,
                u,
                bits: bits_of(m, u),
                pairs: m * pairs,
            }
        });
        facts.collect()
    }

    /// The classes: the matches, and behind them the others, the greatest first.
    pub fn class_facts(&self) -> Vec<ClassFacts> {
        let facts = |(number, class): (usize, &Class)| ClassFacts {
            class: number,
            meaning: match number {
                0 => "matches".to_owned(),
                _ => self.class_meaning(class),
            },
            pairs: class.pairs_per_record * self.records,
        };
        let mut all: Vec<ClassFacts> = self.classes.iter().enumerate().map(facts).collect();
        all[1..].sort_by(|a, b| b.pairs.total_cmp(&a.pairs));
        all
    }

    /// What a search looks for, as half a sentence.
    pub fn search_meaning(&self, search: &Search) -> String {
        let names = |fields: &[usize]| {
            let names = fields.iter().map(|&field| self.fields[field].name.as_str());
            names.collect::<Vec<_>>().join(" and ")
        };
        let share = |hundredths: u32| format!("{}.{:02}", hundredths / 100, hundredths % 100);
        match search {
            Search::Similar {
                fields,
                least,
                most,
            } => {
                let (names, least) = (names(fields), share(*least));
                format!("similar {names}, {least} or more each, blocks of {most} records at most")
            }
            Search::Scan { least } => {
                format!(
                    "all pairs with a mean similarity of {} or more",
                    share(*least)
                )
            }
            Search::Equal { fields, most } => {
                format!("equal {}, blocks of {most} records at most", names(fields))
            }
            Search::Crosswise { fields, most } => {
                let swap = self.swap.unwrap_or_default();
                let [one, other] = swap.map(|name| names(&[name]));
                let mut all = vec![format!("{one} or {other} in either field")];
                all.extend(fields.iter().map(|field| names(&[*field])));
                let all = all.join(" and ");
                format!("equal {all}, blocks of {most} records at most")
            }
        }
    }

    /// What pairs of a class are like, as half a sentence.
    pub(super) fn class_meaning(&self, class: &Class) -> String {
        let mut parts = Vec::new();
        let differ: Vec<&str> = self.names(&|k| class.chance >> k & 1 == 1);
        let agree = self.agreeing(class);
        for (verb, names) in [("differ", differ), ("agree", agree)] {
            match &names[..] {
                [] => (),
                [a, b] => parts.push(format!("{verb} in {a} and {b}")),
                _ => parts.push(format!("{verb} in {}", names.join(", "))),
            }
        }
        match parts.is_empty() {
            true => "agree in no field".to_owned(),
            false => parts.join(", "),
        }
    }

    /// The fields whose values are equal in most pairs of a class that have both.
    fn agreeing(&self, class: &Class) -> Vec<&str> {
        self.names(&|k| {
            let shares = &class.shares[k];
            let sum = |of: &[f64]| of.iter().sum::<f64>();
            // the share of the second of two fields that change places is 1 and means nothing
            let present = sum(&shares[..PRESENT]) - shares[SWAPPED];
            class.chance >> k & 1 == 0 && sum(&shares[..EQUAL]) > present / 2.0
        })
    }

    /// Whom the pairs of another class than the matches are of, in plain words, as far as the names of its fields say.
    pub fn class_people(&self, class: usize) -> String {
        let agree = self.agreeing(&self.classes[class]);
        let has = |is: fn(&str) -> bool| agree.iter().any(|name| is(name));
        let (given, surname) = (has(is_given_name), has(is_surname));
        let place = match (has(is_address), has(is_town)) {
            (true, _) => " at one address",
            (false, true) => " in one town",
            (false, false) => "",
        };
        let people = match (given, surname, place) {
            (true, true, _) => "namesakes",
            (false, true, " at one address") => "relatives",
            (false, true, _) => "people of one surname",
            (true, false, _) => "people of one given name",
            (false, false, "") => "others that are alike",
            (false, false, _) => "people",
        };
        format!("{people}{place}")
    }

    fn names(&self, which: &impl Fn(usize) -> bool) -> Vec<&str> {
        let fields = self.fields.iter().enumerate();
        let chosen = fields.filter(|&(k, _)| which(k));
        chosen.map(|(_, field)| field.name.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::people;
    use crate::model::values::FieldLayout;

    #[test]
    fn levels_that_can_occur() {
        let mut model = people();
        model.fields[4].layout = FieldLayout::new(Kind::Code, 9).unwrap();
        let levels = model.levels();
        let of = |field: usize| -> Vec<usize> {
            let of = levels.iter().filter(|facts| facts.field == field);
            of.map(|facts| facts.level).collect()
        };
        assert_eq!(of(0), (0..LEVELS).collect::<Vec<_>>());
        assert_eq!(of(1), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11]);
        assert_eq!(of(3), [2, 3, 4, 5, 6, 7, 8, 9, 11]);
        assert_eq!(of(4), [0, 1, 2, 3, 4, 9, 11]);
        let first = &levels[0];
        assert_eq!((first.m, first.u), (0.3, 0.0001));
        assert!((first.bits - 3000f64.log2()).abs() < 1e-12);
        assert!((first.pairs - 0.3 * 0.31 * 20_000.0).abs() < 1e-9);
        assert!(!first.is_weak());
        assert!(levels.iter().all(|facts| facts.meaning != "does not occur"));
    }

    #[test]
    fn classes_in_words() {
        let mut model = people();
        model.classes[2].shares[1] = [0.05; LEVELS];
        let facts: Vec<_> = model
            .class_facts()
            .into_iter()
            .map(|facts| (facts.class, facts.meaning, facts.pairs))
            .collect();
        let is = [
            (0, "matches", 6200.0),
            (
                3,
                "differ in dob, city, phone, agree in given_name and surname",
                30_000.0,
            ),
            (
                2,
                "differ in given_name and dob, agree in city and phone",
                18_000.0,
            ),
            (
                1,
                "differ in given_name and dob, agree in surname, city, phone",
                4200.0,
            ),
        ];
        assert_eq!(
            facts,
            is.map(|(class, words, pairs)| (class, words.to_owned(), pairs))
        );
        let none = Class {
            chance: 0,
            pairs_per_record: 1.0,
            shares: vec![[1.0 / 12.0; LEVELS]; 5],
        };
        assert_eq!(model.class_meaning(&none), "agree in no field");
    }

    #[test]
    fn classes_of_people() {
        let of = |names: [&str; 5]| {
            let mut model = people();
            model.classes[2].shares[1] = [0.05; LEVELS];
            for (field, name) in model.fields.iter_mut().zip(names) {
                field.name = name.to_owned();
            }
            [1, 2, 3].map(|class| model.class_people(class))
        };
        let known = of(["given_name", "surname", "dob", "city", "street_no"]);
        let is = [
            "relatives at one address",
            "people at one address",
            "namesakes",
        ];
        assert_eq!(known, is);
        let known = of(["vorname", "nachname", "dob", "ort", "phone"]);
        let is = [
            "people of one surname in one town",
            "people in one town",
            "namesakes",
        ];
        assert_eq!(known, is);
        let known = of(["title", "maker", "year", "e_mail_address", "shelf"]);
        assert_eq!(known, ["others that are alike"; 3]);
    }

    #[test]
    fn searches_in_words() {
        let model = people();
        let fields = vec![0, 1];
        let similar = |least| Search::Similar {
            fields: fields.clone(),
            least,
            most: 40,
        };
        let searches = [
            similar(40),
            similar(100),
            Search::Scan { least: 5 },
            Search::Equal {
                fields: vec![2],
                most: 5,
            },
            Search::Crosswise {
                fields: vec![],
                most: 5,
            },
            Search::Crosswise {
                fields: vec![2, 3],
                most: 40,
            },
        ];
        assert_eq!(
            searches.map(|search| model.search_meaning(&search)),
            [
                "similar given_name and surname, 0.40 or more each, blocks of 40 records at most",
                "similar given_name and surname, 1.00 or more each, blocks of 40 records at most",
                "all pairs with a mean similarity of 0.05 or more",
                "equal dob, blocks of 5 records at most",
                "equal given_name or surname in either field, blocks of 5 records at most",
                "equal given_name or surname in either field and dob and city, blocks of 40 records at most",
            ]
        );
    }
}
