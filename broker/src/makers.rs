//! Makers as data: how each is asked, what its models hold and cost, and short names; compiled in from `makers.toml`.

pub mod own;

use house::makers::{MAKERS, Maker};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Compiled in, so that the file cannot be missing.
const TABLE: &str = include_str!("makers.toml");

/// The makers that are compiled in; empty if the table cannot be read.
pub static TABLE_OF_MAKERS: LazyLock<Makers> = LazyLock::new(|| Makers::read(TABLE));

/// Makers by name.
#[derive(Clone, Debug, Default)]
pub struct Makers {
    pub rows: BTreeMap<String, Made>,
    /// Beginnings of the names of models that the owner's own makers have.
    begins: Vec<String>,
    /// Short names of models, each with the whole one it means; the owner's count before the makers'.
    pub aliases: BTreeMap<String, String>,
}

/// The API a maker is asked by at its own address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Spoken {
    Anthropic,
    Responses,
    /// Spoken by most servers.
    #[default]
    Chat,
}

/// Maker, and how it is asked. A missing or unknown field makes the table unreadable: no mistake makes a model free.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Made {
    /// `None`: the owner gives it.
    pub address: Option<String>,
    pub wire: Spoken,
    /// The model used if neither the owner nor the environment names one; `None`: whatever it offers.
    pub model: Option<String>,
    /// Whether it serves models of others, and is asked what they hold.
    #[serde(default)]
    pub router: bool,
    /// Whether it runs on this machine, wants no key, and is free there.
    #[serde(default)]
    pub local: bool,
    /// Its name for the limit of a reply, if it is not `max_tokens`.
    pub limit: Option<String>,
    #[serde(default)]
    pub aliases: BTreeMap<String, String>,
    #[serde(default)]
    pub models: BTreeMap<String, Row>,
    /// The variables that may hold its key, where the owner names them.
    #[serde(skip)]
    pub own_keys: Option<Vec<String>>,
}

/// A model: what it holds in tokens, and what it costs in USD per million tokens.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub window: u64,
    /// Most tokens of a reply.
    pub output: u64,
    #[serde(rename = "in")]
    pub input_usd: f64,
    #[serde(rename = "out")]
    pub output_usd: f64,
    #[serde(rename = "cached")]
    pub read_usd: f64,
    #[serde(rename = "written")]
    pub write_usd: f64,
    /// Prompt length in tokens from which all of it costs more, and how many times as much.
    pub long_tokens: Option<u64>,
    pub long_times: Option<u64>,
    /// Kinds of content it sees besides text.
    #[serde(default)]
    pub sees: Vec<String>,
    /// Whether the owner gave it no price, so that it stands here for its window alone.
    #[serde(skip)]
    pub is_unpriced: bool,
}

/// A maker as it may be chosen.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'m> {
    pub name: &'m str,
    pub made: &'m Made,
    /// Its row of the makers that are known by name.
    known: Option<&'static Maker>,
}

impl Offer<'_> {
    /// The variables that may hold its key, the first that is set counts.
    pub fn keys(&self) -> Vec<&str> {
        match (&self.made.own_keys, self.known) {
            (Some(own), _) => own.iter().map(String::as_str).collect(),
            (None, known) => known.map_or(Vec::new(), |known| known.keys.to_vec()),
        }
    }

    /// Whether its key alone chooses it.
    pub fn is_by_key(&self) -> bool {
        self.known.is_none_or(|known| known.by_key)
    }

    /// The variables that may hold another address, and another model.
    pub fn address_env(&self) -> Option<&'static str> {
        self.known?.address
    }

    pub fn model_env(&self) -> Option<&'static str> {
        self.known?.model
    }

    /// Whether this maker makes a model of this name.
    pub fn makes(&self, model: &str) -> bool {
        let has = || self.made.models.keys().any(|name| is_named(model, name));
        self.known.map_or_else(has, |known| known.makes(model))
    }

    /// Whether it makes its models itself, and serves no others.
    pub fn is_maker(&self) -> bool {
        self.known.map_or(!self.made.router && !self.made.local, |known| !known.models_begin.is_empty())
    }
}

impl Makers {
    /// Reads a table; from an unreadable one come no makers and no prices.
    pub fn read(table: &str) -> Self {
        let rows: BTreeMap<String, Made> = toml::from_str(table).unwrap_or_else(|error| {
            tracing::error!("failed to read the table of makers, every model counts as the worst: {error}");
            BTreeMap::default()
        });
        let aliases = rows.values().flat_map(|made| made.aliases.clone()).collect();
        Self { rows, begins: Vec::new(), aliases }
    }

    /// Lists all makers in the order in which keys decide: those known by name, then the owner's own.
    pub fn offers(&self) -> impl Iterator<Item = Offer<'_>> {
        let known = MAKERS.iter().filter_map(|known| {
            let (name, made) = self.rows.get_key_value(known.name)?;
            Some(Offer { name, made, known: Some(known) })
        });
        let is_own = |name: &String| MAKERS.iter().all(|known| known.name != name);
        let own = self.rows.iter().filter(move |(name, _)| is_own(name));
        known.chain(own.map(|(name, made)| Offer { name, made, known: None }))
    }

    pub fn models(&self) -> impl Iterator<Item = (&str, &Row)> {
        self.rows.values().flat_map(|made| &made.models).map(|(name, row)| (name.as_str(), row))
    }

    /// A model's whole name.
    pub fn meant<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.get(name).map_or(name, String::as_str)
    }

    /// The words of a model's name from its maker's on, without versions and dates: `openai/GPT-5.4-mini` has `gpt`,
    /// `mini`.
    pub fn family(&self, model: &str) -> Option<Vec<String>> {
        let model = model.to_ascii_lowercase();
        let begins = |at: &usize| {
            let (before, rest) = model.split_at_checked(*at).unwrap_or_default();
            let is_known = || MAKERS.iter().any(|maker| maker.makes(rest));
            let is_own = || self.begins.iter().any(|begins| rest.starts_with(begins.as_str()));
            !before.ends_with(|c: char| c.is_ascii_alphanumeric()) && (is_known() || is_own())
        };
        let name = model.get((0..model.len()).find(begins)?..)?;
        let is_word = |part: &&str| !part.is_empty() && !part.starts_with(|c: char| c.is_ascii_digit());
        let words = name.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').filter(is_word);
        Some(words.filter(|word| *word != "latest").map(str::to_owned).collect())
    }

    /// The context window of a model: its own, else the smallest of its family. Of a name that several have, the
    /// smallest counts.
    pub fn window(&self, model: &str) -> Option<u64> {
        // Gateways put the maker before the name.
        let last = model.rsplit('/').next().unwrap_or(model);
        let known = self.models().filter(|(name, _)| is_named(model, name) || is_named(last, name));
        let family = self.family(model);
        let alike = self.models().filter(|(name, _)| family.is_some() && self.family(name) == family);
        let maker = |words: Option<Vec<String>>| words.and_then(|words| words.into_iter().next());
        let of_maker = self
            .models()
            .filter(|(name, _)| family.is_some() && maker(self.family(name)) == maker(family.clone()));
        let smallest = |row: (&str, &Row)| row.1.window;
        known
            .map(smallest)
            .min()
            .or_else(|| alike.map(smallest).min())
            .or_else(|| of_maker.map(smallest).min())
    }
}

/// Whether `model` is this name, alone or with a date; `gpt-5` says nothing about the price of `gpt-5-pro`.
pub fn is_named(model: &str, name: &str) -> bool {
    let is_date = |rest: &str| {
        rest == "latest" || (rest.len() >= 8 && rest.chars().all(|c| c.is_ascii_digit() || c == '-'))
    };
    let rest = model.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('-').is_some_and(is_date))
}

/// The first number in a model's name.
pub fn version(model: &str) -> Option<f64> {
    let from = model.split_at_checked(model.find(|c: char| c.is_ascii_digit())?)?.1;
    let end = from.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(from.len());
    from.get(..end)?.trim_end_matches('.').parse().ok()
}
