//! What the figures were measured on and against: enough to judge them by, nothing that names a machine.

use crate::bench::supervisors::{NAMES, find};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

pub fn facts() -> Value {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    // What follows the dash is a builder's own name for it.
    let kernel = kernel.trim().split('-').next().unwrap_or_default().to_owned();
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory_kb = memory.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    json!({
        "cpu": model.map_or("unknown processor", |(_, model)| model.trim()),
        "cores": std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        "memory_gb": memory_kb >> 20,
        "kernel": kernel,
        "file_system": file_system(&std::env::temp_dir()),
        "load_before": load.split(' ').next().unwrap_or_default(),
        "commit": commit(),
        "date": format!("{}", jiff::Timestamp::now()).get(..10),
        "versions": versions(),
    })
}

/// The file system a folder is on: of the mounts above it, the last with the longest name.
fn file_system(folder: &Path) -> String {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let above = fields.filter(|fields| fields.len() > 2 && folder.starts_with(fields[1]));
    above.max_by_key(|fields| fields[1].len()).map_or("unknown".into(), |fields| fields[2].to_owned())
}

fn commit() -> String {
    let name = said("git", &["rev-parse", "--short", "HEAD"]);
    let changed =
        !said("git", &["status", "--porcelain", "--", "guardian", "creature", "scripts"]).is_empty();
    if changed { format!("{name}, with changes not committed") } else { name }
}

fn versions() -> Vec<String> {
    let mut versions = vec![said(&std::env::var("CARGO").unwrap_or("cargo".into()), &["--version"])];
    let cargo = versions[0].split(' ').take(2).collect::<Vec<_>>().join(" ");
    versions[0] = cargo;
    for (name, program, package) in NAMES {
        let version = said("dpkg-query", &["-W", "-f", "${Version}", package]);
        versions.push(match (find(program).is_some(), version.as_str()) {
            (false, _) => format!("{name}: not installed"),
            (true, "") => format!("{name} of unknown version"),
            (true, version) => format!("{name} {version}"),
        });
    }
    versions
}

/// What a command says, or nothing.
fn said(program: &str, args: &[&str]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(program).args(args).current_dir(folder.parent().unwrap()).output();
    output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
