//! The agenda as JSON: written and read in this crate, because debug builds optimise it.

use crate::Agenda;

impl Agenda {
    /// The agenda as JSON; writing it cannot fail.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The agenda from JSON, or what is wrong with the text.
    pub fn from_json(bytes: &[u8]) -> Result<Agenda, serde_json::Error> {
        serde_json::from_slice(bytes)
    }

    /// A copy to try a change on.
    pub fn copy(&self) -> Agenda {
        self.clone()
    }
}
