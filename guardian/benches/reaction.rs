//! The creature's reaction time: from an edit of its source to the new binary, bare and on the guardian's path.
//!
//! Run with `cargo bench -p guardian --bench reaction`; `-- 9` takes 9 rounds instead of 5. Further arguments are other
//! settings to try beside those of the manifest, in cargo's own words, several with a comma between:
//! `-- profile.dev.debug=0 profile.dev.opt-level=1,profile.dev.incremental=false`.
//! The first run builds every dependency; what it builds is kept in the target folder.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// What the plan aims at, from an edit to its binary on two cores. Seconds.
const AIM: f64 = 2.5;
/// A file of the creature's own crate and one of the crate with the heaviest dependencies; a constant in each is touched.
const EDITS: [&str; 2] = ["creature/src/pace.rs", "creature/crates/hands/src/web.rs"];
/// What cargo is given; all else that `cargo bench` sets would change what is built. The toolchain must be named: crates
/// of the registry bring toolchain files, and without a name rustup would obey them, each for its own crate.
const PASSED: &str = "PATH HOME CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN TMPDIR LANG CC CXX AR CARGO_NET_OFFLINE \
    HTTP_PROXY HTTPS_PROXY";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("nothing measured: this is for `cargo bench`");
        return;
    }
    let rounds = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(5_usize);
    let root = clone();
    let asked = arguments.iter().filter(|argument| argument.contains('='));
    let settings: Vec<String> = std::iter::once(String::new()).chain(asked.cloned()).collect();
    let mut houses: Vec<Variant> = settings.iter().map(|settings| Variant::new(&root, settings)).collect();
    for (number, edited) in EDITS.iter().enumerate() {
        touch(&root, edited, number as u64);
    }
    // Rounds go through all variants in turn, so that what else the machine does falls on all alike.
    for round in 0..rounds {
        for house in &mut houses {
            house.measure(round as u64);
        }
    }
    println!(
        "{rounds} rounds; the plan aims at {AIM} s from an edit to its binary; ratios are to the first table\n"
    );
    println!("{:<54} {:>9} {:>9} {:>9} {:>7} {:>7}", "", "median", "least", "cpu", "least", "cpu");
    let first = houses[0].results();
    for house in &houses {
        println!("{}", if house.settings.is_empty() { "as the manifest has it" } else { &house.settings });
        for ((name, median, least, worked), (_, _, base, work)) in house.results().iter().zip(&first) {
            let (slower, dearer) = (least / base, worked / work.max(0.001));
            println!(
                "  {name:<52} {median:>7.3} s {least:>7.3} s {worked:>7.2} s {slower:>6.2}x {dearer:>6.2}x"
            );
        }
    }
    let [edit, .., run, bare] = first.each_ref().map(|(_, median, ..)| *median);
    println!("\n{:<54} {:>8.2}x", "edit of its own crate / aim", edit / AIM);
    println!("{:<54} {:>7.3} s", "the guardian's two calls of cargo cost beside that", run - bare);
}

/// The creature's tracked files, copied to a place of their own where nobody else edits.
fn clone() -> PathBuf {
    let origin = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reaction");
    let _ = fs::remove_dir_all(root.join("creature"));
    let listed = Command::new("git")
        .args(["ls-files", "-co", "--exclude-standard", "-z", "creature", "rustfmt.toml"])
        .current_dir(origin)
        .output()
        .expect("git is wanted to know which files are tracked");
    for name in String::from_utf8(listed.stdout).unwrap().split('\0') {
        let (from, to) = (origin.join(name), root.join(name));
        if from.is_file() {
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(from, to).unwrap();
        }
    }
    root
}

/// Gives the first constant number in a file another value.
fn touch(root: &Path, name: &str, value: u64) {
    let path = root.join(name);
    let text = fs::read_to_string(&path).unwrap();
    let constant = |line: &&str| {
        let (name, value) = line.trim_start_matches("pub ").split_once(" = ").unwrap_or_default();
        name.starts_with("const ") && value.trim_end_matches(';').parse::<u64>().is_ok()
    };
    let line =
        text.lines().find(constant).unwrap_or_else(|| panic!("{name} has no constant number to touch"));
    let (before, _) = line.split_once(" = ").unwrap();
    fs::write(&path, text.replacen(line, &format!("{before} = {};", 100 + value), 1)).unwrap();
}

/// One way to build, with a target folder of its own.
struct Variant {
    root: PathBuf,
    settings: String,
    target: String,
    took: [(&'static str, Vec<Cost>); 5],
}

impl Variant {
    fn new(root: &Path, settings: &str) -> Self {
        let name: String = settings.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        let target = format!("target/creature{name}");
        let names = [
            "edit in src, cargo build",
            "edit in crates/hands, cargo build",
            "edit in src, guardian's path: build, run, first word",
            "nothing to do, guardian's path",
            "the binary alone",
        ];
        let took = names.map(|name| (name, Vec::new()));
        // What both settings build alike, most dependencies, need not be built twice.
        let (base, own) = (root.join("target/creature"), root.join(&target));
        if base.exists() && !own.exists() {
            run(Command::new("cp").args(["-a", "--reflink=auto"]).args([base, own]));
        }
        Self { root: root.to_owned(), settings: settings.to_owned(), target, took }
    }

    fn measure(&mut self, round: u64) {
        // What another variant touched last is not this one's edit.
        self.cargo("build", &[]);
        // A value no earlier run left behind, or cargo would find the old binary.
        let fresh = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        let value = |step: u64| fresh % 1_000_000 * 100 + round % 10 * 10 + step;
        for (step, edited) in EDITS.iter().enumerate() {
            touch(&self.root, edited, value(step as u64));
            self.time(step, |house| house.cargo("build", &[]));
        }
        touch(&self.root, EDITS[0], value(2));
        self.time(2, Self::as_the_guardian);
        self.time(3, Self::as_the_guardian);
        let binary = self.root.join(&self.target).join("debug/creature");
        self.time(4, |_| run(Command::new(&binary).arg("--version")));
    }

    fn time(&mut self, at: usize, act: impl FnOnce(&Self)) {
        let (begun, before) = (Instant::now(), worked());
        act(self);
        let cost = Cost { seconds: begun.elapsed().as_secs_f64(), worked: worked() - before };
        self.took[at].1.push(cost);
    }

    fn as_the_guardian(&self) {
        self.cargo("build", &["--message-format=json-render-diagnostics"]);
        self.cargo("run", &["--quiet", "--", "--version"]);
    }

    fn cargo(&self, verb: &str, more: &[&str]) {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root).env_clear();
        let passed = PASSED.split_whitespace().filter_map(|name| Some((name, std::env::var_os(name)?)));
        // A bench never installs or updates a toolchain.
        command.envs(passed).env("RUSTUP_AUTO_INSTALL", "0");
        for setting in self.settings.split(',').filter(|setting| !setting.is_empty()) {
            command.args(["--config", setting]);
        }
        command
            .args([verb, "--manifest-path", "creature/Cargo.toml", "--target-dir", &self.target])
            .args(more);
        run(&mut command);
    }

    /// Median and least wall time, and median processor time, of each step.
    fn results(&self) -> [(&'static str, f64, f64, f64); 5] {
        self.took.each_ref().map(|(name, took)| {
            let (median, least) = middle(took.iter().map(|cost| cost.seconds));
            let (worked, _) = middle(took.iter().map(|cost| cost.worked));
            (*name, median, least, worked)
        })
    }
}

/// What one step took, on the clock and of the processors: the latter hardly depends on what else the machine does.
struct Cost {
    seconds: f64,
    worked: f64,
}

fn middle(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    (values[values.len() / 2], values[0])
}

/// Processor time of all ended children so far, in seconds.
fn worked() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    // User and system time of waited-for children, in hundredths on every Linux.
    fields[13..15].iter().map(|ticks| ticks.parse::<f64>().unwrap() / 100.0).sum()
}

fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
}
