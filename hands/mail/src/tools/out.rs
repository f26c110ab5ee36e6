//! Tools that send: a mail, an answer, a message sent on.

use super::look;
use crate::files;
use crate::message::{self, automatic};
use crate::outgoing::{Before, Parts, Written};
use crate::sending;
use crate::session::Mailbox;
use mail_parser::{HeaderName, Message};

/// Most ids of a conversation that an answer names; RFC 5322 sets no bound, servers do to lines.
const MOST_IDS: usize = 30;
/// Bytes of a message that are read to answer it.
const HEAD_BYTES: u64 = 256 << 10;

pub async fn send(mailbox: &Mailbox, written: Written) -> Result<String, String> {
    if written.message.is_some() {
        return Err("send takes no message; to answer one use reply".to_owned());
    }
    let subject = written.subject.clone().ok_or("subject is missing")?;
    let files = attached(mailbox, &written)?;
    sending::send(mailbox, &Parts { written, subject, before: Before::default(), files, forwarded: None })
        .await
}

pub async fn reply(mailbox: &Mailbox, written: Written) -> Result<String, String> {
    let parts = answering(mailbox, written, true).await?;
    sending::send(mailbox, &parts).await
}

/// The parts of an answer to the message that is named.
pub async fn answering(mailbox: &Mailbox, written: Written, sends: bool) -> Result<Parts, String> {
    let id = written.message.clone().ok_or("message is missing: the id of the message that is answered")?;
    let (row, _) = look::one(mailbox, &id, HEAD_BYTES).await?;
    let message = message::parse(row.body().unwrap_or_default())?;
    if let Some(why) = automatic(&message).filter(|_| sends && !written.anyway) {
        return Err(format!(
            "no person waits for an answer to it: {why}. Nothing was sent; to answer all the same give anyway"
        ));
    }
    let subject = written.subject.clone().unwrap_or_else(|| prefixed("Re: ", &message::subject(&message)));
    let files = attached(mailbox, &written)?;
    Ok(Parts { written, subject, before: before(&message), files, forwarded: None })
}

pub async fn forward(mailbox: &Mailbox, written: Written) -> Result<String, String> {
    let id = written.message.clone().ok_or("message is missing: the id of the message that is sent on")?;
    let (row, _) = look::one(mailbox, &id, files::MOST_BYTES).await?;
    let raw = row.body().unwrap_or_default();
    if row.size.map_or(0, u64::from) > files::MOST_BYTES {
        return Err(format!("it has more than {} bytes", files::MOST_BYTES));
    }
    let message = message::parse(raw)?;
    let subject = written.subject.clone().unwrap_or_else(|| prefixed("Fwd: ", &message::subject(&message)));
    let files = attached(mailbox, &written)?;
    let forwarded = Some(raw.to_vec());
    sending::send(mailbox, &Parts { written, subject, before: Before::default(), files, forwarded }).await
}

pub fn attached(mailbox: &Mailbox, written: &Written) -> Result<Vec<files::Attached>, String> {
    let folders = [mailbox.settings.read.as_slice(), mailbox.settings.write.as_slice()].concat();
    files::read(&folders, &written.attachments)
}

/// The conversation before an answer: its References, or what it answers, and its own id (RFC 5322, 3.6.4).
fn before(message: &Message<'_>) -> Before {
    let mut ids = message::ids(message, HeaderName::References);
    if ids.is_empty() {
        ids = message::ids(message, HeaderName::InReplyTo).into_iter().take(1).collect();
    }
    let own = message::ids(message, HeaderName::MessageId);
    ids.retain(|id| !own.contains(id));
    ids.extend(own.into_iter().take(1));
    // The first and the last ones keep a conversation together.
    if ids.len() > MOST_IDS {
        ids.drain(1..=ids.len() - MOST_IDS);
    }
    Before { ids }
}

fn prefixed(prefix: &str, subject: &str) -> String {
    let begins =
        |text: &str, with: &str| text.get(..with.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(with));
    match begins(subject, prefix.trim_end()) {
        true => subject.to_owned(),
        false => format!("{prefix}{subject}"),
    }
}
