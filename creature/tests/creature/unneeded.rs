//! Thoughts that need not be had, and calls that need not be made again: what a mind did itself, said empty, or asked too much.

use crate::broker::loopback;
use crate::house::{Script, TempHouse, thought};
use crate::lived::Lived;
use serde_json::{Value, json};
use std::time::Duration;

const MORNING: &str = "2026-03-02T08:00:00Z";

fn asked(script: &Script) -> usize {
    script.asked.lock().unwrap().len()
}

fn actions(house: &TempHouse) -> Vec<Value> {
    house.records().into_iter().filter(|record| record.kind == "action").map(|record| record.data).collect()
}

/// Mind 8: thirty calls in one thought were thrown away as garbled.
#[tokio::test]
async fn of_thirty_calls_sixteen_are_run_and_the_others_asked_for_again_by_name() {
    loopback!();
    let write = |at: usize| {
        json!({"tool": "notes.write", "args": {"name": format!("notes/leaf-{at}"), "text": "green"}})
    };
    let script = Script::sighted(move |seen| {
        if !seen.contains("not run: 14 more than the 16 allowed at once") {
            return thought("write all", json!((0..30).map(write).collect::<Vec<_>>()), 300);
        }
        let missing = (16..30).filter(|at| seen.contains(&format!("leaf-{at}"))).map(write);
        match seen.contains("the rest of them") {
            true => thought("done", json!([]), 300),
            false => thought("the rest of them", json!(missing.collect::<Vec<_>>()), 0),
        }
    });
    let house = TempHouse::with_model("openai", &script, 300);
    let mut lived = Lived::born(&house, MORNING, 1).await;
    lived.wake().await;
    assert_eq!(asked(&script), 3, "the results are seen at once, whatever the rest");
    assert!((0..30).all(|at| house.path(&format!("self/notes/leaf-{at}.md")).exists()));
    assert_eq!(actions(&house).len(), 30, "none is run twice");
    assert!(house.records().iter().all(|record| record.data.get("garbled").is_none()));
}
