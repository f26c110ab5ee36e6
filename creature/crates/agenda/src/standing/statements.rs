//! The sentences of the owner's that ask for an act; of two that contradict each other the last holds.

use super::Dated;
use crate::text::{among, sentences};
use std::collections::BTreeSet;

/// Statements that are weighed against each other.
const MOST: usize = 40;

/// Statement: a sentence that asks for an act.
pub(super) struct Statement {
    pub at: jiff::Timestamp,
    pub text: String,
    pub resolved: bool,
    /// The older sentence that it contradicts.
    pub replaced: Option<String>,
    subject: Subject,
}

/// Words an order begins with; a sentence that begins otherwise is talk, unless it has one of `WISHES`.
const ORDERS: &str = "add always answer archive ask avoid backup build buy call cancel change check clean close \
    collect compare continue create delete deploy do don't dont draft drop edit email ensure fetch find finish fix \
    focus follow forget get give go ignore improve increase install invest investigate keep learn limit list look \
    mail make measure message monitor move never only open order pause pay plan post prefer prepare prioritise \
    prioritize publish put read refactor remember remind remove rename reply report research resume review rewrite \
    run save schedule search sell send set share ship show sort spend start stay stop summarise summarize switch \
    take talk tell test track translate try turn tweet update upload use wait watch work write";

/// Words that may stand before an order without changing it.
const POLITE: &str = "please ok okay and then also now so hey hi hello feral just well yes no thanks but instead \
    today tomorrow";

const WISHES: &str = "i want, i need, i'd like, i would like, you should, you must, you may not, make sure, let's, \
    from now on, need you to, no longer, has to be, must not";

/// Words that make a sentence forbid.
const AGAINST: &str = "don't dont not never stop no without avoid cancel forget longer quit ignore drop";

/// Words that are no part of a subject.
const IDLE: &str = "a an and are about all any as at be by can could do every for from have i i'd if in is it \
    just like make me more must my need now of on or our please should so sure than that the them then there \
    they this to too today tomorrow up us want we will with would you your one two three four five ten until when only again always each";

const UNITS: &str = "second minute min hour day week month year am pm";

/// Whether a sentence asks for an act: an order, a wish or a request, no question and no small talk.
pub fn actionable(sentence: &str) -> bool {
    let words = bare_words(sentence);
    let said: Vec<&str> = words.iter().map(String::as_str).skip_while(|word| among(POLITE, word)).collect();
    let (first, second) = (said.first().copied().unwrap_or(""), said.get(1).copied().unwrap_or(""));
    if matches!(first, "can" | "could" | "would" | "will") && second == "you" {
        return true;
    }
    if sentence.trim_end().ends_with('?') {
        return false;
    }
    let joined = said.join(" ");
    let wish =
        WISHES.split(", ").any(|wish| joined.starts_with(wish) || joined.contains(&format!(" {wish} ")));
    let is_told = matches!(second, "is" | "was" | "are" | "were" | "has" | "had");
    wish || among(ORDERS, first) && !is_told
}

/// The statements that hold, newest first; `said` is newest first.
pub(super) fn standing(said: &[Dated]) -> Vec<Statement> {
    let mut kept: Vec<Statement> = Vec::new();
    let all = said.iter().flat_map(|dated| {
        let sentences: Vec<&str> = sentences(&dated.text).collect();
        sentences.into_iter().rev().map(move |sentence| (dated, sentence))
    });
    for (dated, sentence) in all.filter(|(_, sentence)| actionable(sentence)).take(MOST) {
        let (subject, text) = (Subject::of(sentence), sentence.to_owned());
        match kept.iter_mut().find(|newer| newer.subject.stands_against(&subject)) {
            // A sentence said again counts once, as fresh as the last time.
            Some(newer) if newer.subject.all == subject.all => {}
            Some(newer) => {
                newer.replaced.get_or_insert(text);
            }
            None => {
                let (at, resolved) = (dated.at, dated.resolved);
                kept.push(Statement { at, text, resolved, replaced: None, subject });
            }
        }
    }
    kept
}

/// Subject of a sentence.
struct Subject {
    /// Whether it forbids.
    against: bool,
    about: BTreeSet<String>,
    all: Vec<String>,
}

impl Subject {
    fn of(sentence: &str) -> Self {
        let all = bare_words(sentence);
        let first = all.iter().map(String::as_str).find(|word| !among(POLITE, word)).unwrap_or_default();
        // Intervals and hours are no part of the subject: "every 10 minutes", "at 10".
        let is_time = |at: usize| {
            let (before, next) = (at.checked_sub(1).and_then(|at| all.get(at)), all.get(at + 1));
            before.is_some_and(|word| word == "at")
                || next.is_some_and(|word| among(UNITS, without_ending(word)))
        };
        let is_about = |(at, word): &(usize, &String)| {
            let is_number = word.starts_with(|c: char| c.is_ascii_digit());
            let is_length = is_number && word.ends_with(char::is_alphabetic);
            let is_idle =
                [IDLE, UNITS].iter().any(|list| among(list, without_ending(word)) || among(list, word));
            let is_when = is_length || (is_number && is_time(*at));
            !(among(AGAINST, word) || is_idle || is_when)
        };
        let about: BTreeSet<String> = all
            .iter()
            .enumerate()
            .filter(is_about)
            .map(|(_, word)| without_ending(word).to_owned())
            .collect();
        let alone = |what: &str| (false, BTreeSet::from([what.to_owned()]));
        let (against, about) = match first {
            // All sentences on focus have one subject, and all on whether work goes on another: the last holds.
            "focus" | "prioritise" | "prioritize" => alone("(focus)"),
            "pause" | "resume" => alone("(work)"),
            "stop" | "continue" | "go" if about.len() < 2 => alone("(work)"),
            _ => (all.iter().any(|word| among(AGAINST, word)), about),
        };
        Self { against, about, all }
    }

    fn stands_against(&self, older: &Subject) -> bool {
        if self.about.is_empty() || self.against == older.against {
            return self.all == older.all || self.about == older.about && !self.about.is_empty();
        }
        let shared = self.about.intersection(&older.about).count();
        shared > 0 && shared * 2 >= self.about.len().min(older.about.len())
    }
}

/// Words in lower case, without any mark but an apostrophe.
fn bare_words(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace('’', "'");
    let parts = text.split(|letter: char| !letter.is_alphanumeric() && letter != '\'');
    parts.map(|word| word.trim_matches('\'').to_owned()).filter(|word| !word.is_empty()).collect()
}

/// Cuts the ending: `posts` and `posting` count as `post`.
fn without_ending(word: &str) -> &str {
    let stems = ["ing", "s"].iter().find_map(|end| word.strip_suffix(end));
    stems.filter(|stem| stem.len() > 2).unwrap_or(word)
}
