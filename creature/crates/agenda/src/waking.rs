//! Waking: for which reasons a wake needs a thought, and how many events that thought is shown. Pure.
//!
//! Invariant: a mind that costs money is asked for a reason that can be named, or not at all.

use jiff::{SignedDuration, Timestamp};

/// Characters one event takes at most in a thought, its list mark and line end included.
const MOST_EVENT: usize = 1_203;

/// Time a draft must lie unedited before it is a reason for a thought.
const DRAFT_WAITS: SignedDuration = SignedDuration::from_secs(300);

/// Findings of a wake that asks whether to think.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// No thought of this life was completed: until one is, nobody knows that it can think.
    pub newborn: bool,
    /// Messages of the owner's that wait for an answer.
    pub words: usize,
    /// Events no thought has had yet.
    pub events: usize,
    pub purpose_changed: bool,
    pub checklist_changed: bool,
    /// Recurring items of the checklist whose time has come.
    pub items_due: Vec<String>,
    /// The first request of the owner's that is ready.
    pub request: Option<String>,
    /// The first other line of the stack that is ready.
    pub line: Option<String>,
    /// A draft of its source that nobody has looked at for a while, in a line.
    pub draft: Option<String>,
    /// The last wake ended before its work did.
    pub unfinished: bool,
    /// The owner paused it.
    pub paused: bool,
    /// The mind cannot be asked before a time that it named.
    pub down: bool,
    /// The creature's own money is spent: only the owner's work can be paid for.
    pub spent: bool,
}

/// Lists the reasons why a thought is worth its price, the weightiest first; empty when it is not.
pub fn reasons(found: &Found) -> Vec<String> {
    let count = |number: usize, one: &str, more: &str| match number {
        0 => None,
        1 => Some(one.to_owned()),
        number => Some(format!("{number} {more}")),
    };
    let so = |is: bool, why: &str| is.then(|| why.to_owned());
    let words = count(found.words, "your owner's word waits", "words of your owner's wait");
    let newborn = so(found.newborn, "the first thought of this life");
    if found.down {
        return words.into_iter().collect();
    }
    let request = found.request.as_ref().map(|request| format!("your owner asked: {request}"));
    if found.spent {
        return words.into_iter().chain(request).collect();
    }
    if found.paused {
        return [words, newborn].into_iter().flatten().collect();
    }
    let due = (!found.items_due.is_empty())
        .then(|| format!("due on the checklist: {}", found.items_due.join("; ")));
    let all = [
        words,
        newborn,
        request,
        count(found.events, "an event waits", "events wait"),
        so(found.purpose_changed, "PURPOSE.md changed"),
        so(found.checklist_changed, "the checklist changed"),
        due,
        found.line.as_ref().map(|line| format!("ready: {line}")),
        found.draft.as_ref().map(|draft| format!("unfinished: {draft}")),
        so(found.unfinished, "the last wake ended before its work did"),
    ];
    all.into_iter().flatten().collect()
}

/// Words for what a wake is for first.
pub const OWNER: &str = "owner";
pub const NEWS: &str = "news";
pub const WORK: &str = "work";
pub const UNFINISHED: &str = "unfinished";
pub const NONE: &str = "none";

/// Decides what a wake with these reasons is for first.
pub fn priority(found: &Found) -> &'static str {
    let news = found.newborn || found.events > 0 || found.purpose_changed || found.checklist_changed;
    match () {
        () if reasons(found).is_empty() => NONE,
        () if found.words > 0 || (found.request.is_some() && !found.newborn) => OWNER,
        () if news || !found.items_due.is_empty() => NEWS,
        () if found.line.is_some() => WORK,
        () => UNFINISHED,
    }
}

/// Returns the time an unfinished draft is looked at again: the longer nobody edits it, the more rarely.
pub fn draft_due(touched: Timestamp, looked: Option<Timestamp>) -> Timestamp {
    let last = looked.map_or(touched, |looked| looked.max(touched));
    let idle = last.duration_since(touched).max(DRAFT_WAITS);
    last.saturating_add(idle).unwrap_or(Timestamp::MAX)
}

/// Counts the events that a thought is shown: the newest that fit into `most` characters. The others wait.
pub fn shown(events: &[String], most: usize) -> usize {
    let mut used = 0;
    let fits = |event: &&String| {
        used += (event.chars().count() + 3).min(MOST_EVENT);
        used <= most
    };
    events.iter().rev().take_while(fits).count()
}

/// The kind of a reason of the creature's own accord, as asks are counted by it: `goal` of `ready: goal-3 …`; none where
/// the owner waits.
pub fn kind(reason: &str) -> Option<&str> {
    let plain = reason.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
    match reason.split_once(": ") {
        _ if reason.starts_with("your owner") || plain.starts_with("words of your owner") => None,
        Some(("ready", line)) => Some(line_kind(line.split(' ').next().unwrap_or_default())),
        Some(("due on the checklist", _)) => Some("checklist"),
        Some(("unfinished", _)) => Some("draft"),
        _ if plain.ends_with("event waits") || plain.ends_with("events wait") => Some(EVENTS),
        _ if reason.contains("checklist") => Some("checklist"),
        _ => Some(reason),
    }
}

/// The kind of a line of the stack, by its id.
pub fn line_kind(id: &str) -> &str {
    id.split_once('-').map_or(id, |(kind, _)| kind)
}

/// The kind of lines of own time, whatever they look at.
pub const OWN: &str = "own";

/// The kind of events.
pub const EVENTS: &str = "events";
