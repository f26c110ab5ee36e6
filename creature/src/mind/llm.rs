//! Minds that are models: the one the broker offers, and what one call of it comes to.
//!
//! Invariant: a model that cannot be used or does not answer is an `Outcome`, never an end of the life.

use super::context::{self, Caps};
use super::moment::Moment;
use super::{Down, Outcome, Why, prompt, thought};
use crate::config::ModelSettings;
use crate::tools;
use agenda::standing::redact_whole;
use hands::Broker;
use model::{Client, Endpoint, Error, Kind, Talk, Turn, Wire};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;

/// For one call with its retries, in seconds: long enough for a slow local model, short enough to notice.
const DEADLINE_S: u64 = 120;

/// Tokens of a reply: a patch of a few hundred lines fits.
const MAX_TOKENS: u64 = 8_192;

/// Characters kept of a reply that could not be read.
const MOST_GARBLED: usize = 2_000;

/// The longest rest at a budget's end, in seconds; then it looks again.
const HOUR_S: u64 = 3_600;

/// The model of the broker's status; none where it offers none, an error where it cannot be used.
pub fn offered(
    broker: &Broker,
    status: &Value,
    settings: &ModelSettings,
) -> Result<Option<ModelMind>, String> {
    let offer = status.get("model").filter(|offer| !offer.is_null());
    offer.map(|offer| named(broker, offer, settings, None)).transpose()
}

/// The model of an offer, or another one of this name that is reached in the same way.
pub fn named(
    broker: &Broker,
    offer: &Value,
    settings: &ModelSettings,
    name: Option<&str>,
) -> Result<ModelMind, String> {
    let word = |key: &str| offer.get(key).and_then(Value::as_str).unwrap_or_default();
    let wire = match word("wire") {
        "anthropic" => Wire::Anthropic,
        "responses" => Wire::Responses,
        "openai" => Wire::Chat,
        other => {
            let other: String = other.chars().take(40).collect();
            return Err(format!("the broker offers a model in the wire `{other}`, which I do not speak"));
        }
    };
    let deadline = Duration::from_secs(settings.deadline_s.unwrap_or(DEADLINE_S).clamp(5, 1_800));
    let endpoint = Endpoint {
        wire,
        base_url: format!("{}{}", broker.base(), word("path")),
        model: name.unwrap_or(word("name")).to_owned(),
        token: broker.token().to_owned(),
        deadline,
        silence: deadline,
        max_tokens: settings.max_tokens.filter(|most| *most > 0).unwrap_or(MAX_TOKENS),
    };
    let client = Client::new(endpoint).map_err(|error| format!("failed to {error} ({})", error.hint))?;
    Ok(ModelMind { client, wire, deadline, system: prompt::system(wire, tools::catalogue()) })
}

/// A model and how it is spoken to.
pub struct ModelMind {
    client: Client,
    wire: Wire,
    deadline: Duration,
    system: String,
}

impl ModelMind {
    /// Wire and model.
    pub fn name(&self) -> String {
        self.client.name()
    }

    /// How long one thought may take.
    pub fn patience(&self) -> Duration {
        self.deadline
    }

    /// The wire it is spoken to in; prompts differ by it.
    pub fn wire(&self) -> Wire {
        self.wire
    }

    /// One call, and what came of it.
    pub async fn think(&self, moment: &Moment) -> Outcome {
        let parts = context::choose(moment, &Caps::default());
        let context = prompt::standing(&parts);
        let situation = prompt::situation(moment, &parts);
        self.say(self.system.clone(), context, situation, !moment.answers()).await
    }

    /// The same with words of another's choosing: sub-sessions and dreams have prompts of their own. Whatever goes to a
    /// model passes here, and loses here what looks like a secret.
    pub async fn say(&self, system: String, context: String, situation: String, autonomous: bool) -> Outcome {
        let [system, context, situation] = [system, context, situation].map(|part| redact_whole(&part));
        let turns = [context, situation].map(|text| Turn::Said { text });
        let schema = prompt::schema(self.wire);
        let talk = Talk {
            system: &system,
            tools: &[],
            turns: &turns,
            schema: Some(&schema),
            autonomous,
            bare: false,
        };
        let mut deaf = |_: model::Heard<'_>| {};
        let reply = match timeout(self.deadline, self.client.say(&talk, &mut deaf)).await {
            Ok(Ok(reply)) => reply,
            Ok(Err(error)) => return failed(&error),
            Err(_) => return self.late(),
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

impl ModelMind {
    /// A reply that goes on for longer than a thought may take.
    fn late(&self) -> Outcome {
        let error = format!("failed to get a whole reply within {} s", self.deadline.as_secs());
        let hint = "ask a faster model, for a shorter reply, or allow more time".to_owned();
        let cause = format!("no whole reply within {} s", self.deadline.as_secs());
        Outcome::Down(Down { error, hint, why: Why::Away, cause, rest_s: 60, reset_s: None })
    }
}

/// How long to leave a model alone after an error, in seconds; the loop doubles it while the outage lasts.
fn failed(error: &Error) -> Outcome {
    let asked_s = error.retry_after.map(|wait| wait.as_secs() + 1);
    let (why, rest_s) = match error.kind {
        Kind::Garbled => {
            let text = error.hint.clone();
            return Outcome::Garbled { error: error.message.clone(), text, usage: Value::Null };
        }
        // An hour, or until the budget resets if that is sooner: asking again before would be refused again.
        Kind::Withheld => (Why::Budget, asked_s.unwrap_or(HOUR_S).min(HOUR_S)),
        Kind::Stopped => (Why::Stopped, asked_s.unwrap_or(HOUR_S).min(HOUR_S)),
        // A token of another life is nothing the owner could mend.
        Kind::Refused if error.message.contains("does not know this life") => (Why::Away, HOUR_S),
        Kind::Refused => (Why::Key, HOUR_S.max(asked_s.unwrap_or(0))),
        Kind::OutOfMoney => (Why::Money, HOUR_S.max(asked_s.unwrap_or(0))),
        Kind::Settings => (Why::Unfit, HOUR_S.max(asked_s.unwrap_or(0))),
        Kind::BadRequest | Kind::Signature | Kind::TooLong => (Why::Unfit, 600.max(asked_s.unwrap_or(0))),
        Kind::Busy | Kind::Unreachable | Kind::Deadline => (Why::Away, asked_s.unwrap_or(60)),
    };
    let (error, hint, cause) =
        (format!("failed to {}", error.message), error.hint.clone(), error.cause.clone());
    Outcome::Down(Down { error, hint, why, cause, rest_s, reset_s: asked_s })
}
