//! News of the inbox: the server tells of them while it is listened to (RFC 2177), else it is asked now and then.

use crate::folders::{Folders, select};
use crate::session::{Mailbox, Open, told};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// Longest time of one IDLE: servers end one that is older than half an hour (RFC 2177, 3).
const IDLE: Duration = Duration::from_secs(28 * 60);
/// Pause between two looks where the server cannot tell.
const POLL: Duration = Duration::from_secs(60);
/// Pause before a lost connection is opened again; it doubles up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(900);
const ANSWER: Duration = Duration::from_secs(60);

/// How the inbox stands: its validity, how many messages there are, and the number that the next one gets.
type Standing = (Option<u32>, u32, Option<u32>);

/// Watches the inbox until nobody listens any more; each change counts one up.
pub async fn watch(mailbox: Arc<Mailbox>, changes: watch::Sender<u64>) {
    let (mut known, mut pause) = (None, FIRST_PAUSE);
    while !changes.is_closed() {
        let looked = tokio::select! {
            looked = look(&mailbox, &mut known, &changes, &mut pause) => looked,
            () = changes.closed() => return,
        };
        if looked.is_err() {
            tokio::select! {
                () = sleep(pause) => {}
                () = changes.closed() => return,
            }
            pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
        }
    }
}

/// Looks at the inbox over one connection, until that is lost.
async fn look(
    mailbox: &Mailbox,
    known: &mut Option<Standing>,
    changes: &watch::Sender<u64>,
    pause: &mut Duration,
) -> Result<(), String> {
    let late = |_| "no answer".to_owned();
    let mut open = timeout(ANSWER, mailbox.open()).await.map_err(late)??;
    loop {
        let standing = timeout(ANSWER, standing(&mut open)).await.map_err(late)??;
        *pause = FIRST_PAUSE;
        if known.replace(standing).is_some_and(|before| before != standing) {
            changes.send_modify(|count| *count += 1);
        }
        open = told_of(open).await?;
    }
}

async fn standing(open: &mut Open) -> Result<Standing, String> {
    let folders = Folders::list(open).await?;
    let inbox = select(open, folders.named("INBOX")?, false).await?;
    Ok((inbox.uid_validity, inbox.exists, inbox.uid_next))
}

/// Waits until the server tells of something, or long enough to look.
async fn told_of(open: Open) -> Result<Open, String> {
    if !open.can.has_str("IDLE") {
        sleep(POLL).await;
        return Ok(open);
    }
    let Open { imap, can } = open;
    let mut idle = imap.idle();
    idle.init().await.map_err(|error| told(&error))?;
    let (news, stop) = idle.wait_with_timeout(IDLE);
    let heard = news.await;
    drop(stop);
    heard.map_err(|error| told(&error))?;
    let imap = timeout(ANSWER, idle.done()).await.map_err(|_| "no answer".to_owned())?;
    Ok(Open { imap: imap.map_err(|error| told(&error))?, can })
}
