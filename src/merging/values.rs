//! The values that the record of a cluster has after the merge.

use linkage::merging::{choose, Given, Rule, Rules, Standing};
use pgrx::{pg_sys, PgSqlErrorCode};

use super::child::Child;
use super::references::Reference;
use super::subject::{refuse, text, Subject, TableColumn};
use crate::clusters::keeping::value;
use pg::output::OutputFunction;
use pg::session::QueryRow;
use pg::session::Session;
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
                refuse(
                    PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE,
                    message,
                    reason,
                    "Leave its rule out.",
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
                None => rules.of(&readable(column.name.to_bytes())),
            };
            ruled.push(Ruled {
                column: i,
                rule,
                at,
                besides: 0,
            });
        }
        let own: Vec<&Reference> = all().filter(|reference| reference.own).collect();
        let mut valuation = Valuation {
            subject,
            ruled,
            read,
            query: Sql::new(""),
        };
        valuation.query = valuation.sql(&own);
        valuation
    }

    fn sql(&mut self, own: &[&Reference]) -> Sql {
        let subject = self.subject;
        let mut query = Sql::new("SELECT m.no, m.id, m.cluster, m.key, m.keep, m.kept");
        for &i in &self.read {
            query = query
                .text(", ")
                .sql(&redirected("r", &subject.columns[i], own));
        }
        let mut at = BEFORE + self.read.len();
        let mut expressions = Sql::new("");
        let mut count = 0;
        for ruled in &mut self.ruled {
            let part = match &ruled.rule {
                Rule::Newest(column) | Rule::Oldest(column) => {
                    let column = &subject.columns[subject.column(column)].name;
                    let descending = matches!(ruled.rule, Rule::Newest(_));
                    Sql::new("pg_catalog.rank() OVER (PARTITION BY m.no ORDER BY r.")
                        .name(column)
                        .text(if descending { " DESC" } else { "" })
                        .text(" NULLS LAST)")
                }
                Rule::Priority { column, .. } => {
                    let column = &subject.columns[subject.column(column)].name;
                    Sql::new("CASE WHEN r.")
                        .name(column)
                        .text(" IS DISTINCT FROM NULL THEN pg_catalog.format('%s', r.")
                        .name(column)
                        .text(") END")
                }
                Rule::Sql(expression) => {
                    let column = &subject.columns[ruled.column];
                    let bytes = to_database(expression);
                    expressions = expressions
                        .text(", CAST((")
                        .expression(&bytes)
                        .text("\n) AS ")
                        .exact_type(column.store.type_oid)
                        .text(&format!(") AS x{count}"));
                    count += 1;
                    Sql::new(&format!("e.x{}", count - 1))
                }
                _ => continue,
            };
            query = query.text(", ").sql(&part);
            ruled.besides = at;
            at += 1;
        }
        query = query
            .text(" FROM bloom_merge_members AS m JOIN ")
            .sql(&subject.from("r"))
            .text(" ON ")
            .sql(&subject.key_is("r", "m.key"));
        if count > 0 {
            let name = &pg::catalog::name(subject.oid);
            query = query
                .text(" LEFT JOIN (SELECT ")
                .name(name)
                .text(".bloom_merge_no AS no")
                .sql(&expressions)
                .text(
                    " FROM (SELECT m.no AS bloom_merge_no, r.* FROM bloom_merge_members AS m JOIN ",
                )
                .sql(&subject.from("r"))
                .text(" ON ")
                .sql(&subject.key_is("r", "m.key"))
                .text(") AS ")
                .name(name)
                .text(" GROUP BY ")
                .name(name)
                .text(".bloom_merge_no) AS e ON e.no OPERATOR(pg_catalog.=) m.no");
        }
        for (j, reference) in own.iter().enumerate() {
            query = query
                .text(" LEFT JOIN ")
                .sql(&reference.map(subject))
                .text(&format!(" AS g{j} ON "))
                .sql(&reference.refers("r", &format!("g{j}")));
        }
        query
            .text(" ORDER BY m.no, m.key USING ")
            .operator(subject.less)
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
                let values: Vec<MergedValue> = self
                    .ruled
                    .iter()
                    .zip(outputs)
                    .map(|(ruled, output)| {
                        let decided = self.decide(ruled, output, rows, kept, &standings);
                        changed |= decided.changed;
                        decided
                    })
                    .collect();
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
        let has_value = |(i, column): (usize, &usize)| {
            value(&self.subject.columns[*column], row, BEFORE + i).is_some()
        };
        Standing {
            preferred: false,
            filled: self
                .read
                .iter()
                .enumerate()
                .filter(|&c| has_value(c))
                .count(),
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
        let texts: Vec<Option<Vec<u8>>> = rows
            .iter()
            .map(|&row| {
                let value = value(column, row, ruled.at)?;
                Some(if by_text { text_of(value) } else { Vec::new() })
            })
            .collect();
        let has_source = matches!(ruled.rule, Rule::Priority { .. });
        let sources: Vec<Option<String>> = rows
            .iter()
            .map(|row| {
                let source = has_source.then(|| row.bytes(ruled.besides))??;
                Some(readable(source.bytes()))
            })
            .collect();
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

/// A column under an alias; where it refers to a record that goes by reference number j, the value of the map under
/// g{j}.
pub fn redirected(alias: &str, column: &TableColumn, references: &[&Reference]) -> Sql {
    let plain = Sql::new(alias).text(".").name(&column.name);
    let all = references.iter().enumerate();
    all.fold(plain, |sql, (j, reference)| {
        let mut pairs = reference.pairs.iter();
        match pairs.position(|pair| pair.child == column.name) {
            None => sql,
            Some(i) => Sql::new(&format!(
                "CASE WHEN g{j}.no IS DISTINCT FROM NULL THEN CAST(g{j}.n{i} AS "
            ))
            .modified_type(column.store.type_oid, column.store.typmod)
            .text(")")
            .collate(column.store.collation)
            .text(" ELSE ")
            .sql(&sql)
            .text(" END"),
        }
    })
}
