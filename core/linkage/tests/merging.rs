//! Rules of merging, and the choice of records by them.

use linkage::merging::{choose, keep, Given, KeepBy, Rule, Rules, Standing};
use proptest::prelude::*;

fn standing(preferred: bool, filled: usize, rank: i64) -> Standing {
    Standing {
        preferred,
        filled,
        rank,
    }
}

#[test]
fn rules_are_read() {
    let rules = Rules::parse(
        r#"{"a": "keep", "b": {"newest": "t"}, "c": {"priority": {"column": "s", "order": ["x", "y"]}}, "d": {"sql": "max(d)"}, "*": "longest"}"#,
    )
    .unwrap();
    assert_eq!(rules.rule("a"), Rule::Keep);
    assert_eq!(rules.rule("b"), Rule::Newest("t".into()));
    let order = vec!["x".to_owned(), "y".to_owned()];
    assert_eq!(
        rules.rule("c"),
        Rule::Priority {
            column: "s".into(),
            order
        }
    );
    assert_eq!(rules.rule("d"), Rule::Sql("max(d)".into()));
    assert_eq!(rules.rule("e"), Rule::Longest);
    assert_eq!(rules.named("e"), None);
    assert_eq!(Rules::parse("{}").unwrap().rule("e"), Rule::Fill);
}

#[test]
fn what_is_no_rule_is_refused() {
    for json in [
        "",
        "[]",
        "1",
        "{\"a\": 1}",
        "{\"a\": \"best\"}",
        "{\"a\": {}}",
        "{\"a\": {\"newest\": 1}}",
        "{\"a\": {\"newest\": \"t\", \"oldest\": \"t\"}}",
        "{\"a\": {\"priority\": {\"column\": \"s\"}}}",
        "{\"a\": {\"priority\": {\"column\": \"s\", \"order\": [1]}}}",
        "{\"a\": {\"priority\": {\"column\": \"s\", \"order\": [], \"more\": 1}}}",
    ] {
        assert!(Rules::parse(json).is_err(), "{json}");
    }
}

#[test]
fn keep_by_is_read() {
    assert_eq!(KeepBy::parse("oldest").unwrap(), KeepBy::LeastKey);
    assert_eq!(
        KeepBy::parse(" most complete ").unwrap(),
        KeepBy::MostComplete
    );
    assert_eq!(
        KeepBy::parse("score").unwrap().column(),
        Some(("score", true))
    );
    assert_eq!(
        KeepBy::parse("oldest by a b").unwrap().column(),
        Some(("a b", false))
    );
    assert_eq!(
        KeepBy::parse("newest by \"a\"\"b\"").unwrap().column(),
        Some(("a\"b", true))
    );
    assert!(KeepBy::parse(" ").is_err());
}

#[test]
fn ties_are_decided() {
    let records = [
        standing(false, 2, 2),
        standing(true, 2, 1),
        standing(false, 3, 1),
    ];
    assert_eq!(keep(&KeepBy::Clusters, true, &records), 1);
    assert_eq!(keep(&KeepBy::Clusters, false, &records), 2);
    assert_eq!(keep(&KeepBy::MostComplete, true, &records), 2);
    assert_eq!(keep(&KeepBy::LeastKey, true, &records), 0);
    assert_eq!(keep(&KeepBy::GreatestKey, true, &records), 2);
    assert_eq!(keep(&KeepBy::Greatest("c".into()), true, &records), 1);
}

fn rule() -> impl Strategy<Value = Rule> {
    prop_oneof![
        Just(Rule::Keep),
        Just(Rule::Fill),
        Just(Rule::MostComplete),
        Just(Rule::Longest),
        Just(Rule::MostFrequent),
        Just(Rule::Newest("t".into())),
        Just(Rule::Oldest("t".into())),
        Just(Rule::Priority {
            column: "s".into(),
            order: vec!["b".into(), "a".into()],
        }),
    ]
}

type Record = (usize, i64, Option<String>, Option<String>);

fn records() -> impl Strategy<Value = Vec<Record>> {
    let value = proptest::option::of("[aäé]{1,3}");
    let source = proptest::option::of("[abc]");
    proptest::collection::vec((0..5usize, 1..4i64, value, source), 1..6)
}

proptest! {
    /// A value is found wherever there is one, and nothing is better by the rule.
    #[test]
    fn the_best_value_is_taken(rule in rule(), records in records(), kept in 0..6usize) {
        let kept = kept % records.len();
        let standings: Vec<Standing> = records.iter().map(|r| standing(false, r.0, 0)).collect();
        let given: Vec<Given<'_>> = records
            .iter()
            .map(|r| Given {
                value: r.2.as_ref().map(|v| v.as_bytes()),
                rank: r.1,
                source: r.3.as_ref().map(|s| s.as_bytes()),
            })
            .collect();
        let taken = choose(&rule, kept, &standings, &given);
        if rule == Rule::Keep {
            prop_assert_eq!(taken, kept);
            return Ok(());
        }
        let any = records.iter().any(|r| r.2.is_some());
        prop_assert_eq!(records[taken].2.is_some(), any);
        if !any {
            prop_assert_eq!(taken, kept);
            return Ok(());
        }
        let measure = |r: &Record| -> i64 {
            let value = r.2.as_deref().unwrap_or_default();
            match &rule {
                Rule::MostComplete => -(r.0 as i64),
                Rule::Longest => -(value.chars().count() as i64),
                Rule::MostFrequent => -(records.iter().filter(|o| o.2 == r.2).count() as i64),
                Rule::Newest(_) | Rule::Oldest(_) => r.1,
                Rule::Priority { .. } => match r.3.as_deref() {
                    Some("b") => 0,
                    Some("a") => 1,
                    _ => 2,
                },
                _ => 0,
            }
        };
        for record in records.iter().filter(|r| r.2.is_some()) {
            prop_assert!(measure(&records[taken]) <= measure(record));
        }
        if records[kept].2.is_some() && measure(&records[kept]) == measure(&records[taken]) {
            prop_assert_eq!(taken, kept);
        }
    }

    /// Whatever the text, it is read or refused.
    #[test]
    fn any_text(text in ".*") {
        let _ = Rules::parse(&text);
        let _ = KeepBy::parse(&text);
    }
}
