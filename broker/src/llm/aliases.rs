//! Short names of models, and the sizes of their context windows: the owner's settings, else tables compiled in; pure.

use std::collections::BTreeMap;

/// Compiled in, so that the file cannot be missing.
const TABLE: &str = include_str!("../aliases.toml");

/// Size of the context window in tokens, by how a model's name begins; the first match counts.
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

/// The model that each short name means.
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

    /// A model's whole name.
    pub fn meant<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.get(name).map_or(name, String::as_str)
    }
}

/// The context window of a known model.
pub fn window(model: &str) -> Option<u64> {
    // Gateways put the maker before the name.
    let name = model.rsplit('/').next().unwrap_or(model);
    WINDOWS.iter().find(|(beginning, _)| name.starts_with(beginning)).map(|(_, tokens)| *tokens)
}
