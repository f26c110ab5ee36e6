//! The client: puts a conversation to a model, retries what may pass, and learns what its server does not accept.
//!
//! Retries are of one call, for seconds; longer patience is `creature/src/mind/patience.rs`.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, StatusCode};
use serde_json::Value;
use tokio::time::timeout;

use crate::arguments::Ids;
use crate::form::Accepted;
use crate::stream::{Body, End, Fault, Hear, Speech};
use crate::{
    Endpoint, Error, Heard, Kind, Reply, Talk, Wire, anthropic, chat, http, meaning, responses, said, stream,
    wait,
};

/// The longest wait before a retry; a longer one is the caller's to take: the owner may say something meanwhile.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Retries after the first attempt.
const RETRIES: usize = 2;

/// Wait before the first retry; the second waits twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// A reply may take this many times `silence`: an hour, where nobody says otherwise. The guardian takes a life
/// without a turn in 150 minutes for hung.
const LONGEST: u32 = 12;

/// Time that the usage and the connection's end are waited for, once all that must come has come.
const AFTERWORD: Duration = Duration::from_secs(5);

/// A model behind an address.
pub struct Client {
    pub(crate) endpoint: Endpoint,
    speech: &'static dyn Speech,
    /// Base address, without a slash at its end.
    base: String,
    headers: HeaderMap,
    http: reqwest::Client,
    first_wait: Duration,
    /// Parts of a request and tools that the server is known to accept.
    accepted: Mutex<Accepted>,
    /// Lasting parts of a request are to be cached for an hour.
    hour: AtomicBool,
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
            http: http::client(endpoint.deadline)?,
            first_wait: FIRST_WAIT,
            speech: match endpoint.wire {
                Wire::Anthropic => &anthropic::Anthropic,
                Wire::Responses => &responses::Responses,
                Wire::Chat => &chat::Chat,
            },
            accepted: Mutex::default(),
            hour: AtomicBool::new(false),
            base: base.as_str().trim_end_matches('/').to_string(),
            endpoint,
        })
    }

    /// This client with another wait before the first retry.
    pub fn with_first_wait(self, first_wait: Duration) -> Client {
        Client { first_wait, ..self }
    }

    /// The wire and the model, as in `anthropic claude-x`.
    pub fn name(&self) -> String {
        let wire = match self.endpoint.wire {
            Wire::Anthropic => "anthropic",
            Wire::Responses => "responses",
            Wire::Chat => "openai",
        };
        format!("{wire} {}", self.endpoint.model)
    }

    /// The model's next turn, told while it comes; a reply or an error, never a part of a reply.
    pub async fn say(&self, talk: &Talk<'_>, hear: &mut Hear<'_>) -> Result<Reply, Error> {
        let known = self.accepted();
        let (mut tried, mut attempts) = (known.clone(), 0);
        let mut most_tokens = self.endpoint.max_tokens;
        loop {
            let json = self.speech.asks_for_json(talk, tried.form);
            let error = match self.retried(talk, &tried, most_tokens, &mut attempts, hear).await {
                Ok(reply) => {
                    // Kept only now: a request refused for another reason says nothing about its form.
                    self.accept(tried.proven(json.is_some()));
                    return Ok(reply);
                }
                Err(error) => error,
            };
            // Once: a shorter reply, which the account can still pay.
            let affords = error.affordable(most_tokens).filter(|_| most_tokens == self.endpoint.max_tokens);
            if let Some(affords) = affords {
                most_tokens = affords;
                continue;
            }
            // A request that was refused for its form is never sent again.
            let refused = self.body(talk, &tried, most_tokens);
            let simpler = tried.simpler(&known, self.endpoint.wire, talk.tools, json, &error);
            let is_other = |next: &Accepted| self.body(talk, next, most_tokens) != refused;
            tried = simpler.into_iter().find(is_other).ok_or(error)?;
        }
    }

    fn body(&self, talk: &Talk<'_>, accepted: &Accepted, most_tokens: u64) -> Value {
        let tools = accepted.tools(talk.tools);
        let endpoint = Endpoint { max_tokens: most_tokens, ..self.endpoint.clone() };
        let form = accepted.form.for_an_hour(self.hour.load(Ordering::Relaxed));
        self.speech.body(&endpoint, &Talk { tools: &tools, ..*talk }, form)
    }

    /// Sets whether lasting parts of a request are to be cached for an hour, where the wire sells that.
    pub fn keep_an_hour(&self, hour: bool) {
        self.hour.store(hour, Ordering::Relaxed);
    }

    /// Returns the parts of a request and the tools that the server is known to accept.
    pub fn accepted(&self) -> Accepted {
        self.accepted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes over what this client or an earlier one found the server to accept.
    pub fn accept(&self, accepted: Accepted) {
        *self.accepted.lock().unwrap_or_else(PoisonError::into_inner) = accepted;
    }

    async fn retried(
        &self,
        talk: &Talk<'_>,
        accepted: &Accepted,
        most_tokens: u64,
        attempts: &mut u32,
        hear: &mut Hear<'_>,
    ) -> Result<Reply, Error> {
        let waits = ExponentialBuilder::default().with_min_delay(self.first_wait).with_max_times(RETRIES);
        let mut waits = waits.with_jitter().build();
        loop {
            *attempts += 1;
            let mut is_heard = false;
            let mut heard = |what: Heard<'_>| {
                is_heard |= what != Heard::Byte;
                hear(what);
            };
            let error = match self.once(talk, accepted, most_tokens, &mut heard).await {
                Ok(reply) => return Ok(Reply { attempts: *attempts, ..reply }),
                Err(error) => error,
            };
            let wait = waits.next().map(|wait| error.retry_after.unwrap_or(Duration::ZERO).max(wait));
            match wait.filter(|wait| error.is_passing() && !is_heard && *wait <= LONGEST_WAIT) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(error),
            }
        }
    }

    async fn once(
        &self,
        talk: &Talk<'_>,
        accepted: &Accepted,
        most_tokens: u64,
        hear: &mut Hear<'_>,
    ) -> Result<Reply, Error> {
        let body = self.body(talk, accepted, most_tokens);
        let address = format!("{}{}", self.base, self.speech.path());
        let mut request = self.http.post(address).headers(self.headers.clone()).body(body.to_string());
        if talk.autonomous {
            request = request.header("x-feral-class", "autonomous");
        }
        let silence = self.endpoint.silence;
        let answer = timeout(silence, request.send()).await.map_err(|_| self.late(silence))?;
        let answer = answer.map_err(|error| self.no_answer(&error))?;
        let status = answer.status();
        if status != StatusCode::OK {
            return Err(self.refused(status.as_u16(), answer).await);
        }
        let upstream = upstream(&answer);
        let mut body = Body::new(self.speech.gather());
        let longest = silence * LONGEST;
        let read = timeout(longest, self.read(answer, &mut body, &upstream, hear)).await;
        read.unwrap_or_else(|_| Err(self.endless(longest)))?;
        let is_stream = body.streams();
        let (whole, bytes) = body.whole().map_err(|fault| self.fault(fault, &upstream))?;
        let reply = self.reply(&whole, &bytes, talk, &upstream)?;
        if !is_stream {
            tell_whole(&reply, hear);
        }
        Ok(reply)
    }

    /// Reads to the end of the body, or until `silence` has passed without a byte.
    async fn read(
        &self,
        mut answer: Response,
        body: &mut Body,
        upstream: &str,
        hear: &mut Hear<'_>,
    ) -> Result<(), Error> {
        let mut length = 0;
        while body.end != End::Over {
            let is_enough = body.end == End::Enough;
            let silence =
                if is_enough { AFTERWORD.min(self.endpoint.silence) } else { self.endpoint.silence };
            let piece = match timeout(silence, answer.chunk()).await {
                Ok(Ok(Some(piece))) => piece,
                Ok(Ok(None)) => break,
                Err(_) | Ok(Err(_)) if is_enough => break,
                Err(_) => return Err(self.late(silence)),
                Ok(Err(_)) => return Err(self.fault(Fault::Cut, upstream)),
            };
            hear(Heard::Byte);
            length += piece.len();
            if length > http::MAX_BODY {
                return Err(garbled(upstream, "larger than 16 MiB"));
            }
            body.push(&piece, hear).map_err(|fault| self.fault(fault, upstream))?;
        }
        Ok(())
    }

    fn reply(&self, whole: &Value, bytes: &[u8], talk: &Talk<'_>, upstream: &str) -> Result<Reply, Error> {
        // Some gateways wrap a failure of the server behind them in a success of their own.
        if let Some(failure) = stream::failure("", whole) {
            return Err(self.fault(Fault::Said(failure.clone()), upstream));
        }
        let mut ids = Ids::of(talk.turns, |raw| self.speech.ids(raw));
        let Some(mut draft) = self.speech.read(whole, &mut ids) else {
            let said = said::said(bytes, &self.endpoint.token);
            return Err(garbled(upstream, &format!("not in the wire's format: {}", said.message)));
        };
        let is_empty =
            draft.text.trim().is_empty() && draft.thinking.trim().is_empty() && draft.calls.is_empty();
        if is_empty && draft.stop == "window" {
            let message = format!("hear {}: its window is full before the first word", source(upstream));
            return Err(Error {
                status: Some(200),
                ..Error::new(Kind::TooLong, message, "send less context")
            });
        }
        // A refusal or a reply cut short may be empty, and `stop` says so.
        if is_empty && meaning::is_nothing(&draft.stop) {
            let is_empty = matches!(draft.stop.as_str(), "" | "end_turn");
            return Err(Error { is_empty, ..garbled(upstream, "empty") });
        }
        // Some servers give another reason where the limit was reached.
        let is_full = draft.usage.output_tokens >= self.endpoint.max_tokens;
        let is_short = matches!(draft.stop.as_str(), "max_tokens" | "window");
        if let Some(last) = draft.calls.last_mut() {
            last.cut |= is_short || (is_full && last.args.is_err());
        }
        let model = whole.get("model").and_then(Value::as_str);
        let model = model.unwrap_or(&self.endpoint.model).to_owned();
        let (raw, text, thinking, calls) = (draft.raw, draft.text, draft.thinking, draft.calls);
        Ok(Reply { raw, text, thinking, calls, usage: draft.usage, model, attempts: 0, stop: draft.stop })
    }

    async fn refused(&self, status: u16, answer: Response) -> Error {
        let header = |name: &str| Some(answer.headers().get(name)?.to_str().ok()?.to_owned());
        let asked = wait::of_headers(&header, matches!(status, 429 | 503 | 529));
        let upstream = upstream(&answer);
        let body = timeout(self.endpoint.silence, http::beginning(answer)).await.unwrap_or_default();
        let error = Error::answered(status, said::said(&body, &self.endpoint.token), &upstream);
        Error { retry_after: asked.or(error.retry_after), ..error }
    }

    fn fault(&self, fault: Fault, upstream: &str) -> Error {
        let token = &self.endpoint.token;
        match fault {
            Fault::Said(told) => Error::answered(said::status(&told), said::of_json(&told, token), upstream),
            Fault::Garbled(what) => garbled(upstream, &said::said(what.as_bytes(), token).message),
            Fault::Empty => Error { is_empty: true, ..garbled(upstream, "not JSON: there is nothing in it") },
            Fault::Cut => Error {
                // Not sent again: what broke off was already paid for.
                status: Some(200),
                ..Error::new(
                    Kind::Unreachable,
                    format!("read the whole reply of {}: it broke off", source(upstream)),
                    "wait and ask again",
                )
            }
            .because("the reply broke off"),
        }
    }

    /// The error of a reply whose bytes kept coming without an end.
    fn endless(&self, limit: Duration) -> Error {
        let (model, limit_s) = (&self.endpoint.model, limit.as_secs());
        let message = format!("hear {model} to its end within {limit_s} s");
        let cause = format!("no end of a reply within {limit_s} s");
        let error = Error::new(Kind::Deadline, message, "ask a faster model, or for a shorter reply");
        Error { status: Some(200), ..error.because(&cause) }
    }

    pub(crate) fn late(&self, limit: Duration) -> Error {
        let (model, limit_s) = (&self.endpoint.model, limit.as_secs_f32());
        let message = format!("hear from {model}: not a byte within {limit_s} s");
        let hint = "ask a faster model, or allow more time";
        Error::new(Kind::Deadline, message, hint).because(&format!("no reply within {limit_s} s"))
    }

    fn no_answer(&self, error: &reqwest::Error) -> Error {
        let message = format!("reach the broker: {}", http::chain(error));
        let hint = "the guardian starts the broker again; wait a minute";
        let cause = format!("the broker is away: {}", http::chain(error));
        Error::new(Kind::Unreachable, message, hint).because(&cause)
    }
}

/// Tells of a reply that came whole, as if it had been streamed.
fn tell_whole(reply: &Reply, hear: &mut Hear<'_>) {
    if !reply.thinking.is_empty() {
        hear(Heard::Thinking(&reply.thinking));
    }
    if !reply.text.is_empty() {
        hear(Heard::Text(&reply.text));
    }
    reply.calls.iter().for_each(|call| hear(Heard::Call(&call.name)));
}

fn garbled(upstream: &str, what: &str) -> Error {
    let message = format!("understand the reply of {}: {what}", source(upstream));
    let hint = "check that base_url in owner.toml is a model server of this wire";
    Error { status: Some(200), ..Error::new(Kind::Garbled, message, hint) }.because(what)
}

/// Name of the server that answered, by the broker's word; empty where the broker itself did.
fn upstream(answer: &Response) -> String {
    let name = answer.headers().get("x-feral-upstream").and_then(|name| name.to_str().ok());
    name.unwrap_or_default().chars().filter(|c| !c.is_control()).take(100).collect()
}

fn source(upstream: &str) -> &str {
    if upstream.is_empty() { "the broker" } else { upstream }
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
        Wire::Responses | Wire::Chat => (AUTHORIZATION, format!("Bearer {}", endpoint.token)),
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
