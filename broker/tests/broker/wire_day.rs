//! A day of thoughts on the creature's share, at a model of the middle price and a server that counts for itself.

use crate::home::Home;
use crate::own_time::{home, post};
use crate::paid::request;
use crate::upstream::Upstream;
use broker::ground::clock::Clock;
use serde_json::json;
use std::sync::atomic::Ordering;

/// 2026-11-25 00:00 UTC, a Wednesday.
const MIDNIGHT_MS: i64 = 1_795_564_800_000;
const HOUR_MS: i64 = 3_600_000;

#[tokio::test]
async fn a_share_of_three_quarters_of_a_dollar_is_spent_to_nine_tenths_and_warned_of_before_the_wall() {
    let upstream = Upstream::start();
    let home: Home = home(&upstream, "[autonomy]\nusd_per_day = 0.75\n");
    let (clock, told) = Clock::told(MIDNIGHT_MS);
    let mut open = home.open_at(clock.clone()).await;
    let (mut warned_at, mut thoughts, mut too_soon) = (None, 0, 0);
    let said = loop {
        // As a thought is: 30 to 40 kB of prompt, a part of it in the cache, a reply of some hundred tokens.
        let kilobytes = 30 + thoughts * 7 % 11;
        let tokens = kilobytes * 1_000 * 27 / 100;
        let prompt = json!({
            "do": "plain", "input": tokens - 5_000, "cache_read": 3_000, "cache_write": 2_000,
            "output": 300 + thoughts * 130 % 600, "pad": "x".repeat(kilobytes as usize * 1_000),
        });
        let answer = post(&open.url, &request("anthropic", &prompt, 8_192)).await;
        let budget = open.get("/status").await["budget"].clone();
        if answer.status == 429 && answer.body.to_string().contains("too soon") {
            // At the end of the day all of it has come in, and a fifth more was there at its beginning.
            told.fetch_add(HOUR_MS / 4, Ordering::SeqCst);
            assert_eq!(budget["day"], "2026-11-25", "the share is reached within a day");
            too_soon += 1;
            continue;
        }
        if answer.status != 200 {
            assert_eq!(answer.error, "budget_cap");
            break answer.body.to_string();
        }
        thoughts += 1;
        assert!(thoughts < 1_000, "there is no wall");
        if thoughts == 31 {
            // A broker that begins anew near the end of the share can spend it too.
            open.end().await;
            open = home.open_at(clock.clone()).await;
        }
        if !budget["warning"].is_null() && warned_at.is_none() {
            warned_at = budget["autonomous_today_usd"].as_f64();
        }
    };
    let spent = open.get("/status").await["budget"]["autonomous_today_usd"].as_f64().unwrap();
    eprintln!(
        "{thoughts} thoughts, {too_soon} too soon, spent {spent}, the server says {}, warned at {warned_at:?}",
        upstream.cost()
    );
    assert!((0.9 * 0.75..=0.75).contains(&spent), "{spent} after {thoughts} thoughts: {said}");
    assert!(
        (spent - upstream.cost() as f64 / 1e6).abs() < 1e-4,
        "{spent}, the server says {}",
        upstream.cost()
    );
    assert!(warned_at.is_some_and(|at| (0.6..spent).contains(&at)), "{warned_at:?}");
    assert!(said.contains("0.0000 USD are reserved"), "{said}");
    open.end().await;
}
