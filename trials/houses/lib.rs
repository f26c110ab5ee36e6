//! Houses to try the guardian in: real git repositories, real processes, and a toolchain whose language is shell.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]
#![allow(clippy::new_without_default, clippy::indexing_slicing, clippy::wildcard_enum_match_arm)]

pub mod broker;
pub mod caps;
pub mod clone;
pub mod disk;
pub mod driven;
pub mod golden;
pub mod lease;
pub mod machines;
pub mod model;
pub mod programs;
pub mod terminal;

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// How long any awaited event may take before a test gives up on it. Generous: the machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(300);
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Stands in for cargo where only behaviour matters: the creature's language is shell. To the guardian's control runs it
/// says yes, unless a script in `creature/` has another answer.
const CARGO: &str = r#"#!/bin/sh
case "$*" in *target/creature/tmp/control/Cargo.toml*)
  [ ! -e creature/control.sh ] || exec sh creature/control.sh; exit 0;;
esac
case "$1" in
test) [ ! -e creature/test.sh ] || exec sh creature/test.sh "$@"; exit 0;;
tree|metadata|update) [ ! -e creature/$1.sh ] || sh creature/$1.sh;;
build)
  if [ -e creature/build.sh ]; then sh creature/build.sh || exit 101; fi
  if grep -q '^# does not build' creature/creature.sh; then
    echo '{"reason":"compiler-message","package_id":"path+file:///creature","message":{"level":"error","rendered":"error: it does not build","spans":[{"is_primary":true}]}}'; exit 101
  fi
  mkdir -p target/creature/debug
  new=target/creature/debug/creature.new
  cp creature/creature.sh $new && chmod +x $new && mv $new target/creature/debug/creature || exit 101
  printf '{"reason":"compiler-artifact","executable":"%s"}\n' "$PWD/target/creature/debug/creature";;
run) [ ! -e creature/run.sh ] || exec sh creature/run.sh; exec target/creature/debug/creature;;
esac
"#;

/// What every shell creature can do: beat, think, ask.
const BODY: &str = r#"#!/bin/sh
turns=0
beat() { printf '{"life":%s,"pid":%s,"turns":%s,"thoughts":%s,"stage":"resting","mind":"shell"}\n' "$FERAL_LIFE" "$$" "$turns" "$turns" > .self/heartbeat; }
think() { turns=$((turns+1)); printf '{"at":"2026-01-01T00:00:00.000Z","life":%s,"kind":"thought","data":{"monologue":"%s","intent":"","thought":%s}}\n' "$FERAL_LIFE" "$1" "$turns" >> .self/memory.jsonl; beat; }
ask() { printf '{"id":"%s-%s","life":%s,"kind":"%s","summary":"%s"}' "$FERAL_LIFE" "$3" "$FERAL_LIFE" "$1" "$2" > .self/mind/request.new; mv .self/mind/request.new .self/mind/request.json; }
live() { while :; do beat; sleep 0.1; done; }
blessed() { until grep -q '"blessed": true' .self/guardian.json && grep -q "\"life\": $FERAL_LIFE," .self/guardian.json; do beat; sleep 0.05; done; }
"#;

/// A creature that thinks once and beats on.
pub const SOUND: &str = "think alive; live";

/// Lives soundly, then puts `life` in its own place and asks to be reborn.
pub fn becomes(life: &str) -> String {
    let life = life.replace('\'', "'\\''");
    format!(
        "think first; blessed; head -n 7 creature/creature.sh > creature/next; printf '%s\\n' '{life}' >> creature/next; \
         mv creature/next creature/creature.sh; ask rebirth 'another life' r; exit 0"
    )
}

/// Limits a test has time for. Only the order of things is asserted, never how long they took.
const SETTINGS: &str = "[limits]\nboot_s = 10\nbeat_s = 10\nprobation_s = 0.3\ngrace_s = 1\nrest_s = 0.05\nrest_longest_s = 0.4\nparked_s = 0.5\nlook_s = 0.03\ndisk_free_mib = 0\n";

pub struct House {
    pub folder: TempDir,
    pub root: PathBuf,
}

impl House {
    /// A house with a shell creature that runs `life` after the common body.
    pub fn new(life: &str) -> Self {
        Self::new_in(&std::env::temp_dir(), life)
    }

    pub fn new_in(place: &Path, life: &str) -> Self {
        // A shell starts what runs in its background with Ctrl-C ignored, and what is started here would take that over.
        static HEARS: std::sync::Once = std::sync::Once::new();
        HEARS.call_once(|| {
            // SAFETY: the signal's default; no handler runs.
            #[allow(unsafe_code)]
            unsafe {
                _ = nix::sys::signal::signal(nix::sys::signal::SIGINT, nix::sys::signal::SigHandler::SigDfl);
            }
        });
        let house = Self::empty(place);
        house.write("creature/Cargo.toml", "[package]\nname = \"creature\"\n");
        house.write("creature/Cargo.lock", "[[package]]\n");
        house.write("PURPOSE.md", "Be.\n");
        house.write("README.md", "A house.\n");
        house.write("self/diary.md", "\n");
        house.write("owner.toml", SETTINGS);
        house.write(".gitignore", "/target/\n");
        house.write(".self/.gitignore", "*\n!.gitignore\n");
        house.write_life(life);
        house.commit("first");
        house
    }

    /// A house of shell creatures whose repository `git fast-export` wrote down.
    pub fn of_repository(export: &Path) -> Self {
        let house = Self::empty(&std::env::temp_dir());
        let mut import = Command::new("git");
        import.args(["fast-import", "--quiet"]).current_dir(&house.root);
        let status = import.stdin(fs::File::open(export).unwrap()).status().unwrap();
        assert!(status.success(), "{} is no repository", export.display());
        house.git(&["reset", "-q", "--hard"]);
        house
    }

    fn empty(place: &Path) -> Self {
        let folder = tempfile::Builder::new().prefix("house-").tempdir_in(place).unwrap();
        let root = folder.path().canonicalize().unwrap().join("house");
        fs::create_dir_all(&root).unwrap();
        let house = Self { folder, root };
        let cargo = house.cargo();
        fs::write(&cargo, CARGO).unwrap();
        fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
        house.git(&["init", "-q", "-b", "main"]);
        house.git(&["config", "user.name", "owner"]);
        house.git(&["config", "user.email", "owner@house.invalid"]);
        house
    }

    /// The guardian, with no broker beside it unless one is put there.
    pub fn program(&self) -> PathBuf {
        let own = self.folder.path().join("bin/guardian");
        if own.exists() { own } else { broker::alone().to_owned() }
    }

    fn cargo(&self) -> PathBuf {
        self.folder.path().join("cargo")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn write_life(&self, life: &str) {
        self.write("creature/creature.sh", &format!("{BODY}{life}\n"));
    }

    pub fn read(&self, name: &str) -> String {
        text(&self.path(name))
    }

    pub fn settings(&self, more: &str) {
        self.write("owner.toml", &format!("{SETTINGS}{more}\n"));
    }

    pub fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git").args(args).current_dir(&self.root).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.program());
        command.args(args).current_dir(&self.root).env("CARGO", self.cargo()).env("RUST_LOG", "debug");
        // Whoever runs the tests at a desktop is not told of what happens in them.
        for name in ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::null());
        command
    }

    pub fn ask(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    pub fn start(&self) -> Guardian {
        self.start_by(self.command(&[]))
    }

    /// A guardian as this command starts it.
    pub fn start_by(&self, mut command: Command) -> Guardian {
        let log = fs::File::options().create(true).append(true).open(self.folder.path().join("guardian.log"));
        let log = log.unwrap();
        let child = command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
        Guardian { child, root: self.root.clone(), log: self.folder.path().join("guardian.log") }
    }

    /// The owner says a word.
    pub fn say(&self, text: &str) {
        let mut inbox =
            fs::File::options().create(true).append(true).open(self.path(".self/inbox.jsonl")).unwrap();
        writeln!(inbox, "{}", serde_json::json!({"text": text})).unwrap();
    }

    pub fn told(&self, what: &str) -> Vec<Value> {
        lines(&self.path(".self/history.jsonl")).into_iter().filter(|line| line["what"] == what).collect()
    }

    pub fn deaths(&self) -> Vec<Value> {
        lines(&self.path(".self/deaths.jsonl"))
    }

    pub fn thoughts(&self) -> Vec<Value> {
        lines(&self.path(".self/memory.jsonl")).into_iter().filter(|line| line["kind"] == "thought").collect()
    }

    pub fn status(&self) -> Value {
        serde_json::from_str(&self.read(".self/guardian.json")).unwrap_or(Value::Null)
    }

    /// Waits until `true`, or says what the house looked like.
    pub fn until(&self, what: &str, condition: impl FnMut() -> bool) {
        self.until_within(PATIENCE, what, condition);
    }

    pub fn until_within(&self, patience: Duration, what: &str, mut condition: impl FnMut() -> bool) {
        let looks = (patience.as_millis() / BETWEEN_LOOKS.as_millis()) as u32;
        if looks_for(looks, || condition().then_some(())).is_none() {
            let log = fs::read_to_string(self.folder.path().join("guardian.log")).unwrap_or_default();
            let tail: Vec<&str> = log.lines().rev().take(60).collect();
            let tail: Vec<&str> = tail.into_iter().rev().collect();
            panic!("waited in vain: {what}\n{}\nstatus: {:#}", tail.join("\n"), self.status());
        }
    }

    pub fn until_blessed(&self, commit: &str) {
        self.until(&format!("{commit} to be blessed"), || {
            let status = self.status();
            status["blessed"] == true && status["commit"] == commit
        });
    }

    /// Processes of this house that still run.
    pub fn leftovers(&self) -> Vec<i32> {
        marked(&self.root)
    }

    pub fn creature_differs_from(&self, commit: &str) -> bool {
        let diff = self.git(&["diff", "--stat", commit, "--", "creature"]);
        let untracked = self.git(&["status", "--porcelain", "--ignored", "--", "creature"]);
        !diff.is_empty() || !untracked.is_empty()
    }
}

/// A house whose guardian runs and whose first life is trusted, and its commit.
pub fn living(life: &str) -> (House, Guardian, String) {
    let house = House::new(life);
    let first = house.git(&["rev-parse", "HEAD"]);
    let guardian = house.start();
    house.until_blessed(&first);
    (house, guardian, first)
}

/// What a command printed, on both streams.
pub fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Processes with the mark of the house at this path in their environment; an init of ours is told by what it began with.
fn marked(root: &Path) -> Vec<i32> {
    let mark = format!("FERAL_TREE={}", house::House::new(root).identity());
    let pids =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &i32| {
        fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|bytes| bytes.split(|byte| *byte == 0).any(|pair| pair == mark.as_bytes()))
    })
    .collect()
}

/// Looks until there is something, and gives up after so many looks, not seconds: a machine may stand still.
pub fn looked_for<T>(look: impl FnMut() -> Option<T>) -> Option<T> {
    looks_for((PATIENCE.as_millis() / BETWEEN_LOOKS.as_millis()) as u32, look)
}

fn looks_for<T>(looks: u32, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    (0..looks).find_map(|_| {
        look().or_else(|| {
            std::thread::sleep(BETWEEN_LOOKS);
            None
        })
    })
}

pub fn lines(path: &Path) -> Vec<Value> {
    text(path).lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// A file as text; empty where none is. A pipe in its place is not waited for.
fn text(path: &Path) -> String {
    let is_file = fs::metadata(path).is_ok_and(|meta| meta.is_file());
    let bytes = if is_file { fs::read(path).unwrap_or_default() } else { Vec::new() };
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Sends a signal, as `-KILL`, to a process.
pub fn send(signal: &str, pid: i32) {
    Command::new("kill").args([signal, &pid.to_string()]).status().unwrap();
}

/// The child of a process that has a name, as the kernel has it.
pub fn child_named(parent: i32, name: &str) -> Option<i32> {
    let list = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    let is_called = |pid: &i32| {
        fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|called| called.trim_end() == name)
    };
    list.split_whitespace().filter_map(|pid| pid.parse().ok()).find(is_called)
}

/// A running guardian; killed with its whole house when the test is done with it.
pub struct Guardian {
    pub child: Child,
    root: PathBuf,
    pub log: PathBuf,
}

impl Guardian {
    pub fn new(child: Child, house: &House) -> Self {
        Self { child, root: house.root.clone(), log: house.folder.path().join("guardian.log") }
    }

    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Sends a signal to it; one that stops it, or has it go on, to its steward as well, as Ctrl-Z does.
    pub fn signal(&self, signal: &str) {
        send(signal, self.pid());
        if ["-STOP", "-CONT"].contains(&signal) {
            self.steward().into_iter().for_each(|steward| send(signal, steward));
        }
    }

    /// The process that judges and acts: its steward, once there is one.
    pub fn acting(&self) -> i32 {
        self.steward().unwrap_or(self.pid())
    }

    /// The guardian's steward, once there is one: the child of its first process that has this name.
    pub fn steward(&self) -> Option<i32> {
        child_named(self.pid(), "steward")
    }

    /// Its stand-in, while one runs.
    pub fn stand_in(&self) -> Option<i32> {
        child_named(self.pid(), "stand-in")
    }

    /// Asks it to leave and waits until it has.
    pub fn stop(mut self) -> i32 {
        self.signal("-TERM");
        self.wait()
    }

    pub fn wait(&mut self) -> i32 {
        let status = looked_for(|| self.child.try_wait().unwrap()).expect("the guardian ends");
        status.code().unwrap_or(-1)
    }
}

impl Guardian {
    /// Kills the guardian alone, as the kernel or an impatient owner would.
    pub fn kill_only(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::mem::forget(self);
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        for pid in marked(&self.root) {
            let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
        }
    }
}
