//! Recognises the owner's questions of what it did, what failed and what that cost, and over which span. Pure.
//!
//! Words left over beside question and span make it no such question: a mind that reads would make more of it.

use agenda::span::{self, Span};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// What such a question begins with, once polite words are off.
const QUESTIONS: [&str; 33] = [
    "what did you do",
    "what did you get done",
    "what did you spend",
    "what did you cost",
    "what did it cost",
    "what did it all cost",
    "what did that cost",
    "what did all that cost",
    "what did this cost",
    "what did i pay",
    "what have you done",
    "what have you been doing",
    "what have you been up to",
    "what have you spent",
    "what have you cost",
    "what were you doing",
    "what were you up to",
    "what has it cost",
    "what has failed",
    "what happened",
    "what failed",
    "what went wrong",
    "what was done",
    "what got done",
    "how much did you spend",
    "how much did you cost",
    "how much did it cost",
    "how much did that cost",
    "how much have you spent",
    "how much has it cost",
    "did anything fail",
    "did anything go wrong",
    "has anything failed",
];

/// Words before a question that ask nothing themselves.
const POLITE: [&str; 16] = [
    "good morning",
    "can you tell me",
    "could you tell me",
    "please tell me",
    "tell me",
    "i wonder",
    "hello",
    "hey",
    "hi",
    "feral",
    "please",
    "also",
    "and",
    "so",
    "well",
    "then",
];

/// Words within a question that say nothing of the span.
const FILLERS: [&str; 7] = ["so far", "exactly", "in total", "altogether", "in all", "please", "feral"];

/// The span where the question names none.
const USUAL: &str = "last 24 hours";

/// A time at the end of 2199: every span that may be named lies before it.
const ANY_TIME: Timestamp = Timestamp::constant(7_258_075_200, 0);

/// The words for the span that is asked about. Whether there are any does not depend on what time it is now.
pub fn span_asked(text: &str) -> Option<String> {
    asked(text, ANY_TIME, &TimeZone::UTC).map(|span| span.said)
}

/// The span that is asked about; none where these words are no such question, or more than one.
pub fn asked(text: &str, now: Timestamp, zone: &TimeZone) -> Option<Span> {
    let mut rest = plain(text);
    let mut when = String::new();
    let mut questions = 0;
    loop {
        while let Some(asked) = POLITE.iter().find_map(|polite| after(&rest, polite)) {
            rest = asked;
        }
        let (before, question) = first_question(&rest)?;
        questions += 1;
        let end = next_clause(&question);
        let (clause, others) = question.split_at(end);
        for said in [before.as_str(), clause] {
            let said = FILLERS.iter().fold(said.trim().to_owned(), |said, filler| without(&said, filler));
            match (said.is_empty(), when.is_empty()) {
                (true, _) => {}
                (false, true) => when = said,
                // Two spans in one question are more than one sum.
                (false, false) => return None,
            }
        }
        rest = others.trim().to_owned();
        if rest.is_empty() {
            break;
        }
    }
    let said = if when.is_empty() { USUAL } else { when.as_str() };
    (questions > 0).then(|| span::read(said, now, zone)).flatten()
}

/// Lower-case words, single spaces, no marks but those of times.
fn plain(text: &str) -> String {
    let kept = |letter: char| letter.is_alphanumeric() || matches!(letter, ':' | '-' | '+' | '\'');
    let text: String = text.to_lowercase().chars().map(|l| if kept(l) { l } else { ' ' }).collect();
    // A colon within a word is a time's.
    let words = text.split_whitespace().map(|word| word.trim_matches(|l: char| !l.is_alphanumeric()));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The text after `words`, where it begins with them as whole words.
fn after(text: &str, words: &str) -> Option<String> {
    let rest = text.strip_prefix(words)?;
    (rest.is_empty() || rest.starts_with(' ')).then(|| rest.trim_start().to_owned())
}

fn without(text: &str, words: &str) -> String {
    format!(" {text} ").replace(&format!(" {words} "), " ").trim().to_owned()
}

/// What stands before the first question there is, and what follows its words.
fn first_question(text: &str) -> Option<(String, String)> {
    let starts = std::iter::once(0).chain(text.match_indices(' ').map(|(at, _)| at + 1));
    let found = |at: usize| {
        let (before, from) = text.split_at_checked(at)?;
        QUESTIONS.iter().find_map(|question| Some((before.trim().to_owned(), after(from, question)?)))
    };
    starts.into_iter().find_map(found)
}

/// Where the next clause begins: at an `and` behind which another question stands.
fn next_clause(text: &str) -> usize {
    let begins = |at: &usize| {
        let rest = text.get(at + 5..).unwrap_or_default();
        QUESTIONS.iter().any(|question| after(rest, question).is_some())
    };
    let ands = format!("{text} ");
    let found = ands.match_indices(" and ").map(|(at, _)| at).find(begins);
    // The clause before may be empty, its space gone.
    match (found, after(text, "and")) {
        (_, Some(rest)) if QUESTIONS.iter().any(|question| after(&rest, question).is_some()) => 0,
        (Some(at), _) => at,
        (None, _) => text.len(),
    }
}
