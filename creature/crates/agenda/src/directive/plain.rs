//! Reads the owner's plain words as directives; words that are not certain are left to a model.

use super::{DirectiveChange, Wish, Wished};
use crate::rules::Category;
use crate::spoken;
use crate::text::words;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Words of a text that is read as a directive; a longer one is left to a model.
const MOST_WORDS: usize = 24;

/// Words of a topic.
const MOST_TOPIC: usize = 8;

/// Phrases that may stand before and after an order without changing its meaning.
const BEFORE: &str = "please, bitte, por favor, ok, okay, now, hey, so, from now on, can you, could you, would you, let's, \
    i want you to, i would like you to";
const AFTER: &str = "please, bitte, s'il te plaît, por favor, thanks, thank you, from now on, for now, until further notice, until i say so, now";

/// Words that no topic may have: with one of them a sentence may mean something else than it seems.
const DOUBTFUL: &str = "not, never, no, but, unless, if, when, because, or, i, i'm, you, he, she, they, what, \
    whatever, which, how, why, anymore, instead, until, till, today, tomorrow, tonight, week";

/// Verbs for sending a message.
const TELL: &str =
    "message, write, text, contact, ping, bother, disturb, notify, messaging, writing, texting, bothering";

/// Verbs that a standing order may begin with: acts that bear repeating.
const LOOK: &str =
    "check, look, read, scan, watch, review, search, update, visit, monitor, fetch, see, refresh, post";

/// Whole sentences that order a pause, and those that lift a pause, a quiet and a focus.
const PAUSE: &str = "pause, stop, pause work, pause everything, pause yourself, pause working, pause all work, \
    pause your work, stop all work, stop your work, stop work, stop working, stop everything, take a break, \
    have a break, pause autonomous mode, stop autonomous mode, pause autonomy, stop autonomy, turn off autonomous mode, \
    switch off autonomous mode, disable autonomous mode, quiet, silence, hush, shush, be silent, go to sleep, \
    pausiere, mach pause, mach eine pause, stopp, hör auf, fais une pause, arrête, arrête-toi, haz una pausa, para, detente";
/// Whole sentences that end what is under way; `stop` alone is a pause where nothing is under way for the owner.
const STOP: &str = "stop, /stop, stop it, stop that, stop this, stop now, stop there, stop doing that, stop what you are doing, \
    abort, abort that, abort it, cancel that, cancel it, cancel this, halt, enough, that is enough, \
    stopp, hör auf, arrête, arrête-toi, para, detente";
/// Whole sentences that have memory and conversations summed up.
const COMPACT: &str = "compact, /compact, compact yourself, compact your memory, compact the conversation, compact our talk, \
    take a snapshot, take a snapshot now";
const RESUME: &str = "resume, unpause, continue, go on, carry on, resume work, resume working, \
    resume everything, resume your work, continue work, continue working, continue everything, \
    continue your work, back to work, you can resume, you can continue, you may resume, you may continue, resume autonomous mode, resume autonomy, \
    start autonomous mode, turn on autonomous mode, switch on autonomous mode, enable autonomous mode, wake up, keep going, \
    start again, start working again, start work again, you can go on, you may go on, you can work again, you may work again, \
    you can start again, end the pause, cancel the pause, cancel pause, work again, mach weiter, fahr fort, reprends, \
    tu peux reprendre, tu peux continuer, continúa, continua, sigue, reanuda, puedes seguir";
const WRITE_AGAIN: &str = "message me again, write me again, you can message me again, you can write me again, \
    you may message me again, you may write me again, message me as usual, write me as usual, write to me again, \
    you can write to me again, you may write to me again, start writing to me again, you can write again, you may write again, \
    you can talk again, you may talk again, talk again, talk to me again, you can talk to me again, you may talk to me again, \
    you can speak again, you may speak again, speak again, you can speak, you may speak, stop being quiet, be loud again, \
    you can be loud again, no longer quiet, end quiet, cancel quiet, cancel be quiet, du darfst wieder reden, \
    du kannst wieder reden, tu peux parler, puedes hablar";
/// Whole sentences that order that no messages be sent.
const NO_MESSAGES: &str = "leave me alone, be quiet, no messages, no more messages, shut up, be still, stop talking, stop talking to me, \
    stop bothering me, keep quiet, stay quiet, not a word, no talking, sei still, sei leise, sei ruhig, schweig, tais-toi, \
    cállate, callate, silencio";
const USUAL_ORDER: &str = "no more focus, drop the focus, end the focus, back to your usual order";

/// A directive read from plain words.
#[derive(Clone, Debug, PartialEq)]
pub struct Understood {
    /// The change, to be applied as the owner's (`When::owner`).
    pub change: DirectiveChange,
    /// Time the directive holds, as the owner said it; empty where that was left open.
    pub span: String,
}

/// Word as it was said, and as it is compared.
struct Word<'a> {
    said: &'a str,
    plain: String,
}

/// Understands the common directives; none where the words are anything else or leave a doubt.
pub fn understand(text: &str, now: Timestamp, zone: &TimeZone) -> Option<Understood> {
    let words = sentence_words(text)?;
    // A question is an order only where its second word is `you`, as in "can you …?".
    if text.contains('?') && words.get(1).is_none_or(|second| second.plain != "you") {
        return None;
    }
    let (order, over, span) = spanned(bare(&words), |words| spoken::until(words, now, zone));
    let order = bare(order);
    let set = |wish: Wish| DirectiveChange::Set { wish, text: text.trim().to_owned(), until: over };
    let change = if let Some(topic) = focus(order) {
        set(Wish::Focus { topic: said(topic) })
    } else if let Some((what, every_s)) = every(order) {
        set(Wish::Every { what: said(what), every_s })
    } else if let Some(topic) = quiet(order) {
        set(Wish::Quiet { topic: said(topic) })
    } else if one_of(PAUSE, &plain(order).join(" ")) {
        set(Wish::Pause)
    } else {
        let wished = lift(order).filter(|_| over.is_none())?;
        DirectiveChange::Lift { wished }
    };
    Some(Understood { change, span: said(span) })
}

/// Whether these words say to stop what is under way, and nothing else.
pub fn stops(text: &str) -> bool {
    sentence_words(text).is_some_and(|words| one_of(STOP, &plain(bare(&words)).join(" ")))
}

/// Whether these words say to sum up what is remembered, and nothing else.
pub fn compacts(text: &str) -> bool {
    sentence_words(text).is_some_and(|words| one_of(COMPACT, &plain(bare(&words)).join(" ")))
}

/// Tells the owner in one sentence what was noted.
pub fn reply(understood: &Understood) -> String {
    let span = if understood.span.is_empty() { "until you say otherwise" } else { &understood.span };
    let noted = match &understood.change {
        DirectiveChange::Set { wish, .. } => match wish {
            Wish::Focus { topic } => format!("{topic} goes first, {span}; `drop the focus` ends it"),
            Wish::Every { what, every_s } => format!("\"{what}\" every {}, {span}", spoken::length(*every_s)),
            Wish::Quiet { topic } if topic.is_empty() => {
                format!(
                    "I send you no messages, {span}; I answer when you write, reminders still come, and `resume` ends it"
                )
            }
            Wish::Quiet { topic } => {
                format!(
                    "I message you only about {topic}, {span}; the rest is kept for later, and `message me again` ends it"
                )
            }
            Wish::Pause => {
                format!(
                    "I pause, {span}: no work and no messages of my own; your words still reach me, `resume` ends it"
                )
            }
            Wish::Other => "that".to_owned(),
        },
        DirectiveChange::Lift { wished: Wished::Pause } => {
            "I go on with my work, and may message you".to_owned()
        }
        DirectiveChange::Lift { wished: Wished::Quiet } => {
            "I message you again as usual, and go on with my work".to_owned()
        }
        DirectiveChange::Lift { wished: Wished::Focus } => "my usual order holds again".to_owned(),
        DirectiveChange::End { id } | DirectiveChange::Did { id } => id.clone(),
    };
    format!("Noted: {noted}.")
}

/// The words of one short sentence; none for a longer text, or one with quotes or brackets.
fn sentence_words(text: &str) -> Option<Vec<Word<'_>>> {
    let text = text.trim().trim_end_matches(['.', '!', '?', ' ']).trim_start_matches(['¡', '¿']);
    if text.contains(['\n', '"', '“', '(', '`', ';']) {
        return None;
    }
    let mut words: Vec<Word> = Vec::new();
    for said in text.split_whitespace().map(|said| said.trim_end_matches(',')) {
        let plain = said.to_lowercase().replace('’', "'");
        let parts = match plain.as_str() {
            "don't" | "dont" => "do not",
            "it's" => "it is",
            "something's" => "something is",
            "i'd" => "i would",
            plain => plain,
        };
        let said = std::iter::once(said).chain(std::iter::repeat(""));
        words.extend(
            parts.split_whitespace().zip(said).map(|(plain, said)| Word { said, plain: plain.to_owned() }),
        );
    }
    let ends = |word: &Word| word.plain.ends_with(['.', '!', '?', ':']);
    ((1..=MOST_WORDS).contains(&words.len()) && !words.iter().any(ends)).then_some(words)
}

fn said(words: &[Word]) -> String {
    let said = words.iter().map(|word| word.said).filter(|said| !said.is_empty());
    said.collect::<Vec<_>>().join(" ")
}

fn plain<'a>(words: &'a [Word]) -> Vec<&'a str> {
    words.iter().map(|word| word.plain.as_str()).collect()
}

/// The words without the phrases of `BEFORE` and `AFTER` around them.
fn bare<'a, 'b>(mut words: &'a [Word<'b>]) -> &'a [Word<'b>] {
    loop {
        let all = plain(words).join(" ");
        let leads = |phrase: &&str| all.strip_prefix(*phrase).is_some_and(|rest| rest.starts_with(' '));
        let trails = |phrase: &&str| all.strip_suffix(*phrase).is_some_and(|rest| rest.ends_with(' '));
        let (before, after) = (BEFORE.split(", ").find(leads), AFTER.split(", ").find(trails));
        let count = |phrase: Option<&str>| phrase.map_or(0, |phrase| phrase.split(' ').count());
        words = match (count(before), count(after)) {
            (0, 0) => return words,
            (0, after) => words.get(..words.len() - after).unwrap_or_default(),
            (before, _) => words.get(before..).unwrap_or_default(),
        };
    }
}

/// Splits off the words that say how long, at the end or the beginning: the rest, until when, the words split off.
fn spanned<'a, 'b>(
    words: &'a [Word<'b>],
    until: impl Fn(&[&str]) -> Option<Timestamp>,
) -> (&'a [Word<'b>], Option<Timestamp>, &'a [Word<'b>]) {
    let splits = || (1..words.len()).filter_map(|at| words.split_at_checked(at));
    let last = splits().find_map(|(rest, span)| Some((rest, Some(until(&plain(span))?), span)));
    let first = || splits().rev().find_map(|(span, rest)| Some((rest, Some(until(&plain(span))?), span)));
    last.or_else(first).unwrap_or((words, None, &[]))
}

fn one_of(words: &str, word: &str) -> bool {
    words.split(", ").any(|one| one == word)
}

/// Whether these words can be a topic: 1 to `MOST_TOPIC` of them, none doubtful.
fn certain(topic: &&[Word]) -> bool {
    let doubtful = |word: &Word| one_of(DOUBTFUL, &word.plain);
    (1..=MOST_TOPIC).contains(&topic.len()) && !topic.iter().any(doubtful)
}

/// Verbs that say to bring something to its end.
const FINISH: &str = "finish, complete, do, continue, resume";

/// Words around a topic that do not belong to it, as in "the GitHub goal".
const NO_TOPIC: &str = "the, my, your, our, it, this, that, goal, task, project, work, job, instead, first";

/// The topic of "stop freelancing, finish the GitHub goal": another work is left for this one.
fn instead<'a, 'b>(words: &'a [Word<'b>]) -> Option<&'a [Word<'b>]> {
    let all = plain(words);
    let left = all.iter().position(|word| one_of(FINISH, word))?;
    let (before, [_, topic @ ..]) = words.split_at_checked(left)? else { return None };
    let stops = matches!(plain(before).as_slice(), ["stop" | "leave" | "drop", what, rest @ ..]
        if rest.iter().all(|word| ["and", "then", "now"].contains(word)) && (what.ends_with("ing") || *what == "it"));
    let is_topic = |word: &&Word| !one_of(NO_TOPIC, &word.plain);
    let from = topic.iter().position(|word| is_topic(&word))?;
    let to = topic.iter().rposition(|word| is_topic(&word))?;
    topic.get(from..=to).filter(|topic| stops && certain(topic))
}

fn focus<'a, 'b>(words: &'a [Word<'b>]) -> Option<&'a [Word<'b>]> {
    if let Some(topic) = instead(words) {
        return Some(topic);
    }
    let topic = match plain(words).as_slice() {
        ["focus" | "concentrate", "only", "on", ..] => words.get(3..),
        ["focus" | "concentrate", "on", ..] => words.get(2..),
        ["prioritise" | "prioritize", ..] => words.get(1..),
        ["put", .., "first"] => words.get(1..words.len() - 1),
        _ => None,
    };
    topic.filter(certain)
}

fn every<'a, 'b>(words: &'a [Word<'b>]) -> Option<(&'a [Word<'b>], u64)> {
    let every_s = |often: &[Word]| match plain(often).as_slice() {
        ["every", length @ ..] => spoken::length_s(length),
        ["hourly"] => Some(3_600),
        ["daily"] => Some(86_400),
        _ => None,
    };
    let looks = |what: &[Word]| what.first().is_some_and(|verb| one_of(LOOK, &verb.plain));
    let mut splits = (1..words.len()).filter_map(|at| words.split_at_checked(at));
    splits.find_map(|(one, other)| {
        let (what, often) = if looks(one) { (one, other) } else { (other, one) };
        let fits = looks(what) && what.len() > 1 && certain(&what);
        Some((what, every_s(often).filter(|every_s| fits && *every_s >= super::EVERY_S.0)?))
    })
}

fn quiet<'a, 'b>(words: &'a [Word<'b>]) -> Option<&'a [Word<'b>]> {
    let told = |word: &str| one_of(TELL, word);
    let all = plain(words);
    let (rest, only) = match all.as_slice() {
        ["do", "not", verb, "me", rest @ ..] | ["never" | "stop", verb, "me", rest @ ..] if told(verb) => {
            (rest, false)
        }
        ["only", verb, "me", rest @ ..] | [verb, "me", "only", rest @ ..] if told(verb) => (rest, true),
        all if one_of(NO_MESSAGES, &all.join(" ")) => return Some(&[]),
        _ => return None,
    };
    let topic = match rest {
        [] if !only => return Some(&[]),
        ["unless" | "except", topic @ ..] if !only => topic,
        ["if" | "when", topic @ ..] if only && matches!(topic, ["it" | "something", "is", ..] | [_]) => topic,
        ["for" | "regarding", topic @ ..] | topic @ ["about", ..] if only => topic,
        _ => return None,
    };
    let topic = match topic {
        ["it" | "something", "is", topic @ ..] => topic,
        topic => topic,
    };
    let topic = topic.strip_prefix(&["about"]).unwrap_or(topic);
    words.get(words.len() - topic.len()..).filter(certain)
}

/// The kind of wish that these words take back.
fn lift(words: &[Word]) -> Option<Wished> {
    let said = plain(words).join(" ");
    let lifts = [(RESUME, Wished::Pause), (WRITE_AGAIN, Wished::Quiet), (USUAL_ORDER, Wished::Focus)];
    lifts.into_iter().find(|(phrases, _)| one_of(phrases, &said)).map(|(_, wished)| wished)
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
    for category in words(topic).filter_map(|word| meant(&word)) {
        if !found.contains(&category) {
            found.push(category);
        }
    }
    found
}
