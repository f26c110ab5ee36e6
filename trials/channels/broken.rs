//! The proof that the judge can fail: an answer that was kept for sending is taken out of the outbox, as if it never was.

use super::house::Place;
use super::relay::Wire;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};
use trials::{lines, send};

/// Longest wait for an answer behind a cut wire, before another word is waited for.
const WAIT: Duration = Duration::from_secs(4);

/// Takes an answer that waits out of the outbox; its text.
pub fn drop_an_answer(place: &Place) -> String {
    let outbox = place.house.path(".self/broker/channels/out.jsonl");
    let heard = || std::fs::metadata(place.house.path(".self/inbox.jsonl")).map_or(0, |meta| meta.len());
    loop {
        let before = heard();
        place.house.until("a word", || heard() > before);
        place.relay.set(Wire::Cut);
        let begun = Instant::now();
        while begun.elapsed() < WAIT {
            if let (Some((key, text)), Some(pid)) = (waiting(&outbox), place.child("channels")) {
                send("-STOP", pid);
                let left = lines(&outbox).into_iter().filter(|line| key_of(line) != Some(&key));
                let left: String = left.map(|line| format!("{line}\n")).collect();
                std::fs::write(&outbox, left).unwrap();
                send("-KILL", pid);
                place.relay.set(Wire::Carries);
                return text;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        place.relay.set(Wire::Carries);
    }
}

fn key_of(line: &Value) -> Option<&str> {
    line["key"].as_str().or(line["item"]["key"].as_str())
}

/// The first answer that is not over.
fn waiting(outbox: &Path) -> Option<(String, String)> {
    let all = lines(outbox);
    let is_over = |line: &&Value| ["sent", "doubtful", "refused"].map(Value::from).contains(&line["step"]);
    let over: BTreeSet<&str> = all.iter().filter(is_over).filter_map(key_of).collect();
    let mut answers = all.iter().filter(|line| line["item"]["kind"] == "answer");
    let found = answers.find(|line| key_of(line).is_some_and(|key| !over.contains(key)))?;
    Some((key_of(found)?.to_owned(), found["item"]["text"].as_str().unwrap_or_default().to_owned()))
}
