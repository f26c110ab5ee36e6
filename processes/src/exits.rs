//! How a process ended, as the kernel tells it: in words, by which signal, and how many were killed for lack of memory.

use ground::files;
use nix::sys::wait::WaitStatus;

pub fn signal(status: WaitStatus) -> Option<i32> {
    if let WaitStatus::Signaled(_, signal, _) = status { Some(signal as i32) } else { None }
}

/// Whether the program ended by itself, and well.
pub fn is_well(status: WaitStatus) -> bool {
    matches!(status, WaitStatus::Exited(_, 0))
}

pub fn describe(status: WaitStatus) -> String {
    if let WaitStatus::Exited(_, code) = status {
        format!("exit status {code}")
    } else if let WaitStatus::Signaled(_, signal, _) = status {
        format!("signal {}", signal.as_str())
    } else {
        format!("{status:?}")
    }
}

/// How many processes the kernel has killed for lack of memory since boot.
pub fn memory_kills() -> u64 {
    let text = files::system("/proc/vmstat").unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok()).unwrap_or(0)
}
