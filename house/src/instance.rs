//! The guardian that runs here, if one does: by the lock it holds and by what it publishes.

use crate::{House, files};
use serde_json::Value;

/// Who holds the lock of the house's one guardian: the process it names, if it names one; `None` when nobody does.
pub fn holder(house: &House) -> Option<Option<i32>> {
    let file = files::open(&house.lock()).ok()??;
    let free = fs2::FileExt::try_lock_shared(&file).is_ok();
    (!free).then(|| files::tail(&house.lock(), 32).trim().parse().ok())
}

/// The running guardian's process, by the lock it holds; `None` when none runs.
pub fn running(house: &House) -> Option<i32> {
    holder(house)?
}

/// Whether a guardian runs here and its broker with it.
pub fn broker_runs(house: &House) -> bool {
    let told = running(house).and_then(|pid| published(house, pid));
    told.is_some_and(|told| told.get("broker").and_then(|broker| broker.get("running")) == Some(&true.into()))
}

/// What the guardian of this process says; what an earlier one said is nothing.
pub fn published(house: &House, pid: i32) -> Option<Value> {
    last_published(house).filter(|told| told.get("guardian_pid").and_then(Value::as_i64) == Some(pid.into()))
}

/// What a guardian said last, whether it lives or not.
pub fn last_published(house: &House) -> Option<Value> {
    serde_json::from_slice(&files::read_small(&house.published()).ok()??).ok()
}
