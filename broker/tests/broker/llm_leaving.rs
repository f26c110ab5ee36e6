//! Streams and calls that a client leaves: what they cost, and that nothing on their way is held back.

use crate::paid::{Paid, request};
use crate::upstream::Upstream;
use serde_json::json;
use std::time::Duration;

const RICH: &str = "[budget]\ndaily_usd = 100\nweekly_usd = 400\nautonomous_percent = 100\n";

/// Waits for settled calls, and lets the client close what it left.
pub async fn settled(paid: &Paid, count: usize) -> crate::paid::Read {
    crate::outside::happens_beside(|| paid.ledger().of("settle").len() >= count).await;
    paid.ledger()
}

/// Of a whole answer nobody knows how far it was; of a stream what was written has a bound.
#[tokio::test]
async fn a_client_that_leaves_ends_the_call_and_pays_for_it() {
    let upstream = Upstream::start();
    let paid = Paid::start(RICH, &upstream.url());
    let told = json!({"do": "plain", "wait_ms": 60_000});
    let waiting = tokio::spawn(paid.post("openai", &request("openai", &told, 50)).send());
    while upstream.calls() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    waiting.abort();
    let ledger = settled(&paid, 1).await;
    let (reserve, settle) = (&ledger.of("reserve")[0].entry, &ledger.of("settle")[0].entry);
    assert_eq!(settle.cost_micro_usd, reserve.cost_micro_usd, "{settle:?}");
    assert!(settle.decision.starts_with("stands"), "{}", settle.decision);
}

#[tokio::test]
async fn a_stream_the_client_leaves_costs_its_prompt_and_what_was_written() {
    let upstream = Upstream::start();
    let paid = Paid::start(RICH, &upstream.url());
    let limit = 1_000_000;
    for (n, wire) in ["anthropic", "openai", "responses"].into_iter().enumerate() {
        let told = json!({"do": "endless", "input": 700, "cache_read": 90, "output": 9, "text": "a b c"});
        let mut answer = paid.post(wire, &request(wire, &told, limit)).send().await.unwrap();
        answer.chunk().await.unwrap();
        drop(answer);
        let ledger = settled(&paid, n + 1).await;
        let (reserve, settle) = (&ledger.of("reserve")[n].entry, &ledger.of("settle")[n].entry);
        let (most, cost) = (reserve.cost_micro_usd.unwrap(), settle.cost_micro_usd.unwrap());
        let [input, output, read] = if wire == "anthropic" { [2, 10, 0] } else { [1, 5, 0] };
        let reply = limit * output;
        assert!(cost >= 700 * input + read, "{wire}: {cost}");
        // All but the reply, and of that what a second or some may have brought.
        assert!(cost <= most - reply + reply / 10, "{wire}: {cost} of {most}");
        assert!(settle.decision.starts_with("cut"), "{wire}: {}", settle.decision);
    }
}

/// A stream of which nothing has come yet: its model may have begun to think.
#[tokio::test]
async fn a_stream_the_client_leaves_before_its_first_byte_costs_its_prompt() {
    let upstream = Upstream::start();
    let paid = Paid::start(RICH, &upstream.url());
    let told = json!({"do": "stream", "wait_ms": 60_000});
    let waiting = tokio::spawn(paid.post("anthropic", &request("anthropic", &told, 1_000_000)).send());
    while upstream.calls() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    waiting.abort();
    let ledger = settled(&paid, 1).await;
    let (reserve, settle) = (&ledger.of("reserve")[0].entry, &ledger.of("settle")[0].entry);
    let (most, cost) = (reserve.cost_micro_usd.unwrap(), settle.cost_micro_usd.unwrap());
    assert!(cost >= most - 10_000_000 && cost < most / 2, "{cost} of {most}");
    assert!(settle.decision.starts_with("cut"), "{}", settle.decision);
}

/// A ping is how a client knows that its call lives while a model thinks: it must not wait for what comes after it.
#[tokio::test]
async fn pings_pass_at_once() {
    let upstream = Upstream::start();
    let paid = Paid::start(RICH, &upstream.url());
    for (wire, pings) in [
        ("anthropic", "event: ping\ndata: {\"type\": \"ping\"}\n\n"),
        ("openai", ": OPENROUTER PROCESSING\n\n"),
        ("responses", ":\n\n"),
    ] {
        // After it the server says nothing more, for an hour.
        let told = json!({"do": "endless", "ping": pings});
        let mut answer = paid.post(wire, &request(wire, &told, 100)).send().await.unwrap();
        let mut text = String::new();
        while !text.ends_with(pings) {
            text.push_str(std::str::from_utf8(&answer.chunk().await.unwrap().unwrap()).unwrap());
        }
    }
}
