//! Files of state: JSON that is read whole or not at all, and replaced whole.

use crate::senses::papers;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Bytes of a file that are read.
const MOST_BYTES: u64 = 16 << 20;

/// What the file holds; none where it is missing or garbage.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let (bytes, _) = papers::head(path, 0, MOST_BYTES).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Writes it down; failing to is told and survived, for losing it costs a look more.
pub(crate) fn keep(path: &Path, state: &impl Serialize) {
    let text = serde_json::to_vec(state).unwrap_or_default();
    if let Err(error) = memory::replace(path, &text) {
        tracing::warn!("failed to {error}");
    }
}
