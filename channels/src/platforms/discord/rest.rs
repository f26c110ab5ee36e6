//! Discord's HTTP API: one call, its limits kept by the headers, its errors as what the owner can do about them.

use crate::channel::Trouble;
use crate::door::asked_wait;
use crate::platforms::calls::{
    ANSWER_BYTES, FILE_PATIENCE, PATIENCE, Waits, at, body, harmless, said, sent, waited,
};
use crate::platforms::upload::Upload;
use house::mutex::lock;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, header::HeaderMap};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// Reference, User Agent: `DiscordBot ($url, $versionNumber)`.
const AGENT: &str = concat!("DiscordBot (https://feral.invalid, ", env!("CARGO_PKG_VERSION"), ") Feral");
/// Rate Limits, Global Rate Limit: a wait of everything but interactions.
const ALL: &str = "*";
/// Wait where a 429 says none.
const UNTOLD: Duration = Duration::from_secs(5);

pub enum Body {
    None,
    Json(Value),
    /// Reference, Uploading Files: the message as `payload_json`, the file as `files[0]`.
    File(Value, String, bytes::Bytes),
}

/// A route: how its waits are told apart (Rate Limits: by method, path, and the channel in it) and its path.
pub struct Route<'a> {
    pub method: Method,
    /// The path with its minor parts left out.
    pub name: &'a str,
    /// The channel or webhook that the path names.
    pub major: &'a str,
    pub path: String,
}

pub struct Rest {
    client: Client,
    base: String,
    token: String,
    /// The variable that the token is in.
    variable: String,
    waits: Waits,
    /// Names of routes, and the bucket of each as its last answer said.
    buckets: Mutex<HashMap<String, String>>,
    /// Rate Limits, Invalid Request Limit: no further request after a token became invalid.
    is_revoked: AtomicBool,
}

impl Rest {
    pub fn new(client: Client, base: &str, token: String, variable: &str) -> Self {
        Self {
            client,
            base: format!("{base}/api/v10"),
            token,
            variable: variable.to_owned(),
            waits: Waits::default(),
            buckets: Mutex::default(),
            is_revoked: AtomicBool::new(false),
        }
    }

    /// Forgets that the token was refused: it may be another by now.
    pub fn try_again(&self) {
        self.is_revoked.store(false, Relaxed);
    }

    pub fn revoked(&self) -> Trouble {
        self.is_revoked.store(true, Relaxed);
        Trouble::Revoked(format!(
            "Discord does not take the token in {0}: at discord.com/developers/applications open your app, Bot, Reset Token, \
             and write the new one to .env as {0}=TOKEN",
            self.variable
        ))
    }

    /// Reads, and waits out short limits.
    pub async fn get(&self, name: &str, major: &str, path: &str) -> Result<Value, Trouble> {
        loop {
            let route = Route { method: Method::GET, name, major, path: path.to_owned() };
            let came = self.call(route, Body::None).await.map_err(harmless);
            if !waited(&came).await {
                return came;
            }
        }
    }

    /// Calls a route. `Doubtful`: it may have happened.
    pub async fn call(&self, route: Route<'_>, what: Body) -> Result<Value, Trouble> {
        // Receiving and Responding, Endpoints: those of interactions carry their own token and are not bound to the bot's limit.
        let is_interaction = matches!(route.name, "/interactions" | "/webhooks");
        if self.is_revoked.load(Relaxed) && !is_interaction {
            return Err(self.revoked());
        }
        let named = format!("{} {}", route.method, route.name);
        let bucket = self.bucket(&named);
        let key = format!("{bucket}:{}", route.major);
        self.waits.check(&[&key, if is_interaction { &key } else { ALL }])?;
        let request = self.client.request(route.method, format!("{}{}", self.base, route.path));
        let request = request.header("user-agent", AGENT);
        let request = if is_interaction {
            request
        } else {
            request.header("authorization", format!("Bot {}", self.token))
        };
        let answer = sent(with(request, what)).await?;
        self.keep_limits(&named, route.major, answer.headers());
        self.judge(answer, &named, route.major).await
    }

    async fn judge(&self, answer: Response, named: &str, major: &str) -> Result<Value, Trouble> {
        let (status, headers) = (answer.status(), answer.headers().clone());
        let read = body(answer, ANSWER_BYTES).await?;
        let told: Value = serde_json::from_slice(&read).unwrap_or_default();
        match status {
            status if status.is_success() => Ok(told),
            StatusCode::TOO_MANY_REQUESTS => {
                let seconds =
                    at(&told, "/retry_after").as_f64().and_then(|s| Duration::try_from_secs_f64(s).ok());
                let wait = seconds.or_else(|| asked_wait(&headers)).unwrap_or(UNTOLD);
                let is_global = at(&told, "/global") == true || headers.contains_key("x-ratelimit-global");
                let key = if is_global { ALL.to_owned() } else { format!("{}:{major}", self.bucket(named)) };
                self.waits.set(&key, wait);
                Err(Trouble::Slower(wait))
            }
            StatusCode::UNAUTHORIZED => Err(self.revoked()),
            status if status.is_server_error() => Err(Trouble::Doubtful(format!("discord.com: {status}"))),
            status => Err(refused(status, &told, &self.variable)),
        }
    }

    fn bucket(&self, named: &str) -> String {
        let buckets = lock(&self.buckets);
        buckets.get(named).cloned().unwrap_or_else(|| named.to_owned())
    }

    /// Rate Limits, Header Format: an exhausted bucket is left alone until it is reset.
    fn keep_limits(&self, named: &str, major: &str, headers: &HeaderMap) {
        if let Some(bucket) = headers.get("x-ratelimit-bucket").and_then(|value| value.to_str().ok()) {
            let mut buckets = lock(&self.buckets);
            buckets.insert(named.to_owned(), bucket.chars().take(100).collect());
        }
        if number(headers, "x-ratelimit-remaining") == Some(0.0)
            && let Some(seconds) = number(headers, "x-ratelimit-reset-after")
            && let Ok(wait) = Duration::try_from_secs_f64(seconds)
        {
            self.waits.set(&format!("{}:{major}", self.bucket(named)), wait);
        }
    }

    /// Asks for a file at an address of its own, which gets no token.
    pub async fn file(&self, url: &str) -> Result<Response, Trouble> {
        let request = self.client.get(url).header("user-agent", AGENT).timeout(FILE_PATIENCE);
        sent(request).await.map_err(harmless)
    }

    /// Whether files of Discord's lie at this address: https at its CDN, or the owner's own server.
    pub fn has_files(&self, url: &str) -> bool {
        let (Ok(url), Ok(base)) = (reqwest::Url::parse(url), reqwest::Url::parse(&self.base)) else {
            return false;
        };
        let is_own = base.scheme() == "http" && url.origin() == base.origin();
        is_own || (url.scheme() == "https" && url.host_str() == Some("cdn.discordapp.com"))
    }
}

fn with(request: RequestBuilder, what: Body) -> RequestBuilder {
    match what {
        Body::None => request.timeout(PATIENCE),
        Body::Json(value) => request.json(&value).timeout(PATIENCE),
        Body::File(value, name, bytes) => {
            let (kind, form) =
                Upload::new(&[("payload_json", &value.to_string())], &bytes).file("files[0]", &name, &bytes);
            request.header("content-type", kind).body(form).timeout(FILE_PATIENCE)
        }
    }
}

fn number(headers: &HeaderMap, name: &str) -> Option<f64> {
    headers.get(name)?.to_str().ok()?.parse().ok()
}

/// Opcodes and Status Codes, JSON Error Codes: what the owner can do about each that a talk may meet.
fn refused(status: StatusCode, told: &Value, variable: &str) -> Trouble {
    let code = at(told, "/code").as_u64().unwrap_or(0);
    let theirs = said(at(told, "/message").as_str().unwrap_or_default());
    let advice = match code {
        40_001 => {
            return Trouble::Revoked(format!(
                "Discord does not take the token in {variable} for this; reset it there"
            ));
        }
        40_002 => {
            return Trouble::Revoked(
                "Discord wants the account of the bot's owner verified first".to_owned(),
            );
        }
        10_003 => "that chat is gone, or the bot was taken out of it: invite it again",
        10_008 => "that message is gone",
        10_062 | 50_027 => "that button was pressed too long ago",
        20_016 | 20_028 => return Trouble::Slower(UNTOLD),
        40_005 => "that is too large for Discord: 10 MiB a file",
        50_001 => "the bot cannot see that channel: give it View Channel there",
        50_007 => {
            "you let no messages of the bot's in: unblock it, and allow direct messages in the privacy settings of a server \
             that you share with it"
        }
        50_013 => {
            "the bot lacks a permission in that channel: give it Send Messages, Attach Files, Read Message History"
        }
        50_278 => "you share no server with the bot: invite it to one that you are in",
        _ => "",
    };
    let whole = if at(told, "/errors").is_object() {
        format!("{theirs} {}", said(&at(told, "/errors").to_string()))
    } else {
        theirs
    };
    let stop = if advice.is_empty() { "" } else { "; " };
    Trouble::Refused(format!("Discord: {whole} ({}, code {code}){stop}{advice}", status.as_u16()))
}
