//! A call of Telegram's Bot API: arguments as JSON or as a form, an answer read within bounds, and what a refusal means.
//!
//! Invariant: no error that leaves here holds the token, which is a part of every address.

use crate::channel::Trouble;
use crate::platforms::calls::{body, sent};
use bytes::Bytes;
use reqwest::header::CONTENT_TYPE;
use reqwest::{RequestBuilder, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Most bytes of an answer; the platform itself ends a batch of updates at 4 MiB.
const ANSWER_BYTES: u64 = 16 << 20;
/// Most letters of a reason that is told.
const REASON_CHARS: usize = 300;
/// How long a flood is waited for where the platform does not say.
const UNSAID: Duration = Duration::from_secs(30);

pub struct Api {
    http: reqwest::Client,
    base: String,
    token: String,
    /// Name of the variable the token stands in, for the owner.
    token_env: String,
    /// Whether the last call had no answer or an ill one.
    is_ill: AtomicBool,
}

/// Why a call did not succeed.
#[derive(Debug)]
pub enum Fault {
    /// It was not sent.
    Unsent(String),
    /// It was sent, and what became of it is unknown.
    Unanswered(String),
    Refused(Refusal),
}

/// An answer of the platform's that says no.
#[derive(Debug)]
pub struct Refusal {
    pub code: u16,
    pub description: String,
    pub parameters: Parameters,
}

#[derive(Debug, Default, Deserialize)]
pub struct Parameters {
    pub migrate_to_chat_id: Option<i64>,
    pub retry_after: Option<u64>,
}

/// Making requests: the one form of every answer.
#[derive(Deserialize)]
struct Answer {
    ok: bool,
    #[serde(default)]
    result: Value,
    #[serde(default)]
    error_code: u16,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameters: Parameters,
}

impl Api {
    pub fn new(http: reqwest::Client, base: &str, token: String, token_env: &str) -> Self {
        let base = base.trim_end_matches('/').to_owned();
        Self { http, base, token, token_env: token_env.to_owned(), is_ill: AtomicBool::new(false) }
    }

    /// Whether nothing should be sent before the platform is known to answer.
    pub fn is_ill(&self) -> bool {
        self.is_ill.load(Ordering::Relaxed)
    }

    pub async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        arguments: &Value,
        patience: Duration,
    ) -> Result<T, Fault> {
        self.asked(self.http.post(self.address(method)).json(arguments), patience).await
    }

    /// Calls with a file: the kind of the form, and all of it.
    pub async fn upload<T: DeserializeOwned>(
        &self,
        method: &str,
        (kind, body): (String, Bytes),
        patience: Duration,
    ) -> Result<T, Fault> {
        let asked = self.http.post(self.address(method)).header(CONTENT_TYPE, kind).body(body);
        self.asked(asked, patience).await
    }

    /// A file by the path that `getFile` gave.
    pub async fn download(&self, path: &str, most: u64, patience: Duration) -> Result<Vec<u8>, Trouble> {
        let asked = self.http.get(format!("{}/file/bot{}/{path}", self.base, self.token)).timeout(patience);
        let away = |trouble: Trouble| self.trouble(self.fault(&trouble));
        let answer = sent(asked).await.map_err(away)?;
        if answer.status() != StatusCode::OK {
            return Err(Trouble::Away(format!("Telegram does not give the file: {}", answer.status())));
        }
        body(answer, most)
            .await
            .map_err(|trouble| if matches!(trouble, Trouble::Refused(_)) { trouble } else { away(trouble) })
    }

    /// Trouble of a call that may be repeated.
    pub fn trouble(&self, fault: Fault) -> Trouble {
        match fault {
            Fault::Unsent(reason) | Fault::Unanswered(reason) => Trouble::Away(reason),
            Fault::Refused(refusal) => self.meaning(&refusal),
        }
    }

    /// Trouble of one that may not: the platform has no key by which it would know a second try.
    pub fn send_trouble(&self, fault: Fault) -> Trouble {
        match fault {
            Fault::Unanswered(reason) => Trouble::Doubtful(reason),
            // It says that it did not take the call; of other ills of its own nobody knows how far it came.
            Fault::Refused(refusal) if refusal.code >= 500 && refusal.code != 503 => {
                Trouble::Doubtful(told(&refusal))
            }
            Fault::Unsent(_) | Fault::Refused(_) => self.trouble(fault),
        }
    }

    fn meaning(&self, refusal: &Refusal) -> Trouble {
        let told = told(refusal);
        match refusal.code {
            // "method not found" is of the method, every other 404 of the token.
            404 if refusal.says("method not found") => Trouble::Refused(told),
            401 | 404 | 421 => Trouble::Revoked(format!(
                "{told}: the token in {} is not one that counts; copy it whole from @BotFather (/mybots, API Token), or ask there for another (/revoke)",
                self.token_env
            )),
            409 if refusal.says("webhook") => Trouble::Elsewhere(format!(
                "{told}: a webhook is set for this bot, so its messages go there and none come here. If nothing needs it, \
                 remove it by opening {}/bot<token>/deleteWebhook; else make a bot of its own with @BotFather",
                self.base
            )),
            409 => Trouble::Elsewhere(format!(
                "{told}: another program receives with this bot's token. End that one, or let @BotFather make a new \
                 token (/revoke) and put it into .env as {}",
                self.token_env
            )),
            429 => Trouble::Slower(refusal.parameters.retry_after.map_or(UNSAID, Duration::from_secs)),
            400 if refusal.says("can't parse entities") => Trouble::Form(told),
            code if code >= 500 => Trouble::Away(told),
            _ => Trouble::Refused(told),
        }
    }

    fn address(&self, method: &str) -> String {
        format!("{}/bot{}/{method}", self.base, self.token)
    }

    async fn asked<T: DeserializeOwned>(
        &self,
        asked: RequestBuilder,
        patience: Duration,
    ) -> Result<T, Fault> {
        let answered = self.answered(asked.timeout(patience)).await;
        let is_ill = match &answered {
            Ok(_) => false,
            Err(Fault::Refused(refusal)) => refusal.code >= 500,
            Err(Fault::Unsent(_) | Fault::Unanswered(_)) => true,
        };
        self.is_ill.store(is_ill, Ordering::Relaxed);
        serde_json::from_value(answered?)
            .map_err(|error| Fault::Unanswered(format!("Telegram's answer cannot be read: {error}")))
    }

    async fn answered(&self, asked: RequestBuilder) -> Result<Value, Fault> {
        let answer = sent(asked).await.map_err(|trouble| self.fault(&trouble))?;
        let status = answer.status();
        let told = body(answer, ANSWER_BYTES).await.map_err(|trouble| self.fault(&trouble))?;
        let Ok(answer) = serde_json::from_slice::<Answer>(&told) else { return Err(foreign(status)) };
        if answer.ok {
            return Ok(answer.result);
        }
        let code = if answer.error_code == 0 { status.as_u16() } else { answer.error_code };
        Err(Fault::Refused(Refusal { code, description: answer.description, parameters: answer.parameters }))
    }

    /// A failure below HTTP.
    fn fault(&self, trouble: &Trouble) -> Fault {
        let whole = format!("Telegram was not reached: {trouble}");
        let reason = whole.replace(&self.token, "…").chars().take(REASON_CHARS).collect();
        if matches!(trouble, Trouble::Away(_)) { Fault::Unsent(reason) } else { Fault::Unanswered(reason) }
    }
}

impl Refusal {
    /// Whether its words hold these: the platform has no finer codes.
    pub fn says(&self, words: &str) -> bool {
        self.description.contains(words)
    }
}

/// An answer that is not the platform's: its status, from a proxy here or there, says what became of the call.
fn foreign(status: StatusCode) -> Fault {
    let told = format!("what stands before Telegram answers {status}");
    match status.as_u16() {
        413 => Fault::Refused(Refusal { code: 413, description: told, parameters: Parameters::default() }),
        400..=499 | 503 => Fault::Unsent(told),
        _ => Fault::Unanswered(told),
    }
}

fn told(refusal: &Refusal) -> String {
    let said: String =
        refusal.description.chars().filter(|letter| !letter.is_control()).take(REASON_CHARS).collect();
    format!("Telegram says «{said}»")
}
