//! The judge of a run: reads what there is again and again, until all is settled or nothing more comes, and ends by itself.

use super::fates::{Records, Said, Steps};
use super::house::Place;
use super::strikes::Struck;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use trials::lines;

/// How long all is looked at once it is settled: what comes twice comes then. How long nothing may change before what is
/// missing counts as lost; and the longest wait whatever changes.
const SETTLED: Duration = Duration::from_secs(10);
const STILL: Duration = Duration::from_secs(120);
const LONGEST: Duration = Duration::from_secs(15 * 60);
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

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
                    steps.lock().unwrap().read(&lines(&outbox));
                    last = now;
                }
                std::thread::sleep(BETWEEN_LOOKS);
            }
        });
        judge
    }

    pub fn progress(&self, elapsed: Duration, struck: &Struck, said: usize) {
        let steps = self.steps.lock().unwrap();
        eprintln!(
            "channels: {:>5} s: {} strikes, {said} words, {} messages sent, {} doubtful",
            elapsed.as_secs(),
            struck.all(),
            steps.count("sent"),
            steps.count("doubtful")
        );
    }

    /// Waits until all is quiet, and judges.
    pub fn end(self, place: &Place, said: &[Said]) -> Value {
        let (begun, mut changed) = (Instant::now(), Instant::now());
        let mut records = self.look(place);
        let (judged_after, why) = loop {
            let is_settled = records.is_settled(said);
            let why = match changed.elapsed() {
                quiet if is_settled && quiet > SETTLED => Some("all was settled"),
                quiet if quiet > STILL => Some("nothing more came"),
                _ if begun.elapsed() > LONGEST => Some("its time was over"),
                _ => None,
            };
            if let Some(why) = why {
                break (begun.elapsed(), why);
            }
            std::thread::sleep(BETWEEN_LOOKS * 10);
            let next = self.look(place);
            if next.sizes() != records.sizes() {
                changed = Instant::now();
            }
            records = next;
        };
        self.over.store(true, Ordering::Relaxed);
        let mut figures = records.judged(said);
        figures["judged"] = json!(format!("after {} s, when {why}", judged_after.as_secs()));
        let strays = place.platform.asked("seen", &json!({ "from": 1_000_000 }))["strays"].clone();
        if let (true, Some(faults)) = (strays != json!([]), figures["faults"].as_array_mut()) {
            faults.push(json!(format!("arguments that no method has: {strays}")));
        }
        figures
    }

    fn look(&self, place: &Place) -> Records {
        let memory: Vec<Value> = house::records::whole(&place.house.path(".self/memory.jsonl"), "")
            .flat_map(|path: PathBuf| lines(Path::new(&path)))
            .collect();
        let of = |from: &str| -> Vec<String> {
            let is_theirs = |record: &&Value| record["kind"] == "message" && record["data"]["from"] == from;
            let text = |record: &Value| record["data"]["text"].as_str().unwrap_or_default().to_owned();
            memory.iter().filter(is_theirs).map(text).collect()
        };
        let told = place.platform.seen(0).into_iter().map(|message| {
            let text = message["text"].as_str().unwrap_or_default().to_owned();
            (message["chat"]["id"].as_i64().unwrap_or(0), text)
        });
        let told = told.collect();
        let outbox = {
            let mut steps = self.steps.lock().unwrap();
            steps.read(&lines(&self.outbox));
            steps.clone()
        };
        Records {
            heard: of("owner"),
            answers: of("creature"),
            list: place.house.read("self/notes/todo.md"),
            told,
            outbox,
        }
    }
}
