//! The rate at the door: what a refused thought is told, when it may ask again, and what stands in `budget.json` meanwhile.

use crate::home::{Home, TOKEN};
use crate::paid::request;
use crate::upstream::Upstream;
use broker::ground::clock::Clock;
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// 2026-11-25 12:00 UTC, a Wednesday.
const NOON_MS: i64 = 1_795_608_000_000;
const HOUR_MS: i64 = 3_600_000;

/// A house that thinks with this model server, on a clock that is told.
pub fn home(upstream: &Upstream, settings: &str) -> Home {
    let model = format!("[model]\nprovider = \"anthropic\"\nbase_url = \"{}\"\n", upstream.url());
    Home::new(&format!("{settings}{model}")).with("ANTHROPIC_API_KEY", "sk-ant-test-0123456789abcdef")
}

pub struct Answer {
    pub status: u16,
    pub error: String,
    pub after_s: u64,
    pub body: Value,
}

/// A thought of its own that costs as much as so many tokens of reply, a hundred thousandth of a dollar each; five of
/// its prompt cost as much as one.
async fn think(url: &str, tokens: u64) -> Answer {
    let told = json!({"do": "plain", "input": 5, "output": tokens - 1});
    post(url, &request("anthropic", &told, 8_192)).await
}

pub async fn post(url: &str, body: &Value) -> Answer {
    let asked = crate::home::client().post(format!("{url}/llm/anthropic/v1/messages")).bearer_auth(TOKEN);
    let answer =
        asked.header("content-type", "application/json").body(body.to_string()).send().await.unwrap();
    let header =
        |name: &str| answer.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
    Answer {
        status: answer.status().as_u16(),
        error: header("x-feral-error"),
        after_s: header("retry-after").parse().unwrap_or(0),
        body: serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap(),
    }
}

#[tokio::test]
async fn a_thought_that_comes_too_soon_is_told_when_there_is_room() {
    let upstream = Upstream::start();
    let settings = "[agenda]\ntime_zone = \"Europe/Berlin\"\n[autonomy]\nusd_per_day = 0.75\nwaking_hours = \"08:00-23:00\"\n";
    let home = home(&upstream, settings);
    let (clock, told) = Clock::told(NOON_MS);
    let open = home.open_at(clock).await;
    let own = async || open.get("/status").await["budget"]["autonomy"].clone();
    let page = own().await;
    assert_eq!(page["room_at"], "2026-11-25T12:00:00Z", "{page}");
    let known = ["usd_per_day", "usd_per_hour", "bucket_usd", "waking", "waking_hours", "wakes_at"];
    let known = known.map(|name| page[name].clone());
    assert_eq!(
        known,
        [json!(0.75), json!(0.05), json!(0.15), json!(true), json!("08:00-23:00"), Value::Null]
    );
    // Four fifths of a fifth of its day, at once.
    assert_eq!(think(&open.url, 4_000).await.status, 200);
    assert_eq!(think(&open.url, 8_000).await.status, 200);
    let refused = think(&open.url, 8_000).await;
    assert_eq!((refused.status, refused.error.as_str()), (429, "budget_cap"));
    let error = &refused.body["error"];
    assert_eq!((&error["type"], &error["fits_tokens"]), (&json!("budget_cap"), &json!(0)), "{error}");
    let said = error["message"].as_str().unwrap();
    for part in
        ["0.0500 USD an hour", "0.75 a day, between 08:00-23:00", "0.0300 are there", "room from 2026-11-25T"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(error["hint"].as_str().unwrap().contains("[autonomy] usd_per_day"), "{error}");
    assert_eq!(refused.after_s, 3_600, "at most an hour");
    let page = own().await;
    let room_at: jiff::Timestamp = page["room_at"].as_str().unwrap().parse().unwrap();
    let room_ms = room_at.as_millisecond();
    assert!((NOON_MS + HOUR_MS..NOON_MS + 2 * HOUR_MS).contains(&room_ms), "{page}");
    told.store(room_ms - 90_000, Ordering::SeqCst);
    let refused = think(&open.url, 8_000).await;
    assert!(refused.status == 429 && (60..=91).contains(&refused.after_s), "{}", refused.after_s);
    told.store(room_ms, Ordering::SeqCst);
    assert_eq!(think(&open.url, 8_000).await.status, 200, "as it was told");
    assert_eq!(upstream.calls(), 3);
    // At night nothing comes in: the morning is an hour behind UTC.
    told.store(NOON_MS + 11 * HOUR_MS, Ordering::SeqCst);
    let page = own().await;
    let night = ["waking", "usd_per_hour", "wakes_at"].map(|name| page[name].clone());
    assert_eq!(night, [json!(false), json!(0.0), json!("2026-11-26T07:00:00Z")], "{page}");
    let ledger = home.lines(".self/ledger.jsonl");
    let refusals: Vec<_> = ledger.iter().filter(|line| line["event"] == "refuse").collect();
    assert!(refusals.len() == 2 && refusals.iter().all(|line| line["decision"] == "rate"), "{refusals:?}");
    open.end().await;
}

/// Found: the page named the time of the cheaper model, and the refusal that of the model that was asked.
#[tokio::test]
async fn the_page_names_for_each_model_the_time_that_a_refusal_names() {
    let upstream = Upstream::start();
    let quick = "[model.quick]\nmodel = \"claude-haiku-4-5\"\n";
    let home = home(&upstream, &format!("[autonomy]\nusd_per_day = 0.75\n{quick}"));
    let open = home.open_at(Clock::told(NOON_MS).0).await;
    let mut answer = think(&open.url, 8_000).await;
    for _ in 0..4 {
        if answer.status == 200 {
            answer = think(&open.url, 8_000).await;
        }
    }
    assert_eq!((answer.status, answer.error.as_str()), (429, "budget_cap"));
    let page = open.get("/status").await["budget"]["autonomy"].clone();
    let rooms = page["rooms"].as_array().unwrap().clone();
    let room = |model: &str| rooms.iter().find(|room| room["model"] == model).unwrap()["at"].clone();
    let (asked, cheaper) = (room("claude-sonnet-5-5"), room("claude-haiku-4-5"));
    let said = answer.body["error"]["message"].as_str().unwrap();
    assert!(said.contains(&format!("there is room from {} on", asked.as_str().unwrap())), "{said}: {page}");
    assert!(cheaper.as_str() < asked.as_str() && page["room_at"] == cheaper, "{page}");
    open.end().await;
}

/// A level that rises is no news; who watches the file is not woken by it.
#[tokio::test]
async fn the_page_is_not_written_anew_because_the_bucket_fills() {
    let upstream = Upstream::start();
    let home = home(&upstream, "[autonomy]\nusd_per_day = 0.4\n");
    let (clock, told) = Clock::told(NOON_MS);
    let open = home.open_at(clock).await;
    assert_eq!(think(&open.url, 8_000).await.status, 200);
    let path = home.path(".self/budget.json");
    let page = || serde_json::from_str::<Value>(&home.text(".self/budget.json")).unwrap_or_default();
    let settled = || page()["autonomous_today_usd"] == 0.08 && page()["autonomous_reserved_usd"] == 0.0;
    assert!(crate::outside::happens_beside(settled).await, "{}", page());
    let (before, file) = (page(), std::fs::metadata(&path).unwrap().ino());
    for minutes in [1, 30, 120, 600] {
        told.store(NOON_MS + minutes * 60_000, Ordering::SeqCst);
        // A refusal has the page looked at, and so had a call of the owner's.
        open.broker.llm.budget.tell_of_mind(before["mind"].as_str().unwrap().to_owned());
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!((page(), std::fs::metadata(&path).unwrap().ino()), (before.clone(), file), "{minutes}");
    }
    assert!(before["autonomy"]["room_at"].as_str().unwrap() > "2026-11-25T12:00:00Z", "{before}");
    open.end().await;
}

#[tokio::test]
async fn a_model_that_costs_nothing_is_never_too_soon() {
    let upstream = Upstream::start();
    let free = "[prices.\"claude-sonnet-5-5\"]\ninput = 0\noutput = 0\n";
    let home = home(&upstream, &format!("[autonomy]\nusd_per_day = 0\n{free}"));
    let (clock, _) = Clock::told(NOON_MS);
    let open = home.open_at(clock).await;
    for _ in 0..5 {
        assert_eq!(think(&open.url, 8_000).await.status, 200);
    }
    open.end().await;
}
