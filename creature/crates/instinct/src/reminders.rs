//! Reminders on instinct: what the owner's words mean by one, which one is meant, and how they are told. Pure.

use super::likeness::has_all;
use super::table::Language;
use super::text::{clip, list, listed, word};
use super::turn::Turn;
use agenda::foreign::in_english;
use agenda::reminder::Schedule;
use agenda::spoken::day_and_hour;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

/// `me in 20 min to look`, `me tomorrow 9am: the mail`, `me to look in 20 min`: when, and of what. `usual`: of what, where
/// that is not said; `language`: the one it is said in, beside English.
pub fn parse(words: &str, usual: &str, language: Option<&Language>) -> Option<(String, String)> {
    let words: Vec<&str> = words.split_whitespace().collect();
    let words = words.strip_prefix(&["me"]).unwrap_or(&words);
    // Whether words name a time does not depend on what time it is now.
    let is_time = |words: &String| Schedule::read(words, Timestamp::UNIX_EPOCH, &TimeZone::UTC).is_some();
    let joined = |words: &str| words.trim_end_matches([':', ',', '.', '!', '?', ' ']).to_owned();
    // The words of a language alone: "mon" is no Monday in French.
    let time = |words: &[&str]| match language {
        Some(language) => in_english(&language.times, words).filter(is_time),
        None => Some(joined(&words.strip_prefix(&["for"]).unwrap_or(words).join(" "))).filter(is_time),
    };
    fn splits<'w>(words: &'w [&'w str]) -> impl DoubleEndedIterator<Item = (&'w [&'w str], &'w [&'w str])> {
        (0..=words.len()).filter_map(|at| words.split_at_checked(at))
    }
    let first = |words| splits(words).rev().find_map(|(first, last)| Some((time(first)?, last)));
    let last = || splits(words).find_map(|(first, last)| Some((time(last)?, first)));
    // Behind words that lead on, as in German.
    let linked = language.map_or(0, |language| language.links(words));
    let behind = words.get(linked..).filter(|_| linked > 0);
    let (when, what) = first(words).or_else(|| first(behind?)).or_else(last)?;
    let what = match (language, what) {
        (Some(language), what) => language.unlinked(what),
        (None, ["to" | "that" | "of" | "about" | "for", what @ ..] | what) => what.join(" "),
    };
    let what = if what.is_empty() { usual.to_owned() } else { joined(&what) };
    (!what.is_empty()).then_some((when, what))
}

/// The reminders of a `reminder.list`, as a sentence.
pub fn name_all(result: &Value) -> String {
    let line = |one: &&Value| {
        format!("\"{}\" {} ({})", clip(word(one, "text"), 120), word(one, "said"), word(one, "id"))
    };
    let lines: Vec<String> = by_time(result).iter().map(line).collect();
    match lines.len() {
        0 => "I have nothing to remind you of".to_owned(),
        1 => format!("One reminder: {}", listed(&lines)),
        count => format!("{count} reminders: {}", listed(&lines)),
    }
}

/// The concerns of a `pulse.list`, as a sentence.
pub fn concerns(result: &Value, turn: &Turn) -> String {
    let line = |one: &Value| {
        let shown = |next| day_and_hour(next, turn.now(), &turn.zone());
        let next = word(one, "next").parse().map_or("never".to_owned(), shown);
        format!("\"{}\", next {next} ({})", clip(word(one, "text"), 120), clip(word(one, "id"), 40))
    };
    let lines: Vec<String> = list(result, "concerns").iter().map(line).collect();
    match lines.len() {
        0 => "I have no standing concern; a model makes them, by pulse.add".to_owned(),
        count => format!("Standing concerns, {count}: {}", listed(&lines)),
    }
}

/// Id and text of the reminder, order, goal or task that is meant; an error names the reminders there are.
pub fn meant(which: &str, result: &Value, turn: &Turn) -> Result<(String, String), String> {
    let which = which.to_lowercase();
    let which = which.strip_prefix("the ").or(which.strip_prefix("my ")).unwrap_or(&which);
    if which.split(' ').any(|word| matches!(word, "all" | "every" | "everything")) {
        return Err(format!("I cancel one at a time. {}; say `cancel` and a word of it", name_all(result)));
    }
    let names = |id: &str| id == which || id.strip_prefix("reminder-") == Some(which);
    let known =
        by_time(result).into_iter().map(|one| (word(one, "id"), word(one, "text"), word(one, "said")));
    let fits = |(id, text, said): &(&str, &str, &str)| names(id) || has_all(&format!("{text} {said}"), which);
    let mut found: Vec<(String, String)> =
        known.filter(fits).map(|(id, text, _)| (id.to_owned(), text.to_owned())).collect();
    // An id names one reminder, whatever the texts of others have in them.
    if let Some(named) = found.iter().find(|(id, _)| names(id)).cloned() {
        found = vec![named];
    }
    let stack = turn.moment.stack.iter().map(|line| (line.id.clone(), line.title.clone()));
    let orders = turn.moment.directives.iter().filter_map(|line| {
        let (id, rest) = line.split_once(" \"")?;
        Some((id.to_owned(), rest.split('"').next()?.to_owned()))
    });
    let others = orders.chain(stack).filter(|(_, text)| has_all(text, which));
    if found.is_empty() {
        found = others.collect();
        // What an order has become goes with the order.
        found.dedup_by(|one, other| one.1 == other.1 && other.0.starts_with("directive-"));
    }
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(format!(
            "no reminder, order or goal of mine is meant by \"{}\". {}",
            clip(which, 60),
            name_all(result)
        )),
        many => {
            let line = |(id, text): &(String, String)| format!("\"{}\" ({id})", clip(text, 80));
            let lines = listed(&many.iter().map(line).collect::<Vec<_>>());
            Err(format!("{} are meant by that: {lines}; say `cancel` and its name", many.len()))
        }
    }
}

/// The reminders of a result, the next due first.
fn by_time(result: &Value) -> Vec<&Value> {
    let mut all: Vec<&Value> = list(result, "reminders").iter().collect();
    all.sort_by_key(|one| word(one, "next").parse::<Timestamp>().ok());
    all
}
