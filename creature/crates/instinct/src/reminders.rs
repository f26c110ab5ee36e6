//! Reminders on instinct: what the owner's words mean by one, which one is meant, and how they are told. Pure.

use super::tasks::Task;
use super::text::{clip, word};
use agenda::reminder::Schedule;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

/// Reminders told in one answer.
const MOST_TOLD: usize = 10;

/// `me in 20 min to look`, `me tomorrow 9am: the mail`, `me to look in 20 min`: when, and of what.
pub fn parse(words: &str) -> Option<Task> {
    let words: Vec<&str> = words.strip_prefix("me ")?.split_whitespace().collect();
    // Whether words name a time does not depend on what time it is now.
    let is_time = |words: &str| Schedule::read(words, Timestamp::UNIX_EPOCH, &TimeZone::UTC).is_some();
    let splits = || (1..words.len()).rev().filter_map(|at| words.split_at_checked(at));
    let joined = |words: &[&str]| words.join(" ").trim_end_matches([':', ',', '.', '!', '?']).to_owned();
    let (when, what) =
        splits().map(|(first, last)| (joined(first), last)).find(|(when, _)| is_time(when)).or_else(
            || splits().rev().map(|(first, last)| (joined(last), first)).find(|(when, _)| is_time(when)),
        )?;
    let what = match what {
        ["to" | "that" | "of" | "about", what @ ..] => what,
        what => what,
    };
    (!what.is_empty()).then(|| Task::Remind(when, joined(what)))
}

/// `reminder 3`, `the reminder about tea`, `reminder-3`: which reminder is no longer wanted.
pub fn cancel(rest: &str) -> Option<Task> {
    let said = rest.trim_end_matches(['.', '!', '?']).to_lowercase();
    let words: Vec<&str> = said.split_whitespace().collect();
    let words = match words.as_slice() {
        ["the" | "my" | "that", words @ ..] => words,
        words => words,
    };
    match words {
        ["reminder", "about" | "to" | "for" | "of" | "at", which @ ..] | ["reminder", which @ ..] => {
            Some(Task::Forget(which.join(" ")))
        }
        [id] if id.starts_with("reminder-") => Some(Task::Forget((*id).to_owned())),
        _ => None,
    }
}

/// The reminders of a `reminder.list`, as a sentence.
pub fn told(result: &Value) -> String {
    let all = listed(result);
    let lines: Vec<String> = all.iter().take(MOST_TOLD).map(|one| line(one)).collect();
    match all.len() {
        0 => "I have nothing to remind you of".to_owned(),
        1 => format!("One reminder: {}", lines.join("")),
        count => format!("{count} reminders: {}", lines.join("; ")),
    }
}

/// The concerns of a `pulse.list`, as a sentence.
pub fn concerns(result: &Value) -> String {
    let all = result.get("concerns").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let line = |one: &Value| {
        let said = |name: &str| clip(word(one, name), 120);
        format!("\"{}\", next at {} ({})", said("text"), said("next"), said("id"))
    };
    let lines: Vec<String> = all.iter().take(MOST_TOLD).map(line).collect();
    match all.len() {
        0 => "I have no standing concern; a model makes them, by pulse.add".to_owned(),
        count => format!("Standing concerns, {count}: {}", lines.join("; ")),
    }
}

/// Id and text of the reminder that is meant; an error names those there are.
pub fn meant(which: &str, result: &Value) -> Result<(String, String), String> {
    let all = listed(result);
    let fits = |one: &&Value| {
        let (id, text) = (word(one, "id"), word(one, "text").to_lowercase());
        id == which
            || id.strip_prefix("reminder-") == Some(which)
            || which.split(' ').all(|part| text.contains(part))
    };
    let mut found: Vec<&Value> = all.iter().copied().filter(fits).collect();
    // An id names one reminder, whatever the texts of others have in them.
    if let Some(named) = found.iter().copied().find(|one| word(one, "id").ends_with(&format!("-{which}"))) {
        found = vec![named];
    }
    match found.as_slice() {
        [one] => Ok((word(one, "id").to_owned(), word(one, "text").to_owned())),
        [] => Err(format!("no reminder of mine is meant by \"{}\". {}", clip(which, 60), told(result))),
        _ => Err(format!("I do not know which is meant. {}; say `cancel reminder-…`", told(result))),
    }
}

/// The reminders of a result, the next due first.
fn listed(result: &Value) -> Vec<&Value> {
    let mut all: Vec<&Value> =
        result.get("reminders").and_then(Value::as_array).into_iter().flatten().collect();
    all.sort_by_key(|one| word(one, "next").parse::<Timestamp>().ok());
    all
}

fn line(one: &Value) -> String {
    let (id, text, zone) = (word(one, "id"), clip(word(one, "text"), 120), word(one, "zone"));
    let hours = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    let at = word(one, "next").parse::<Timestamp>().ok();
    let at = at.map(|at| at.to_zoned(hours).strftime("%Y-%m-%d %H:%M:%S %Q").to_string());
    format!("\"{text}\" at {} ({id})", at.unwrap_or_else(|| "no time".to_owned()))
}
