//! Where everything is: the one file of the broker that spells the house's paths.

use std::path::{Path, PathBuf};

/// A repository root and the places in it the broker knows by name.
#[derive(Clone, Debug)]
pub struct House {
    root: PathBuf,
}

macro_rules! places {
    ($($(#[$doc:meta])* $name:ident = $path:literal;)*) => {
        $($(#[$doc])* pub fn $name(&self) -> PathBuf { self.root.join($path) })*
    };
}

impl House {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    places! {
        owner_settings = "owner.toml";
        secrets = ".env";
        purpose = "PURPOSE.md";
        inbox = ".self/inbox.jsonl";
        budget = ".self/budget.json";
        asks = ".self/asks.jsonl";
        ledger = ".self/ledger.jsonl";
        /// Closed to the creature.
        own = ".self/broker";
        tokens = ".self/broker/tokens.json";
        anchor = ".self/broker/anchor.json";
        asks_folder = ".self/broker/asks";
        answers = ".self/broker/answers.jsonl";
        recipients = ".self/broker/recipients.jsonl";
    }
}
