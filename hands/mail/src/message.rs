//! A message as it is shown: its head in clean lines, its text, and what is attached; pure.

use crate::text::{line, lines};
use mail_parser::decoders::html::html_to_text;
use mail_parser::{Address, HeaderName, Message, MessageParser, MessagePart, MimeHeaders};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Characters of a line of the head.
const MOST_LINE: usize = 500;
/// Most addresses shown of a line, and most attachments named.
const MOST_NAMES: usize = 50;
/// Columns at which HTML is wrapped, and most bytes of it that are read.
const COLUMNS: usize = 100;
const MOST_HTML: usize = 256 << 10;
/// Deepest HTML that is laid out, which takes time by the square of that.
const MOST_DEPTH: usize = 200;

pub fn parse(raw: &[u8]) -> Result<Message<'_>, String> {
    MessageParser::default().parse(raw).ok_or_else(|| "it is no readable mail".to_owned())
}

/// The head in lines; the addresses to answer at stand in it (RFC 5322, 3.6.2).
pub fn head(message: &Message<'_>) -> String {
    let mut head = String::new();
    let mut say = |name: &str, value: String| {
        if !value.is_empty() {
            let _ = writeln!(head, "{name}: {value}");
        }
    };
    say("From", people(message.from()));
    say("To", people(message.to()));
    say("Cc", people(message.cc()));
    say("Bcc", people(message.bcc()));
    say("Reply-To", people(message.reply_to()));
    say("Date", message.date().map(|date| date.to_rfc3339()).unwrap_or_default());
    say("Subject", subject(message));
    say("Message-ID", message.message_id().map(|id| line(id, MOST_LINE)).unwrap_or_default());
    if let Some(why) = automatic(message) {
        say("Automatic", why);
    }
    head
}

pub fn subject(message: &Message<'_>) -> String {
    message.subject().map(|subject| line(subject, MOST_LINE)).unwrap_or_default()
}

/// Names and addresses in one line.
pub fn people(address: Option<&Address<'_>>) -> String {
    let Some(address) = address else { return String::new() };
    let shown = address.iter().take(MOST_NAMES).map(|one| {
        let address = line(one.address().unwrap_or_default(), 320);
        match one.name().map(|name| line(name, 100)).filter(|name| !name.is_empty()) {
            Some(name) => format!("{name} <{address}>"),
            None => address,
        }
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    let more = address.iter().count().saturating_sub(MOST_NAMES);
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// Why the mail counts as one that no person wrote, so that no automatic answer is due (RFC 3834, 2 and 5).
pub fn automatic(message: &Message<'_>) -> Option<String> {
    let of = |name: &'static str| message.header_raw(name).map(|value| line(value, 80).to_lowercase());
    let said = of("Auto-Submitted").filter(|said| !said.starts_with("no"));
    if let Some(said) = said {
        return Some(format!("it says Auto-Submitted: {said}"));
    }
    let back = message.header_raw(HeaderName::ReturnPath).map(str::trim);
    (back == Some("<>")).then(|| "it has no address for returns".to_owned())
}

/// The ids in a field such as References, each once (RFC 5322, 3.6.4).
pub fn ids(message: &Message<'_>, name: HeaderName<'static>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let raw = message.header_raw(name).unwrap_or_default();
    let ids = raw.split(['<', '>']).skip(1).step_by(2).map(|id| line(id, 250).replace([' ', '"', '\\'], ""));
    ids.filter(|id| id.contains('@') && id.is_ascii() && seen.insert(id.clone())).collect()
}

/// Its text; HTML is read as text where there is no other.
pub fn text(message: &Message<'_>) -> String {
    let mut texts = Vec::new();
    for part in message.text_bodies() {
        match &part.body {
            mail_parser::PartType::Text(text) => texts.push(lines(text)),
            mail_parser::PartType::Html(html) => texts.push(lines(&of_html(html))),
            mail_parser::PartType::Binary(_)
            | mail_parser::PartType::InlineBinary(_)
            | mail_parser::PartType::Message(_)
            | mail_parser::PartType::Multipart(_) => {}
        }
    }
    texts.join("\n").trim().to_owned()
}

/// HTML as text, with its links; nothing is fetched. A long text is cut, and one nested deep loses its links.
fn of_html(html: &str) -> String {
    let most = (0..=MOST_HTML.min(html.len())).rev().find(|at| html.is_char_boundary(*at)).unwrap_or(0);
    let html = html.get(..most).unwrap_or_default();
    if depth(html) > MOST_DEPTH {
        return html_to_text(html);
    }
    html2text::config::plain()
        .string_from_read(html.as_bytes(), COLUMNS)
        .unwrap_or_else(|_| "[HTML that cannot be read as text]".to_owned())
}

/// How deep HTML may be nested: tags that are opened and not closed, but those that need no end.
fn depth(html: &str) -> usize {
    const ALONE: [&str; 20] = [
        "area", "base", "br", "col", "dd", "dt", "hr", "img", "input", "li", "link", "meta", "option", "p",
        "source", "td", "th", "tr", "wbr", "param",
    ];
    let (mut now, mut deepest) = (0_usize, 0);
    for tag in html.split('<').skip(1) {
        let name: String =
            tag.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '/').take(20).collect();
        let bare = name.trim_matches('/').to_ascii_lowercase();
        if bare.is_empty() || ALONE.contains(&bare.as_str()) {
            continue;
        }
        now = if name.starts_with('/') { now.saturating_sub(1) } else { now + 1 };
        deepest = deepest.max(now);
    }
    deepest
}

/// The attachments in lines: number, name, kind and size.
pub fn attachments(message: &Message<'_>) -> String {
    let mut told = String::new();
    for (number, part) in (1..).zip(message.attachments()).take(MOST_NAMES) {
        let _ = writeln!(told, "{number}. {} ({}, {} bytes)", name(part), kind(part), part.len());
    }
    told
}

/// The name of an attachment, as a file may be called.
pub fn name(part: &MessagePart<'_>) -> String {
    let given = part.attachment_name().map(|name| line(name, 120)).unwrap_or_default();
    let plain = given.replace(['/', '\\', ':', '\0'], "_");
    match plain.trim_matches(['.', ' ']) {
        "" => "unnamed".to_owned(),
        plain => plain.to_owned(),
    }
}

fn kind(part: &MessagePart<'_>) -> String {
    let kind = part.content_type();
    let kind = kind.map(|kind| format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or("octet-stream")));
    line(&kind.unwrap_or_else(|| "application/octet-stream".to_owned()), 100)
}
