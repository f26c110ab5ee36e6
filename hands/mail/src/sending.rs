//! A mail from its note to its end: sent once, copied once among the sent mails, and told as unknown where it is.
//!
//! Invariant: nothing here hands a mail over that has a note other than `ready`, made in the same call.

use crate::folders::{Folders, Use};
use crate::outbox::{Note, Outbox, State};
use crate::outgoing::Parts;
use crate::query::quoted;
use crate::session::{Mailbox, Open, told};
use crate::smtp::{self, Came};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Longest time for a look among the sent mails, and for a copy.
const COPY: Duration = Duration::from_secs(60);

/// Sends a mail, and says what came of it; the error says why nothing was sent, or that it is not known.
pub async fn send(mailbox: &Mailbox, parts: &Parts) -> Result<String, String> {
    // Two calls at once are not to find the same mail unsent.
    let _turn = mailbox.turn.lock().await;
    let outbox = Outbox::open(&mailbox.settings.state)?;
    let mail = parts.to_send(&mailbox.settings)?;
    if let Some(same) = outbox.same(&mail.fingerprint).filter(|_| !parts.written.anyway) {
        return Err(format!(
            "the same mail {} (Message-ID {}), so nothing was sent; to send it once more give anyway",
            sent_before(same.state),
            same.id
        ));
    }
    let mut note = outbox.begin(&mail)?;
    let came = {
        let note = &mut note;
        smtp::hand_over(&mailbox.settings, &mail, || outbox.set(note, State::Sending, "")).await
    };
    match came {
        Came::Taken(said) => {
            // Whatever fails from here on, it was sent.
            let noted = outbox.set(&mut note, State::Taken, &said);
            let copied = copied(mailbox, &outbox, &mut note).await;
            let odd = noted.err().into_iter().chain(copied.err()).map(|why| format!("\nNote: {why}"));
            let to = note.to.join(", ");
            Ok(format!("sent to {to} (Message-ID {}): {said}{}", mail.id, odd.collect::<String>()))
        }
        Came::Not(why) => {
            let _ = outbox.set(&mut note, State::Refused, &why);
            outbox.tidy();
            Err(format!("nothing was sent: {why}"))
        }
        Came::Unknown(why) => Err(unknown(mailbox, &outbox, &mut note, &why).await),
    }
}

const fn sent_before(state: State) -> &'static str {
    match state {
        State::Taken | State::Sent => "was sent within the last day",
        State::Ready | State::Refused | State::Sending | State::Unknown => {
            "left within the last day, and it is not known whether the server took it"
        }
    }
}

/// A mail of which the server's answer is lost: found among the sent mails it was sent, else it is unknown for good.
async fn unknown(mailbox: &Mailbox, outbox: &Outbox, note: &mut Note, why: &str) -> String {
    if let Ok(true) = timeout(COPY, is_among_sent(mailbox, &note.id)).await.unwrap_or(Ok(false)) {
        let _ = outbox.set(note, State::Sent, "found among the sent mails");
        return format!("{why}; but it lies among the sent mails, so it was sent (Message-ID {})", note.id);
    }
    note.told = true;
    let _ = outbox.set(note, State::Unknown, why);
    format!(
        "it is not known whether the mail to {} was sent: {why}. It is not sent again by itself; ask the recipient, or \
         your owner, before you send it again (Message-ID {}, its copy is {})",
        note.to.join(", "),
        note.id,
        outbox.mail(&note.id).display()
    )
}

/// Settles what an earlier run left: copies that are due are made, and mails whose end is not known are told, each once.
pub async fn settle(mailbox: Arc<Mailbox>) {
    let _turn = mailbox.turn.lock().await;
    let Ok(outbox) = Outbox::open(&mailbox.settings.state) else { return };
    let (mut told, mut is_away) = (Vec::new(), false);
    for mut note in outbox.notes() {
        match note.state {
            // It was stopped before anything left.
            State::Ready => {
                let why = "stopped before anything left";
                let _ = outbox.set(&mut note, State::Refused, why);
                told.push(format!("the mail to {} was not sent: {why}", note.to.join(", ")));
            }
            State::Sending => {
                told.push(unknown(&mailbox, &outbox, &mut note, "stopped while the mail was leaving").await);
            }
            State::Unknown if !note.told => {
                note.told = true;
                let _ = outbox.save(&note);
                told.push(format!("it is not known whether the mail to {} was sent", note.to.join(", ")));
            }
            // Who sends waits for this: a mailbox that is away is asked once.
            State::Taken if !is_away => is_away = copied(&mailbox, &outbox, &mut note).await.is_err(),
            State::Taken | State::Sent | State::Refused | State::Unknown => {}
        }
    }
    outbox.tidy();
    mailbox.tell(told);
}

/// Puts a copy among the sent mails, unless the server did so itself.
async fn copied(mailbox: &Mailbox, outbox: &Outbox, note: &mut Note) -> Result<(), String> {
    let bytes = outbox.bytes(note)?;
    let copied = timeout(COPY, copy(mailbox, &note.id, &bytes)).await;
    copied.unwrap_or_else(|_| Err("the mailbox's server does not answer".to_owned())).map_err(|why| {
        format!("no copy lies among the sent mails yet ({why}); it is tried again at the next start")
    })?;
    let said = note.said.clone();
    outbox.set(note, State::Sent, &said)
}

async fn copy(mailbox: &Mailbox, id: &str, bytes: &[u8]) -> Result<(), String> {
    let mut open = mailbox.session().await?;
    let folders = Folders::list(&mut open).await?;
    let sent = match folders.used_as(Use::Sent) {
        Some(sent) => sent.written.clone(),
        None => {
            open.imap.create("Sent").await.map_err(|error| told(&error))?;
            "Sent".to_owned()
        }
    };
    if !lies_in(&mut open, &sent, id).await? {
        open.imap.append(&sent, Some("(\\Seen)"), None, bytes).await.map_err(|error| told(&error))?;
    }
    mailbox.keep(open).await;
    Ok(())
}

async fn is_among_sent(mailbox: &Mailbox, id: &str) -> Result<bool, String> {
    let mut open = mailbox.session().await?;
    let folders = Folders::list(&mut open).await?;
    let mut is_there = false;
    for folder in [Use::Sent, Use::All].into_iter().filter_map(|what| folders.used_as(what)) {
        is_there |= lies_in(&mut open, &folder.written, id).await?;
    }
    mailbox.keep(open).await;
    Ok(is_there)
}

/// Whether a message of this id lies in a folder. The folder is left unselected, since an append to a selected one is
/// answered in an order that not every client expects.
pub async fn lies_in(open: &mut Open, folder: &str, id: &str) -> Result<bool, String> {
    open.imap.examine(folder).await.map_err(|error| told(&error))?;
    let words = format!("HEADER MESSAGE-ID {}", quoted(id));
    let found = open.imap.uid_search(words).await.map_err(|error| told(&error))?;
    open.imap.close().await.map_err(|error| told(&error))?;
    Ok(!found.is_empty())
}
