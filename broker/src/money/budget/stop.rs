//! The latch: a provider that refuses the key or wants money is not asked again until the owner acts.

use crate::ground::files;
use crate::ground::house::House;
use crate::ground::refusal::Refusal;
use crate::ledger::chain;
use crate::ledger::sums::Stopped;

/// What changes when the owner acts: the keys, the settings, `.env`, or the guardian, which is our parent.
pub fn fingerprint(house: &House, keys: &[String]) -> String {
    let parent = nix::unistd::getppid();
    // When it was started tells it from a later one of the same number.
    let stat = std::fs::read_to_string(format!("/proc/{parent}/stat")).unwrap_or_default();
    let started = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(19));
    let files = [house.owner_settings(), house.secrets()].map(|path| files::mark(&path));
    let text = format!("{keys:?} {files:?} {parent} {started:?}");
    chain::hash(text.as_bytes()).chars().take(16).collect()
}

pub fn refusal(stopped: &Stopped) -> Refusal {
    let message = format!(
        "{} answered {} and is not asked again until the owner acts",
        stopped.provider, stopped.status
    );
    Refusal::new(403, "stopped_until_owner", message, stopped.hint.clone())
}
