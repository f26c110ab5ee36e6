//! Asks as the guardian announces them: each in a line, by the command that shows it.

use serde_json::json;
use trials::{House, SOUND};

/// Found: of several asks in one look only the newest was told, by a program's name that there is not.
#[test]
fn every_ask_is_announced() {
    let house = House::new(SOUND);
    let guardian = house.start();
    house.until("a thought", || !house.thoughts().is_empty());
    let line = |id: u64| json!({"at": "2026-01-02T03:04:05.000Z", "id": id, "event": "asked", "service": "x", "method": "POST", "path": "/p"});
    let three: String = (1..=3).map(|id| format!("{}\n", line(id))).collect();
    house.write(".self/asks.new", &three);
    std::fs::rename(house.path(".self/asks.new"), house.path(".self/asks.jsonl")).unwrap();
    house.until("the asks to be known", || house.broker()["asks_waiting"] == 3);
    for id in 1..=3 {
        // What is printed is printed beside the loop.
        house.until("the ask to be told", || {
            let log = std::fs::read_to_string(&guardian.log).unwrap();
            log.contains(&format!("cargo run -p guardian -- asks {id}"))
        });
    }
    guardian.stop();
}
