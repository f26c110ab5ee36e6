//! The broker: the one way out, asked over plain HTTP on loopback with the token of this life.
//!
//! Invariant: a call that may have been carried out is not repeated; only one that changes nothing, or never
//! arrived, has a second try. The token is in no error.

use crate::body::{Age, Body};
use crate::known::{self, Known};
use crate::{Deferred, Error};
use reqwest::header::{HeaderMap, HeaderName};
use reqwest::{Client, Method, Response, Url};
use serde::Serialize;
use serde_json::{Value, json};
use std::error::Error as _;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Wait before the second try: within it the guardian restarts a broker that fell.
const AGAIN: Duration = Duration::from_millis(800);

/// Deadline of `status`, for which a wake waits.
const GLANCE: Duration = Duration::from_secs(3);

/// Deadline of all other calls; the broker's own deadlines are shorter.
const PATIENCE: Duration = Duration::from_secs(60);

/// Deadline of a call of an MCP server's tool, the owner's for which is an hour at most, and of a post, whose pictures take
/// their time; both are kept by the broker.
const LONGEST: Duration = Duration::from_secs(3_720);

/// Most bytes read of one answer; the broker's own caps are below it.
const MOST_BYTES: usize = 16 << 20;

const UNSURE: &str = "it may have been done: look whether it was before asking again";

/// A client of the broker.
#[derive(Clone)]
pub struct Broker {
    base: String,
    token: String,
    http: Client,
    /// The token of this life; shared by every copy of the client.
    pub(crate) known: Arc<Known>,
}

/// Answer of a service.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reply {
    pub status: u16,
    pub content_type: String,
    pub body: String,
    pub truncated: bool,
    /// Pictures that a tool of an MCP server answered with: `mime_type`, and `data` in base64.
    #[serde(skip)]
    pub pictures: Vec<Value>,
}

impl Broker {
    /// Prepares to ask the broker at `base`; nothing is sent.
    pub fn new(base: &str, token: &str) -> Result<Broker, Error> {
        let base = base.trim().trim_end_matches('/').to_owned();
        // No proxy on loopback. A new connection for each call: a kept one is dead after a restart of the broker.
        let http = Client::builder().no_proxy().pool_max_idle_per_host(0).build().map_err(|cause| {
            Error::new(format!("prepare for the broker: {cause}"), "are there too many open files?")
        })?;
        Ok(Broker { base, token: token.trim().to_owned(), http, known: Arc::default() })
    }

    pub fn base(&self) -> &str {
        &self.base
    }

    pub fn token(&self) -> &str {
        &self.token
    }

    /// Asks for the status: model, budget, services, what waits for the owner.
    pub async fn status(&self) -> Result<Value, Error> {
        self.json("ask the broker how things stand", Method::GET, "/status", None, true, GLANCE).await
    }

    /// Calls a service of the owner's by name; the broker judges and signs.
    pub async fn service(&self, request: &Value) -> Result<Reply, Error> {
        let doing = doing(request);
        judged(&doing, self.post(&doing, "/service", request).await?)
    }

    /// Posts at a service where people read; the broker judges, counts and records each part.
    pub async fn post_out(&self, request: &Value) -> Result<Reply, Error> {
        let service: String =
            request.get("service").and_then(Value::as_str).unwrap_or("?").chars().take(200).collect();
        let doing = format!("post at {service}");
        judged(&doing, self.json(&doing, Method::POST, "/post", Some(request), false, LONGEST).await?)
    }

    /// Describes a tool of an MCP server, or lists the server's tools.
    pub async fn mcp_describe(&self, request: &Value) -> Result<Value, Error> {
        let doing = of_tool("describe", request);
        let said = self.post(&doing, "/mcp/describe", request).await?;
        match said.get("ok") {
            Some(Value::Bool(true)) => Ok(said),
            _ => judged(&doing, said).map(|_| Value::Null),
        }
    }

    /// Calls a tool of an MCP server; the broker judges and records.
    pub async fn mcp_call(&self, request: &Value) -> Result<Reply, Error> {
        let doing = of_tool("call", request);
        let said = self.json(&doing, Method::POST, "/mcp/call", Some(request), false, LONGEST).await?;
        judged(&doing, said)
    }

    /// Has the broker replace PURPOSE.md; an error with `deferred` where that waits for the owner.
    pub async fn purpose(&self, text: &str, reason: &str) -> Result<(), Error> {
        let (doing, request) = ("rewrite PURPOSE.md", json!({"text": text, "reason": reason}));
        judged(doing, self.post(doing, "/purpose", &request).await?).map(|_| ())
    }

    /// Tells the broker that what is read now may be text of others.
    pub async fn taint(&self) -> Result<(), Error> {
        let doing = "tell the broker what is read";
        self.json(doing, Method::POST, "/taint", Some(&json!({})), true, GLANCE).await.map(|_| ())
    }

    /// Fetches a page of the web, or hears that it is as it was at this age.
    pub(crate) async fn page(&self, url: &Url, name: &str, accept: &str, had: &Age) -> Result<Body, Error> {
        let mut ask = Url::parse(&format!("{}/web", self.base)).map_err(|cause| self.nowhere(&cause))?;
        ask.query_pairs_mut().append_pair("url", url.as_str()).append_pair("accept", accept);
        for (key, value) in [("etag", &had.etag), ("modified", &had.modified)] {
            value.iter().for_each(|value| _ = ask.query_pairs_mut().append_pair(key, value));
        }
        let doing = format!("fetch {name}");
        let (headers, bytes) = self.call(&doing, Method::GET, ask.as_str(), None, true, PATIENCE).await?;
        let header = |name: &'static str| text(&headers, &HeaderName::from_static(name));
        let from = header("x-feral-url").and_then(|from| Url::parse(&from).ok());
        Ok(Body {
            url: from.unwrap_or_else(|| url.clone()),
            content_type: header("content-type").unwrap_or_default(),
            bytes,
            cut: header("x-feral-cut").is_some(),
            unchanged: header("x-feral-status").as_deref() == Some("304"),
            age: Age {
                etag: header("etag"),
                modified: header("last-modified"),
                fresh_s: header("cache-control").map_or(0, |text| known::fresh_s(&text)),
            },
        })
    }

    async fn post(&self, doing: &str, path: &str, request: &Value) -> Result<Value, Error> {
        let harmless = matches!(request.get("method").and_then(Value::as_str), Some("GET" | "HEAD"));
        self.json(doing, Method::POST, path, Some(request), harmless, PATIENCE).await
    }

    async fn json(
        &self,
        doing: &str,
        method: Method,
        path: &str,
        body: Option<&Value>,
        harmless: bool,
        most: Duration,
    ) -> Result<Value, Error> {
        let url = format!("{}{path}", self.base);
        let (_, bytes) = self.call(doing, method, &url, body, harmless, most).await?;
        serde_json::from_slice(&bytes).map_err(|cause| {
            Error::new(format!("{doing}: the broker's answer is not json: {cause}"), "tell the owner")
        })
    }

    /// Makes a call; returns its answer's headers and body. A `harmless` call changes nothing: it may be tried again.
    async fn call(
        &self,
        doing: &str,
        method: Method,
        url: &str,
        body: Option<&Value>,
        harmless: bool,
        most: Duration,
    ) -> Result<(HeaderMap, Vec<u8>), Error> {
        let once = || async {
            let mut request = self.http.request(method.clone(), url).bearer_auth(&self.token);
            if let Some(body) = body {
                request = request.header("content-type", "application/json").body(body.to_string());
            }
            let response = request.send().await?;
            let (status, headers) = (response.status(), response.headers().clone());
            let bytes = read(response).await?;
            Ok::<_, reqwest::Error>((status, headers, bytes))
        };
        let tries = async {
            match once().await {
                Err(cause) if harmless || cause.is_connect() => {
                    tokio::time::sleep(AGAIN).await;
                    once().await
                }
                first => first,
            }
        };
        let unsure = if harmless { "try again in a minute" } else { UNSURE };
        let answered = tokio::time::timeout(most, tries).await.map_err(|_| {
            Error::new(format!("{doing}: the broker did not answer within {} s", most.as_secs()), unsure)
        })?;
        let (status, headers, bytes) = answered.map_err(|cause| {
            let hint = if cause.is_connect() { "try again in a minute" } else { unsure };
            Error::new(format!("{doing}: the broker is away: {}", chain(cause)), hint)
        })?;
        if status.is_success() {
            return Ok((headers, bytes));
        }
        Err(refused(doing, status.as_u16(), &headers, &bytes))
    }

    fn nowhere(&self, cause: &dyn fmt::Display) -> Error {
        Error::new(format!("use {} as the broker's address: {cause}", self.base), "the guardian gives it")
    }
}

impl fmt::Debug for Broker {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Broker({})", self.base)
    }
}

/// A request in words, for messages: `GET /path at service`.
fn of_tool(verb: &str, request: &Value) -> String {
    let word = |key: &str| -> String {
        request.get(key).and_then(Value::as_str).unwrap_or_default().chars().take(200).collect()
    };
    format!("{verb} {} of {}", word("tool"), word("server"))
}

fn doing(request: &Value) -> String {
    let word = |key: &str| -> String {
        request.get(key).and_then(Value::as_str).unwrap_or("?").chars().take(200).collect()
    };
    format!("{} {} at {}", word("method"), word("path"), word("service"))
}

async fn read(mut response: Response) -> Result<Vec<u8>, reqwest::Error> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        let room = MOST_BYTES.saturating_sub(bytes.len());
        bytes.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
        if chunk.len() > room {
            break;
        }
    }
    Ok(bytes)
}

/// Reads the broker's decision: an answer, or an error that says whether the act waits for the owner.
fn judged(doing: &str, said: Value) -> Result<Reply, Error> {
    let word = |key: &str| said.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let flag = |key: &str| said.get(key) == Some(&Value::Bool(true));
    let status = said.get("status").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok());
    if flag("ok") {
        let (content_type, body) = (word("content_type"), word("body"));
        let pictures = said.get("pictures").and_then(Value::as_array).cloned().unwrap_or_default();
        let (status, truncated) = (status.unwrap_or(200), flag("truncated"));
        return Ok(Reply { status, content_type, body, truncated, pictures });
    }
    let asked = said
        .get("asked")
        .filter(|id| !id.is_null())
        .map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned));
    let error = Some(word("error")).filter(|error| !error.is_empty());
    let message = failure(doing, error.as_deref().unwrap_or("the broker says neither ok nor error"));
    let deferred = flag("draft").then(|| Deferred::Draft(word("path"))).or(asked.map(Deferred::Asked));
    Err(Error { status, deferred, ..Error::new(message, word("hint")) })
}

/// A refusal in the broker's own words.
fn refused(doing: &str, status: u16, headers: &HeaderMap, bytes: &[u8]) -> Error {
    let said: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let error = said.get("error").unwrap_or(&Value::Null);
    let word = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let upstream = text(headers, &HeaderName::from_static("x-feral-status"));
    let upstream = upstream.and_then(|upstream| upstream.trim().parse().ok());
    let message = match word("message") {
        said if said.is_empty() => format!("{doing}: the broker answered {status}"),
        said => failure(doing, &said),
    };
    let hint = Some(word("hint")).filter(|hint| !hint.is_empty());
    let hint = hint.unwrap_or_else(|| "do something else; the owner's rules decide what goes out".to_owned());
    let after_s =
        text(headers, &HeaderName::from_static("retry-after")).and_then(|after| after.trim().parse().ok());
    Error { status: upstream.or(Some(status)), after_s, ..Error::new(message, hint) }
}

/// Tells what failed and why; the broker's words often begin with the request, which is not said twice.
fn failure(doing: &str, said: &str) -> String {
    match doing.split_once(' ') {
        Some((verb, object)) if said.starts_with(object) => format!("{verb} {said}"),
        Some((verb, _)) if said.starts_with(verb) => said.to_owned(),
        _ => format!("{doing}: {said}"),
    }
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    Some(String::from_utf8_lossy(headers.get(name)?.as_bytes()).into_owned())
}

/// The deepest cause, without the address, which is known.
fn chain(cause: reqwest::Error) -> String {
    let cause = cause.without_url();
    let (mut deepest, mut below) = (cause.to_string(), cause.source());
    while let Some(error) = below {
        deepest = error.to_string();
        below = error.source();
    }
    deepest
}
