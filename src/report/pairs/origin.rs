//! Where a report of pairs comes from.

use super::super::literal;

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
        if let Some(columns) = &self.columns {
            let names: Vec<String> = columns.iter().map(|name| literal(name)).collect();
            let names = names.join(", ");
            sql.push_str(&format!(",\n    columns => ARRAY[{names}]::name[]"));
        }
        if self.has_model {
            sql.push_str(",\n    model => :'model'");
        }
        for (name, relation) in [("truth", &self.truth), ("decisions", &self.decisions)] {
            if let Some(relation) = relation {
                sql.push_str(&format!(",\n    {name} => {}", literal(relation)));
            }
        }
        sql.push_str(");");
        sql
    }
}
