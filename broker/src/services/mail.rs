//! The head of a mail, and text that could be read as one: which of its fields name people, and what ends a line. Pure.

use super::recipients::{PEOPLE, bare};
use base64::Engine;

/// Fields of a head that name people, as `bare` writes them, and where each is from.
pub const NAMES_PEOPLE: [(&str, &str); 11] = [
    ("to cc bcc", "RFC 5322, 3.6.3"),
    ("resentto resentcc resentbcc resentreplyto", "RFC 5322, 3.6.6; RFC 822, 4.2"),
    ("replyto", "RFC 5322, 3.6.2"),
    ("apparentlyto", "sendmail; RFC 2821, 7.2 advises against it"),
    ("xoriginalto deliveredto", "Postfix, local(8)"),
    ("envelopeto xenvelopeto xrcptto xreceiverto", "Exim, procmail, qmail"),
    ("mailfollowupto mailreplyto", "lists; mutt, qmail"),
    ("dispositionnotificationto", "RFC 8098, 2.1"),
    ("returnreceiptto errorsto", "sendmail"),
    ("newsgroups followupto", "RFC 5536, 3.1.4 and 3.2.3"),
    ("attendee organizer", "RFC 5545, 3.8.4"),
];

/// Fields of a head that reach nobody, besides those of its content.
const HARMLESS: &str = "from sender subject date messageid references mimeversion useragent xmailer importance priority \
    xpriority sensitivity autosubmitted keywords comments listunsubscribe listunsubscribepost \
    resentfrom resentsender resentdate resentmessageid";

/// Spellings of a line's end inside a value, for servers that decode once more; in lower case.
const SPELLED: &str = "%0a %0d %0b %0c %1c %1d %1e %85 %e2%80%a8 %e2%80%a9 &#10 &#13 &#xa &#xd";
const SPELLED_IN_ONE_LINE: &str = "\\n \\r =0a =0d =?";

/// The head of a whole mail.
pub struct Head {
    pub fields: Vec<(String, String)>,
    /// Whether every reader sees the same fields: nothing else than line feeds ends its lines, and all names are plain.
    pub is_plain: bool,
}

/// Meaning of a field of a head.
#[derive(PartialEq)]
pub enum Kind {
    People,
    Harmless,
    Unknown,
}

/// Reads the head of a mail in base64, as mail APIs accept it; `None` if it is none.
pub fn head(raw: &str) -> Option<Head> {
    let bare: String = raw.trim_end_matches('=').chars().filter(|letter| !letter.is_whitespace()).collect();
    let bare = bare.replace('+', "-").replace('/', "_");
    let mail = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(bare).ok()?;
    let mail = String::from_utf8(mail).ok()?.replace("\r\n", "\n");
    let head = mail.split("\n\n").next()?.replace("\n ", " ").replace("\n\t", " ");
    let mut is_plain = !head.chars().any(|letter| letter != '\n' && ends_line(letter));
    let mut fields = Vec::new();
    for line in head.split(ends_line).filter(|line| !line.is_empty()) {
        match line.split_once(':') {
            Some((name, value)) => {
                is_plain &= name.trim_end().chars().all(|letter| letter.is_ascii_graphic());
                fields.push((name.to_owned(), value.to_owned()));
            }
            None => is_plain = false,
        }
    }
    Some(Head { fields, is_plain })
}

/// Tells the meaning of a field by its name.
pub fn kind(name: &str) -> Kind {
    let bare = bare(name);
    let is_in = |table: &str| table.split_ascii_whitespace().any(|known| known == bare);
    let people = names_people(&bare) || is_in(PEOPLE);
    match people && name.is_ascii() {
        true => Kind::People,
        false if name.is_ascii() && (is_in(HARMLESS) || bare.starts_with("content")) => Kind::Harmless,
        false => Kind::Unknown,
    }
}

/// Whether a text for one line could end it: a server that puts it into a head would take what follows for a field.
pub fn breaks(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.chars().any(ends_line)
        || SPELLED.split(' ').chain(SPELLED_IN_ONE_LINE.split(' ')).any(|spelled| lower.contains(spelled))
}

/// Whether a text of many lines has a line that names people in a head, or a line's end that only some readers see.
pub fn holds_head(text: &str) -> bool {
    let unix = text.replace("\r\n", "\n");
    if unix.chars().any(|letter| letter != '\n' && ends_line(letter)) {
        return true;
    }
    let mut lower = unix.to_lowercase();
    for spelled in SPELLED.split(' ') {
        lower = lower.replace(spelled, "\n");
    }
    lower.split('\n').any(|line| {
        let line: String = line.chars().map(narrow).collect();
        let Some((name, value)) = line.split_once(':') else { return false };
        let name = name.trim();
        // A name of other letters may be read as its twin in ASCII.
        let is_odd = !name.is_ascii() && !name.contains(char::is_whitespace) && value.contains('@');
        is_odd || names_people(&bare(name))
    })
}

fn names_people(bare: &str) -> bool {
    let known = |name: &str| {
        NAMES_PEOPLE.iter().any(|(names, _)| names.split_ascii_whitespace().any(|known| known == name))
    };
    known(bare) || ["resent", "x"].iter().any(|prefix| bare.strip_prefix(prefix).is_some_and(known))
}

/// Whether some reader ends a line here: line feed, vertical tab, form feed, return, the separators of ASCII, NEL, and
/// those of Unicode; what cannot be seen beside a tab counts too.
fn ends_line(letter: char) -> bool {
    (letter.is_control() && letter != '\t') || matches!(letter, '\u{2028}' | '\u{2029}')
}

/// The ASCII letter that a wide one stands for.
fn narrow(letter: char) -> char {
    match u32::from(letter) {
        wide @ 0xFF01..=0xFF5E => char::from_u32(wide - 0xFEE0).unwrap_or(letter),
        _ => letter,
    }
}
