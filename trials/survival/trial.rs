//! One row under way: its house, its guardian, the fault, and the waiting for a living creature.

use crate::survival::matrix::{Killed, NotRun, Variant};
use crate::survival::oracle::Oracle;
use crate::survival::outcome::{Outcome, Verdict};
use serde_json::Value;
use std::any::Any;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};
use trials::clone::Clone;
use trials::{Guardian, House};

/// Longest wait for any one event. Generous: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(300);
/// The same where cargo builds.
const BUILD_PATIENCE: Duration = Duration::from_secs(1_200);

/// What a row happens in.
pub enum Home {
    Shell(House),
    Real(Clone),
}

pub struct Trial {
    pub variant: Variant,
    pub home: Option<Home>,
    pub guardian: Option<Guardian>,
    pub patience: Duration,
    /// The guardian's program, where it is not the one just built.
    pub program: Option<PathBuf>,
    /// Variables the guardian is started with.
    pub env: Vec<(String, String)>,
    pub oracle: Oracle,
    pub begun: Instant,
    injected: Option<Instant>,
    living: Option<Duration>,
    disturbed: bool,
    notes: Vec<String>,
    rss_kib: u64,
    /// What must last until the house is gone.
    kept: Vec<Rc<dyn Any>>,
}

impl Trial {
    pub fn new(variant: Variant) -> Self {
        Self {
            variant,
            home: None,
            guardian: None,
            patience: if variant.row.real { BUILD_PATIENCE } else { PATIENCE },
            program: None,
            env: Vec::new(),
            oracle: Oracle::default(),
            begun: Instant::now(),
            injected: None,
            living: None,
            disturbed: false,
            notes: Vec::new(),
            rss_kib: 0,
            kept: Vec::new(),
        }
    }

    /// Tells the oracle something of the house.
    pub fn judge<T>(&mut self, tell: impl FnOnce(&mut Oracle, &House) -> T) -> T {
        let mut oracle = std::mem::take(&mut self.oracle);
        let told = tell(&mut oracle, self.house());
        self.oracle = oracle;
        told
    }

    pub fn house(&self) -> &House {
        match self.home.as_ref().expect("the row moves in first") {
            Home::Shell(house) => house,
            Home::Real(clone) => &clone.house,
        }
    }

    pub fn command(&self) -> Command {
        let house = self.house();
        let mut command = match &self.home {
            Some(Home::Real(_)) => house.real_command("debug"),
            _ => house.command(&[]),
        };
        if let Some(program) = &self.program {
            let mut other = Command::new(program);
            other.current_dir(&house.root).stdin(Stdio::null());
            other.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
            command = other;
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Starts a guardian; its words go to the house's log.
    pub fn start(&mut self) {
        let path = self.house().folder.path().join("guardian.log");
        let log = fs::File::options().create(true).append(true).open(path).unwrap();
        let mut command = self.command();
        command.stdout(log.try_clone().unwrap()).stderr(log);
        let child = loop {
            match command.spawn() {
                // A row beside this one forked while a copy of the program was being written: it has it open till it execs.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
                started => break started.unwrap(),
            }
        };
        self.guardian = Some(Guardian::new(child, self.house()));
    }

    /// Takes over a guardian that was started by other means.
    pub fn adopt(&mut self, child: std::process::Child) {
        // Dropped, the one before would take the whole house with it.
        std::mem::forget(self.guardian.take());
        self.guardian = Some(Guardian::new(child, self.house()));
    }

    /// The status of a guardian that ended by itself.
    pub fn guardian_ended(&mut self) -> Option<i32> {
        self.guardian.as_mut()?.child.try_wait().unwrap()?.code()
    }

    /// The next guardian after this one prints into a pipe, and whoever reads it goes away at once.
    pub fn replace_guardian_with_unread(&mut self) {
        self.stop();
        let mut child = self.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        self.adopt(child);
    }

    pub fn guardian(&self) -> &Guardian {
        self.guardian.as_ref().expect("the row starts a guardian first")
    }

    /// Starts a guardian and waits until the first commit is blessed and lives.
    pub fn begin(&mut self) {
        self.start();
        let head = self.house().git(&["rev-parse", "HEAD"]);
        self.until("the first commit to be blessed", |house| {
            let status = house.status();
            status["blessed"] == true && status["commit"] == head.as_str()
        });
    }

    /// Takes the walls down from the guardian's next start on: what this row needs lies beyond them.
    pub fn without_walls(&self) {
        let settings = self.house().read("owner.toml");
        self.house().write("owner.toml", &format!("walls = \"off\"\n{settings}"));
    }

    /// Injects the fault: from here on time is taken, and everything that is there must still be there in the end.
    pub fn inject(&mut self, fault: impl FnOnce(&mut Self)) {
        self.judge(Oracle::begin);
        self.injected = Some(Instant::now());
        fault(self);
        let _ = fs::write(self.house().path(".self/mind/go"), "");
    }

    /// Commits these files of `creature/`, and nothing else of what lies about, then ends the life so that the next
    /// one is of this commit.
    pub fn commit_creature(&self, files: &[(&str, &str)]) {
        let house = self.house();
        files.iter().for_each(|(name, text)| house.write(name, text));
        let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
        house.git(&[&["add", "--"], names.as_slice()].concat());
        house.git(&[&["commit", "-q", "-m", "a fault", "--"], names.as_slice()].concat());
        self.kill_creature();
    }

    /// Kills the creature as it lives now.
    pub fn kill_creature(&self) {
        let pid = self.house().status()["creature_pid"].to_string();
        Command::new("kill").args(["-KILL", &pid]).stderr(Stdio::null()).status().unwrap();
    }

    /// Kills the guardian alone and starts the next one.
    pub fn kill_guardian(&mut self) {
        self.guardian.take().expect("a guardian runs").kill_only();
        self.start();
    }

    /// Kills the steward alone; the guardian's first process starts the next one.
    fn kill_steward(&self) {
        self.guardian().steward().into_iter().for_each(|pid| trials::send("-KILL", pid));
    }

    /// Before a guardian has told of itself it takes no orders yet.
    pub fn until_it_listens(&mut self) {
        self.wait("the guardian to tell of itself", |trial| {
            trial.house().status()["guardian_pid"] == trial.guardian().pid()
        });
    }

    /// Asks the guardian to leave, and waits for it; its status.
    pub fn stop(&mut self) -> i32 {
        self.until_it_listens();
        self.guardian.take().expect("a guardian runs").stop()
    }

    /// The most memory the guardian has had resident so far, in KiB.
    pub fn guardian_peak_kib(&self) -> u64 {
        peak_kib(self.guardian().acting())
    }

    /// A rollback that this fault must end in; any other is a false one.
    pub fn expect_fall(&mut self, cause: &'static str) {
        self.oracle.falls.push(cause);
    }

    /// Something a reader of SURVIVAL.md should know of what happened.
    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Keeps something until the house is gone: what it stands on.
    pub fn keep(&mut self, what: Rc<dyn Any>) {
        self.kept.push(what);
    }

    /// This row cannot be run on this machine.
    pub fn not_run(&self, why: &str) -> ! {
        std::panic::panic_any(NotRun(why.to_owned()))
    }

    /// In the second variant: kills the guardian once, at a moment that depends on the row.
    fn disturb(&mut self) {
        let Some(injected) = self.injected.filter(|_| self.variant.is_killed() && !self.disturbed) else {
            return;
        };
        let wanted = self.variant.row.name.len() % 3;
        let since = self.oracle.records_since(self.house());
        if since >= wanted || injected.elapsed() > Duration::from_millis(1_500) {
            self.disturbed = true;
            match self.variant.killed {
                Killed::Steward => self.kill_steward(),
                Killed::Guardian | Killed::Nobody => self.kill_guardian(),
            }
        }
    }

    /// Waits until `condition`, or says what the house looked like.
    pub fn until(&mut self, what: &str, mut condition: impl FnMut(&House) -> bool) {
        self.wait(what, |trial| condition(trial.house()));
    }

    /// The same, without looking at memory and with long looks: for what takes hours.
    pub fn until_slowly(&mut self, what: &str, condition: impl Fn(&House) -> bool) {
        while !condition(self.house()) {
            assert_eq!(self.guardian_ended(), None, "the guardian ended before {what}\n{}", self.log_end());
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    fn wait(&mut self, what: &str, mut condition: impl FnMut(&Self) -> bool) {
        let begun = Instant::now();
        loop {
            self.disturb();
            self.judge(Oracle::sample);
            if condition(self) {
                return;
            }
            if let Some(guardian) = &mut self.guardian
                && let Some(status) = guardian.child.try_wait().unwrap()
            {
                panic!("the guardian ended ({status}) before {what}\n{}", self.log_end());
            }
            if begun.elapsed() > self.patience {
                panic!("waited in vain for {what}\n{}\nstatus: {:#}", self.log_end(), self.house().status());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn log_end(&self) -> String {
        let log = fs::read_to_string(self.house().folder.path().join("guardian.log")).unwrap_or_default();
        let tail: Vec<&str> = log.lines().rev().take(40).collect();
        tail.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    /// Waits for `number` more deaths of this kind than before the fault; one less where the guardian was killed, since
    /// a life that ends with its guardian costs a try and is no death.
    pub fn until_deaths(&mut self, kind: &str, number: usize) {
        let (before, number) = (self.oracle.deaths_before, number - usize::from(self.variant.is_killed()));
        self.until(&format!("{number} deaths, {kind}"), |house| {
            house.deaths().iter().skip(before).filter(|death| death["ended"] == kind).count() >= number
        });
    }

    /// Waits for a living creature: it beats, has thought in this life, is trusted, and what must fall has fallen.
    pub fn recovers(&mut self) {
        self.recovers_as("a living creature", |status| status["blessed"] == true && status["safe"] != true);
    }

    pub fn recovers_as(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) {
        let falls = self.oracle.falls_before + self.oracle.falls.len();
        let mut seen: Option<(Value, Option<SystemTime>)> = None;
        self.wait(what, |trial| {
            let (house, status) = (trial.house(), trial.house().status());
            let fit = (trial.disturbed || !trial.variant.is_killed())
                && status["guardian_pid"] == trial.guardian().pid()
                && status["phase"] == "settled"
                && status["creature_pid"]
                    .as_i64()
                    .is_some_and(|pid| Path::new(&format!("/proc/{pid}")).exists())
                && wanted(&status)
                && house.told("fall").len() >= falls
                && house.thoughts().iter().any(|thought| thought["life"] == status["life"]);
            // A second beat of the same life, after the first was seen: it lives, it has not only lived.
            let beat = fs::metadata(house.path(".self/heartbeat")).and_then(|meta| meta.modified()).ok();
            match seen.take().filter(|(life, _)| fit && *life == status["life"]) {
                Some((_, old)) if old != beat => return true,
                Some(old) => seen = Some(old),
                None if fit => seen = Some((status["life"].clone(), beat)),
                None => {}
            }
            false
        });
        self.living = self.injected.map(|since| since.elapsed());
    }

    /// Ends the row: the guardian leaves, and everything that was there must still be there. A row that needs its
    /// guardian gone before its own end calls it itself.
    pub fn close(&mut self) {
        if self.guardian.is_none() {
            return;
        }
        self.rss_kib = self.guardian_peak_kib();
        let status = self.stop();
        assert_eq!(status, 0, "the guardian left with status {status}\n{}", self.log_end());
        self.judge(Oracle::end);
        let wrong = self.oracle.complaint();
        assert!(wrong.is_empty(), "{wrong}\n{}", self.log_end());
    }

    pub fn into_outcome(mut self, verdict: Verdict) -> Outcome {
        let brick = matches!(verdict, Verdict::Failed(_)) && !self.comes_back();
        drop(self.guardian.take());
        let happened = match &self.home {
            Some(_) => self.oracle.story(self.house(), &self.notes),
            None => self.notes.join("; "),
        };
        Outcome {
            title: self.variant.title(),
            family: self.variant.row.family,
            fault: self.variant.row.name,
            injected: self.variant.row.injected,
            killed: self.variant.is_killed(),
            happened,
            to_living_ms: self.living.map(|took| took.as_millis() as u64),
            lost_bytes: self.oracle.lost_bytes,
            false_rollbacks: self.oracle.false_rollbacks,
            left_behind: self.oracle.left_behind,
            guardian_peak_kib: self.rss_kib,
            fall_to_life_ms: self.oracle.fall_to_life_ms.clone(),
            took_ms: self.begun.elapsed().as_millis() as u64,
            verdict,
            brick,
        }
    }
}

/// The most memory a process has had resident, in KiB.
pub fn peak_kib(pid: i32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
