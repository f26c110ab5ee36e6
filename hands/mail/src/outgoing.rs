//! A mail that goes out, from its arguments to its bytes (RFC 5322), with its own Message-ID; pure but for that.

use crate::files::Attached;
use crate::settings::Settings;
use lettre::message::header::{self, ContentType, HeaderName, HeaderValue};
use lettre::message::{Attachment, Mailbox, Message, MultiPart, SinglePart};
use lettre::{Address, message::MessageBuilder};
use serde::Deserialize;
use sha2::{Digest, Sha256};

const MOST_RECIPIENTS: usize = 50;
const MOST_TEXT: usize = 200_000;
const MOST_SUBJECT: usize = 900;

/// Arguments of the tools that make a mail.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Written {
    pub to: Vec<String>,
    pub cc: Vec<String>,
    pub bcc: Vec<String>,
    pub subject: Option<String>,
    pub text: String,
    pub attachments: Vec<String>,
    /// The message that it answers or sends on.
    pub message: Option<String>,
    pub anyway: bool,
}

/// Conversation that a mail belongs to: the ids before it, the one it answers last (RFC 5322, 3.6.4).
#[derive(Debug, Default)]
pub struct Before {
    pub ids: Vec<String>,
}

/// A mail ready to be sent.
pub struct Outgoing {
    pub id: String,
    pub to: Vec<Address>,
    pub bytes: Vec<u8>,
    /// Hash of recipients and content, the same for the same mail.
    pub fingerprint: String,
    pub subject: String,
}

/// Parts of a mail, checked.
pub struct Parts {
    pub written: Written,
    pub subject: String,
    pub before: Before,
    pub files: Vec<Attached>,
    /// A message sent on as it came.
    pub forwarded: Option<Vec<u8>>,
}

impl Parts {
    /// The mail to send; Bcc stands in no copy that leaves (RFC 5322, 3.6.3).
    pub fn to_send(&self, settings: &Settings) -> Result<Outgoing, String> {
        let to = self.recipients()?;
        if to.is_empty() {
            return Err("there is no recipient: name one in to".to_owned());
        }
        let id = new_id(settings)?;
        let kind = if self.before.ids.is_empty() { "auto-generated" } else { "auto-replied" };
        let mut builder = self.head(settings, &id)?;
        if settings.says_automatic {
            // Responders then do not answer it (RFC 3834, 2 and 5).
            builder = builder.raw_header(named("Auto-Submitted", kind)?);
        }
        let message = self.body(builder)?;
        Ok(Outgoing {
            id,
            to: to.into_iter().map(|mailbox| mailbox.email).collect(),
            bytes: message.formatted(),
            fingerprint: self.fingerprint(),
            subject: self.subject.clone(),
        })
    }

    /// The mail as a draft, with its Bcc: its owner is to see all of it.
    pub fn to_keep(&self, settings: &Settings) -> Result<Outgoing, String> {
        let id = new_id(settings)?;
        let builder = self.head(settings, &id)?.keep_bcc();
        let message = self.body(builder)?;
        Ok(Outgoing {
            id,
            to: vec![],
            bytes: message.formatted(),
            fingerprint: String::new(),
            subject: self.subject.clone(),
        })
    }

    /// Every recipient, each address once.
    fn recipients(&self) -> Result<Vec<Mailbox>, String> {
        let Written { to, cc, bcc, .. } = &self.written;
        let all: Vec<Mailbox> =
            to.iter().chain(cc).chain(bcc).map(|one| person(one)).collect::<Result<_, _>>()?;
        if all.len() > MOST_RECIPIENTS {
            return Err(format!("there are more than {MOST_RECIPIENTS} recipients"));
        }
        let mut each: Vec<Mailbox> = Vec::new();
        for one in all {
            if !each.iter().any(|known| known.email == one.email) {
                each.push(one);
            }
        }
        Ok(each)
    }

    fn head(&self, settings: &Settings, id: &str) -> Result<MessageBuilder, String> {
        let Written { to, cc, bcc, text, .. } = &self.written;
        if text.len() > MOST_TEXT || self.subject.len() > MOST_SUBJECT {
            return Err(format!("at most {MOST_TEXT} bytes of text and {MOST_SUBJECT} of subject are sent"));
        }
        if self.subject.chars().any(char::is_control) {
            return Err("the subject holds control characters or more than one line".to_owned());
        }
        let address: Address = settings.address.parse().map_err(|_| {
            format!("MAIL_ADDRESS is {:?}, which is no address of a mailbox", settings.address)
        })?;
        let name = Some(settings.name.clone()).filter(|name| !name.is_empty());
        let from = Mailbox::new(name, address);
        let builder = Message::builder().from(from).date_now().message_id(Some(format!("<{id}>")));
        let mut builder = builder.subject(self.subject.clone());
        for one in to {
            builder = builder.to(person(one)?);
        }
        for one in cc {
            builder = builder.cc(person(one)?);
        }
        for one in bcc {
            builder = builder.bcc(person(one)?);
        }
        // A draft may have no recipient yet; the crate wants an envelope all the same.
        let envelope = lettre::address::Envelope::new(
            None,
            vec![settings.address.parse().map_err(|_| "MAIL_ADDRESS is no address".to_owned())?],
        );
        builder = builder.envelope(envelope.map_err(|error| error.to_string())?);
        let ids = |ids: &[String]| ids.iter().map(|id| format!("<{id}>")).collect::<Vec<_>>().join(" ");
        if let Some(last) = self.before.ids.last() {
            builder = builder.in_reply_to(format!("<{last}>")).references(ids(&self.before.ids));
        }
        Ok(builder)
    }

    fn body(&self, builder: MessageBuilder) -> Result<Message, String> {
        let text = SinglePart::plain(self.written.text.clone());
        let message = if self.files.is_empty() && self.forwarded.is_none() {
            builder.singlepart(text)
        } else {
            let mut parts = MultiPart::mixed().singlepart(text);
            for file in &self.files {
                let kind = ContentType::parse(kind_of(&file.name)).map_err(|error| error.to_string())?;
                parts = parts.singlepart(Attachment::new(file.name.clone()).body(file.bytes.clone(), kind));
            }
            if let Some(raw) = &self.forwarded {
                parts = parts.singlepart(forwarded(raw.clone())?);
            }
            builder.multipart(parts)
        };
        message.map_err(|error| format!("the mail cannot be made: {error}"))
    }

    fn fingerprint(&self) -> String {
        let Written { to, cc, bcc, text, attachments, message, .. } = &self.written;
        let people = |list: &[String]| {
            let mut people: Vec<String> = list.iter().map(|one| one.trim().to_lowercase()).collect();
            people.sort();
            people
        };
        let files: Vec<String> = self.files.iter().map(|file| hex(&Sha256::digest(&file.bytes))).collect();
        let said = serde_json::json!([
            people(to),
            people(cc),
            people(bcc),
            self.subject,
            text,
            attachments,
            message,
            files
        ]);
        hex(&Sha256::digest(said.to_string()))
    }
}

/// A mailbox as `address` or `Name <address>`, and nothing beside it.
pub fn person(text: &str) -> Result<Mailbox, String> {
    let odd = || {
        format!(
            "{:?} is no address; write one as ann@example.org or Ann <ann@example.org>",
            crate::text::line(text, 200)
        )
    };
    let text = text.trim();
    if text.chars().any(char::is_control) {
        return Err(odd());
    }
    let (name, address) = match text.strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
        Some((name, address)) => (name.trim().trim_matches('"').trim(), address),
        None => ("", text),
    };
    // Two addresses in one are no name and an address.
    if name.contains(['@', '<', '>', '"', ',', ';', '\\']) || address.contains(['"', ',', ';', ' ']) {
        return Err(odd());
    }
    let address: Address = address.parse().map_err(|_| odd())?;
    Ok(Mailbox::new(Some(name.to_owned()).filter(|name| !name.is_empty()), address))
}

/// A message as an attachment that mail programs open as one (RFC 2046, 5.2.1, which allows no base64 there).
fn forwarded(raw: Vec<u8>) -> Result<SinglePart, String> {
    let kind = ContentType::parse("message/rfc822").map_err(|error| error.to_string())?;
    let body =
        lettre::message::Body::new_with_encoding(raw.clone(), header::ContentTransferEncoding::EightBit);
    let Ok(body) = body else {
        // Its lines are longer than a mail's may be: as a file it arrives all the same.
        let kind = ContentType::parse("application/octet-stream").map_err(|error| error.to_string())?;
        return Ok(Attachment::new("forwarded.eml".to_owned()).body(raw, kind));
    };
    Ok(Attachment::new("forwarded.eml".to_owned()).body(body, kind))
}

/// A Message-ID that no other has: 128 bits of chance, at the address's own domain (RFC 5322, 3.6.4).
fn new_id(settings: &Settings) -> Result<String, String> {
    let mut chance = [0; 16];
    let filled = rustls::crypto::ring::default_provider().secure_random.fill(&mut chance);
    filled.map_err(|_| "no Message-ID can be chosen: this machine gives no chance".to_owned())?;
    let domain = settings.address.rsplit_once('@').map_or("localhost", |(_, domain)| domain);
    Ok(format!("{}@{domain}", hex(&chance)))
}

fn named(name: &'static str, value: &str) -> Result<HeaderValue, String> {
    let name = HeaderName::new_from_ascii(name.to_owned()).map_err(|error| error.to_string())?;
    Ok(HeaderValue::new(name, value.to_owned()))
}

fn kind_of(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, kind)| kind.to_lowercase()).as_deref() {
        Some("txt" | "md" | "log") => "text/plain; charset=utf-8",
        Some("csv") => "text/csv; charset=utf-8",
        Some("html" | "htm") => "text/html; charset=utf-8",
        Some("pdf") => "application/pdf",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        Some("json") => "application/json",
        Some("zip") => "application/zip",
        _ => "application/octet-stream",
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
