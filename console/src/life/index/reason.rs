//! Classes of wakes, told from the reasons that the creature's records name. Pure.

use super::rows::by_place;

by_place! {
    /// Purpose of a wake; colours its bar.
    Class {
        Owner,
        Own,
        Clock,
        Event,
        /// Its own draft, its own edit.
        Itself,
        Other,
    }
}

impl Class {
    /// The class of what is drawn.
    pub fn name(self) -> &'static str {
        match self {
            Class::Owner => "why-owner",
            Class::Own => "why-own",
            Class::Clock => "why-clock",
            Class::Event => "why-event",
            Class::Itself => "why-self",
            Class::Other => "why-other",
        }
    }

    /// Names the purpose in words.
    pub fn told(self) -> &'static str {
        match self {
            Class::Owner => "for your message",
            Class::Own => "on its own",
            Class::Clock => "by the clock",
            Class::Event => "for an event",
            Class::Itself => "for its own edit",
            Class::Other => "for a reason not told",
        }
    }
}

/// Beginnings of the reasons that the creature names (`creature/crates/agenda/src/waking.rs`), by class; the first that
/// fits counts. A line of its agenda is told by its id.
const BEGINNINGS: [(Class, &[&str]); 6] = [
    (Class::Owner, &["your owner's word", "a word of the owner's", "your owner asked", "ready: request-"]),
    (Class::Event, &["an event wait", "PURPOSE.md changed", "the checklist changed", "ready: knowledge"]),
    (Class::Clock, &["due on the checklist", "ready: task-", "ready: directive-", "ready: reminder-"]),
    (Class::Clock, &["ready: item-", "ready: presence-"]),
    (Class::Itself, &["unfinished: ", "a draft"]),
    (Class::Own, &["ready: ", "the last wake ended before", "instinct looks around"]),
];

/// Returns a wake's class: that of its first known reason, for the creature names the weightiest first.
pub fn class<'a>(reasons: impl IntoIterator<Item = &'a str>) -> Class {
    let classes = reasons.into_iter().map(of);
    classes.fold(Class::Other, |found, next| if found == Class::Other { next } else { found })
}

fn of(reason: &str) -> Class {
    // `3 events wait`, `2 words of your owner's wait`.
    let counted = reason.split_once(' ').filter(|(count, _)| count.bytes().all(|byte| byte.is_ascii_digit()));
    match counted.map(|(_, what)| what) {
        Some("events wait") => return Class::Event,
        Some("words of your owner's wait") => return Class::Owner,
        _ => {}
    }
    let fits = |beginnings: &[&str]| beginnings.iter().any(|beginning| reason.starts_with(beginning));
    BEGINNINGS.iter().find(|(_, beginnings)| fits(beginnings)).map_or(Class::Other, |(class, _)| *class)
}
