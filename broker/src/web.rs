//! `GET /web`: fetches pages for the creature, bounded in size, time, redirects and reach.
//!
//! Invariant: sends no cookies, no credentials and no token; connects only to checked addresses; every hop of a
//! redirect is checked like the first. Behind the owner's proxy names are resolved there and not checked.

pub mod address;
pub mod pages;
mod unpack;

use crate::door::callers::Life;
use crate::ground::hours::Full;
use crate::ground::refusal::Refusal;
use crate::ground::wait;
use crate::handles::Handles;
use crate::ledger::{Closed, Entry};
use crate::net;
use crate::policy;
use crate::web::address::printable;
use axum::body::Body;
use axum::extract::{Extension, Query, State};
use axum::response::{IntoResponse, Response};
use axum::{Router, routing::get};
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderMap, HeaderName,
    IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, LOCATION,
};
use http::{HeaderValue, StatusCode};
use pages::Pages;
use reqwest::Url;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const MOST_REDIRECTS: usize = 5;
const PAGES: &str = "text/html,application/xhtml+xml,text/plain;q=0.9,application/json;q=0.9,*/*;q=0.5";
const LONGEST_HEADER: usize = 200;
/// Headers that tell a page's age; passed on, so that the next request can ask for changes only.
const OF_AGE: [HeaderName; 3] = [ETAG, LAST_MODIFIED, CACHE_CONTROL];

/// Fetch under way: the request, and its progress, for the ledger and the taint.
struct Fetch {
    url: Option<Url>,
    /// Headers sent to the server: `accept`, and the etag and date of the copy that is known already.
    headers: HeaderMap,
    bytes_out: u64,
    bytes_in: u64,
    status: Option<u16>,
    /// Whether untrusted text came in.
    heard: bool,
}

/// A page, cut to the limit.
struct Page {
    content_type: String,
    bytes: Vec<u8>,
    cut: bool,
    /// Headers of `OF_AGE` that the server sent.
    of_age: Vec<(HeaderName, String)>,
}

/// Dependencies of fetching pages.
pub struct Web {
    pub settings: policy::Web,
    pub pages: Pages,
    pub handles: Arc<Handles>,
}

pub fn routes(web: Arc<Web>) -> Router {
    Router::new().route("/web", get(fetched)).with_state(web)
}

async fn fetched(
    State(web): State<Arc<Web>>,
    Extension(Life(life)): Extension<Life>,
    Query(asked): Query<BTreeMap<String, String>>,
) -> Response {
    let mut headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(PAGES))]);
    for (key, name) in [("accept", ACCEPT), ("etag", IF_NONE_MATCH), ("modified", IF_MODIFIED_SINCE)] {
        let value = asked.get(key).filter(|value| value.len() <= LONGEST_HEADER);
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
            headers.insert(name, value);
        }
    }
    let mut fetch = Fetch { url: None, headers, bytes_out: 0, bytes_in: 0, status: None, heard: false };
    let Some(url) = asked.get("url") else {
        return Refusal::new(400, "no_url", "no url was given", "ask /web?url=https%3A%2F%2Fexample.org%2F")
            .into_response();
    };
    if let Err(closed) = web.handles.ledger.is_open() {
        return closed.into_response();
    }
    let deadline = Duration::from_secs(web.settings.deadline_s);
    let got = tokio::time::timeout(deadline, fetch.get(&web, url)).await.unwrap_or_else(|_| {
        let message = format!("the page took longer than {} s", deadline.as_secs());
        Err(Refusal::new(504, "took_too_long", message, "try again later, or another source"))
    });
    if let Err(refusal) = fetch.written_down(&web, life, url, &got).await {
        return refusal.into_response();
    }
    match got {
        Ok(mut page) => {
            // In a thread of its own, since scrubbing a large page takes a while.
            let bytes = std::mem::take(&mut page.bytes);
            let clean = tokio::task::spawn_blocking(move || web.handles.secrets.scrub_bytes(bytes)).await;
            fetch.answer(page, clean.unwrap_or_default())
        }
        Err(refusal) => {
            let mut response = refusal.into_response();
            if let Some(status) = fetch.status {
                response.headers_mut().insert("x-feral-status", HeaderValue::from(status));
            }
            response
        }
    }
}

impl Fetch {
    async fn get(&mut self, web: &Web, url: &str) -> Result<Page, Refusal> {
        let (pages, settings) = (&web.pages, &web.settings);
        let mut url = address::check(url, settings)?;
        self.url = Some(url.clone());
        let _place = pages.places.acquire().await;
        count(web)?;
        for _ in 0..=MOST_REDIRECTS {
            let client = pages.client(&url, settings).await?;
            let told: usize = self.headers.values().map(HeaderValue::len).sum();
            self.bytes_out += (url.as_str().len() + told) as u64;
            let request = client
                .get(url.clone())
                .headers(self.headers.clone())
                .header(ACCEPT_ENCODING, unpack::CODINGS);
            let response = request.send().await.map_err(|cause| unreachable(&url, &cause))?;
            self.heard = true;
            self.status = Some(response.status().as_u16());
            if let Some(location) = onward(&response) {
                url = address::hop(&url, &location, settings)?;
                self.url = Some(url.clone());
                continue;
            }
            refuse_status(web, &url, &response)?;
            return self.read(response, &url, settings.most_bytes).await;
        }
        let message = format!("{}: more than {MOST_REDIRECTS} redirects", printable(&url));
        let hint = "the site sends in circles; try another address";
        Err(Refusal::new(502, "too_many_redirects", message, hint))
    }

    /// Reads to the end or the limit, which counts text after unpacking.
    async fn read(&mut self, mut response: reqwest::Response, url: &Url, most: u64) -> Result<Page, Refusal> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let content_type = text_header(&response, &CONTENT_TYPE).unwrap_or_default();
        let of_age =
            OF_AGE.into_iter().filter_map(|name| Some((name.clone(), text_header(&response, &name)?)));
        let mut page = Page { content_type, bytes: Vec::new(), cut: false, of_age: of_age.collect() };
        let codings = text_header(&response, &CONTENT_ENCODING).unwrap_or_default();
        while let Some(chunk) = response.chunk().await.map_err(|cause| unreachable(url, &cause))? {
            let room = most.saturating_sub(page.bytes.len());
            page.bytes.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
            self.bytes_in = page.bytes.len() as u64;
            if chunk.len() > room {
                page.cut = true;
                break;
            }
        }
        // The client takes the header away from what it unpacks itself.
        if !codings.is_empty() {
            let (bytes, longer) = unpack::unpacked(&codings, std::mem::take(&mut page.bytes), most)?;
            (page.bytes, page.cut) = (bytes, page.cut || longer);
        }
        Ok(page)
    }

    /// Writes the taint and the ledger's line, before anything goes back.
    async fn written_down(
        &self,
        web: &Web,
        life: u64,
        asked: &str,
        got: &Result<Page, Refusal>,
    ) -> Result<(), Refusal> {
        if self.heard {
            web.handles.taint.try_read_untrusted(life)?;
        }
        let place =
            |url: &Url| printable(url).split_once("//").map_or_else(String::new, |(_, path)| path.to_owned());
        let refused = || asked.split(['?', '#']).next().unwrap_or_default().chars().take(200).collect();
        let entry = Entry {
            life,
            event: "fetch".into(),
            service: "web".into(),
            method: "GET".into(),
            path: web.handles.secrets.scrub(&self.url.as_ref().map_or_else(refused, place)),
            bytes_out: self.bytes_out,
            bytes_in: self.bytes_in,
            status: self.status,
            decision: got.as_ref().map_or_else(|refusal| refusal.kind, |_| "allow").into(),
            ..Entry::default()
        };
        let is_refused = got.is_err() && self.bytes_out == 0;
        let ledger = &web.handles.ledger;
        let written = if is_refused { ledger.refused(entry).await } else { ledger.append(entry).await };
        written.map_err(Refusal::from)
    }

    fn answer(&self, page: Page, clean: Vec<u8>) -> Response {
        let mut response = Response::new(Body::from(clean));
        let headers = response.headers_mut();
        let mut put = |name: HeaderName, value: &str| {
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(name, value);
            }
        };
        put(HeaderName::from_static("x-feral-url"), self.url.as_ref().map_or("", Url::as_str));
        put(CONTENT_TYPE, &page.content_type.chars().take(LONGEST_HEADER).collect::<String>());
        if page.cut {
            put(HeaderName::from_static("x-feral-cut"), "true");
        }
        if self.status == Some(304) {
            put(HeaderName::from_static("x-feral-status"), "304");
        }
        for (name, value) in page.of_age {
            put(name, &value.chars().take(LONGEST_HEADER).collect::<String>());
        }
        response
    }
}

/// The target of a redirect; `None` if the response is none.
fn onward(response: &reqwest::Response) -> Option<String> {
    let follows = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    text_header(response, &LOCATION).filter(|_| follows)
}

fn unreachable(url: &Url, cause: &reqwest::Error) -> Refusal {
    let message = format!("{}: {}", printable(url), net::told(cause));
    Refusal::new(502, "unreachable", message, "check the address, or try again later")
}

/// Counts a fetch; refused if the hour's number is reached.
fn count(web: &Web) -> Result<(), Refusal> {
    let most = web.settings.per_hour;
    match web.handles.hours.take("web", most) {
        Ok(_) => Ok(()),
        Err(Full::Wait(seconds)) => {
            let message = format!("{most} pages were fetched within the hour");
            Err(Refusal::new(429, "web_per_hour", message, format!("fetch again in {seconds} s"))
                .after(seconds))
        }
        Err(Full::Closed(why)) => Err(Closed(why).into()),
    }
}

fn refuse_status(web: &Web, url: &Url, response: &reqwest::Response) -> Result<(), Refusal> {
    let status = response.status();
    // Unchanged since what the request knew of it.
    if status.is_success() || status == StatusCode::NOT_MODIFIED {
        return Ok(());
    }
    let after = wait::asked_s(response.headers(), b"", web.handles.clock.now());
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
    let message = format!("{}: the server answered {status}", printable(url));
    let refusal = Refusal::new(502, "upstream_status", message, hint);
    Err(match after {
        Some(seconds) => refusal.after(seconds),
        None => refusal,
    })
}

fn text_header(response: &reqwest::Response, name: &HeaderName) -> Option<String> {
    let value = response.headers().get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}
