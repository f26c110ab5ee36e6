//! Sending on a channel: one message after another, each announced to the broker, its fate kept; rates and pauses are kept to.
//!
//! Invariant: `sending` is synced before a send, and a send whose fate is unknown is not repeated where that could double it.

use crate::channel::{Channel, Chat, Form, Message, Outgoing, Sent, Trouble};
use crate::door::{Door, Leaving};
use crate::outbox::{Entry, Item, Kind, Step};
use crate::pause::Pause;
use crate::switchboard::{Saying, Shared, Switchboard};
use crate::{enclosed, format};
use anyhow::Result;
use house::printable::hex;
use house::{clock, moments};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::Instant;

/// Pause while the sign-in counts no more; a platform's longest; a rest where a step could not be kept.
const REVOKED: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(60 * 60);
const UNKEPT: Duration = Duration::from_secs(10);
/// For how long a message on a doubt is repeated, where its own fate is unknown.
const DOUBT: Duration = Duration::from_secs(60 * 60);
/// Chats of which the time of the last message is known.
const MOST_CHATS: usize = 500;

/// Sends until this program ends.
pub async fn run(shared: Shared, name: String, channel: Rc<dyn Channel>, door: Door) {
    let mut sender = Sender { shared, name, channel, door, pause: Pause::default(), last: HashMap::new() };
    loop {
        let (next, wake) = {
            let all = sender.shared.borrow();
            let Some(line) = all.lines.get(&sender.name) else { return };
            // Before it is signed in nothing can be sent, and what waits keeps its order.
            let next = all.outbox.next(&sender.name).filter(|_| line.known.is_some()).cloned();
            (next, line.wake.clone())
        };
        match next {
            None => wake.notified().await,
            Some(entry) => {
                if let Err(error) = sender.one(&entry).await {
                    sender.unkept(&error).await;
                }
            }
        }
    }
}

/// Takes up what an earlier program left while it was being sent: it is repeated where the platform drops a second one, else
/// doubtful. Before anything new is queued, so that this is told first.
pub fn left_behind(all: &mut Switchboard, name: &str) -> Result<()> {
    let keys = all.lines.get(name).and_then(|line| line.limits.keys);
    let left = all.outbox.waiting(name).filter(|entry| could_double(entry, keys));
    for entry in left.cloned().collect::<Vec<_>>() {
        doubtful(all, &entry.item, "this program ended while it was being sent")?;
    }
    Ok(())
}

/// Whether another send could be a second message: one before may have arrived, and its key holds no more.
fn could_double(entry: &Entry, keys: Option<Duration>) -> bool {
    let Some(tried_ms) = entry.tried_ms else { return false };
    // By a clock that went back meanwhile nobody knows how long ago it was.
    let age = clock::wall_ms().checked_sub(tried_ms).map(Duration::from_millis);
    let holds = repeated(&entry.item, keys).zip(age).is_some_and(|(holds, age)| age < holds);
    // An edit made twice is made once.
    entry.item.edits.is_none() && !holds
}

/// For how long a send of an unknown fate is repeated: as long as its key holds; a doubt is better told twice than never.
fn repeated(item: &Item, keys: Option<Duration>) -> Option<Duration> {
    if item.kind == Kind::Doubt { keys.max(Some(DOUBT)) } else { keys }
}

struct Sender {
    shared: Shared,
    name: String,
    channel: Rc<dyn Channel>,
    door: Door,
    pause: Pause,
    /// When the last message to each chat was sent.
    last: HashMap<Chat, Instant>,
}

impl Sender {
    /// Sends one message, and keeps what came of it: until that is kept nothing else is sent, for it is known here alone.
    async fn one(&mut self, entry: &Entry) -> Result<()> {
        let Entry { item, tried_ms } = entry;
        if could_double(entry, self.channel.limits().keys) {
            let why = "its fate stayed unknown for as long as it could be repeated";
            return doubtful(&mut self.shared.borrow_mut(), item, why);
        }
        if let Some(last) = self.last.get(&item.chat) {
            tokio::time::sleep_until(*last + self.channel.limits().gap).await;
        }
        let message = match self.message(item) {
            Ok(message) => message,
            Err(error) => return self.refused(item, &format!("{error:#}")),
        };
        let digest = hex(&Sha256::digest(message.text.as_bytes()));
        let file_bytes = message.file.as_ref().map_or(0, |file| file.bytes.len() as u64);
        let leaving = Leaving {
            channel: &self.name,
            chat: &item.chat.id,
            kind: if item.edits.is_some() { "edit" } else { "send" },
            bytes: message.text.len() as u64 + file_bytes,
            sha256: &digest,
        };
        if let Err(trouble) = self.door.announce(&leaving).await {
            self.wait(&trouble).await;
            return Ok(());
        }
        self.shared
            .borrow_mut()
            .outbox
            .step(Step::Sending { key: item.key.clone(), at_ms: clock::wall_ms() })?;
        let outcome = match &item.edits {
            Some(sent) => self.channel.edit(sent, &message).await.map(|()| Sent { message: sent.clone() }),
            None => self.channel.send(&message).await,
        };
        if self.last.len() >= MOST_CHATS {
            self.last.clear();
        }
        self.last.insert(item.chat.clone(), Instant::now());
        while let Err(error) = self.came(item, tried_ms.is_some(), &outcome) {
            self.unkept(&error).await;
        }
        match &outcome {
            Ok(_) => {
                self.pause.over();
                self.shared.borrow_mut().sends(&self.name, "")?;
            }
            Err(Trouble::Doubtful(_)) if !self.is_repeated(item) => {}
            Err(Trouble::Form(_) | Trouble::Refused(_)) => {}
            Err(trouble) => self.wait(trouble).await,
        }
        Ok(())
    }

    /// Whether a send of an unknown fate is repeated.
    fn is_repeated(&self, item: &Item) -> bool {
        repeated(item, self.channel.limits().keys).is_some() || item.edits.is_some()
    }

    /// Keeps what came of a send; `is_unsure`: one before it may have arrived.
    fn came(&self, item: &Item, is_unsure: bool, outcome: &Result<Sent, Trouble>) -> Result<()> {
        let key = item.key.clone();
        let waits = |is_plain| Step::Waits { key: key.clone(), is_plain };
        match outcome {
            Ok(Sent { message }) => {
                let mut all = self.shared.borrow_mut();
                all.outbox.step(Step::Sent { key: key.clone(), message: message.clone() })?;
                if all.buttons.sent(&key, message) {
                    let Switchboard { buttons, house, .. } = &*all;
                    buttons.save(house)?;
                    all.tell_late(&key)?;
                }
                Ok(())
            }
            Err(Trouble::Doubtful(why)) if !self.is_repeated(item) => {
                doubtful(&mut self.shared.borrow_mut(), item, why)
            }
            Err(Trouble::Form(_)) if !item.is_plain => self.shared.borrow_mut().outbox.step(waits(true)),
            Err(Trouble::Form(why) | Trouble::Refused(why)) => self.refused(item, why),
            // What is unknown stays so, since the first time.
            Err(Trouble::Doubtful(_)) => Ok(()),
            Err(Trouble::Away(_) | Trouble::Slower(_) | Trouble::Revoked(_) | Trouble::Elsewhere(_)) => {
                match is_unsure {
                    true => Ok(()),
                    false => self.shared.borrow_mut().outbox.step(waits(item.is_plain)),
                }
            }
        }
    }

    /// The message of an item, formatted, with its file.
    fn message(&self, item: &Item) -> Result<Message> {
        let all = self.shared.borrow();
        let limits = self.channel.limits();
        let file: Option<Outgoing> = match &item.enclosed {
            Some(enclosed) => Some(enclosed::read(&all.house, enclosed, limits.file_bytes)?),
            None => None,
        };
        let (text, form) = match item.is_plain {
            // Markdown that the platform did not take is plain text without its marks.
            true => {
                let is_markdown = item.kind == Kind::Answer;
                let text =
                    if is_markdown { format::formatted(&item.text, Form::Plain) } else { item.text.clone() };
                (format::plainly(&text, limits.form).into_owned(), Form::Plain)
            }
            false => (format::formatted(&item.text, limits.form), limits.form),
        };
        Ok(Message {
            chat: item.chat.clone(),
            text,
            form,
            buttons: item.buttons.clone(),
            file,
            key: item.key.clone(),
        })
    }

    /// Keeps that a message will never be taken; the owner is told, where it was for them.
    fn refused(&self, item: &Item, why: &str) -> Result<()> {
        let mut all = self.shared.borrow_mut();
        // An edit of what has been deleted there is of no use to anybody.
        if item.edits.is_none() && !matches!(item.kind, Kind::Doubt | Kind::Refusal) {
            let at = moments::near(&item.at);
            let what = if item.enclosed.is_some() { "A file" } else { "A message" };
            let told = format!(
                "{what} of {at} could not be sent here: {why}. It stands in the window and on the page."
            );
            told_of(&mut all, item, &told)?;
        }
        all.row(&self.name, &format!("{}: a message was refused: {why}", self.name));
        all.outbox.step(Step::Refused { key: item.key.clone(), why: why.to_owned() })
    }

    /// Waits as a trouble asks for.
    async fn wait(&mut self, trouble: &Trouble) {
        let wait = match trouble {
            Trouble::Slower(wait) => (*wait).min(LONGEST),
            Trouble::Revoked(why) => {
                let noted = self.shared.borrow_mut().sends(&self.name, why);
                if let Err(error) = noted {
                    self.shared.borrow_mut().row(&self.name, &format!("{}: {error:#}", self.name));
                }
                REVOKED
            }
            Trouble::Away(_)
            | Trouble::Doubtful(_)
            | Trouble::Form(_)
            | Trouble::Refused(_)
            | Trouble::Elsewhere(_) => self.pause.next(clock::since_boot_ms()),
        };
        self.shared
            .borrow_mut()
            .row(&self.name, &format!("{}: nothing is sent just now: {trouble}", self.name));
        tokio::time::sleep(wait).await;
    }

    async fn unkept(&self, error: &anyhow::Error) {
        self.shared
            .borrow_mut()
            .row(&self.name, &format!("{}: nothing is sent until this is mended: {error:#}", self.name));
        tokio::time::sleep(UNKEPT).await;
    }
}

/// Keeps that nobody knows whether a message arrived, after a message that says so.
fn doubtful(all: &mut Switchboard, item: &Item, why: &str) -> Result<()> {
    if !matches!(item.kind, Kind::Doubt | Kind::Refusal) {
        let what = if item.kind == Kind::Answer { "One answer" } else { "One message" };
        let at = moments::near(&item.at);
        let told =
            format!("{what} of {at} may not have reached you; it stands in the window and on the page.");
        told_of(all, item, &told)?;
    }
    all.outbox.step(Step::Doubtful { key: item.key.clone(), why: why.to_owned() })
}

/// Queues a message on another one, once for each.
fn told_of(all: &mut Switchboard, item: &Item, told: &str) -> Result<()> {
    let (channel, chat, kind) = (&item.channel, &item.chat, Kind::Doubt);
    let of = [item.key.as_str()];
    all.say(&Saying { channel, chat, kind, of: &of, text: told, is_plain: true }).map(drop)
}
