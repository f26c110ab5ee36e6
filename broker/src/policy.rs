//! `owner.toml` as far as it concerns the broker, strictly: a mistake anywhere in it is an error, never a default.
//!
//! Invariant: no setting takes a secret, only names of variables that hold one.

use crate::files;
use crate::house::House;
use anyhow::{Context, Result, anyhow, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// What the owner allows.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    pub model: Model,
    pub budget: Budget,
    /// By the beginning of a model's name; the longest that fits counts. USD per million tokens.
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
    /// The creature's, told here so that they are known.
    pub deadline_s: Option<u64>,
    pub max_tokens: Option<u64>,
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
    /// Allow loopback, private and link-local addresses.
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
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let at = error.span().map_or(0, |span| line_of(text, span.start));
            anyhow!("line {at}: {}", error.message())
        })?;
        let policy = Self {
            model: section(text, &table, "model")?,
            budget: section(text, &table, "budget")?,
            prices: section(text, &table, "prices")?,
            services: section(text, &table, "services")?,
            janee: match table.contains_key("janee") {
                true => Some(section_of(text, "janee")?),
                false => None,
            },
            web: section(text, &table, "web")?,
            search: section(text, &table, "search")?,
            x: section(text, &table, "x")?,
            taint: section(text, &table, "taint")?,
        };
        policy.judge()?;
        Ok(policy)
    }

    /// What the forms alone do not forbid.
    fn judge(&self) -> Result<()> {
        let budget = &self.budget;
        let amounts = [
            ("daily_usd", budget.daily_usd),
            ("weekly_usd", budget.weekly_usd),
            ("autonomous_percent", budget.autonomous_percent),
            ("warn_percent", budget.warn_percent),
            ("worst_input_usd", budget.worst_input_usd),
            ("worst_output_usd", budget.worst_output_usd),
        ];
        for (name, amount) in amounts {
            let most = if name.ends_with("percent") { 100.0 } else { 1e6 };
            if !(0.0..=most).contains(&amount) {
                bail!("[budget] {name} = {amount}: must be between 0 and {most}");
            }
        }
        if budget.worst_input_usd == 0.0 || budget.worst_output_usd == 0.0 {
            bail!("[budget] worst_input_usd and worst_output_usd: a model of unknown price is never free");
        }
        Ok(())
    }

    /// Names of every variable that may hold a secret.
    pub fn key_names(&self) -> Vec<String> {
        let mut names: Vec<String> = USUAL.map(str::to_owned).to_vec();
        names.extend([self.model.key_env.clone(), self.search.key_env.clone()]);
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

fn section<T: DeserializeOwned + Default>(text: &str, table: &toml::Table, name: &str) -> Result<T> {
    if table.contains_key(name) { section_of(text, name) } else { Ok(T::default()) }
}

fn section_of<T: DeserializeOwned>(text: &str, name: &str) -> Result<T> {
    // Read from the text again, so that a mistake has its place in it.
    let value = toml::from_str::<BTreeMap<String, toml::Spanned<toml::Value>>>(text)
        .ok()
        .and_then(|mut all| all.remove(name))
        .ok_or_else(|| anyhow!("[{name}] cannot be read"))?;
    let at = line_of(text, value.span().start);
    value.into_inner().try_into::<T>().map_err(|error| anyhow!("line {at}, [{name}]: {}", error.message()))
}

fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().matches('\n').count() + 1
}
