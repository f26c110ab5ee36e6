//! The real creature over whatever lies in its house: pipes, links, folders and sizes in place of its files.

use crate::house::{Living, TempHouse, wait_for};
use fastrand::Rng;
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a life may take to its first turn: the guardian waits 30 s, and a busy machine is slower than its own.
const PATIENCE: Duration = Duration::from_secs(60);

const NEVER_WAITS: i32 = OFlag::O_NONBLOCK.bits() | OFlag::O_NOFOLLOW.bits();

/// Starts a life; it has to beat and to finish a turn. Says what happened instead.
fn comes_to_a_turn(house: &TempHouse, life: u64, safe: bool) -> Result<(), String> {
    let mut command = house.command(life);
    if safe {
        command.env("FERAL_SAFE", "1");
    }
    let mut living = Living { child: command.spawn().unwrap() };
    let began = Instant::now();
    loop {
        if turns(&house.path(".self/heartbeat"), life).is_some_and(|turns| turns > 0) {
            return Ok(());
        }
        if let Some(status) = living.ended() {
            return Err(format!("ended with {status}:\n{}", end(&house.log())));
        }
        if began.elapsed() > PATIENCE {
            return Err(format!("no turn in {PATIENCE:?}:\n{}", end(&house.log())));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn end(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

/// The turns that this life has finished by its own word, whatever lies in the heartbeat's place.
fn turns(path: &Path, life: u64) -> Option<u64> {
    let file = File::options().read(true).custom_flags(NEVER_WAITS).open(path).ok()?;
    let mut text = Vec::new();
    file.take(8_192).read_to_end(&mut text).ok()?;
    let beat: Value = serde_json::from_slice(&text).ok()?;
    (beat["life"] == life).then(|| beat["turns"].as_u64()).flatten()
}

fn pipe(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    nix::unistd::mkfifo(path, Mode::from_bits_truncate(0o600)).unwrap();
}

#[test]
fn safe_mode_hears_the_owner_and_answers_whatever_else_lies_there() {
    let house = TempHouse::new();
    for name in SHARED.iter().filter(|name| **name != ".self/inbox.jsonl") {
        pipe_unless_there(&house.path(name));
    }
    house.say(&json!({"at": "2026-01-01T00:00:00.000Z", "text": "status"}).to_string());
    let mut command = house.command(3);
    let living = Living { child: command.env("FERAL_SAFE", "1").spawn().unwrap() };
    let memory = house.path(".self/memory.jsonl");
    let told = |wanted: fn(&Value) -> bool| {
        let is_file = fs::symlink_metadata(&memory).is_ok_and(|found| found.is_file());
        let mut said = is_file.then(|| house.records()).into_iter().flatten();
        said.any(|record| record.kind == "message" && wanted(&record.data)).then_some(())
    };
    wait_for("the owner's word in memory", || {
        told(|data| data["from"] == "owner" && data["text"] == "status")
    });
    wait_for("an answer", || told(|data| data["from"] != "owner"));
    assert!(turns(&house.path(".self/heartbeat"), 3).is_some(), "no beat");
    assert!(living.leave().success(), "{}", house.log());
}

fn pipe_unless_there(path: &Path) {
    let free = path.parent().is_some_and(|folder| fs::create_dir_all(folder).is_ok());
    if free && fs::symlink_metadata(path).is_err() {
        nix::unistd::mkfifo(path, Mode::from_bits_truncate(0o600)).unwrap();
    }
}

/// Files and folders of the house that a creature can touch and that a life may look at; deeper ones first.
const SHARED: [&str; 61] = [
    ".self/workspace/draft/edit.json",
    ".self/workspace/draft/draft.json",
    ".self/workspace/draft/creature/src/main.rs",
    ".self/workspace/draft/creature/Cargo.toml",
    ".self/workspace/draft/creature",
    ".self/workspace/draft",
    ".self/workspace/draft.aside/draft.json",
    ".self/workspace/draft.aside",
    ".self/workspace/draft.new",
    ".self/workspace/draft.lock",
    ".self/workspace/results/1.txt",
    ".self/workspace/results",
    ".self/workspace/rehearsal",
    ".self/workspace/tmp/left",
    ".self/workspace/tmp",
    ".self/workspace/home",
    ".self/mind/conversations/work.jsonl",
    ".self/mind/conversations/talk-main.jsonl",
    ".self/mind/conversations/.work.jsonl.aside",
    ".self/mind/conversations",
    ".self/mind/dreams/20260101T000000.000Z/agenda.json",
    ".self/mind/dreams/20260101T000000.000Z/report.json",
    ".self/mind/dreams",
    ".self/mind/cursors.json",
    ".self/mind/.cursors.json.aside",
    ".self/mind/instinct.json",
    ".self/mind/agenda.json",
    ".self/mind/.agenda.json.aside",
    ".self/mind/bookkeeping.jsonl",
    ".self/mind/bookkeeping.before.jsonl",
    ".self/mind/sessions.json",
    ".self/mind/talks.json",
    ".self/mind/thinking.txt",
    ".self/mind/servers.json",
    ".self/mind/feed.jsonl",
    ".self/mind/feed.before.jsonl",
    ".self/mind/scanned.json",
    ".self/mind/looked.json",
    ".self/mind/index.sqlite",
    ".self/mind/index.sqlite-journal",
    ".self/mind/index.garbage.sqlite",
    ".self/mind/dream.json",
    ".self/mind/tests.json",
    ".self/mind/request.json",
    ".self/mind",
    ".self/snapshots/29990101T000000.000Z.md",
    ".self/snapshots",
    ".self/memory.jsonl",
    ".self/memory-20260101T000000.000Z.jsonl",
    ".self/heartbeat",
    ".self/inbox.jsonl",
    ".self/asks.jsonl",
    ".self/budget.json",
    ".self/guardian.json",
    ".self/settings.json",
    ".self/typing",
    ".self/history.jsonl",
    "self/notes/a.md",
    "self/facts.md",
    "self/HEARTBEAT.md",
    "self/scratch.md",
];

const MORE: [&str; 12] = [
    "self/diary.md",
    "self/skills/a.md",
    "self/skills/b/SKILL.md",
    "skills/c/SKILL.md",
    "self/prompts/summary.md",
    "self/prompts/dream.md",
    "self/prompts/talked.md",
    "self/drafts",
    "self/notes",
    "self/skills",
    ".self/purpose.md",
    ".self/workspace",
];

const TEXTS: [&str; 9] = [
    "",
    "{",
    "{}",
    "[]",
    "null",
    "{\"at\":\"2026-01-01T00:00:00.000Z\",\"life\":1,\"kind\":\"thought\",\"data\":{\"thought\":18446744073709551615}}\n",
    "{\"at\":\"9999-12-31T23:59:59.999Z\",\"life\":-1,\"kind\":7,\"data\":[]}\n{\"at\":\"",
    "{\"texts\":{\"../../../../escaped\":\"x\",\"creature/src/main.rs\":null},\"state\":{}}",
    "{\"under_way\":{\"name\":\"../..\",\"at\":\"2026-01-01T00:00:00Z\"},\"since\":\"2026-01-01T00:00:00Z\",\"list\":[{}]}",
];

/// Puts something of a random shape at a path; what is in the way there stays as it is.
fn put(house: &TempHouse, rng: &mut Rng, name: &str) -> String {
    let path = house.path(name);
    // Nothing is made or removed outside of the house, wherever links of an earlier shape lead.
    let root = house.path("").canonicalize().unwrap();
    let folder = path.parent().filter(|folder| fs::create_dir_all(folder).is_ok());
    if !folder.and_then(|folder| folder.canonicalize().ok()).is_some_and(|folder| folder.starts_with(&root)) {
        return format!("{name}: nothing");
    }
    if rng.u8(..4) > 0 {
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
    }
    // To write to a pipe or through a link that stayed would wait for ever, or lead out of the house.
    if fs::symlink_metadata(&path).is_ok() {
        return format!("{name}: as it was");
    }
    let shape = rng.usize(..16);
    let _ = match shape {
        0 | 1 => nix::unistd::mkfifo(&path, Mode::from_bits_truncate(0o600)).map_err(Into::into),
        2 => symlink("/dev/zero", &path),
        3 => symlink(&path, &path),
        4 => symlink(house.path("nowhere"), &path),
        5 => symlink(
            house.path(rng.choice(["self", ".self", ".self/mind", "elsewhere"]).unwrap_or("self")),
            &path,
        ),
        6 => symlink(house.path(rng.choice(SHARED).unwrap_or_default()), &path),
        7 => UnixListener::bind(&path).map(drop),
        8 => fs::create_dir(&path),
        9 => full(&path, rng),
        10 => deep(&path, rng),
        11 => File::create(&path).and_then(|file| file.set_len(rng.u64(1..most_bytes().min(6 << 30)))),
        12 => {
            let mut bytes = vec![0; rng.usize(..70_000)];
            rng.fill(&mut bytes);
            fs::write(&path, bytes)
        }
        13 => fs::write(&path, "[".repeat(rng.usize(..300_000))),
        14 => fs::write(&path, "\n".repeat(rng.usize(..3_000_000))),
        _ => fs::write(&path, rng.choice(TEXTS).unwrap_or_default()),
    };
    if rng.u8(..4) == 0 && fs::symlink_metadata(&path).is_ok_and(|found| !found.is_symlink()) {
        let _ = fs::set_permissions(&path, Permissions::from_mode(rng.u32(..0o1000)));
    }
    format!("{name}: {shape}")
}

/// A folder of many things.
fn full(path: &Path, rng: &mut Rng) -> std::io::Result<()> {
    fs::create_dir(path)?;
    for at in 0..rng.usize(..400) {
        let ending = rng.choice(["md", "json", "jsonl", "d"]).unwrap_or("md");
        let name = path.join(format!(
            "{}-{at}.{ending}",
            rng.choice(["talk", "ended", "20260101T000000.000Z"]).unwrap_or("a")
        ));
        match rng.u8(..3) {
            0 => nix::unistd::mkfifo(&name, Mode::from_bits_truncate(0o600))?,
            1 => fs::create_dir(&name)?,
            _ => fs::write(&name, rng.choice(TEXTS).unwrap_or_default())?,
        }
    }
    Ok(())
}

/// A folder in a folder in a folder; the last one may be out of any path's reach.
fn deep(path: &Path, rng: &mut Rng) -> std::io::Result<()> {
    let mut at = path.to_owned();
    for _ in 0..rng.usize(1..800) {
        at.push(OsStr::new("d"));
    }
    fs::create_dir_all(at)
}

/// One house of random shapes; what was put where, and what became of the life.
fn tried(seed: u64) -> (String, Result<(), String>) {
    let mut rng = Rng::with_seed(seed);
    let house = TempHouse::in_memory();
    house.write(".self/workspace/draft/draft.json", "{}");
    house.write(".self/workspace/draft/creature/src/main.rs", "fn main() {}");
    house.write(".self/mind/cursors.json", "{}");
    fs::create_dir(house.path("elsewhere")).unwrap();
    let names: Vec<&str> = SHARED.iter().chain(&MORE).copied().collect();
    let put: Vec<String> = (0..rng.usize(1..14))
        .map(|_| {
            let name = names[rng.usize(..names.len())];
            put(&house, &mut rng, name)
        })
        .collect();
    let line = File::options()
        .append(true)
        .create(true)
        .custom_flags(NEVER_WAITS)
        .open(house.path(".self/inbox.jsonl"));
    let _ = line.and_then(|mut file| file.write_all(b"hello\n"));
    let lived = comes_to_a_turn(&house, 1, rng.u8(..4) == 0);
    (put.join(", "), lived)
}

/// The largest file that may be written here: one byte more ends the process, and tests beside a first life have the
/// owner's limit.
fn most_bytes() -> u64 {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max file size"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(u64::MAX)
}

mod probation {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    const FIXED: u64 = 24;

    fn number(name: &str) -> Option<u64> {
        std::env::var(name).ok()?.parse().ok()
    }

    /// Seeds from nought on are the same each time: these tests decide about a self, and must not decide by chance.
    /// `FERAL_SHAPES` tries more of them, from `FERAL_SHAPES_SEED` on, and a random one.
    #[test]
    fn a_life_comes_to_its_first_turn_whatever_lies_in_its_house() {
        let (first, most) =
            (number("FERAL_SHAPES_SEED").unwrap_or(0), number("FERAL_SHAPES").unwrap_or(FIXED));
        let random = number("FERAL_SHAPES").map(|_| fastrand::u64(1 << 32..1 << 48));
        random.inspect(|seed| println!("the random seed is {seed}"));
        let next = AtomicU64::new(0);
        let failures = std::sync::Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(seed) =
                            (if at < most { Some(first + at) } else { random.filter(|_| at == most) })
                        else {
                            return;
                        };
                        let (put, lived) = tried(seed);
                        if let Err(said) = lived {
                            failures.lock().unwrap().push(format!("seed {seed} ({put}): {said}"));
                        }
                    }
                });
            }
        });
        let failures = failures.into_inner().unwrap();
        assert!(failures.is_empty(), "{} of {most}:\n{}", failures.len(), failures.join("\n\n"));
    }

    #[test]
    fn a_pipe_or_a_link_to_an_endless_device_in_the_draft_keeps_no_life_from_its_first_beat() {
        for name in ["edit.json", "draft.json"] {
            for endless in [false, true] {
                for safe in [false, true] {
                    let house = TempHouse::new();
                    let path = house.path(".self/workspace/draft").join(name);
                    match endless {
                        false => pipe(&path),
                        true => {
                            fs::create_dir_all(path.parent().unwrap()).unwrap();
                            symlink("/dev/zero", &path).unwrap();
                        }
                    }
                    let lived = comes_to_a_turn(&house, 1, safe);
                    lived.unwrap_or_else(|said| panic!("{name}, endless: {endless}, safe: {safe}: {said}"));
                }
            }
        }
    }
}
