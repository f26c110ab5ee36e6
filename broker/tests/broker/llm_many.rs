//! Ten thousand mixed calls at 32 at once: nothing lost, nothing settled twice, the cap never exceeded.

use crate::paid::Paid;
use crate::upstream::Upstream;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const CALLS: u64 = 10_000;
const AT_ONCE: u64 = 32;

/// What the n-th call asks for.
fn plan(n: u64) -> (&'static str, Value, u64) {
    let wire = if (n / 20).is_multiple_of(2) { "anthropic" } else { "openai" };
    let what = match n % 20 {
        0..=8 => "plain",
        9..=14 => "stream",
        15 => "silent",
        16 => "broken",
        17 => "error",
        18 => "endless",
        _ => "plain",
    };
    // Pseudo-random, within what the request can cause.
    let mixed = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
    let max_tokens = 1 + mixed % 60;
    let told = json!({
        "do": what, "status": 500, "input": mixed % 90, "output": mixed % (max_tokens + 1),
        "cache_read": mixed % 50, "cache_write": mixed % 30, "n": n,
    });
    (wire, told, max_tokens)
}

#[derive(Default)]
struct Seen {
    by_status: std::sync::Mutex<BTreeMap<u16, u64>>,
    left: AtomicU64,
}

async fn call(paid: &Paid, n: u64, seen: &Seen) {
    let (wire, told, max_tokens) = plan(n);
    let what = told["do"].as_str().unwrap().to_owned();
    let mut answer = paid.post(wire, &crate::paid::request(wire, &told, max_tokens)).send().await.unwrap();
    let status = answer.status().as_u16();
    *seen.by_status.lock().unwrap().entry(status).or_default() += 1;
    if status == 200 && what == "endless" {
        // Leaves in the middle.
        let _ = answer.chunk().await;
        seen.left.fetch_add(1, Ordering::SeqCst);
        return;
    }
    while let Ok(Some(_)) = answer.chunk().await {}
}

#[tokio::test]
async fn ten_thousand_mixed_calls_lose_nothing_and_stay_below_the_cap() {
    let upstream = Upstream::start();
    // Too little for all of them, so that the cap is met.
    let cap = 3_000_000;
    let settings = "[budget]\ndaily_usd = 3\nweekly_usd = 3\n";
    let paid = Arc::new(Paid::start(settings, &upstream.url()));
    paid.speak().await;
    let (seen, next) = (Arc::new(Seen::default()), Arc::new(AtomicU64::new(0)));
    let started = std::time::Instant::now();
    let workers: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let (paid, seen, next) = (paid.clone(), seen.clone(), next.clone());
            tokio::spawn(async move {
                loop {
                    let n = next.fetch_add(1, Ordering::SeqCst);
                    if n >= CALLS {
                        return;
                    }
                    call(&paid, n, &seen).await;
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
    let took = started.elapsed();
    let reserved = paid.ledger().of("reserve").len();
    let ledger = paid.wait_for("settle", reserved);
    let (reserves, settled) = (ledger.of("reserve"), ledger.settled());
    eprintln!(
        "{CALLS} calls in {took:?}: {:?}; {} left early; highest {}, spent {}, really {}",
        seen.by_status.lock().unwrap(),
        seen.left.load(Ordering::SeqCst),
        ledger.highest(),
        settled.values().filter_map(|line| line.entry.cost_micro_usd).sum::<u64>(),
        upstream.cost()
    );
    assert_eq!(reserves.len() as u64, upstream.calls(), "what left was reserved, and the other way round");
    assert_eq!(settled.len(), reserves.len(), "each is settled");
    let refused = seen.by_status.lock().unwrap().get(&429).copied().unwrap_or(0);
    assert_eq!(upstream.calls() + refused, CALLS);
    assert!(refused > 0 && refused < CALLS / 2, "the cap is met: {refused} refused");
    for line in &reserves {
        let settle = settled[line.entry.call.as_str()];
        assert!(
            settle.entry.cost_micro_usd <= line.entry.cost_micro_usd,
            "the worst case was the worst: {line:?}"
        );
    }
    assert!(ledger.highest() <= cap, "{} of {cap}", ledger.highest());
    assert!(upstream.cost() <= cap, "what it really cost: {} of {cap}", upstream.cost());
    let spent: u64 = settled.values().filter_map(|line| line.entry.cost_micro_usd).sum();
    assert!(upstream.cost() <= spent, "nothing was counted too low: {} and {spent}", upstream.cost());
    let shown = paid.status().await["budget"]["spent_today_usd"].as_f64().unwrap();
    assert!((shown - spent as f64 / 1e6).abs() < 1e-6, "{shown} and {spent}");
    let text = paid.file(".self/ledger.jsonl") + &paid.file("broker.log") + &paid.file(".self/budget.json");
    assert!(
        !text.contains(crate::paid::ANTHROPIC_KEY)
            && !text.contains(crate::paid::OPENAI_KEY)
            && !text.contains(crate::paid::LIFE)
    );
}
