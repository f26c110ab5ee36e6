//! The agenda as text: written and read in this crate, which is built to be quick.

use crate::Agenda;

impl Agenda {
    /// As JSON; an agenda always becomes some.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// From JSON, or what is wrong with it.
    pub fn from_json(bytes: &[u8]) -> Result<Agenda, serde_json::Error> {
        serde_json::from_slice(bytes)
    }

    /// A copy to try a change on.
    pub fn copy(&self) -> Agenda {
        self.clone()
    }
}
