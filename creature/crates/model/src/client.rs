//! The client: asks once, retries what may pass, and learns what its server does not accept.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, StatusCode};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::http::{self, NoBody};
use crate::{Ask, Endpoint, Error, Form, Kind, Reply, Wire, anthropic, error, openai};

/// A longer wait than this is a rest, which is the caller's to take: somebody may wait for a word meanwhile.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Retries after the first attempt.
const RETRIES: usize = 2;

const FIRST_WAIT: Duration = Duration::from_millis(500);

/// A model behind an address.
pub struct Client {
    endpoint: Endpoint,
    /// Without a slash at its end.
    base: String,
    headers: HeaderMap,
    http: reqwest::Client,
    /// What the server is known to accept.
    form: Mutex<Form>,
}

impl Client {
    /// Checks the settings; nothing is sent.
    pub fn new(endpoint: Endpoint) -> Result<Client, Error> {
        let base = http::base(&endpoint.base_url)?;
        if endpoint.model.trim().is_empty() {
            let hint = "set the model's name";
            return Err(Error::new(Kind::Settings, "use a model with no name", hint));
        }
        Ok(Client {
            headers: headers(&endpoint)?,
            http: http::client()?,
            form: Mutex::new(Form { schema: true, schema_is_proven: false, completion_tokens: false }),
            base: base.as_str().trim_end_matches('/').to_string(),
            endpoint,
        })
    }

    /// The wire and the model, as in `anthropic claude-x`.
    pub fn name(&self) -> String {
        let wire = match self.endpoint.wire {
            Wire::Anthropic => "anthropic",
            Wire::OpenAi => "openai",
        };
        format!("{wire} {}", self.endpoint.model)
    }

    /// One question, answered within the deadline or not at all.
    pub async fn ask(&self, ask: &Ask) -> Result<Reply, Error> {
        let deadline = Instant::now() + self.endpoint.deadline;
        let attempts = AtomicU32::new(0);
        let known = *self.form.lock().unwrap_or_else(PoisonError::into_inner);
        let mut form = known;
        loop {
            let error = match self.retried(ask, form, deadline, &attempts).await {
                Ok(reply) => {
                    // Only now: a request refused for another reason says nothing about its form.
                    *self.form.lock().unwrap_or_else(PoisonError::into_inner) =
                        Form { schema_is_proven: form.schema, ..form };
                    return Ok(reply);
                }
                Err(error) => error,
            };
            form = simpler(known, form, &error).ok_or(error)?;
        }
    }

    async fn retried(
        &self,
        ask: &Ask,
        form: Form,
        deadline: Instant,
        attempts: &AtomicU32,
    ) -> Result<Reply, Error> {
        let waits =
            ExponentialBuilder::default().with_min_delay(FIRST_WAIT).with_max_times(RETRIES).with_jitter();
        let left = || deadline.saturating_duration_since(Instant::now());
        (|| async {
            let attempt = attempts.fetch_add(1, Ordering::Relaxed) + 1;
            timeout_at(deadline, self.once(ask, form, attempt)).await.unwrap_or_else(|_| Err(self.late()))
        })
        .retry(waits)
        .sleep(tokio::time::sleep)
        .when(Error::is_passing)
        .adjust(|error, wait| {
            let wait = error.retry_after.unwrap_or(Duration::ZERO).max(wait?);
            (wait <= LONGEST_WAIT && wait < left()).then_some(wait)
        })
        .await
    }

    async fn once(&self, ask: &Ask, form: Form, attempts: u32) -> Result<Reply, Error> {
        let (path, body) = match self.endpoint.wire {
            Wire::Anthropic => (anthropic::PATH, anthropic::body(&self.endpoint, ask, form)),
            Wire::OpenAi => (openai::PATH, openai::body(&self.endpoint, ask, form)),
        };
        let mut request = self
            .http
            .post(format!("{}{path}", self.base))
            .headers(self.headers.clone())
            .body(body.to_string());
        if ask.autonomous {
            request = request.header("x-feral-class", "autonomous");
        }
        let answer = request.send().await.map_err(|error| self.no_answer(&error))?;
        let status = answer.status();
        if status != StatusCode::OK {
            return Err(self.refused(status.as_u16(), answer).await);
        }
        let upstream = upstream(&answer);
        let body = self.whole(answer, &upstream).await?;
        let json: Value = serde_json::from_slice(&body).map_err(|error| {
            let said = error::said(&body, &self.endpoint.token).message;
            garbled(&upstream, &format!("not JSON ({error}): {said}"))
        })?;
        self.reply(&json, &body, attempts, &upstream)
    }

    fn reply(&self, json: &Value, body: &[u8], attempts: u32, upstream: &str) -> Result<Reply, Error> {
        let read = match self.endpoint.wire {
            Wire::Anthropic => anthropic::read(json),
            Wire::OpenAi => openai::read(json),
        };
        let Some((text, usage, stop)) = read else {
            let said = error::said(body, &self.endpoint.token);
            // Some gateways wrap a failure of the server behind them in a success of their own.
            let status = json.pointer("/error/code").and_then(Value::as_u64);
            let status = status.and_then(|status| u16::try_from(status).ok());
            return Err(match status {
                Some(status) if status >= 400 => Error::answered(status, said, upstream),
                _ => garbled(upstream, &format!("not in the wire's format: {}", said.message)),
            });
        };
        // A refusal or a reply cut short may be empty, and `stop` says so.
        if text.trim().is_empty() && matches!(stop.as_str(), "" | "end_turn") {
            return Err(garbled(upstream, "empty"));
        }
        let model = json.get("model").and_then(Value::as_str);
        let model = model.unwrap_or(&self.endpoint.model);
        Ok(Reply { text, usage, model: model.to_string(), attempts, stop })
    }

    async fn refused(&self, status: u16, answer: Response) -> Error {
        let (retry_after, upstream) = (http::retry_after(answer.headers()), upstream(&answer));
        let said = match http::body(answer).await {
            Ok(body) => error::said(&body, &self.endpoint.token),
            Err(_) => error::Said::default(),
        };
        Error { retry_after, ..Error::answered(status, said, &upstream) }
    }

    async fn whole(&self, answer: Response, upstream: &str) -> Result<Vec<u8>, Error> {
        http::body(answer).await.map_err(|error| match error {
            NoBody::TooLarge => garbled(upstream, "larger than 4 MiB"),
            NoBody::Broken => Error {
                // Not sent again: what broke off was already paid for.
                status: Some(200),
                ..Error::new(
                    Kind::Unreachable,
                    format!("read the whole reply of {}: it broke off", source(upstream)),
                    "wait and ask again",
                )
            }
            .because("the reply broke off"),
        })
    }

    fn late(&self) -> Error {
        let (model, limit) = (&self.endpoint.model, self.endpoint.deadline);
        let message = format!("get a reply of {model} within {} s", limit.as_secs_f32());
        let hint = "ask a faster model, for a shorter reply, or allow more time";
        let cause = format!("no reply within {} s", limit.as_secs_f32());
        Error::new(Kind::Deadline, message, hint).because(&cause)
    }

    fn no_answer(&self, error: &reqwest::Error) -> Error {
        let message = format!("reach the broker: {}", http::chain(error));
        let hint = "the guardian starts the broker again; wait a minute";
        let cause = format!("the broker is away: {}", http::chain(error));
        Error::new(Kind::Unreachable, message, hint).because(&cause)
    }
}

fn garbled(upstream: &str, what: &str) -> Error {
    let message = format!("understand the reply of {}: {what}", source(upstream));
    let hint = "check that base_url in owner.toml is a model server of this wire";
    Error { status: Some(200), ..Error::new(Kind::Garbled, message, hint) }.because(what)
}

/// Who answered, by the broker's word; empty where it answered itself.
fn upstream(answer: &Response) -> String {
    let name = answer.headers().get("x-feral-upstream").and_then(|name| name.to_str().ok());
    name.unwrap_or_default().chars().filter(|c| !c.is_control()).take(100).collect()
}

fn source(upstream: &str) -> &str {
    if upstream.is_empty() { "the broker" } else { upstream }
}

/// What to try when a form is refused: each part is changed once, the one the server names first.
fn simpler(known: Form, form: Form, error: &Error) -> Option<Form> {
    // Some servers fall over a schema instead of refusing it.
    if error.status == Some(500) && !form.schema_is_proven {
        return form.schema.then_some(Form { schema: false, ..form });
    }
    if error.kind != Kind::BadRequest || !matches!(error.status, Some(400 | 422)) {
        return None;
    }
    // Both names of the limit end so.
    let names_limit = error.message.contains("_tokens");
    if names_limit && form.completion_tokens == known.completion_tokens {
        let completion_tokens = !form.completion_tokens;
        return Some(Form { completion_tokens, ..form });
    }
    form.schema.then_some(Form { schema: false, ..form })
}

fn headers(endpoint: &Endpoint) -> Result<HeaderMap, Error> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if endpoint.wire == Wire::Anthropic {
        let version = HeaderValue::from_static(anthropic::VERSION);
        headers.insert(HeaderName::from_static("anthropic-version"), version);
    }
    let (name, text) = match endpoint.wire {
        Wire::Anthropic => (HeaderName::from_static("x-api-key"), endpoint.token.clone()),
        Wire::OpenAi => (AUTHORIZATION, format!("Bearer {}", endpoint.token)),
    };
    let mut value = HeaderValue::from_str(&text).map_err(|_| {
        let message = "use a token with characters that fit no header";
        Error::new(Kind::Settings, message, "the guardian gives it as FERAL_BROKER_TOKEN")
    })?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(headers)
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({})", self.name())
    }
}
