//! Follows the creature's memory: each of its messages is queued once, on the chat of its thread, or at home.
//!
//! Invariant: the place in memory is kept only after what was read before it was queued.

use crate::channel::Chat;
use crate::outbox::{Enclosed, Kind};
use crate::switchboard::{Saying, Shared, Switchboard};
use crate::{enclosed, places, thread};
use anyhow::Result;
use console::feed::shown::{Verbosity, shown};
use house::records::follow::{Cursor, Follow};
use house::records::memory::{Message, Record};
use house::records::{self, text};
use house::settings::channels::PLATFORMS;
use house::{House, bounds, clock, files};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::os::unix::fs::MetadataExt;

/// Bytes read at one look, and bytes after which the place is kept though nothing was queued.
const LOOK_BYTES: u64 = 1 << 20;
const KEPT_BYTES: u64 = 256 << 10;
/// Most bytes read of a memory that was moved aside meanwhile.
const OLDER_BYTES: u64 = 64 << 20;
/// Lines on acts that wait to be told.
const MOST_ACTS: usize = 100;

/// How far memory was read, as it is kept; and when the newest message that was queued was said: older ones are not told
/// again where memory was put back or replaced.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    memory: Option<Cursor>,
    newest: String,
}

pub struct Talk {
    follow: Follow,
    kept: Kept,
    /// Whether what is read now is another file than the one that was read before.
    is_other: bool,
    /// Records of a memory that was moved aside while nobody read.
    before: Vec<Value>,
}

impl Talk {
    /// Goes on where it was left; the first time, at the end.
    pub fn open(house: &House) -> Result<Self> {
        // One that cannot be read is as none.
        let bytes = files::read_small(&places::talk(house)).ok().flatten();
        let kept: Option<Kept> = bytes.and_then(|bytes| serde_json::from_value(bounds::read(&bytes)?).ok());
        let kept = kept.unwrap_or_default();
        let Some(at) = kept.memory else {
            let (follow, is_other, before) = (Follow::at_end(house.memory()), false, vec![]);
            let mut talk = Self { follow, kept, is_other, before };
            talk.keep(house)?;
            return Ok(talk);
        };
        let is_there = std::fs::metadata(house.memory()).is_ok_and(|meta| meta.ino() == at.inode);
        let before = if is_there { vec![] } else { rest(house, at) };
        Ok(Self {
            follow: Follow::resumed(house.memory(), at),
            kept,
            is_other: !is_there && at.inode != 0,
            before,
        })
    }

    /// Queues what is new; whether another look would bring more at once.
    pub fn look(&mut self, shared: &Shared) -> Result<bool> {
        let mut all = shared.borrow_mut();
        let mut records = std::mem::take(&mut self.before);
        let older = records.len();
        let from = self.follow.cursor();
        let more = self.follow.look(LOOK_BYTES, |record| {
            records.extend(record);
            true
        });
        let mut has_queued = false;
        for (nth, record) in records.iter().enumerate() {
            let queued = self.record(&mut all, record, nth >= older);
            if let Err(error) = queued {
                // Read once more from here.
                self.follow = Follow::resumed(all.house.memory(), from);
                records.truncate(older);
                self.before = records;
                return Err(error);
            }
            has_queued |= queued.unwrap_or_default();
        }
        self.is_other &= more;
        let now = self.follow.cursor();
        let kept = self.kept.memory.unwrap_or_default();
        let is_far = now.inode != kept.inode || now.place.abs_diff(kept.place) > KEPT_BYTES;
        if has_queued || is_far {
            self.keep(&all.house)?;
        }
        Ok(more)
    }

    fn keep(&mut self, house: &House) -> Result<()> {
        self.kept.memory = Some(self.follow.cursor());
        files::replace(&places::talk(house), serde_json::to_string(&self.kept)?.as_bytes())
    }

    /// Queues what a record says to the owner; whether it did.
    fn record(&mut self, all: &mut Switchboard, record: &Value, is_new: bool) -> Result<bool> {
        let Some(message) = Record(record).message() else {
            acts(all, record);
            return Ok(false);
        };
        let at = Record(record).at();
        if is_new && self.is_other && at < self.kept.newest.as_str() {
            return Ok(false);
        }
        if !message.is_creatures() || message.text().trim().is_empty() {
            return Ok(false);
        }
        let (queued, now) = (queued(all, at, message)?, clock::stamp());
        // The creature writes what it likes there; what is still to come was not said.
        let at = at.min(now.as_str());
        if queued && at > self.kept.newest.as_str() {
            at.clone_into(&mut self.kept.newest);
        }
        Ok(queued)
    }
}

/// The rest of a memory that was moved aside since it was read.
fn rest(house: &House, at: Cursor) -> Vec<Value> {
    let older = records::older(&house.memory(), "");
    let mut older =
        older.into_iter().filter(|path| std::fs::metadata(path).is_ok_and(|meta| meta.ino() == at.inode));
    older
        .next()
        .map(|path| {
            // One before the place is a line's end, unless it is the beginning.
            records::from(&path, at.place.saturating_sub(1), OLDER_BYTES).collect()
        })
        .unwrap_or_default()
}

/// Queues a message of the creature's where it belongs; whether anything was.
fn queued(all: &mut Switchboard, at: &str, message: Message) -> Result<bool> {
    let Some((channel, chat)) = destination(all, message) else { return Ok(false) };
    let (said, thread) = (message.text(), message.thread());
    let now_ms = clock::wall_ms();
    let is_answer = matches!(message.kind(), "answer" | "") && message.done() != Some(false);
    let is_within = all
        .lines
        .get_mut(&channel)
        .is_some_and(|line| (is_answer && line.state.waits(thread)) || line.state.may_say(now_ms));
    if !is_within && !all.has_room(&channel) {
        // Passed over counts as queued: after an end it is not read once more, and told in the next hour.
        return too_much(all, &channel, &chat, now_ms).map(|()| true);
    }
    let of = [at, thread, said];
    let text = if message.kind() == "reminder" { format!("Reminder: {said}") } else { said.to_owned() };
    let saying =
        Saying { channel: &channel, chat: &chat, kind: Kind::Answer, of: &of, text: &text, is_plain: false };
    let before = all.outbox.waiting(&channel).count();
    let mut is_new = all.say(&saying)?;
    for (nth, path) in enclosed::linked(&all.house, said).into_iter().enumerate() {
        let mut item = all.item(&saying, 1_000_000 + nth, "");
        item.enclosed = Some(Enclosed::Workspace(path));
        is_new |= all.queue(item)?;
    }
    let messages = all.outbox.waiting(&channel).count().saturating_sub(before) as u64;
    if is_within {
        all.lines.get_mut(&channel).into_iter().for_each(|line| line.state.told(messages, now_ms));
    }
    if is_answer {
        let line = all.lines.get_mut(&channel);
        if line.is_some_and(|line| line.state.answered(thread)) {
            all.save(&channel)?;
        }
    }
    Ok(is_new)
}

/// Leaves out what the creature says without end, and says so once an hour.
fn too_much(all: &mut Switchboard, channel: &str, chat: &Chat, now_ms: u64) -> Result<()> {
    let hour = (now_ms / 3_600_000).to_string();
    let saying = Saying {
        channel,
        chat,
        kind: Kind::Notice,
        of: &["too much", &hour],
        text: "It says more than you asked for: the rest of this hour stands in the window and on the page. /pause ends it.",
        is_plain: true,
    };
    all.say(&saying).map(|_| ())
}

/// Where a message goes: to the chat of its thread, or home, where that is gone or it belongs to no chat.
fn destination(all: &Switchboard, message: Message) -> Option<(String, Chat)> {
    let name = message.thread();
    let of = thread::channel(name, PLATFORMS.iter().map(|platform| platform.name));
    let line = of.and_then(|of| all.lines.get(of)).filter(|line| !line.is_gone());
    if let Some((line, chat)) = line.and_then(|line| Some((line, line.chat(name)?))) {
        return Some((line.name.clone(), chat.clone()));
    }
    // A channel whose owner will mend it keeps what is for it; a chat that nobody knows any more is at home.
    let waits = of.and_then(|of| all.lines.get(of)).filter(|line| line.owner().is_some());
    let is_answer = matches!(message.kind(), "answer" | "waiting" | "");
    if let Some((line, chat)) = waits.filter(|_| is_answer).and_then(|line| Some((line, line.chat(name)?))) {
        return Some((line.name.clone(), chat.clone()));
    }
    let is_for_home = of.is_some() || is_unasked(message);
    all.home().filter(|_| is_for_home)
}

/// Whether a message on a thread of no channel is worth a way to the owner: answers stay where they were asked for.
fn is_unasked(message: Message) -> bool {
    let kinds = [
        "asked_for",
        "reminder",
        "revenue",
        "approval",
        "milestone",
        "broken",
        "weekly_summary",
        "digest",
        "money",
        "stuck",
        "sub-sessions",
    ];
    kinds.contains(&message.kind()) || message.reminder().is_some()
}

/// Gathers lines on an act for the channels that want them.
fn acts(all: &mut Switchboard, record: &Value) {
    let now = clock::wall_ms();
    for line in all.lines.values_mut().filter(|line| !line.is_gone()) {
        let verbosity: Verbosity = line.verbosity().parse().unwrap_or_default();
        if verbosity == Verbosity::Minimal || text(record, "at").is_empty() {
            continue;
        }
        let Some((row, details)) = shown(record, verbosity) else { continue };
        if line.acts.is_empty() {
            line.acts_ms = line.acts_ms.max(now.saturating_sub(3_600_000));
        }
        if line.acts.len() < MOST_ACTS {
            let below = details.iter().map(|detail| format!("\n   {}", bounds::brief(detail, 400)));
            line.acts.push(format!("{} {}{}", row.tag, row.text, below.collect::<String>()));
        }
    }
}
