//! The house for one alone: the lock of its one guardian, and the lock that every process of a creature inherits.

use crate::hunt;
use anyhow::Result;
use ground::refused::refuse;
use ground::{House, files, interrupt, lock};
use std::fs::File;
use std::io::Write;

/// How often processes of a former creature are searched for before the guardian refuses to start.
const ORPHAN_HUNTS: usize = 300;

/// Why a start would refuse because another process holds the lock of the house's one guardian.
pub fn held(house: &House, by: Option<i32>) -> String {
    match by {
        Some(pid) => format!(
            "another guardian runs here (process {pid}); see `cargo run -p guardian -- status`, or stop it"
        ),
        None => format!(
            "the lock {} is held and names no guardian; `fuser -v` on it says by whom",
            house.lock().display()
        ),
    }
}

/// Locks the house against any guardian, and ends what one left running, for as long as both files are open.
pub fn alone(house: &House) -> Result<[File; 2]> {
    std::fs::create_dir_all(house.own())?;
    let instance = lock_instance(house)?;
    Ok([instance, creature_lock(house)?])
}

/// Locks the house for one guardian, for as long as the file is open.
pub fn lock_instance(house: &House) -> Result<File> {
    let path = house.lock();
    let mut file = files::open_lock(&path)?;
    // A process forked just before a guardian was killed holds its lock a moment longer.
    let mut looks = 0;
    while file.try_lock().is_err() {
        let pid = files::tail(&path, 32).trim().parse().ok();
        looks += 1;
        if looks > 200 || pid.is_some_and(hunt::exists) {
            return refuse(held(house, pid));
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    file.set_len(0)?;
    write!(file, "{}", std::process::id())?;
    Ok(file)
}

/// Why the guardian with this process id cannot go on: its house is gone, or it is another's since the lock was deleted.
pub fn lost(house: &House, guardian: i32) -> Option<String> {
    let root = house.root().display();
    let found = std::fs::symlink_metadata(house.root());
    if found.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return Some(format!(
            "{root} was moved or deleted; everything is ended. Start the guardian where the house is now"
        ));
    }
    let other = lock::running(house).filter(|other| *other != guardian)?;
    Some(format!(
        "the lock in {root} was deleted, and another guardian runs there (process {other}); everything is ended"
    ))
}

/// Takes the lock that every creature process inherits. If it is held, a former guardian's creature lives, and is
/// ended first. Only the lock proves that nothing is left: a search may miss a process that forks meanwhile.
pub fn creature_lock(house: &House) -> Result<File> {
    let path = house.creature_lock();
    let file = files::open_lock(&path)?;
    for _ in 0..ORPHAN_HUNTS {
        interrupt::gets_on();
        let ended = hunt::end_orphans(house)?;
        if ended > 0 {
            tracing::warn!(processes = ended, "ended what a former guardian had left running");
        }
        if file.try_lock().is_ok() {
            return Ok(file);
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    refuse(format!("{} is still held: a former creature lives and cannot be ended", path.display()))
}
