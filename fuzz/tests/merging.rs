//! What reads rules of merging.

use bloom_ident_fuzz::{fuzz, message};
use linkage::merging::{KeepBy, Rules};

#[test]
fn merge_rules() {
    let seeds = [
        r#"{"name": "longest", "*": "keep"}"#,
        r#"{"name": {"newest": "updated"}, "city": {"sql": "max(city)"}}"#,
        r#"{"name": {"priority": {"column": "source", "order": ["crm", "web"]}}}"#,
        r#"["name"]"#,
        r#"oldest by "a""b""#,
    ];
    let seeds: Vec<Vec<u8>> = seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect();
    fuzz("merge_rules", true, &seeds, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let by = message(KeepBy::parse(&text));
        let rules = message(Rules::parse(&text))?;
        let kinds: Vec<String> = rules
            .columns()
            .map(|column| format!("{:?}", rules.rule(column)))
            .collect();
        Ok(format!("{} {}", kinds.len(), by.is_ok()))
    });
}
