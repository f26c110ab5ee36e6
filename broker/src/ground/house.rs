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

    /// What was learned by signing in to a service anew.
    pub fn sign_in(&self, service: &str) -> PathBuf {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
        let name: String = service.chars().map(|letter| if plain(letter) { letter } else { '.' }).collect();
        self.own().join(format!("oauth2-{name}.json"))
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
        taint = ".self/broker/taint.json";
        hours = ".self/broker/hours.jsonl";
    }
}
