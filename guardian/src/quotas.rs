//! Quotas of what grows: memory, the logs of lives, and the build folder.

use crate::house::House;
use crate::limits::{LIFE_LOG_BYTES, LIFE_LOGS, TARGET_LOOK_MS};
use crate::run::Guardian;
use crate::{files, records, way};
use serde_json::json;

impl Guardian {
    /// Between lives, and after builds: the way is cleared, memory over its quota is moved aside whole, old life logs go.
    pub fn rotate(&mut self) {
        way::clear(&self.house).iter().for_each(|told| self.report.warn(told));
        let memory = self.house.memory();
        if std::fs::metadata(&memory).is_ok_and(|meta| meta.len() > self.limits.memory_mib << 20) {
            let to = memory.with_file_name(format!("memory-{}.jsonl", crate::clock::name()));
            match std::fs::rename(&memory, &to) {
                Ok(()) => self.report.say(&format!("memory is over its quota; moved to {}", to.display())),
                Err(error) => tracing::error!("failed to move {} aside: {error}", memory.display()),
            }
        }
        if let Some(old) = self.state.life.checked_sub(LIFE_LOGS as u64) {
            let _ = std::fs::remove_file(self.house.life_log(old));
        }
    }

    /// A log over its quota is emptied under its writer, who appends; its end goes on at its head.
    pub fn bound_logs(&self) {
        for path in [self.house.life_log(self.state.life), self.house.broker_log()] {
            if files::mark(&path).is_some_and(|mark| mark.bytes > LIFE_LOG_BYTES)
                && let Err(error) = files::cut(&path, LIFE_LOG_BYTES / 64)
            {
                tracing::error!("failed to cut {}: {error}", path.display());
            }
        }
    }

    pub fn bound_target(&mut self) {
        let now = self.clock.now();
        if now < self.target_look {
            return;
        }
        self.target_look = now + TARGET_LOOK_MS;
        if let Some(bytes) = collect(&self.house, self.limits.target_mib << 20) {
            self.report.say(&format!("target/creature took {} MiB, over its quota: cleared", bytes >> 20));
            records::tell(&self.house, "target_cleared", json!({"bytes": bytes}));
        }
    }
}

/// Keeps the build folder within its quota, between lives: what only speeds up the next build goes first, then all of it.
/// Nothing that runs or is blessed lies there: kept binaries have a folder of their own. What it took, in bytes.
fn collect(house: &House, most_bytes: u64) -> Option<u64> {
    let folder = house.target();
    let before = folder_bytes(&folder);
    if before <= most_bytes {
        return None;
    }
    let incremental = folder.join("debug/incremental");
    let spared = before.saturating_sub(folder_bytes(&incremental));
    // A link on the way would lead the removal out of the house; a link that is removed itself does not.
    let inside = [&folder, &folder.join("debug")].iter().all(|part| !part.is_symlink());
    let goes = if inside && spared <= most_bytes { incremental } else { folder };
    if let Err(error) = std::fs::remove_dir_all(&goes) {
        tracing::error!("failed to clear {}, which is over its quota: {error}", goes.display());
    }
    Some(before)
}

/// Bytes of the files below a folder; links are not followed.
fn folder_bytes(folder: &std::path::Path) -> u64 {
    let (mut bytes, mut folders) = (0, vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => folders.push(entry.path()),
                Ok(meta) => bytes += meta.len(),
                Err(_) => {}
            }
        }
    }
    bytes
}
