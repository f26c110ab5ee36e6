//! Model servers: what each was found to take, kept for later lives, and the next simpler form after a refusal.
//!
//! Invariant: what is kept is a form in which the server has answered; another build of the creature tries anew. What
//! another build knows beside that stays as it wrote it.

use super::Outcome;
use super::conversation::fingerprint;
use super::llm::{self, Form, ModelMind};
use jiff::Timestamp;
use memory::state;
use model::{Accepted, Error, Kind};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Servers remembered.
const MOST_SERVERS: usize = 32;

/// Server as it is kept: what it was found to take.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Server {
    /// Judged by its answer to one tool that echoes a word.
    takes_tools: bool,
    found_at: String,
    #[serde(default, deserialize_with = "known", skip_serializing_if = "Option::is_none")]
    answered: Option<Answered>,
}

/// The form in which a server has answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Answered {
    /// The creature's commit that asked.
    by: String,
    in_json: bool,
    #[serde(flatten)]
    accepted: Accepted,
}

/// Reads the form in which a server has answered; none where it has parts that this build does not know.
fn known<'d, D: Deserializer<'d>>(written: D) -> Result<Option<Answered>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(written)?).ok())
}

/// Servers by address, model and build, as they are written.
type Servers = BTreeMap<String, Value>;

/// Findings of this life about its server.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    is_learned: bool,
    /// The server has answered in the form in use.
    has_answered: bool,
    accepted: Accepted,
    /// Reason that calls travel in JSON, where the server refused them in its own form.
    json_for: Option<Refused>,
    /// The server has answered in a conversation apart; known to all who ask it.
    answered_apart: Arc<AtomicBool>,
    /// A refusal in a conversation apart; the form changes before the next.
    refused_apart: Arc<Mutex<Option<Refused>>>,
    news: String,
}

/// Refusal for which a form was given up.
#[derive(Clone, Debug)]
struct Refused {
    cause: String,
    /// The refusal spoke of tools.
    in_words: bool,
}

impl Refused {
    fn by(error: &Error) -> Self {
        Self { cause: error.cause.clone(), in_words: error.kind == Kind::Form }
    }
}

impl ModelMind {
    /// Finds out which form the server takes, once for each address and model: the one in which it answered this build
    /// before, else by whether it calls one tool.
    pub async fn learn(&mut self, now: Timestamp, autonomous: bool) -> Result<(), Outcome> {
        self.learn_apart(now);
        if self.found.is_learned {
            return Ok(());
        }
        let kept = self.server_kept();
        let answered = kept.as_ref().and_then(|server| server.answered.clone());
        match answered.filter(|answered| answered.by == self.commit) {
            Some(answered) => {
                self.client.accept(answered.accepted.clone());
                self.found.accepted = answered.accepted;
                self.found.has_answered = true;
                if self.auto {
                    self.form = Some(if answered.in_json { Form::Json } else { Form::Native });
                }
            }
            None if self.form.is_none() => {
                let takes_tools = match kept {
                    Some(server) => server.takes_tools,
                    None => self.asks_for_a_tool(now, autonomous).await?,
                };
                self.form = Some(if takes_tools { Form::Native } else { Form::Json });
            }
            None => {}
        }
        self.found.is_learned = true;
        self.form();
        Ok(())
    }

    /// Takes over what conversations apart found out of the server.
    pub(super) fn learn_apart(&mut self, now: Timestamp) {
        let apart = self.found.refused_apart.lock().unwrap_or_else(PoisonError::into_inner).take();
        let has_answered = self.found.answered_apart.load(Ordering::Relaxed);
        let apart = apart.filter(|refused| refused.in_words || !has_answered);
        // The one that was asked apart had learned its form, this one perhaps not yet.
        if let Some(refused) = apart.filter(|_| self.form != Some(Form::Json)) {
            self.falls_to_json(refused);
        }
        // Which form was answered is known only to one that knows its own.
        if self.found.is_learned && self.found.answered_apart.swap(false, Ordering::Relaxed) {
            self.answered(now);
        }
    }

    async fn asks_for_a_tool(&self, now: Timestamp, autonomous: bool) -> Result<bool, Outcome> {
        let found_at = now.to_string();
        let word = fingerprint(&[&found_at, &self.server()]);
        let takes_tools = self.client.takes_tools(&word, autonomous).await;
        let takes_tools = takes_tools.map_err(|error| llm::failed(&error))?;
        self.keep_server(&Server { takes_tools, found_at, answered: None });
        Ok(takes_tools)
    }

    fn server(&self) -> String {
        format!("{} {} {}", self.address, self.name(), self.build).trim_end().to_owned()
    }

    fn servers_kept(&self) -> Servers {
        state::read(&self.servers).unwrap_or_default()
    }

    fn server_kept(&self) -> Option<Server> {
        serde_json::from_value(self.servers_kept().remove(&self.server())?).ok()
    }

    fn keep_server(&self, server: &Server) {
        let mut known = self.servers_kept();
        let mut fields = match known.remove(&self.server()) {
            Some(Value::Object(fields)) => fields,
            _ => serde_json::Map::new(),
        };
        if let Value::Object(new) = json!(server) {
            fields.extend(new);
        }
        while known.len() >= MOST_SERVERS {
            known.pop_first();
        }
        known.insert(self.server(), Value::Object(fields));
        state::keep(&self.servers, &known);
    }

    /// Keeps the form in which the server has just answered, and has told what it refused.
    pub(super) fn answered(&mut self, now: Timestamp) {
        let (accepted, in_json) = (self.client.accepted(), self.form == Some(Form::Json));
        let first = !std::mem::replace(&mut self.found.has_answered, true);
        if !first && accepted == self.found.accepted {
            return;
        }
        let before = std::mem::replace(&mut self.found.accepted, accepted.clone());
        let mut news = self.refused_since(&before);
        if let Some(refused) = self.found.json_for.as_ref().filter(|_| first && in_json) {
            news.push(format!(
                "{} refuses tools as its wire has them, so calls travel in JSON: {}",
                self.name(),
                refused.cause
            ));
        }
        news.iter().for_each(|news| tracing::warn!("{news}"));
        if !news.is_empty() {
            self.found.news = news.join("; ");
        }
        let found_at = now.to_string();
        let server = self.server_kept().unwrap_or(Server { takes_tools: !in_json, found_at, answered: None });
        let answered = Some(Answered { by: self.commit.clone(), in_json, accepted });
        if server.answered != answered {
            self.keep_server(&Server { answered, ..server });
        }
    }

    /// Lists what the server refuses that it did not refuse by `before`, a sentence each.
    fn refused_since(&self, before: &Accepted) -> Vec<String> {
        let (name, accepted) = (self.name(), &self.found.accepted);
        let parts: Vec<&str> =
            accepted.without().into_iter().filter(|part| !before.without().contains(part)).collect();
        let parts =
            (!parts.is_empty()).then(|| format!("{name} refuses {}, no longer sent", parts.join(", ")));
        let tools =
            accepted.without_tools.iter().filter(|(tool, _)| !before.without_tools.contains_key(*tool));
        let tools =
            tools.map(|(tool, cause)| format!("{name} refuses the tool {tool}, no longer sent: {cause}"));
        parts.into_iter().chain(tools).collect()
    }

    /// Notes that the server has answered in a conversation apart.
    pub(super) fn answered_apart(&self) {
        self.found.answered_apart.store(true, Ordering::Relaxed);
    }

    /// Whether what was refused may be asked in JSON thoughts: for the form of its tools, or for no reason that is
    /// given before the server has ever answered in this form.
    pub(super) fn may_be_simpler(&self, error: &Error) -> bool {
        let has_answered = self.found.has_answered || self.found.answered_apart.load(Ordering::Relaxed);
        let is_form = match error.kind {
            // A server in trouble that has taken the tools before is only in trouble.
            Kind::Form => error.status != Some(500) || !has_answered,
            Kind::BadRequest => matches!(error.status, Some(400 | 422)) && !has_answered,
            _ => false,
        };
        is_form && self.auto && self.form == Some(Form::Native)
    }

    /// Asks in JSON thoughts from now on.
    pub(super) fn simplify(&mut self, error: &Error) {
        self.falls_to_json(Refused::by(error));
    }

    /// Notes that a conversation apart was refused; the form changes when it is asked for next.
    pub(super) fn refused_apart(&self, error: &Error) {
        let mut apart = self.found.refused_apart.lock().unwrap_or_else(PoisonError::into_inner);
        *apart = Some(Refused::by(error));
    }

    /// Whether a conversation apart was refused for its form: the next one is asked in a simpler one.
    pub fn is_simpler_next(&self) -> bool {
        self.found.refused_apart.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn falls_to_json(&mut self, refused: Refused) {
        tracing::info!("{}: tools are refused, calls travel in JSON: {}", self.name(), refused.cause);
        self.found.json_for = Some(refused);
        (self.found.has_answered, self.found.is_learned) = (false, true);
        self.found.answered_apart.store(false, Ordering::Relaxed);
        self.form = Some(Form::Json);
        self.form();
    }

    /// Takes back a change to JSON thoughts that a server refuses too: it was not the form of the tools. A form that
    /// was refused in words is not asked again by this life.
    pub(super) fn refused_as_well(&mut self, error: &Error) {
        let is_refused = matches!(error.kind, Kind::BadRequest | Kind::Form) && !self.found.has_answered;
        let guessed = self.found.json_for.as_ref().is_some_and(|refused| !refused.in_words);
        if is_refused && guessed && self.form == Some(Form::Json) {
            self.found.json_for = None;
            self.form = Some(Form::Native);
            self.form();
        }
    }

    /// Takes the news for the owner about the form the server takes; each is said once.
    pub fn server_news(&mut self) -> String {
        std::mem::take(&mut self.found.news)
    }
}
