//! A house under a clock of its own: lives are born, wake, rest and die in it, while the world outside has its events.

use crate::broker;
use crate::clock::{Chance, Killed, Time, cut};
use crate::house::TempHouse;
use crate::outside::{Model, Outside};
use crate::script;
use creature::config::Told;
use creature::fault::Fault;
use creature::life::birth::birth;
use creature::life::{Leaving, Life, Next};
use creature::paths::House;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// What happens in the world at its hour.
#[derive(Clone)]
pub enum Event {
    /// The owner writes a line.
    Says(String),
    /// The owner saves a file.
    Saves(&'static str, String),
    /// The feed has a new item.
    Publishes(&'static str),
    /// A letter comes.
    Mails(&'static str),
    /// The machine sleeps this long: the hour moves on, and the rest goes on where it was.
    Suspends(Duration),
}

pub struct World {
    pub house: TempHouse,
    pub time: Arc<Time>,
    pub outside: Outside,
    pub lives: u64,
    /// When each wake began, and the rest that was taken after it, in seconds.
    pub wakes: Vec<(Timestamp, u64)>,
    plan: VecDeque<(Timestamp, Event)>,
    life: Option<Life>,
    deaths: Vec<Value>,
    runtime: Runtime,
}

impl World {
    /// A house at this hour, with what the owner set, and events by their time.
    pub fn new(start: &str, settings: &str, plan: Vec<(&str, Event)>) -> Self {
        Self::minded(start, settings, plan, script::reply)
    }

    /// The same with another model.
    pub fn minded(start: &str, settings: &str, plan: Vec<(&str, Event)>, model: Model) -> Self {
        let clock = Time::at(start);
        let outside = Outside::new(Arc::clone(&clock), model);
        let mut house = TempHouse::in_memory();
        house.broker = Some(outside.broker.base());
        house.owner(settings);
        house.write("PURPOSE.md", PURPOSE);
        let mut plan: Vec<_> = plan.into_iter().map(|(at, event)| (time(at), event)).collect();
        plan.sort_by_key(|(at, _)| *at);
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        Self {
            house,
            time: clock,
            outside,
            lives: 0,
            wakes: Vec::new(),
            plan: plan.into(),
            life: None,
            deaths: Vec::new(),
            runtime,
        }
    }

    /// Lives until this hour; with chance, killed now and then wherever it stands.
    pub fn live(&mut self, until: &str, mut chance: Option<&mut Chance>) {
        let until = time(until);
        while self.time.now() < until {
            let began = self.time.now();
            let rest = match self.turn(chance.as_deref_mut()) {
                Some(rest) => rest,
                None => self.died(chance.as_deref_mut().unwrap()),
            };
            self.wakes.push((began, rest.as_secs()));
            let hour = self
                .wakes
                .iter()
                .rev()
                .take(400)
                .take_while(|(at, _)| began.duration_since(*at).as_hours() < 1);
            assert!(
                hour.count() < 400,
                "it spins: 400 wakes within the hour before {began}; {}",
                self.last()
            );
            self.rest(rest, until);
        }
    }

    /// One wake, with a birth before it where it must be; none where it died.
    fn turn(&mut self, chance: Option<&mut Chance>) -> Option<Duration> {
        // One wake in three has an end somewhere in it: at a reading of the clock, or where it waits.
        let (readings, polls) =
            match chance.map(|chance| (chance.below(6), chance.below(30), chance.below(40))) {
                Some((0, readings, _)) => (i64::try_from(readings).unwrap(), u64::MAX),
                Some((1, _, polls)) => (-1, polls),
                _ => (-1, u64::MAX),
            };
        self.time.spare(readings);
        self.lives += u64::from(self.life.is_none());
        let told = self.told();
        let mut life = self.life.take();
        if let Some(purse) = &self.outside.seen().purse {
            self.house.write(".self/budget.json", purse.page(self.time.now()).to_string());
        }
        let runtime = &self.runtime;
        let turned = catch_unwind(AssertUnwindSafe(|| {
            let turn = async {
                if life.is_none() {
                    life = Some(birth(told).await?);
                }
                let life = life.as_mut().unwrap();
                let next = life.wake(&mut Never).await?;
                // What runs apart goes on in the rest; what it came to cuts that short.
                let told = life.cursors.events.news.len();
                let end = life.rest(None, &mut Never).await?;
                let is_told = life.cursors.events.news.len() > told;
                Ok(end.unwrap_or(if is_told { Next::Rest(Duration::from_secs(1)) } else { next }))
            };
            runtime.block_on(cut(turn, polls))
        }));
        let turned = match turned {
            Ok(turned) => turned,
            Err(fall) if fall.is::<Killed>() => None,
            Err(fall) => resume_unwind(fall),
        };
        match turned.filter(|_| !self.time.dead()) {
            Some(Ok(Next::Rest(rest))) => {
                self.life = life;
                Some(rest)
            }
            Some(Ok(Next::Reborn(_) | Next::Leave)) => panic!("nobody asked it to leave"),
            Some(Err(Fault { error, hint, .. })) => panic!("failed to {error} ({hint})"),
            None => {
                self.time.spare(-1);
                drop(life);
                None
            }
        }
    }

    fn told(&self) -> Told {
        Told {
            house: House::new(self.house.path("")),
            life: self.lives,
            commit: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            safe: false,
            rehearsal: false,
            broker: Some(self.outside.broker.client()),
            lifeline: creature::lifeline::Lifeline::default(),
            clock: self.time.clock(),
        }
    }

    /// What the guardian does of a death: it notes it, and starts the next life a moment later.
    fn died(&mut self, chance: &mut Chance) -> Duration {
        if chance.below(3) == 0 {
            // Killed while a line was written.
            self.house.add(".self/memory.jsonl", r#"{"at":"2026-10-2"#);
        }
        let end = json!({"life": self.lives, "at": format!("{:.3}", self.time.now()), "ended": "killed",
            "cause": "signal 9", "blame": "world", "commit": "", "log_tail": ""});
        self.deaths.push(end);
        let from = self.deaths.len().saturating_sub(8);
        let standing =
            json!({"version": 1, "life": self.lives + 1, "guardian_pid": 0, "ends": self.deaths[from..]});
        self.house.write(".self/guardian.json", standing.to_string());
        Duration::from_secs(1)
    }

    /// Moves the clock to the end of the rest, or to what cuts it short.
    fn rest(&mut self, rest: Duration, until: Timestamp) {
        let mut end = self.time.now() + rest;
        while let Some((at, event)) = self.plan.pop_front_if(|(at, _)| *at <= end.min(until)) {
            self.time.pass(between(self.time.now(), at));
            if let Event::Suspends(time) = event {
                self.time.pass(time);
                end += time;
                continue;
            }
            let cuts = matches!(event, Event::Says(_) | Event::Saves("PURPOSE.md" | "self/HEARTBEAT.md", _));
            self.happens(event);
            if cuts {
                return;
            }
        }
        self.time.pass(between(self.time.now(), end.min(until)));
    }

    fn happens(&self, event: Event) {
        match event {
            Event::Says(text) => {
                let at = format!("{:.3}", self.time.now());
                self.house.say(&json!({"at": at, "text": text}).to_string());
            }
            Event::Saves(path, text) => self.house.write(path, text),
            Event::Publishes(title) => self.outside.publish(title),
            Event::Mails(text) => self.outside.mail(text),
            Event::Suspends(_) => unreachable!("handled by the rest itself"),
        }
    }

    /// The latest records, for a complaint.
    pub fn last(&self) -> String {
        let lines: Vec<String> = self
            .house
            .last_records(12)
            .iter()
            .map(|record| format!("\n{} {} {}", record.at, record.kind, record.data))
            .collect();
        lines.concat()
    }

    pub fn deaths(&self) -> usize {
        self.deaths.len()
    }
}

/// Nobody wishes that this life ends.
pub struct Never;

impl Leaving for Never {
    async fn asked(&mut self) {
        std::future::pending().await
    }
}

/// As it stands in records.
pub fn time(text: &str) -> Timestamp {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from).max(SignedDuration::ZERO)).unwrap()
}

/// Rests of a minute to half an hour, in Berlin; calls travel in a JSON thought.
pub const SETTINGS: &str = "[model]\ntools = \"json\"\n[rest]\nshortest_s = 1\nlongest_s = 300\n\
    [agenda]\ntime_zone = \"Europe/Berlin\"\n";

pub const PURPOSE: &str =
    "# Purpose\n\nBe curious about small things.\n\nfeed: http://news.example/feed.xml\n";

/// What the stand-in's status says of a model in one of the wires.
pub fn offered() -> Value {
    broker::offer("openai")
}
