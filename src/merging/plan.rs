//! `bloom_merge_plan`: what `bloom_merge` would do.

use base::Error;
use linkage::merging::{KeepBy, Rules};
use pgrx::{pg_sys, IntoDatum};

use super::child::{children, hidden_rows, missing_indexes, Child};
use super::collisions::{self, reach, Uniqueness};
use super::members::{
    check_once, decide, found_store, member_store, name_members, ClusterSource, FOUND,
};
use super::subject::Subject;
use super::texts::with_exact_texts;
use super::values::Valuation;
use pg::entry;
use pg::error::OrRaise;
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::memory::Scratch;
use pg::output::OutputFunction;
use pg::session::tuple_store::{StoreColumn, TupleStore};
use pg::session::{QueryRow, Session};
use pg::sql;
use pg::values::text::to_database;
use pg::values::varlena::NewValue;

/// What of a plan and of a merge is given in the same way.
pub struct MergeTask {
    pub clusters: ClusterSource,
    pub subject: Subject,
    pub rules: Rules,
    pub keep_by: KeepBy,
    pub redirect: Vec<String>,
}

impl MergeTask {
    /// `clusters`, `rel`, `key`, `rules`, `keep_by`, and at `redirect` the argument of this name.
    pub fn new(arguments: Arguments, redirect: usize, lock_mode: u32) -> MergeTask {
        let clusters = arguments.oid(0);
        let (rel, key) = (arguments.oid(1), arguments.name(2));
        let rules = arguments.datum(3).map(|_| arguments.jsonb(3));
        let keep_by = arguments.datum(4).map(|_| arguments.text(4));
        let given = arguments.datum(redirect).map(|_| arguments.texts(redirect));
        let rules = rules.map_or(Ok(Rules::default()), |rules| Rules::parse(&rules));
        let keep_by = keep_by.map_or(Ok(KeepBy::Clusters), |by| KeepBy::parse(&by));
        let (rules, keep_by) = (rules.or_raise(), keep_by.or_raise());
        let subject = Subject::new(rel, key, lock_mode);
        if let Some((column, _)) = keep_by.column() {
            subject.ordered_column(column);
        }
        MergeTask {
            clusters: ClusterSource::new(clusters),
            subject,
            rules,
            keep_by,
            redirect: given.unwrap_or_default(),
        }
    }
}

/// The rows of the plan, before they are in order.
struct PlanRows {
    store: TupleStore,
    scratch: Scratch,
    count: i64,
}

/// A row of the plan.
#[derive(Default)]
struct PlanRow<'a> {
    no: i64,
    part: i32,
    cluster: Option<&'a [u8]>,
    action: &'a str,
    key: Option<&'a [u8]>,
    column: Option<&'a [u8]>,
    value: Option<&'a [u8]>,
    source: Option<&'a [u8]>,
    relation: Option<pg_sys::Oid>,
    reference: Option<&'a [u8]>,
    rows: Option<i64>,
}

const ROWS: &std::ffi::CStr = c"bloom_merge_plan_rows";

impl PlanRows {
    fn new() -> PlanRows {
        let plain = StoreColumn::plain;
        let (int8, text) = (plain(pg_sys::INT8OID), plain(pg_sys::TEXTOID));
        let columns = [
            (c"no", int8),
            (c"part", plain(pg_sys::INT4OID)),
            (c"place", int8),
            (c"cluster", text),
            (c"action", text),
            (c"key", text),
            (c"column", text),
            (c"value", text),
            (c"source", text),
            (c"relation", plain(pg_sys::REGCLASSOID)),
            (c"reference", text),
            (c"rows", int8),
        ];
        PlanRows {
            store: TupleStore::new(columns.into_iter()),
            scratch: Scratch::new(c"row of a plan"),
            count: 0,
        }
    }

    fn put(&mut self, row: &PlanRow<'_>) {
        self.count += 1;
        let (store, count) = (&mut self.store, self.count);
        self.scratch.with(|| {
            let text = |text: Option<&[u8]>| text.map(text_datum);
            store.put(&[
                row.no.into_datum(),
                row.part.into_datum(),
                count.into_datum(),
                text(row.cluster),
                Some(text_datum(row.action.as_bytes())),
                text(row.key),
                text(row.column),
                text(row.value),
                text(row.source),
                row.relation.map(pg_sys::Datum::from),
                text(row.reference),
                row.rows.and_then(IntoDatum::into_datum),
            ]);
        });
    }
}

/// `(clusters regclass, rel regclass, key name, rules jsonb, keep_by text, redirect text[]) RETURNS TABLE (cluster
/// text, action text, key text, "column" text, value text, source text, relation regclass, reference text, rows
/// bigint)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_merge_plan(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let task = MergeTask::new(arguments, 5, pg_sys::AccessShareLock);
    // SAFETY: the SQL function is declared to return a set of rows.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    let subject = &task.subject;
    let mut found = found_store(subject);
    let mut plan = PlanRows::new();
    let mut members = member_store(subject);
    let session = Session::begin(true);
    // As bloom_merge reads keys and compares values.
    let named = with_exact_texts(|| {
        task.clusters.read(subject, &session, &mut found);
        session.table(FOUND, &found);
        check_once(subject, &session);
        decide(&task, &session, || None, &mut members);
        let named = name_members(&session, &members);
        let children = children(subject, &session, &task.redirect, pg_sys::AccessShareLock);
        missing_indexes(subject, &children, &session);
        hidden_rows(&children);
        for child in &children {
            let mut obstacles = child.obstacles(false);
            let mut indexes = Vec::new();
            if obstacles.is_empty() {
                indexes = collisions::of_child(child, &session);
                obstacles.extend(indexes.iter().filter_map(|index| index.obstacle(child)));
                obstacles.extend(reach::of_redirected(child, &children, None, &session));
            }
            stops(child, &obstacles, &mut plan);
            if obstacles.is_empty() {
                obstacles = of_child(child, &children, &indexes, subject, &session, &mut plan);
                stops(child, &obstacles, &mut plan);
            }
        }
        let valuation = Valuation::new(subject, &children, &task.rules);
        of_records(&valuation, subject, &session, &mut plan);
        named
    });
    session.table(ROWS, &plan.store);
    let query = sql!(
        "SELECT p.cluster, p.action, p.key, p.\"column\", p.value, p.source, p.relation, p.reference, p.rows \
        FROM bloom_merge_plan_rows AS p ORDER BY p.no, p.part, p.place"
    );
    session.each(&query, &[], |row| rows.copy(row));
    drop(named);
    NewValue(pg_sys::Datum::null())
}

/// What happens to the records.
fn of_records(
    valuation: &Valuation<'_>,
    subject: &Subject,
    session: &Session,
    plan: &mut PlanRows,
) {
    let mut key_output = OutputFunction::new(subject.key_type.type_oid);
    valuation.each(session, |valued| {
        let datum = |i: usize, column: usize| {
            let value = valued.rows[i].datum(column);
            value.unwrap_or(pg_sys::Datum::null())
        };
        let keys = (0..valued.rows.len()).map(|i| key_output.show(datum(i, 3), <[u8]>::to_vec));
        let keys: Vec<Vec<u8>> = keys.collect();
        let no = datum(0, 0).value() as i64;
        // SAFETY: a text of the store.
        let cluster = unsafe { pg::values::varlena::Varlena::new(datum(0, 2)) };
        let base = PlanRow {
            no,
            cluster: Some(cluster.bytes()),
            ..PlanRow::default()
        };
        plan.put(&PlanRow {
            part: 1,
            action: "keep",
            key: Some(&keys[valued.kept]),
            ..base
        });
        for (_, key) in keys.iter().enumerate().filter(|(i, _)| *i != valued.kept) {
            plan.put(&PlanRow {
                part: 2,
                action: "delete",
                key: Some(key),
                ..base
            });
        }
        for (ruled, decided) in valuation.ruled.iter().zip(valued.values) {
            plan.put(&PlanRow {
                part: 3,
                action: "value",
                key: Some(&keys[valued.kept]),
                column: Some(subject.columns[ruled.column].name.to_bytes()),
                value: decided.text.as_deref(),
                source: decided.source.map(|i| keys[i].as_slice()),
                ..base
            });
        }
    });
}

/// Why the references of a child cannot be redirected.
fn stops(child: &Child, obstacles: &[Error], plan: &mut PlanRows) {
    for obstacle in obstacles {
        let reason = format!("{obstacle}: {}", obstacle.detail_text().unwrap_or_default());
        plan.put(&PlanRow {
            action: "stop",
            value: Some(&to_database(&reason)),
            relation: Some(child.oid),
            ..PlanRow::default()
        });
    }
}

fn shown(output: &mut OutputFunction, row: QueryRow<'_>, i: usize) -> Option<Vec<u8>> {
    row.datum(i).map(|value| output.show(value, <[u8]>::to_vec))
}

/// What happens to the rows of a child. Returns why it cannot.
fn of_child(
    child: &Child,
    children: &[Child],
    indexes: &[Uniqueness],
    subject: &Subject,
    session: &Session,
    plan: &mut PlanRows,
) -> Vec<Error> {
    let mut fits = true;
    for reference in &child.references {
        let columns: Vec<&[u8]> = reference.pairs.iter().map(|p| p.child.to_bytes()).collect();
        let columns = columns.join(&b", "[..]);
        session.each_with(
            &reference.counts(subject),
            &[],
            |types| [types.output(1), types.output(2), types.output(5)],
            |[cluster, key, keep], row| {
                let [cluster, key, keep] =
                    [(cluster, 1), (key, 2), (keep, 5)].map(|(output, i)| shown(output, row, i));
                let is_null = row.is_true(4);
                fits &= !is_null || !reference.is_narrow();
                plan.put(&PlanRow {
                    no: row.integer(0),
                    part: 4,
                    cluster: cluster.as_deref(),
                    action: if is_null { "stop" } else { "redirect" },
                    key: key.as_deref(),
                    column: Some(&columns),
                    value: match is_null {
                        true => Some(b"the record to keep has no value that they could refer to"),
                        false => keep.as_deref(),
                    },
                    relation: Some(child.oid),
                    reference: Some(reference.name.to_bytes()),
                    rows: row.datum(3).map(|n| n.value() as i64),
                    ..PlanRow::default()
                });
            },
        );
    }
    if !fits {
        return Vec::new();
    }
    let mut obstacles = reach::of_redirected(child, children, Some(subject), session);
    let own = child.is_own();
    if !own && !indexes.is_empty() {
        let gone = collisions::places(indexes, child, subject);
        obstacles.extend(reach::of_dropped(child, children, &gone, session));
    }
    for uniqueness in indexes {
        let rows = uniqueness.query(child, subject);
        let query = sql!(
            "SELECT q.no, m.cluster, q.gone, pg_catalog.min(q.stays) FROM ({rows}) AS q \
            JOIN bloom_merge_members AS m ON m.no OPERATOR(pg_catalog.=) q.no AND m.kept \
            GROUP BY q.no, m.cluster, q.gone ORDER BY q.no, q.gone"
        );
        session.each_with(
            &query,
            &[],
            |types| [types.output(1), types.output(2), types.output(3)],
            |outputs, row| {
                let [cluster, gone, stays] = [0, 1, 2].map(|i| shown(&mut outputs[i], row, i + 1));
                plan.put(&PlanRow {
                    no: row.integer(0),
                    part: 5,
                    cluster: cluster.as_deref(),
                    // Records are not dropped.
                    action: if own { "stop" } else { "collision" },
                    value: own
                        .then_some(b"the record would be like another one, and is not deleted"),
                    key: gone.as_deref(),
                    source: stays.as_deref(),
                    relation: Some(child.oid),
                    reference: Some(uniqueness.name.to_bytes()),
                    ..PlanRow::default()
                });
            },
        );
    }
    obstacles
}
