//! What became of each word: heard, done, answered and told, by what the house keeps and by what the platform saw.

use super::house::Place;
use super::owner::Said;
use super::platform::{GROUP, OWNER};
use super::strikes::Struck;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use trials::lines;

/// How long nothing may change at the end before what is missing counts as lost.
const STILL: Duration = Duration::from_secs(120);
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// What the outbox told of the messages that went through it: it is written anew now and then.
#[derive(Default)]
struct Steps {
    texts: BTreeMap<String, String>,
    last: BTreeMap<String, String>,
}

pub struct Judge {
    steps: Arc<Mutex<Steps>>,
    over: Arc<AtomicBool>,
    outbox: PathBuf,
}

impl Judge {
    pub fn begin(place: &Place) -> Self {
        let outbox = place.house.path(".self/broker/channels/out.jsonl");
        let judge = Self { steps: Arc::default(), over: Arc::default(), outbox };
        let (steps, over, outbox) = (judge.steps.clone(), judge.over.clone(), judge.outbox.clone());
        std::thread::spawn(move || {
            let mut last = None;
            while !over.load(Ordering::Relaxed) {
                let now = std::fs::metadata(&outbox).and_then(|meta| Ok((meta.len(), meta.modified()?))).ok();
                if now != last {
                    steps.lock().unwrap().read(&outbox);
                    last = now;
                }
                std::thread::sleep(BETWEEN_LOOKS);
            }
        });
        judge
    }

    pub fn progress(&self, elapsed: Duration, struck: &Struck, said: usize) {
        let steps = self.steps.lock().unwrap();
        let of = |step: &str| steps.last.values().filter(|last| *last == step).count();
        eprintln!(
            "channels: {:>5} s: {} strikes, {said} words, {} messages sent, {} doubtful",
            elapsed.as_secs(),
            struck.all(),
            of("sent"),
            of("doubtful")
        );
    }

    /// Waits until all is quiet, and judges.
    pub fn end(self, place: &mut Place, said: &[Said], struck: &Struck, took: Duration, seed: u64) -> Value {
        let (mut look, mut changed) = (Look::of(place), Instant::now());
        while !look.is_whole(said) && changed.elapsed() < STILL {
            std::thread::sleep(BETWEEN_LOOKS * 10);
            let next = Look::of(place);
            if next.sizes() != look.sizes() {
                changed = Instant::now();
            }
            look = next;
        }
        self.over.store(true, Ordering::Relaxed);
        let mut steps = self.steps.lock().unwrap();
        steps.read(&self.outbox);
        let mut figures = judged(&look, said, &steps);
        figures["minutes"] = json!((took.as_secs_f64() / 6.0).round() / 10.0);
        figures["seed"] = json!(seed);
        figures["struck"] = json!(struck.0);
        figures["commit"] = json!(crate::survival::render::commit());
        let strays = place.platform.asked("seen", &json!({ "from": 1_000_000 }))["strays"].clone();
        if strays != json!([]) {
            figures["faults"]
                .as_array_mut()
                .unwrap()
                .push(json!(format!("arguments that no method has: {strays}")));
        }
        figures
    }
}

impl Steps {
    fn read(&mut self, outbox: &std::path::Path) {
        for line in lines(outbox) {
            let key = line["key"].as_str().or(line["item"]["key"].as_str()).unwrap_or_default().to_owned();
            let step = line["step"].as_str().unwrap_or_default().to_owned();
            if let Some(text) = line["item"]["text"].as_str() {
                self.texts.insert(key.clone(), text.to_owned());
            }
            let is_over = |step: &str| ["sent", "doubtful", "refused"].contains(&step);
            if !key.is_empty() && !self.last.get(&key).is_some_and(|last| is_over(last)) {
                self.last.insert(key, step);
            }
        }
    }

    /// Messages on this word that ended so.
    fn ended(&self, name: &str, as_what: &str) -> usize {
        let keys = self.texts.iter().filter(|(_, text)| text.contains(name)).map(|(key, _)| key);
        keys.filter(|key| self.last.get(*key).is_some_and(|last| last == as_what)).count()
    }
}

/// The house and the platform at one moment.
struct Look {
    heard: Vec<(String, String)>,
    answers: Vec<(String, String)>,
    list: String,
    /// What the bot sent: chat and text, in order.
    told: Vec<(i64, String)>,
}

impl Look {
    fn of(place: &Place) -> Self {
        let records = lines(&place.house.path(".self/memory.jsonl"));
        let of = |from: &str| -> Vec<(String, String)> {
            let messages =
                records.iter().filter(|record| record["kind"] == "message" && record["data"]["from"] == from);
            let text =
                |record: &Value, name: &str| record["data"][name].as_str().unwrap_or_default().to_owned();
            messages.map(|record| (text(record, "thread"), text(record, "text"))).collect()
        };
        let told = place.platform.seen(0).into_iter().map(|message| {
            let text = message["text"].as_str().unwrap_or_default().to_owned();
            (message["chat"]["id"].as_i64().unwrap_or(0), text)
        });
        let list = place.house.read("self/notes/todo.md");
        Self { heard: of("owner"), answers: of("creature"), list, told: told.collect() }
    }

    fn sizes(&self) -> (usize, usize, usize) {
        (self.heard.len(), self.answers.len(), self.told.len())
    }

    fn is_whole(&self, said: &[Said]) -> bool {
        said.iter()
            .all(|said| self.told.iter().any(|(chat, text)| *chat == said.chat && text.contains(&said.name)))
    }
}

fn judged(look: &Look, said: &[Said], steps: &Steps) -> Value {
    let mut faults: Vec<String> = Vec::new();
    let (mut answered, mut doubtful, mut doubtful_arrived) = (0, 0, 0);
    for Said { name, chat, .. } in said {
        let count =
            |all: &[(String, String)]| all.iter().filter(|(_, text)| text.contains(name.as_str())).count();
        let (heard, answers) = (count(&look.heard), count(&look.answers));
        let done = look.list.matches(name.as_str()).count();
        let told = look.told.iter().filter(|(to, text)| to == chat && text.contains(name.as_str())).count();
        let astray = look.told.iter().filter(|(to, text)| to != chat && text.contains(name.as_str())).count();
        let in_doubt = steps.ended(name, "doubtful");
        if heard != 1 {
            faults.push(format!("{name} was heard {heard} times"));
        }
        if done != 1 {
            faults.push(format!("{name} stands {done} times on the list"));
        }
        if answers == 0 {
            faults.push(format!("{name} has no answer"));
        }
        if astray > 0 {
            faults.push(format!("the answer to {name} went to another chat"));
        }
        match (told, in_doubt) {
            (1, 0) => answered += 1,
            (0 | 1, 1..) => {
                doubtful += 1;
                doubtful_arrived += told;
            }
            (0, 0) => faults.push(format!("the answer to {name} was lost")),
            (times, doubts) => {
                faults.push(format!("the answer to {name} was told {times} times, {doubts} in doubt"))
            }
        }
    }
    for chat in [OWNER, GROUP] {
        let names: Vec<&str> =
            said.iter().filter(|said| said.chat == chat).map(|said| said.name.as_str()).collect();
        let of_chat: Vec<&str> =
            look.told.iter().filter(|(to, _)| *to == chat).map(|(_, text)| text.as_str()).collect();
        let heard: Vec<&str> = look.heard.iter().map(|(_, text)| text.as_str()).collect();
        in_order("heard", chat, &names, &heard, &mut faults);
        in_order("told", chat, &names, &of_chat, &mut faults);
    }
    let doubts_told = look.told.iter().filter(|(_, text)| text.contains("may not have")).count();
    if doubtful > doubtful_arrived && doubts_told == 0 {
        faults.push("what is in doubt was never told".into());
    }
    json!({
        "words": said.len(), "answered_once": answered, "doubtful": doubtful, "doubtful_arrived": doubtful_arrived,
        "doubts_told": doubts_told, "messages": look.told.len(), "faults": faults,
    })
}

/// Words come in the order in which they were said.
fn in_order(what: &str, chat: i64, names: &[&str], texts: &[&str], faults: &mut Vec<String>) {
    let mut last = 0;
    let mut seen = BTreeSet::new();
    for text in texts {
        for (at, name) in names.iter().enumerate().filter(|(_, name)| text.contains(**name)) {
            if seen.insert(at) && at < last {
                faults.push(format!("{name} was {what} after {} in {chat}", names[last]));
            }
            last = last.max(at);
        }
    }
}
