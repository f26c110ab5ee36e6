//! The creature's process: the walls and the bond it starts with, the life that runs, its heartbeat and its conduct.

use crate::act::around::Around;
use crate::act::conduct::Watched;
use crate::act::daemons::keep::Daemons;
use crate::act::heartbeat::{self, Heartbeat};
use crate::act::ladder::Ladder;
use crate::act::walled::Walled;
use crate::act::{packages, quotas, reload};
use crate::decide::conduct::Observed;
use anyhow::{Context, Result};
use house::clock::Millis;
use house::files::{self, Mark};
use house::{House, records, risky};
use nix::sys::wait::WaitStatus;
use processes::child::{self, Occupant, Start, Tree};
use processes::exits::memory_kills;
use processes::granted::Granted;
use processes::{made, prepare};
use repo::tree::short;
use serde_json::json;
use std::fs::TryLockError;
use std::path::PathBuf;

/// Time in which a life names its mind.
const NAMED_MS: Millis = 60_000;

pub struct Living {
    pub walled: Walled,
    pub heart: Heartbeat,
    pub life: Option<Life>,
    pub request_seen: Option<Mark>,
}

/// A creature's process, from its start until its whole tree has ended.
pub struct Life {
    pub tree: Tree,
    pub began: Millis,
    pub memory_kills: u64,
    pub exited: Option<WaitStatus>,
    /// Time since which a file the life may write to is known to be moved or removed.
    pub bereft: Option<Millis>,
    /// Whether a thought of this life was seen in memory.
    pub thought: bool,
    /// Marks of memory and bookkeeping when turns counted last, and how many: a claimed turn without a record does
    /// not count.
    pub turned: ([Option<Mark>; 2], u64),
    /// Its conduct, watched from outside.
    pub watched: Watched,
}

/// The command that runs what was just built: cargo, but where it would wait for another that builds there, as an
/// editor's language server does. A life has `boot_s` until its first beat, whoever builds.
fn cargo_run(built: PathBuf) -> (PathBuf, Vec<String>) {
    let lock = files::open(&built.with_file_name(".cargo-lock")).ok().flatten();
    if lock.is_some_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))) {
        tracing::info!("another cargo works in target/creature: what was built is run without it");
        return (built, vec![]);
    }
    let mut args = made::cargo_args("run");
    args.push("--quiet".into());
    (made::cargo(), args)
}

impl Living {
    pub fn new(house: &House, walled: Walled) -> Self {
        Self { walled, heart: Heartbeat::new(house.heartbeat()), life: None, request_seen: None }
    }

    /// Starts a life of the version that was found, from its kept binary or by `cargo run`.
    pub fn begin(
        &mut self,
        around: &mut Around,
        ladder: &mut Ladder,
        daemons: &mut Daemons,
        kept: bool,
        safe: bool,
    ) -> Result<()> {
        let version = ladder.version.context("there is nothing to run")?;
        let (commit, tree) = (version.commit.to_string(), version.tree.to_string());
        let number = around.state.life + 1;
        around.state.life = number;
        (around.state.commit, around.state.tree) = (commit.clone(), tree.clone());
        around.save();
        reload::hand_over(around);
        let house = &around.house;
        quotas::rotate(house, &around.limits, number, &mut around.report);
        let log = files::append(&house.life_log(number))?;
        let (program, args) = if kept {
            (ladder.binaries.get(&tree).context("the kept binary is gone")?, vec![])
        } else {
            let built = ladder.binaries.built(&tree);
            cargo_run(built.context("the binary that was built is gone or was changed")?)
        };
        let mut extra = child::of_life(house, number, &commit, safe);
        daemons.own.broker.tokens.unproven = around.state.unexamined.as_ref() == Some(&tree);
        let broker = daemons.door(house, Some(number))?;
        if !safe {
            extra.extend(broker.iter().flat_map(|door| packages::variables(&around.settings.packages, door)));
        }
        self.heart.reset();
        self.request_seen = files::mark(&house.request());
        let named = around.settings.risky.as_deref().filter(|_| !safe);
        let granted = Granted::risky(&self.walled.walls, named, |named| risky::granted(house, named))
            .unwrap_or_else(|why| {
                around.report.warn(&why);
                Granted::default()
            });
        granted.told().iter().for_each(|told| around.report.say(told));
        let (occupant, walls, stdout) = (Occupant::Life, &self.walled.walls, log.try_clone()?);
        let start = Start { occupant, program, args, extra, walls, granted, broker, stdout, stderr: log };
        self.life = Some(Life {
            tree: child::start(house, &self.walled.bond, start)?,
            began: around.now(),
            memory_kills: memory_kills(),
            exited: None,
            bereft: None,
            thought: false,
            turned: ([None, None], 0),
            watched: Watched::of(house, number, around.state.born.is_some()),
        });
        // What the last life planted may be planted again at once: it is cleared after this one.
        ladder.may_be_planted = false;
        let data = json!({"life": number, "commit": commit, "safe": safe, "kept_binary": kept});
        records::tell(house, "life", data);
        around.report.lives(number, &short(version.commit), kept, safe);
        Ok(())
    }

    /// The process of the life that runs, until it has exited.
    pub fn pid(&self) -> Option<i32> {
        self.life.as_ref().filter(|life| life.exited.is_none()).map(|life| life.tree.pid.as_raw())
    }

    /// The model the running life has named; empty until then.
    pub fn mind(&self) -> &str {
        if self.pid().is_some() { &self.heart.claim.mind } else { "" }
    }

    /// Looks at the life's conduct; returns observations for the policy.
    pub fn observe(&mut self, around: &mut Around) -> Option<Observed> {
        let now = around.now();
        let life = self.life.as_mut()?;
        let claim = &self.heart.claim;
        // A life that has just begun has no mind yet; one that never names it is taken to have the one before.
        let before = || around.decided.record.conducts.0.last().map(|conduct| conduct.mind.clone());
        let mind = match claim.mind.is_empty() {
            true if now < life.began + NAMED_MS => return None,
            true => before().unwrap_or_default(),
            false => claim.mind.clone(),
        };
        let seen = life.watched.look(claim, now);
        if seen.iter().any(|(_, kept)| !kept) {
            around.state.broken = life.watched.witness.examples();
        }
        let is_self_edit = around.state.selves.contains(&around.state.tree);
        (!seen.is_empty()).then_some(Observed { mind, is_self_edit, seen })
    }

    /// Returns a beat since the last look, as records confirm it: turns, and whether a thought is written.
    pub fn beat(&mut self, house: &House, number: u64) -> Option<(u64, bool)> {
        let claim = self.heart.look(number)?;
        let (turns, thoughts) = (claim.turns, claim.thoughts);
        let thought = thoughts > 0 && self.thought_written(house, number);
        Some((self.turns_written(house, turns), thought))
    }

    /// Whether memory holds a thought of this life: the heartbeat's claim alone does not count.
    fn thought_written(&mut self, house: &House, number: u64) -> bool {
        let Some(life) = &mut self.life else { return false };
        if !life.thought {
            let text = files::tail(&house.memory(), files::SMALL_FILE_BYTES);
            life.thought = text.lines().rev().any(|line| heartbeat::is_thought_of(line, number));
        }
        life.thought
    }

    /// Counts claimed turns only when memory or bookkeeping has changed since turns counted last.
    pub fn turns_written(&mut self, house: &House, claimed: u64) -> u64 {
        let records = [house.memory(), house.bookkeeping()].map(|path| files::mark(&path));
        let Some(life) = &mut self.life else { return 0 };
        if claimed > life.turned.1 && records != life.turned.0 {
            life.turned = (records, claimed);
        }
        life.turned.1
    }

    /// Ends a life whose memory or heartbeat was moved away: its walls grant it the old inodes only, so a new life is
    /// needed. True where that is seen first.
    pub fn end_the_bereft(&mut self, house: &House, grace_ms: Millis, now: Millis) -> bool {
        let Some(life) = self.life.as_mut().filter(|_| self.walled.walls.stand()) else { return false };
        if life.bereft.is_some_and(|since| now >= since + grace_ms) {
            life.tree.kill();
        }
        let first = life.bereft.is_none() && life.tree.given != prepare::lying(house);
        if first {
            life.bereft = Some(now);
            life.tree.terminate();
        }
        first
    }
}
