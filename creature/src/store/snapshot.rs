//! Keeps snapshots of memory: the records since the last one, merged with its text; the newest few are left out.
//!
//! Invariant: each snapshot builds on the one before, one is made at a time, and no record is taken in twice.

use super::Store;
use crate::digest::{Facts, digest, ended, fresh, open_threads};
use crate::fault::Fault;
use ground::papers;
use memory::snapshot;
use patch::draft::Draft;
use serde_json::json;

/// Records and bytes read for one snapshot: fifty thoughts of eight calls each, and room.
const LOOK_BACK: (usize, u64) = (2_000, 4 << 20);

/// The newest records, which are left to the next snapshot.
const KEPT: usize = 10;

impl Store {
    /// Writes a snapshot, in these words or drawn from the records; returns its path and its characters.
    pub(crate) fn keep_snapshot(
        &mut self,
        facts: &Facts,
        words: Option<&str>,
    ) -> Result<(String, usize), Fault> {
        let read =
            |cause: memory::Error| Fault::caused("read memory for a snapshot", &cause, "write one as `text`");
        let (text, kept) = match words {
            // A mind that finds its own words has seen every record: none is left to the next snapshot.
            Some(words) => (words.to_owned(), 0),
            None => {
                let (most, bytes) = LOOK_BACK;
                let records = memory::tail(&self.house.memory(), most, bytes).map_err(read)?.records;
                let before = snapshot::latest(&self.house.snapshots()).map_err(read)?;
                let (fresh, left) = fresh(&records, KEPT);
                let purpose = papers::read(&self.house.purpose()).text;
                let agenda = &self.agenda;
                let draft =
                    Draft::open(&self.house).ok().flatten().filter(|draft| !draft.state.files.is_empty());
                let open = open_threads(agenda, draft.map(|draft| draft.line()));
                let facts = Facts { purpose, left, open, ended: ended(agenda), ..facts.clone() };
                let text = digest(&facts, fresh, before.as_ref().map(|before| before.text.as_str()));
                (text, left)
            }
        };
        let hint = "is the disk full, or .self/snapshots not writable?";
        let path = snapshot::write(&self.house.snapshots(), &text)
            .map_err(|cause| Fault::caused("write the snapshot", &cause, hint))?;
        let path = format!(".self/snapshots/{}", path.file_name().unwrap_or_default().to_string_lossy());
        self.record("snapshot", json!({"path": path, "thoughts": facts.thoughts, "kept": kept}))?;
        Ok((path, text.chars().count()))
    }
}
