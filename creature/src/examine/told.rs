//! Tells the sums of a span in words: fields for a mind, a few sentences for the owner. Pure.

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

/// Says from when to when a span is, with the zone.
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

/// Items that ended on the agenda, a line each.
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

/// Tools by their beginning, and what they did, once and more often.
const DEEDS: [(&str, &str, &str); 17] = [
    ("web.search", "searched the web once", "searched the web # times"),
    ("web.", "read a page", "read # pages"),
    ("feed.", "looked at a feed", "looked at feeds # times"),
    ("notes.read", "read in my papers once", "read in my papers # times"),
    ("notes.", "wrote into my papers once", "wrote into my papers # times"),
    ("reminder.add", "set a reminder", "set # reminders"),
    ("reminder.cancel", "cancelled a reminder", "cancelled # reminders"),
    ("x.post", "drafted a post", "drafted # posts"),
    ("mail.", "worked on mail once", "worked on mail # times"),
    ("service.", "used a service once", "used services # times"),
    ("files.", "worked on a file", "worked on files # times"),
    ("knowledge.", "looked into what I know once", "looked into what I know # times"),
    ("repo.map", "looked round my source once", "looked round my source # times"),
    ("repo.", "worked on my source once", "worked on my source # times"),
    ("goal.", "went on with a goal", "went on with goals # times"),
    ("session.", "had a sub-session at work", "had sub-sessions at work # times"),
    ("memory.snapshot", "summed up my memory", "summed up my memory # times"),
];

/// Tells what it did, as a person would; other tools are counted.
fn deeds(sums: &Sums) -> Vec<String> {
    let (mut counts, mut others) = ([0_u64; DEEDS.len()], 0);
    for (tool, stats) in &sums.tools {
        let done = stats.calls.saturating_sub(stats.failed);
        match DEEDS.iter().zip(&mut counts).find(|((begin, ..), _)| tool.starts_with(begin)) {
            Some((_, count)) => *count += done,
            // Answers are told of as messages.
            None if tool == "memory.append" || tool.starts_with("owner.") => {}
            None => others += done,
        }
    }
    let told = |((_, once, often), count): (&(&str, &str, &str), u64)| match count {
        0 => None,
        1 => Some((*once).to_owned()),
        count => Some(often.replace('#', &count.to_string())),
    };
    let mut all: Vec<String> = DEEDS.iter().zip(counts).filter_map(told).collect();
    let answered = sums.said.get("answer").copied().unwrap_or_default();
    if answered > 0 {
        all.insert(0, format!("answered you {}", times(answered)));
    }
    if others > 0 {
        all.push(format!("did {others} other thing{}", if others == 1 { "" } else { "s" }));
    }
    all
}

fn listed(all: &[String]) -> String {
    match all.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => all.concat(),
    }
}

/// A few sentences for the owner.
pub fn sentences(sums: &Sums, ended: &Ended) -> String {
    let all = sums.cost();
    let deeds = deeds(sums);
    let mut told = match all.thoughts {
        0 if sums.wakes == 0 => return "I have no record of that time: I did not wake.".to_owned(),
        _ if deeds.is_empty() => "I did nothing but look whether there was something to do.".to_owned(),
        _ => format!("I {}.", listed(&deeds)),
    };
    let (_, failed) = sums.calls();
    told += &match (failed, frequent(sums).first()) {
        (0, _) | (_, None) => " Nothing failed.".to_owned(),
        // A number that differs from one failure to the next is not told.
        (1, Some(failure)) => {
            format!(" One thing failed: {} ({}).", failure.tool, failure.error.replace('#', "…"))
        }
        (_, Some(failure)) => {
            format!(
                " {failed} things failed, most often {} ({}).",
                failure.tool,
                failure.error.replace('#', "…")
            )
        }
    };
    if !ended.is_empty() {
        told += &format!(" Ended: {}.", some(ended.iter().map(String::as_str), ended.len()));
    }
    let unasked: u64 = sums.said.iter().filter(|(kind, _)| *kind != "answer").map(|(_, count)| count).sum();
    if unasked > 0 {
        told += &format!(" I wrote to you {} unasked.", times(unasked));
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
    if all.thoughts > 0 {
        let wakes = if sums.wakes > 0 { format!(" in {} wakes", sums.wakes) } else { String::new() };
        told += &format!(" That took {}{wakes} ({}).", thoughts(all.thoughts), table(&sums.thoughts));
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

/// Lists failures, the most frequent first.
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
