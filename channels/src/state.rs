//! State of a channel: its owner, how far it was heard, which chats there are, whom it refused; replaced whole, synced.

use crate::channel::Chat;
use crate::pairing::Tried;
use crate::waiting::Waiting;
use crate::{places, thread};
use anyhow::{Context, Result};
use house::{House, files};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeSet, VecDeque};

/// Most bytes of the file.
const MOST_BYTES: u64 = 16 << 20;
/// Happenings that are known by their ids, the newest; chats; words that wait for an answer.
const MOST_HEARD: usize = 1_000;
const MOST_CHATS: usize = 300;
const MOST_SAID: usize = 100;
/// Strangers that are known to have been refused; beyond them none is answered.
const MOST_REFUSED: usize = 500;
/// Most refusals an hour: a crowd of strangers must not make this a sender of mail.
const REFUSALS: usize = 20;
const HOUR_MS: u64 = 3_600_000;
/// Longest id that is known as it is: whoever is no owner may choose them.
const MOST_ID: usize = 200;
/// Messages of the creature's in an hour, and how many more for each word of the owner's in this hour and the one before.
const UNASKED: u64 = 60;
const PER_WORD: u64 = 5;

/// The one person who is heard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub id: String,
    pub name: String,
    /// The chat they were paired in: what nobody asked for goes there.
    pub chat: Chat,
    pub since: String,
}

/// A word that the mind has not answered yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    pub message: String,
    pub thread: String,
    pub at_ms: u64,
    /// Its beginning.
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    pub owner: Option<Owner>,
    pub cursor: Option<Value>,
    /// Ids of what was heard last, oldest first.
    pub heard: VecDeque<String>,
    /// Threads and their chats, the one that was used last at the end.
    pub chats: VecDeque<(String, Chat)>,
    pub said: VecDeque<Said>,
    /// Words that wait for their files, and those behind them, oldest first.
    pub waiting: VecDeque<Waiting>,
    /// Number of messages of strangers, the people who were refused, and when the last refusals were.
    pub strangers: u64,
    pub refused: BTreeSet<String>,
    pub refusals_ms: Vec<u64>,
    pub pairing: Tried,
    pub verbosity: Option<String>,
    /// When messages that nobody asked for were sent in the last hour.
    pub unasked_ms: Vec<u64>,
    pub hour: Hour,
}

/// Talk of an hour: words of the owner, also of the hour before, and messages of the creature.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hour {
    number: u64,
    words: u64,
    words_before: u64,
    messages: u64,
}

impl State {
    /// As it was kept; a new one where there is none. One that cannot be read is an error: begun anew it would hear nobody,
    /// and all that was heard once more.
    pub fn load(house: &House, channel: &str) -> Result<Self> {
        let path = places::state(house, channel);
        let Some(bytes) = files::read_most(&path, MOST_BYTES)? else { return Ok(Self::default()) };
        serde_json::from_slice(&bytes).with_context(|| {
            format!("{} cannot be read; move it aside, and pair the channel again", path.display())
        })
    }

    pub fn save(&self, house: &House, channel: &str) -> Result<()> {
        files::replace(
            &places::state(house, channel),
            format!("{}\n", serde_json::to_string_pretty(self)?).as_bytes(),
        )
    }

    pub fn is_owner(&self, person: &str) -> bool {
        self.owner.as_ref().is_some_and(|owner| owner.id == person)
    }

    pub fn has_heard(&self, id: &str) -> bool {
        let id = short(id);
        self.heard.iter().rev().any(|heard| *heard == id)
    }

    pub fn hear(&mut self, id: &str) {
        self.heard.push_back(short(id));
        keep_last(&mut self.heard, MOST_HEARD);
    }

    /// Notes a chat of the owner's; returns its thread.
    pub fn spoke_in(&mut self, channel: &str, chat: &Chat) -> String {
        let name = thread::name(channel, chat);
        if self.chats.back().is_none_or(|(last, _)| *last != name) {
            self.chats.retain(|(known, _)| *known != name);
            self.chats.push_back((name.clone(), chat.clone()));
            keep_last(&mut self.chats, MOST_CHATS);
        }
        name
    }

    /// The chat of a thread.
    pub fn chat(&self, thread: &str) -> Option<&Chat> {
        self.chats.iter().rev().find(|(known, _)| known == thread).map(|(_, chat)| chat)
    }

    /// Forgets the owner: their chats are no place for what is said to whoever comes next.
    pub fn forget_owner(&mut self) {
        self.owner = None;
        self.chats.clear();
        self.said.clear();
        self.waiting.clear();
    }

    /// Whether the creature may say more this hour, for so many words of the owner's.
    pub fn may_say(&mut self, now_ms: u64) -> bool {
        let Hour { words, words_before, messages, .. } = *self.hour(now_ms);
        messages < UNASKED + (words + words_before).saturating_mul(PER_WORD)
    }

    /// Counts messages of the creature's.
    pub fn told(&mut self, messages: u64, now_ms: u64) {
        self.hour(now_ms).messages += messages;
    }

    fn hour(&mut self, now_ms: u64) -> &mut Hour {
        let number = now_ms / HOUR_MS;
        if self.hour.number != number {
            self.hour = Hour { number, words_before: self.hour.words, ..Hour::default() };
        }
        &mut self.hour
    }

    pub fn said(&mut self, said: Said) {
        self.hour(said.at_ms).words += 1;
        self.said.push_back(said);
        keep_last(&mut self.said, MOST_SAID);
    }

    /// Whether a word on a thread waits for files.
    pub fn is_held(&self, thread: &str) -> bool {
        self.waiting.iter().any(|word| word.thread == thread)
    }

    /// Whether a word on a thread has no answer yet.
    pub fn waits(&self, thread: &str) -> bool {
        self.said.iter().any(|said| said.thread == thread)
    }

    /// Notes that what was said on a thread is answered; whether anything was.
    pub fn answered(&mut self, thread: &str) -> bool {
        let before = self.said.len();
        self.said.retain(|said| said.thread != thread);
        self.said.len() < before
    }

    /// Counts a message of a stranger's; whether they are told, once, that nobody hears them here.
    pub fn refuse(&mut self, person: &str, now_ms: u64) -> bool {
        self.strangers = self.strangers.saturating_add(1);
        let is_new = self.refused.len() < MOST_REFUSED && !self.refused.contains(person);
        let is_told = is_new && self.may_refuse(now_ms);
        if is_told {
            self.refused.insert(person.to_owned());
        }
        is_told
    }

    /// Whether somebody who is not the owner may be told something now; counts it.
    pub fn may_refuse(&mut self, now_ms: u64) -> bool {
        recent(&mut self.refusals_ms, now_ms);
        let has_room = self.refusals_ms.len() < REFUSALS;
        if has_room {
            self.refusals_ms.push(now_ms);
        }
        has_room
    }

    /// Number of messages that nobody asked for and that may still be sent within this hour.
    pub fn room(&mut self, now_ms: u64, per_hour: u64) -> u64 {
        recent(&mut self.unasked_ms, now_ms);
        per_hour.saturating_sub(self.unasked_ms.len() as u64)
    }
}

/// Keeps the times of the last hour. A clock that was set back must not silence anything.
fn recent(times_ms: &mut Vec<u64>, now_ms: u64) {
    times_ms.retain(|then| *then <= now_ms && now_ms - *then < HOUR_MS);
}

fn short(id: &str) -> String {
    if id.len() <= MOST_ID { id.to_owned() } else { thread::key(&[id]) }
}

fn keep_last<T>(list: &mut VecDeque<T>, most: usize) {
    while list.len() > most {
        list.pop_front();
    }
}
