//! One outage of the model: the house it happens to, what is bounded while it lasts, and what must come after it.

use super::server::{Server, Trouble};
use crate::survival::trial::{Trial, peak_kib};
use serde_json::Value;
use std::time::{Duration, Instant};
use trials::House;
use trials::model::MONEY;
use trials::programs::{creature, place};

/// How long a creature is watched in trouble.
const WATCHED: Duration = Duration::from_secs(7);

/// Attempts of one call that is told to come later.
const ATTEMPTS: u64 = 3;

/// Replies that cannot be read are asked for again after 5, 10, 20 s: so many in the time watched, and one to spare.
const GARBLED: u64 = 3;

/// A trouble, and what must come of it.
pub struct Outage {
    trouble: Trouble,
    /// What memory says of it.
    said: &'static str,
    /// Replies came, and could not be read.
    garbled: bool,
    /// Seconds of the first rest.
    rest_s: u64,
    /// Most tries of one life while it is watched, with a rest before each but the first.
    tries: u64,
    /// Most calls of one life while it is watched.
    calls: u64,
    /// The owner says a word once it is over; else the rest ends by itself.
    word: bool,
    /// The broker asks no more until the owner acts.
    latched: bool,
}

impl Outage {
    pub fn of(trouble: Trouble) -> Self {
        Self {
            trouble,
            said: "",
            garbled: false,
            rest_s: 60,
            tries: 1,
            calls: ATTEMPTS,
            word: true,
            latched: false,
        }
    }

    pub fn says(self, said: &'static str) -> Self {
        Self { said, ..self }
    }

    pub fn garbled(self, said: &'static str) -> Self {
        Self { said, garbled: true, calls: GARBLED, word: false, ..self }
    }

    pub fn rests(self, rest_s: u64) -> Self {
        Self { rest_s, ..self }
    }

    pub fn tries(self, tries: u64) -> Self {
        Self { tries, calls: tries * ATTEMPTS, ..self }
    }

    pub fn calls(self, calls: u64) -> Self {
        Self { calls, ..self }
    }

    pub fn unaided(self) -> Self {
        Self { word: false, ..self }
    }

    pub fn latched(self) -> Self {
        Self { latched: true, ..self }
    }

    /// Falls into the trouble, is lived with for a while, and is over.
    pub fn lived(&self, trial: &mut Trial) {
        let server = move_in(trial);
        at_work(trial);
        trial.inject(|_| server.fall_into(self.trouble));
        let before = (server.asked(), lives(trial), ledger(trial.house()).len());
        let anew_before = asked_anew(trial.house());
        self.told(trial);
        self.watched(trial);
        let anew = asked_anew(trial.house()) - anew_before;
        // A broker that was killed too is another way to the model, which ends the wait; and a conversation that a new life
        // takes up may be what a server of status 500 falls over, so it is asked once more in a shorter one.
        let (ways, forms) = if trial.variant.is_killed() { (anew, 2) } else { (0, 1) };
        let lives = lives(trial) - before.1 + 1 + ways;
        let asked = server.asked() - before.0;
        // A call may be under way when the trouble begins, and the one after it is of the same life.
        let rests: Vec<String> = memory(trial.house())
            .iter()
            .filter(|record| record["data"]["rest_s"].is_u64())
            .map(|record| format!("{} {}", record["at"], record["data"]))
            .collect();
        let rests = rests.join("\n");
        assert!(
            asked <= (self.calls * forms + 1) * lives,
            "{asked} calls of {lives} lives and new ways to the model, no rest between\n{rests}"
        );
        let tries = tries(trial.house());
        assert!(
            self.garbled || tries <= self.tries * lives,
            "{tries} tries of {lives} lives, no rest between"
        );
        trial.note(self.cost(asked, self.spent(trial.house(), before.2)));
        if self.trouble == Trouble::Huge {
            let taken = server.sent_bytes();
            assert!(taken < (40 * asked.max(1)) << 20, "{taken} bytes were taken");
            for (who, pid) in [("creature", "/creature_pid"), ("broker", "/broker/pid")] {
                let pid = trial.house().status().pointer(pid).and_then(Value::as_i64).expect("it lives");
                let peak_kib = peak_kib(pid as i32);
                assert!((1..128 << 10).contains(&peak_kib), "the {who} held {peak_kib} KiB");
            }
        }
        self.over(trial, &server);
        trial.recovers();
        server.close();
    }

    /// What the broker counted since line `from` of its ledger, in millionths of a dollar; nothing for a refusal.
    fn spent(&self, house: &House, from: usize) -> u64 {
        let settled = ledger(house).into_iter().skip(from).filter(|line| line["event"] == "settle");
        // Paid for by what was used: a readable reply, of this outage or of a call that was under way before it.
        let (used, unanswered): (Vec<_>, Vec<_>) = settled.partition(|line| line["decision"] == "by usage");
        let sum =
            |lines: &[Value]| lines.iter().filter_map(|line| line["cost_micro_usd"].as_u64()).sum::<u64>();
        if matches!(self.trouble, Trouble::Status(..) | Trouble::Down) {
            assert_eq!(sum(&unanswered), 0, "a refusal was paid for: {unanswered:#?}");
            assert!(used.len() < 2, "refused, and paid for by usage: {used:#?}");
            return 0;
        }
        sum(&used) + sum(&unanswered)
    }

    /// What it cost while it was watched, and what hours of it would; the latter is computed in the creature's own
    /// tests, from the rests alone.
    fn cost(&self, asked: u64, micro_usd: u64) -> String {
        let hours = match (self.garbled, self.latched, self.rest_s) {
            (true, ..) => "77 calls by its rests",
            (_, true, _) => "one more an hour at most, for the broker waits for the owner",
            (_, _, 901) => "8 calls by its rests",
            // 3, 6, 12 s and so on up to an hour.
            (_, _, 3) => "16 tries of 3 calls at most by its rests",
            _ if self.calls == 1 => "11 calls by its rests",
            _ => "11 tries of 3 calls at most by its rests",
        };
        format!(
            "{asked} calls in the {} s it was watched, {:.4} USD counted; six hours come to {hours}",
            WATCHED.as_secs(),
            micro_usd as f64 / 1e6
        )
    }

    /// Waits until memory says what is wrong, in words.
    pub fn told(&self, trial: &mut Trial) {
        let (said, garbled, rest_s) = (self.said, self.garbled, self.rest_s);
        trial.until(&format!("memory to say `{said}`"), |house| {
            memory(house).iter().any(|record| {
                let data = &record["data"];
                let text = data[if garbled { "error" } else { "text" }].as_str().unwrap_or_default();
                let right = if garbled { data["garbled"] == true } else { data["rest_s"] == rest_s };
                right && text.contains(said)
            })
        });
    }

    /// The creature is alive all the time, and nobody is blamed for what is not its fault.
    pub fn watched(&self, trial: &mut Trial) {
        let since = Instant::now();
        let mut beats = std::collections::BTreeSet::new();
        trial.until("some time of it", |house| {
            beats.insert(
                std::fs::metadata(house.path(".self/heartbeat")).and_then(|meta| meta.modified()).ok(),
            );
            since.elapsed() > WATCHED
        });
        assert!(beats.len() > 1, "no beat while {:?}", self.trouble);
        let deaths: Vec<Value> =
            trial.house().deaths().into_iter().skip(trial.oracle.deaths_before).collect();
        assert!(deaths.is_empty(), "it died of the world: {deaths:#?}");
    }

    /// The world mends, and the creature thinks again.
    pub fn over(&self, trial: &mut Trial, server: &Server) {
        let thoughts = read_thoughts(trial.house());
        server.fall_into(Trouble::None);
        if self.latched {
            let before = trial.house().broker_pid();
            trial.house().write(".env", "# A new key, and money for it.\n");
            trial.until("a broker that knows of the owner's act", |house| {
                house.broker_pid().is_some_and(|pid| Some(pid) != before)
            });
        }
        if self.word {
            trial.house().say("it answers again");
        }
        trial.until("it to think again", |house| read_thoughts(house) > thoughts + 1);
        if !self.garbled {
            let told = memory(trial.house());
            let told = told.iter().filter_map(|record| record["data"]["text"].as_str());
            let again = told.into_iter().any(|text| text.contains("answers again"));
            assert!(again || trial.variant.is_killed(), "memory does not say that it is over");
        }
    }
}

/// A house that thinks with a model on loopback, asked by a broker of its own.
pub fn move_in(trial: &mut Trial) -> Server {
    trial.shell("exec target/creature/the-real-one");
    // Within the house: the walls show it nothing else of what is not the system's.
    std::fs::create_dir_all(trial.house().path("target/creature")).unwrap();
    place(creature(), &trial.house().path("target/creature/the-real-one"));
    trial.house().take_broker();
    let server = Server::start();
    trial.env.push(("TEST_MODEL_KEY".into(), "test-key-of-the-house".into()));
    trial.house().settings(&format!(
        "{MONEY}[rest]\nshortest_s = 1\n[model]\nprovider = \"anthropic\"\nmodel = \"scripted\"\nbase_url = \"{}\"\nkey_env = \"TEST_MODEL_KEY\"\ntools = \"json\"\ndeadline_s = 5",
        server.url()
    ));
    server
}

pub fn memory(house: &House) -> Vec<Value> {
    trials::lines(&house.path(".self/memory.jsonl"))
}

/// The broker's lines.
fn ledger(house: &House) -> Vec<Value> {
    trials::lines(&house.path(".self/ledger.jsonl"))
}

/// Starts a house, and gives its mind a reason to think on: a word of the owner's that it never answers.
pub fn at_work(trial: &mut Trial) {
    trial.begin();
    trial.until("a thought of the model's", |house| read_thoughts(house) > 0);
    trial.house().say("think of what you will");
    let thoughts = read_thoughts(trial.house());
    trial.until("thoughts on the owner's word", |house| read_thoughts(house) > thoughts + 1);
}

/// Lets the time go by that an outage is watched.
pub fn pass(trial: &mut Trial) {
    let since = Instant::now();
    trial.until("some time of it", |_| since.elapsed() > WATCHED);
}

fn is_read(thought: &Value) -> bool {
    thought["data"]["garbled"] != true
}

/// Thoughts that could be read.
fn read_thoughts(house: &House) -> usize {
    house.thoughts().iter().filter(|thought| is_read(thought)).count()
}

/// How often a mind was found down.
fn tries(house: &House) -> u64 {
    logged(house, "the mind is down, next try")
}

/// How often the wait for a mind ended, for another broker stands before it.
fn asked_anew(house: &House) -> u64 {
    logged(house, "the way to the model has changed")
}

/// How often the logs say this.
fn logged(house: &House, text: &str) -> u64 {
    let logs = std::fs::read_dir(house.path(".self/log")).unwrap().flatten();
    let logs = logs.filter_map(|entry| std::fs::read_to_string(entry.path()).ok());
    logs.map(|log| log.matches(text).count() as u64).sum()
}

fn lives(trial: &Trial) -> u64 {
    trial.house().told("life").len() as u64
}
