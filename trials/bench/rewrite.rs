//! The real creature in a clone: a crash loop back to life, and bare cargo.

use crate::bench::row::Row;
use crate::bench::stand_in;
use crate::bench::{Plan, Table};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use trials::clone::Clone;
use trials::{Guardian, House};

/// Builds take their time on a busy machine.
const PATIENCE: Duration = Duration::from_secs(420);
const SETTINGS: &str = "[limits]\nprobation_s = 0.5\nlook_s = 0.1\nrest_s = 0.1\nrest_longest_s = 0.2\n\
    [rest]\nshortest_s = 1\n[model]\nprovider = \"instinct\"\n";
/// A file of the creature's own crate and one of the crate with the heaviest dependencies; a constant in each is touched.
const EDITED: [&str; 2] = ["creature/src/pace.rs", "creature/crates/hands/src/tags.rs"];
/// Where a life is made to end at once, with a note of when.
const DOOMED: (&str, &str) = ("creature/src/panic.rs", "pub fn install() {\n");
/// What cargo is given; all else that cargo sets for a bench would change what is built.
const PASSED: &str =
    "PATH HOME CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN TMPDIR LANG CC CXX AR CARGO_NET_OFFLINE";

#[derive(Default)]
struct Samples {
    kept: Vec<f64>,
    rebuilt: Vec<f64>,
    builds: [Vec<f64>; 2],
    put_back: Vec<f64>,
    start: Vec<f64>,
}

pub fn measure(plan: &Plan) -> Table {
    plan.say("a clone of this repository, warmed with what is built already");
    let (clone, guardian) = settled_clone("survival");
    let house = &clone.house;
    let mut samples = Samples::default();
    let rounds = plan.scaled(3, 1);
    for round in 0..rounds {
        plan.say(&format!("round {} of {rounds}: bare cargo", round + 1));
        order(house, "pause", "paused");
        bare(house, &mut samples);
        plan.say("falls to the kept binary");
        samples.kept.extend((0..plan.scaled(2, 1)).map(|_| fall(house, true)));
        plan.say("a fall without one");
        samples.rebuilt.push(fall(house, false));
    }
    assert_eq!(guardian.stop(), 0);
    table(&samples)
}

/// A clone with a guardian that keeps a settled life.
pub fn settled_clone(name: &'static str) -> (Clone, Guardian) {
    let clone = Clone::named(name);
    clone.house.write("owner.toml", SETTINGS);
    let guardian = stand_in::start(&clone.house);
    until_settled(&clone.house, 0);
    (clone, guardian)
}

/// A blessed life after this one that rests, and no build beside it.
pub fn until_settled(house: &House, after: u64) {
    house.until_within(PATIENCE, "a settled life", || {
        let status = house.status();
        let lives = status["life"].as_u64() > Some(after) && status["blessed"] == true;
        let builds = house.leftovers().into_iter().any(is_build);
        lives && house.read(".self/heartbeat").contains("resting") && !builds
    });
}

fn is_build(pid: i32) -> bool {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    ["cargo", "rustc", "cc", "ld", "rust-lld"].contains(&name.trim())
}

pub fn life(house: &House) -> u64 {
    let beat: Value = serde_json::from_str(&house.read(".self/heartbeat")).unwrap_or_default();
    beat["life"].as_u64().unwrap_or(0)
}

/// Milliseconds of the wall clock at the first beat of a life after this one.
pub fn first_beat(house: &House, after: u64) -> f64 {
    let begun = Instant::now();
    while life(house) <= after {
        assert!(begun.elapsed() < PATIENCE, "no life after {after}:\n{:#}", house.status());
        std::thread::sleep(Duration::from_millis(1));
    }
    wall()
}

pub fn wall() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64() * 1e3
}

fn order(house: &House, order: &str, phase: &str) {
    if house.status()["phase"] == phase {
        return;
    }
    assert!(house.ask(&[order]).status.success(), "the order to {order} failed");
    house.until(phase, || house.status()["phase"] == phase);
}

/// Index of the line, the left side and the value of the first constant that is a number.
fn constant(text: &str) -> (usize, &str, u64) {
    let found = text.lines().enumerate().find_map(|(at, line)| {
        let (name, value) = line.split_once(" = ")?;
        let is_constant = name.trim_start_matches("pub ").starts_with("const ");
        is_constant.then_some((at, name, value.trim_end_matches(';').parse().ok()?))
    });
    found.expect("no constant number to touch")
}

/// Bare cargo in the same folder while the guardian pauses: edits, the tree put back, and the binary started.
fn bare(house: &House, samples: &mut Samples) {
    for (edited, took) in EDITED.into_iter().zip(&mut samples.builds).rev() {
        cargo_build(house);
        let text = house.read(edited);
        let (at, name, value) = constant(&text);
        let line = text.lines().nth(at).unwrap();
        house.write(edited, &text.replacen(line, &format!("{name} = {};", value + 1), 1));
        took.push(cargo_build(house));
        house.git(&["checkout", "-q", "--", "creature"]);
    }
    samples.put_back.push(cargo_build(house));
    for _ in 0..5 {
        samples.start.push(bare_start(house));
    }
}

/// Seconds.
fn cargo_build(house: &House) -> f64 {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let passed = PASSED.split_whitespace().filter_map(|name| Some((name, std::env::var_os(name)?)));
    // A bench never installs or updates a toolchain.
    command.current_dir(&house.root).env_clear().envs(passed).env("RUSTUP_AUTO_INSTALL", "0");
    command.args(["build", "--manifest-path", "creature/Cargo.toml", "--target-dir", "target/creature"]);
    let begun = Instant::now();
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    begun.elapsed().as_secs_f64()
}

/// Milliseconds from the start of the creature's binary, in an empty house, to its first beat.
fn bare_start(house: &House) -> f64 {
    let folder = house.folder.path().join("bare");
    fs::create_dir_all(folder.join(".self")).unwrap();
    fs::write(folder.join("owner.toml"), SETTINGS).unwrap();
    let beat = folder.join(".self/heartbeat");
    let _ = fs::remove_file(&beat);
    let begun = Instant::now();
    let mut command = Command::new(house.path("target/creature/debug/creature"));
    command.env_clear().env("FERAL_HOUSE", &folder).env("FERAL_LIFE", "1").current_dir(&folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    while !fs::metadata(&beat).is_ok_and(|beat| beat.len() > 0) && begun.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_micros(200));
    }
    let took = begun.elapsed().as_secs_f64() * 1e3;
    child.kill().unwrap();
    child.wait().unwrap();
    took
}

/// Commits a creature that dies at once, and waits until it has fallen; milliseconds from the third death to a beat.
fn fall(house: &House, kept: bool) -> f64 {
    order(house, "pause", "paused");
    let (path, place) = DOOMED;
    let text = house.read(path);
    assert!(text.contains(place), "{path} is not as this bench knows it");
    let falls = house.told("fall").len();
    let doom = format!(
        "{place}    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);\n    \
         let _ = std::fs::write(\".self/workspace/died\", now.map_or(0, |now| now.as_nanos()).to_string());\n    \
         std::process::exit({});\n    #[allow(unreachable_code)]\n",
        // Another tree each time: one that fell is not tried again.
        falls + 1
    );
    house.write(path, &text.replacen(place, &doom, 1));
    house.commit("a creature that dies at once");
    if !kept {
        for entry in fs::read_dir(house.path(".self/guardian/binaries")).unwrap().flatten() {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    let last = life(house);
    order(house, "resume", "building");
    let beats = first_beat(house, last);
    let died: f64 = house.read(".self/workspace/died").parse().unwrap();
    let told = house.told("fall");
    assert_eq!(told.len(), falls + 1, "{told:?}");
    assert_eq!((told[falls]["deaths"].as_u64(), life(house)), (Some(3), last + 4), "{told:?}");
    let came = house.told("life").pop().unwrap();
    assert_eq!(came["kept_binary"], kept, "{came}");
    until_settled(house, last);
    assert!(Path::new(&house.path(".self/guardian/binaries")).read_dir().unwrap().next().is_some());
    beats - died / 1e6
}

fn table(samples: &Samples) -> Table {
    let start = "bare start of the same binary to its first beat";
    let mut rows = Vec::new();
    let method = "Bare cargo on a touched constant, in the clone while the guardian pauses.";
    for (edited, took) in EDITED.into_iter().zip(&samples.builds) {
        let what = format!("edit of `{edited}` → binary");
        let aim = if edited == EDITED[0] { "< 2.5 s" } else { "" };
        rows.push(Row::new(&what, "s", took, method).aim(aim));
    }
    let method = "A commit of the real creature that exits at once falls after three deaths; from the exit of the third \
        to the first beat of what was put back.";
    let kept = Row::new("third death → living creature, blessed binary", "ms", &samples.kept, method);
    rows.push(kept.against(start, &samples.start).aim("< 500 ms"));
    let rebuilt: Vec<f64> = samples.rebuilt.iter().map(|took| took / 1e3).collect();
    let floor = samples.put_back.iter().zip(samples.start.chunks(5));
    let floor: Vec<f64> = floor.map(|(build, starts)| build + starts[0] / 1e3).collect();
    let method = "The same with the kept binaries removed beforehand, so that it is built before it lives.";
    let rebuilt = Row::new("third death → living creature, by rebuild", "s", &rebuilt, method);
    rows.push(rebuilt.against("bare `cargo build` of the tree put back, and a bare start", &floor));
    Table::new(rows).note(
        "Lives before a blessing go through `cargo run`, which costs tenths of a second; the kept binary is hashed \
         before it runs."
            .into(),
    )
}
