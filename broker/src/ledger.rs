//! The ledger: every call out, one line each, synced before it counts, each line holding the hash of the one before.

use crate::clock::Clock;
use crate::house::House;
use serde::{Deserialize, Serialize};

/// One line, before it has its place in the chain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Entry {
    /// 0 for what no life asked for.
    pub life: u64,
    /// `reserve`, `settle`, `call`, `refuse`, `ask`, `answer`, `fetch`, `registry`, `purpose`, `note`.
    pub event: String,
    pub service: String,
    pub method: String,
    /// Without its query, which may hold anything.
    pub path: String,
    pub bytes_out: u64,
    pub bytes_in: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micro_usd: Option<u64>,
    pub decision: String,
    /// Ties what belongs to one call together.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub call: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// The ledger cannot be read or written: nothing that costs or changes anything may leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed(pub String);

pub struct Ledger {
    house: House,
    clock: Clock,
}

impl Ledger {
    pub fn open(house: &House, clock: Clock) -> Self {
        Self { house: house.clone(), clock }
    }

    /// Appends a line and waits until it is on the disk.
    pub async fn append(&self, entry: Entry) -> Result<(), Closed> {
        let mut line = serde_json::to_value(&entry).map_err(|error| Closed(error.to_string()))?;
        if let Some(fields) = line.as_object_mut() {
            fields.insert("at".into(), self.clock.stamp().into());
        }
        let written = crate::files::append_line(&self.house.ledger(), &line.to_string());
        written.map_err(|error| Closed(format!("{error:#}")))
    }
}
