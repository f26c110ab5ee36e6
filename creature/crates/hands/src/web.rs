//! The guarded web client: pages and feeds, bounded in size, time, redirects and reach.
//!
//! Invariant: sends no cookies and no credentials; every hop of a redirect is checked like the first.
//! Proxies of the environment are used, but never for loopback.

use crate::address::{self, Gate, printable};
use crate::{Error, Feed, Reach, feed, readable};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

const AGENT: &str = "feral/0.1 (+a self-editing program; its owner runs it)";
const MOST_REDIRECTS: usize = 5;
const PAGES: &str = "text/html,application/xhtml+xml,text/plain;q=0.9,application/json;q=0.9,*/*;q=0.5";
const FEEDS: &str =
    "application/atom+xml,application/rss+xml,application/feed+json,application/xml;q=0.9,*/*;q=0.5";

/// One page as readable text.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Where the text came from, after redirects.
    pub url: String,
    /// Empty where the page has none.
    pub title: String,
    pub text: String,
    /// Characters of readable text there were before the cut to `most_chars`.
    pub chars_total: usize,
    /// True when `text` is not all of it: cut here, or the answer was over the size limit.
    pub truncated: bool,
    /// As the server sent it; empty when it sent none.
    pub content_type: String,
}

/// The bytes of one answer, as much of them as the reach allows.
pub(crate) struct Body {
    pub url: Url,
    pub content_type: String,
    pub bytes: Vec<u8>,
    pub cut: bool,
}

/// Fetches pages and feeds within its reach.
pub struct Web {
    reach: Reach,
    guarded: Client,
    direct: Client,
    owners: Client,
}

impl Web {
    /// Builds the clients; fails where the system has no TLS roots.
    pub fn new(reach: Reach) -> Result<Web, Error> {
        let owners = client(Route::Proxied)?;
        let guarded = if reach.allow_private { owners.clone() } else { client(Route::Guarded)? };
        Ok(Web { guarded, direct: client(Route::Direct)?, owners, reach })
    }

    /// The readable text of a page, its first `most_chars` characters.
    pub async fn fetch_text(&self, url: &str, most_chars: usize) -> Result<Page, Error> {
        let page = async {
            let body = self.get(url, PAGES).await?;
            let (url, content_type, cut) = (body.url.clone(), body.content_type.clone(), body.cut);
            let read = readable::apart(&url, move || readable::read(&body)).await??;
            let text: String = read.text.chars().take(most_chars).collect();
            let chars_total = read.text.chars().count();
            let truncated = cut || text.len() < read.text.len();
            Ok(Page { url: url.into(), title: read.title, text, chars_total, truncated, content_type })
        };
        self.within_deadline(url, page).await
    }

    /// A feed in RSS, Atom or JSON, its first `most_items` items.
    pub async fn feed(&self, url: &str, most_items: usize) -> Result<Feed, Error> {
        let feed = async {
            let body = self.get(url, FEEDS).await?;
            let from = body.url.clone();
            readable::apart(&from, move || feed::read(&body, most_items)).await?
        };
        self.within_deadline(url, feed).await
    }

    /// JSON from an endpoint the owner configured, which may be private; redirects are not followed.
    pub(crate) async fn ask(&self, url: &Url, headers: HeaderMap) -> Result<Vec<u8>, Error> {
        let client = if address::is_loopback(url) { &self.direct } else { &self.owners };
        let request = client.get(url.clone()).header(ACCEPT, "application/json").headers(headers);
        let name = printable(url);
        let answer = async {
            let response = request.send().await.map_err(|cause| unreachable_host(&name, cause))?;
            refuse_status(&name, &response)?;
            let (bytes, cut) = read_body(response, self.reach.most_bytes, &name).await?;
            if cut {
                return Err(Error::new(format!("read {name}: the answer is too large"), "ask for less"));
            }
            Ok(bytes)
        };
        self.within_deadline(&name, answer).await
    }

    async fn within_deadline<T>(
        &self,
        url: &str,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        tokio::time::timeout(self.reach.deadline, work).await.unwrap_or_else(|_| {
            let name = Url::parse(url).map_or_else(|_| url.to_owned(), |url| printable(&url));
            let message = format!("fetch {name}: took longer than {:?}", self.reach.deadline);
            Err(Error::new(message, "try again later, or another source"))
        })
    }

    async fn get(&self, url: &str, accept: &str) -> Result<Body, Error> {
        let mut url = address::check(url, self.reach.allow_private)?;
        for _ in 0..=MOST_REDIRECTS {
            let client = if address::is_loopback(&url) { &self.direct } else { &self.guarded };
            let name = printable(&url);
            let request = client.get(url.clone()).header(ACCEPT, accept);
            let response = request.send().await.map_err(|cause| unreachable_host(&name, cause))?;
            if let Some(location) = onward(&response) {
                url = address::hop(&url, &location, self.reach.allow_private)?;
                continue;
            }
            refuse_status(&name, &response)?;
            let content_type = text_header(&response, CONTENT_TYPE).unwrap_or_default();
            let (bytes, cut) = read_body(response, self.reach.most_bytes, &name).await?;
            return Ok(Body { url, content_type, bytes, cut });
        }
        let message = format!("fetch {}: more than {MOST_REDIRECTS} redirects", printable(&url));
        Err(Error::new(message, "the site sends in circles; try another address"))
    }
}

/// How a client finds its hosts.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Route {
    /// Public addresses only, proxies of the environment allowed.
    Guarded,
    /// Any address, proxies of the environment allowed.
    Proxied,
    /// Any address, never a proxy.
    Direct,
}

/// A client without redirects, cookies or retries.
pub(crate) fn client(route: Route) -> Result<Client, Error> {
    // An error only says that a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .user_agent(AGENT)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(Duration::from_secs(10));
    if route == Route::Guarded {
        builder = builder.dns_resolver(Arc::new(Gate::from_env()));
    }
    if route == Route::Direct {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|cause| {
        let hint = "check the system's certificates (package ca-certificates) and the proxy variables";
        Error::new(format!("build the web client: {}", causes(cause)), hint)
    })
}

/// Where the response sends on to; `None` when it is no redirect.
fn onward(response: &Response) -> Option<String> {
    let follows = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    text_header(response, LOCATION).filter(|_| follows)
}

/// Reads until the end or the limit; the flag says that there was more.
pub(crate) async fn read_body(
    mut response: Response,
    most_bytes: u64,
    name: &str,
) -> Result<(Vec<u8>, bool), Error> {
    let most = usize::try_from(most_bytes).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    loop {
        let chunk = response.chunk().await.map_err(|cause| {
            let message = format!("read {name}: {}", causes(cause));
            Error::new(message, "the connection broke off; try again")
        })?;
        let Some(chunk) = chunk else { return Ok((bytes, false)) };
        let room = most.saturating_sub(bytes.len());
        bytes.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
        if chunk.len() > room {
            return Ok((bytes, true));
        }
    }
}

pub(crate) fn unreachable_host(name: &str, cause: reqwest::Error) -> Error {
    let causes = causes(cause);
    let refused = causes.contains(address::REFUSED);
    let hint = if refused { address::PRIVATE_HINT } else { "check the address, or try again later" };
    Error::new(format!("fetch {name}: {causes}"), hint)
}

/// The chain of causes in one line, without the URL (it is named before) and without repetition.
pub(crate) fn causes(cause: reqwest::Error) -> String {
    let cause = cause.without_url();
    let mut line = cause.to_string();
    let mut below = cause.source();
    while let Some(error) = below {
        let text = error.to_string();
        if !line.contains(&text) {
            line = format!("{line}: {text}");
        }
        below = error.source();
    }
    line
}

fn refuse_status(name: &str, response: &Response) -> Result<(), Error> {
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    let wait = text_header(response, RETRY_AFTER).map(|after| format!("; it says retry after {after}"));
    let hint = match status {
        StatusCode::NOT_FOUND | StatusCode::GONE => {
            "the page is not there; check the address or search for it"
        }
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            "it wants a login or refuses programs; try another source"
        }
        StatusCode::TOO_MANY_REQUESTS => "asked too often; wait before asking this site again",
        _ if status.is_server_error() => "the site is in trouble; try again later",
        _ => "try another address",
    };
    let message = format!("fetch {name}: the server answered {status}");
    Err(Error::new(message, format!("{hint}{}", wait.unwrap_or_default())).with_status(status.as_u16()))
}

pub(crate) fn text_header(response: &Response, name: reqwest::header::HeaderName) -> Option<String> {
    let value = response.headers().get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}
