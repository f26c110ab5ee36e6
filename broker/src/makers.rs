//! Makers as data: how each is asked, what its models hold and cost, and short names; compiled in from `makers.toml`.

use house::makers::MAKERS;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Compiled in, so that the file cannot be missing.
const TABLE: &str = include_str!("makers.toml");

/// All makers, by name; empty if the table cannot be read.
pub static TABLE_OF_MAKERS: LazyLock<Makers> = LazyLock::new(|| Makers::read(TABLE));

#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Makers(pub BTreeMap<String, Made>);

/// The API a maker is asked by at its own address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Spoken {
    Anthropic,
    Responses,
    Chat,
}

/// How a maker is asked. A missing or unknown field makes the table unreadable, so that no mistake makes a model free.
#[derive(Debug, Deserialize)]
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
}

/// A model: what it holds in tokens, and what it costs in USD per million tokens.
#[derive(Clone, Debug, Deserialize)]
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
    /// What it sees besides text.
    #[serde(default)]
    pub sees: Vec<String>,
}

impl Makers {
    /// Reads a table; from an unreadable one come no makers and no prices.
    pub fn read(table: &str) -> Self {
        toml::from_str(table).unwrap_or_else(|error| {
            tracing::error!("failed to read the table of makers, every model counts as the worst: {error}");
            Self::default()
        })
    }

    pub fn models(&self) -> impl Iterator<Item = (&str, &Row)> {
        self.0.values().flat_map(|made| &made.models).map(|(name, row)| (name.as_str(), row))
    }

    pub fn aliases(&self) -> impl Iterator<Item = (&String, &String)> {
        self.0.values().flat_map(|made| &made.aliases)
    }

    /// The context window of a model: its own, else the smallest of its family. Of a name that several have, the
    /// smallest counts.
    pub fn window(&self, model: &str) -> Option<u64> {
        // Gateways put the maker before the name.
        let last = model.rsplit('/').next().unwrap_or(model);
        let known = self.models().filter(|(name, _)| is_named(model, name) || is_named(last, name));
        let family = family(model);
        let alike = self.models().filter(|(name, _)| family.is_some() && self::family(name) == family);
        let maker = |words: Option<Vec<String>>| words.and_then(|words| words.into_iter().next());
        let of_maker = self
            .models()
            .filter(|(name, _)| family.is_some() && maker(self::family(name)) == maker(family.clone()));
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

/// The words of a model's name from its maker's on, without versions and dates: `openai/GPT-5.4-mini` has `gpt`,
/// `mini`.
pub fn family(model: &str) -> Option<Vec<String>> {
    let model = model.to_ascii_lowercase();
    let begins = |at: &usize| {
        let (before, rest) = model.split_at_checked(*at).unwrap_or_default();
        !before.ends_with(|c: char| c.is_ascii_alphanumeric()) && MAKERS.iter().any(|maker| maker.makes(rest))
    };
    let name = model.get((0..model.len()).find(begins)?..)?;
    let is_word = |part: &&str| !part.is_empty() && !part.starts_with(|c: char| c.is_ascii_digit());
    let words = name.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').filter(is_word);
    Some(words.filter(|word| *word != "latest").map(str::to_owned).collect())
}

/// The first number in a model's name.
pub fn version(model: &str) -> Option<f64> {
    let from = model.split_at_checked(model.find(|c: char| c.is_ascii_digit())?)?.1;
    let end = from.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(from.len());
    from.get(..end)?.trim_end_matches('.').parse().ok()
}
