//! Mail as a channel: the inbox of an address of its own by IMAP, and answers by SMTP; only a proven sender is believed.
//!
//! Invariant: no mail that a program wrote is answered, and none approves anything.

mod imap;
pub mod proven;
pub mod quoted;
pub mod reading;
pub mod server;
pub mod smtp;
pub mod writing;

use crate::channel::{
    Attached, Batch, Channel, Chat, Form, Heard, Known, Limits, Message, Press, Sent, Trouble, Unit, What,
};
use crate::door::Door;
use async_trait::async_trait;
use house::clock;
use house::mutex::lock;
use house::settings::channels;
use imap::{Account, Found, Inbox, MAIL_BYTES};
use reading::{Place, Reader, read};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use server::Server;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Mutex;

/// Most mails, and about most bytes of them, that are handed on at once.
const AT_ONCE: usize = 20;
const BATCH_BYTES: u32 = 8 << 20;

/// The last mail that was handed on, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Position {
    validity: u32,
    uid: u32,
}

pub struct Mail {
    mailbox: Account,
    sending: smtp::Account,
    reader: Reader,
    door: Door,
    position: std::sync::Mutex<Option<Position>>,
    /// Whether it begins at now, and nobody was told yet where that is.
    begins: AtomicBool,
    /// The session that waits for news; dropped after any trouble.
    inbox: Mutex<Option<Inbox>>,
}

pub const LIMITS: Limits = Limits {
    text: 100_000,
    unit: Unit::Chars,
    form: Form::Plain,
    file_bytes: 15 << 20,
    buttons: false,
    edits: false,
    typing: false,
    // A server takes the same Message-ID twice.
    keys: None,
    approves: false,
    ..Limits::USUAL
};

impl Mail {
    pub fn new(
        settings: &channels::Channel,
        secrets: &dyn Fn(&str) -> Option<String>,
        door: Door,
    ) -> Result<Self, String> {
        let name = &settings.password_env;
        let password = secrets(name).filter(|password| !password.is_empty()).ok_or_else(|| {
            format!("{name} is not set: put the mailbox's password into .env, see docs/channels.md#mail")
        })?;
        let address = settings.address.to_ascii_lowercase();
        let user = if settings.user.is_empty() { settings.address.clone() } else { settings.user.clone() };
        let (imap, smtp) = (Server::read(&settings.imap)?, Server::read(&settings.smtp)?);
        Ok(Self {
            mailbox: Account { server: imap, user: user.clone(), password: password.clone() },
            sending: smtp::Account { server: smtp, user, password },
            reader: Reader { address, authserv: settings.authserv.clone() },
            door,
            position: std::sync::Mutex::default(),
            begins: AtomicBool::new(false),
            inbox: Mutex::default(),
        })
    }

    fn position(&self) -> Option<Position> {
        *lock(&self.position)
    }

    fn reached(&self, position: Position) {
        *lock(&self.position) = Some(position);
    }

    /// Where to go on: behind the last number, if numbers still count; else back over the last days, where the ids of mails
    /// tell what was heard.
    async fn place(&self, inbox: &mut Inbox) -> Result<Position, Trouble> {
        let validity = inbox.validity;
        let position = match self.position() {
            Some(position) if position.validity == validity => position,
            Some(_) => Position { validity, uid: inbox.back(clock::wall_ms()).await? },
            None => Position { validity, uid: inbox.next.saturating_sub(1) },
        };
        self.reached(position);
        Ok(position)
    }

    /// Reads the mails that were found, and the place behind the last one read.
    async fn hear(&self, inbox: &mut Inbox, found: Vec<Found>) -> Result<(Vec<Heard>, u32), Trouble> {
        let (mut heard, mut last, mut bytes) = (Vec::new(), 0, 0_u32);
        for one in found {
            if bytes > BATCH_BYTES {
                break;
            }
            let is_read = one.bytes <= MAIL_BYTES;
            bytes = bytes.saturating_add(if is_read { one.bytes } else { 0 });
            let place = inbox.place(one.uid);
            let raw = if is_read { inbox.mail(one.uid).await? } else { inbox.head(one.uid).await? };
            let mail = raw.and_then(|raw| read(&raw, place, one.came_ms, &self.reader));
            heard.extend(mail.map(|mail| if is_read { mail } else { too_large(mail) }));
            last = one.uid;
        }
        Ok((heard, last))
    }
}

/// A mail of which the header alone was read: the sender is told, where that proves who it is.
fn too_large(mail: Heard) -> Heard {
    let why = format!(
        "A mail of yours is larger than {} MiB, and I did not read it: send it in parts.",
        MAIL_BYTES >> 20
    );
    let what = if matches!(mail.what, What::Word(_)) { What::Unread { why } } else { mail.what };
    Heard { what, ..mail }
}

#[async_trait]
impl Channel for Mail {
    fn limits(&self) -> &Limits {
        &LIMITS
    }

    async fn connect(&self, after: Option<&Value>) -> Result<Known, Trouble> {
        let mut held = self.inbox.lock().await;
        *held = None;
        let position = after.map(|cursor| serde_json::from_value(cursor.clone())).transpose();
        let position = position
            .map_err(|error| Trouble::Refused(format!("its place is not as it was written: {error}")))?;
        *lock(&self.position) = position;
        let mut inbox = Inbox::open(&self.mailbox, &self.door).await?;
        self.place(&mut inbox).await?;
        *held = Some(inbox);
        self.begins.store(after.is_none(), Ordering::Relaxed);
        let address = self.reader.address.clone();
        Ok(Known { id: address.clone(), name: address })
    }

    async fn receive(&self) -> Result<Batch, Trouble> {
        let mut held = self.inbox.lock().await;
        if self.begins.swap(false, Ordering::Relaxed) {
            return Ok(Batch { heard: vec![], cursor: json!(self.position()) });
        }
        loop {
            // What is taken out is put back only where all went well.
            let mut inbox = match held.take() {
                Some(inbox) => inbox,
                None => Inbox::open(&self.mailbox, &self.door).await?,
            };
            let position = self.place(&mut inbox).await?;
            let found = inbox.after(position.uid, AT_ONCE).await?;
            if found.is_empty() {
                *held = Some(inbox.wait().await?);
                continue;
            }
            let (heard, last) = self.hear(&mut inbox, found).await?;
            *held = Some(inbox);
            let position = Position { uid: last.max(position.uid), ..position };
            self.reached(position);
            if !heard.is_empty() {
                return Ok(Batch { heard, cursor: json!(position) });
            }
        }
    }

    /// Nothing is to be told: mails stay as they are, and the place is ours.
    async fn acknowledge(&self, _upto: &Value) -> Result<(), Trouble> {
        Ok(())
    }

    async fn send(&self, message: &Message) -> Result<Sent, Trouble> {
        let from = &self.reader.address;
        let mail = writing::written(message, from, clock::wall_ms()).map_err(Trouble::Refused)?;
        smtp::hand_over(&self.sending, &self.door, from, &message.chat.id, &mail).await?;
        Ok(Sent { message: writing::id(&message.key, from) })
    }

    async fn edit(&self, _sent: &str, _message: &Message) -> Result<(), Trouble> {
        Err(Trouble::Refused("a mail that was sent cannot be changed".to_owned()))
    }

    async fn answer(&self, _press: &Press, _told: &str) -> Result<(), Trouble> {
        Ok(())
    }

    async fn typing(&self, _chat: &Chat) -> Result<(), Trouble> {
        Ok(())
    }

    /// Over a session of its own: the other one waits for news.
    async fn fetch(&self, file: &Attached, most: u64) -> Result<Vec<u8>, Trouble> {
        let gone = || Trouble::Refused("the mail with this file is there no more".to_owned());
        let place: Place = serde_json::from_value(file.place.clone()).map_err(|_| gone())?;
        let index =
            file.place.get("file").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok());
        let mut inbox = Inbox::open(&self.mailbox, &self.door).await?;
        if inbox.validity != place.validity {
            return Err(gone());
        }
        let raw = inbox.mail(place.uid).await?.ok_or_else(gone)?;
        inbox.close().await;
        let bytes = reading::file(&raw, index.ok_or_else(gone)?).ok_or_else(gone)?;
        if u64::try_from(bytes.len()).is_ok_and(|bytes| bytes <= most) {
            Ok(bytes)
        } else {
            Err(Trouble::Refused(format!("it has more than {most} bytes")))
        }
    }
}
