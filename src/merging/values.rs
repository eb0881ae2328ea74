//! The values that the record of a cluster has after the merge.

use base::Error;
use linkage::merging::{choose, Given, Rule, Rules, Standing};
use pg::error::raise;
use pgrx::pg_sys;

use super::child::Child;
use super::references::{left_joins, Reference};
use super::subject::{text, Subject, TableColumn};
use crate::clusters::keeping::value;
use pg::catalog;
use pg::output::OutputFunction;
use pg::session::tuple_store::StoreColumn;
use pg::session::QueryRow;
use pg::session::Session;
use pg::sql;
use pg::sql::Sql;
use pg::values::text::{readable, to_database};

/// Columns of the query before those of the table: no, id, cluster, key, keep, kept.
const BEFORE: usize = 6;

/// A column whose value a rule decides.
pub struct Ruled {
    /// The column's position in the table.
    pub column: usize,
    pub rule: Rule,
    /// Where the query has its value, and what the rule asks for besides.
    at: usize,
    besides: usize,
}

/// How the values are found.
pub struct Valuation<'a> {
    subject: &'a Subject,
    /// All columns that the server does not compute.
    pub ruled: Vec<Ruled>,
    /// Positions of the columns that are read.
    read: Vec<usize>,
    query: Sql,
}

/// A value after the merge.
pub struct MergedValue {
    pub value: Option<pg_sys::Datum>,
    /// The record that it is from, if it is from one.
    pub source: Option<usize>,
    /// The value as text.
    pub text: Option<Vec<u8>>,
    /// It is another one than that of the record that is kept.
    pub changed: bool,
}

/// A cluster whose values are decided.
pub struct Valued<'a> {
    pub kept: usize,
    pub rows: &'a [QueryRow<'a>],
    /// For each of the ruled columns.
    pub values: &'a [MergedValue],
    /// The record that is kept has other values now.
    pub changed: bool,
}

impl<'a> Valuation<'a> {
    /// Errors: a rule for a column that cannot be changed, or that there is not.
    pub fn new(subject: &'a Subject, children: &[Child], rules: &Rules) -> Valuation<'a> {
        let all = || children.iter().flat_map(|child| &child.references);
        let is_referenced = |column: &TableColumn| {
            let mut pairs = all().flat_map(|reference| &reference.pairs);
            pairs.any(|pair| pair.referenced == column.name)
        };
        let fixed = |i: usize, column: &TableColumn| {
            if i == subject.key {
                Some("It is the key.")
            } else if column.generated {
                Some("It is a generated column.")
            } else if column.always {
                Some("It is GENERATED ALWAYS AS IDENTITY.")
            } else if is_referenced(column) {
                Some("References are redirected to its value.")
            } else {
                None
            }
        };
        for name in rules.columns() {
            let i = subject.column(name);
            let rule = rules.named(name);
            if let Some(reason) =
                fixed(i, &subject.columns[i]).filter(|_| rule != Some(&Rule::Keep))
            {
                let message = format!(
                    "column \"{}\" of table \"{}\" can only be kept",
                    text(&subject.columns[i].name),
                    subject.name
                );
                raise(
                    &Error::invalid(message)
                        .detail(reason)
                        .hint("Leave its rule out."),
                );
            }
        }
        let mut ruled = Vec::new();
        let mut read = Vec::new();
        for (i, column) in subject.columns.iter().enumerate() {
            if column.generated {
                continue;
            }
            let at = BEFORE + read.len();
            read.push(i);
            let rule = match fixed(i, column) {
                Some(_) => Rule::Keep,
                None => rules.rule(&readable(column.name.to_bytes())),
            };
            ruled.push(Ruled {
                column: i,
                rule,
                at,
                besides: 0,
            });
        }
        let own: Vec<&Reference> = all().filter(|reference| reference.own).collect();
        let query = query(subject, &mut ruled, &read, &own);
        Valuation {
            subject,
            ruled,
            read,
            query,
        }
    }

    /// Gives each cluster to `each`.
    ///
    /// Errors: of the expressions.
    pub fn each(&self, session: &Session, mut each: impl FnMut(&Valued<'_>)) {
        session.groups(
            &self.query,
            |types| {
                let shown = self.ruled.iter().map(|ruled| types.output(ruled.at));
                shown.collect::<Vec<OutputFunction>>()
            },
            |outputs, rows| {
                let kept = rows.iter().position(|row| row.is_true(5)).unwrap_or(0);
                let standings: Vec<Standing> = rows.iter().map(|&row| self.standing(row)).collect();
                let mut changed = false;
                let ruled = self.ruled.iter().zip(outputs);
                let decided = ruled.map(|(ruled, output)| {
                    let decided = self.decide(ruled, output, rows, kept, &standings);
                    changed |= decided.changed;
                    decided
                });
                let values: Vec<MergedValue> = decided.collect();
                each(&Valued {
                    kept,
                    rows,
                    values: &values,
                    changed,
                });
            },
        );
    }

    fn standing(&self, row: QueryRow<'_>) -> Standing {
        let has_value = |&(i, &column): &(usize, &usize)| {
            value(&self.subject.columns[column], row, BEFORE + i).is_some()
        };
        let read = self.read.iter().enumerate();
        Standing {
            preferred: false,
            filled: read.filter(has_value).count(),
            rank: 0,
        }
    }

    fn decide(
        &self,
        ruled: &Ruled,
        output: &mut OutputFunction,
        rows: &[QueryRow<'_>],
        kept: usize,
        standings: &[Standing],
    ) -> MergedValue {
        let mut text_of = |value: pg_sys::Datum| output.show(value, <[u8]>::to_vec);
        if let Rule::Sql(_) = ruled.rule {
            let value = rows[kept].datum(ruled.besides);
            let text = value.map(&mut text_of);
            let before = rows[kept].datum(ruled.at).map(&mut text_of);
            return MergedValue {
                value,
                source: None,
                changed: text != before,
                text,
            };
        }
        let column = &self.subject.columns[ruled.column];
        let by_text = matches!(ruled.rule, Rule::Longest | Rule::MostFrequent);
        let texts = rows.iter().map(|&row| {
            let value = value(column, row, ruled.at)?;
            Some(if by_text { text_of(value) } else { Vec::new() })
        });
        let texts: Vec<Option<Vec<u8>>> = texts.collect();
        let has_source = matches!(ruled.rule, Rule::Priority { .. });
        let sources = rows.iter().map(|row| {
            let source = has_source.then(|| row.bytes(ruled.besides))??;
            Some(readable(source.bytes()))
        });
        let sources: Vec<Option<String>> = sources.collect();
        let ranks = matches!(ruled.rule, Rule::Newest(_) | Rule::Oldest(_));
        let given: Vec<Given<'_>> = (0..rows.len())
            .map(|i| Given {
                value: texts[i].as_deref(),
                rank: match ranks {
                    true => rows[i].integer(ruled.besides),
                    false => 0,
                },
                source: sources[i].as_deref().map(str::as_bytes),
            })
            .collect();
        let source = choose(&ruled.rule, kept, standings, &given);
        let value = rows[source].datum(ruled.at);
        let text = value.map(&mut text_of);
        let changed = source != kept && text != rows[kept].datum(ruled.at).map(&mut text_of);
        MergedValue {
            value,
            source: Some(source),
            text,
            changed,
        }
    }
}

/// The query of the records, with the values of the columns that are read and what the rules ask for besides.
fn query(subject: &Subject, ruled: &mut [Ruled], read: &[usize], own: &[&Reference]) -> Sql {
    let values = read.iter().map(|&i| {
        let value = redirected("r", &subject.columns[i], own);
        sql!(", {value}")
    });
    let mut columns = Sql::join(values, "");
    let mut at = BEFORE + read.len();
    let (mut expressions, mut count) = (Sql::new(""), 0usize);
    for ruled in ruled {
        let part = match &ruled.rule {
            Rule::Newest(column) | Rule::Oldest(column) => {
                let column = &subject.columns[subject.column(column)].name;
                let order = match ruled.rule {
                    Rule::Newest(_) => " DESC",
                    _ => "",
                };
                sql!("pg_catalog.rank() OVER (PARTITION BY m.no ORDER BY r.{column}{order} NULLS LAST)")
            }
            Rule::Priority { column, .. } => {
                let column = &subject.columns[subject.column(column)].name;
                sql!("CASE WHEN r.{column} IS DISTINCT FROM NULL THEN pg_catalog.format('%s', r.{column}) END")
            }
            Rule::Sql(expression) => {
                let value = Sql::new("").expression(&to_database(expression));
                let of_type = subject.columns[ruled.column].store.type_oid;
                let of_type = Sql::new("").exact_type(of_type);
                expressions = sql!("{expressions}, CAST(({value}\n) AS {of_type}) AS x{count}");
                let part = sql!("e.x{count}");
                count += 1;
                part
            }
            _ => continue,
        };
        columns = sql!("{columns}, {part}");
        ruled.besides = at;
        at += 1;
    }
    let (record, is_it) = (subject.from("r"), subject.key_is("r", "m.key"));
    let rows = sql!("FROM bloom_merge_members AS m JOIN {record} ON {is_it}");
    let computed = match count {
        0 => Sql::new(""),
        _ => {
            let name = catalog::name(subject.oid);
            sql!(
                " LEFT JOIN (SELECT {name}.bloom_merge_no AS no{expressions} \
                FROM (SELECT m.no AS bloom_merge_no, r.* {rows}) AS {name} \
                GROUP BY {name}.bloom_merge_no) AS e ON e.no OPERATOR(pg_catalog.=) m.no"
            )
        }
    };
    let joins = left_joins(own, subject, "r");
    let less = Sql::new("").operator(subject.less);
    sql!(
        "SELECT m.no, m.id, m.cluster, m.key, m.keep, m.kept{columns} {rows}{computed}{joins} \
        ORDER BY m.no, m.key USING {less}"
    )
}

/// A column under an alias; where it refers to a record that goes by reference number j, the value of the map under
/// g{j}.
pub fn redirected(alias: &str, column: &TableColumn, references: &[&Reference]) -> Sql {
    let StoreColumn {
        type_oid,
        typmod,
        collation,
    } = column.store;
    let plain = sql!("{alias}.{column.name}");
    let all = references.iter().enumerate();
    all.fold(plain, |plain, (j, reference)| {
        let mut pairs = reference.pairs.iter();
        let Some(i) = pairs.position(|pair| pair.child == column.name) else {
            return plain;
        };
        let of_type = Sql::new("").modified_type(type_oid, typmod);
        let collate = Sql::new("").collate(collation);
        sql!(
            "CASE WHEN g{j}.no IS DISTINCT FROM NULL THEN CAST(g{j}.n{i} AS {of_type}){collate} ELSE {plain} END"
        )
    })
}
