//! Encodings of calls: percent-encoded segments, names and values, and which media types are JSON or a form. Pure.

use crate::ground::refusal::Unfit;
use house::bounds::{NAME_CHARS, brief};

/// Characters that are not escaped in a segment, besides letters and digits.
const PLAIN_IN_PATH: &[u8] = b"-._~!$&'()*+,=:@";
const UNRESERVED: &[u8] = b"-._~";
/// Bytes a segment may not contain, escaped or not: servers disagree on their meaning.
const AMBIGUOUS: &[u8] = b"/\\%;?#";
/// Media type of a form; sent without parameters.
pub const FORM: &str = "application/x-www-form-urlencoded";

/// Names and values, decoded.
pub type Pairs = Vec<(String, String)>;

/// A canonical segment: decoded once, checked, encoded again.
pub fn segment(raw: &str) -> Result<String, Unfit> {
    let Some(bytes) = decoded(raw) else {
        return Err(Unfit::new(
            format!("the path holds a broken escape in {:?}", brief(raw, NAME_CHARS)),
            "write %25 for a bare %",
        ));
    };
    if let Some(odd) = bytes.iter().find(|byte| AMBIGUOUS.contains(byte) || !matches!(byte, 0x20..=0x7e)) {
        let hint = "servers disagree on what it means there; put such values in the query or the body";
        return Err(Unfit::new(format!("the path holds an escaped or bare {:?}", char::from(*odd)), hint));
    }
    // Some servers strip dots and spaces from the ends of a name, and would read another path.
    if bytes.first() == Some(&b' ') || matches!(bytes.last(), Some(b' ' | b'.')) {
        return Err(Unfit::new(
            "the path holds a segment that begins or ends with a space, or ends with a dot",
            "leave it out",
        ));
    }
    Ok(encoded(&bytes, PLAIN_IN_PATH))
}

/// Pairs as they are sent, all but unreserved characters escaped.
pub fn joined(pairs: &[(String, String)]) -> String {
    let pair = |(name, value): &(String, String)| {
        format!("{}={}", encoded(name.as_bytes(), UNRESERVED), encoded(value.as_bytes(), UNRESERVED))
    };
    pairs.iter().map(pair).collect::<Vec<_>>().join("&")
}

/// The decoded pairs of a query or a form.
pub fn pairs(text: &str) -> Result<Pairs, Unfit> {
    let decode = |part: &str| {
        let bytes = decoded(&part.replace('+', " "))?;
        String::from_utf8(bytes).ok().filter(|text| !text.chars().any(|letter| letter == '\0'))
    };
    let mut pairs = Vec::new();
    for part in text.split('&').filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        match (decode(name), decode(value)) {
            (Some(name), Some(value)) if !name.is_empty() => pairs.push((name, value)),
            _ => {
                return Err(Unfit::new(
                    format!("{:?} cannot be read as a parameter", brief(part, NAME_CHARS)),
                    "give name=value, escaped",
                ));
            }
        }
    }
    Ok(pairs)
}

/// Whether bodies of this media type are JSON.
pub fn is_json(kind: &str) -> bool {
    matches!(kind, "application/json" | "text/json")
        || (kind.starts_with("application/") && kind.ends_with("+json"))
}

/// Percent-decodes once; `None` for a broken escape.
pub fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        decoded.push(digit()? << 4 | digit()?);
    }
    Some(decoded)
}

/// Percent-encodes all but letters, digits and `plain`, in upper case.
fn encoded(bytes: &[u8], plain: &[u8]) -> String {
    let mut encoded = String::with_capacity(bytes.len());
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || plain.contains(byte) {
            encoded.push(char::from(*byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// Percent-encodes everything but the unreserved characters of RFC 3986.
pub fn escaped(text: &str) -> String {
    encoded(text.as_bytes(), UNRESERVED)
}
