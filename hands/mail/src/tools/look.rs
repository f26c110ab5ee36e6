//! Tools that only look: messages found, one shown, a conversation shown.

use crate::folders::{Folder, Folders, Place, Use, select};
use crate::message;
use crate::query::{Sought, quoted};
use crate::session::{Mailbox, Open, told};
use crate::text::{line, short};
use async_imap::types::{Fetch, Flag};
use futures_util::TryStreamExt;
use mail_parser::HeaderName;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fmt::Write;

const LIMIT: usize = 20;
const MOST: usize = 50;
/// Bytes of a message that are read to show it: its text stands at its begin.
const SHOWN_BYTES: u64 = 2 << 20;
/// Characters of text shown at once, and of each message of a conversation.
const SHOWN: usize = 20_000;
const SHOWN_EACH: usize = 1_500;
/// Most messages of a conversation, and bytes read of each.
const MOST_THREAD: usize = 30;
const EACH_BYTES: u64 = 64 << 10;
const HEAD: &str = "(UID FLAGS RFC822.SIZE BODY.PEEK[HEADER.FIELDS (DATE FROM TO SUBJECT)])";

/// Arguments of a tool for one message.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    message: String,
    #[serde(default)]
    offset: usize,
}

pub async fn search(mailbox: &Mailbox, sought: Sought) -> Result<String, String> {
    let mut open = mailbox.session().await?;
    let folders = Folders::list(&mut open).await?;
    let folder = folders.named(sought.folder.as_deref().unwrap_or("INBOX"))?;
    let chosen = select(&mut open, folder, false).await?;
    let takes_literals = open.can.has_str("LITERAL+") || open.can.has_str("LITERAL-");
    let words = sought.words(takes_literals)?;
    let found = open.imap.uid_search(words).await.map_err(|error| told(&error))?;
    let mut newest: Vec<u32> = found.iter().copied().collect();
    newest.sort_unstable_by_key(|uid| std::cmp::Reverse(*uid));
    newest.truncate(sought.limit.unwrap_or(LIMIT).clamp(1, MOST));
    let mut rows = fetched(&mut open, &newest, HEAD).await?;
    rows.sort_by_key(|row| std::cmp::Reverse(row.uid));
    mailbox.keep(open).await;
    let validity = chosen.uid_validity.unwrap_or_default();
    let mut answer = format!("{}: {} found, {} in all\n", folder.name, found.len(), chosen.exists);
    for row in &rows {
        answer.push_str(&listed(row, &folder.name, validity));
    }
    if found.len() > rows.len() {
        let _ = writeln!(answer, "{} older are not shown", found.len() - rows.len());
    }
    Ok(answer)
}

/// A message in a few lines.
fn listed(row: &Fetch, folder: &str, validity: u32) -> String {
    let place = Place { folder: folder.to_owned(), validity, uid: row.uid.unwrap_or_default() };
    let head = message::parse(row.header().unwrap_or_default()).unwrap_or_default();
    let date = head.date().map(|date| date.to_rfc3339()).unwrap_or_default();
    let marks = flags(row);
    let marks = if marks.is_empty() { String::new() } else { format!(" [{marks}]") };
    format!(
        "- {place}{marks} {date}, {} bytes\n  from {}\n  to {}\n  {}\n",
        row.size.unwrap_or_default(),
        short(message::people(head.from()), 200),
        short(message::people(head.to()), 200),
        message::subject(&head),
    )
}

fn flags(row: &Fetch) -> String {
    let flags: Vec<Flag<'_>> = row.flags().collect();
    let mut marks: Vec<&str> = Vec::new();
    let known = [
        (Flag::Flagged, "flagged"),
        (Flag::Answered, "answered"),
        (Flag::Draft, "draft"),
        (Flag::Deleted, "deleted"),
    ];
    if !flags.contains(&Flag::Seen) {
        marks.push("unread");
    }
    marks.extend(known.iter().filter(|(flag, _)| flags.contains(flag)).map(|(_, mark)| *mark));
    marks.join(", ")
}

pub async fn read(mailbox: &Mailbox, shown: Shown) -> Result<String, String> {
    let (row, place) = one(mailbox, &shown.message, SHOWN_BYTES).await?;
    let raw = row.body().unwrap_or_default();
    let whole = row.size.map_or(0, u64::from);
    let message = message::parse(raw)?;
    let text = message::text(&message);
    let length = text.chars().count();
    let rest: String = text.chars().skip(shown.offset).take(SHOWN).collect();
    let mut answer = format!("{place} [{}]\n{}\n{rest}\n", flags(&row), message::head(&message));
    let next = shown.offset + SHOWN;
    if next < length {
        let _ = writeln!(answer, "\n[{} characters more: read it with offset {next}]", length - next);
    }
    let attached = message::attachments(&message);
    if !attached.is_empty() {
        let _ = write!(answer, "\nAttached:\n{attached}");
    }
    if whole > SHOWN_BYTES {
        let _ = writeln!(answer, "\n[of {whole} bytes only the first {SHOWN_BYTES} were read here]");
    }
    Ok(answer)
}

/// A message with so many bytes of it.
pub async fn one(mailbox: &Mailbox, id: &str, bytes: u64) -> Result<(Fetch, Place), String> {
    let place = Place::read(id)?;
    let mut open = mailbox.session().await?;
    let folders = Folders::list(&mut open).await?;
    place.select(&mut open, &folders, false).await?;
    let items = format!("(UID FLAGS RFC822.SIZE BODY.PEEK[]<0.{bytes}>)");
    let row = fetched(&mut open, &[place.uid], &items).await?.into_iter().next();
    mailbox.keep(open).await;
    let row = row.ok_or_else(|| format!("{place} is there no more; search again"))?;
    Ok((row, place))
}

async fn fetched(open: &mut Open, uids: &[u32], items: &str) -> Result<Vec<Fetch>, String> {
    if uids.is_empty() {
        return Ok(vec![]);
    }
    let set = uids.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let rows = open.imap.uid_fetch(set, items).await.map_err(|error| told(&error))?;
    let rows: Vec<Fetch> = rows.try_collect().await.map_err(|error| told(&error))?;
    // A server may tell of other messages in between.
    Ok(rows.into_iter().filter(|row| row.uid.is_some_and(|uid| uids.contains(&uid))).collect())
}

pub async fn thread(mailbox: &Mailbox, shown: Shown) -> Result<String, String> {
    let (row, place) = one(mailbox, &shown.message, EACH_BYTES).await?;
    let message = message::parse(row.body().unwrap_or_default())?;
    let mut ids = message::ids(&message, HeaderName::References);
    ids.extend(message::ids(&message, HeaderName::InReplyTo));
    ids.extend(message::ids(&message, HeaderName::MessageId));
    let mut seen = BTreeSet::new();
    ids.retain(|id| seen.insert(id.clone()));
    let mut open = mailbox.session().await?;
    let folders = Folders::list(&mut open).await?;
    let places = [folders.named(&place.folder).ok(), folders.named("INBOX").ok(), folders.used_as(Use::Sent)];
    let (mut found, mut names, mut shown) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for folder in places.into_iter().flatten().filter(|folder| names.insert(folder.written.clone())) {
        found.extend(of_thread(&mut open, folder, &ids).await?);
    }
    mailbox.keep(open).await;
    // One that lies in two folders is shown once.
    found.retain(|(_, id, _)| id.is_empty() || shown.insert(id.clone()));
    found.sort_by_key(|(at, _, _)| *at);
    let older = found.len().saturating_sub(MOST_THREAD);
    let texts: Vec<String> = found.into_iter().skip(older).map(|(_, _, text)| text).collect();
    let older = if older > 0 { format!("{older} older are not shown\n\n") } else { String::new() };
    Ok(format!("{older}{}", texts.join("\n---\n")))
}

/// The messages of a folder that belong to these ids: when, their own id, and as text.
async fn of_thread(
    open: &mut Open,
    folder: &Folder,
    ids: &[String],
) -> Result<Vec<(i64, String, String)>, String> {
    let validity = select(open, folder, false).await?.uid_validity.unwrap_or_default();
    let mut uids = BTreeSet::new();
    // All name the first message of a conversation; the given one and its answers are looked for by its own id.
    for id in ids.first().into_iter().chain(ids.last().filter(|_| ids.len() > 1)) {
        let id = quoted(id);
        let words = format!("OR OR HEADER MESSAGE-ID {id} HEADER REFERENCES {id} HEADER IN-REPLY-TO {id}");
        uids.extend(open.imap.uid_search(words).await.map_err(|error| told(&error))?);
    }
    let uids: Vec<u32> = uids.into_iter().rev().take(MOST_THREAD).collect();
    let items = format!("(UID FLAGS RFC822.SIZE BODY.PEEK[]<0.{EACH_BYTES}>)");
    let rows = fetched(open, &uids, &items).await?;
    let shown = rows.iter().map(|row| {
        let place = Place { folder: folder.name.clone(), validity, uid: row.uid.unwrap_or_default() };
        let message = message::parse(row.body().unwrap_or_default()).unwrap_or_default();
        let at = message.date().map_or(0, |date| date.to_timestamp());
        let id = message.message_id().map(|id| line(id, 250)).unwrap_or_default();
        let text = short(message::text(&message), SHOWN_EACH);
        (at, id, format!("{place} [{}]\n{}\n{text}\n", flags(row), message::head(&message)))
    });
    Ok(shown.collect())
}
