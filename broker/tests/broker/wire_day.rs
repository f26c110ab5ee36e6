//! A day of thoughts on the creature's share, at a model of the middle price and a server that counts for itself.

use crate::paid::{Paid, request};
use crate::upstream::Upstream;
use serde_json::json;

#[tokio::test]
async fn a_share_of_three_quarters_of_a_dollar_is_spent_to_nine_tenths_and_warned_of_before_the_wall() {
    let upstream = Upstream::start();
    let mut paid = Paid::start("", &upstream.url());
    let (mut warned_at, mut thoughts) = (None, 0);
    let refusal = loop {
        // As a thought is: 30 to 40 kB of prompt, a part of it in the cache, a reply of some hundred tokens.
        let kilobytes = 30 + thoughts * 7 % 11;
        let tokens = kilobytes * 1_000 * 27 / 100;
        let told = json!({
            "do": "plain", "input": tokens - 5_000, "cache_read": 3_000, "cache_write": 2_000,
            "output": 300 + thoughts * 130 % 600, "pad": "x".repeat(kilobytes as usize * 1_000),
        });
        let answer = paid.post("anthropic", &request("anthropic", &told, 8_192)).send().await.unwrap();
        if answer.status() != 200 {
            break answer;
        }
        answer.bytes().await.unwrap();
        thoughts += 1;
        assert!(thoughts < 1_000, "there is no wall");
        if thoughts == 31 {
            // A broker that begins anew near the end of the share can spend it too.
            paid.wait_for("settle", 31);
            paid.restart();
        }
        let budget = paid.status().await["budget"].clone();
        if !budget["warning"].is_null() && warned_at.is_none() {
            warned_at = budget["autonomous_today_usd"].as_f64();
        }
    };
    assert_eq!(refusal.headers()["x-feral-error"], "budget_cap");
    let said = String::from_utf8(refusal.bytes().await.unwrap().to_vec()).unwrap();
    let spent = paid.status().await["budget"]["autonomous_today_usd"].as_f64().unwrap();
    eprintln!(
        "{thoughts} thoughts, spent {spent}, the server says {}, warned at {warned_at:?}",
        upstream.cost()
    );
    assert!((0.9 * 0.75..=0.75).contains(&spent), "{spent} after {thoughts} thoughts: {said}");
    assert!(
        (spent - upstream.cost() as f64 / 1e6).abs() < 1e-4,
        "{spent}, the server says {}",
        upstream.cost()
    );
    assert!(warned_at.is_some_and(|at| (0.6..spent).contains(&at)), "{warned_at:?}");
    assert!(said.contains("0.0000 reserved"), "{said}");
}
