//! Words of a search as IMAP has them (RFC 9051, 6.4.4); pure.

use serde::Deserialize;
use std::fmt::Write;

/// Longest text that is looked for, in bytes.
const MOST_TEXT: usize = 500;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Arguments of `search`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sought {
    pub folder: Option<String>,
    from: Option<String>,
    to: Option<String>,
    subject: Option<String>,
    text: Option<String>,
    since: Option<String>,
    before: Option<String>,
    unseen: bool,
    flagged: bool,
    pub limit: Option<usize>,
}

impl Sought {
    /// The unread messages of the inbox.
    pub fn unread() -> Self {
        Self { unseen: true, ..Self::default() }
    }

    /// The words of SEARCH. Text beyond ASCII goes as a literal that is not waited for, where the server takes those
    /// (RFC 7888).
    pub fn words(&self, takes_literals: bool) -> Result<String, String> {
        let mut words = String::new();
        let fields =
            [("FROM", &self.from), ("TO", &self.to), ("SUBJECT", &self.subject), ("TEXT", &self.text)];
        for (key, value) in fields {
            if let Some(value) = value.as_deref().map(str::trim).filter(|value| !value.is_empty()) {
                let _ = write!(words, " {key} {}", string(value, takes_literals)?);
            }
        }
        for (key, value) in [("SINCE", &self.since), ("BEFORE", &self.before)] {
            if let Some(value) = value {
                let _ = write!(words, " {key} {}", day(value)?);
            }
        }
        words.push_str(if self.unseen { " UNSEEN" } else { "" });
        words.push_str(if self.flagged { " FLAGGED" } else { "" });
        let charset = if words.is_ascii() { "" } else { "CHARSET UTF-8 " };
        let words = if words.is_empty() { "ALL" } else { words.trim() };
        Ok(format!("{charset}{words}"))
    }
}

/// A string in a search.
fn string(value: &str, takes_literals: bool) -> Result<String, String> {
    if value.len() > MOST_TEXT {
        return Err(format!("at most {MOST_TEXT} bytes can be looked for"));
    }
    if value.chars().any(char::is_control) {
        return Err("control characters cannot be looked for".to_owned());
    }
    match value.is_ascii() {
        true => Ok(quoted(value)),
        false if takes_literals => Ok(format!("{{{}+}}\r\n{value}", value.len())),
        false => Err(format!("this server takes only ASCII letters in a search, not {value:?}")),
    }
}

/// A quoted string of ASCII without control characters.
pub fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A day as IMAP writes it.
fn day(text: &str) -> Result<String, String> {
    let parts: Vec<&str> = text.trim().split('-').collect();
    if let [year, month, day] = parts.as_slice()
        && let (Ok(year), Ok(month), Ok(day)) =
            (year.parse::<u16>(), month.parse::<usize>(), day.parse::<u8>())
        && let Some(name) = month.checked_sub(1).and_then(|month| MONTHS.get(month))
        && (1_000..=9_999).contains(&year)
        && (1..=31).contains(&day)
    {
        return Ok(format!("{day}-{name}-{year}"));
    }
    Err(format!("{text:?} is no day; write it as 2026-01-31"))
}
