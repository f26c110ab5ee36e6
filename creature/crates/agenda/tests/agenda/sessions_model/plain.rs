//! What the graph of sub-sessions should be, as plain facts of each and rules applied until nothing changes.

use super::{AT_ONCE, MOST_COST};
use agenda::sessions::{HOP_ROUNDS, HOP_S, MOST_HOPS, Status};
use std::collections::{BTreeMap, BTreeSet};

/// What the graph should be, said as plainly as can be: facts of each session, rules applied until nothing changes.
#[derive(Default)]
pub struct Model {
    pub items: BTreeMap<u64, Item>,
}

#[derive(Clone)]
pub struct Item {
    pub parent: Option<u64>,
    /// Of whose children it is one.
    pub family: String,
    pub on: BTreeSet<u64>,
    pub not_before: Option<i64>,
    pub status: Status,
    pub hop: u32,
    pub began: i64,
    pub rounds: u32,
    pub cost: u64,
    pub misread: u32,
    pub calls: usize,
    pub cuts: u32,
    pub reported: bool,
}

impl Model {
    pub fn settle(&mut self) {
        let broken = |model: &Self, item: &Item| {
            item.on.iter().any(|on| matches!(model.items[on].status, Status::Failed | Status::Cancelled))
        };
        while let Some(id) = self
            .items
            .iter()
            .find(|(_, item)| item.status == Status::Waiting && broken(self, item))
            .map(|(id, _)| *id)
        {
            self.items.get_mut(&id).unwrap().status = Status::Failed;
        }
    }

    pub fn running(&self) -> Vec<u64> {
        self.items.iter().filter(|(_, item)| item.status == Status::Running).map(|(id, _)| *id).collect()
    }

    pub fn turn(&mut self, now: i64) {
        for item in self.items.values_mut().filter(|item| item.status == Status::Running && item.calls == 0) {
            item.began = item.began.min(now);
            if now - item.began >= HOP_S || (item.rounds >= HOP_ROUNDS && item.cost > MOST_COST) {
                match item.hop == MOST_HOPS {
                    true => item.status = Status::Failed,
                    false => (item.hop, item.began, item.rounds, item.cost) = (item.hop + 1, now, 0, 0),
                }
            }
        }
        self.settle();
        let ready = |item: &Item| {
            item.status == Status::Waiting
                && item.not_before.is_none_or(|at| at <= now)
                && item.on.iter().all(|on| self.items[on].status == Status::Done)
        };
        let ready: Vec<u64> = self.items.iter().filter(|(_, item)| ready(item)).map(|(id, _)| *id).collect();
        for id in ready {
            if self.running().len() < AT_ONCE {
                let item = self.items.get_mut(&id).unwrap();
                (item.status, item.hop, item.began) = (Status::Running, 1, now);
            }
        }
    }

    /// Those that have ended and were not told, by whom they come of in the end, where none of these is at work.
    pub fn reports(&self, now: i64) -> BTreeSet<BTreeSet<u64>> {
        let mut groups: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
        for (id, item) in self.items.iter().filter(|(_, item)| item.status.ended() && !item.reported) {
            groups.entry(self.root(item)).or_default().insert(*id);
        }
        let idle = |root: &str| {
            let kin = self.items.values().filter(|item| self.root(item) == root);
            kin.clone().filter(|item| !item.status.ended()).all(|item| self.waits_for_hour(item, now))
        };
        groups.into_iter().filter(|(root, _)| idle(root)).map(|(_, ids)| ids).collect()
    }

    fn root<'a>(&'a self, item: &'a Item) -> &'a str {
        match item.parent.and_then(|parent| self.items.get(&parent)) {
            Some(parent) => self.root(parent),
            None => &item.family,
        }
    }

    fn waits_for_hour(&self, item: &Item, now: i64) -> bool {
        item.status == Status::Waiting
            && (item.not_before.is_some_and(|at| at > now)
                || item.on.iter().any(|on| self.waits_for_hour(&self.items[on], now)))
    }

    /// Whether those hang on each other, by following every way.
    pub fn circular(&self, id: u64, from: u64, seen: &mut BTreeSet<u64>) -> bool {
        self.items[&from].on.iter().any(|on| *on == id || (seen.insert(*on) && self.circular(id, *on, seen)))
    }
}
