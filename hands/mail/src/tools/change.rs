//! Tools that change the mailbox or a folder of files: drafts, flags, moves, attachments saved.

use super::{look, out};
use crate::files;
use crate::folders::{Folders, Place, Use};
use crate::message;
use crate::outgoing::{Before, Parts, Written};
use crate::session::{Mailbox, Open, told};
use futures_util::TryStreamExt;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saved {
    message: String,
    number: usize,
    path: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moved {
    message: String,
    folder: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flagged {
    message: String,
    #[serde(default)]
    set: Vec<Mark>,
    #[serde(default)]
    take: Vec<Mark>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mark {
    Seen,
    Flagged,
    Answered,
}

impl Mark {
    /// As IMAP writes it (RFC 9051, 2.3.2).
    const fn written(self) -> &'static str {
        match self {
            Self::Seen => "\\Seen",
            Self::Flagged => "\\Flagged",
            Self::Answered => "\\Answered",
        }
    }
}

/// Saves an attachment as a new file.
pub async fn attachment(mailbox: &Mailbox, saved: Saved) -> Result<String, String> {
    let (row, place) = look::one(mailbox, &saved.message, files::MOST_BYTES).await?;
    if row.size.map_or(0, u64::from) > files::MOST_BYTES {
        return Err(format!("{place} has more than {} bytes", files::MOST_BYTES));
    }
    let message = message::parse(row.body().unwrap_or_default())?;
    let part = saved.number.checked_sub(1).and_then(|at| message.attachment(u32::try_from(at).ok()?));
    let part = part.ok_or_else(|| {
        let there = message::attachments(&message);
        if there.is_empty() {
            "nothing is attached to it".to_owned()
        } else {
            format!("attached are:\n{there}")
        }
    })?;
    // A message that is attached is saved as it came.
    let bytes = match part.message() {
        Some(inner) => inner.raw_message(),
        None => part.contents(),
    };
    let named = saved.path.clone().unwrap_or_else(|| message::name(part));
    let path = files::save(&mailbox.settings.write, &named, saved.path.is_some(), bytes)?;
    Ok(format!("saved as {} ({} bytes)", path.display(), bytes.len()))
}

/// Keeps a mail in the mailbox's own folder of drafts.
pub async fn draft(mailbox: &Mailbox, written: Written) -> Result<String, String> {
    let parts = match written.message {
        Some(_) => out::answering(mailbox, written, false).await?,
        None => {
            let subject = written.subject.clone().unwrap_or_default();
            let files = out::attached(mailbox, &written)?;
            Parts { written, subject, before: Before::default(), files, forwarded: None }
        }
    };
    let mail = parts.to_keep(&mailbox.settings)?;
    let mut open = mailbox.session().await?;
    let folders = Folders::list(&mut open).await?;
    let (name, folder) = match folders.used_as(Use::Drafts) {
        Some(drafts) => (drafts.name.clone(), drafts.written.clone()),
        None => {
            open.imap.create("Drafts").await.map_err(|error| told(&error))?;
            ("Drafts".to_owned(), "Drafts".to_owned())
        }
    };
    let kept = open.imap.append(&folder, Some("(\\Draft \\Seen)"), None, &mail.bytes).await;
    kept.map_err(|error| told(&error))?;
    let chosen = open.imap.examine(&folder).await.map_err(|error| told(&error))?;
    let words = format!("HEADER MESSAGE-ID {}", crate::query::quoted(&mail.id));
    let uid = open.imap.uid_search(words).await.map_err(|error| told(&error))?.into_iter().max();
    mailbox.keep(open).await;
    let place = Place {
        folder: name.clone(),
        validity: chosen.uid_validity.unwrap_or_default(),
        uid: uid.unwrap_or_default(),
    };
    Ok(format!("kept in {name} as {place}; it was not sent"))
}

pub async fn flag(mailbox: &Mailbox, flagged: Flagged) -> Result<String, String> {
    if flagged.set.is_empty() && flagged.take.is_empty() {
        return Err("name flags in set or take".to_owned());
    }
    let (mut open, _, place) = chosen(mailbox, &flagged.message).await?;
    for (sign, marks) in [('+', &flagged.set), ('-', &flagged.take)] {
        if !marks.is_empty() {
            let marks = marks.iter().map(|mark| mark.written()).collect::<Vec<_>>().join(" ");
            store(&mut open, place.uid, &format!("{sign}FLAGS ({marks})")).await?;
        }
    }
    mailbox.keep(open).await;
    Ok(format!("{place} is flagged so"))
}

/// Moves a message: at once where the server can (RFC 6851), else by a copy, after which the original is removed alone
/// (RFC 4315), or only marked where the server cannot do that either.
pub async fn r#move(mailbox: &Mailbox, moved: Moved) -> Result<String, String> {
    let (mut open, folders, place) = chosen(mailbox, &moved.message).await?;
    let to = folders.named(&moved.folder)?;
    let uid = place.uid.to_string();
    let mut how = "";
    if open.can.has_str("MOVE") {
        open.imap.uid_mv(&uid, &to.written).await.map_err(|error| told(&error))?;
    } else {
        open.imap.uid_copy(&uid, &to.written).await.map_err(|error| told(&error))?;
        store(&mut open, place.uid, "+FLAGS (\\Deleted)").await?;
        if open.can.has_str("UIDPLUS") {
            let gone = open.imap.uid_expunge(&uid).await.map_err(|error| told(&error))?;
            let _: Vec<u32> = gone.try_collect().await.map_err(|error| told(&error))?;
        } else {
            how = "; the original is marked as deleted, since this server removes no single message";
        }
    }
    mailbox.keep(open).await;
    Ok(format!("{place} was moved to {}{how}; search there for its new id", to.name))
}

/// A session with the folder of a message selected to be changed; the message is there.
async fn chosen(mailbox: &Mailbox, id: &str) -> Result<(Open, Folders, Place), String> {
    let place = Place::read(id)?;
    let mut open = mailbox.session().await?;
    let folders = Folders::list(&mut open).await?;
    place.select(&mut open, &folders, true).await?;
    let found = open.imap.uid_search(format!("UID {}", place.uid)).await.map_err(|error| told(&error))?;
    if found.is_empty() {
        mailbox.keep(open).await;
        return Err(format!("{place} is there no more; search again"));
    }
    Ok((open, folders, place))
}

async fn store(open: &mut Open, uid: u32, words: &str) -> Result<(), String> {
    let stored = open.imap.uid_store(uid.to_string(), words).await.map_err(|error| told(&error))?;
    let _: Vec<_> = stored.try_collect().await.map_err(|error| told(&error))?;
    Ok(())
}
