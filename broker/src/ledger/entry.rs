//! An entry of the ledger, and the reason why none can be written.

use crate::ground::caps::{Class, Day, Micros, Span};
use crate::ground::refusal::Refusal;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

/// The service in entries about money itself.
pub const OWN: &str = "budget";

/// The content of a line, before it has its place in the chain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Entry {
    /// Number of the life; 0 if no life asked for it.
    pub life: u64,
    /// `reserve`, `settle`, `call`, `refuse`, `ask`, `answer`, `fetch`, `registry`, `purpose`, `note`.
    pub event: String,
    pub service: String,
    pub method: String,
    /// Without its query, which may contain anything.
    pub path: String,
    pub bytes_out: u64,
    pub bytes_in: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micro_usd: Option<Micros>,
    pub decision: String,
    /// Id shared by all entries of one call.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub call: String,
    /// On whose behalf, for calls that cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// The day it counts on, for calls that cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<Day>,
    /// Rest of the creature's own money afterwards; negative: a debt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_left_micro_usd: Option<i64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Number of refusals that the line sums up; `None` for any other line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// Closed ledger: it cannot be read or written, so nothing that costs or changes anything may be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed(pub String);

impl Entry {
    /// An entry with a note about money.
    pub fn note(note: impl Into<String>) -> Self {
        Self { event: "note".into(), service: OWN.into(), note: note.into(), ..Self::default() }
    }
}

impl From<Closed> for Refusal {
    fn from(closed: Closed) -> Self {
        let hint = format!(
            "the owner mends what it names and restarts the guardian; with it stopped, `broker --accept-ledger \
             --house DIR` begins a new ledger and counts {} as spent",
            Span::all_now()
        );
        Refusal::new(503, "ledger_closed", format!("the ledger is closed: {}", closed.0), hint)
    }
}

impl IntoResponse for Closed {
    fn into_response(self) -> Response {
        Refusal::from(self).into_response()
    }
}
