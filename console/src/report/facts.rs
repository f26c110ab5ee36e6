//! Facts of a report: records taken in singly and held as sums, and the newest of those that get a row each. Pure.

use crate::edits::ByCommit;
use house::bounds::{brief, short};
use house::records::history::{Death, Event, Fall as Put, Line, Said};
use house::records::ledger::{AskLine, Booked, Entry};
use house::records::memory::{Action, Data, Message, Record};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};

/// Names that are counted one by one, and characters of one.
const MOST_NAMES: usize = 500;
const NAME_CHARS: usize = 120;
/// Events of one kind that are held.
const MOST_EVENTS: usize = 50;
/// Longest word between owner and creature that is told, in characters: it is told whole or not at all.
const WORD_CHARS: usize = 300;
/// Tools whose product is knowledge, and those whose product is a thing; each names the path of it.
const LEARNING: [&str; 5] = ["notes.write", "notes.append", "knowledge.write", "skill.write", "fact.add"];
const MAKING: [&str; 3] = ["files.write", "files.edit", "files.create_workspace"];
const POSTING: [&str; 2] = ["x.post", "x.reply"];
const READING: [&str; 3] = ["web.fetch_text", "web.search", "feed.read"];

/// Counts of names; of names past `MOST_NAMES` only the sum is held.
#[derive(Default)]
pub struct Tally {
    pub names: BTreeMap<String, u64>,
    pub sum: u64,
}

impl Tally {
    fn add(&mut self, name: &str) {
        self.add_times(name, 1);
    }

    fn add_times(&mut self, name: &str, times: u64) {
        self.sum = self.sum.saturating_add(times);
        let name = brief(name.trim(), NAME_CHARS);
        let room = self.names.len() < MOST_NAMES;
        match self.names.get_mut(&name) {
            Some(count) => *count = count.saturating_add(times),
            None if room => {
                self.names.insert(name, times);
            }
            None => {}
        }
    }

    /// The most frequent names with their numbers, as many as fit, and how many more there are.
    pub fn told(&self, most_chars: usize) -> String {
        let mut names: Vec<_> = self.names.iter().collect();
        names.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let mut told = String::new();
        for (at, (name, count)) in names.iter().enumerate() {
            let times = if **count > 1 { format!(" ×{count}") } else { String::new() };
            if at > 0 && told.chars().count() + name.chars().count() > most_chars {
                return format!("{told}, and {} more", names.len() - at);
            }
            let between = if at > 0 { ", " } else { "" };
            told.push_str(&format!("{between}{name}{times}"));
        }
        told
    }
}

/// The newest events; of older ones only the number is held.
pub struct Newest<T> {
    pub kept: VecDeque<T>,
    pub count: u64,
}

impl<T> Default for Newest<T> {
    fn default() -> Self {
        Self { kept: VecDeque::new(), count: 0 }
    }
}

impl<T> Newest<T> {
    pub fn add(&mut self, one: T) {
        self.count += 1;
        self.kept.push_back(one);
        if self.kept.len() > MOST_EVENTS {
            self.kept.pop_front();
        }
    }
}

/// Deaths of one kind at one commit.
pub struct Deaths {
    pub told: String,
    pub life: u64,
    pub times: u64,
}

/// A fall, as the guardian told of it, and the ref of what fell.
pub struct Fall {
    pub told: String,
    pub fallen_ref: String,
}

/// A word between owner and creature; without `text` where it is too long.
pub struct Word {
    pub from: String,
    pub text: Option<String>,
    pub chars: usize,
}

/// All facts of a report.
#[derive(Default)]
pub struct Facts {
    /// Files of which only the newest part was read.
    pub cut: Vec<String>,
    pub note: String,
    pub waits: Vec<(String, String)>,
    pub edits: ByCommit,
    pub deaths: Newest<Deaths>,
    pub falls: Newest<Fall>,
    pub words: Newest<Word>,
    /// The guardian's events that are told as a number.
    pub events: Tally,
    pub broker: String,
    pub settings: String,
    pub thoughts: u64,
    pub garbled: u64,
    pub actions: u64,
    pub dreams: u64,
    pub read: Tally,
    pub made: Tally,
    pub posted: Tally,
    pub learnt: Tally,
    pub failed: Tally,
    pub edits_refused: Tally,
    /// Asks that failed, and how all asks of these days went on.
    pub asks_failed: Newest<String>,
    pub asks: Tally,
    /// By day: all that was spent, and what of it on its own, in millionths of a dollar.
    pub days: BTreeMap<String, (u64, u64)>,
    pub calls: Tally,
    pub refused: Tally,
    pub budget: Option<Value>,
    /// How many of its reasons to think by itself left something; empty where it never did.
    pub unasked: String,
    pub down: Vec<String>,
    /// Its plans, the next first; `None` where they cannot be read.
    pub next: Option<Vec<String>>,
    /// Goals that ended: whether done, and how.
    pub ended: Newest<(bool, String)>,
}

impl Facts {
    /// Whether nothing is on record of these days.
    pub fn is_nothing(&self) -> bool {
        let edits = self.edits.all.len() as u64;
        let events = edits + self.deaths.count + self.falls.count + self.words.count;
        let sums = self.events.sum + self.asks.sum + self.calls.sum + self.refused.sum;
        events + sums + self.thoughts + self.garbled + self.actions + self.ended.count == 0
            && self.days.is_empty()
    }

    /// Takes in a record of memory.
    #[allow(clippy::wildcard_enum_match_arm)]
    pub fn remembered(&mut self, record: &Value) {
        match Record(record).data() {
            Data::Thought(thought) if thought.is_garbled() => self.garbled += 1,
            Data::Thought(_) => self.thoughts += 1,
            Data::Action(action) => self.acted(action),
            Data::Dream(dream) => self.dreams += u64::from(dream.name().is_some()),
            Data::SelfChange(edit) if !edit.ok() => {
                let error = edit.error().lines().next().unwrap_or_default();
                self.edits_refused.add(&format!("{} ({})", edit.stage(), brief(error, 60)));
            }
            Data::Message(message) => self.said(message),
            _ => {}
        }
    }

    fn said(&mut self, message: Message) {
        let (from, said) = (brief(message.from(), 20), message.text());
        let kind = message.odd_kind().map(|kind| format!(" ({})", brief(kind, 20))).unwrap_or_default();
        let chars = said.chars().count();
        let text = Some(said.to_owned()).filter(|_| chars <= WORD_CHARS);
        self.words.add(Word { from: from + &kind, text, chars });
    }

    fn acted(&mut self, action: Action) {
        let (tool, result) = (action.tool(), action.result().unwrap_or_default());
        let path = result.path();
        self.actions += 1;
        match tool {
            _ if !result.ok() => {
                self.failed.add(&format!("{} ({})", brief(&action.called(), 60), brief(result.error(), 60)));
            }
            _ if result.asked().is_some() => {}
            _ if !result.drafted().is_empty() => self.made.add(result.drafted()),
            _ if MAKING.contains(&tool) && !path.is_empty() => self.made.add(path),
            _ if LEARNING.contains(&tool) && !path.is_empty() => self.learnt.add(path),
            _ if POSTING.contains(&tool) => self.posted.add(tool),
            _ if READING.contains(&tool) => self.read.add(tool),
            _ => {}
        }
    }

    /// Takes in a line of the guardian's history.
    #[allow(clippy::wildcard_enum_match_arm)]
    pub fn guarded(&mut self, event: &Value) {
        self.edits.take(event);
        match Event::of(event) {
            Event::Commit(of) if of.is_its_own() => return,
            Event::Fall(fall) => return self.fell(fall),
            Event::BrokerEnded(of) | Event::BrokerMissing(of) => self.broker = brief(of.cause(), NAME_CHARS),
            Event::SettingsRefused(of) => self.settings = brief(of.told(), 2 * NAME_CHARS),
            _ => {}
        }
        self.events.add(&Line(event).what().replace('_', " "));
    }

    fn fell(&mut self, fall: Put) {
        let told = brief(Said(fall.0).plainly(), 2 * NAME_CHARS);
        self.falls.add(Fall { told, fallen_ref: brief(fall.fallen_ref(), NAME_CHARS) });
    }

    /// Takes in a death, after the history.
    pub fn died(&mut self, death: &Value) {
        let death = Death(death);
        let [ended, cause, blame] = [death.ended(), death.cause(), death.blame()].map(|told| brief(told, 80));
        let (life, commit) = (death.life(), death.commit());
        self.edits.died(death);
        let told = format!("{} ({cause}), blamed on {blame}, at {}", ended.replace('_', " "), short(commit));
        match self.deaths.kept.iter_mut().find(|deaths| deaths.told == told) {
            Some(deaths) => {
                (deaths.life, deaths.times) = (life, deaths.times + 1);
                self.deaths.count += 1;
            }
            None => self.deaths.add(Deaths { told, life, times: 1 }),
        }
    }

    /// Takes in a line of the ledger.
    #[allow(clippy::wildcard_enum_match_arm)]
    pub fn entered(&mut self, entry: &Value) {
        let entry = Entry(entry);
        match entry.booked() {
            Booked::Settle | Booked::Unsent => {
                let (cost, day) = (entry.cost_micro_usd(), entry.day().to_owned());
                if self.days.len() < MOST_NAMES || self.days.contains_key(&day) {
                    let (all, own) = self.days.entry(day).or_default();
                    *all = all.saturating_add(cost);
                    *own = own.saturating_add(if entry.is_own() { cost } else { 0 });
                }
            }
            Booked::Call if entry.decision() == "answered" => self.calls.add(entry.service()),
            Booked::Refuse => {
                let [method, service, path] =
                    [entry.method(), entry.service(), entry.path()].map(|name| brief(name, 40));
                let name = format!("{method} {service} {path} ({})", brief(entry.decision(), 60));
                self.refused.add_times(&name, entry.times());
            }
            _ => {}
        }
    }

    /// Takes in a line of the broker's on an ask.
    pub fn answered(&mut self, line: &Value) {
        let line = AskLine(line);
        self.asks.add(line.event());
        if line.has_failed() {
            self.asks_failed.add(brief(&line.id().unwrap_or_default(), 20));
        }
    }
}
