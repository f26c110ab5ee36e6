//! The bytes of one page as the broker passed them, where they came from, and how old they are.

use reqwest::Url;

/// Age of an answer, as its server told it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Age {
    pub etag: Option<String>,
    pub modified: Option<String>,
    /// Seconds for which it need not be asked for again.
    pub fresh_s: u64,
}

/// The bytes of one page, as much of them as the broker passes.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    /// Address the bytes came from, after redirects.
    pub url: Url,
    pub content_type: String,
    pub bytes: Vec<u8>,
    /// The page is longer than what the broker passed.
    pub cut: bool,
    pub age: Age,
    /// Whether it is unchanged since the age that was sent with the request; then there are no bytes.
    pub unchanged: bool,
}

/// `url` for messages: no user name, password or fragment, at most 200 characters.
pub(crate) fn printable(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only for URLs that cannot hold credentials, where there is nothing to hide.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
    let mut kept: String = url.as_str().chars().take(200).collect();
    if kept.len() < url.as_str().len() {
        kept.push('…');
    }
    kept
}
