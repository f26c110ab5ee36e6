//! Short names of models and the tokens their windows hold: the owner's words, else tables compiled in; pure.

use std::collections::BTreeMap;

/// Compiled in, so that no file can be missing.
const TABLE: &str = include_str!("../aliases.toml");

/// Tokens of a prompt at most, by how a model's name begins; the first that fits counts.
const WINDOWS: [(&str, u64); 8] = [
    ("claude-fable-5", 1_000_000),
    ("claude-mythos-5", 1_000_000),
    ("claude-opus-5", 1_000_000),
    ("claude-sonnet-5", 1_000_000),
    ("claude-haiku-5", 1_000_000),
    ("claude-", 200_000),
    ("gpt-6", 922_000),
    ("gpt-5", 272_000),
];

/// What short names mean.
#[derive(Clone, Debug, Default)]
pub struct Aliases(BTreeMap<String, String>);

impl Aliases {
    pub fn new(owners: &BTreeMap<String, String>) -> Self {
        let mut table: BTreeMap<String, String> = toml::from_str(TABLE).unwrap_or_else(|error| {
            tracing::error!("failed to read the table of short names: {error}");
            BTreeMap::new()
        });
        table.extend(owners.clone());
        Self(table)
    }

    /// The whole name of a model.
    pub fn meant<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.get(name).map_or(name, String::as_str)
    }
}

/// The window of a model of a known name.
pub fn window(model: &str) -> Option<u64> {
    // A gateway puts the maker before the name.
    let name = model.rsplit('/').next().unwrap_or(model);
    WINDOWS.iter().find(|(beginning, _)| name.starts_with(beginning)).map(|(_, tokens)| *tokens)
}
