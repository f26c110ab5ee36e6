//! A channel: it connects, receives, acknowledges, sends and edits within its limits; `judge` decides who is heard.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// A platform that the owner is talked with on. All of it may be called at once: a send does not wait for a receive.
#[async_trait]
pub trait Channel: Send + Sync {
    /// Returns what this platform takes.
    fn limits(&self) -> &Limits;

    /// Signs in and goes on behind `after`, the cursor of the last batch that was acknowledged; `None`: at now. Returns who
    /// this channel is there, for the owner.
    async fn connect(&self, after: Option<&Value>) -> Result<Known, Trouble>;

    /// Hears whom to let in: told before the first `receive`, and again whenever it changes, also while one waits. For platforms
    /// that ask before somebody may talk, or that answer nobody but the owner.
    fn welcome(&self, _who: &Welcome) {}

    /// Waits for what was said next; in order, and again after `connect` whatever was not acknowledged.
    async fn receive(&self) -> Result<Batch, Trouble>;

    /// Tells the platform that all up to this cursor is kept here.
    async fn acknowledge(&self, upto: &Value) -> Result<(), Trouble>;

    /// Sends a message.
    async fn send(&self, message: &Message) -> Result<Sent, Trouble>;

    /// Replaces a message of ours: its text and buttons.
    async fn edit(&self, sent: &str, message: &Message) -> Result<(), Trouble>;

    /// Answers the press of a button with a short text; where the platform shows none, a message says it instead.
    async fn answer(&self, press: &Press, told: &str) -> Result<(), Trouble>;

    /// Shows for a few seconds that an answer is being written, where the platform can.
    async fn typing(&self, chat: &Chat) -> Result<(), Trouble>;

    /// Reads a file that was sent: at most `most` bytes, or it is `Trouble::Refused`. One that says to be larger is not asked
    /// for.
    async fn fetch(&self, file: &Attached, most: u64) -> Result<Vec<u8>, Trouble>;
}

/// The channel's own account on its platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its id there, and its name for people (`@feral_bot`, `feral@example.org`).
    pub id: String,
    pub name: String,
}

/// Those who may come in: the paired owner, by the platform's id, and anybody while a code is open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Welcome {
    pub owner: Option<String>,
    pub is_open: bool,
}

/// Bounds of what a platform takes.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Longest text of a message, after formatting, counted in `unit`.
    pub text: usize,
    pub unit: Unit,
    pub form: Form,
    /// Most bytes of a file, outward and inward.
    pub file_bytes: u64,
    /// Whether a message may have two buttons, each with an id of ours on it: at least 64 bytes everywhere.
    pub buttons: bool,
    pub edits: bool,
    pub typing: bool,
    /// Shortest time between two messages to one chat.
    pub gap: Duration,
    /// How long the platform drops a second message with the same key: as long, a send of unknown fate may be repeated.
    pub keys: Option<Duration>,
    /// Whether an answer from here may approve an ask.
    pub approves: bool,
}

impl Limits {
    /// Limits that most platforms have in common.
    pub const USUAL: Self = Self {
        text: 1,
        unit: Unit::Chars,
        form: Form::Plain,
        file_bytes: 0,
        buttons: true,
        edits: true,
        typing: true,
        gap: Duration::from_secs(1),
        keys: None,
        approves: true,
    };
}

/// Units that a text's length is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Chars,
    Utf16,
    Bytes,
}

/// The formatting that a platform takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Plain,
    TelegramHtml,
    DiscordMarkdown,
    SlackMrkdwn,
    MatrixHtml,
}

/// Happenings that came in one go. The cursor is the channel's own; all of the batch is kept before it is acknowledged.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub heard: Vec<Heard>,
    pub cursor: Value,
}

/// Something that happened in a chat.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// The platform's id of it: the same happening has the same id however often it is delivered.
    pub id: String,
    /// When, by the platform's clock.
    pub at_ms: u64,
    pub chat: Chat,
    pub from: Person,
    pub what: What,
}

/// A place where messages go, by the platform's id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Chat {
    pub id: String,
    /// The thread within it, where the platform has threads.
    #[serde(default)]
    pub thread: Option<String>,
    /// Whether only this person and the channel are in it.
    pub is_private: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    pub id: String,
    pub name: String,
    pub is_bot: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum What {
    Word(Word),
    /// A word said before now reads like this.
    Edited(Word),
    Deleted {
        message: String,
    },
    Press(Press),
    /// Something that this channel cannot read (it is encrypted), or does not believe (the sender is not proven). It never
    /// reaches the mind and never pairs; the owner, or anybody while a code is open, is told why: once a chat for each why.
    Unread {
        why: String,
    },
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Word {
    /// The platform's id of the message, for answers to it.
    pub message: String,
    pub text: String,
    pub files: Vec<Attached>,
    /// Whether it names this channel or answers a message of its own, which counts in a group.
    pub is_addressed: bool,
}

/// A button of a message of ours that was pressed.
#[derive(Clone, Debug, PartialEq)]
pub struct Press {
    /// Its data, as it was sent.
    pub data: String,
    /// The message it stands under.
    pub message: String,
    /// The platform wants it back with the answer.
    pub reply: Value,
}

/// A file that was sent, not yet read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attached {
    /// The sender's name of it: text of others.
    pub name: String,
    pub bytes: Option<u64>,
    /// How the channel finds it.
    pub place: Value,
}

/// A message to a chat.
#[derive(Clone, Debug)]
pub struct Message {
    pub chat: Chat,
    /// Formatted as `form` says.
    pub text: String,
    pub form: Form,
    pub buttons: Vec<Button>,
    pub file: Option<Outgoing>,
    /// The same for each try of the same message, 32 hexadecimal digits.
    pub key: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Button {
    pub label: String,
    pub data: String,
}

/// A file to send, read already.
#[derive(Clone, Debug)]
pub struct Outgoing {
    pub name: String,
    pub bytes: bytes::Bytes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The platform's id of the message.
    pub message: String,
}

/// Why something did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The platform was not reached, or is ill: nothing of it happened; again after a pause of the caller's.
    Away(String),
    /// Too fast: nothing of it happened; again after this time.
    Slower(Duration),
    /// The fate of a send is unknown: it may have happened.
    Doubtful(String),
    /// The platform does not take this formatting; the same as plain text may do.
    Form(String),
    /// Not this, ever: the platform says why.
    Refused(String),
    /// The sign-in counts no more, or never did: the owner has to act.
    Revoked(String),
    /// Another program receives with this sign-in.
    Elsewhere(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Away(why)
            | Self::Doubtful(why)
            | Self::Form(why)
            | Self::Refused(why)
            | Self::Revoked(why)
            | Self::Elsewhere(why) => out.write_str(why),
            Self::Slower(wait) => write!(out, "asked to wait {} s", wait.as_secs()),
        }
    }
}
