//! Whether a mail is from whom it says, by the word of the owner's own server: RFC 8601, read without trust; pure.
//!
//! The topmost `Authentication-Results` of the server that the owner named counts, whatever stands in others or below: a
//! server puts its own on top and takes away what others wrote in its name (RFC 8601, 4.1 and 5).

use mail_parser::{Address, HeaderName, Message};
use std::iter::Peekable;
use std::str::Chars;

/// Longest field that is read.
const FIELD_BYTES: usize = 64 << 10;

/// A result of one method in an `Authentication-Results` (RFC 8601, 2.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub method: String,
    pub result: String,
    pub properties: Vec<(String, String)>,
}

/// The address that wrote a mail, in small letters, if its own domain signed it; the error says why that is not shown.
pub fn proven(message: &Message<'_>, authserv: &str) -> Result<String, String> {
    let from = author(message)?;
    let domain = from.rsplit_once('@').map(|(_, domain)| domain).unwrap_or_default();
    let own = fields(message, "Authentication-Results")
        .into_iter()
        .filter_map(|field| results(&field))
        .find(|(id, _)| id.eq_ignore_ascii_case(authserv));
    let Some((_, verdicts)) = own else {
        return Err(format!("the mailbox's server {authserv} did not say who signed it"));
    };
    let signer = verdicts.iter().filter(|verdict| is_pass(verdict)).filter_map(signer);
    let Some(signer) = signer.into_iter().find(|signer| speaks_for(signer, domain)) else {
        return Err(format!("no valid signature (DKIM) of {domain} is on it"));
    };
    whole(message, &signer)?;
    Ok(from)
}

/// The one address of the one `From` (RFC 5322, 3.6.2; RFC 7489, 6.6.1: others are not judged).
fn author(message: &Message<'_>) -> Result<String, String> {
    let froms = message.headers().iter().filter(|header| header.name == HeaderName::From);
    if froms.count() != 1 {
        return Err("it does not say by exactly one From who wrote it".to_owned());
    }
    let Some(Address::List(addresses)) = message.from() else {
        return Err("its From names no address".to_owned());
    };
    let [one] = addresses.as_slice() else {
        return Err("its From names several addresses".to_owned());
    };
    let address = one.address.as_deref().unwrap_or_default().trim().to_ascii_lowercase();
    let is_plain =
        address.is_ascii() && address.len() <= 254 && !address.chars().any(|c| c.is_control() || c == ' ');
    let is_address =
        address.rsplit_once('@').is_some_and(|(local, domain)| !local.is_empty() && domain.contains('.'));
    if is_plain && is_address { Ok(address) } else { Err("its From names no plain address".to_owned()) }
}

/// The address that a mail gives as its author's, believed or not.
pub fn claimed(message: &Message<'_>) -> Option<String> {
    author(message).ok()
}

/// Values of the fields of a name, from the top; bytes that are no text do not hide a field.
pub fn fields(message: &Message<'_>, name: &str) -> Vec<String> {
    let named = message.headers().iter().filter(|header| header.name.as_str().eq_ignore_ascii_case(name));
    let raw = |from: u32, to: u32| {
        message.raw_message.get(from as usize..(to as usize).min(from as usize + FIELD_BYTES))
    };
    let texts = named.filter_map(|header| raw(header.offset_start, header.offset_end));
    texts.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect()
}

fn is_pass(verdict: &Verdict) -> bool {
    verdict.method == "dkim" && verdict.result == "pass"
}

/// The domain that signed: `header.d`, else that of `header.i`, which lies in or below it (RFC 6376, 3.5; RFC 8601, 2.7.1).
fn signer(verdict: &Verdict) -> Option<String> {
    let value =
        |name: &str| verdict.properties.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str());
    let named =
        value("header.d").or_else(|| value("header.i")?.rsplit_once('@').map(|(_, domain)| domain))?;
    Some(named.trim_end_matches('.').to_ascii_lowercase())
}

/// Whether a signing domain speaks for an author's: it is the same, or one above it (RFC 7489, 3.1.1, less the names
/// beside and below, for which a list of public suffixes would be needed: who holds a zone holds what is below it).
pub fn speaks_for(signer: &str, domain: &str) -> bool {
    let is_above = || domain.strip_suffix(signer).is_some_and(|rest| rest.ends_with('.'));
    signer.contains('.') && (signer == domain || is_above())
}

/// Whether the signature of this domain covers all of the body: with `l=` anybody may add to it (RFC 6376, 8.2).
fn whole(message: &Message<'_>, signer: &str) -> Result<(), String> {
    let signatures = fields(message, "DKIM-Signature");
    let tags = signatures.iter().map(|field| {
        let tags = field.split(';').filter_map(|tag| tag.split_once('='));
        tags.map(|(name, value)| (name.trim().to_owned(), value.trim().to_ascii_lowercase()))
            .collect::<Vec<_>>()
    });
    let of_signer =
        tags.filter(|tags| tags.iter().any(|(name, value)| name == "d" && speaks_for(value, signer)));
    let mut count = 0;
    for tags in of_signer {
        count += 1;
        if tags.iter().any(|(name, _)| name == "l") {
            return Err(format!("the signature of {signer} does not cover all of it"));
        }
    }
    if count == 0 { Err(format!("no signature of {signer} is on it")) } else { Ok(()) }
}

/// Reads a field: whose it is, and what it found. `None` for a version that is not known (RFC 8601, 2.2 and 2.5).
pub fn results(field: &str) -> Option<(String, Vec<Verdict>)> {
    let mut parts = parts(field).into_iter();
    let head = parts.next()?;
    let (id, version) = match head.as_slice() {
        [Token::Word(id)] => (id, "1"),
        [Token::Word(id), Token::Word(version)] => (id, version.as_str()),
        _ => return None,
    };
    (version == "1").then(|| (id.clone(), parts.filter_map(|tokens| verdict(&tokens)).collect()))
}

/// `method=result` and then `name=value` pairs; anything else makes the whole of it count for nothing.
fn verdict(tokens: &[Token]) -> Option<Verdict> {
    let mut pairs = Vec::new();
    for pair in tokens.chunks(3) {
        let [Token::Word(name), Token::Equals, Token::Word(value)] = pair else { return None };
        pairs.push((name.to_ascii_lowercase(), value.clone()));
    }
    let (method, result) = if pairs.is_empty() { return None } else { pairs.remove(0) };
    // A version may follow its name: `dkim/1`.
    let method = match method.split_once('/') {
        Some((method, "1")) => method.to_owned(),
        Some(_) => return None,
        None => method,
    };
    Some(Verdict { method, result: result.to_ascii_lowercase(), properties: pairs })
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Equals,
}

/// The tokens of a field between its semicolons, without comments (RFC 5322, 3.2.2), with quotes taken off (3.2.4).
fn parts(field: &str) -> Vec<Vec<Token>> {
    let mut parts = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut chars = field.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => word.get_or_insert_default().push_str(&quoted(&mut chars)),
            '(' | ';' | '=' | ' ' | '\t' | '\r' | '\n' => {
                if let (Some(done), Some(part)) = (word.take(), parts.last_mut()) {
                    part.push(Token::Word(done));
                }
                match c {
                    '(' => skip_comment(&mut chars),
                    ';' => parts.push(Vec::new()),
                    '=' => parts.iter_mut().last().into_iter().for_each(|part| part.push(Token::Equals)),
                    _ => {}
                }
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    if let (Some(done), Some(part)) = (word, parts.last_mut()) {
        part.push(Token::Word(done));
    }
    parts
}

/// Reads up to the closing quote.
fn quoted(chars: &mut Peekable<Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => text.extend(chars.next()),
            c => text.push(c),
        }
    }
    text
}

/// Reads over a comment, with those within it.
fn skip_comment(chars: &mut Peekable<Chars<'_>>) {
    let mut depth = 1_usize;
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return;
        }
    }
}
