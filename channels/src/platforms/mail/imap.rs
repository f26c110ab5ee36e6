//! The mailbox: its new mails, by numbers that only grow, and the wait for more. RFC 9051 (IMAP), RFC 2177 (IDLE).

use super::reading::Place;
use super::server::{Security, Server, Wire};
use crate::channel::Trouble;
use crate::door::Door;
use async_imap::error::Error;
use async_imap::extensions::idle::IdleResponse;
use async_imap::types::Fetch;
use async_imap::{Client, Session};
use futures_util::TryStreamExt;
use std::time::Duration;
use tokio::time::timeout;

/// Longest time for an answer, and for that with a whole mail in it.
const SOON: Duration = Duration::from_secs(30);
const WHOLE: Duration = Duration::from_secs(300);
/// How long one wait for news is at most (RFC 2177, 3), and without a word of the server's: then it may be gone.
const IDLE: Duration = Duration::from_secs(28 * 60);
const QUIET: Duration = Duration::from_secs(9 * 60);
/// Pause between two looks at a mailbox that cannot be waited for.
const LOOK: Duration = Duration::from_secs(60);
/// Largest mail that is read: a file of the longest size and its letters.
pub const MAIL_BYTES: u32 = 40 << 20;
/// Bytes of a header that are read alone.
const HEAD_BYTES: u32 = 256 << 10;
/// How far a mailbox is read back whose numbers count no more.
const BACK_DAYS: i64 = 7;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// How the mailbox is signed in to.
#[derive(Clone)]
pub struct Account {
    pub server: Server,
    pub user: String,
    pub password: String,
}

/// A mail as the server has it.
pub struct Found {
    pub uid: u32,
    pub came_ms: u64,
    pub bytes: u32,
}

/// A session with the inbox open.
pub struct Inbox {
    session: Session<Box<dyn Wire>>,
    can_idle: bool,
    pub validity: u32,
    /// The number that the next mail gets.
    pub next: u32,
}

impl Inbox {
    /// Connects, secures the connection, signs in and opens the inbox to look alone.
    pub async fn open(account: &Account, door: &Door) -> Result<Self, Trouble> {
        let server = &account.server;
        let mut client = Client::new(server.connect(door).await?);
        let greeted = within(SOON, server, async { client.read_response().await.map_err(Error::Io) }).await?;
        if greeted.is_none() {
            return Err(Trouble::Away(format!("{} closed the connection before it greeted", server.host)));
        }
        client = begun(client, server, door).await?;
        let signed = timeout(SOON, client.login(&account.user, &account.password)).await;
        let mut session = match signed.map_err(|_| late(server))? {
            Ok(session) => session,
            // "No" to a sign-in is for good, but where the server says that it is ill (RFC 5530, 3).
            Err((Error::No(said), _))
                if !["UNAVAILABLE", "INUSE", "LIMIT"].iter().any(|code| said.contains(code)) =>
            {
                return Err(Trouble::Revoked(format!(
                    "{} refuses user {} with this password: {}",
                    server.host,
                    account.user,
                    clean(&said)
                )));
            }
            Err((error, _)) => return Err(trouble(&error)),
        };
        let can = within(SOON, server, session.capabilities()).await?;
        let inbox = within(SOON, server, session.examine("INBOX")).await?;
        let (Some(validity), Some(next)) = (inbox.uid_validity, inbox.uid_next) else {
            return Err(Trouble::Refused(format!("{} gives mails no lasting numbers", server.host)));
        };
        Ok(Self { session, can_idle: can.has_str("IDLE"), validity, next })
    }

    /// Mails with higher numbers than this one, in their order, at most so many.
    pub async fn after(&mut self, uid: u32, most: usize) -> Result<Vec<Found>, Trouble> {
        // What is told from here on may be of a mail that is not found yet.
        while self.session.unsolicited_responses.try_recv().is_ok() {}
        let range = format!("{}:*", uid.saturating_add(1));
        let fetched = self.fetched(&range, "(UID INTERNALDATE RFC822.SIZE)", SOON).await?;
        // `*` is the last one, whatever its number (RFC 9051, 9: seq-range).
        let read = |one: &Fetch| {
            let came = one.internal_date().map_or(0, |date| date.timestamp_millis());
            let came_ms = u64::try_from(came).unwrap_or_default();
            Some(Found {
                uid: one.uid.filter(|found| *found > uid)?,
                came_ms,
                bytes: one.size.unwrap_or_default(),
            })
        };
        let mut found: Vec<Found> = fetched.iter().filter_map(read).collect();
        found.sort_by_key(|found| found.uid);
        found.truncate(most);
        Ok(found)
    }

    /// A whole mail, which stays unread; `None` where it is gone.
    pub async fn mail(&mut self, uid: u32) -> Result<Option<Vec<u8>>, Trouble> {
        let fetched = self.fetched(&uid.to_string(), "(UID BODY.PEEK[])", WHOLE).await?;
        let mut ours = fetched.into_iter().filter(|one| one.uid == Some(uid));
        Ok(ours.find_map(|one| one.body().map(<[u8]>::to_vec)))
    }

    /// The beginning of a mail's header, for one that is too large to be read; `None` where it is gone.
    pub async fn head(&mut self, uid: u32) -> Result<Option<Vec<u8>>, Trouble> {
        let what = format!("(UID BODY.PEEK[HEADER]<0.{HEAD_BYTES}>)");
        let fetched = self.fetched(&uid.to_string(), &what, SOON).await?;
        let mut ours = fetched.into_iter().filter(|one| one.uid == Some(uid));
        Ok(ours.find_map(|one| one.header().map(<[u8]>::to_vec)))
    }

    async fn fetched(&mut self, range: &str, what: &str, wait: Duration) -> Result<Vec<Fetch>, Trouble> {
        let fetching = async { self.session.uid_fetch(range, what).await?.try_collect().await };
        let fetched = timeout(wait, fetching).await;
        fetched
            .map_err(|_| Trouble::Away("the mailbox does not answer".to_owned()))?
            .map_err(|error| trouble(&error))
    }

    /// The number before the first mail of the last days, for a mailbox whose numbers count no more (RFC 9051, 2.3.1.1).
    pub async fn back(&mut self, now_ms: u64) -> Result<u32, Trouble> {
        let since = format!("SINCE {}", day(now_ms, BACK_DAYS));
        let found = timeout(SOON, self.session.uid_search(since)).await;
        let found = found.map_err(|_| Trouble::Away("the mailbox does not answer".to_owned()))?;
        let first = found.map_err(|error| trouble(&error))?.into_iter().min();
        Ok(first.unwrap_or(self.next).saturating_sub(1))
    }

    /// Waits until something happens in the inbox, or for long enough to look again.
    pub async fn wait(mut self) -> Result<Self, Trouble> {
        if !self.can_idle {
            tokio::time::sleep(LOOK).await;
            let looked = timeout(SOON, self.session.noop()).await;
            looked
                .map_err(|_| Trouble::Away("the mailbox does not answer".to_owned()))?
                .map_err(|error| trouble(&error))?;
            return Ok(self);
        }
        let told = self.session.unsolicited_responses.clone();
        let mut idle = self.session.idle();
        let lost = || Trouble::Away("the connection to the mailbox was lost".to_owned());
        timeout(SOON, idle.init()).await.map_err(|_| lost())?.map_err(|error| trouble(&error))?;
        if told.is_empty() {
            let (news, _stop) = idle.wait_with_timeout(QUIET);
            match timeout(IDLE, news).await {
                // Without a stop this is the end of the connection.
                Ok(Ok(IdleResponse::ManualInterrupt)) => return Err(lost()),
                Ok(Err(error)) => return Err(trouble(&error)),
                Ok(Ok(IdleResponse::NewData(_) | IdleResponse::Timeout)) | Err(_) => {}
            }
        }
        let ended = timeout(SOON, idle.done()).await;
        self.session = ended.map_err(|_| lost())?.map_err(|error| trouble(&error))?;
        Ok(self)
    }

    pub async fn close(mut self) {
        let _ = timeout(Duration::from_secs(2), self.session.logout()).await;
    }

    pub fn place(&self, uid: u32) -> Place {
        Place { validity: self.validity, uid }
    }
}

/// Begins TLS where that comes by a command.
async fn begun(
    mut client: Client<Box<dyn Wire>>,
    server: &Server,
    door: &Door,
) -> Result<Client<Box<dyn Wire>>, Trouble> {
    if server.security == Security::Implicit {
        return Ok(client);
    }
    match within(SOON, server, client.run_command_and_check_ok("STARTTLS", None)).await {
        // What came before TLS counts for nothing (RFC 9051, 6.2.1).
        Ok(()) => Ok(Client::new(server.secured(door, client.into_inner()).await?)),
        Err(Trouble::Refused(_)) if server.security == Security::Offered => Ok(client),
        Err(Trouble::Refused(said)) => Err(Trouble::Refused(format!(
            "{} gives no TLS on port {} ({said}); port 993 may",
            server.host, server.port
        ))),
        Err(trouble) => Err(trouble),
    }
}

async fn within<T>(
    wait: Duration,
    server: &Server,
    asked: impl Future<Output = Result<T, Error>>,
) -> Result<T, Trouble> {
    timeout(wait, asked).await.map_err(|_| late(server))?.map_err(|error| trouble(&error))
}

fn late(server: &Server) -> Trouble {
    Trouble::Away(format!("{} does not answer within {} s", server.host, SOON.as_secs()))
}

fn trouble(error: &Error) -> Trouble {
    match error {
        Error::No(said) | Error::Bad(said) => {
            Trouble::Refused(format!("the mailbox's server says: {}", clean(said)))
        }
        Error::Io(_) | Error::ConnectionLost | Error::Parse(_) | Error::Validate(_) | Error::Append | _ => {
            Trouble::Away(format!("the connection to the mailbox was lost: {}", clean(&error.to_string())))
        }
    }
}

/// The server's words in a line, without the form that the crate gives them.
fn clean(said: &str) -> String {
    let words = said.rsplit_once("info: Some(\"").map_or(said, |(_, words)| words.trim_end_matches("\")"));
    super::reading::line(words, 300)
}

/// The day so many days before a time, as SEARCH takes it: `1-Nov-2026` (RFC 9051, 9: date).
fn day(now_ms: u64, before: i64) -> String {
    let days = i64::try_from(now_ms / 86_400_000).unwrap_or_default() - before;
    let date = mail_parser::DateTime::from_timestamp(days * 86_400);
    let month = MONTHS.get(usize::from(date.month).saturating_sub(1)).unwrap_or(&"Jan");
    format!("{}-{month}-{}", date.day, date.year)
}
