//! What the guardian costs while nothing happens: memory, wakeups and processor time beside the aims of the plan.
//!
//! Run with `cargo bench -p guardian --bench footprint`; `-- 120` watches for 120 s instead of 30.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing
)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::fs;
use std::time::{Duration, Instant};
use support::House;

/// A creature as quiet as the real one: a beat every 5 s, which is what the guardian has to notice.
const QUIET: &str = "think alive; while :; do beat; sleep 5; done";
/// The limits as they are by default, but for a blessing that is not waited for half a minute.
const SETTINGS: &str = "[limits]\nprobation_s = 1\n";

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("nothing measured: this is for `cargo bench`");
        return;
    }
    let seconds: u64 = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(30);
    let house = House::new(QUIET);
    house.write("owner.toml", SETTINGS);
    let guardian = house.start();
    house.until_blessed(&house.git(&["rev-parse", "HEAD"]));
    // What start-up, the first build and the blessing leave behind is no part of being idle.
    std::thread::sleep(Duration::from_secs(3));
    let settled = Cost::of(guardian.pid());
    let begun = Instant::now();
    std::thread::sleep(Duration::from_secs(seconds));
    let later = Cost::of(guardian.pid());
    let minutes = begun.elapsed().as_secs_f64() / 60.0;
    guardian.stop();
    let per_minute = |one: f64, other: f64| (other - one) / minutes;
    println!("a settled house, watched for {seconds} s; the guardian looks once a second\n");
    println!("{:<40} {:>10} {:>10}", "", "measured", "aim");
    row("resident (VmRSS) when settled, MB", settled.resident_mb, "< 6");
    row("resident at the end, MB", later.resident_mb, "< 6");
    row("  of it its own (anonymous), MB", later.anonymous_mb, "");
    row("  proportional (Pss), MB", later.proportional_mb, "");
    row("resident, most ever (VmHWM), MB", later.most_mb, "");
    row("growth while idle, MB", later.resident_mb - settled.resident_mb, "0");
    row("wakeups a minute (voluntary switches)", per_minute(settled.wakeups, later.wakeups), "about 60");
    row("preempted a minute", per_minute(settled.preempted, later.preempted), "");
    row("processor time a minute, ms", per_minute(settled.ran_ms, later.ran_ms), "");
}

fn row(name: &str, measured: f64, aim: &str) {
    println!("{name:<40} {measured:>10.2} {aim:>10}");
}

/// What the kernel counts of a process.
struct Cost {
    resident_mb: f64,
    most_mb: f64,
    anonymous_mb: f64,
    proportional_mb: f64,
    wakeups: f64,
    preempted: f64,
    ran_ms: f64,
}

impl Cost {
    fn of(pid: i32) -> Self {
        let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let (status, rollup, schedule) = (read("status"), read("smaps_rollup"), read("schedstat"));
        let ran_ns: f64 = schedule.split_whitespace().next().and_then(|ns| ns.parse().ok()).unwrap_or(0.0);
        Self {
            resident_mb: field(&status, "VmRSS:") / 1_024.0,
            most_mb: field(&status, "VmHWM:") / 1_024.0,
            anonymous_mb: field(&rollup, "Anonymous:") / 1_024.0,
            proportional_mb: field(&rollup, "Pss:") / 1_024.0,
            wakeups: field(&status, "voluntary_ctxt_switches:"),
            preempted: field(&status, "nonvoluntary_ctxt_switches:"),
            ran_ms: ran_ns / 1e6,
        }
    }
}

fn field(text: &str, name: &str) -> f64 {
    let value =
        text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok());
    value.unwrap_or(0.0)
}
