//! What must be true after any fault: nothing lost, nothing put back that should not be, nothing left running.

use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use trials::{House, lines};

/// Memory larger than this is not sampled line by line.
const MOST_SAMPLED: u64 = 8 << 20;

#[derive(Default)]
pub struct Oracle {
    /// Causes of the rollbacks that this fault must end in.
    pub falls: Vec<&'static str>,
    /// The owner's files and what must be in them.
    owner: BTreeMap<PathBuf, Vec<u8>>,
    /// Files under `creature/` that must be found there, or kept under a ref or aside.
    treasures: BTreeMap<PathBuf, Vec<u8>>,
    /// Whole lines seen in memory.
    known: HashSet<Vec<u8>>,
    sampled_bytes: u64,
    /// The fault itself took the owner's index away.
    pub index_gone: bool,
    begun: bool,
    pub falls_before: usize,
    pub deaths_before: usize,
    records_before: usize,
    pub lost_bytes: u64,
    lost: Vec<String>,
    pub false_rollbacks: usize,
    missed_rollbacks: Vec<&'static str>,
    pub left_behind: usize,
    pub fall_to_life_ms: Vec<i64>,
}

impl Oracle {
    /// Just before the fault: what is there now must be there in the end.
    pub fn begin(&mut self, house: &House) {
        for name in ["PURPOSE.md", "README.md", "guardian/notes.txt", "owners/staged.txt"] {
            self.owner.insert(name.into(), fs::read(house.path(name)).unwrap_or_default());
        }
        self.sample(house);
        self.falls_before = house.told("fall").len();
        self.deaths_before = house.deaths().len();
        self.records_before = records(house);
        self.begun = true;
    }

    /// The owner, or the fault, writes this file: in the end it must hold these bytes.
    pub fn owner_writes(&mut self, house: &House, name: &str, bytes: &[u8]) {
        let path = house.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self.owner.insert(name.into(), bytes.to_vec());
    }

    /// The fault takes this file of the owner's away: it is not the house that lost it.
    pub fn owner_loses(&mut self, name: &str) {
        self.owner.remove(Path::new(name));
    }

    /// Something that lies under `creature/` uncommitted: it may make way, it must not be lost.
    pub fn treasure(&mut self, house: &House, name: &str, bytes: &[u8]) {
        let path = house.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self.treasures.insert(name.into(), bytes.to_vec());
    }

    /// The fault itself is the loss of memory: only what is written from here on counts.
    pub fn memory_taken_away(&mut self) {
        self.known.clear();
        self.sampled_bytes = 0;
    }

    /// The fault moves the record files on: what is told is counted from nothing again.
    pub fn records_moved(&mut self) {
        (self.falls_before, self.deaths_before, self.records_before) = (0, 0, 0);
    }

    /// How many records there are of things that happened since the fault.
    pub fn records_since(&self, house: &House) -> usize {
        records(house).saturating_sub(self.records_before)
    }

    /// Notes the whole lines that stand in memory now.
    pub fn sample(&mut self, house: &House) {
        let path = house.path(".self/memory.jsonl");
        let Ok(meta) = fs::symlink_metadata(&path) else { return };
        if !meta.is_file() || meta.len() == self.sampled_bytes || meta.len() > MOST_SAMPLED {
            return;
        }
        self.sampled_bytes = meta.len();
        let bytes = fs::read(path).unwrap_or_default();
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.known.extend(bytes[..whole].split(|byte| *byte == b'\n').map(<[u8]>::to_vec));
    }

    /// After the guardian has left: counts what is missing and what is too much.
    pub fn end(&mut self, house: &House) {
        if !self.begun {
            return;
        }
        for (name, bytes) in &self.owner {
            let now = fs::read(house.root.join(name)).unwrap_or_default();
            if now != *bytes {
                self.lost_bytes += bytes.len() as u64;
                self.lost.push(format!("{} of the owner's is not as it was", name.display()));
            }
        }
        for (name, bytes) in &self.treasures {
            if !is_kept(house, name, bytes) {
                self.lost_bytes += bytes.len() as u64;
                self.lost.push(format!("{} is neither there nor kept", name.display()));
            }
        }
        if !self.index_gone && house.git(&["show", ":owners/staged.txt"]) != "staged by the owner" {
            self.lost.push("the owner's index lost what was staged".into());
            self.lost_bytes += 1;
        }
        self.remember(house);
        self.judge_falls(house);
        self.left_behind = leftovers(house).len();
    }

    fn remember(&mut self, house: &House) {
        let mut standing = HashSet::new();
        for path in memories(house) {
            let bytes = fs::read(path).unwrap_or_default();
            standing.extend(bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec));
        }
        let lost: Vec<&Vec<u8>> = self.known.difference(&standing).collect();
        if let Some(first) = lost.first() {
            let text = String::from_utf8_lossy(first).chars().take(120).collect::<String>();
            self.lost.push(format!("{} lines of memory are gone, one of them {text}", lost.len()));
        }
        self.lost_bytes += lost.iter().map(|line| line.len() as u64 + 1).sum::<u64>();
    }

    fn judge_falls(&mut self, house: &House) {
        let falls: Vec<Value> = house.told("fall").into_iter().skip(self.falls_before).collect();
        let mut wanted = self.falls.clone();
        for fall in &falls {
            let cause = fall["cause"].as_str().unwrap_or_default();
            match wanted.iter().position(|wanted| *wanted == cause) {
                Some(at) => _ = wanted.remove(at),
                None => self.false_rollbacks += 1,
            }
        }
        self.missed_rollbacks = wanted;
        let time = |line: &Value| line["at"].as_str().and_then(|at| at.parse::<jiff::Timestamp>().ok());
        let deaths = lines(&house.path(".self/deaths.jsonl"));
        let told = lines(&house.path(".self/history.jsonl"));
        for fall in &falls {
            let at = time(fall);
            let died = deaths.iter().filter_map(time).filter(|death| Some(*death) <= at).max();
            let lives = told.iter().filter(|line| line["what"] == "life" && line["kept_binary"] == true);
            let born = lives.filter_map(time).filter(|born| Some(*born) >= at).min();
            if let (Some(died), Some(born)) = (died, born) {
                self.fall_to_life_ms.push(born.as_millisecond() - died.as_millisecond());
            }
        }
    }

    /// Everything that is wrong, one a line; empty when nothing is.
    pub fn complaint(&self) -> String {
        let mut wrong = self.lost.clone();
        if self.false_rollbacks > 0 {
            wrong.push(format!("{} rollbacks that should not have been", self.false_rollbacks));
        }
        if !self.missed_rollbacks.is_empty() {
            wrong.push(format!("never put back for {}", self.missed_rollbacks.join(", ")));
        }
        if self.left_behind > 0 {
            wrong.push(format!("{} processes left behind", self.left_behind));
        }
        wrong.join("\n")
    }

    /// What happened, from the records alone.
    pub fn story(&self, house: &House, notes: &[String]) -> String {
        let mut parts = Vec::new();
        let mut deaths: BTreeMap<String, usize> = BTreeMap::new();
        for death in house.deaths().iter().skip(self.deaths_before) {
            let (ended, blame) =
                (death["ended"].as_str().unwrap_or("?"), death["blame"].as_str().unwrap_or("?"));
            *deaths.entry(format!("{} (blamed on {blame})", ended.replace('_', " "))).or_default() += 1;
        }
        parts.extend(deaths.iter().map(|(kind, times)| format!("{times} × {kind}")));
        for fall in house.told("fall").iter().skip(self.falls_before) {
            parts.push(format!("put back ({})", fall["cause"].as_str().unwrap_or("?").replace('_', " ")));
        }
        if let Some(life) = house.told("life").last() {
            let how = if life["kept_binary"] == true { "kept binary" } else { "fresh build" };
            let safe = if life["safe"] == true { ", safe mode" } else { "" };
            parts.push(format!("lives as life {} ({how}{safe})", life["life"]));
        }
        parts.extend(notes.iter().cloned());
        parts.join("; ")
    }
}

fn records(house: &House) -> usize {
    [".self/history.jsonl", ".self/deaths.jsonl"].iter().map(|name| lines(&house.path(name)).len()).sum()
}

/// Memory as it stands, and every copy of it that was moved aside.
fn memories(house: &House) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![house.path(".self"), house.path(".self/guardian/kept")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let name = entry.file_name().to_string_lossy().into_owned();
            if kind.is_file() && name.contains("memory") {
                found.push(path);
            } else if kind.is_dir() && name.contains("memory") {
                folders.push(path);
            }
        }
    }
    found
}

/// Whether a file under `creature/` is there, kept under a ref of the guardian's, or moved aside.
fn is_kept(house: &House, name: &Path, bytes: &[u8]) -> bool {
    if fs::read(house.root.join(name)).is_ok_and(|now| now == bytes) {
        return true;
    }
    let refs = house.git(&["for-each-ref", "--format=%(refname)", "refs/guardian", "refs/heads"]);
    refs.lines().any(|reference| {
        let shown = std::process::Command::new("git")
            .args(["show", &format!("{reference}:{}", name.display())])
            .current_dir(&house.root)
            .output();
        shown.is_ok_and(|shown| shown.status.success() && shown.stdout == bytes)
    })
}

/// Processes of this house that still run: its root in their environment, or their folder in it.
fn leftovers(house: &House) -> Vec<i32> {
    let mut found: HashSet<i32> = house.leftovers().into_iter().collect();
    let pids = fs::read_dir("/proc").unwrap().flatten();
    for pid in pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()) {
        if fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|folder| folder.starts_with(&house.root)) {
            found.insert(pid);
        }
    }
    found.into_iter().collect()
}
