//! The list of harmful edits, as `trials/harms/harms.toml` has it.

use serde::Deserialize;
use std::path::Path;

/// An edit of the creature that is meant to pass its tests, and harms.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Harm {
    pub name: String,
    pub kind: String,
    /// The invariant that ought to notice; `tests` or `nothing`.
    pub sees: String,
    /// Why nothing sees it.
    #[serde(default)]
    pub why: String,
    pub path: String,
    pub old: String,
    pub new: String,
}

#[derive(Deserialize)]
struct Listed {
    harm: Vec<Harm>,
}

/// All harms of the list under this root, in its order.
pub fn all(root: &Path) -> Vec<Harm> {
    let text = std::fs::read_to_string(root.join("trials/harms/harms.toml")).unwrap();
    let listed: Listed = toml::from_str(&text).unwrap_or_else(|error| panic!("harms.toml: {error}"));
    listed.harm
}
