//! The owner's words and what became of each: heard, put to a mind, answered, and answered once. Pure.

use crate::decide::conduct::Invariant;
use house::clock::Millis;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};

/// Words that are watched at once; more are a flood, of which the creature passes some over.
const MOST_WATCHED: usize = 32;
/// Threads whose last answer is kept.
const MOST_THREADS: usize = 256;
/// Characters of a thread's name, as the creature keeps it.
const MOST_THREAD: usize = 64;
/// Time a word may lie unheard beside a life that rests, beside one that works, and while a model or a command is
/// waited for.
const HEARD_AT_REST_MS: Millis = 30_000;
const HEARD_MS: Millis = 15 * 60_000;
const HEARD_AT_WORK_MS: Millis = 60 * 60_000;
/// Time from a word that was heard to the first call out for it, or an answer.
const PROMPT_MS: Millis = 90_000;
/// Time after a word was heard for which nobody may miss the answer.
const ANSWERED_MS: Millis = 15_000;

/// A word of the owner's.
#[derive(Debug)]
struct Word {
    text: String,
    thread: String,
    since: Millis,
    heard: Option<Heard>,
}

#[derive(Clone, Copy, Debug)]
struct Heard {
    at: Millis,
    /// Finished turns and rests until then.
    turns: u64,
    rests: u64,
    /// Whether something came of it already: a call out, or an answer.
    is_taken_up: bool,
}

/// The last answer on a thread.
#[derive(Debug, Default)]
struct Last {
    text: String,
    /// Words heard there that no answer was counted for.
    words: u32,
}

/// The creature's standing at a look.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    pub now: Millis,
    pub turns: u64,
    pub rests: u64,
    /// Whether it rests, and did so long enough for its files to be whole.
    pub is_settled: bool,
    /// Whether a call out or a command is under way.
    pub is_at_work: bool,
}

/// An invariant, whether it was kept, and the evidence.
pub type Seen = (Invariant, bool, String);

/// The words of one life.
#[derive(Debug, Default)]
pub struct Words {
    waiting: VecDeque<Word>,
    /// Last answer on each thread.
    last: HashMap<String, Last>,
}

impl Words {
    /// Takes in a line that the owner, or the owner's program, put into the inbox; reads it as the creature does.
    pub fn said(&mut self, line: &[u8], now: Millis) {
        let Ok(line) = std::str::from_utf8(line.trim_ascii()) else { return };
        let (text, thread) = match serde_json::from_str(line) {
            Ok(Value::Object(fields)) => {
                let field =
                    |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
                (field("text"), field("thread"))
            }
            Ok(Value::String(text)) => (text, String::new()),
            _ => (line.to_owned(), String::new()),
        };
        let is_odd = |letter: char| letter.is_control() && !"\n\r\t".contains(letter);
        if text.trim().is_empty() || text.chars().any(is_odd) {
            return;
        }
        if self.waiting.len() >= MOST_WATCHED {
            self.waiting.clear();
        }
        let text = text.trim().to_owned();
        self.waiting.push_back(Word { text, thread: named(&thread), since: now, heard: None });
    }

    /// Forgets all words: records meanwhile were not seen.
    pub fn forget(&mut self) {
        self.waiting.clear();
        self.last.clear();
    }

    /// Counts all waiting from now, since the machine stood still.
    pub fn stood_still(&mut self, now: Millis) {
        for word in &mut self.waiting {
            word.since = now;
            word.heard.iter_mut().for_each(|heard| heard.at = now);
        }
    }

    /// Takes in a record of a word of the owner's.
    pub fn heard(&mut self, text: &str, thread: &str, at: Standing) -> Option<Seen> {
        let thread = named(thread);
        let last = self.last_on(&thread);
        last.words = last.words.saturating_add(1);
        let unheard = |word: &&mut Word| word.heard.is_none();
        let is_it = |word: &&mut Word| word.heard.is_none() && is_same(&word.text, text.trim());
        // A secret in it was hidden: then it is the oldest of its thread.
        let word = match self.waiting.iter_mut().find(is_it) {
            None => self.waiting.iter_mut().filter(unheard).find(|word| word.thread == thread),
            found => found,
        }?;
        word.heard = Some(Heard { at: at.now, turns: at.turns, rests: at.rests, is_taken_up: false });
        Some((Invariant::Heard, true, String::new()))
    }

    /// Something went out in this life's name.
    pub fn called_out(&mut self) -> Vec<Seen> {
        let heard = self.waiting.iter_mut().filter_map(|word| word.heard.as_mut());
        let first = heard.filter(|heard| !heard.is_taken_up);
        first
            .map(|heard| heard.is_taken_up = true)
            .map(|()| (Invariant::Prompt, true, String::new()))
            .collect()
    }

    /// Reads a message told to the owner; `goes_on`: it says that work goes on, which may be told more than once.
    pub fn told(&mut self, kind: &str, thread: &str, text: &str, goes_on: bool) -> Vec<Seen> {
        let thread = named(thread);
        let mut seen = Vec::new();
        let waiting = self.waiting.len();
        let mut most = words_answered(kind);
        // Words that were not heard yet wait on.
        self.waiting.retain(|word| {
            let is_answered = word.thread == thread && word.heard.is_some() && most > 0;
            most -= usize::from(is_answered);
            if is_answered && word.heard.is_some_and(|heard| !heard.is_taken_up) {
                seen.push((Invariant::Prompt, true, String::new()));
            }
            !is_answered
        });
        let is_answer = self.waiting.len() < waiting;
        // That a mind is away is no answer, and no silence.
        if kind == "waiting" {
            return seen;
        }
        let is_empty = !has_words(text);
        if is_empty || is_answer {
            let told = format!("an empty {kind} on thread {thread}: {text:?}");
            seen.push((Invariant::Answered, !is_empty, told));
        }
        if kind == "answer" && !goes_on {
            let last = self.last_on(&thread);
            // Two words may have the same answer, each its own.
            let is_once = last.words > 0 || last.text != text;
            last.words = last.words.saturating_sub(1);
            text.clone_into(&mut last.text);
            seen.push((Invariant::Once, is_once, format!("said again: {text}")));
        }
        seen
    }

    fn last_on(&mut self, thread: &str) -> &mut Last {
        if self.last.len() >= MOST_THREADS && !self.last.contains_key(thread) {
            self.last.clear();
        }
        self.last.entry(thread.to_owned()).or_default()
    }

    /// Returns a broken invariant for each word that has waited too long.
    pub fn look(&mut self, at: Standing) -> Vec<Seen> {
        let mut seen = Vec::new();
        let most = match (at.is_settled, at.is_at_work) {
            (true, _) => HEARD_AT_REST_MS,
            (false, false) => HEARD_MS,
            (false, true) => HEARD_AT_WORK_MS,
        };
        for mut word in std::mem::take(&mut self.waiting) {
            let Some(heard) = &mut word.heard else {
                match at.now >= word.since + most {
                    true => seen.push((Invariant::Heard, false, format!("not heard: {}", word.text))),
                    false => self.waiting.push_back(word),
                }
                continue;
            };
            // A thought or a command that is under way is ended first.
            if at.is_at_work && !heard.is_taken_up {
                heard.at = at.now;
            }
            if !heard.is_taken_up && at.now >= heard.at + PROMPT_MS {
                heard.is_taken_up = true;
                let told = format!("nothing came of it for {} s: {}", PROMPT_MS / 1_000, word.text);
                seen.push((Invariant::Prompt, false, told));
            }
            // It may be heard at the very end of a turn: the next is the one that ought to answer.
            let had_turns = at.rests >= heard.rests + 2 || at.turns >= heard.turns + 3;
            let had_time = at.now >= heard.at + ANSWERED_MS;
            match at.is_settled && had_turns && had_time {
                true => seen.push((Invariant::Answered, false, format!("no answer to: {}", word.text))),
                false => self.waiting.push_back(word),
            }
        }
        seen
    }
}

/// Waiting words that a message of this kind answers: the report of a sub-session the word that it was begun for, a word
/// about something else none.
fn words_answered(kind: &str) -> usize {
    match kind {
        "reminder" | "asked_for" | "money" | "stuck" => 0,
        "sub-sessions" => 1,
        _ => usize::MAX,
    }
}

/// A thread's name as the creature keeps it.
fn named(thread: &str) -> String {
    let plain = |letter: &char| letter.is_alphanumeric() || "-_.".contains(*letter);
    let thread: String = thread.chars().filter(plain).take(MOST_THREAD).collect();
    if thread.is_empty() { "main".to_owned() } else { thread }
}

/// Whether a record has the owner's word, which may have been cut.
fn is_same(word: &str, record: &str) -> bool {
    let beginning = |text: &str| text.chars().take(40).collect::<String>();
    word == record || beginning(word) == beginning(record)
}

/// Whether a text says anything: it has a letter, a digit or a sign beyond ASCII.
pub fn has_words(text: &str) -> bool {
    text.chars().any(|letter| letter.is_alphanumeric() || !letter.is_ascii())
}
