//! A message as a mail: in its conversation, by an id that was chosen before, marked as written by a program; pure.

use super::reading::{Conversation, line};
use crate::channel::Message;
use mail_builder::MessageBuilder;
use mail_builder::headers::date::Date;
use mail_builder::headers::text::Text;

const SUBJECT_CHARS: usize = 60;

/// Id of the mail that carries a message: the same for each try.
pub fn id(key: &str, address: &str) -> String {
    let domain = address.rsplit_once('@').map_or("localhost", |(_, domain)| domain);
    format!("{key}@{domain}")
}

/// The mail's bytes, all of them plain letters.
pub fn written(message: &Message, from: &str, now_ms: u64) -> Result<Vec<u8>, String> {
    let to = &message.chat.id;
    let is_plain =
        to.is_ascii() && !to.chars().any(|c| c.is_control() || c.is_whitespace() || matches!(c, '<' | '>'));
    if !is_plain || to.rsplit_once('@').is_none_or(|(local, domain)| local.is_empty() || domain.is_empty()) {
        return Err(format!("{:?} is no address that mail can go to", line(to, 100)));
    }
    let talk = message.chat.thread.as_deref().map(Conversation::read);
    let subject = match &talk {
        Some(talk) if !talk.subject.is_empty() => format!("Re: {}", talk.subject),
        _ => first_line(&message.text),
    };
    let root = talk.map(|talk| talk.root).filter(|root| !root.is_empty());
    // RFC 3834, 5: an answer to a mail, or a mail of its own accord; 3.1.8 and 4: neither is to be answered by a program.
    let automatic = if root.is_some() { "auto-replied" } else { "auto-generated" };
    let mut mail = MessageBuilder::new()
        .from(from)
        .to(to.as_str())
        .subject(subject)
        .date(Date::new(i64::try_from(now_ms / 1_000).unwrap_or_default()))
        .message_id(id(&message.key, from))
        .header("Auto-Submitted", Text::new(automatic))
        .header("X-Auto-Response-Suppress", Text::new("All"));
    // RFC 5322, 3.6.4: a conversation is known by its first mail.
    if let Some(root) = root {
        mail = mail.in_reply_to(root.clone()).references(root);
    }
    mail = mail.text_body(message.text.clone());
    if let Some(file) = &message.file {
        mail = mail.attachment("application/octet-stream", file.name.clone(), file.bytes.to_vec());
    }
    let bytes = mail.write_to_vec().map_err(|error| format!("the mail cannot be written: {error}"))?;
    if bytes.is_ascii() { Ok(bytes) } else { Err("the mail is not of plain letters".to_owned()) }
}

/// The subject of a mail that answers none: the beginning of its text.
fn first_line(text: &str) -> String {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("A word");
    let short = line(first, SUBJECT_CHARS);
    if short.chars().count() == SUBJECT_CHARS { format!("{short}…") } else { short }
}
