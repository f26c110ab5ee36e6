//! Minds that are models: which one is used, and what one call of it comes to.
//!
//! Invariant: a model that cannot be used or does not answer is an `Outcome`, never an end of the life.

use super::context::{self, Caps};
use super::instinct::Instinct;
use super::moment::Moment;
use super::{Mind, Outcome, prompt, thought};
use crate::config::{ModelSettings, Settings, Told};
use crate::tools;
use model::{Ask, Client, Endpoint, Error, Kind, Wire};
use serde_json::{Value, json};
use std::time::Duration;

/// Used where neither owner nor environment names one; able enough to edit code, cheap enough to run all day.
pub const ANTHROPIC_MODEL: &str = "claude-sonnet-5";
pub const OPENAI_MODEL: &str = "gpt-5.4-mini";

const ANTHROPIC: &str = "https://api.anthropic.com";
const OPENAI: &str = "https://api.openai.com/v1";
const OLLAMA: &str = "127.0.0.1:11434";

/// For one call with its retries, in seconds: long enough for a slow local model, short enough to notice.
const DEADLINE_S: u64 = 120;

/// Tokens of a reply: a patch of a few hundred lines fits.
const MAX_TOKENS: u64 = 8_192;

/// Characters kept of a reply that could not be read.
const MOST_GARBLED: usize = 2_000;

/// What was chosen, before anything is asked of the network.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    Instinct,
    /// A model; without a name, whatever the server offers, else `otherwise`.
    Model {
        wire: Wire,
        base_url: String,
        model: Option<String>,
        key: Option<String>,
        otherwise: &'static str,
    },
    /// An Ollama, should one answer there.
    Ollama {
        base_url: String,
        model: Option<String>,
    },
}

/// Chooses by the owner's settings, else by the environment. A sentence says what could not be followed.
pub fn pick(settings: &ModelSettings, env: &dyn Fn(&str) -> Option<String>) -> (Choice, Option<String>) {
    let env = |name: &str| env(name).map(|v| v.trim().to_owned()).filter(|v| !v.is_empty());
    let set = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let key = |usual: &str| env(&set(&settings.key_env).unwrap_or(usual.to_owned()));
    let model = |usual: &str| set(&settings.model).or_else(|| env(usual));
    let base = |usual: &str| set(&settings.base_url).or_else(|| env(usual));
    let anthropic = || Choice::Model {
        wire: Wire::Anthropic,
        base_url: base("ANTHROPIC_BASE_URL").unwrap_or(ANTHROPIC.to_owned()),
        model: Some(model("ANTHROPIC_MODEL").unwrap_or(ANTHROPIC_MODEL.to_owned())),
        key: key("ANTHROPIC_API_KEY"),
        otherwise: ANTHROPIC_MODEL,
    };
    let openai = || {
        let base_url = base("OPENAI_BASE_URL");
        let usual = base_url.is_none().then(|| OPENAI_MODEL.to_owned());
        Choice::Model {
            wire: Wire::OpenAi,
            base_url: base_url.unwrap_or(OPENAI.to_owned()),
            model: model("OPENAI_MODEL").or(usual),
            key: key("OPENAI_API_KEY"),
            otherwise: OPENAI_MODEL,
        }
    };
    let ollama = || Choice::Ollama {
        base_url: set(&settings.base_url).unwrap_or_else(|| ollama_base(env("OLLAMA_HOST"))),
        model: set(&settings.model),
    };
    match settings.provider.trim() {
        "instinct" => (Choice::Instinct, None),
        "anthropic" => keyed(anthropic(), &settings.base_url, "ANTHROPIC_API_KEY"),
        "openai" => keyed(openai(), &base("OPENAI_BASE_URL").unwrap_or_default(), "OPENAI_API_KEY"),
        "ollama" => (ollama(), None),
        "" if key("ANTHROPIC_API_KEY").is_some() && set(&settings.key_env).is_none() => (anthropic(), None),
        "" if key("OPENAI_API_KEY").is_some() || set(&settings.base_url).is_some() => (openai(), None),
        "" => (ollama(), None),
        other => {
            let said = format!(
                "owner.toml [model] provider = {other:?} is not one of instinct, anthropic, openai, ollama; thinking by instinct"
            );
            (Choice::Instinct, Some(said))
        }
    }
}

/// A provider without its key is only of use at another address than its own.
fn keyed(choice: Choice, base_url: &str, usual: &str) -> (Choice, Option<String>) {
    match choice {
        Choice::Model { key: None, .. } if base_url.trim().is_empty() => {
            let said = format!(
                "owner.toml [model] names a provider, but no key is in {usual} or key_env; thinking by instinct"
            );
            (Choice::Instinct, Some(said))
        }
        choice => (choice, None),
    }
}

/// `OLLAMA_HOST` as people write it: a host, a port, an address, or all with a scheme.
fn ollama_base(host: Option<String>) -> String {
    let host = host.unwrap_or(OLLAMA.to_owned());
    let (scheme, host) = host.split_once("://").unwrap_or(("http", &host));
    let (name, port) = host.trim_end_matches('/').rsplit_once(':').unwrap_or((host, "11434"));
    // What a server binds to is not an address to call.
    let name = if name.is_empty() || name == "0.0.0.0" { "127.0.0.1" } else { name };
    format!("{scheme}://{}:{port}", name.trim_end_matches('/'))
}

/// The mind this life thinks with, and what could not be followed on the way to it.
pub async fn choose(settings: &Settings, told: &Told) -> (Mind, Option<String>) {
    let instinct = || Mind::Instinct(Instinct::load(&told.house));
    // A rehearsal asks nothing of the network, and not even loopback whether a model is there.
    if told.safe || told.rehearsal {
        return (instinct(), None);
    }
    let (choice, said) = pick(&settings.model, &|name| std::env::var(name).ok());
    let named = matches!(settings.model.provider.trim(), "ollama");
    let (wire, base_url, model, key) = match choice {
        Choice::Instinct => return (instinct(), said),
        Choice::Ollama { base_url, model: asked } => {
            let Some(found) = model::find_ollama(&base_url).await else {
                let said = named
                    .then(|| format!("no Ollama with a model answers at {base_url}; thinking by instinct"));
                return (instinct(), said);
            };
            (Wire::OpenAi, base_url, asked.unwrap_or(found), None)
        }
        Choice::Model { wire, base_url, model: Some(model), key, .. } => (wire, base_url, model, key),
        Choice::Model { wire, base_url, model: None, key, otherwise } => {
            let found = model::find_ollama(&base_url).await;
            (wire, base_url, found.unwrap_or(otherwise.to_owned()), key)
        }
    };
    let deadline_s = settings.model.deadline_s.unwrap_or(DEADLINE_S).clamp(5, 1_800);
    let endpoint = Endpoint {
        wire,
        base_url,
        model,
        key: key.map(Into::into),
        deadline: Duration::from_secs(deadline_s),
        max_tokens: settings.model.max_tokens.filter(|most| *most > 0).unwrap_or(MAX_TOKENS),
    };
    let (wire, deadline) = (endpoint.wire, endpoint.deadline);
    match Client::new(endpoint) {
        Ok(client) => (Mind::Model(ModelMind::new(client, wire, deadline)), said),
        Err(error) => {
            let said = format!("failed to {error} ({}); thinking by instinct", error.hint);
            (instinct(), Some(said))
        }
    }
}

/// A model and how it is spoken to.
pub struct ModelMind {
    client: Client,
    wire: Wire,
    deadline: Duration,
    system: String,
}

impl ModelMind {
    fn new(client: Client, wire: Wire, deadline: Duration) -> Self {
        Self { client, wire, deadline, system: prompt::system(wire, tools::catalogue()) }
    }

    /// Wire and model.
    pub fn name(&self) -> String {
        self.client.name()
    }

    /// How long one thought may take.
    pub fn patience(&self) -> Duration {
        self.deadline
    }

    /// One call, and what came of it.
    pub async fn think(&self, moment: &Moment) -> Outcome {
        let parts = context::choose(moment, &Caps::default());
        let ask = Ask {
            system: self.system.clone(),
            context: prompt::standing(&parts),
            situation: prompt::situation(moment, &parts),
            schema: prompt::schema(self.wire),
            schema_name: "thought".to_owned(),
        };
        let reply = match self.client.ask(&ask).await {
            Ok(reply) => reply,
            Err(error) => return failed(&error),
        };
        let mut usage = serde_json::to_value(reply.usage).unwrap_or(Value::Null);
        if let Value::Object(usage) = &mut usage {
            usage.insert("model".to_owned(), json!(reply.model));
            usage.insert("attempts".to_owned(), json!(reply.attempts));
        }
        match thought::read(&reply.text) {
            Ok((thought, how)) => {
                if let (Value::Object(usage), true) = (&mut usage, how != "strict") {
                    usage.insert("repaired".to_owned(), json!(how));
                }
                Outcome::Thought { thought, usage }
            }
            Err(error) => {
                let error = match reply.stop.as_str() {
                    "max_tokens" => format!("{error} (the reply was cut short at max_tokens)"),
                    "refusal" => format!("{error} (the model refused)"),
                    _ => error,
                };
                Outcome::Garbled { error, text: context::shorten(&reply.text, MOST_GARBLED), usage }
            }
        }
    }
}

/// How long to leave a model alone after an error, in seconds; the loop doubles it while the outage lasts.
fn failed(error: &Error) -> Outcome {
    let rest_s = match error.kind {
        Kind::Garbled => {
            let text = error.hint.clone();
            return Outcome::Garbled { error: error.message.clone(), text, usage: Value::Null };
        }
        Kind::Refused | Kind::OutOfMoney | Kind::Settings => 3_600,
        Kind::BadRequest => 600,
        Kind::Busy | Kind::Unreachable | Kind::Deadline => 60,
    };
    let asked_s = error.retry_after.map_or(0, |wait| wait.as_secs() + 1);
    let error_said = format!("failed to {}", error.message);
    Outcome::Down { error: error_said, hint: error.hint.clone(), rest_s: rest_s.max(asked_s) }
}
