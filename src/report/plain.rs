//! A report as plain text, for psql.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::facts::{Facts, Values};
use super::histogram::Histogram;
use super::value::{cut, grouped, percent, three_digits, tidy};
use super::{html, Origin};

/// Characters of the longest bar.
const BAR: u64 = 44;

/// Stands for characters that would not be seen, in every encoding.
const UNFIT: char = '?';

/// Columns of a terminal.
const WIDTH: usize = 80;

/// A value takes so many columns of the terminal. The HTML page shows more of it.
const LENGTH: usize = 40;

/// Further lines begin below the columns behind the first ones, unless the first ones are wider than this.
const MARGIN: usize = 36;

/// Columns side by side, as wide as their longest value; the first `right` ones to the right.
struct TextTable {
    rows: Vec<Vec<String>>,
    right: usize,
    /// If all columns are too wide for a terminal, those behind so many continue on further lines.
    first: usize,
}

impl TextTable {
    fn new(right: usize, head: &[&str]) -> TextTable {
        let head = head.iter().map(|name| (*name).to_owned()).collect();
        TextTable {
            rows: vec![head],
            right,
            first: usize::MAX,
        }
    }

    fn continued_behind(mut self, first: usize) -> TextTable {
        self.first = first;
        self
    }

    /// For each line of a row, the columns that are on it.
    fn lines(&self, widths: &[usize]) -> Vec<std::ops::Range<usize>> {
        let mut lines = Vec::new();
        let (mut start, mut at) = (0, 0);
        for (i, width) in widths.iter().enumerate() {
            at += 2 + width;
            if at > WIDTH && i > start && i >= self.first {
                lines.push(start..i);
                (start, at) = (i, self.margin(widths) + 2 + width);
            }
        }
        lines.push(start..widths.len());
        lines
    }

    /// How many blanks are before a further line.
    fn margin(&self, widths: &[usize]) -> usize {
        let first = widths.iter().take(self.first).map(|width| 2 + width);
        let first: usize = first.sum();
        if first > MARGIN {
            4
        } else {
            first
        }
    }

    fn write(&self, to: &mut String) {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |i: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(i));
            cells.map(|cell| cell.width()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let margin = " ".repeat(self.margin(&widths));
        let lines = self.lines(&widths);
        for row in &self.rows {
            for columns in &lines {
                let mut line = match columns.start {
                    0 => String::new(),
                    _ => margin.clone(),
                };
                for (i, cell) in row.iter().enumerate().filter(|(i, _)| columns.contains(i)) {
                    let blanks = " ".repeat(widths[i] - cell.width());
                    line.push_str("  ");
                    if i < self.right {
                        line.push_str(&blanks);
                        line.push_str(cell);
                    } else {
                        line.push_str(cell);
                        line.push_str(&blanks);
                    }
                }
                let line = line.trim_end();
                if columns.start == 0 || !line.is_empty() {
                    to.push_str(line);
                    to.push('\n');
                }
            }
        }
    }
}

fn heading(to: &mut String, text: &str) {
    to.push_str(&format!("\n{text}\n{}\n", "-".repeat(text.width())));
}

/// A bar of characters. Anything above zero is seen.
fn bar(n: u64, most: u64, mark: &str) -> String {
    let full = BAR.min(most);
    let length = (n * full).checked_div(most).unwrap_or(0);
    mark.repeat(length.max(u64::from(n > 0)) as usize)
}

fn short(value: &str) -> String {
    let (mut characters, mut columns) = (0, 0);
    for c in value.chars() {
        columns += c.width().unwrap_or(1);
        if columns > LENGTH {
            break;
        }
        characters += 1;
    }
    cut(value, characters, UNFIT)
}

fn record(values: Option<&Values>) -> impl Iterator<Item = String> + '_ {
    values.into_iter().flatten().map(|value| match value {
        Some(value) => short(&value.text),
        None => "null".to_owned(),
    })
}

/// An empty table of records: the columns `first`, the key, and the columns of the relation.
fn records(first: &[&str], right: usize, facts: &Facts, origin: &Origin) -> TextTable {
    let names = [&origin.key].into_iter().chain(&facts.columns);
    let names: Vec<String> = names.map(|name| short(name)).collect();
    let head = first.iter().copied();
    let head: Vec<&str> = head.chain(names.iter().map(String::as_str)).collect();
    TextTable::new(right, &head).continued_behind(first.len() + 1)
}

/// The report as text.
pub fn text(facts: &Facts, origin: &Origin) -> String {
    let mut out = String::new();
    let title = tidy(&origin.title, UNFIT);
    out.push_str(&format!("{title}\n{}\n\n", "=".repeat(title.width())));
    let clusters = facts.clusters();
    let surplus = facts.clustered - clusters;
    let mut table = TextTable::new(0, &["records", &grouped(facts.rows)]);
    let share = |n: u64| match percent(n, facts.rows) {
        share if share.is_empty() => grouped(n),
        share => format!("{} ({share})", grouped(n)),
    };
    for (name, number) in [
        ("with a signature", grouped(facts.signed)),
        ("threshold", facts.threshold.to_string()),
        ("pairs of duplicates", grouped(facts.pairs)),
        ("clusters", grouped(clusters)),
        ("records in clusters", share(facts.clustered)),
        ("surplus records", share(surplus)),
    ] {
        table.rows.push(vec![name.to_owned(), number]);
    }
    table.write(&mut out);
    if let Some(tokens) = &origin.tokens {
        let tokens = tidy(tokens, UNFIT);
        out.push_str(&format!(
            "\nThe similarity is that of the tokens in {tokens}.\n"
        ));
    }

    heading(&mut out, "Similarities");
    let most = facts.histogram.most();
    let mut table = TextTable::new(2, &["from", "pairs", ""]);
    for bin in &facts.histogram.bins {
        let above = Histogram::is_above(bin, facts.threshold);
        let mark = if above { "#" } else { "." };
        table.rows.push(vec![
            Histogram::label(bin.from),
            grouped(bin.pairs),
            bar(bin.pairs, most, mark),
        ]);
    }
    table.write(&mut out);
    out.push_str(&format!(
        "  #  from {} on    .  below the threshold; pairs below {} were not searched\n",
        facts.threshold, facts.searched
    ));
    quality(facts, &mut out);

    heading(&mut out, "Clusters by size");
    if facts.sizes.is_empty() {
        out.push_str("  none: no two records reach the threshold\n");
    } else {
        let most = facts.sizes.iter().map(|&(_, n)| n).max().unwrap_or(0);
        let mut table = TextTable::new(3, &["records each", "clusters", "records", ""]);
        for &(size, n) in &facts.sizes {
            table.rows.push(vec![
                size.to_string(),
                grouped(n),
                grouped(u64::from(size) * n),
                bar(n, most, "#"),
            ]);
        }
        table.write(&mut out);
    }
    near(facts, origin, &mut out);
    largest(facts, origin, &mut out);

    heading(&mut out, "How this was made");
    let statement = origin.statement(facts.threshold, Some("text"));
    out.push_str(&format!(
        "{statement}\n\n{}\n",
        origin.tables(facts.threshold)
    ));
    out.push_str(&format!(
        "\nbloom_ident {}, PostgreSQL {}, database {}, {}\n",
        env!("CARGO_PKG_VERSION"),
        origin.server,
        short(&origin.database),
        origin.date
    ));
    out
}

fn quality(facts: &Facts, out: &mut String) {
    let Some(truth) = &facts.truth else { return };
    heading(out, "Precision and recall");
    out.push_str(&format!(
        "  held against {}, {} true pairs\n",
        short(&truth.name),
        grouped(truth.counts.truth)
    ));
    if truth.unknown > 0 {
        let unknown = grouped(truth.unknown);
        out.push_str(&format!(
            "  {unknown} pairs are not counted, since the truth does not name their records\n"
        ));
    }
    let head = [
        "threshold",
        "found",
        "true",
        "precision",
        "recall",
        "F1",
        "",
    ];
    let mut table = TextTable::new(6, &head);
    let (chosen, mut steps) = html::steps(facts, truth);
    if !steps.iter().any(|step| step.chosen) {
        steps.insert(0, chosen);
    }
    for step in steps {
        let note = match (step.chosen, step.best) {
            (true, true) => "chosen, greatest F1",
            (true, false) => "chosen",
            (false, true) => "greatest F1",
            (false, false) => "",
        };
        let rates = [step.precision, step.recall, step.f1];
        let row = [step.threshold, step.found, step.correct].into_iter();
        let row = row.chain(rates).chain([note.to_owned()]);
        table.rows.push(row.collect());
    }
    table.write(out);
}

fn near(facts: &Facts, origin: &Origin, out: &mut String) {
    if facts.near.is_empty() {
        return;
    }
    heading(out, "Pairs nearest to the threshold");
    let mut table = records(&["similarity", ""], 1, facts, origin);
    for near in &facts.near {
        let mut verdict = match (near.similarity >= facts.threshold, near.is_true) {
            (true, None) => "duplicates",
            (false, None) => "left out",
            (true, Some(true)) => "duplicates, true",
            (true, Some(false)) => "duplicates, not true",
            (false, Some(true)) => "left out, but true",
            (false, Some(false)) => "left out, not true",
        }
        .to_owned();
        if let Some(judged) = near.judged {
            verdict.push_str(&format!(", judged {}", judged.name()));
        }
        for (i, key) in near.keys.iter().enumerate() {
            let first = if i == 0 {
                [three_digits(near.similarity), verdict.clone()]
            } else {
                [String::new(), String::new()]
            };
            let key_text = short(&facts.key_text(key));
            let values = record(facts.values.get(key));
            let row = first.into_iter().chain([key_text]).chain(values);
            table.rows.push(row.collect());
        }
    }
    table.write(out);
}

fn largest(facts: &Facts, origin: &Origin, out: &mut String) {
    if facts.largest.is_empty() {
        return;
    }
    heading(out, "Largest clusters");
    let mut table = records(&["cluster", "similarity"], 2, facts, origin);
    for cluster in &facts.largest {
        for shown in &cluster.records {
            let first = [
                if shown.keep {
                    cluster.number.to_string()
                } else {
                    String::new()
                },
                match (shown.keep, shown.similarity) {
                    (true, _) => "keep".to_owned(),
                    (false, Some(s)) => three_digits(s),
                    (false, None) => format!("below {}", facts.threshold),
                },
                short(&facts.key_text(&shown.key)),
            ];
            let values = record(facts.values.get(&shown.key));
            table.rows.push(first.into_iter().chain(values).collect());
        }
        let hidden = cluster.size as usize - cluster.records.len();
        if hidden > 0 {
            let more = format!("and {hidden} more");
            table.rows.push(vec![String::new(), String::new(), more]);
        }
    }
    table.write(out);
    let more = facts.more_clusters();
    if more > 0 {
        out.push_str(&format!(
            "  {} more clusters are not shown\n",
            grouped(more)
        ));
    }
    if facts.more_columns > 0 {
        let more = facts.more_columns;
        out.push_str(&format!("  {more} more columns are not shown\n"));
    }
}
