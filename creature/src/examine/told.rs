//! What the records of a span come to, in words: fields for a mind, a few sentences for the owner. Pure.

use super::offers::worth_looking_at;
use super::sums::{Cost, Failure, Listed, Sums, ToolStats};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Lines of one table.
const MOST_LINES: usize = 8;

/// Names in one sentence.
const MOST_NAMED: usize = 3;

/// A time by the owner's clock.
pub fn date(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%a %Y-%m-%d %H:%M").to_string()
}

/// From when to when, with the zone.
pub fn stretch(since: Timestamp, until: Timestamp, zone: &TimeZone) -> String {
    let [from, to] = [since, until].map(|at| at.to_zoned(zone.clone()));
    let end = if from.date() == to.date() { "%H:%M %Z" } else { "%a %Y-%m-%d %H:%M %Z" };
    format!("{} to {}", date(since, zone), to.strftime(end))
}

pub fn usd(usd: f64) -> String {
    // Less than a cent must not read as nothing.
    if usd > 0.0 && usd < 0.01 { format!("{usd:.4} USD") } else { format!("{usd:.2} USD") }
}

pub fn seconds(took_ms: u64) -> String {
    match took_ms {
        0..10_000 => format!("{}.{} s", took_ms / 1_000, took_ms % 1_000 / 100),
        10_000..600_000 => format!("{} s", took_ms / 1_000),
        _ => format!("{} min", took_ms / 60_000),
    }
}

/// What ended on the agenda, a line each.
pub type Ended = Vec<String>;

/// The sums, and what ended, as fields of a tool's result.
pub fn fields(sums: &Sums, ended: &Ended, zone: &TimeZone) -> Map<String, Value> {
    let (calls, failed) = sums.calls();
    let list = |listed: &Listed| -> Vec<String> {
        let line = |(at, told): &(Timestamp, String)| format!("{} {told}", date(*at, zone));
        listed.newest.iter().rev().map(line).collect()
    };
    let steps = sums.slowest.iter();
    let steps =
        steps.map(|step| format!("{} at {}: {}", seconds(step.took_ms), date(step.at, zone), step.what));
    let stats = |(tool, stats): (&String, &ToolStats)| {
        let failed = if stats.failed > 0 { format!(", {} failed", stats.failed) } else { String::new() };
        let longest = seconds(stats.longest_ms);
        format!("{tool} {}{failed}, {} in all, longest {longest}", stats.calls, seconds(stats.took_ms))
    };
    let mut all = vec![
        ("wakes", json!(format!("{}, with a thought for: {}", sums.wakes, table(&sums.reasons)))),
        ("thoughts", json!(table(&sums.thoughts))),
        ("garbled", json!(sums.garbled)),
        ("cost", json!(cost(&sums.cost()))),
        ("cost_by_kind", json!(accounts(sums))),
        ("calls", json!(format!("{calls}, {failed} failed"))),
        ("by_tool", json!(most(&sums.tools, |stats| stats.calls).into_iter().map(stats).collect::<Vec<_>>())),
        ("failures", json!(failures(sums, zone))),
        ("slowest", json!(steps.collect::<Vec<_>>())),
        ("messages", json!(format!("{} heard; said: {}", sums.heard, table(&sums.said)))),
        ("ended", json!(ended.iter().take(MOST_LINES).collect::<Vec<_>>())),
        ("self_edits_born", json!(list(&sums.born))),
        ("self_edits_failed", json!(list(&sums.edits_failed))),
        ("self_edits_put_back", json!(list(&sums.fell))),
        ("deaths", json!(list(&sums.deaths))),
        ("worth_looking_at", json!(worth_looking_at(sums, zone))),
    ];
    all.retain(|(_, value)| !matches!(value.as_array(), Some(list) if list.is_empty()) && *value != json!(0));
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A few sentences for the owner.
pub fn sentences(sums: &Sums, ended: &Ended) -> String {
    let all = sums.cost();
    let mut told = match all.thoughts {
        0 if sums.wakes == 0 => return "I have no record of that time: I did not wake.".to_owned(),
        0 => format!("I woke {} and thought nothing.", times(sums.wakes)),
        _ => {
            let minds = table(&sums.thoughts);
            let wakes =
                if sums.wakes > 0 { format!("woke {} and ", times(sums.wakes)) } else { String::new() };
            format!("I {wakes}had {} ({minds}).", thoughts(all.thoughts))
        }
    };
    let (calls, failed) = sums.calls();
    if calls > 0 {
        let tools: Vec<String> = most(&sums.tools, |stats| stats.calls)
            .into_iter()
            .take(MOST_NAMED)
            .map(|(tool, stats)| format!("{tool} {}", stats.calls))
            .collect();
        told += &format!(" I made {calls} calls, most of them {}.", tools.join(", "));
    }
    told += &match (failed, frequent(sums).first()) {
        (0, _) | (_, None) => " Nothing failed.".to_owned(),
        (1, Some(failure)) => format!(" One failed: {} ({}).", failure.tool, failure.error),
        (_, Some(failure)) => {
            format!(" {failed} failed, most often {} ({}).", failure.tool, failure.error)
        }
    };
    if !ended.is_empty() {
        told += &format!(" Ended: {}.", some(ended.iter().map(String::as_str), ended.len()));
    }
    let said: u64 = sums.said.values().sum();
    if sums.heard + said > 0 {
        told += &format!(" You wrote {}, I wrote {}.", times(sums.heard), times(said));
    }
    for (listed, what) in [
        (&sums.born, "I changed myself"),
        (&sums.edits_failed, "Self-edits that failed"),
        (&sums.fell, "Self-edits that were put back"),
        (&sums.deaths, "Lives that ended in a death"),
    ] {
        if listed.count > 0 {
            let newest = listed.newest.iter().rev().map(|(_, told)| told.trim_end_matches('.'));
            told +=
                &format!(" {what}: {}.", some(newest, usize::try_from(listed.count).unwrap_or(usize::MAX)));
        }
    }
    let parts = accounts(sums);
    told += &format!(" It cost {}", cost(&all));
    if parts.len() > 1 && all.usd > 0.0 {
        told += &format!(": {}", parts.join("; "));
    }
    told + "."
}

/// The cost in words, and of how many thoughts no price is known.
fn cost(cost: &Cost) -> String {
    match (cost.usd > 0.0, cost.unpriced) {
        (false, 0) => "nothing".to_owned(),
        (true, 0) => usd(cost.usd),
        (false, unpriced) => format!("an unknown sum, for {} with no known price", thoughts(unpriced)),
        (true, unpriced) => format!("{}, and {} with no known price", usd(cost.usd), thoughts(unpriced)),
    }
}

fn accounts(sums: &Sums) -> Vec<String> {
    let line = |(account, sum): (&memory::kinds::Account, &Cost)| {
        format!("{} {} ({})", account.name(), cost(sum), thoughts(sum.thoughts))
    };
    sums.costs.iter().map(line).collect()
}

fn failures(sums: &Sums, zone: &TimeZone) -> Vec<String> {
    let line = |failure: &&Failure| {
        let last = date(failure.last, zone);
        format!("{} times, last {last}: {}: {}", failure.count, failure.tool, failure.error)
    };
    frequent(sums).iter().take(MOST_LINES).map(line).collect()
}

/// Failures, the most frequent first.
fn frequent(sums: &Sums) -> Vec<&Failure> {
    let mut all: Vec<&Failure> = sums.failures.iter().collect();
    all.sort_by_key(|failure| Reverse((failure.count, failure.last)));
    all
}

/// The rows of a table with the greatest values, greatest first, `MOST_LINES` at most.
fn most<T>(table: &BTreeMap<String, T>, by: impl Fn(&T) -> u64) -> Vec<(&String, &T)> {
    let mut all: Vec<_> = table.iter().collect();
    all.sort_by_key(|(name, value)| (Reverse(by(value)), name.as_str()));
    all.truncate(MOST_LINES);
    all
}

/// A table of counts on one line.
fn table(table: &BTreeMap<String, u64>) -> String {
    let all: Vec<String> =
        most(table, |count| *count).into_iter().map(|(name, count)| format!("{name} {count}")).collect();
    match (all.is_empty(), table.len().saturating_sub(all.len())) {
        (true, _) => "none".to_owned(),
        (_, 0) => all.join(", "),
        (_, more) => format!("{} and {more} more", all.join(", ")),
    }
}

/// The first few names in quotes, and how many more of `count` there are.
fn some<'a>(all: impl Iterator<Item = &'a str>, count: usize) -> String {
    let named: Vec<String> = all.take(MOST_NAMED).map(|name| format!("\"{name}\"")).collect();
    match count.saturating_sub(named.len()) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

pub fn thoughts(count: u64) -> String {
    if count == 1 { "1 thought".to_owned() } else { format!("{count} thoughts") }
}

fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}
