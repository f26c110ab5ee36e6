//! Asks that were shown on channels, each with buttons of its own: single-use ids bound to ask, digest and chat. Replaced whole.

use crate::channel::{Button, Chat};
use crate::places;
use anyhow::{Context, Result};
use house::printable::hex;
use house::{House, files};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Most bytes of the file, and asks shown that are known.
const MOST_BYTES: u64 = 64 << 20;
const MOST_SHOWN: usize = 500;
/// Bytes of chance in an id.
const ID_BYTES: usize = 12;

/// An ask as it was shown in a chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    pub ask: String,
    pub digest: String,
    pub channel: String,
    pub chat: Chat,
    /// The buttons' ids; each counts once.
    pub yes: String,
    pub no: String,
    /// Key of the message that has the buttons, and its id on the platform once it was sent.
    pub key: String,
    #[serde(default)]
    pub message: Option<String>,
    /// The text of that message.
    pub text: String,
    /// Words that go into its place as soon as its id is known; empty: none.
    #[serde(default)]
    pub told: String,
    /// Whether a button was pressed, or the ask is over.
    #[serde(default)]
    pub is_used: bool,
    #[serde(default)]
    pub is_over: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Buttons {
    pub shown: VecDeque<Shown>,
}

impl Buttons {
    pub fn load(house: &House) -> Result<Self> {
        let bytes = files::read_most(&places::buttons(house), MOST_BYTES).ok().flatten();
        // Without them no button counts: a press is answered so, and the asks are shown once more.
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default())
    }

    pub fn save(&self, house: &House) -> Result<()> {
        files::replace(&places::buttons(house), serde_json::to_string(self)?.as_bytes())
    }

    pub fn add(&mut self, shown: Shown) {
        self.shown.push_back(shown);
        while self.shown.len() > MOST_SHOWN {
            // What waits for an answer counts for longest.
            let over = self.shown.iter().position(|shown| shown.is_over).unwrap_or(0);
            self.shown.remove(over);
        }
    }

    /// Whether so many asks wait for an answer that one more would be in the place of one of them.
    pub fn is_full(&self) -> bool {
        self.shown.iter().filter(|shown| !shown.is_over).count() >= MOST_SHOWN
    }

    /// The ask that a button stands under in this chat, and whether the button is its yes.
    pub fn pressed(&mut self, data: &str, channel: &str, chat: &Chat) -> Option<(&mut Shown, bool)> {
        let is_its = |shown: &&mut Shown| {
            shown.channel == channel && shown.chat.id == chat.id && (shown.yes == data || shown.no == data)
        };
        self.shown.iter_mut().rev().find(is_its).map(|shown| {
            let approve = shown.yes == data;
            (shown, approve)
        })
    }

    /// The newest showing of an ask in a chat.
    pub fn last(&self, ask: &str, channel: &str, chat: &Chat) -> Option<&Shown> {
        self.shown
            .iter()
            .rev()
            .find(|shown| shown.ask == ask && shown.channel == channel && shown.chat.id == chat.id)
    }

    /// Whether what has this digest was shown on a channel.
    pub fn has_shown(&self, ask: &str, digest: &str, channel: &str) -> bool {
        self.shown.iter().any(|shown| shown.ask == ask && shown.digest == digest && shown.channel == channel)
    }

    /// Notes the platform's id of a message that was sent; whether it has buttons.
    pub fn sent(&mut self, key: &str, message: &str) -> bool {
        let mut ours = self.shown.iter_mut().filter(|shown| shown.key == key);
        ours.next().map(|shown| shown.message = Some(message.to_owned())).is_some()
    }
}

impl Shown {
    pub fn buttons(&self) -> Vec<Button> {
        let button = |label: &str, data: &String| Button { label: label.to_owned(), data: data.clone() };
        vec![button("Yes", &self.yes), button("No", &self.no)]
    }
}

/// An id that nobody can guess.
pub fn id() -> Result<String> {
    let random = files::random().context("failed to make the id of a button")?;
    Ok(hex(random.get(..ID_BYTES).unwrap_or_default()))
}
