//! `owner.toml` as far as it concerns the broker, strictly: a mistake anywhere in it is an error, never a default.
//!
//! Invariant: no setting takes a secret, only names of variables that hold one.

use crate::ground::files;
use anyhow::{Context, Result, anyhow};
pub use autonomy::{Agenda, Autonomy};
use house::House;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::de::DeTable;

mod autonomy;
pub mod schema;
pub mod shape;
pub mod words;

/// What the owner allows.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Policy {
    pub model: Model,
    pub budget: Budget,
    pub autonomy: Autonomy,
    pub agenda: Agenda,
    /// By a model's name; one that ends in `*` fits each that begins so. USD per million tokens.
    pub prices: BTreeMap<String, Price>,
    pub services: BTreeMap<String, Service>,
    pub janee: Option<Janee>,
    pub web: Web,
    pub search: Search,
    pub x: X,
    pub taint: Taint,
}

/// `[model]`: which provider is behind `/llm`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// `instinct`, `anthropic`, `openai`, `ollama`, or empty: found by keys, then on loopback.
    pub provider: String,
    pub model: String,
    pub base_url: String,
    pub key_env: String,
    /// `responses` or `chat`; empty: by the address.
    pub wire: String,
    /// Tokens its window holds, where its server or its name does not say.
    pub context_tokens: Option<u64>,
    /// The creature's, told here so that they are known.
    pub deadline_s: Option<u64>,
    pub max_tokens: Option<u64>,
    pub tools: String,
    pub effort: String,
    /// For what is small.
    pub quick: Option<Besides>,
    /// Where the first does not answer, in this order.
    pub fallback: Vec<Besides>,
    /// Short names of models.
    pub aliases: BTreeMap<String, String>,
}

/// A model besides the first; what it leaves open is as with that.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Besides {
    pub provider: String,
    pub model: String,
    pub base_url: String,
    pub key_env: String,
    pub wire: String,
    pub context_tokens: Option<u64>,
    pub effort: String,
}

/// `[budget]`: what may be spent on models.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    pub daily_usd: f64,
    pub weekly_usd: f64,
    /// Of each cap, what calls may use that the owner did not just ask for.
    pub autonomous_percent: f64,
    pub warn_percent: f64,
    /// How long after a word of the owner's calls are on the owner's behalf, in seconds.
    pub owner_window_s: u64,
    /// For models without a price, per million tokens.
    pub worst_input_usd: f64,
    pub worst_output_usd: f64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            daily_usd: 5.0,
            weekly_usd: 20.0,
            autonomous_percent: 15.0,
            warn_percent: 80.0,
            owner_window_s: 900,
            worst_input_usd: 30.0,
            worst_output_usd: 150.0,
        }
    }
}

/// USD per million tokens.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// Missing: as `input`.
    pub cache_read: Option<f64>,
    /// Missing: twice `input`.
    pub cache_write: Option<f64>,
    /// Of our own table: from how many tokens of a prompt on all of it costs how many times as much.
    #[serde(default)]
    pub long_tokens: Option<u64>,
    #[serde(default)]
    pub long_times: Option<u64>,
}

/// `[services.<name>]`: a place the creature may call by name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    pub base_url: String,
    #[serde(default)]
    pub about: String,
    #[serde(default)]
    pub auth: Auth,
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// What it answers was written by others.
    #[serde(default = "yes")]
    pub untrusted: bool,
    /// May be at a loopback or private address.
    #[serde(default)]
    pub allow_private: bool,
}

/// How a service knows us. Every value is the name of an environment variable.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Auth {
    #[default]
    None,
    Bearer {
        token_env: String,
    },
    Header {
        header: String,
        value_env: String,
    },
    Basic {
        user_env: String,
        password_env: String,
    },
    /// OAuth 1.0a, HMAC-SHA1.
    OAuth1 {
        key_env: String,
        secret_env: String,
        token_env: String,
        token_secret_env: String,
    },
    /// OAuth 2 with a refresh token.
    OAuth2 {
        token_url: String,
        client_id_env: String,
        /// Empty for public clients.
        #[serde(default)]
        client_secret_env: String,
        refresh_token_env: String,
        #[serde(default)]
        scope: String,
    },
}

/// What may be done at a path. The first rule that fits decides; none: denied.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// A method, or `*`.
    pub method: String,
    /// `*` is one segment, `**` any rest.
    pub path: String,
    #[serde(rename = "do")]
    pub verdict: Verdict,
    pub per_hour: Option<u32>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Allow,
    /// Waits for the owner.
    Ask,
    /// Kept as a file for the owner, never sent.
    Draft,
    Deny,
}

/// `[janee]`: an MCP server that holds credentials of its own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Janee {
    /// Streamable HTTP address; or
    #[serde(default)]
    pub url: String,
    /// a command that speaks MCP on its standard streams.
    #[serde(default)]
    pub command: Vec<String>,
    /// Names of variables passed to that command.
    #[serde(default)]
    pub pass_env: Vec<String>,
    /// Rules by capability; `*` fits each. Missing: GET allow, else ask.
    #[serde(default)]
    pub rules: BTreeMap<String, Vec<Rule>>,
}

/// `[web]`: what pages may be fetched.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Web {
    /// Allow loopback and private addresses; link-local ones, with the metadata of clouds, never.
    pub allow_private: bool,
    /// Hosts; where there are any, only these. `*.example.org` fits every host below it.
    pub allow: Vec<String>,
    /// Hosts that are refused.
    pub deny: Vec<String>,
    pub most_bytes: u64,
    pub deadline_s: u64,
    pub per_hour: u32,
}

impl Default for Web {
    fn default() -> Self {
        Self {
            allow_private: false,
            allow: Vec::new(),
            deny: Vec::new(),
            most_bytes: 5 << 20,
            deadline_s: 20,
            per_hour: 1_000,
        }
    }
}

/// `[search]`: makes a service named `search`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// `brave`, `searxng` or empty.
    pub provider: String,
    pub base_url: String,
    pub key_env: String,
}

/// `[x]`: makes a service named `x` where its variables are set.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct X {
    pub base_url: String,
}

/// What becomes of outward acts after untrusted text was read.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Taint {
    #[default]
    Ask,
    Allow,
}

/// Variables that hold secrets of the usual names.
const USUAL: [&str; 8] = [
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "BRAVE_API_KEY",
    "X_API_KEY",
    "X_API_SECRET",
    "X_ACCESS_TOKEN",
    "X_ACCESS_TOKEN_SECRET",
    "X_USER_TOKEN",
];

impl Policy {
    /// Reads `owner.toml`; a missing file is all defaults.
    pub fn load(house: &House) -> Result<Self> {
        let path = house.owner_settings();
        let Some(bytes) = files::read_small(&path)? else { return Ok(Self::default()) };
        let text =
            String::from_utf8(bytes).with_context(|| format!("{} is not UTF-8 text", path.display()))?;
        Self::read(&text).map_err(|error| anyhow!("{}, {error:#}", path.display()))
    }

    /// Reads the broker's sections of a text; the guardian's and the creature's are theirs to judge.
    pub fn read(text: &str) -> Result<Self> {
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            anyhow!("line {}: {}", line_of(text, at), syntax(text, at, error.message()))
        })?;
        for (name, value) in table.get_ref() {
            let section = schema::SECTIONS.iter().find(|(section, _)| name.get_ref() == section);
            let Some((section, shape)) = section else { continue };
            shape::judge(section, name.span().start, value, shape).map_err(|mistake| {
                anyhow!("line {}: {}: {}", line_of(text, mistake.at), mistake.path, mistake.what)
            })?;
        }
        // The shapes forbid more than the types do, so nothing is left to be told here.
        let policy: Self = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            anyhow!("line {}: a value of the wrong kind", line_of(text, at))
        })?;
        let at = shape::place(table.get_ref(), "autonomy", "usd_per_day");
        policy.too_much_of_its_own().map_or(Ok(policy), |what| {
            Err(anyhow!("line {}: [autonomy] usd_per_day: {what}", line_of(text, at)))
        })
    }

    /// Names of every variable that may hold a secret.
    pub fn key_names(&self) -> Vec<String> {
        let mut names: Vec<String> = USUAL.map(str::to_owned).to_vec();
        names.extend([self.model.key_env.clone(), self.search.key_env.clone()]);
        names.extend(self.model.quick.iter().chain(&self.model.fallback).map(|model| model.key_env.clone()));
        for service in self.services.values() {
            names.extend(service.auth.variables());
        }
        names.extend(self.janee.iter().flat_map(|janee| janee.pass_env.clone()));
        names.retain(|name| !name.is_empty());
        names
    }
}

impl Auth {
    pub fn variables(&self) -> Vec<String> {
        match self.clone() {
            Self::None => vec![],
            Self::Bearer { token_env } => vec![token_env],
            Self::Header { value_env, .. } => vec![value_env],
            Self::Basic { user_env, password_env } => vec![user_env, password_env],
            Self::OAuth1 { key_env, secret_env, token_env, token_secret_env } => {
                vec![key_env, secret_env, token_env, token_secret_env]
            }
            Self::OAuth2 { client_id_env, client_secret_env, refresh_token_env, .. } => {
                vec![client_id_env, client_secret_env, refresh_token_env]
            }
        }
    }
}

fn yes() -> bool {
    true
}

/// What TOML has against a line, unless it quotes the line, which may hold anything.
fn syntax(text: &str, at: usize, message: &str) -> String {
    let line = text.lines().nth(line_of(text, at) - 1).unwrap_or_default();
    let words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= 5);
    let quoted = words.into_iter().any(|word| message.contains(word));
    let message = message.lines().next().unwrap_or_default();
    if quoted || message.is_empty() { "not TOML".to_owned() } else { format!("not TOML: {message}") }
}

fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().matches('\n').count() + 1
}
