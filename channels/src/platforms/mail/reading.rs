//! A mail as something that was said: by whom, in which conversation, its words and files; pure.

use super::proven::{claimed, fields, proven};
use super::quoted::own_words;
use crate::channel::{Attached, Chat, Heard, Person, What, Word};
use crate::split::beginning;
use mail_parser::decoders::html::html_to_text;
use mail_parser::{HeaderName, Message, MessageParser, MimeHeaders, PartType};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Most files of a mail that are named, and most bytes of a text and of an id.
const MOST_FILES: usize = 20;
const TEXT_BYTES: usize = 256 << 10;
const ID_BYTES: usize = 250;
const SUBJECT_CHARS: usize = 150;
/// Words of a body that stand for themselves, whatever the subject: an order, a code.
const ORDER_WORDS: usize = 3;

/// Where a mail lies: its number counts only as long as the mailbox has this validity (RFC 9051, 2.3.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub validity: u32,
    pub uid: u32,
}

/// The address that is written to, and the name whose word about senders counts.
#[derive(Clone, Debug)]
pub struct Reader {
    pub address: String,
    pub authserv: String,
}

/// A conversation by its first mail and its subject: all that an answer in it needs to be shown there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    pub root: String,
    pub subject: String,
}

impl Conversation {
    pub fn read(thread: &str) -> Self {
        let (root, subject) = thread.split_once(' ').unwrap_or((thread, ""));
        Self { root: root.to_owned(), subject: subject.to_owned() }
    }

    pub fn written(&self) -> String {
        format!("{} {}", self.root, self.subject).trim_end().to_owned()
    }
}

/// Reads a mail that came at a time of the server's; `None` where it is none, or names nobody.
pub fn read(raw: &[u8], place: Place, came_ms: u64, reader: &Reader) -> Option<Heard> {
    let message = MessageParser::default().parse(raw)?;
    let from = claimed(&message)?;
    let said_ms = message
        .date()
        .map(|date| u64::try_from(date.to_timestamp()).unwrap_or_default().saturating_mul(1_000));
    let told = Heard {
        id: format!("uid-{}-{}", place.validity, place.uid),
        // A mail that was held back, or that somebody sends once more, is as old as it says.
        at_ms: said_ms.map_or(came_ms, |said| said.min(came_ms)),
        chat: Chat { id: from.clone(), thread: None, is_private: true },
        from: Person {
            id: from.clone(),
            name: from.clone(),
            is_bot: is_automatic(&message) || from == reader.address,
        },
        what: What::Unread { why: String::new() },
    };
    let believed =
        proven(&message, &reader.authserv).and_then(|from| is_for(&message, &reader.address).map(|()| from));
    if let Err(why) = believed {
        // The same words for the same reason, whatever a stranger wrote: they are told once.
        let why = format!("A mail came in your name, and I do not act on it: {why}.");
        return Some(Heard { what: What::Unread { why }, ..told });
    }
    let id = message.message_id().and_then(id_of);
    let words = words(&message);
    let is_only_command = words.starts_with('/') || words.split_whitespace().count() <= ORDER_WORDS;
    let (root, is_answer) = root(&message);
    let subject = line(bare(message.subject().unwrap_or_default()), SUBJECT_CHARS);
    let text = match (is_answer, words.is_empty(), subject.is_empty()) {
        (false, true, false) => subject.clone(),
        (false, false, false) if !is_only_command => format!("Subject: {subject}\n\n{words}"),
        _ => words,
    };
    let root = root.or_else(|| id.clone());
    let thread = root.map(|root| Conversation { root, subject }.written());
    let files = files(&message, place);
    Some(Heard {
        id: id.clone().unwrap_or(told.id),
        chat: Chat { thread, ..told.chat },
        what: What::Word(Word { message: id.unwrap_or_default(), text, files, is_addressed: true }),
        ..told
    })
}

/// Whether it was sent to this address: a mail of the owner's to somebody else, sent on, is no word to us.
fn is_for(message: &Message<'_>, address: &str) -> Result<(), String> {
    let plain = |address: &str| {
        let address = address.to_ascii_lowercase();
        let (local, domain) = address.rsplit_once('@').unwrap_or((&address, ""));
        format!("{}@{domain}", local.split('+').next().unwrap_or_default())
    };
    let ours = plain(address);
    let to = message.all_to().chain(message.all_cc()).flat_map(|address| address.iter());
    let is_there = to.filter_map(|to| to.address.as_deref()).any(|to| plain(to) == ours);
    if is_there { Ok(()) } else { Err(format!("{address} stands neither in To nor in Cc")) }
}

/// Whether no person wrote it: then it is never answered (RFC 3834, 2 and 5; lists: RFC 2919 and 2369).
pub fn is_automatic(message: &Message<'_>) -> bool {
    let first = |name: &str| fields(message, name).first().map(|value| value.trim().to_ascii_lowercase());
    let lists = [
        "List-Id",
        "List-Post",
        "List-Unsubscribe",
        "List-Help",
        "X-Autoreply",
        "X-Autorespond",
        "Feedback-ID",
    ];
    let bulk = |value: String| ["bulk", "list", "junk", "auto_reply"].contains(&value.as_str());
    let report = |value: String| value.starts_with("multipart/report");
    let robots = ["mailer-daemon", "postmaster", "noreply", "no-reply", "donotreply", "do-not-reply"];
    let sender = claimed(message).unwrap_or_default();
    first("Auto-Submitted").is_some_and(|value| !value.starts_with("no"))
        || first("Return-Path").is_some_and(|value| value == "<>")
        || first("Precedence").is_some_and(bulk)
        || first("Content-Type").is_some_and(report)
        || lists.iter().any(|name| first(name).is_some())
        || robots.contains(&sender.split('@').next().unwrap_or_default())
}

/// The first mail of the conversation, and whether this one answers another (RFC 5322, 3.6.4).
fn root(message: &Message<'_>) -> (Option<String>, bool) {
    let ids = |name: HeaderName<'static>| message.header_raw(name).map(ids_of).unwrap_or_default();
    let references = ids(HeaderName::References);
    let answers = ids(HeaderName::InReplyTo);
    let first = references.first().or(answers.first()).cloned();
    let is_answer = first.is_some();
    (first, is_answer)
}

fn ids_of(raw: &str) -> Vec<String> {
    raw.split(['<', '>']).skip(1).step_by(2).filter_map(id_of).collect()
}

/// An id as it may stand in a field of ours: plain letters, one `@`, no longer than a line.
fn id_of(id: &str) -> Option<String> {
    let is_plain =
        id.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '<' | '>' | '"' | '\\' | '(' | ')' | ','));
    (is_plain && id.len() <= ID_BYTES && id.matches('@').count() == 1).then(|| id.to_owned())
}

/// A subject without the marks of answers before it.
fn bare(subject: &str) -> &str {
    let mut rest = subject.trim();
    while let Some((mark, after)) = rest.split_once(':') {
        if !["re", "aw", "sv", "antw", "fwd", "fw", "wg", "vs", "odp"]
            .contains(&mark.trim().to_lowercase().as_str())
        {
            break;
        }
        rest = after.trim_start();
    }
    rest
}

/// Makes a text one line of at most so many characters, without what steers.
pub fn line(text: &str, most: usize) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").chars().take(most).collect()
}

/// Takes the writer's own words: the plain text, else HTML as text, without what it quotes.
fn words(message: &Message<'_>) -> String {
    let is_answer = root(message).1;
    let mut words = Vec::new();
    for part in message.text_bodies() {
        let text = match &part.body {
            PartType::Text(text) => beginning(text, TEXT_BYTES).to_owned(),
            PartType::Html(html) => html_to_text(&without_quotes(beginning(html, TEXT_BYTES))),
            PartType::Binary(_)
            | PartType::InlineBinary(_)
            | PartType::Message(_)
            | PartType::Multipart(_) => continue,
        };
        words.push(own_words(&text, is_answer));
    }
    words.join("\n").trim().to_owned()
}

/// HTML up to its first quote: programs put what is answered into a `blockquote`, or below a mark of their own.
fn without_quotes(html: &str) -> String {
    let small = html.to_ascii_lowercase();
    let marks = [
        "<blockquote",
        "class=\"gmail_quote",
        "id=\"divrplyfwdmsg\"",
        "id=\"appendonsend\"",
        "class=\"moz-cite-prefix",
    ];
    let end = marks.iter().filter_map(|mark| small.find(mark)).min().unwrap_or(small.len());
    let kept = html.get(..end).unwrap_or_default();
    // A mark within a tag leaves the beginning of that tag.
    match kept.rfind('<').filter(|at| !kept.get(*at..).unwrap_or_default().contains('>')) {
        Some(at) => kept.get(..at).unwrap_or_default().to_owned(),
        None => kept.to_owned(),
    }
}

fn files(message: &Message<'_>, place: Place) -> Vec<Attached> {
    let named = message.attachments().enumerate().take(MOST_FILES).map(|(index, part)| Attached {
        name: line(part.attachment_name().unwrap_or("file"), 255),
        bytes: u64::try_from(part.len()).ok(),
        place: json!({ "validity": place.validity, "uid": place.uid, "file": index }),
    });
    named.collect()
}

/// The bytes of a mail's file.
pub fn file(raw: &[u8], index: usize) -> Option<Vec<u8>> {
    let message = MessageParser::default().parse(raw)?;
    let part = message.attachment(u32::try_from(index).ok()?)?;
    Some(part.contents().to_vec())
}
