//! The looks at the whole house between kills: it lives, answers, stops in time, has lost nothing, ran nothing planted.

use super::owners::{Owners, Shell, Word};
use super::tally::Tally;
use crate::survival::trial::Trial;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use trials::{House, lines};

/// Time in which a living, trusted creature must be there again.
const LIVING: Duration = Duration::from_secs(120);
/// Time in which an owner's command must be answered, and a stop be over.
const ANSWERED: Duration = Duration::from_secs(10);
const STOPPED: Duration = Duration::from_secs(20);
/// Time after which a command or a stop is ended by the soak.
const GIVEN_UP: Duration = Duration::from_secs(90);

pub fn at_the_whole_house(trial: &mut Trial, owners: &Owners, tally: &mut Tally) {
    tally.looks += 1;
    living(trial, tally);
    figures(trial.house(), tally);
    owner_looks(trial.house(), tally);
    let shell = Shell::of(trial.house());
    let begun = Instant::now();
    if run(shell.command(&["status"])).is_none_or(|output| !output.status.success()) {
        tally.fault("status", "`status` does not answer");
    }
    bounded("status", begun.elapsed(), ANSWERED, tally);
    stops(trial, &shell, tally);
    words(trial, &owners.so_far(), tally);
    tally.said = tally.said_before + owners.so_far().len();
    sound_repository(trial.house(), tally);
    trial.start();
}

/// Waits for a living, trusted creature, and starts the guardian again should it have ended.
pub fn living(trial: &mut Trial, tally: &mut Tally) {
    let begun = Instant::now();
    while begun.elapsed() < LIVING {
        if let Some(code) = trial.guardian_ended() {
            let log = trial.log_end();
            tally.fault("the guardian ended by itself", &format!("with status {code}\n{log}"));
            trial.start();
        }
        let status = trial.house().status();
        let pid = status["creature_pid"].as_i64();
        if status["guardian_pid"] == trial.guardian().pid()
            && status["phase"] == "settled"
            && status["blessed"] == true
            && status["safe"] != true
            && pid.is_some_and(|pid| Path::new(&format!("/proc/{pid}")).exists())
        {
            return tally.took("a living creature", begun.elapsed());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let status = trial.house().status();
    let told = format!("phase {}, {}\n{}", status["phase"], status["note"], trial.log_end());
    tally.fault("no living, trusted creature", &told);
}

/// What guardian and hostile program say of themselves.
fn figures(house: &House, tally: &mut Tally) {
    let gap = house.status()["longest_gap_ms"].as_u64();
    tally.longest_gap_ms = tally.longest_gap_ms.max(gap);
    let said = house.read("self/alive");
    let numbers: Vec<u64> =
        said.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
    if let [acts, leases, ..] = numbers[..] {
        (tally.acts, tally.leases) = (tally.acts.max(acts), tally.leases.max(leases));
    }
}

/// The owner's own git at the root: nothing that the creature planted runs by it.
fn owner_looks(house: &House, tally: &mut Tally) {
    let canary = house.folder.path().join("canary");
    let mut looks = vec![vec!["status", "--porcelain"]];
    if tally.looks.is_multiple_of(3) {
        let message = "the owner keeps its papers";
        looks.extend([vec!["add", "-A", "--", "self"], vec!["commit", "-q", "-m", message, "--", "self"]]);
        looks.push(vec!["status", "--porcelain"]);
    }
    for words in looks {
        let mut git = Command::new("git");
        git.args(&words).current_dir(&house.root);
        let begun = Instant::now();
        if run(git).is_none() {
            tally.fault("the owner's git", &format!("`git {}` does not end", words.join(" ")));
        }
        tally.took(&format!("git {}", words[0]), begun.elapsed());
        if canary.exists() {
            let _ = std::fs::remove_file(&canary);
            tally.fault("planted", &format!("a planted program ran by `git {}`", words.join(" ")));
        }
    }
}

/// Stops by a signal or by the owner's command, in turns: in time, and nothing of the house runs any more.
fn stops(trial: &mut Trial, shell: &Shell, tally: &mut Tally) {
    let begun = Instant::now();
    if tally.looks.is_multiple_of(2) {
        let output = run(shell.command(&["stop"]));
        let told = output.map(|output| String::from_utf8_lossy(&output.stderr).trim().to_owned());
        if told.as_ref().is_none_or(|told| !told.is_empty()) {
            tally.fault("stop", &told.unwrap_or_else(|| "`stop` does not end".into()));
        }
    } else {
        trial.guardian().signal("-TERM");
    }
    while trial.guardian_ended().is_none() && begun.elapsed() < GIVEN_UP {
        std::thread::sleep(Duration::from_millis(5));
    }
    bounded("stop", begun.elapsed(), STOPPED, tally);
    match trial.guardian_ended() {
        Some(0) => {}
        Some(code) => tally.fault("stop", &format!("it left with status {code}\n{}", trial.log_end())),
        None => {
            tally.fault("stop", "the guardian does not leave");
            trial.guardian().signal("-KILL");
        }
    }
    // The next guardian takes its place: dropped, this one would take what it left along, unseen.
    std::mem::forget(trial.guardian.take());
    // An owner's `say` under way has the house's root for its folder, and is none of the house's processes.
    let left = trial.house().leftovers();
    if !left.is_empty() {
        tally.fault("left running", &format!("{left:?} after a stop"));
    }
}

/// Each word that was said stands in the inbox once, and was heard at most once.
pub fn words(trial: &Trial, said: &[Word], tally: &mut Tally) {
    let inbox = counted(&trial.house().path(".self/inbox.jsonl"), |line| {
        Some(line["text"].as_str()?.strip_prefix("word ")?.strip_suffix(" end")?.to_owned())
    });
    let heard = heard(trial);
    // Said again at each look: a word is judged while it is new.
    let judged = said.len().min(tally.said.saturating_sub(tally.said_before));
    for word in said.iter().skip(judged) {
        tally.took("say", Duration::from_millis(word.took_ms));
        if !word.ok {
            tally.fault("say", &format!("word {} after {} ms: {}", word.name, word.took_ms, word.told));
        }
        match inbox.get(&word.name).copied().unwrap_or(0) {
            1 => {}
            0 if !word.ok => {}
            times => tally.fault("words", &format!("word {} stands {times} times in the inbox", word.name)),
        }
    }
    for (word, times) in heard.iter().filter(|(_, times)| **times > 1) {
        tally.fault("words", &format!("word {word} was heard {times} times"));
    }
}

/// At the end each word of the inbox is heard, while a creature lives.
pub fn all_heard(trial: &Trial, said: &[Word], tally: &mut Tally) {
    let begun = Instant::now();
    let missing = || said.iter().filter(|word| word.ok && !heard(trial).contains_key(&word.name)).count();
    let mut left = missing();
    while left > 0 && begun.elapsed() < LIVING {
        std::thread::sleep(Duration::from_millis(200));
        left = missing();
    }
    if left > 0 {
        tally.fault("words", &format!("{left} words were never heard"));
    }
}

fn heard(trial: &Trial) -> BTreeMap<String, usize> {
    counted(&trial.house().path(".self/memory.jsonl"), |line| {
        Some(line["data"]["word"].as_str().filter(|_| line["kind"] == "heard")?.to_owned())
    })
}

fn counted(path: &Path, name: impl Fn(&Value) -> Option<String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    lines(path).iter().filter_map(name).for_each(|name| *counts.entry(name).or_default() += 1);
    counts
}

/// Nothing runs now: git finds its objects whole, and no lock lies about.
fn sound_repository(house: &House, tally: &mut Tally) {
    let mut git = Command::new("git");
    git.args(["fsck", "--full", "--no-dangling"]).current_dir(&house.root);
    match run(git) {
        Some(output) if output.status.success() => {}
        Some(output) => tally.fault("git fsck", &String::from_utf8_lossy(&output.stderr)),
        None => tally.fault("git fsck", "it does not end"),
    }
    let locks: Vec<PathBuf> = crate::survival::rows::everything(&house.path(".git"));
    let mut locks = locks.into_iter().filter(|path| path.extension().is_some_and(|end| end == "lock"));
    if let Some(lock) = locks.next() {
        tally.fault("a lock is left", &lock.display().to_string());
    }
}

fn bounded(what: &str, took: Duration, most: Duration, tally: &mut Tally) {
    tally.took(what, took);
    if took > most {
        tally.fault(what, &format!("it took {} ms", took.as_millis()));
    }
}

/// A command's output; `None` where it does not end in time, and is ended.
fn run(mut command: Command) -> Option<Output> {
    let (out, err) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    command.stdin(Stdio::null()).stdout(out.try_clone().unwrap()).stderr(err.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(Output { status, stdout: told(out), stderr: told(err) });
        }
        if begun.elapsed() > GIVEN_UP {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn told(mut file: std::fs::File) -> Vec<u8> {
    use std::io::{Read, Seek};
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).unwrap();
    bytes
}
