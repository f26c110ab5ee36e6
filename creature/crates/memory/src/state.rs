//! Files of state: JSON that is replaced whole, and read even where it is missing or damaged.

use crate::salvage::salvage;
use crate::{Error, replace, set_aside};
use ground::files::head;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use std::path::Path;

/// Bytes read of a file of state; everything it may hold at its longest fits.
const MOST_BYTES: u64 = 16 << 20;

/// Reads the state in the file; none where it is missing or garbage.
pub fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let (bytes, _) = head(path, 0, MOST_BYTES).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Replaces the file by this state; one of numbers and text always becomes JSON.
pub fn write(path: &Path, state: &impl Serialize) -> Result<(), Error> {
    replace(path, &serde_json::to_vec(state).unwrap_or_default())
}

/// Replaces the file by this state; a failure is only logged, for losing the state costs one more look.
pub fn keep(path: &Path, state: &impl Serialize) {
    if let Err(error) = write(path, state) {
        tracing::warn!("failed to {error}");
    }
}

/// The state in a JSON file, its default where the file is missing; and what is wrong with the file, as a
/// sentence. Garbage is set aside and replaced by what `salvage` can read of it.
pub fn kept<T: DeserializeOwned + Serialize + Default>(path: &Path) -> (T, Option<String>) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let bytes = match head(path, 0, MOST_BYTES) {
        Ok((bytes, _)) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return (T::default(), None),
        Err(error) => {
            // The next save replaces the file; a failure to set it aside must not end the life.
            let _ = set_aside(path);
            return (T::default(), Some(format!("{name} cannot be read, set aside: {error}")));
        }
    };
    match serde_json::from_slice(&bytes) {
        Ok(kept) => (kept, None),
        Err(error) => {
            let _ = set_aside(path);
            let kept: T = salvage(&bytes).unwrap_or_default();
            let _ = write(path, &kept);
            let said = "is garbage, set aside; what of it can be read is kept";
            (kept, Some(format!("{name} {said}: {error}")))
        }
    }
}
