//! One entry of the ledger as it is written, and why none can be.

use crate::ground::caps::{Class, Day, Micros};
use crate::ground::refusal::Refusal;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

/// The service of entries that are about money itself.
pub const OWN: &str = "budget";

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
    pub cost_micro_usd: Option<Micros>,
    pub decision: String,
    /// Ties what belongs to one call together.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub call: String,
    /// On whose behalf, where it costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// The day it counts on, where it costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<Day>,
    /// Of what the creature may spend of its own accord, what was left after it; negative: a debt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_left_micro_usd: Option<i64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// The ledger cannot be read or written: nothing that costs or changes anything may leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed(pub String);

impl Entry {
    /// A remark of the money's own.
    pub fn note(note: impl Into<String>) -> Self {
        Self { event: "note".into(), service: OWN.into(), note: note.into(), ..Self::default() }
    }
}

impl Closed {
    /// The refusal of a fetch.
    pub fn of_fetch(self) -> Refusal {
        let hint = "nothing goes out until the ledger can be written; the owner has to mend it";
        Refusal::new(503, "ledger_closed", self.0, hint)
    }
}

impl From<Closed> for Refusal {
    fn from(closed: Closed) -> Self {
        let hint = "the owner mends what it names and restarts the guardian; with it stopped, `broker --accept-ledger \
                    --house DIR` begins a new ledger and counts today and this week as spent";
        Refusal::new(503, "ledger_closed", format!("the ledger is closed: {}", closed.0), hint)
    }
}

impl IntoResponse for Closed {
    fn into_response(self) -> Response {
        Refusal::from(self).into_response()
    }
}
