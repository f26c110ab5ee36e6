//! JSON from servers that cut emojis in two: a lone surrogate becomes U+FFFD. Pure.

use std::borrow::Cow;

use serde_json::Value;

/// Reads JSON whose strings may hold half a surrogate pair.
pub(crate) fn json(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(&whole(text))
}

/// The text with each `\ud83d` that has no partner written as `\ufffd`.
pub(crate) fn whole(text: &str) -> Cow<'_, str> {
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return Cow::Borrowed(text);
    }
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escape)) = rest.find('\\').and_then(|at| rest.split_at_checked(at)) {
        mended.push_str(before);
        let pair = matches!(
            (unit(escape), escape.get(6..).and_then(unit)),
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff))
        );
        let length = match unit(escape) {
            Some(0xd800..=0xdfff) if pair => 12,
            Some(0xd800..=0xdfff) => {
                mended.push_str("\\ufffd");
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            // An escaped backslash is taken with the character after it, which is then not read as an escape.
            _ => 1 + escape.chars().nth(1).map_or(0, char::len_utf8),
        };
        let (kept, after) = escape.split_at_checked(length).unwrap_or((escape, ""));
        mended.push_str(kept);
        rest = after;
    }
    mended.push_str(rest);
    Cow::Owned(mended)
}

/// The code unit of an escape that stands at the beginning.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}
