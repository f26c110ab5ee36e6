//! Reads JSON Feed field by field, so that a field of a wrong type spoils no more than itself.
//!
//! Source: jsonfeed.org/version/1.1, which says that ids that are numbers are to be read as text.

use crate::feed::{Feed, Item, MOST_SUMMARY_CHARS, MOST_TITLE_CHARS, shown};
use crate::readable;
use reqwest::Url;
use serde_json::Value;

/// The feed in these bytes; none where they are no JSON Feed.
pub(crate) fn read(bytes: &[u8], base: &Url) -> Option<Feed> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let feed: Value = serde_json::from_slice(bytes).ok()?;
    let version = word(&feed, "version");
    let items = feed.get("items").and_then(Value::as_array)?;
    if !version.contains("jsonfeed.org/version/") {
        return None;
    }
    let title = readable::line(&escaped(&word(&feed, "title")), MOST_TITLE_CHARS);
    Some(Feed { title, items: items.iter().map(|told| item(told, base)).collect(), fresh_s: 0 })
}

fn item(told: &Value, base: &Url) -> Item {
    let link =
        |key: &str| base.join(word(told, key).trim()).ok().filter(|_| !word(told, key).trim().is_empty());
    let attached = told.get("attachments").and_then(|all| all.get(0));
    let attached = attached.and_then(|first| base.join(&word(first, "url")).ok());
    let page = link("url").or_else(|| link("external_url"));
    let enclosure = page.is_none() && attached.is_some();
    let url = page.or(attached).map_or(String::new(), String::from);
    let html = [word(told, "summary"), word(told, "content_html")].into_iter().find(|text| !text.is_empty());
    let words = html.unwrap_or_else(|| escaped(&word(told, "content_text")));
    let summary = readable::line(&words, MOST_SUMMARY_CHARS);
    let title = readable::line(&escaped(&word(told, "title")), MOST_TITLE_CHARS);
    let at = [word(told, "date_published"), word(told, "date_modified")];
    let at = at.iter().find_map(|at| at.parse::<jiff::Timestamp>().ok());
    let published = at.map(shown);
    let own: String = format!("{title} {summary}").trim().chars().take(80).collect();
    let id = [word(told, "id"), url.clone(), own].into_iter().find(|id| !id.is_empty()).unwrap_or_default();
    Item { id, title, url, enclosure, published, summary }
}

/// A text or a number as text.
fn word(told: &Value, key: &str) -> String {
    match told.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// Plain text as the HTML that shows it.
fn escaped(plain: &str) -> String {
    plain.replace('&', "&amp;").replace('<', "&lt;")
}
