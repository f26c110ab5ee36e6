//! What was paid is told whole, also where no record has it.

use crate::yard::Yard;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::json;

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// A thought that the owner's word cut short leaves no record; the broker paid for it all the same.
#[tokio::test]
async fn what_a_thought_cut_short_cost_is_counted_by_the_ledger() {
    let yard = Yard::new();
    let at = "2026-11-24T15:01:00Z";
    let usage = json!({"input_tokens": 1, "output_tokens": 1, "cost_usd": 0.44});
    let thought = json!({"mind": "m", "thought": 1, "wake": 1, "round": 0, "usage": usage, "owner": true});
    let record = json!({"at": at, "life": 1, "kind": "thought", "data": thought});
    yard.put(".self/memory.jsonl", &format!("{record}\n"));
    let settle =
        |at: &str, micro: u64| json!({"at": at, "event": "settle", "cost_micro_usd": micro}).to_string();
    let ledger = [
        settle("2026-11-24T14:00:00Z", 7_000_000),
        settle(at, 440_000),
        settle("2026-11-24T15:01:30Z", 100_000),
        json!({"at": at, "event": "reserve", "cost_micro_usd": 900_000}).to_string(),
    ];
    yard.put(".self/ledger.jsonl", &(ledger.join("\n") + "\n"));
    let span = agenda::span::Span {
        since: time("2026-11-24T15:00:00Z"),
        until: time("2026-11-24T15:02:00Z"),
        said: String::new(),
    };
    let house = creature::paths::House::new(yard.root());
    let zone = TimeZone::UTC;
    let examined = creature::examine::examine(&house, &yard.store.agenda, span, &zone).unwrap();
    assert!((examined.sums.cost().usd - 0.54).abs() < 1e-9, "{:?}", examined.sums.costs);
    let told = examined.sentences(&zone);
    assert!(told.contains("0.54 USD") && told.contains("calls cut short"), "{told}");
}
