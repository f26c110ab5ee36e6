//! Bytes to text: which encoding an answer is in, and whether it is text at all.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Bytes of a page in which its encoding may be declared; browsers look at 1024 bytes, sloppy pages need more.
const DECLARED_WITHIN_BYTES: usize = 4096;
const SNIFFED_BYTES: usize = 1024;

/// Kind of an answer, for a reader.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Html,
    /// Text to be passed as it is: plain, markdown, JSON, XML, source code.
    Text,
    Binary,
}

/// Tells what `bytes` are from the content type, and from the bytes where that is missing or says nothing.
pub fn kind(content_type: &str, bytes: &[u8]) -> Kind {
    let media = content_type.split(';').next().unwrap_or_default();
    let media = media.trim().to_ascii_lowercase();
    let wide = declared(content_type, bytes).is_some_and(|(encoding, _)| is_utf_16(encoding));
    let head = bytes.get(..SNIFFED_BYTES).unwrap_or(bytes);
    if !wide && head.contains(&0) {
        return Kind::Binary;
    }
    match media.as_str() {
        "text/html" | "application/xhtml+xml" => Kind::Html,
        "" | "application/octet-stream" | "text/plain" | "application/xml" | "text/xml" => {
            if looks_like_html(bytes) && media != "text/plain" {
                Kind::Html
            } else if media == "application/octet-stream" && std::str::from_utf8(bytes).is_err() {
                Kind::Binary
            } else {
                Kind::Text
            }
        }
        _ if media.starts_with("text/") => Kind::Text,
        _ if ["+json", "+xml", "+yaml", "+toml"].iter().any(|end| media.ends_with(end)) => Kind::Text,
        _ => {
            let words = ["json", "ndjson", "jsonl", "yaml", "toml", "javascript", "sh", "sql", "xml-dtd"];
            let kind = media.strip_prefix("application/").unwrap_or_default();
            let known = words.contains(&kind.trim_start_matches("x-"));
            if known { Kind::Text } else { Kind::Binary }
        }
    }
}

/// True when the first thing in `bytes` is the beginning of an HTML page.
pub fn looks_like_html(bytes: &[u8]) -> bool {
    let head = bytes.get(..SNIFFED_BYTES).unwrap_or(bytes);
    let head = String::from_utf8_lossy(head).replace('\0', "").to_ascii_lowercase();
    let head = head.trim_start_matches(|c: char| !c.is_ascii_punctuation());
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|tag| head.starts_with(tag))
        || (head.starts_with("<?xml") && head.contains("<html"))
}

/// Decodes by byte order mark, then the header, then what the page declares; invalid bytes are replaced.
///
/// Undeclared text is UTF-8, unless more of it is broken than not: then it is windows-1252.
pub fn text(content_type: &str, bytes: &[u8]) -> String {
    if let Some((encoding, mark)) = declared(content_type, bytes) {
        let rest = bytes.get(mark..).unwrap_or_default();
        return encoding.decode_without_bom_handling(rest).0.into_owned();
    }
    let text = String::from_utf8_lossy(bytes);
    let broken = text.matches(char::REPLACEMENT_CHARACTER).count();
    let foreign = text.chars().filter(|c| !c.is_ascii()).count();
    if broken * 2 > foreign {
        return WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned();
    }
    text.into_owned()
}

/// The encoding somebody declared, and the length of the byte order mark.
fn declared(content_type: &str, bytes: &[u8]) -> Option<(&'static Encoding, usize)> {
    if let Some(marked) = Encoding::for_bom(bytes) {
        return Some(marked);
    }
    if let Some(label) = value_after(&content_type.to_ascii_lowercase(), "charset=") {
        let encoding = Encoding::for_label(label.as_bytes());
        return encoding.map(|encoding| (encoding, 0));
    }
    match bytes {
        [b'<', 0, ..] => return Some((UTF_16LE, 0)),
        [0, b'<', ..] => return Some((UTF_16BE, 0)),
        _ => {}
    }
    let head = bytes.get(..DECLARED_WITHIN_BYTES).unwrap_or(bytes);
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let label = if head.trim_start().starts_with("<?xml") {
        value_after(&head, "encoding=")
    } else if head.trim_start().starts_with('<') {
        head.split("<meta").skip(1).find_map(|tag| value_after(tag.split('>').next()?, "charset="))
    } else {
        None
    }?;
    let encoding = Encoding::for_label(label.as_bytes())?;
    // A declaration that can be read as single bytes is not in UTF-16, whatever it says.
    Some((if is_utf_16(encoding) { UTF_8 } else { encoding }, 0))
}

fn is_utf_16(encoding: &'static Encoding) -> bool {
    encoding == UTF_16LE || encoding == UTF_16BE
}

fn value_after(text: &str, key: &str) -> Option<String> {
    let text = text.get(text.find(key)? + key.len()..)?;
    let value = text.trim_start_matches([' ', '"', '\'']);
    let end = value.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c)));
    value.get(..end.unwrap_or(value.len())).filter(|value| !value.is_empty()).map(str::to_owned)
}
