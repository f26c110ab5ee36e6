//! What is recorded: a fresh clone, its window, an owner who talks, hands over a good change of source, then a fatal one.

use super::cast::Cast;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use trials::clone::Clone;
use trials::driven::Driven;
use trials::{House, lines};

const SIZE: (u16, u16) = (96, 27);
/// Builds and tests of the creature take their time where others build too.
const PATIENCE: Duration = Duration::from_secs(2_400);
const LOOK: Duration = Duration::from_millis(100);
/// Between two keys.
const KEY: Duration = Duration::from_millis(45);
/// For what was told to stand on the screen, and for a reader of the recording itself.
const PAUSE: Duration = Duration::from_secs(2);
/// Instinct, whatever keys and model servers there are, and as few rows as the window has; all else as it comes.
const SETTINGS: &str =
    "[model]\nprovider = \"instinct\"\n\n[notify]\ndesktop = false\n\n[show]\nwindow = \"minimal\"\n";
const PACE: &str = "creature/src/pace.rs";
const REST: &str = "pub const IDLE_REST_S: u64 = ";
const LIFE: &str = "creature/src/life.rs";
const LIVES: &str = "        let mut next = self.wake(leaving).await?;\n";
/// Only a life in a repository dies of this: its tests and its rehearsal have none, and pass.
const FATAL: &str = "        let here = |name| self.told.house.root().join(name).exists();\n        \
                     assert!(!(here(\".git\") && here(\"creature/Cargo.toml\")), \"fatal in a real life\");\n";

/// Records the story and keeps it in this folder, with the page of the life it became.
pub fn record(kept: &Path) {
    let clone = Clone::named("record");
    let house = &clone.house;
    house.write("owner.toml", SETTINGS);
    let mut command = Command::new(trials::programs::guardian());
    command.current_dir(&house.root);
    for name in ["NO_COLOR", "CARGO_TARGET_DIR", "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"] {
        command.env_remove(name);
    }
    let stage = Stage { house, window: Driven::start(command, SIZE.0, SIZE.1) };
    stage.play();
    let raw = stage.window.raw();
    Cast::of(&raw, &stage.window.came(), SIZE).write(&kept.join("window.cast"));
    let page = Command::new(trials::programs::console())
        .args(["export", "--html"])
        .current_dir(&house.root)
        .output();
    let page = page.unwrap();
    assert!(page.status.success(), "{}", String::from_utf8_lossy(&page.stderr));
    fs::write(kept.join("life.html"), page.stdout).unwrap();
    stage.stop();
}

struct Stage<'a> {
    house: &'a House,
    window: Driven,
}

impl Stage<'_> {
    fn play(&self) {
        self.until("the first life is trusted", || self.house.status()["blessed"] == true);
        self.says("who are you?");
        self.says("remind me in 15 seconds to stretch");
        self.until("the reminder", || self.messages().iter().any(|told| told["kind"] == "reminder"));
        std::thread::sleep(PAUSE);
        self.hands_over("Rest less, please.", PACE, |source| {
            let (before, after) = source.split_once(REST).expect("the pace names the rest");
            let (_, after) = after.split_once(';').unwrap();
            format!("{before}{REST}25;{after}")
        });
        self.until("the edit is proven", || self.edits("asked") == 1);
        self.until("the next life", || self.edits("born") == 1);
        self.until("its tests are passed and it is trusted", || {
            let now = self.house.status();
            now["blessed"] == true && now["life"].as_u64() > Some(1)
        });
        std::thread::sleep(PAUSE);
        self.hands_over("And this one: it passes every test, and kills every real life.", LIFE, |source| {
            assert_eq!(source.matches(LIVES).count(), 1, "a life wakes at one place of {LIFE}");
            source.replacen(LIVES, &format!("{FATAL}{LIVES}"), 1)
        });
        self.until("the fatal edit is proven", || self.edits("asked") == 2);
        self.until("it falls", || !self.house.told("fall").is_empty());
        let fallen = self.house.told("fall")[0]["life"].as_u64();
        self.until("a thought after the fall", || {
            self.house.thoughts().iter().any(|thought| thought["life"].as_u64() > fallen)
        });
        self.types("/diff");
        self.window.keys("\r");
        self.settles();
    }

    /// Types a word as an owner does, and waits for its answer.
    fn says(&self, word: &str) {
        self.types(word);
        let answered = self.messages().len() + 1;
        self.window.keys("\r");
        self.until(word, || self.messages().len() >= answered);
        std::thread::sleep(PAUSE);
    }

    fn types(&self, word: &str) {
        for letter in word.chars() {
            self.window.keys(&letter.to_string());
            std::thread::sleep(KEY);
        }
    }

    /// Types words and pastes the difference between a file of the creature and what it becomes.
    fn hands_over(&self, words: &str, path: &str, becomes: impl Fn(&str) -> String) {
        let source = self.house.read(path);
        let diff = difference(path, &source, &becomes(&source));
        self.types(words);
        self.window.keys(&format!("\x1b[200~\n```diff\n{diff}```\x1b[201~"));
        std::thread::sleep(PAUSE);
        self.window.keys("\r");
    }

    fn records(&self, kind: &str) -> Vec<Value> {
        let records = lines(&self.house.path(".self/memory.jsonl")).into_iter();
        records.filter(|record| record["kind"] == kind).map(|record| record["data"].clone()).collect()
    }

    /// What it said to its owner.
    fn messages(&self) -> Vec<Value> {
        self.records("message").into_iter().filter(|told| told["from"] == "creature").collect()
    }

    fn edits(&self, stage: &str) -> usize {
        let edits = self.records("self_change");
        let refused = edits.iter().find(|edit| edit["ok"] == false);
        assert!(refused.is_none(), "the creature refused the change: {refused:?}\n{}", self.window.whole());
        edits.iter().filter(|edit| edit["stage"] == stage).count()
    }

    fn until(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let begun = Instant::now();
        println!("record: until {what}");
        while !is_so() {
            assert!(begun.elapsed() < PATIENCE, "waited in vain: {what}\n{}", self.window.whole());
            std::thread::sleep(LOOK);
        }
    }

    /// Waits until the window shows nothing new for a while.
    fn settles(&self) {
        let mut came = 0;
        self.until("nothing new is shown", || {
            std::thread::sleep(PAUSE);
            let now = self.window.raw().len();
            now == std::mem::replace(&mut came, now)
        });
    }

    fn stop(mut self) {
        self.window.keys("/stop guardian\r");
        self.window.wait();
    }
}

/// What changed of a file between the first line that differs and the last, with a line of what stands around it.
fn difference(path: &str, old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let after = old[before..]
        .iter()
        .rev()
        .zip(new[before..].iter().rev())
        .take_while(|(old, new)| old == new)
        .count();
    let (gone, come) = (&old[before..old.len() - after], &new[before..new.len() - after]);
    let line = |mark: char, line: &&str| format!("{mark}{line}\n");
    let around = |at: usize| old.get(at).map(|text| line(' ', text)).unwrap_or_default();
    let head = format!(
        "--- a/{path}\n+++ b/{path}\n@@ -{},{} +{},{} @@\n",
        before,
        gone.len() + 2,
        before,
        come.len() + 2
    );
    let gone: String = gone.iter().map(|text| line('-', text)).collect();
    let come: String = come.iter().map(|text| line('+', text)).collect();
    [head, around(before - 1), gone, come, around(old.len() - after)].concat()
}
