//! The owner's plain words as directives; what is not certain is left to a mind that reads.

use super::{DirectiveChange, Wish, Wished};
use crate::outbox::Kind;
use crate::spoken;
use crate::stack::Category;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Words a directive may have; longer talk is for a mind that reads.
const MOST_WORDS: usize = 24;

/// Words of a topic.
const MOST_TOPIC: usize = 8;

/// What may stand before and after without changing the meaning.
const BEFORE: [&str; 14] = [
    "please",
    "ok",
    "okay",
    "now",
    "hey",
    "so",
    "from now on",
    "can you",
    "could you",
    "would you",
    "let's",
    "i want you to",
    "i would like you to",
    "i'd like you to",
];
const AFTER: [&str; 8] = [
    "please",
    "thanks",
    "thank you",
    "from now on",
    "for now",
    "until further notice",
    "until i say so",
    "now",
];

/// What makes a sentence mean something else than it seems.
const DOUBTFUL: [&str; 30] = [
    "not", "don't", "dont", "never", "no", "but", "unless", "if", "when", "because", "or", "i", "i'm", "you",
    "he", "she", "they", "what", "whatever", "which", "how", "why", "anymore", "instead", "until", "till",
    "today", "tomorrow", "tonight", "week",
];

const TELL: [&str; 12] = [
    "message",
    "write",
    "text",
    "contact",
    "ping",
    "bother",
    "disturb",
    "notify",
    "messaging",
    "writing",
    "texting",
    "bothering",
];

/// What a standing order may begin with: things that bear repeating.
const LOOK: [&str; 14] = [
    "check", "look", "read", "scan", "watch", "review", "search", "update", "visit", "monitor", "fetch",
    "see", "refresh", "post",
];

/// A directive read from plain words.
#[derive(Clone, Debug, PartialEq)]
pub struct Understood {
    /// To be made as the owner's.
    pub change: DirectiveChange,
    /// How long it holds, as the owner said it; empty where that was left open.
    pub span: String,
}

/// One word as it was said, and as it is compared.
struct Word<'a> {
    said: &'a str,
    plain: String,
}

/// Understands the common directives; none where the words are anything else or leave a doubt.
pub fn understand(text: &str, now: Timestamp, zone: &TimeZone) -> Option<Understood> {
    let words = words(text)?;
    let all: Vec<&str> = words.iter().map(|word| word.plain.as_str()).collect();
    let (from, to) = trimmed(&all);
    if text.contains('?') && !all.get(1).is_some_and(|second| *second == "you") {
        return None;
    }
    let (from, to, span) = spanned(&all, from, to, |words| spoken::until(words, now, zone));
    let (from, to) = span.as_ref().map_or((from, to), |_| {
        let (before, after) = trimmed(all.get(from..to).unwrap_or_default());
        (from + before, from + after)
    });
    let until = span.as_ref().map(|(until, _)| *until);
    let said = |range: std::ops::Range<usize>| -> String {
        let words = words.get(range).unwrap_or_default();
        words.iter().map(|word| word.said).collect::<Vec<_>>().join(" ")
    };
    let plain = all.get(from..to)?;
    let set = |wish: Wish| DirectiveChange::Set { wish, text: text.trim().to_owned(), until };
    let change = if let Some(at) = focus(plain) {
        set(Wish::Focus { topic: said(from + at.start..from + at.end) })
    } else if let Some((at, every_s)) = every(plain) {
        set(Wish::Every { what: said(from + at.start..from + at.end), every_s })
    } else if let Some(at) = quiet(plain) {
        set(Wish::Quiet { topic: said(from + at.start..from + at.end) })
    } else if pause(plain) {
        set(Wish::Pause)
    } else {
        let wished = lift(plain).filter(|_| until.is_none())?;
        DirectiveChange::Lift { wished }
    };
    Some(Understood { change, span: span.map_or(String::new(), |(_, at)| said(at)) })
}

/// One plain sentence of what was noted.
pub fn reply(understood: &Understood) -> String {
    let span = match understood.span.as_str() {
        "" => "until you say otherwise",
        span => span,
    };
    match &understood.change {
        DirectiveChange::Set { wish, .. } => match wish {
            Wish::Focus { topic } => format!("Noted: {topic} goes first, {span}."),
            Wish::Every { what, every_s } => format!("Noted: \"{what}\" every {}, {span}.", length(*every_s)),
            Wish::Quiet { topic } if topic.is_empty() => {
                format!("Noted: I send you no messages, {span}; I answer when you write.")
            }
            Wish::Quiet { topic } => {
                format!("Noted: I message you only about {topic}, {span}; the rest is kept for later.")
            }
            Wish::Pause => format!("Noted: I pause, {span}; your words still reach me."),
            Wish::Other => "Noted.".to_owned(),
        },
        DirectiveChange::Lift { wished: Wished::Pause } => "Noted: I go on with my work.".to_owned(),
        DirectiveChange::Lift { wished: Wished::Quiet } => "Noted: I message you again as usual.".to_owned(),
        DirectiveChange::Lift { wished: Wished::Focus } => "Noted: my usual order holds again.".to_owned(),
        DirectiveChange::End { id } | DirectiveChange::Did { id } => format!("Noted: {id}."),
    }
}

fn length(seconds: u64) -> String {
    match seconds {
        s if s % 86_400 == 0 => format!("{} d", s / 86_400),
        s if s % 3_600 == 0 => format!("{} h", s / 3_600),
        s => format!("{} min", s / 60),
    }
}

/// One short sentence as words; none where it is more than that.
fn words(text: &str) -> Option<Vec<Word<'_>>> {
    let text = text.trim().trim_end_matches(['.', '!', '?']);
    if text.contains(['\n', '"', '“', '(', '`', ';']) {
        return None;
    }
    let words: Vec<Word> = text
        .split_whitespace()
        .map(|said| said.trim_end_matches(','))
        .filter(|said| !said.is_empty())
        .map(|said| Word { said, plain: said.to_lowercase().replace('’', "'") })
        .collect();
    let ends = |word: &Word| word.plain.ends_with(['.', '!', '?', ':']);
    ((1..=MOST_WORDS).contains(&words.len()) && !words.iter().any(ends)).then_some(words)
}

/// The range of words that is left without courtesies.
fn trimmed(words: &[&str]) -> (usize, usize) {
    let (mut from, mut to) = (0, words.len());
    let begins = |phrase: &&str, from: usize, to: usize| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        words.get(from..to).is_some_and(|rest| rest.len() > phrase.len() && rest.starts_with(&phrase))
    };
    while let Some(phrase) = BEFORE.iter().find(|phrase| begins(phrase, from, to)) {
        from += phrase.split(' ').count();
    }
    let ends = |phrase: &&str, to: usize| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        words.get(from..to).is_some_and(|rest| rest.len() > phrase.len() && rest.ends_with(&phrase))
    };
    while let Some(phrase) = AFTER.iter().find(|phrase| ends(phrase, to)) {
        to -= phrase.split(' ').count();
    }
    (from, to)
}

type Span = (Timestamp, std::ops::Range<usize>);

/// Takes the words that say how long from the end or the beginning; what is left, and the words taken.
fn spanned(
    words: &[&str],
    from: usize,
    to: usize,
    read: impl Fn(&[&str]) -> Option<Timestamp>,
) -> (usize, usize, Option<Span>) {
    let part = |from: usize, to: usize| words.get(from..to).unwrap_or_default();
    for at in from + 1..to {
        if let Some(until) = read(part(at, to)) {
            return (from, at, Some((until, at..to)));
        }
    }
    for at in (from + 1..to).rev() {
        if let Some(until) = read(part(from, at)) {
            return (at, to, Some((until, from..at)));
        }
    }
    (from, to, None)
}

type Range = std::ops::Range<usize>;

fn certain(topic: &[&str]) -> bool {
    (1..=MOST_TOPIC).contains(&topic.len()) && !topic.iter().any(|word| DOUBTFUL.contains(word))
}

fn focus(words: &[&str]) -> Option<Range> {
    let (from, to) = match words {
        ["focus" | "concentrate", "only", "on", ..] => (3, words.len()),
        ["focus" | "concentrate", "on", ..] => (2, words.len()),
        ["prioritise" | "prioritize", ..] => (1, words.len()),
        ["put", .., "first"] => (1, words.len() - 1),
        _ => return None,
    };
    words.get(from..to).filter(|topic| certain(topic)).map(|_| from..to)
}

fn every(words: &[&str]) -> Option<(Range, u64)> {
    let at = words.iter().position(|word| matches!(*word, "every" | "hourly" | "daily"))?;
    let every_s = |rest: &[&str]| match rest {
        ["every", length @ ..] => spoken::length_s(length),
        ["hourly"] => Some(3_600),
        ["daily"] => Some(86_400),
        _ => None,
    };
    let (what, every_s) = match at {
        0 => {
            let from =
                (1..words.len().min(4)).find(|at| words.get(*at).is_some_and(|word| LOOK.contains(word)))?;
            (from..words.len(), every_s(words.get(..from)?)?)
        }
        at => (0..at, every_s(words.get(at..)?)?),
    };
    let says = words.get(what.clone())?;
    let fits = says.len() > 1 && certain(says) && says.first().is_some_and(|verb| LOOK.contains(verb));
    (fits && every_s >= super::EVERY_S.0).then_some((what, every_s))
}

fn quiet(words: &[&str]) -> Option<Range> {
    let told = |word: &str| TELL.contains(&word);
    let (at, only) = match words {
        ["don't" | "dont" | "never" | "stop", verb, "me", ..] if told(verb) => (3, false),
        ["do", "not", verb, "me", ..] if told(verb) => (4, false),
        ["only", verb, "me", ..] if told(verb) => (3, true),
        [verb, "me", "only", ..] if told(verb) => (3, true),
        ["leave", "me", "alone"] | ["be", "quiet"] => (words.len(), false),
        _ => return None,
    };
    let rest = words.get(at..)?;
    let skipped = match rest {
        [] if !only => return Some(0..0),
        ["unless" | "except", "it's" | "its", "about", ..] if !only => 3,
        ["unless" | "except", "it", "is", "about", ..] if !only => 4,
        ["unless" | "except", "it's" | "its" | "about" | "something's", ..] if !only => 2,
        ["unless" | "except", "it" | "something", "is", ..] if !only => 3,
        ["when" | "if", "it's" | "its", "about", ..] if only => 3,
        ["when" | "if", "it", "is", "about", ..] if only => 4,
        ["when" | "if", "it's" | "its" | "something's", ..] if only => 2,
        ["when" | "if", "it" | "something", "is", ..] if only => 3,
        ["about" | "for" | "regarding", ..] if only => 1,
        _ => return None,
    };
    rest.get(skipped..).filter(|topic| certain(topic)).map(|_| at + skipped..words.len())
}

fn pause(words: &[&str]) -> bool {
    matches!(
        words,
        ["pause" | "stop"]
            | ["pause", "work" | "everything" | "yourself" | "working"]
            | ["pause" | "stop", "all" | "your", "work"]
            | ["stop", "work" | "working" | "everything"]
            | ["take" | "have", "a", "break"]
    )
}

fn lift(words: &[&str]) -> Option<Wished> {
    match words {
        ["resume" | "unpause" | "continue"]
        | ["go" | "carry", "on"]
        | ["resume" | "continue", "work" | "working" | "everything"]
        | ["resume" | "continue", "your", "work"]
        | ["back", "to", "work"]
        | ["you", "can" | "may", "resume" | "continue"] => Some(Wished::Pause),
        ["message" | "write", "me", "again"]
        | ["you", "can" | "may", "message" | "write", "me", "again"]
        | ["message" | "write", "me", "as", "usual"] => Some(Wished::Quiet),
        ["no", "more", "focus"]
        | ["drop" | "end", "the", "focus"]
        | ["back", "to", "your", "usual", "order"] => Some(Wished::Focus),
        _ => None,
    }
}

/// The categories of the stack a topic means.
pub fn categories(topic: &str) -> Vec<Category> {
    let meant = |word: &str| match word {
        "revenue" | "money" | "income" | "earning" | "earnings" | "sales" | "opportunities" => {
            Some(Category::Opportunities)
        }
        "goals" | "checkpoints" => Some(Category::Goals),
        "tasks" | "chores" => Some(Category::Tasks),
        "gaps" | "capabilities" | "skills" => Some(Category::Gaps),
        "presence" | "posting" | "posts" => Some(Category::Presence),
        "knowledge" | "notes" => Some(Category::Knowledge),
        "scanning" | "feeds" | "news" => Some(Category::Scanning),
        _ => None,
    };
    let mut found = Vec::new();
    for category in split(topic).iter().filter_map(|word| meant(word)) {
        if !found.contains(&category) {
            found.push(category);
        }
    }
    found
}

/// Whether a message is about the topic: by its kind, or because it says so.
pub fn concerns(topic: &str, kind: Kind, text: &str) -> bool {
    let says = split(text);
    split(topic).iter().any(|word| match word.as_str() {
        "money" | "revenue" | "income" | "earnings" | "sales" | "payments" => {
            matches!(kind, Kind::Revenue | Kind::Approval)
        }
        "approval" | "approvals" | "decisions" => kind == Kind::Approval,
        "broken" | "wrong" | "breakage" | "problems" | "errors" | "failures" => kind == Kind::Broken,
        "urgent" | "important" | "emergencies" | "emergency" => matches!(kind, Kind::Broken | Kind::Approval),
        "milestones" | "progress" | "goals" => kind == Kind::Milestone,
        "summary" | "summaries" => kind == Kind::WeeklySummary,
        // Short words stand in every sentence.
        word => word.chars().count() > 3 && says.iter().any(|said| said == word),
    })
}

fn split(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
