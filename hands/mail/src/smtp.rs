//! Hands a mail to the SMTP server, to all recipients or to none, and says what is certain about it afterwards.

use crate::outgoing::Outgoing;
use crate::settings::{Security, Settings};
use crate::text::line;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::{ClientId, Extension, MailBodyParameter, MailParameter};
use std::time::Duration;
use tokio::time::timeout;

/// Longest time for a connection with TLS and login, and for each answer before the mail itself: shorter than RFC 5321's
/// five minutes (4.5.3.2), since nothing has been handed over yet.
const OPEN: Duration = Duration::from_secs(45);
const STEP: Duration = Duration::from_secs(60);
/// Longest time for the answer to the mail (RFC 5321, 4.5.3.2.6).
const TAKE: Duration = Duration::from_secs(600);
const WORDS: usize = 300;

/// Outcome of handing a mail over.
#[derive(Debug)]
pub enum Came {
    /// The server took it; its words.
    Taken(String),
    /// Nothing was taken, for certain: why, and whether the same may go later.
    Not(String),
    /// The mail left, and no answer came.
    Unknown(String),
}

/// Hands a mail over. `leaves` runs before the first byte of the mail leaves; if it fails nothing does.
pub async fn hand_over(
    settings: &Settings,
    mail: &Outgoing,
    leaves: impl FnOnce() -> Result<(), String>,
) -> Came {
    let opened = timeout(OPEN, open(settings)).await;
    let host = &settings.smtp.host;
    let mut server = match opened
        .unwrap_or_else(|_| Err(format!("{host} does not answer within 45 s; try again later")))
    {
        Ok(server) => server,
        Err(why) => return Came::Not(why),
    };
    if let Err(why) = envelope(settings, mail, &mut server).await {
        let _ = timeout(Duration::from_secs(2), server.abort()).await;
        return Came::Not(why);
    }
    if let Err(why) = leaves() {
        let _ = timeout(Duration::from_secs(2), server.abort()).await;
        return Came::Not(why);
    }
    let answer = timeout(TAKE, server.message(&mail.bytes)).await;
    let came = match answer {
        Ok(Ok(said)) => Came::Taken(line(&said.message().collect::<Vec<_>>().join(" "), WORDS)),
        Ok(Err(error)) if error.status().is_some() => Came::Not(refused("the mail", &error)),
        Ok(Err(error)) => Came::Unknown(line(&error.to_string(), WORDS)),
        Err(_) => Came::Unknown(format!("no answer within {} s", TAKE.as_secs())),
    };
    // The answer is noted first; nobody waits for a farewell.
    tokio::spawn(async move { timeout(Duration::from_secs(2), server.quit()).await.map(drop) });
    came
}

/// A connection that is secured and logged in.
async fn open(settings: &Settings) -> Result<AsyncSmtpConnection, String> {
    let server = &settings.smtp;
    let (host, at) = (server.host.as_str(), (server.host.as_str(), server.port));
    let tls = || {
        TlsParameters::new_rustls(host.to_owned())
            .map_err(|error| format!("the certificates of this machine cannot be read: {error}"))
    };
    let us = ClientId::Domain("localhost".to_owned());
    let implicit = (server.security == Security::Implicit).then(tls).transpose()?;
    let opened = AsyncSmtpConnection::connect_tokio1(at, Some(OPEN), &us, implicit, None).await;
    let mut open = opened.map_err(|error| refused(&format!("{host}:{}", server.port), &error))?;
    if server.security == Security::StartTls {
        let secured = open.starttls(tls()?, &us).await;
        secured.map_err(|error| refused(&format!("STARTTLS at {host}"), &error))?;
    }
    let known = [Mechanism::Plain, Mechanism::Login];
    let offers = open.server_info().get_auth_mechanism(&known).is_some();
    // A server that offers no login, as some within a machine, takes mail without one.
    if offers || server.security != Security::Plain {
        let credentials = Credentials::new(settings.user.clone(), settings.password.clone());
        let taken = open.auth(&known, &credentials).await;
        taken.map_err(|error| {
            refused(&format!("user {} with this password at {host}", settings.user), &error)
        })?;
    }
    Ok(open)
}

/// Names sender and recipients; any that is refused means that none gets the mail.
async fn envelope(
    settings: &Settings,
    mail: &Outgoing,
    server: &mut AsyncSmtpConnection,
) -> Result<(), String> {
    let from = settings.address.parse().map_err(|_| "MAIL_ADDRESS is no address".to_owned())?;
    let info = server.server_info();
    let mut options = Vec::new();
    let is_wide = mail.to.iter().any(|to| !to.to_string().is_ascii());
    for (is_needed, extension, option, what) in [
        (is_wide, Extension::SmtpUtfEight, MailParameter::SmtpUtfEight, "addresses beyond ASCII"),
        (
            !mail.bytes.is_ascii(),
            Extension::EightBitMime,
            MailParameter::Body(MailBodyParameter::EightBitMime),
            "mails of 8 bits",
        ),
    ] {
        if is_needed && !info.supports_feature(extension) {
            return Err(format!("{} takes no {what}", settings.smtp.host));
        }
        options.extend(is_needed.then_some(option));
    }
    step(server, "the sender", Mail::new(Some(from), options)).await?;
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    for to in &mail.to {
        match step(server, to.as_ref(), Rcpt::new(to.clone(), vec![])).await {
            Ok(()) => good.push(to.to_string()),
            Err(why) => bad.push(why),
        }
        if server.has_broken() {
            break;
        }
    }
    if !bad.is_empty() {
        let others = match good.as_slice() {
            [] => String::new(),
            good => format!("; {} would be taken, so leave the others out", good.join(", ")),
        };
        return Err(format!("{}{others}", bad.join("; ")));
    }
    step(server, "the mail", Data).await
}

async fn step(
    server: &mut AsyncSmtpConnection,
    what: &str,
    command: impl std::fmt::Display,
) -> Result<(), String> {
    match timeout(STEP, server.command(command)).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(refused(what, &error)),
        Err(_) => Err(format!("{what}: no answer within {} s; try again later", STEP.as_secs())),
    }
}

/// A refusal in words: for now with 4xx, for good with 5xx (RFC 5321, 4.2.1).
fn refused(what: &str, error: &Error) -> String {
    let said = line(&error.to_string(), WORDS);
    match error.is_permanent() {
        true => format!("{what} is refused: {said}"),
        false if error.is_transient() => format!("{what} is not taken now, try again later: {said}"),
        false => format!("{what}: {said}"),
    }
}
