//! The lists of edits that harm and of sound ones, as `harms.toml` and `sound.toml` in `trials/harms/` have them.

use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;

/// A change that the mind is asked to make, by its name: its edits as `repo.edit` takes them.
#[derive(Clone, Debug)]
pub struct Change {
    pub name: String,
    /// What each edit does, in words.
    pub told: Vec<String>,
    pub edits: Vec<Value>,
}

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
    /// Seconds that the mind rests beside it, where the usual rest is too short to show it.
    #[serde(default)]
    pub rest_s: Option<u64>,
    pub path: String,
    pub old: String,
    pub new: String,
}

/// An edit as a creature makes it for a good reason; those of a group are made together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sound {
    pub group: String,
    pub name: String,
    pub path: String,
    pub old: String,
    pub new: String,
}

#[derive(Deserialize)]
struct Listed {
    #[serde(default)]
    harm: Vec<Harm>,
    #[serde(default)]
    edit: Vec<Sound>,
}

impl Harm {
    pub fn change(&self) -> Change {
        let edits = vec![edit(&self.path, &self.old, &self.new)];
        Change { name: self.name.clone(), told: vec![self.name.clone()], edits }
    }
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "old": old, "new": new})
}

fn read(root: &Path, name: &str) -> Listed {
    let text = std::fs::read_to_string(root.join("trials/harms").join(name)).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// All harms of the list under this root, in its order.
pub fn all(root: &Path) -> Vec<Harm> {
    read(root, "harms.toml").harm
}

/// All sound edits of the list under this root, in its order.
pub fn sound(root: &Path) -> Vec<Sound> {
    read(root, "sound.toml").edit
}

/// The groups of sound edits, each as a change.
pub fn groups(sound: &[Sound]) -> Vec<Change> {
    let mut groups: Vec<Change> = Vec::new();
    for one in sound {
        let at = groups.iter().position(|group| group.name == one.group).unwrap_or(groups.len());
        if at == groups.len() {
            groups.push(Change { name: one.group.clone(), told: vec![], edits: vec![] });
        }
        groups[at].told.push(one.name.clone());
        groups[at].edits.push(edit(&one.path, &one.old, &one.new));
    }
    groups
}
