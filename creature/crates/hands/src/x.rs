//! X over its API v2: post, reply, search, mentions, as the owner's account.
//!
//! Invariant: a post is sent once. Where nobody can know whether it went through, the error says so.

use crate::address::{self, printable};
use crate::oauth1::{self, Keys};
use crate::web::{self, Route};
use crate::{Error, Reach};
use reqwest::header::{AUTHORIZATION, HeaderName};
use reqwest::{Client, Method, Response, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::OnceCell;

const HOME: &str = "https://api.x.com";
const MOST_WEIGHT: usize = 280;
/// What X counts for a link, whatever its length.
const LINK_WEIGHT: usize = 23;
const FIELDS: (&str, &str) = ("tweet.fields", "author_id,created_at");

/// What lets the creature act on X as its owner's account.
#[derive(Clone, Debug)]
pub enum Credentials {
    OAuth1 {
        consumer_key: String,
        consumer_secret: SecretString,
        token: String,
        token_secret: SecretString,
    },
    /// An OAuth 2 user token.
    Bearer(SecretString),
}

impl Credentials {
    /// From `X_API_KEY`, `X_API_SECRET`, `X_ACCESS_TOKEN`, `X_ACCESS_TOKEN_SECRET`, or from `X_USER_TOKEN`.
    pub fn from_env() -> Option<Credentials> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// As `from_env`, over any source of variables; empty ones count as missing.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Option<Credentials> {
        let value = |name: &str| {
            let value = variable(name)?.trim().to_owned();
            (!value.is_empty()).then_some(value)
        };
        let four = || {
            Some(Credentials::OAuth1 {
                consumer_key: value("X_API_KEY")?,
                consumer_secret: value("X_API_SECRET")?.into(),
                token: value("X_ACCESS_TOKEN")?,
                token_secret: value("X_ACCESS_TOKEN_SECRET")?.into(),
            })
        };
        four().or_else(|| Some(Credentials::Bearer(value("X_USER_TOKEN")?.into())))
    }
}

/// A post that went out.
#[derive(Clone, Debug, PartialEq)]
pub struct Posted {
    pub id: String,
}

/// A post that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Post {
    pub id: String,
    pub author_id: String,
    pub text: String,
    /// As X gives it, RFC 3339; empty when it gave none.
    pub created_at: String,
}

/// A client of the X API v2.
pub struct X {
    base: Url,
    credentials: Credentials,
    client: Client,
    reach: Reach,
    /// Who the credentials belong to; asked for once.
    me: OnceCell<String>,
}

impl X {
    /// `base_url` is the public API unless given; it may be a private address.
    pub fn new(base_url: Option<&str>, credentials: Credentials) -> Result<X, Error> {
        let base = base_url.map(str::trim).filter(|base| !base.is_empty()).unwrap_or(HOME);
        let base = address::check(base, true)?;
        let route = if address::is_loopback(&base) { Route::Direct } else { Route::Proxied };
        let client = web::client(route)?;
        Ok(X { base, credentials, client, reach: Reach::default(), me: OnceCell::new() })
    }

    pub async fn post(&self, text: &str) -> Result<Posted, Error> {
        self.send(text, json!({ "text": text })).await
    }

    /// Answers the post with the id `in_reply_to`.
    pub async fn reply(&self, text: &str, in_reply_to: &str) -> Result<Posted, Error> {
        let to = post_id(in_reply_to)?;
        self.send(text, json!({ "text": text, "reply": { "in_reply_to_tweet_id": to } })).await
    }

    /// Posts of the last seven days, newest first.
    pub async fn search(&self, query: &str, most: usize) -> Result<Vec<Post>, Error> {
        if query.trim().is_empty() {
            return Err(Error::new("search x: the query is empty", "give a few words to look for"));
        }
        // X answers with ten at least.
        let count = most.clamp(10, 100).to_string();
        let query = [("query", query.trim()), ("max_results", &count), FIELDS];
        let answer = self.call(Method::GET, "/2/tweets/search/recent", &query, None).await?;
        Ok(posts(&answer).take(most).collect())
    }

    /// Posts that mention the account, newest first; only later ones than `since_id` where given.
    pub async fn mentions(&self, since_id: Option<&str>) -> Result<Vec<Post>, Error> {
        let mut query = vec![("max_results", "100"), FIELDS];
        if let Some(since) = since_id {
            query.push(("since_id", post_id(since)?));
        }
        let me = self.me.get_or_try_init(|| self.who_am_i()).await?;
        let path = format!("/2/users/{me}/mentions");
        let answer = self.call(Method::GET, &path, &query, None).await?;
        Ok(posts(&answer).collect())
    }

    async fn who_am_i(&self) -> Result<String, Error> {
        let answer = self.call(Method::GET, "/2/users/me", &[], None).await?;
        let id = text_at(&answer, "/data/id").filter(|id| post_id(id).is_ok());
        id.map(str::to_owned).ok_or_else(|| {
            let message = format!("read {}2/users/me: the answer holds no id", self.base);
            Error::new(message, "the credentials must be a user's, not only an app's")
        })
    }

    async fn send(&self, text: &str, body: Value) -> Result<Posted, Error> {
        check_text(text)?;
        let answer = self.call(Method::POST, "/2/tweets", &[], Some(&body)).await?;
        let id = text_at(&answer, "/data/id").map(str::to_owned);
        let id = id.ok_or_else(|| {
            let message = format!("post to {}2/tweets: the answer holds no id", self.base);
            Error::new(message, UNSURE)
        })?;
        Ok(Posted { id })
    }

    async fn call(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<Value, Error> {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        url.set_query(None);
        let authorization = self.authorization(method.as_str(), url.as_str(), query)?;
        let name = printable(&url);
        if !query.is_empty() {
            // Spelt as it was signed: `%20`, not `+`.
            let pairs = query.iter().map(|(name, value)| format!("{name}={}", oauth1::encode(value)));
            url.set_query(Some(&pairs.collect::<Vec<_>>().join("&")));
        }
        let posting = method == Method::POST;
        let unsure = if posting { UNSURE } else { "try again later" };
        let mut request = self.client.request(method, url).header(AUTHORIZATION, authorization);
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = async {
            let response = request.send().await.map_err(|cause| {
                let unsent = cause.is_connect() || cause.is_builder();
                let error = web::unreachable_host(&name, cause);
                Error { hint: if unsent { error.hint } else { unsure.to_owned() }, ..error }
            })?;
            let refused = refusal(&name, &response, posting);
            let read = web::read_body(response, self.reach.most_bytes, &name).await;
            if let Some(refused) = refused {
                let detail = read.ok().and_then(|(bytes, _)| detail(&bytes));
                let detail = detail.map(|detail| format!(": {detail}")).unwrap_or_default();
                return Err(Error { message: format!("{}{detail}", refused.message), ..refused });
            }
            let (bytes, _) = read.map_err(|error| Error { hint: unsure.to_owned(), ..error })?;
            serde_json::from_slice(&bytes)
                .map_err(|cause| Error::new(format!("read {name}: the answer is not json: {cause}"), unsure))
        };
        tokio::time::timeout(self.reach.deadline, answer).await.unwrap_or_else(|_| {
            let message = format!("call {name}: took longer than {:?}", self.reach.deadline);
            Err(Error::new(message, unsure))
        })
    }

    fn authorization(&self, method: &str, url: &str, query: &[(&str, &str)]) -> Result<String, Error> {
        let (consumer_key, consumer_secret, token, token_secret) = match &self.credentials {
            Credentials::Bearer(token) => return Ok(format!("Bearer {}", token.expose_secret())),
            Credentials::OAuth1 { consumer_key, consumer_secret, token, token_secret } => {
                (consumer_key, consumer_secret.expose_secret(), token, token_secret.expose_secret())
            }
        };
        let keys = Keys { consumer_key, consumer_secret, token, token_secret };
        let nonce = oauth1::nonce()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Ok(oauth1::authorization(keys, method, url, query, &nonce, now))
    }
}

const UNSURE: &str =
    "the post may have gone through: look for it among your own posts before sending it again";

/// How long X takes a text to be, in its own counting: links are 23, CJK and emoji count double.
pub fn weight(text: &str) -> usize {
    let mut weight = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        let bare = word.trim_end();
        if bare.starts_with("https://") || bare.starts_with("http://") {
            weight += LINK_WEIGHT + word.chars().count() - bare.chars().count();
            continue;
        }
        let narrow = |c: char| matches!(u32::from(c), 0..=4351 | 8192..=8205 | 8208..=8223 | 8242..=8247);
        weight += word.chars().map(|c| if narrow(c) { 1 } else { 2 }).sum::<usize>();
    }
    weight
}

fn check_text(text: &str) -> Result<(), Error> {
    if text.trim().is_empty() {
        return Err(Error::new("post to x: the text is empty", "write something"));
    }
    let weight = weight(text);
    if weight > MOST_WEIGHT {
        let message = format!("post to x: the text counts {weight} characters, {MOST_WEIGHT} are allowed");
        let hint = format!("cut {} characters, or make it several posts", weight - MOST_WEIGHT);
        return Err(Error::new(message, hint));
    }
    Ok(())
}

fn post_id(id: &str) -> Result<&str, Error> {
    let id = id.trim();
    if !id.is_empty() && id.len() <= 19 && id.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(id);
    }
    let shown: String = id.chars().take(40).collect();
    Err(Error::new(
        format!("read `{shown}` as the id of a post"),
        "an id is the number at the end of a post's url",
    ))
}

/// The error for an answer that is none, before its body is read.
fn refusal(name: &str, response: &Response, posting: bool) -> Option<Error> {
    let status = response.status();
    if status.is_success() {
        return None;
    }
    let hint = match status.as_u16() {
        401 => {
            "the credentials are not valid; the owner must renew X_USER_TOKEN, or X_API_KEY and its fellows"
                .into()
        }
        402 => "the account's credits at x are used up; tell the owner".into(),
        403 => "x forbids it: the app may lack write permission, or the text was posted before".into(),
        429 => reset_hint(response),
        500.. if posting => UNSURE.into(),
        500.. => "x is in trouble; try again later".into(),
        _ => "x refuses the request; change it rather than repeat it".to_owned(),
    };
    Some(Error::new(format!("call {name}: x answered {status}"), hint).with_status(status.as_u16()))
}

fn reset_hint(response: &Response) -> String {
    let reset = web::text_header(response, HeaderName::from_static("x-rate-limit-reset"));
    let reset = reset.and_then(|reset| reset.trim().parse::<i64>().ok());
    let reset = reset.and_then(|reset| jiff::Timestamp::from_second(reset).ok());
    match reset {
        Some(reset) => format!("the rate limit is used up; it resets at {reset} (x-rate-limit-reset)"),
        None => "the rate limit is used up; wait a quarter of an hour".to_owned(),
    }
}

/// What X says went wrong, in one line.
fn detail(bytes: &[u8]) -> Option<String> {
    let answer: Value = serde_json::from_slice(bytes).ok()?;
    let places = ["/detail", "/errors/0/message", "/errors/0/detail", "/title", "/error"];
    let found = places.iter().find_map(|place| text_at(&answer, place))?;
    Some(found.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect())
}

fn text_at<'a>(answer: &'a Value, place: &str) -> Option<&'a str> {
    answer.pointer(place).and_then(Value::as_str)
}

fn posts(answer: &Value) -> impl Iterator<Item = Post> {
    let data = answer.get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    data.iter().filter_map(|post| {
        let text = |key: &str| post.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = Some(text("id")).filter(|id| !id.is_empty())?;
        Some(Post { id, author_id: text("author_id"), text: text("text"), created_at: text("created_at") })
    })
}
