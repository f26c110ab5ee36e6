//! The creature's process: the walls and the bond it starts with, the life that runs, its heartbeat and its conduct.

use crate::act::conduct::Watched;
use crate::act::heartbeat::{self, Heartbeat};
use house::House;
use house::clock::Millis;
use house::files::{self, Mark};
use nix::sys::wait::WaitStatus;
use processes::child::{Bond, Tree};
use processes::prepare;
use walls::Walls;

pub struct Living {
    pub walls: Walls,
    pub bond: Bond,
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

impl Living {
    pub fn new(house: &House, walls: Walls, bond: Bond) -> Self {
        Self { walls, bond, heart: Heartbeat::new(house.heartbeat()), life: None, request_seen: None }
    }

    /// The model the running life has named; empty until then.
    pub fn mind(&self) -> &str {
        let lives = self.life.as_ref().is_some_and(|life| life.exited.is_none());
        if lives { &self.heart.claim.mind } else { "" }
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
        let Some(life) = self.life.as_mut().filter(|_| self.walls.stand()) else { return false };
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
