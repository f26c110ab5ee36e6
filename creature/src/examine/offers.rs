//! Offers of things to look at in the creature's own doing, with numbers and dates from its records. Pure.
//!
//! Invariant: at most five offers, each a fact of the records: nothing is guessed, nothing is praised.

use super::sums::{Failure, Sums};
use super::told::{date, seconds, thoughts, usd};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Offers in all.
const MOST: usize = 5;

/// The same failure so many times is no chance.
const REPEATED: u64 = 3;

/// A tool is slow whose calls take this long on average; tools with fewer calls than this are not judged.
const SLOW_MS: u64 = 10_000;
const OFTEN: u64 = 3;

/// An account stands out whose thoughts cost so many times the others' each, or that has this share of all costs.
const DEARER: f64 = 3.0;
const SHARE: f64 = 0.6;

/// Lists what to look at: the first offer of each sort, the weightiest sort first, then the second of each, and so on.
pub fn worth_looking_at(sums: &Sums, zone: &TimeZone) -> Vec<String> {
    let day = |at: Timestamp| date(at, zone);
    let mut sorts =
        [fallen(sums, &day), repeated(sums, &day), unknown(sums, &day), dear(sums), slow(sums, &day)];
    let mut offers = Vec::new();
    while offers.len() < MOST && sorts.iter().any(|sort| !sort.is_empty()) {
        for sort in sorts.iter_mut().filter(|sort| !sort.is_empty()) {
            offers.push(sort.remove(0));
        }
    }
    offers.truncate(MOST);
    offers
}

fn fallen(sums: &Sums, day: &dyn Fn(Timestamp) -> String) -> Vec<String> {
    let line = |(at, told): &(Timestamp, String)| format!("a self-edit fell at {}: {told}", day(*at));
    let mut lines: Vec<String> = sums.fell.newest.iter().rev().map(line).collect();
    let (failed, born) = (&sums.edits_failed, sums.born.count);
    if let (Some((at, told)), true) = (failed.newest.last(), failed.count >= REPEATED.max(born * 2)) {
        lines.push(format!(
            "{} tries of a self-edit failed, {born} were born; the last at {}: {told}",
            failed.count,
            day(*at)
        ));
    }
    lines
}

fn repeated(sums: &Sums, day: &dyn Fn(Timestamp) -> String) -> Vec<String> {
    let mut often: Vec<&Failure> = sums.failures.iter().filter(|failure| failure.count >= REPEATED).collect();
    often.sort_by_key(|failure| std::cmp::Reverse((failure.count, failure.last)));
    let line = |failure: &&Failure| {
        let Failure { tool, error, count, first, last } = failure;
        format!("{tool} failed {count} times alike, {} to {}: {error}", day(*first), day(*last))
    };
    often.iter().map(line).collect()
}

fn unknown(sums: &Sums, day: &dyn Fn(Timestamp) -> String) -> Vec<String> {
    let Some((at, said)) = sums.not_understood.newest.last() else { return Vec::new() };
    let count = sums.not_understood.count;
    vec![format!("{count} of the owner's words were not understood, the last at {}: \"{said}\"", day(*at))]
}

fn dear(sums: &Sums) -> Vec<String> {
    let all = sums.cost();
    let mut lines: Vec<(f64, String)> = Vec::new();
    for (account, cost) in &sums.costs {
        let (count, others) = (cost.thoughts as f64, all.thoughts.saturating_sub(cost.thoughts) as f64);
        let each = cost.usd / count.max(1.0);
        let each_other = (all.usd - cost.usd) / others.max(1.0);
        let shared = others > 0.0 && cost.usd > SHARE * all.usd;
        if cost.usd > 0.0 && (shared || (each_other > 0.0 && each > DEARER * each_other)) {
            let line = format!(
                "{} cost {} of {}: {} at {} each",
                account.name(),
                usd(cost.usd),
                usd(all.usd),
                thoughts(cost.thoughts),
                usd(each)
            );
            lines.push((cost.usd, line));
        }
    }
    if all.unpriced > 0 {
        lines.push((0.0, format!("no price is known of {}", thoughts(all.unpriced))));
    }
    lines.sort_by(|one, other| other.0.total_cmp(&one.0));
    lines.into_iter().map(|(_, line)| line).collect()
}

fn slow(sums: &Sums, day: &dyn Fn(Timestamp) -> String) -> Vec<String> {
    let slow =
        sums.tools.iter().filter(|(_, stats)| stats.calls >= OFTEN && stats.took_ms / stats.calls >= SLOW_MS);
    let mut slow: Vec<_> = slow.collect();
    slow.sort_by_key(|(_, stats)| std::cmp::Reverse(stats.took_ms));
    let line = |(tool, stats): &(&String, &super::sums::ToolStats)| {
        let longest = sums.slowest.iter().find(|step| step.what.starts_with(tool.as_str()));
        let at = longest.map_or(String::new(), |step| format!(" at {}", day(step.at)));
        format!(
            "{tool} took {} in {} calls, the longest {}{at}",
            seconds(stats.took_ms),
            stats.calls,
            seconds(stats.longest_ms)
        )
    };
    slow.iter().map(line).collect()
}
