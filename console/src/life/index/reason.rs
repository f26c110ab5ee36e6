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

/// Beginnings of the reasons that the creature names (`creature/crates/agenda/src/waking.rs`), each with its class. A
/// line of its agenda is told by its id.
const BEGINNINGS: [(&str, Class); 20] = [
    ("your owner's word", Class::Owner),
    ("a word of the owner's", Class::Owner),
    ("your owner asked", Class::Owner),
    ("an event wait", Class::Event),
    ("PURPOSE.md changed", Class::Event),
    ("the checklist changed", Class::Event),
    ("ready: knowledge", Class::Event),
    ("due on the checklist", Class::Clock),
    ("ready: task-", Class::Clock),
    ("ready: directive-", Class::Clock),
    ("ready: reminder-", Class::Clock),
    ("ready: item-", Class::Clock),
    ("ready: presence-", Class::Clock),
    ("ready: request-", Class::Owner),
    ("ready: ", Class::Own),
    ("unfinished: ", Class::Itself),
    ("a draft", Class::Itself),
    ("the last wake ended before", Class::Own),
    ("instinct looks around", Class::Own),
    ("the first thought of this life", Class::Other),
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
    let known = BEGINNINGS.iter().find(|(beginning, _)| reason.starts_with(beginning));
    known.map_or(Class::Other, |(_, class)| *class)
}
