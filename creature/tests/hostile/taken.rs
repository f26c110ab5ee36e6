//! Processor time of a test's thread: neither a busy machine nor the tests beside it make it look slow.

use std::time::Duration;

/// Returns the processor time taken so far, by clock ticks of 10 ms (proc_pid_stat(5)).
pub fn taken() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    // The program's name, in brackets, may contain anything, so fields are counted from its end.
    let fields = stat.rsplit_once(')').unwrap().1.split_ascii_whitespace();
    let ticks: u64 = fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}
