//! Minds that are models: those the broker offers, how they are set up, and what a reply or an error comes to.
//!
//! Invariant: a model that cannot be used or does not answer is an `Outcome`, never an end of the life.

use super::conversation::{self, Conversation, fingerprint};
pub use super::reach::Reach;
use super::rhythm::Rhythm;
use super::servers::Found;
use super::talks::ENDED;
use super::{Down, Outcome, Why, prompt, thought};
use crate::{ModelSettings, ToolForm, ToolList};
use agenda::standing::redact;
use ground::files;
use ground::text;
use model::{Client, Endpoint, Error, Kind, Reply, Tool, Wire};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Seconds for connecting and for a probe, unless `[model] deadline_s` says.
const DEADLINE_S: u64 = 120;

/// Seconds without a byte after which a reply has failed, unless `[model] deadline_s` says.
const SILENCE_S: u64 = 300;

/// The longest reply in tokens, unless set: thinking and a patch of a few hundred lines fit.
const MAX_TOKENS: u64 = 8_192;

/// Tokens taken for a model's window where neither owner nor broker name it.
const USUAL_WINDOW: u64 = 32_000;

/// Characters kept of a reply that could not be read.
const MOST_GARBLED: usize = 2_000;

/// The model of the broker's status; none where it offers none, an error where it cannot be used.
pub fn offered(reach: &Reach<'_>, status: &Value) -> Result<Option<ModelMind>, String> {
    let Some(offer) = status.get("model").filter(|offer| !offer.is_null()) else { return Ok(None) };
    let mut mind = named(reach, offer, None)?;
    let quick = offer.get("quick").filter(|quick| quick.is_object());
    mind.quick = quick.and_then(|quick| other(reach, quick, None).ok()).map(Box::new);
    Ok(Some(mind))
}

/// A model that is not the first of the offer; without the owner's `effort`, for each maker has its own words, and with
/// the owner's `context_tokens` only where the broker does not know its window.
pub fn other(reach: &Reach<'_>, offer: &Value, name: Option<&str>) -> Result<ModelMind, String> {
    with_effort(reach, offer, name, "")
}

/// A model of the offer for one piece of work, with this effort; empty: the maker's default.
pub fn apart(reach: &Reach<'_>, offer: &Value, effort: &str) -> Result<ModelMind, String> {
    with_effort(reach, offer, None, effort)
}

fn with_effort(
    reach: &Reach<'_>,
    offer: &Value,
    name: Option<&str>,
    effort: &str,
) -> Result<ModelMind, String> {
    let context_tokens = window(offer).or(reach.settings.context_tokens);
    let settings = ModelSettings { effort: effort.to_owned(), context_tokens, ..reach.settings.clone() };
    named(&Reach { settings: &settings, ..*reach }, offer, name)
}

/// The window of a model that is offered, in tokens, where the broker knows it.
fn window(offer: &Value) -> Option<u64> {
    offer.get("window").and_then(Value::as_u64).filter(|window| *window > 0)
}

/// The model of an offer, or the one called `name` that is reached in the same way.
fn named(reach: &Reach<'_>, offer: &Value, name: Option<&str>) -> Result<ModelMind, String> {
    let Reach { base, token, settings, house, tools, commit, configured, outside } = *reach;
    let word = |key: &str| offer.get(key).and_then(Value::as_str).unwrap_or_default();
    let number = |at: &str| offer.pointer(at).and_then(Value::as_f64).filter(|number| *number > 0.0);
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
    let silence = settings.deadline_s.map_or(Duration::from_secs(SILENCE_S), |_| deadline);
    let window = settings.context_tokens.or(window(offer)).unwrap_or(USUAL_WINDOW);
    let endpoint = Endpoint {
        wire,
        base_url: format!("{base}{}", word("path")),
        model: name.unwrap_or(word("name")).to_owned(),
        token: token.to_owned(),
        deadline,
        silence,
        max_tokens: most_tokens(settings, window),
        effort: if settings.effort.is_empty() { word("effort") } else { &settings.effort }.to_owned(),
    };
    let effort = endpoint.effort.clone();
    let round_tokens = number("/cap_usd").zip(number("/prices/cache_read"));
    let client = Client::new(endpoint).map_err(|error| format!("failed to {error} ({})", error.hint))?;
    let form = match (settings.tools, wire) {
        (ToolForm::Native, _) | (ToolForm::Auto, Wire::Anthropic | Wire::Responses) => Some(Form::Native),
        (ToolForm::Json, _) => Some(Form::Json),
        (ToolForm::Auto, Wire::Chat) => None,
    };
    Ok(ModelMind {
        client: Arc::new(client),
        wire,
        silence,
        window,
        round_tokens: round_tokens.map(|(cap, read)| (cap / 50.0 / read * 1e6) as u64),
        prices: number("/prices/input")
            .and_then(|input| Some([input, number("/prices/cache_read")?, number("/prices/output")?])),
        address: word("address").to_owned(),
        build: word("build").to_owned(),
        effort,
        form,
        auto: settings.tools == ToolForm::Auto,
        commit: commit.to_owned(),
        found: Found::default(),
        frame: Frame::default(),
        schema: prompt::schema(wire),
        folder: house.conversations(),
        live: house.thinking(),
        tools,
        configured: configured.to_vec(),
        outside: outside.to_owned(),
        servers: house.servers(),
        summary_prompt: house.prompt("summary"),
        talks: house.talks(),
        rhythm: Rhythm::default(),
        quick: None,
        current: None,
        to_compact: BTreeSet::new(),
        server_oddity: String::new(),
        begun: false,
        gainless: 0,
        refusals: 0,
    }
    .formed())
}

/// The longest reply in tokens; a quarter of the window at most, but 256 at least.
fn most_tokens(settings: &ModelSettings, window: u64) -> u64 {
    settings.max_tokens.filter(|most| *most > 0).unwrap_or(MAX_TOKENS).min(window / 4).max(256)
}

/// Form in which tool calls are put to a model and come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// In the wire's own form.
    Native,
    /// In one JSON object, the thought.
    Json,
}

/// Frame put before every conversation of a kind; a provider's cache holds it for all of them.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    pub(super) system: String,
    pub(super) tools: Vec<Tool>,
    /// Hash of wire, model, address, effort, form, system and tools.
    pub(super) fingerprint: String,
    /// Bytes of system and tools.
    pub(super) bytes: u64,
}

/// A model and how it is spoken to.
#[derive(Clone)]
pub struct ModelMind {
    pub(super) client: Arc<Client>,
    pub(super) wire: Wire,
    pub(super) silence: Duration,
    /// Tokens of the model's window.
    pub(super) window: u64,
    /// Tokens whose reading costs a fiftieth of what the creature may spend of its own accord in a day.
    pub(super) round_tokens: Option<u64>,
    /// USD per million tokens: input, read from a cache, output.
    prices: Option<[f64; 3]>,
    pub(super) address: String,
    /// Build of the server, where it names one.
    pub(super) build: String,
    effort: String,
    /// None until the server was asked whether it takes tools.
    pub(super) form: Option<Form>,
    /// `form` is found by asking the server.
    pub(super) auto: bool,
    /// The creature's commit.
    pub(super) commit: String,
    pub(super) found: Found,
    /// The frame of its own conversations.
    pub frame: Frame,
    pub(super) schema: Value,
    /// Folder of the conversations.
    pub(super) folder: PathBuf,
    /// File that a reply is written into while it streams.
    pub(super) live: PathBuf,
    pub(super) tools: &'static ToolList,
    /// Parts of the owner's settings that tools need.
    configured: Vec<String>,
    /// Tools of MCP servers, a line each.
    outside: String,
    /// File of what servers were found to take.
    pub(super) servers: PathBuf,
    /// File of the owner's own prompt for a summary.
    pub(super) summary_prompt: PathBuf,
    /// File of the summaries of talks that are over.
    pub(super) talks: PathBuf,
    /// Time at which the model was last asked, and whether it is asked at a rhythm that a cache of an hour pays for.
    pub(super) rhythm: Rhythm,
    /// The quick model, for what is small: it sums up this one's conversations.
    pub(super) quick: Option<Box<ModelMind>>,
    pub(super) current: Option<Conversation>,
    /// Threads whose conversations are summed up when they are next gone on with; none is its own work.
    pub(super) to_compact: BTreeSet<Option<String>>,
    /// Oddity of the server, for the owner; empty where all is well.
    pub(super) server_oddity: String,
    /// A conversation was begun since `began_since_asked` was last called.
    pub(super) begun: bool,
    /// Conversations in a row that began from a summary and are no shorter for it.
    pub(super) gainless: u32,
    /// Times in a row that this conversation, answered before it grew, was refused without a cause that is known.
    pub(super) refusals: u32,
}

impl ModelMind {
    /// Wire and model.
    pub fn name(&self) -> String {
        self.client.name()
    }

    /// Longest silence of a reply.
    pub fn patience(&self) -> Duration {
        self.silence
    }

    /// The wire it is spoken to in; prompts differ by it.
    pub fn wire(&self) -> Wire {
        self.wire
    }

    /// This mind with the system prompt and tools of its form.
    pub(super) fn formed(mut self) -> Self {
        self.form();
        self
    }

    pub(super) fn form(&mut self) {
        let listed = |name: &str| self.tools.is_listed(name, &self.configured);
        let more = (!self.tools.0.is_empty()).then(|| self.tools.more(&self.configured));
        let words = prompt::with_outside(prompt::MIND, &self.outside);
        self.frame = self.frame_of(&words, prompt::NATIVE, &listed, more);
    }

    /// A frame of `words`, the tools that `may` be used, and how to call them: `native`, or a JSON thought.
    pub fn framed(&self, words: &str, native: &str, may: &dyn Fn(&str) -> bool) -> Frame {
        self.frame_of(words, native, may, None)
    }

    fn frame_of(
        &self,
        words: &str,
        native: &str,
        may: &dyn Fn(&str) -> bool,
        more: Option<(String, Tool)>,
    ) -> Frame {
        let is_native = self.form != Some(Form::Json);
        let (line, more) = more.unzip();
        let mut tools = if is_native { self.tools.native(may) } else { Vec::new() };
        tools.extend(more.filter(|_| is_native));
        let lines = || self.tools.lines(may) + line.as_deref().unwrap_or_default();
        let listed = (!is_native).then(|| prompt::in_json(self.wire, &lines()));
        let answer = listed.as_deref().unwrap_or(native);
        let system = redact(&prompt::system(words, answer, self.most_shown()));
        let told =
            |tool: &Tool| format!("{}\n{}\n{}\n{}\n", tool.name, tool.description, tool.schema, tool.strict);
        let listed: String = tools.iter().map(told).collect();
        let form = if is_native { "native" } else { "json" };
        let fingerprint = fingerprint(&[&self.name(), &self.address, &self.effort, form, &system, &listed]);
        Frame { bytes: (system.len() + listed.len()) as u64, system, tools, fingerprint }
    }

    /// Characters of one result: a quarter of the window, and 10,000 tokens at most.
    pub fn most_shown(&self) -> usize {
        let tokens = (self.window / 4).min(10_000);
        usize::try_from(tokens).unwrap_or(10_000) * 7 / 2
    }

    /// Threads of conversations that an earlier life left unfinished; none stands for the creature's own work.
    pub fn unfinished(&self) -> Vec<Option<String>> {
        let files = files::entries(&self.folder);
        let own = files.filter(|file| {
            ["apart-", ENDED].iter().all(|other| !file.file_name().to_string_lossy().starts_with(other))
        });
        let read = own.filter_map(|file| Conversation::load(&file.path()));
        read.filter(Conversation::is_unfinished).map(|left| left.head.thread).collect()
    }

    pub(super) fn priced(&self, mut outcome: Outcome) -> Outcome {
        if let Outcome::Thought { usage, .. } | Outcome::Garbled { usage, .. } = &mut outcome {
            self.price(usage);
        }
        outcome
    }

    /// Adds what the reply cost by list price, where known: a write to a cache costs a quarter more than input.
    pub(super) fn price(&self, usage: &mut Value) {
        if let (Some([input, read, output]), Value::Object(usage)) = (self.prices, usage) {
            let tokens = |key: &str| usage.get(key).and_then(Value::as_f64).unwrap_or(0.0);
            // What is written for an hour costs twice the price of input.
            let hour = tokens("cache_write_hour_tokens");
            let written = (tokens("cache_write_tokens") - hour) * 1.25 + hour * 2.0;
            let cost = (tokens("input_tokens") + written) * input
                + tokens("cache_read_tokens") * read
                + tokens("output_tokens") * output;
            // `cost` is in millionths of a USD.
            usage.insert("cost_usd".to_owned(), json!(cost.round() / 1e6));
        }
    }
}

/// A reply as the JSON thought it is.
pub(super) fn json_thought(reply: &Reply) -> Outcome {
    let mut usage = usage(reply);
    match thought::read(&reply.text) {
        Ok((thought, how)) => {
            if let (Value::Object(usage), true) = (&mut usage, how != "strict") {
                usage.insert("repaired".to_owned(), json!(how));
            }
            Outcome::Thought { thought, usage }
        }
        Err(error) => garbled(reply, &error),
    }
}

pub(super) fn garbled(reply: &Reply, error: &str) -> Outcome {
    let error = match reply.stop.as_str() {
        "max_tokens" => format!("{error} (the reply was cut short at max_tokens)"),
        "refusal" => format!("{error} (the model refused)"),
        _ => error.to_owned(),
    };
    Outcome::Garbled { error, text: text::shorten(&reply.text, MOST_GARBLED), usage: usage(reply) }
}

pub(super) fn usage(reply: &Reply) -> Value {
    let mut usage = serde_json::to_value(reply.usage).unwrap_or(Value::Null);
    if let Value::Object(usage) = &mut usage {
        usage.insert("model".to_owned(), json!(reply.model));
        usage.insert("attempts".to_owned(), json!(reply.attempts));
        if !matches!(reply.stop.as_str(), "end_turn" | "tool_use") {
            usage.insert("stop".to_owned(), json!(reply.stop));
        }
    }
    usage
}

/// Turns an error into an outcome: why there is no thought, and in how many seconds the other side may be asked again.
pub fn failed(error: &Error) -> Outcome {
    let why = match error.kind {
        Kind::Garbled => {
            let text = error.hint.clone();
            return Outcome::Garbled { error: error.message.clone(), text, usage: Value::Null };
        }
        Kind::Withheld => Why::Budget,
        Kind::Stopped => Why::Stopped,
        Kind::UnknownLife => Why::UnknownLife,
        Kind::Refused => Why::Key,
        Kind::OutOfMoney => Why::Money,
        Kind::Filtered => Why::Filtered,
        Kind::Settings | Kind::Region => Why::Settings,
        Kind::BadRequest | Kind::Form | Kind::Signature | Kind::TooLong => Why::Unfit,
        Kind::Busy | Kind::Unreachable | Kind::Deadline | Kind::Blocked => Why::Away,
    };
    let asked_s = error.retry_after.map(|wait| wait.as_secs() + 1);
    let (error, hint, cause) =
        (format!("failed to {}", error.message), error.hint.clone(), error.cause.clone());
    Outcome::Down(Down { error, hint, why, cause, asked_s })
}

/// The tokens of a reply and of all that was put to the model before it; by bytes where the server does not say.
pub(super) fn tokens(reply: &Reply, before: u64) -> u64 {
    let usage = &reply.usage;
    let prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
    let raw = conversation::estimate(reply.raw.to_string().len() as u64);
    if prompt == 0 { before + raw } else { prompt + usage.output_tokens.min(raw.max(1)) }
}
