//! The agenda as JSON: written in this crate, because debug builds optimise it.

use crate::Agenda;

impl Agenda {
    /// The agenda as JSON; writing it cannot fail.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// A copy to try a change on.
    pub fn copy(&self) -> Agenda {
        self.clone()
    }
}
