//! Redaction of a whole text: values behind a label such as `password`, and whatever looks like a key.
//!
//! Invariant: the rest stays as it is, its lines and spaces too; so do source code, paths, refs and numbers.

use super::secrets::{
    COMMITS, HIDDEN, is_account, is_commit, is_path, key, names_commit, without_blocks, without_login,
};
use crate::text::one_line;

/// A label with one of these in it names a secret, whatever the value looks like.
const PLAIN: [&str; 9] =
    ["password", "passwd", "passphrase", "passcode", "pwd", "secret", "api_key", "api-key", "apikey"];

/// A label with one of these in it names a secret only where the value looks like one.
const ODD: [&str; 6] = ["token", "access_key", "private_key", "authorization", "credential", "bearer"];

/// Words that stand behind a label in code and in prose and are no secret.
const WORDS: &str = "string str bool option none some null true false value self a an the at in on of to not no wrong \
    missing needed required set kept hidden what that this it by for with from never and or your my its asked found";

/// A line with one of these is source code, where a plain word behind a label is an identifier, not a secret.
const CODE: [&str; 11] = ["::", "fn ", "let ", "pub ", "self.", "// ", "//!", "///", "=> ", "use ", "const "];

/// The longest secret behind a label, in bytes.
const LONGEST: usize = 1_024;

/// The text with `HIDDEN` in place of secrets; in lines of source code a plain word behind a label stays.
pub fn redact(text: &str) -> String {
    redacted(text, true)
}

/// The same for a text that is no source code, returned on one line.
pub fn redact_prose(text: &str) -> String {
    one_line(&redacted(text, false))
}

fn redacted(text: &str, may_be_code: bool) -> String {
    let text = without_blocks(text);
    let mut shown = String::with_capacity(text.len());
    for line in lines(&text) {
        named(line, may_be_code, &mut shown);
    }
    runs(&shown)
}

/// Lines with their ends; a line end written out as `\n` ends one too.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').flat_map(|line| {
        let mut rest = Some(line);
        std::iter::from_fn(move || {
            let left = rest?;
            let (line, after) = match left.find("\\n") {
                Some(at) => left.split_at(at + 2),
                None => (left, ""),
            };
            rest = Some(after).filter(|after| !after.is_empty());
            Some(line)
        })
    })
}

/// Appends the line to `shown`, the values that its labels name hidden.
fn named(line: &str, may_be_code: bool, shown: &mut String) {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    // The `use ` in `pause ` is no sign of code.
    let stands = |at: usize| !line.get(..at).is_some_and(|before| before.ends_with(char::is_alphanumeric));
    let code = may_be_code
        && CODE.iter().any(|sign| {
            let word = sign.starts_with(char::is_alphabetic);
            line.match_indices(sign).any(|(at, _)| !word || stands(at))
        });
    let mut rest = line;
    while let Some(at) = rest.find(is_name) {
        let end = rest.get(at..).and_then(|run| run.find(|c| !is_name(c))).map_or(rest.len(), |end| at + end);
        let (before, after) = rest.split_at(end);
        (*shown, rest) = (std::mem::take(shown) + before, after);
        let mut label = before.get(at..).unwrap_or_default();
        // What was hidden may be a label itself, with the secret behind it.
        while let Some((lead, value)) = secret(label, rest, code) {
            *shown += rest.get(..lead).unwrap_or_default();
            *shown += HIDDEN;
            rest = rest.get(lead + value.len()..).unwrap_or_default();
            label = value;
        }
    }
    *shown += rest;
}

/// The secret that a label names: its offset in `after`, in bytes, and the secret.
fn secret<'a>(label: &str, after: &'a str, code: bool) -> Option<(usize, &'a str)> {
    let label = label.to_lowercase().replace("tokens", "");
    let plain = PLAIN.iter().any(|name| label.contains(name));
    if !plain && !ODD.iter().any(|name| label.contains(name)) && !label.ends_with("_key") {
        return None;
    }
    let (lead, value, how) = behind(after)?;
    is_secret(&label, value, plain, how, code).then_some((lead, value))
}

/// Form in which a value stands behind its label.
#[derive(Clone, Copy, PartialEq)]
enum How {
    Quoted,
    /// `token=abcd`, as in an address or a shell.
    Joined,
    Said,
    /// Right behind the label, with no sign or verb between.
    Beside,
}

/// The value behind a label: its offset in `after`, in bytes, the value, and how it stands there.
fn behind(after: &str) -> Option<(usize, &str, How)> {
    let skip = |text: &str, of: &[char]| text.len() - text.trim_start_matches(of).len();
    let mut at = skip(after, &['"', '\'', '`', '\\', ' ', '*']);
    let from = |at: usize| after.get(at..).unwrap_or_default();
    let sign =
        ["=>", "->", ":=", ":", "=", "is ", "was "].into_iter().find(|sign| from(at).starts_with(sign));
    let mut how = match sign {
        Some(_) if from(at).starts_with("::") || from(at).starts_with("==") => return None,
        Some(sign) => {
            at += sign.len();
            if sign == "=" && at == 1 && !from(at).starts_with(' ') { How::Joined } else { How::Said }
        }
        None => How::Beside,
    };
    at += skip(from(at), &[' ', '*']);
    for scheme in ["bearer ", "basic ", "is "] {
        if from(at).get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme)) {
            at += scheme.len();
            how = if scheme == "is " { how } else { How::Joined };
        }
    }
    let open = skip(from(at), &['\\']);
    let quote = from(at + open).chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    if let Some(quote) = quote {
        let inner = from(at + open + 1);
        // Where the quote does not close, the value ends with its first word.
        let closed = bounded(inner).find(quote);
        let end = closed.or_else(|| bounded(inner).find(char::is_whitespace)).unwrap_or(bounded(inner).len());
        let value = inner.get(..end).unwrap_or_default().trim_end_matches('\\');
        return Some((at + open + 1, value, if how == How::Beside { how } else { How::Quoted }));
    }
    let value = bounded(from(at));
    let end = value.find(|c: char| c.is_whitespace() || ",;&\"'`\\".contains(c)).unwrap_or(value.len());
    let value =
        value.get(..end).unwrap_or_default().trim_end_matches(['.', ':', '=', ')', ']', '}', '!', '?']);
    Some((at, value, how))
}

/// The first `LONGEST` bytes of a text.
fn bounded(text: &str) -> &str {
    let end = (0..=text.len().min(LONGEST)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// Whether this is what a secret looks like, rather than a word about one.
fn is_secret(label: &str, value: &str, plain: bool, how: How, code: bool) -> bool {
    let lower = value.to_lowercase();
    let word = WORDS.split_whitespace().any(|word| word == lower) || lower == label || lower.is_empty();
    let built = value.contains("::") || value.contains(|c: char| "(){}<>[]&|".contains(c));
    let quoted = how == How::Quoted;
    if word || value.contains(HIDDEN) || (built && !quoted) {
        return false;
    }
    let any = |is: fn(&char) -> bool| value.chars().any(|c| is(&c));
    let (digits, letters) = (any(char::is_ascii_digit), any(char::is_ascii_alphabetic));
    if how == How::Beside {
        return digits && letters && value.len() >= 8 && !is_path(value);
    }
    if plain && !code {
        return value.len() >= 3 && (quoted || !value.contains('/') || !is_path(value));
    }
    let odd = digits && letters && value.len() >= 6 || value.len() >= 24 && !value.contains(' ');
    let spoken = !value.contains([' ', '{', '%']);
    let plainly = plain && quoted || how == How::Joined && !code && value.len() >= 4;
    (odd && !is_path(value) || plainly) && spoken
}

/// Hides runs of key-like letters, and logins in addresses.
fn runs(text: &str) -> String {
    let is_token = |letter: char| letter.is_ascii_alphanumeric() || "_-.+/=~".contains(letter);
    let mut shown = String::with_capacity(text.len());
    for word in text.split_inclusive(char::is_whitespace) {
        let word = without_login(word);
        let mut rest = word.as_str();
        while let Some(at) = rest.find(is_token) {
            let end =
                rest.get(at..).and_then(|run| run.find(|c| !is_token(c))).map_or(rest.len(), |end| at + end);
            let (head, run) = (rest.get(..at).unwrap_or_default(), rest.get(at..end).unwrap_or_default());
            shown += head;
            // A line end written as `\n` is no part of what follows it.
            let glued = head.ends_with('\\') && run.starts_with(['n', 't', 'r']);
            let (lead, run) = run.split_at(usize::from(glued));
            shown += lead;
            let kept = names_commit(run) || is_account(run) || is_commit(run) && after_commit(&shown);
            shown += &if kept { run.to_owned() } else { key(run) };
            rest = rest.get(end..).unwrap_or_default();
        }
        shown += rest;
    }
    shown
}

/// Whether the words just before speak of a commit.
fn after_commit(shown: &str) -> bool {
    let from = (0..=shown.len().saturating_sub(24)).rev().find(|at| shown.is_char_boundary(*at)).unwrap_or(0);
    let before = shown.get(from..).unwrap_or_default().to_lowercase();
    let mut words = before.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.next_back().is_some_and(|word| COMMITS.contains(&word))
}
