//! Folds a life's files and the ledger into observations: an invariant was kept, or broken. Pure.
//!
//! Invariant: what cannot be told is not observed. A life that was cut short, a mind that is away, a pause, a machine that
//! stood still and a file that was replaced say nothing.

mod accounts;
mod done;
mod reminders;
mod sessions;
mod words;

use crate::decide::conduct::Invariant;
use accounts::Accounts;
use done::Done;
use house::clock::Millis;
use reminders::{Look, Reminders};
use serde_json::Value;
use sessions::Sessions;
use std::collections::{BTreeSet, VecDeque};
use words::{Seen, Standing, Words};

/// Thoughts that are watched at once; older ones are given up.
const MOST_WATCHED: usize = 64;
/// Calls out that may be under way.
const MOST_OPEN: usize = 256;
/// Broken ones that are kept as evidence, and characters of each.
const MOST_EXAMPLES: usize = 6;
const EXAMPLE_CHARS: usize = 200;
/// A rest says that a turn is over only once it has lasted so long: files are written in turn, and looked at in turn.
const AT_REST_MS: Millis = 500;
/// The longest rest that a thought may choose.
const LONGEST_CHOSEN_S: u64 = 86_400;
/// Time without a look in which the machine, or the guardian, stood still.
const STILL_MS: Millis = 30_000;
/// Time by which a claimed rest may exceed the longest: the claim is written before the rest begins.
const CLAIMED_MS: Millis = 120_000;

/// A thought whose calls are not all seen to have ended.
#[derive(Debug)]
struct Thought {
    number: u64,
    calls: usize,
    results: usize,
}

/// The creature's claims about itself just now.
#[derive(Clone, Copy, Debug, Default)]
pub struct Claimed {
    pub rests: bool,
    /// Whether it runs a tool.
    pub acts: bool,
    /// Whether it says that its mind is away.
    pub is_away: bool,
    pub turns: u64,
    /// Length of the rest it claims, in milliseconds.
    pub rest_ms: Millis,
}

/// The owner's longest rests, in milliseconds: the usual, and the one there is a reason for (no mind, little money).
#[derive(Clone, Copy, Debug)]
pub struct Longest {
    pub usual_ms: Millis,
    pub any_ms: Millis,
}

/// Evidence of one life's conduct.
#[derive(Debug, Default)]
pub struct Witness {
    life: u64,
    thoughts: VecDeque<Thought>,
    words: Words,
    reminders: Reminders,
    accounts: Accounts,
    sessions: Sessions,
    done: Done,
    /// A file that must be there now, by the records of the turn that is over.
    due: Option<String>,
    /// Calls out that are under way, by their ids in the ledger.
    open: BTreeSet<String>,
    /// Beginning of its rest, and whether this rest was looked at; number of rests looked at.
    rest: Option<(Millis, bool)>,
    rests: u64,
    /// Whether the last thought of this turn acted, and nothing was refused or failed on the way to a model.
    has_acted: bool,
    /// Latest end of a rest chosen by a thought on record: it may be longer than the owner's usual ones, and goes
    /// on after an interruption.
    chosen_until: Millis,
    is_refused: bool,
    last_look: Option<Millis>,
    seen: Vec<(Invariant, bool)>,
    examples: VecDeque<String>,
}

impl Witness {
    /// Begins with a life; `is_born`: whether it is born of an edit of its predecessor's.
    pub fn of(life: u64, is_born: bool) -> Self {
        Self { life, done: Done::of(is_born), ..Self::default() }
    }

    /// Takes the file that must be there now, by the records; a second call finds none.
    pub fn due(&mut self) -> Option<String> {
        self.due.take()
    }

    /// Whether that file is there.
    pub fn found(&mut self, path: &str, is_there: bool) {
        let told = format!("it wrote {path}, and there is none");
        self.note([(Invariant::Done, is_there, told)]);
    }

    /// Observations since the last call.
    pub fn take(&mut self) -> Vec<(Invariant, bool)> {
        std::mem::take(&mut self.seen)
    }

    /// Returns the newest broken invariants, a line each.
    pub fn examples(&self) -> String {
        self.examples.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    fn note(&mut self, seen: impl IntoIterator<Item = Seen>) {
        for (invariant, kept, told) in seen {
            self.seen.push((invariant, kept));
            if !kept {
                self.examples.push_back(house::bounds::brief(&told, EXAMPLE_CHARS));
                let over = self.examples.len().saturating_sub(MOST_EXAMPLES);
                self.examples.drain(..over);
            }
        }
    }

    /// Begins a look. If it comes late, waiting times count from now.
    pub fn begin(&mut self, now: Millis) {
        let before = self.last_look.replace(now);
        if before.is_some_and(|before| now >= before + STILL_MS) {
            self.words.stood_still(now);
            self.reminders.forget();
            self.rest = self.rest.map(|(_, looked)| (now, looked));
        }
    }

    /// Forgets all that was under way: a file that is read was replaced, or has a line too long to read.
    pub fn lost(&mut self) {
        self.thoughts.clear();
        self.words.forget();
        self.reminders.forget();
        self.accounts.forget();
        self.sessions.forget();
        self.done.forget();
    }

    /// Takes in a line of the inbox.
    pub fn said(&mut self, line: &[u8], now: Millis) {
        self.words.said(line, now);
    }

    /// Takes in a record of memory or of the bookkeeping.
    pub fn recorded(&mut self, record: &Value, claimed: Claimed, now: Millis) {
        if record.get("life").and_then(Value::as_u64) != Some(self.life) {
            return;
        }
        let data = record.get("data").unwrap_or(&Value::Null);
        let kind = record.get("kind").and_then(Value::as_str).unwrap_or_default();
        let text = |name: &str| data.get(name).and_then(Value::as_str).unwrap_or_default();
        let number = data.get("thought").and_then(Value::as_u64);
        self.accounts.recorded(kind, data);
        self.sessions.recorded(kind, data);
        let seen = self.done.recorded(kind, data);
        self.note(seen);
        match (kind, number) {
            ("thought", Some(number)) if data.get("garbled").is_none() => {
                let calls = data.get("tool_calls").and_then(Value::as_array).map_or(0, Vec::len);
                self.has_acted = calls > 0;
                let chosen_s = data.get("sleep_s").and_then(Value::as_u64).unwrap_or(0).min(LONGEST_CHOSEN_S);
                self.chosen_until = self.chosen_until.max(now + chosen_s * 1_000);
                self.thoughts.push_back(Thought { number, calls, results: 0 });
                if self.thoughts.len() > MOST_WATCHED {
                    self.thoughts.pop_front();
                }
            }
            ("action", Some(number)) => {
                let of = self.thoughts.iter_mut().find(|thought| thought.number == number);
                of.into_iter().for_each(|thought| thought.results += 1);
            }
            // What was too long or too deep for a line has no number any more.
            ("action", None) if data.get("truncated").is_some() => self.newest_result(),
            ("message", _) if text("from") == "owner" => {
                let standing = self.standing(claimed, now);
                let seen = self.words.heard(text("text"), text("thread"), standing);
                self.note(seen);
            }
            ("message", _) if text("from") == "creature" => {
                // An answer has no action of its own.
                if text("kind") == "answer" {
                    self.newest_result();
                }
                if !text("reminder").is_empty() && words::has_words(text("text")) {
                    self.reminders.told(text("reminder"), text("thread"));
                }
                let goes_on = data.get("done") == Some(&Value::Bool(false));
                let seen = self.words.told(text("kind"), text("thread"), text("text"), goes_on);
                self.note(seen);
            }
            _ => {}
        }
    }

    /// Counts a result for the newest thought that waits for some.
    fn newest_result(&mut self) {
        let open = self.thoughts.iter_mut().rev().find(|thought| thought.results < thought.calls);
        open.into_iter().for_each(|thought| thought.results += 1);
    }

    /// Takes in a line of the ledger.
    pub fn paid(&mut self, line: &Value) {
        let text = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default();
        if line.get("life").and_then(Value::as_u64) != Some(self.life) {
            return;
        }
        let cost = line.get("cost_micro_usd").and_then(Value::as_u64).unwrap_or(0);
        match text("event") {
            "reserve" => {
                if self.open.len() >= MOST_OPEN {
                    self.open.clear();
                }
                self.open.insert(text("call").to_owned());
            }
            "settle" => {
                self.open.remove(text("call"));
                self.is_refused |= !text("decision").starts_with("by usage");
                self.accounts.settled(text("decision"), cost);
            }
            "refuse" => self.is_refused = true,
            _ => {}
        }
        let seen = self.words.called_out();
        self.note(seen);
    }

    /// Takes in the agenda's reminders; `wall_ms`: wall-clock time, in which they are due.
    pub fn reminders(&mut self, agenda: &Value, wall_ms: i64, now: Millis) {
        let seen = self.reminders.look(agenda, Look { now, wall_ms, rests: self.rests });
        self.note(seen.into_iter().map(|(kept, told)| (Invariant::Reminded, kept, told)));
    }

    fn standing(&self, claimed: Claimed, now: Millis) -> Standing {
        Standing {
            now,
            turns: claimed.turns,
            rests: self.rests,
            is_settled: self.rest.is_some_and(|(since, _)| now >= since + AT_REST_MS),
            is_at_work: claimed.acts || !self.open.is_empty(),
        }
    }

    /// Takes in the heartbeat's claims at this look.
    pub fn looked(&mut self, claimed: Claimed, longest: Longest, now: Millis) {
        self.rest = match (claimed.rests, self.rest) {
            (false, _) => None,
            (true, None) => Some((now, false)),
            (true, rest) => rest,
        };
        if claimed.is_away {
            self.accounts.forget();
        }
        let mut standing = self.standing(claimed, now);
        if let Some((since, false)) = self.rest.filter(|_| standing.is_settled) {
            self.rest = Some((since, true));
            self.rests += 1;
            standing.rests = self.rests;
            self.turn_over(claimed, longest, now);
        }
        let seen = self.words.look(standing);
        self.note(seen);
    }

    /// Judges the turn that is over, in the rest after it.
    fn turn_over(&mut self, claimed: Claimed, longest: Longest, now: Millis) {
        for Thought { number, calls, results } in std::mem::take(&mut self.thoughts) {
            if calls > 0 {
                let told = format!(
                    "thought {number} made {calls} calls, of which {results} have a result on record"
                );
                self.note([(Invariant::Results, results >= calls, told)]);
            }
        }
        let seen = self.accounts.compared();
        self.note(seen);
        let seen = self.sessions.turn_over();
        self.note(seen);
        self.due = self.done.take();
        // After a thought that acted there is no reason for more than the owner's usual rest.
        let has_acted = std::mem::take(&mut self.has_acted);
        let is_refused = std::mem::take(&mut self.is_refused);
        let usual = has_acted && !is_refused && !claimed.is_away;
        let chosen_ms = self.chosen_until.saturating_sub(now);
        let most_ms = if usual { longest.usual_ms } else { longest.any_ms }.max(chosen_ms);
        let told =
            format!("a rest of {} s, where {} s are the longest", claimed.rest_ms / 1_000, most_ms / 1_000);
        self.note([(Invariant::Rests, claimed.rest_ms <= most_ms.saturating_add(CLAIMED_MS), told)]);
    }
}
