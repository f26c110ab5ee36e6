//! Rooms of a Matrix account: their members, the invitations that are followed, and words said while nobody listened.

use super::Matrix;
use super::events::{self, Kind, pressed};
use super::sync::{self, Answer, Invitation, Page, Position};
use super::wire::Wire;
use crate::channel::{Chat, Heard, Person, Press, Trouble, What};
use house::mutex::lock;
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

/// Events that are fetched before they are handed on, and those of a page.
const AT_ONCE: usize = 1_000;
const PAGE: &str = "200";
/// Most pages that are asked for in one go.
const MOST_PAGES: usize = 500;
/// Most invitations that are held.
const MOST_INVITATIONS: usize = 50;
const UNREADABLE: &str = "This room is encrypted, and I cannot read what is said in it. Please make a room without \
    encryption and invite me there: where a room is made there is a switch for it, under its advanced settings.";

/// Rooms as far as they are known: how many are in one, and the invitations that nobody may follow yet.
#[derive(Default)]
pub struct Rooms {
    joined: Mutex<HashMap<String, usize>>,
    invitations: Mutex<VecDeque<Invitation>>,
}

impl Rooms {
    /// Holds invitations until somebody who asks in them is welcome, the newest where there are too many.
    pub fn hold(&self, invitations: impl IntoIterator<Item = Invitation>) {
        let mut held = lock(&self.invitations);
        for invitation in invitations {
            held.retain(|other| other.room != invitation.room);
            held.push_back(invitation);
        }
        while held.len() > MOST_INVITATIONS {
            held.pop_front();
        }
    }

    pub fn held(&self) -> Vec<Invitation> {
        lock(&self.invitations).iter().cloned().collect()
    }

    fn take(&self, is_welcome: impl Fn(&Invitation) -> bool) -> Option<Invitation> {
        let mut held = lock(&self.invitations);
        let at = held.iter().position(is_welcome)?;
        held.remove(at)
    }

    fn forget(&self, room: &str) {
        lock(&self.joined).remove(room);
    }

    /// How many are in a room ("Room membership": `joined_members`).
    async fn count(&self, wire: &Wire, room: &str) -> Result<usize, Trouble> {
        if let Some(count) = lock(&self.joined).get(room) {
            return Ok(*count);
        }
        let request = wire.at(Method::GET, &["client", "v3", "rooms", room, "joined_members"])?;
        let answer = wire.json(request).await?;
        let count = answer.get("joined").and_then(Value::as_object).map_or(0, serde_json::Map::len);
        lock(&self.joined).insert(room.to_owned(), count);
        Ok(count)
    }
}

/// Events of an answer that are handed on, in the order of each room, and the place behind them.
pub struct Read {
    pub heard: Vec<Heard>,
    pub position: Position,
}

impl Matrix {
    /// Follows the invitations of who is welcome: the owner's, and into a private room anybody's while a code is open.
    pub(super) async fn follow(&self) -> Result<(), Trouble> {
        loop {
            let who = lock(&self.welcome).clone();
            let welcome = |of: &Invitation| {
                who.owner.as_deref() == Some(of.from.as_str()) || (who.is_open && of.is_private)
            };
            let Some(invitation) = self.rooms.take(welcome) else { return Ok(()) };
            let request = self.wire.at(Method::POST, &["client", "v3", "rooms", &invitation.room, "join"])?;
            match self.wire.json(request.json(&json!({}))).await {
                // One that was taken back, or whose room is gone.
                Ok(_) | Err(Trouble::Refused(_)) => {}
                Err(trouble) => {
                    self.rooms.hold([invitation]);
                    return Err(trouble);
                }
            }
        }
    }

    /// Reads an answer; events between the last one and it are fetched first, and handed on in parts where they are many.
    pub(super) async fn read(&self, at: &Position, answer: Answer) -> Result<Read, Trouble> {
        let mut heard = Vec::new();
        let mut reached = at.clone();
        for (room, joined) in answer.rooms.join {
            let timeline = joined.timeline;
            let newest = timeline.events;
            let is_changed =
                |event: &Value| event.get("type").and_then(Value::as_str) == Some("m.room.member");
            if timeline.limited || newest.iter().chain(&joined.state.events).any(is_changed) {
                self.rooms.forget(&room);
            }
            // That a room is encrypted may stand in its state alone.
            let mut events = joined.state.events;
            events.retain(|event| !is_changed(event));
            if let Some(end) = timeline.prev_batch.filter(|_| timeline.limited && !at.since.is_empty()) {
                let from = reached.gaps.get(&room).unwrap_or(&reached.since).clone();
                let (missed, stopped) =
                    self.missed(&room, from, &end, &newest, AT_ONCE.saturating_sub(heard.len())).await?;
                events.extend(missed);
                if let Some(stopped) = stopped {
                    self.hear(&room, &events, &mut heard).await?;
                    reached.gaps.insert(room, stopped);
                    return Ok(Read { heard, position: reached });
                }
                reached.gaps.insert(room.clone(), end);
            }
            events.extend(newest);
            self.hear(&room, &events, &mut heard).await?;
        }
        Ok(Read { heard, position: Position::of(&answer.next_batch) })
    }

    /// Events from a place to another, at most about so many; the place where it stopped, if before the end.
    async fn missed(
        &self,
        room: &str,
        mut from: String,
        end: &str,
        newest: &[Value],
        most: usize,
    ) -> Result<(Vec<Value>, Option<String>), Trouble> {
        let mut events = Vec::new();
        let filter = sync::page_filter();
        let id = |event: &Value| event.get("event_id").and_then(Value::as_str).map(str::to_owned);
        let known: Vec<String> = newest.iter().filter_map(id).collect();
        for _ in 0..MOST_PAGES {
            if from == end {
                return Ok((events, None));
            }
            if events.len() >= most {
                return Ok((events, Some(from)));
            }
            let request = self.wire.at(Method::GET, &["client", "v3", "rooms", room, "messages"])?.query(&[
                ("dir", "f"),
                ("from", &from),
                ("to", end),
                ("limit", PAGE),
                ("filter", &filter),
            ]);
            let page: Page = read_as(self.wire.json(request).await?)?;
            for event in page.chunk {
                // A homeserver may go on behind the end that it was given.
                if id(&event).is_some_and(|id| known.contains(&id)) {
                    return Ok((events, None));
                }
                events.push(event);
            }
            match page.end {
                Some(next) if next != from => from = next,
                _ => return Ok((events, None)),
            }
        }
        // Pages of nothing that is ours.
        Ok((events, Some(from)))
    }

    /// Reads the events of a room, in their order.
    async fn hear(&self, room: &str, events: &[Value], heard: &mut Vec<Heard>) -> Result<(), Trouble> {
        let me = self.me();
        for event in events {
            let Some(event) = events::read(event, &me) else { continue };
            let mut chat = Chat { id: room.to_owned(), thread: event.thread, is_private: false };
            let mut is_bot = false;
            let what = match event.what {
                Kind::Member => continue,
                Kind::Encrypted => {
                    chat.thread = None;
                    What::Unread { why: UNREADABLE.to_owned() }
                }
                Kind::Word { word, is_notice } => {
                    is_bot = is_notice;
                    What::Word(word)
                }
                Kind::Edited(word) => What::Edited(word),
                Kind::Deleted(message) => What::Deleted { message },
                Kind::Reaction { message, key } => match self.press(room, &message, &key, &event.from).await?
                {
                    Some(press) => What::Press(press),
                    None => continue,
                },
            };
            // A room that is left meanwhile has nobody to talk with.
            chat.is_private = match self.rooms.count(&self.wire, room).await {
                Ok(count) => count == 2,
                Err(Trouble::Refused(_)) => false,
                Err(trouble) => return Err(trouble),
            };
            let from = Person { name: event.from.clone(), id: event.from, is_bot };
            heard.push(Heard { id: event.id, at_ms: event.at_ms, chat, from, what });
        }
        Ok(())
    }

    /// The button that a reaction presses. Only the owner's are looked up: the message has to be fetched for it.
    async fn press(
        &self,
        room: &str,
        message: &str,
        key: &str,
        from: &str,
    ) -> Result<Option<Press>, Trouble> {
        let owner = lock(&self.welcome).owner.clone();
        if owner.is_some_and(|owner| owner != from) || from == self.me() {
            return Ok(None);
        }
        let request = self.wire.at(Method::GET, &["client", "v3", "rooms", room, "event", message])?;
        let found = match self.wire.json(request).await {
            Ok(found) => found,
            Err(Trouble::Refused(_)) => return Ok(None),
            Err(trouble) => return Err(trouble),
        };
        let data = pressed(&found, &self.me(), key);
        Ok(data.map(|data| Press { data, message: message.to_owned(), reply: Value::Null }))
    }
}

/// Reads an answer as what it should be.
pub fn read_as<T: serde::de::DeserializeOwned>(answer: Value) -> Result<T, Trouble> {
    serde_json::from_value(answer)
        .map_err(|error| Trouble::Away(format!("the homeserver's answer is not as published: {error}")))
}
