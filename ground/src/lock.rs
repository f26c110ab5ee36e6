//! Whether a guardian runs in a house: by the lock that it holds.

use crate::{House, files};

/// Whether a process holds the house's guardian lock (`None`: nobody does), and the process id written in it, if any.
pub fn holder(house: &House) -> Option<Option<i32>> {
    let file = files::open(&house.lock()).ok()??;
    let free = file.try_lock_shared().is_ok();
    (!free).then(|| files::tail(&house.lock(), 32).trim().parse().ok())
}

/// The running guardian's process, by the lock it holds; `None` when none runs.
pub fn running(house: &House) -> Option<i32> {
    holder(house)?
}
