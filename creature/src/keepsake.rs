//! Keeps a snapshot of what this life remembers: gathers the records and facts, and writes the digest.

use crate::digest::digest;
use crate::fault::Fault;
use crate::life::Life;
use memory::snapshot;
use serde_json::json;

/// Records and bytes read for one snapshot: fifty thoughts of eight calls each, and room.
const LOOK_BACK: (usize, u64) = (2_000, 4 << 20);

impl Life {
    /// Writes a snapshot of the records since the last. One that cannot be written is no reason to die.
    pub(crate) fn keep_snapshot(&mut self) -> Result<(), Fault> {
        let house = self.told.house.clone();
        let (most, bytes) = LOOK_BACK;
        let records = memory::tail(&house.memory(), most, bytes).map_or(Vec::new(), |tail| tail.records);
        let before = snapshot::latest(&house.snapshots()).ok().flatten().map(|found| found.text);
        let facts = self.facts();
        self.cursors.snapshot_at = self.cursors.thoughts;
        match snapshot::write(&house.snapshots(), &digest(&facts, &records, before.as_deref())) {
            Ok(path) => {
                let path = path.strip_prefix(house.root()).unwrap_or(&path).display().to_string();
                self.remember("snapshot", json!({"path": path, "thoughts": self.cursors.thoughts}))
            }
            Err(cause) => {
                let said = Fault::caused("write a snapshot", &cause, "").error;
                self.observe("snapshot", &said)
            }
        }
    }
}
