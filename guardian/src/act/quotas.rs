//! Quotas on files that grow: memory, the logs of lives, and the build folder.

use crate::act::report::Report;
use crate::limits::{LIFE_LOG_BYTES, LIFE_LOGS, Limits};
use house::openat::Folder;
use house::{House, files, interrupt, records, repair, space};
use serde_json::json;
use std::fs;
use std::path::Path;

/// Runs between lives and after builds: repairs paths, moves memory over its quota aside, removes old life logs.
pub fn rotate(house: &House, limits: &Limits, life: u64, report: &mut Report) {
    repair::clear(house).iter().for_each(|told| report.warn(told));
    let memory = house.memory();
    if std::fs::metadata(&memory).is_ok_and(|meta| meta.len() > limits.memory_mib << 20) {
        let to = memory.with_file_name(format!("memory-{}.jsonl", house::clock::name()));
        match std::fs::rename(&memory, &to) {
            Ok(()) => report.say(&format!("memory is over its quota; moved to {}", to.display())),
            Err(error) => tracing::error!("failed to move {} aside: {error}", memory.display()),
        }
    }
    if let Some(old) = life.checked_sub(LIFE_LOGS as u64) {
        let _ = std::fs::remove_file(house.life_log(old));
    }
}

/// Cuts a log over its quota down to its end, in place: its writer appends.
pub fn bound_logs(house: &House, life: u64) {
    for path in [house.life_log(life), house.exam_log(), house.broker_log(), house.channels_log()] {
        if files::mark(&path).is_some_and(|mark| mark.bytes > LIFE_LOG_BYTES)
            && let Err(error) = files::cut(&path, LIFE_LOG_BYTES / 64)
        {
            tracing::error!("failed to cut {}: {error}", path.display());
        }
    }
}

/// Clears the build folder where it is over its quota.
pub fn bound_target(house: &House, limits: &Limits, report: &mut Report) {
    if let Some(bytes) = collect(house, limits.target_mib << 20) {
        report.say(&format!("target/creature took {} MiB, over its quota: cleared", bytes >> 20));
        records::tell(house, "target_cleared", json!({"bytes": bytes}));
    }
}

/// Free space in MiB: the lesser of where cargo builds and where the state is.
pub fn free_mib(house: &House) -> u64 {
    least(house, space::free_mib)
}

/// Returns a sentence for the owner: the disk is full, and what to do.
pub fn full_disk(free_mib: u64, floor_mib: u64) -> String {
    format!(
        "the disk is full: {free_mib} MiB are free, and {floor_mib} MiB the least it lives on; a build takes up to 2 GiB. Free some \
         space: target/ may be deleted, it is built anew"
    )
}

/// Returns `free_mib`, but zero where a trial write fails, as by a quota: for a judgement, not for each look.
pub fn tried_mib(house: &House) -> u64 {
    least(house, space::tried_mib)
}

fn least(house: &House, free: impl Fn(&Path) -> Option<u64>) -> u64 {
    let places = [house.target(), house.state_folder()];
    places.iter().filter_map(|place| free(place)).min().unwrap_or(u64::MAX)
}

/// Keeps the build folder within its quota, between lives: first the incremental cache goes, then everything. Kept
/// binaries have a folder of their own. Returns the bytes it had taken, if it was over its quota.
fn collect(house: &House, most_bytes: u64) -> Option<u64> {
    let target = Folder::open(&house.root().join("target")).ok()?;
    let folder = target.folder(Path::new("creature")).ok()?;
    let before = folder_bytes(&folder);
    if before <= most_bytes {
        return None;
    }
    // Held open, so that a link put in its place meanwhile cannot lead the removal out of the house.
    let debug = folder.folder(Path::new("debug"));
    let incremental =
        debug.and_then(|debug| Ok((folder_bytes(&debug.folder(Path::new("incremental"))?), debug)));
    let removed = match incremental {
        Ok((spared, debug)) if before.saturating_sub(spared) <= most_bytes => debug.remove_all("incremental"),
        _ => target.remove_all("creature"),
    };
    if let Err(error) = removed {
        tracing::error!("failed to clear target/creature, which is over its quota: {error}");
        return None;
    }
    Some(before)
}

/// Total size of the files below a folder, links not followed. Folders too deep to walk count as infinite; a signal
/// from the owner ends the count early, until the next look.
fn folder_bytes(folder: &Folder) -> u64 {
    let entries = fs::read_dir(folder.path()).into_iter().flatten().flatten();
    let entries = entries.take_while(|_| interrupt::check().is_ok());
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(meta) if meta.is_dir() && folder.is_deep() => u64::MAX,
        Ok(meta) if meta.is_dir() => {
            folder.folder(Path::new(&entry.file_name())).map_or(0, |below| folder_bytes(&below))
        }
        Ok(meta) => meta.len(),
        Err(_) => 0,
    });
    bytes.fold(0, u64::saturating_add)
}
