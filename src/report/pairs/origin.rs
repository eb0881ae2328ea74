//! Where a report of pairs comes from.

use super::super::{arguments, literal, name_array};

/// Where a report of pairs comes from. Names are as SQL writes them.
pub struct PairsOrigin {
    pub function: &'static str,
    pub pairs: String,
    /// The relations of the records, each with its key: one, or two that are linked.
    pub relations: Vec<(String, String)>,
    pub method: &'static str,
    pub columns: Option<Vec<String>>,
    pub has_model: bool,
    pub truth: Option<String>,
    pub decisions: Option<String>,
    pub database: String,
    pub date: String,
    pub server: String,
}

impl PairsOrigin {
    /// The statement that makes this report. A model is too long to be in it, and stands as a variable of psql.
    pub fn statement(&self) -> String {
        let mut sql = format!("SELECT {}({}", self.function, literal(&self.pairs));
        for (relation, key) in &self.relations {
            sql.push_str(&format!(", {}, {}", literal(relation), literal(key)));
        }
        let text = |text: &Option<String>| text.as_deref().map(literal);
        let given = [
            ("columns", self.columns.as_deref().map(name_array)),
            ("model", self.has_model.then(|| ":'model'".to_owned())),
            ("truth", text(&self.truth)),
            ("decisions", text(&self.decisions)),
        ];
        sql + &arguments(given, ",\n    ") + ");"
    }
}
