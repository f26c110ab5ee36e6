//! A report told from its facts: sections by weight, each row with where more of it stands, fitted to a screen. Pure.

use super::facts::Facts;
use crate::edits::{Edit, Fell};
use house::bounds::brief;
use house::bounds::short;
use house::{broker_page, moments, printable};
use serde_json::{Value, json};

/// Lines of a screen that the rows may take, and columns that a wrapped line begins with.
const LINES: usize = 28;
const INDENT: usize = 4;
/// Width of a section's name, and characters of a row that is no word between owner and creature.
const NAME: usize = 11;
const ROW_CHARS: usize = 120;
/// Characters of the names that are told of a tally, and days of spend.
const NAMES_CHARS: usize = 90;
const MOST_DAYS: usize = 7;
const AGENDA: &str = ".self/mind/agenda.json";

/// A sentence, and where more of it stands: a command, or a path; empty where there is no more.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub text: String,
    pub see: String,
}

/// Rows of one kind. Where there is no room for all, the newest are shown of those in order of time, else the first.
#[derive(Debug)]
pub struct Section {
    pub name: &'static str,
    /// The same in everyday words, for a letter.
    pub heading: &'static str,
    pub rows: Vec<Row>,
    /// Number of rows, with those not held, and where they stand.
    pub count: u64,
    pub see: String,
    pub in_time: bool,
}

fn row(text: impl Into<String>, see: impl Into<String>) -> Row {
    Row { text: brief(&text.into(), ROW_CHARS), see: see.into() }
}

/// A row of up to twice the usual length.
fn long_row(text: impl Into<String>, see: &str) -> Row {
    Row { text: brief(&text.into(), 2 * ROW_CHARS), see: see.to_owned() }
}

/// The sections of a report, the weightiest first; empty ones are left out.
pub fn sections(facts: &Facts, since: &str) -> Vec<Section> {
    let history = format!("history --since {}", typed(since));
    let section = |(name, heading), rows: Vec<Row>, count: u64, see: &str, in_time| {
        let count = count.max(rows.len() as u64);
        Section { name, heading, rows, count, see: see.to_owned(), in_time }
    };
    let waits = facts.waits.iter().map(|(told, see)| row(told, see)).collect();
    let falls = facts.falls.kept.iter().map(|fall| {
        let shown = if fall.fallen_ref.is_empty() {
            history.clone()
        } else {
            format!("git show {}", fall.fallen_ref)
        };
        row(&fall.told, shown)
    });
    let deaths = facts.deaths.kept.iter().map(|deaths| {
        let times = if deaths.times > 1 { format!("{} times, last ", deaths.times) } else { String::new() };
        row(
            format!("{times}life {} {}", deaths.life, deaths.told),
            format!(".self/log/life-{}.log", deaths.life),
        )
    });
    let ended = facts.falls.count + facts.deaths.kept.len() as u64;
    let born: Vec<Row> = facts.edits.all.iter().filter_map(edit).collect();
    let all_born = facts.edits.dropped + born.len() as u64;
    let edits = tally("tries not born", &facts.edits_refused, &history).into_iter().chain(born).collect();
    let word = |word: &super::facts::Word| match &word.text {
        Some(text) => Row { text: format!("{}: {text}", word.from), see: String::new() },
        None => row(
            format!("{}: {} characters, too many for here", word.from, word.chars),
            format!("feed --since {}", typed(since)),
        ),
    };
    let words = facts.words.kept.iter().map(word).collect();
    let learnt = tally("", &facts.learnt, &history).into_iter().collect();
    let next = match &facts.next {
        Some(next) => next.iter().map(|aim| row(aim, AGENDA)).collect(),
        None => vec![row("what it means to do cannot be read", AGENDA)],
    };
    let all = [
        section(("WAITS", "Waits for its owner's yes"), waits, 0, "asks", false),
        section(
            ("fell, died", "Deaths, and what was put back"),
            deaths.chain(falls).collect(),
            ended,
            &history,
            true,
        ),
        section(("self-edits", "Changes to itself"), edits, all_born, &history, true),
        section(("made", "Made"), made(facts, &history), 0, &history, false),
        section(("words", "Said"), words, facts.words.count, &history, true),
        section(("failed", "Failed"), failed(facts, &history), 0, &history, false),
        section(("learnt", "Learnt"), learnt, 0, &history, false),
        section(("cost", "Cost"), cost(facts, &history), 0, &history, false),
        section(("means to", "Means to do next"), next, 0, AGENDA, false),
        section(("all in all", "In numbers"), counts(facts, &history), 0, &history, false),
    ];
    all.into_iter().filter(|section| !section.rows.is_empty()).collect()
}

/// A time as `--since` takes it, to the minute.
fn typed(since: &str) -> String {
    let told = moments::told(since);
    match told.strip_suffix(" 00:00:00") {
        Some(day) => day.to_owned(),
        None => told.replace(' ', "T").chars().take("2026-01-31T08:00".len()).collect(),
    }
}

/// A tally as a row, if there is anything in it.
fn tally(name: &str, tally: &super::facts::Tally, see: &str) -> Option<Row> {
    let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
    (tally.sum > 0).then(|| row(format!("{name}{}", tally.told(NAMES_CHARS)), see))
}

/// A commit of its own that was to live, or one that proved itself, and what became of it; none of papers alone.
fn edit(edit: &Edit) -> Option<Row> {
    let commit = short(&edit.commit);
    let is_told = edit.by == "self" || !edit.proved_at.is_empty();
    let summary = if edit.summary.is_empty() { "committed before" } else { &edit.summary };
    let shown = format!("git show {commit}");
    let (came, see) = match edit.fallen() {
        _ if !is_told => return None,
        Some(fell) => (put_back(fell), format!("rollback {commit}, to have it again")),
        None if !edit.proved_at.is_empty() => ("blessed".into(), shown),
        None if edit.is_unbuilt => ("did not build".into(), ".self/log/build.log".into()),
        None if edit.is_built => ("lives, not blessed so far".into(), shown),
        None => return None,
    };
    Some(row(format!("{commit} {came}: {summary}"), see))
}

fn papers(facts: &Facts) -> u64 {
    let is_papers = |edit: &&Edit| edit.by == "self" && !edit.is_built && self::edit(edit).is_none();
    facts.edits.all.iter().filter(is_papers).count() as u64
}

fn put_back(fell: &Fell) -> String {
    let to = short(&fell.to);
    match fell.cause.as_str() {
        "owner" => format!("put back to {to} as you asked"),
        cause => format!("fell ({}), put back to {to}", brief(&cause.replace('_', " "), 40)),
    }
}

fn made(facts: &Facts, history: &str) -> Vec<Row> {
    let goals = facts.ended.kept.iter().filter(|(done, _)| *done).map(|(_, told)| row(told, AGENDA));
    let things = [tally("", &facts.made, history), tally("posts", &facts.posted, history)];
    let calls = tally("services answered", &facts.calls, history);
    goals.chain(things.into_iter().chain([calls]).flatten()).collect()
}

fn failed(facts: &Facts, history: &str) -> Vec<Row> {
    let down = facts.down.iter().map(|down| long_row(down, "doctor"));
    let asks = facts.asks_failed.kept.iter().map(|id| row(format!("ask {id} failed"), format!("asks {id}")));
    let goals = facts.ended.kept.iter().filter(|(done, _)| !done).map(|(_, told)| row(told, AGENDA));
    let broker = Some(&facts.broker).filter(|cause| !cause.is_empty());
    let broker =
        broker.map(|cause| row(format!("the broker ended or was missing: {cause}"), ".self/log/broker.log"));
    let settings = Some(&facts.settings).filter(|told| !told.is_empty());
    let settings =
        settings.map(|told| long_row(format!("your settings were not taken over: {told}"), "doctor"));
    let garbled = (facts.garbled > 0)
        .then(|| row(format!("replies of the mind that could not be read {}", facts.garbled), history));
    let refused = tally("refused by the broker", &facts.refused, history);
    let calls = tally("calls that failed", &facts.failed, history);
    let single = [broker, settings, garbled, refused, calls].into_iter().flatten();
    down.chain(single).chain(asks).chain(goals).collect()
}

/// Writes the rows on money: spent of the caps now, spent on each day, and the results of unasked work.
fn cost(facts: &Facts, history: &str) -> Vec<Row> {
    let now = facts.budget.as_ref().map(|page| long_row(broker_page::budget_line(page), "status"));
    let days = facts.days.iter().rev().take(MOST_DAYS).map(|(day, (all, own))| {
        let usd = |micro: &u64| *micro as f64 / 1e6;
        format!("{day} ${:.2} (on its own ${:.2})", usd(all), usd(own))
    });
    let days = days.collect::<Vec<_>>().join(", ");
    let days = (!days.is_empty()).then(|| row(days, history));
    let unasked = (!facts.unasked.is_empty()).then(|| long_row(&facts.unasked, AGENDA));
    now.into_iter().chain(days).chain(unasked).collect()
}

/// Writes the counts of records that have no row of their own.
fn counts(facts: &Facts, history: &str) -> Vec<Row> {
    let sums = [
        ("thoughts", facts.thoughts),
        ("actions", facts.actions),
        ("dreams", facts.dreams),
        ("looks outside", facts.read.sum),
        ("commits of papers", papers(facts)),
    ];
    let sums = sums.into_iter().map(|(name, sum)| (name.to_owned(), sum));
    let events = facts.events.names.iter().map(|(name, sum)| (name.clone(), *sum));
    let asks = facts.asks.names.iter().map(|(name, sum)| (format!("asks {name}"), *sum));
    let told = sums.chain(events).chain(asks).filter(|(_, sum)| *sum > 0);
    let told = told.map(|(name, sum)| format!("{name} {sum}")).collect::<Vec<_>>().join(", ");
    if told.is_empty() { vec![] } else { vec![row(told, history)] }
}

/// The sections as lines for a screen, name and text: each has its first row, the weightiest more as long as there is
/// room; what has none is a number.
pub fn lines(sections: &[Section], columns: usize) -> Vec<(&'static str, String)> {
    let mut room = LINES.saturating_sub(sections.iter().map(|section| taken(section, 1, columns)).sum());
    let mut lines = Vec::new();
    for section in sections {
        let mut most = 1;
        while most < section.rows.len() {
            let more = taken(section, most + 1, columns).saturating_sub(taken(section, most, columns));
            if more > room {
                break;
            }
            (most, room) = (most + 1, room - more);
        }
        let mut name = section.name;
        lines.extend(texts(section, most).into_iter().map(|text| (std::mem::take(&mut name), text)));
    }
    lines
}

/// So many rows of a section as text; the last says how many more there are.
fn texts(section: &Section, most: usize) -> Vec<String> {
    let all = section.rows.as_slice();
    let from = if section.in_time { all.len().saturating_sub(most) } else { 0 };
    let shown = all.iter().skip(from).take(most);
    let mut texts: Vec<String> = shown
        .map(|row| if row.see.is_empty() { row.text.clone() } else { format!("{} -> {}", row.text, row.see) })
        .collect();
    let left = section.count.saturating_sub(texts.len() as u64);
    if let Some(last) = texts.last_mut().filter(|_| left > 0) {
        last.push_str(&format!(" ({left} more: {})", section.see));
    }
    texts
}

/// Lines that a section takes with so many of its rows.
fn taken(section: &Section, most: usize, columns: usize) -> usize {
    let room = columns.saturating_sub(INDENT).max(1);
    texts(section, most).iter().map(|text| (NAME + printable::columns(text)).div_ceil(room)).sum()
}

/// For programs: every row that is held.
pub fn json(facts: &Facts, sections: &[Section], since: &str) -> Value {
    let rows = |section: &Section| -> Vec<Value> {
        section.rows.iter().map(|row| json!({"text": row.text, "see": row.see})).collect()
    };
    let told: Vec<Value> = sections
        .iter()
        .map(|section| json!({"name": section.name, "rows": rows(section), "count": section.count, "see": section.see}))
        .collect();
    json!({"since": since, "now": facts.note, "nothing": facts.is_nothing(), "only_the_newest_of": facts.cut, "sections": told})
}
