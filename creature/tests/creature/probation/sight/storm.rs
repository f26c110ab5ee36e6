//! Random events, faults and kills over lives and conversations: no request is refused for its form, nothing is done twice.

use super::world::{JSON, NATIVE, World};
use crate::broker::{TOKEN, loopback};
use crate::clock::{Chance, Killed, Time, cut};
use crate::faithful::{Rules, Say, Seen, Wire};
use agenda::Change;
use agenda::reminder::{ReminderChange, Schedule};
use creature::config::Told;
use creature::fault::Fault;
use creature::life::birth::birth;
use creature::life::{Leaving, Life, Next};
use creature::paths::House;
use hands::Broker;
use serde_json::json;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Lines to be written, each once.
const LINES: usize = 16;

/// Events until the world is calm.
const EVENTS: usize = 45;

const NOON: &str = "2026-03-02T12:00:00Z";

/// A mind that writes what is missing and looks where it does not know; in a storm its replies come broken.
fn writer(seed: u64, calm: Arc<Mutex<bool>>) -> impl FnMut(&Seen) -> Say + Send {
    let mut dice = Chance::of(seed);
    move |seen| {
        let say = writes(seen, &mut dice);
        if *calm.lock().unwrap() {
            return say;
        }
        match dice.below(16) {
            0 => say.cut_after(dice.below(3_000) as usize),
            1 => Say::new().status(401, r#"{"error": {"message": "no"}}"#),
            2 => Say::new().thinks("What was I to say?").stop("refusal"),
            3 => Say::new(),
            4 => say.stop("max_tokens"),
            5 => say.duplicate_ids(),
            6 => say.lone_surrogate(),
            7 => say.broken_arguments("notes.read", "{\"name\": "),
            8 => say.calls("notes.burn", json!({"name": "diary"})),
            _ => say,
        }
    }
}

fn writes(seen: &Seen, dice: &mut Chance) -> Say {
    // The same look again and again is refused: each is another.
    let mut looks = |say: Say| {
        let lines = 200 + dice.below(100_000);
        say.thinks("How far am I?")
            .says("I look.")
            .calls("notes.read", json!({"name": "diary", "lines": lines}))
    };
    if seen.autonomous || !seen.all_text().contains("write sixteen lines") {
        return if seen.last_results().is_empty() { looks(Say::new()) } else { Say::new().rests(300) };
    }
    let results = seen.last_results();
    let unsure = results
        .iter()
        .any(|(_, text)| ["outcome unknown", "not run", "failed:"].iter().any(|sign| text.contains(sign)));
    let read = results.iter().find(|(name, _)| name.replace('_', ".") == "notes.read");
    match (read, results.first()) {
        // Of a reply that could not be read no call was made, though it names some.
        (Some((_, text)), _) if !unsure && text.contains("missing: ") => {
            let missing: Vec<usize> = (0..LINES).filter(|at| !text.contains(&format!("<{at}>"))).collect();
            let line = |at: &usize| json!({"name": "diary", "text": format!("line <{at}>")});
            // One or two at once, and a look after them.
            let some = missing.iter().take(1 + dice.below(2) as usize);
            match missing.is_empty() {
                true => Say::new().says("All is written.").calls("owner.message", json!({"text": "done"})),
                false => some.fold(Say::new().says("On."), |say, at| say.calls("notes.append", line(at))),
            }
        }
        (_, Some((name, _))) if name.contains("owner") && !unsure => Say::new().rests(300),
        _ => looks(Say::new()),
    }
}

/// Asked to leave once so many looks were taken.
struct Soon(u64);

impl Leaving for Soon {
    async fn asked(&mut self) {
        poll_fn(|_| match self.0 {
            0 => Poll::Ready(()),
            _ => {
                self.0 -= 1;
                Poll::Pending
            }
        })
        .await;
    }
}

struct Storm {
    world: World,
    time: Arc<Time>,
    life: Option<Life>,
    lives: u64,
    dice: Chance,
    events: usize,
    runtime: Runtime,
}

impl Storm {
    /// The next life; in some the model's window is another, and with it the words of the prompt.
    fn told(&mut self) -> Told {
        self.lives += 1;
        self.world.offer(json!({"window": 200_000 - 40_000 * self.dice.below(2)}));
        Told {
            house: House::new(self.world.house.path("")),
            life: self.lives,
            commit: format!("c0ffee{:034}", self.lives),
            safe: false,
            rehearsal: false,
            broker: Some(Broker::new(self.world.house.broker.as_ref().unwrap(), TOKEN).unwrap()),
            lifeline: creature::lifeline::Lifeline::default(),
            clock: self.time.clock(),
        }
    }

    /// One wake: killed between two writes or where it waits, asked to leave, or with whatever else happens before.
    fn turn(&mut self, is_calm: bool) {
        let (mut polls, mut readings, mut leaving) = (u64::MAX, -1, Soon(u64::MAX));
        match if is_calm { u64::MAX } else { self.dice.below(16) } {
            0 | 1 => polls = self.dice.below(40),
            2..=4 => readings = self.dice.below(60) as i64,
            5 => leaving = Soon(self.dice.below(60)),
            event => self.happens(event),
        }
        let mut life = self.life.take();
        let told = life.is_none().then(|| self.told());
        self.time.spare(readings);
        let runtime = &self.runtime;
        let turned = catch_unwind(AssertUnwindSafe(|| {
            let turn = async {
                if let Some(told) = told {
                    life = Some(birth(told).await.unwrap());
                }
                let life = life.as_mut().unwrap();
                let next = life.wake(&mut leaving).await?;
                let end = match &next {
                    // What runs apart goes on in the rest.
                    Next::Rest(_) => life.rest(None, &mut leaving).await?,
                    Next::Reborn(_) | Next::Leave => None,
                };
                Ok::<Next, Fault>(end.unwrap_or(next))
            };
            runtime.block_on(cut(turn, polls))
        }));
        let turned = match turned {
            Ok(turned) if !self.time.dead() => turned,
            Err(fall) if !fall.is::<Killed>() => resume_unwind(fall),
            _ => None,
        };
        self.time.spare(-1);
        match turned {
            None | Some(Ok(Next::Leave)) => self.time.pass(Duration::from_secs(1)),
            Some(Ok(Next::Rest(rest))) => {
                self.time.pass(rest.max(Duration::from_secs(1)));
                self.life = life;
            }
            Some(Ok(Next::Reborn(summary))) => panic!("nobody edits: {summary}"),
            Some(Err(fault)) => panic!("failed to {} ({})", fault.error, fault.hint),
        }
    }

    fn happens(&mut self, event: u64) {
        self.events += 1;
        let (number, house) = (self.events, &self.world.house);
        let says = |text: &str| {
            let at = self.time.now().to_string();
            house.say(&json!({"at": at, "text": text}).to_string());
        };
        match event {
            6 => says(&format!("and be quick about it, {number}")),
            7 => says("pause"),
            8 => says("resume"),
            9 => {
                let outcome = json!({"id": format!("ask-{number}"), "event": "executed", "kind": "post", "result": "it went"});
                house.add(".self/asks.jsonl", &format!("{outcome}\n"));
            }
            10 => house.write("PURPOSE.md", format!("# Purpose\n\nBe curious, {number}.\n")),
            11 => {
                let schedule = Schedule::Daily { time: "13:30".parse().unwrap() };
                let (text, zone) = (format!("tea {number}"), Some("UTC".to_owned()));
                let add = Change::Reminder(ReminderChange::Add { text, prompt: None, schedule, zone });
                self.life.iter_mut().for_each(|life| _ = life.change(&add).unwrap());
            }
            12 => self.time.pass(Duration::from_secs(self.dice.below(7_200))),
            _ => {}
        }
    }
}

fn weathered(wire: Wire, rules: Rules, form: &str, seed: u64) {
    println!("{wire:?} {form}: FERAL_SEED={seed}");
    let calm = Arc::new(Mutex::new(false));
    let world = World::new(wire, Rules { seed, ..rules }, form, writer(seed, Arc::clone(&calm)));
    world.house.say(&json!({"at": NOON, "text": "write sixteen lines into the diary"}).to_string());
    let (time, dice) = (Time::at(NOON), Chance::of(seed ^ 0xfeed));
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let mut storm = Storm { world, time, life: None, lives: 0, dice, events: 0, runtime };
    for _ in 0..EVENTS {
        storm.turn(false);
        storm.world.server.assert_no_violations();
    }
    *calm.lock().unwrap() = true;
    storm.world.house.say(r#"{"text": "resume"}"#);
    storm.world.house.say(r#"{"text": "write sixteen lines into the diary: are they all there?"}"#);
    let (house, mut turns) = (storm.world.house.path("self/diary.md"), 0);
    let diary = || std::fs::read_to_string(&house).unwrap_or_default();
    while (0..LINES).any(|at| !diary().contains(&format!("<{at}>"))) {
        turns += 1;
        assert!(turns < 60, "it never gets there: {}\n{:#?}", diary(), storm.world.house.records().last());
        storm.turn(true);
        storm.world.server.assert_no_violations();
    }
    for at in 0..LINES {
        assert_eq!(diary().matches(&format!("<{at}>")).count(), 1, "line {at}: {}", diary());
    }
    let asked = storm.world.server.seen().len();
    println!("{} lives, {} events, {asked} requests, {turns} calm wakes", storm.lives, storm.events);
}

/// A seed or two of each wire; as many more as `FERAL_STORMS` says, and `FERAL_SEED` for the same again.
#[test]
fn in_any_storm_no_request_is_refused_for_its_form_and_nothing_is_written_twice() {
    loopback!();
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let (first, storms) = (number("FERAL_SEED").unwrap_or(1), number("FERAL_STORMS").unwrap_or(1));
    for seed in first..first + storms {
        weathered(Wire::Anthropic, Rules::default(), NATIVE, seed);
        weathered(Wire::Responses, Rules::default(), NATIVE, seed);
        weathered(Wire::Chat, Rules::local(), NATIVE, seed);
        weathered(Wire::Anthropic, Rules::default(), JSON, seed);
    }
}
