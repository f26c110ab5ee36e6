//! The lock of a house's one creature: whoever holds it may start a life.

use crate::hunt;
use anyhow::{Result, bail};
use house::{House, files, interrupt};
use std::fs::File;

/// How often processes of a former creature are searched for before a start is refused.
const ORPHAN_HUNTS: usize = 300;

/// Takes the lock that every creature process inherits. If it is held, a former guardian's creature lives, and is
/// ended first. Only the lock proves that nothing is left: a search may miss a process that forks meanwhile.
pub fn of_the_creature(house: &House) -> Result<File> {
    let path = house.creature_lock();
    let file = files::open_lock(&path)?;
    for _ in 0..ORPHAN_HUNTS {
        interrupt::gets_on();
        let ended = hunt::end_orphans(house)?;
        if ended > 0 {
            tracing::warn!(processes = ended, "ended what a former guardian had left running");
        }
        if fs2::FileExt::try_lock_exclusive(&file).is_ok() {
            return Ok(file);
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    bail!("{} is still held: a former creature lives and cannot be ended", path.display())
}
