//! Sessions with the IMAP server: opened when needed, kept for the next call, dropped after any trouble.

use crate::settings::{Security, Server, Settings};
use crate::wire::{self, Wire};
use async_imap::Client;
use async_imap::error::Error;
use async_imap::types::Capabilities;
use std::sync::PoisonError;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::timeout;

pub type Imap = async_imap::Session<Box<dyn Wire>>;

/// Longest time for a kept session to show that it lives.
const ALIVE: Duration = Duration::from_secs(5);
const LOGIN: Duration = Duration::from_secs(30);

/// A session and what its server can do.
pub struct Open {
    pub imap: Imap,
    pub can: Capabilities,
}

/// The mailbox at its server, with at most one session kept.
pub struct Mailbox {
    pub settings: Settings,
    kept: Mutex<Option<Open>>,
    /// Held by who sends: the same mail twice at once is then seen.
    pub turn: Mutex<()>,
    /// Words about earlier mails that no caller has heard yet.
    untold: std::sync::Mutex<Vec<String>>,
}

impl Mailbox {
    pub fn new(settings: Settings) -> Self {
        Self { settings, kept: Mutex::default(), turn: Mutex::default(), untold: std::sync::Mutex::default() }
    }

    /// Words about earlier mails for the next caller; each is told once.
    pub fn told(&self) -> Vec<String> {
        std::mem::take(&mut *self.untold.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn tell(&self, words: Vec<String>) {
        self.untold.lock().unwrap_or_else(PoisonError::into_inner).extend(words);
    }

    /// A session that lives: the kept one, else a new one.
    pub async fn session(&self) -> Result<Open, String> {
        if let Some(mut open) = self.kept.lock().await.take()
            && matches!(timeout(ALIVE, open.imap.noop()).await, Ok(Ok(())))
        {
            return Ok(open);
        }
        timeout(LOGIN, self.open()).await.unwrap_or_else(|_| {
            Err(format!("{} does not answer within {} s", self.settings.imap.host, LOGIN.as_secs()))
        })
    }

    /// Keeps a session after a call that went well.
    pub async fn keep(&self, open: Open) {
        *self.kept.lock().await = Some(open);
    }

    pub async fn leave(&self) {
        if let Some(mut open) = self.kept.lock().await.take() {
            let _ = timeout(ALIVE, open.imap.logout()).await;
        }
    }

    /// Connects, secures the connection and logs in (RFC 9051, 6.2).
    pub async fn open(&self) -> Result<Open, String> {
        let Settings { imap: server, user, password, .. } = &self.settings;
        let mut client = greeted(server).await?;
        if server.security == Security::StartTls {
            let begun = client.run_command_and_check_ok("STARTTLS", None).await;
            begun.map_err(|error| format!("{} gives no STARTTLS: {}", server.host, told(&error)))?;
            // What came before TLS counts for nothing (RFC 9051, 6.2.1).
            client = Client::new(wire::secured(server, client.into_inner()).await?);
        }
        let mut imap = client.login(user, password).await.map_err(|(error, _)| {
            if let Error::No(said) = &error {
                return format!("{} refuses user {user} with this password: {}", server.host, clean(said));
            }
            told(&error)
        })?;
        let can = imap.capabilities().await.map_err(|error| told(&error))?;
        Ok(Open { imap, can })
    }
}

async fn greeted(server: &Server) -> Result<Client<Box<dyn Wire>>, String> {
    let stream = wire::connect(server).await?;
    let stream: Box<dyn Wire> = match server.security {
        Security::Implicit => wire::secured(server, stream).await?,
        Security::StartTls | Security::Plain => Box::new(stream),
    };
    let mut client = Client::new(stream);
    match client.read_response().await {
        Ok(Some(_)) => Ok(client),
        Ok(None) => Err(format!("{} closed the connection before it greeted", server.host)),
        Err(error) => Err(format!("{} does not speak IMAP there: {error}", server.host)),
    }
}

/// A failure of the mailbox in words.
pub fn told(error: &Error) -> String {
    match error {
        Error::No(said) | Error::Bad(said) => format!("the mailbox's server says: {}", clean(said)),
        Error::ConnectionLost => "the connection to the mailbox was lost; try again".to_owned(),
        Error::Io(error) => format!("the connection to the mailbox was lost ({error}); try again"),
        Error::Append => "the mailbox's server does not take the mail".to_owned(),
        Error::Validate(odd) => format!("IMAP cannot take {:?}", odd.0),
        Error::Parse(_) | _ => clean(&error.to_string()),
    }
}

/// The server's words, without the form that the crate gives them.
fn clean(said: &str) -> String {
    let words = said.rsplit_once("info: Some(\"").map_or(said, |(_, words)| words.trim_end_matches("\")"));
    crate::text::line(words, 300)
}
