//! The mailbox's settings, from environment variables and arguments; a mistake is told in words and stops the start.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

/// How a connection is secured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// TLS from the first byte (RFC 8314, 3).
    Implicit,
    /// TLS after the command that asks for it, else no connection (RFC 3207; RFC 9051, 6.2.1).
    StartTls,
    /// No TLS; only within this machine.
    Plain,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    pub host: String,
    pub port: u16,
    pub security: Security,
}

/// A server's words for its addresses, and its ports: of implicit TLS, and the other.
struct Kind {
    schemes: [&'static str; 2],
    ports: [u16; 2],
}

const IMAP: Kind = Kind { schemes: ["imaps", "imap"], ports: [993, 143] };
const SMTP: Kind = Kind { schemes: ["smtps", "smtp"], ports: [465, 587] };

#[derive(Clone, Debug)]
pub struct Settings {
    pub address: String,
    /// Name shown beside the address.
    pub name: String,
    pub imap: Server,
    pub smtp: Server,
    pub user: String,
    pub password: String,
    /// Whether its mails say that no person wrote them (RFC 3834, 5).
    pub says_automatic: bool,
    /// Folder of what it notes of mails it sends.
    pub state: PathBuf,
    /// Folders from which files are attached, and folders into which attachments are saved.
    pub read: Vec<PathBuf>,
    pub write: Vec<PathBuf>,
}

impl Settings {
    /// Takes them from variables, of which one may have a name before it (`WORK_MAIL_USER`), and arguments.
    pub fn take(
        variables: &BTreeMap<String, String>,
        arguments: impl IntoIterator<Item = String>,
    ) -> Result<Self, String> {
        let of = |name: &str| {
            let named = || variables.iter().find(|(key, _)| key.ends_with(&format!("_{name}")));
            let value = variables.get(name).or_else(|| named().map(|(_, value)| value));
            value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        let needed =
            |name: &str, like: &str| of(name).ok_or_else(|| format!("{name} is not set; it is {like}"));
        let address = needed("MAIL_ADDRESS", "the mailbox's address, like me@example.org")?;
        let imap = needed("MAIL_IMAP", "the server that is read from, like imap.example.org")?;
        let smtp = needed("MAIL_SMTP", "the server that is sent by, like smtp.example.org")?;
        let home = variables.get("HOME").ok_or("HOME is not set: there is no place for its notes")?;
        let mut settings = Self {
            name: of("MAIL_NAME").unwrap_or_default(),
            imap: server(&imap, &IMAP).map_err(|why| format!("MAIL_IMAP {why}"))?,
            smtp: server(&smtp, &SMTP).map_err(|why| format!("MAIL_SMTP {why}"))?,
            user: of("MAIL_USER").unwrap_or_else(|| address.clone()),
            password: needed("MAIL_PASSWORD", "the mailbox's password, or its password for this app")?,
            says_automatic: of("MAIL_AUTO_SUBMITTED").is_none_or(|said| said != "no"),
            state: of("MAIL_STATE").map_or_else(|| PathBuf::from(home).join("outbox"), PathBuf::from),
            read: Vec::new(),
            write: Vec::new(),
            address,
        };
        settings.folders(arguments)?;
        Ok(settings)
    }

    /// Takes `--read FOLDER` and `--write FOLDER`, each any number of times.
    fn folders(&mut self, arguments: impl IntoIterator<Item = String>) -> Result<(), String> {
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let folder = arguments.next().map(PathBuf::from);
            let folder = folder.ok_or_else(|| format!("{argument} needs a folder after it"))?;
            match argument.as_str() {
                "--read" => self.read.push(folder),
                "--write" => self.write.push(folder),
                _ => {
                    return Err(format!(
                        "{argument} is not known; there are --read FOLDER and --write FOLDER"
                    ));
                }
            }
        }
        Ok(())
    }
}

/// `host`, `host:port`, or either after `imaps://`, `imap://` (STARTTLS) or `plain://`.
fn server(text: &str, kind: &Kind) -> Result<Server, String> {
    let (scheme, rest) = text.split_once("://").map_or((None, text), |(scheme, rest)| (Some(scheme), rest));
    let ([secure, later], [implicit, usual]) = (kind.schemes, kind.ports);
    let (host, port) = match rest.trim_end_matches('/').rsplit_once(':') {
        Some((host, port)) if !host.ends_with(':') && (!host.contains(':') || host.ends_with(']')) => {
            let port = port.parse().map_err(|_| format!("has {port:?} as its port, which is no number"))?;
            (host, Some(port))
        }
        _ => (rest.trim_end_matches('/'), None),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let is_host = !host.is_empty() && host.chars().all(|c| c.is_alphanumeric() || ".-_:".contains(c));
    if !is_host {
        return Err(format!("is no host; write {secure}://HOST, {later}://HOST or HOST:PORT"));
    }
    let security = match scheme {
        Some(scheme) if scheme == secure => Security::Implicit,
        Some(scheme) if scheme == later => Security::StartTls,
        Some("plain") if is_here(&host) => Security::Plain,
        Some("plain") => return Err("may be plain only on this machine: a password would be readable".into()),
        Some(_) => return Err(format!("begins with none of {secure}://, {later}:// and plain://")),
        None if port.is_none_or(|port| port == implicit) => Security::Implicit,
        None => Security::StartTls,
    };
    let default = if security == Security::Implicit { implicit } else { usual };
    Ok(Server { host, port: port.unwrap_or(default), security })
}

fn is_here(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
