//! The real broker between a client and a model server: what passes, what it costs, and what becomes of mishaps.

use crate::paid::{ANTHROPIC_KEY, LIFE, OPENAI_KEY, Paid, request};
use crate::upstream::Upstream;
use broker::ledger::anchor::Anchor;
use reqwest::Response;
use serde_json::{Value, json};
use std::time::Duration;

const RICH: &str = "[budget]\ndaily_usd = 100\nweekly_usd = 400\nautonomous_percent = 100\n";

async fn json_of(answer: Response) -> Value {
    let bytes = answer.bytes().await.unwrap();
    serde_json::from_slice(&bytes).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&bytes)))
}

#[tokio::test]
async fn all_wires_pass_with_our_key_and_settle_by_usage() {
    let upstream = Upstream::start();
    let paid = Paid::start(RICH, &upstream.url());
    let told =
        json!({"do": "plain", "input": 100, "output": 10, "cache_read": 50, "cache_write": 20, "text": "hi"});
    let openais = 100 + 50 + 3 + 25;
    for (n, (wire, cost)) in [("anthropic", 200 + 100 + 10 + 50), ("openai", openais), ("responses", openais)]
        .into_iter()
        .enumerate()
    {
        let answer = paid
            .post(wire, &request(wire, &told, 100))
            .header("authorization", format!("Bearer {LIFE}"))
            .header("anthropic-beta", "interleaved-thinking-2025-05-14")
            .header("cookie", "a=b")
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()["request-id"], "req_1");
        assert!(!answer.headers().contains_key("set-cookie"));
        assert!(json_of(answer).await.to_string().contains("hi"));
        let (head, body) = upstream.counted.last.lock().unwrap().clone().unwrap();
        assert_eq!(head["anthropic-beta"], "interleaved-thinking-2025-05-14");
        assert!(!head.contains_key("cookie") && !format!("{head:?}").contains(LIFE), "{head:?}");
        match wire {
            "anthropic" => {
                assert!(head["x-api-key"] == ANTHROPIC_KEY && head["anthropic-version"] == "2023-06-01")
            }
            _ => assert_eq!(head["authorization"], format!("Bearer {OPENAI_KEY}")),
        }
        assert_eq!(crate::upstream::told(&body), told);
        let ledger = paid.wait_for("settle", n + 1);
        let settle = &ledger.of("settle").last().unwrap().entry;
        assert_eq!((settle.cost_micro_usd, settle.decision.as_str()), (Some(cost), "by usage"), "{wire}");
        assert!(
            settle.bytes_in > 0 && settle.bytes_out > 0 && settle.status == Some(200) && settle.life == 7
        );
    }
}

#[tokio::test]
async fn streams_come_as_they_are_sent_and_settle() {
    let upstream = Upstream::start();
    let paid = Paid::start(RICH, &upstream.url());
    for (n, wire) in ["anthropic", "openai", "responses"].into_iter().enumerate() {
        let told =
            json!({"do": "stream", "input": 100, "output": 10, "pause_ms": 2, "text": "one two three four"});
        let mut answer = paid.post(wire, &request(wire, &told, 100)).send().await.unwrap();
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        let (mut pieces, mut text) = (0, String::new());
        while let Some(piece) = answer.chunk().await.unwrap() {
            pieces += 1;
            text.push_str(std::str::from_utf8(&piece).unwrap());
        }
        assert!(pieces > 3, "in {pieces} pieces");
        assert!(text.contains("three ") && text.ends_with("\n\n"));
        let ledger = paid.wait_for("settle", n + 1);
        assert_eq!(ledger.of("settle")[n].entry.decision, "by usage", "{wire}");
    }
}

#[tokio::test]
async fn what_costs_nothing_passes_and_nothing_else_does() {
    let upstream = Upstream::start();
    let paid = Paid::start(RICH, &upstream.url());
    let counted = paid.at_path("/llm/anthropic/v1/messages/count_tokens").body("{}").send().await.unwrap();
    assert_eq!(json_of(counted).await["input_tokens"], 42);
    let models = format!("http://{}/llm/openai/v1/models", paid.at);
    let models = paid.client.get(models).bearer_auth(LIFE).send().await.unwrap();
    assert_eq!(json_of(models).await["object"], "list");
    for path in [
        "/llm/anthropic/v1/files",
        "/llm/openai/v1/responses/resp_1",
        "/llm/anthropic/v1/messages/batches",
        "/llm/x",
    ] {
        let answer = paid.at_path(path).body("{}").send().await.unwrap();
        assert_eq!(answer.status(), 404, "{path}");
    }
    let nobody = paid
        .client
        .post(format!("http://{}/llm/anthropic/v1/messages", paid.at))
        .body("{}")
        .send()
        .await
        .unwrap();
    assert_eq!(nobody.status(), 401);
    assert_eq!(upstream.calls(), 0);
    assert_eq!(upstream.counted.paths.lock().unwrap().len(), 2);
    assert_eq!(
        paid.status().await["model"],
        json!({
            "wire": "anthropic", "name": "claude-sonnet-5-5", "path": "/llm/anthropic",
            "address": upstream.at.to_string(), "window": 1_000_000, "cap_usd": 15.0 * 100.0 / 15.0,
            "prices": {"input": 2.0, "cache_read": 0.2, "output": 10.0}, "sees": ["image", "pdf"], "quick": null,
            "fallback": [],
        })
    );
}

#[tokio::test]
async fn no_word_of_cost_stands_in_full_and_a_refusal_upstream_costs_nothing() {
    let upstream = Upstream::start();
    let paid = Paid::start(RICH, &upstream.url());
    for (n, what) in ["silent", "broken", "error"].into_iter().enumerate() {
        let told = json!({"do": what, "status": 529, "input": 5, "output": 5});
        let mut answer = paid.post("anthropic", &request("anthropic", &told, 100)).send().await.unwrap();
        let status = answer.status().as_u16();
        let mut broke = false;
        let mut text = String::new();
        loop {
            match answer.chunk().await {
                Ok(Some(piece)) => text.push_str(&String::from_utf8_lossy(&piece)),
                Ok(None) => break,
                Err(_) => {
                    broke = true;
                    break;
                }
            }
        }
        let ledger = paid.wait_for("settle", n + 1);
        let (reserve, settle) = (&ledger.of("reserve")[n].entry, &ledger.of("settle")[n].entry);
        match what {
            "error" => {
                assert_eq!((status, settle.cost_micro_usd), (529, Some(0)));
                assert!(text.contains("said with [key]") && !text.contains(ANTHROPIC_KEY), "{text}");
            }
            _ => {
                assert_eq!((status, broke), (200, what == "broken"));
                assert_eq!(settle.cost_micro_usd, reserve.cost_micro_usd);
                assert!(settle.decision.starts_with("stands"), "{}", settle.decision);
            }
        }
    }
}

#[tokio::test]
async fn a_broker_killed_in_the_middle_of_a_call_leaves_it_spent() {
    let upstream = Upstream::start();
    let mut paid = Paid::start(RICH, &upstream.url());
    let told = json!({"do": "plain", "wait_ms": 60_000});
    let call = tokio::spawn(paid.post("anthropic", &request("anthropic", &told, 1_000)).send());
    let reserved = {
        while upstream.calls() == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        paid.ledger().of("reserve")[0].entry.cost_micro_usd.unwrap()
    };
    paid.restart();
    assert!(call.await.unwrap().is_err(), "the creature sees it and tries again");
    let budget = paid.status().await["budget"].clone();
    assert_eq!(
        (budget["spent_today_usd"].as_f64(), &budget["reserved_usd"]),
        (Some(reserved as f64 / 1e6), &json!(0.0))
    );
    let told = json!({"do": "plain", "input": 1, "output": 1});
    let again = paid.post("anthropic", &request("anthropic", &told, 1_000)).send().await.unwrap();
    assert_eq!(again.status(), 200);
    let ledger = paid.wait_for("settle", 1);
    assert_eq!((ledger.of("reserve").len(), ledger.of("settle").len()), (2, 1));
}

#[tokio::test]
async fn a_model_nobody_priced_is_told_how_to_get_a_price() {
    let upstream = Upstream::start();
    let settings = "[budget]\ndaily_usd = 1\n[model]\nothers = [\"unheard-of\"]\n";
    let paid = Paid::start(settings, &upstream.url());
    let body =
        json!({"model": "unheard-of", "max_tokens": 8_192, "messages": [{"role": "user", "content": "hi"}]});
    let answer = paid.post("anthropic", &body).send().await.unwrap();
    assert_eq!(answer.headers()["x-feral-error"], "budget_cap");
    let hint = json_of(answer).await["error"]["hint"].as_str().unwrap().to_owned();
    assert!(hint.contains("[prices.\"unheard-of\"]"), "{hint}");
    assert_eq!(upstream.calls(), 0);
}

#[tokio::test]
async fn at_the_cap_the_answer_says_when_and_the_class_is_not_the_clients() {
    let upstream = Upstream::start();
    // Autonomous: a fifth of a dollar a day.
    let paid = Paid::start(
        "[budget]\ndaily_usd = 1\nweekly_usd = 1\nautonomous_percent = 20\nowner_window_s = 2\n",
        &upstream.url(),
    );
    let told = json!({"do": "silent"});
    let ask = || paid.post("anthropic", &request("anthropic", &told, 16_000));
    assert_eq!(ask().send().await.unwrap().status(), 200);
    for class in ["owner", "autonomous", "urgent"] {
        let answer = ask().header("x-feral-class", class).send().await.unwrap();
        assert_eq!(answer.status(), 429, "{class}");
        assert_eq!(answer.headers()["x-feral-error"], "budget_cap");
        let after: u64 = answer.headers()["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=7 * 86_400).contains(&after), "{after}");
        let body = json_of(answer).await;
        assert_eq!((&body["type"], &body["error"]["type"]), (&json!("error"), &json!("budget_cap")));
        assert!(body["error"]["message"].as_str().unwrap().contains("it resets at 20"), "{body}");
    }
    // A word of the owner's opens the whole cap; a client can only step back from it.
    std::fs::write(paid.folder.path().join(".self/inbox.jsonl"), "read this\n").unwrap();
    assert_eq!(ask().header("x-feral-class", "autonomous").send().await.unwrap().status(), 429);
    assert_eq!(ask().header("x-feral-class", "owner").send().await.unwrap().status(), 200);
    assert_eq!(upstream.calls(), 2);
    tokio::time::sleep(Duration::from_millis(3_100)).await;
    assert_eq!(ask().send().await.unwrap().status(), 429, "the window is over");
    let ledger = paid.ledger();
    let classes: Vec<_> =
        ledger.of("reserve").iter().map(|line| serde_json::to_value(line.entry.class).unwrap()).collect();
    assert_eq!(classes, ["autonomous", "owner"]);
    assert_eq!(ledger.of("refuse").len(), 1, "a loop of refusals fills no ledger");
    let page = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let spent = || page(&paid.file(".self/budget.json"))["spent_today_usd"].as_f64();
    assert!(crate::outside::happens_beside(|| spent() >= Some(0.2)).await, "{:?}", spent());
}

#[tokio::test]
async fn a_refused_key_stops_calls_until_the_owner_acts() {
    let upstream = Upstream::start();
    let mut paid = Paid::start(RICH, &upstream.url());
    let good = request("anthropic", &json!({"do": "plain"}), 10);
    let bad = request("anthropic", &json!({"do": "error", "status": 401}), 10);
    assert_eq!(paid.post("anthropic", &bad).send().await.unwrap().status(), 401);
    for round in 0..2 {
        let answer = paid.post("anthropic", &good).send().await.unwrap();
        assert_eq!(
            (answer.status().as_u16(), answer.headers()["x-feral-error"].to_str().unwrap()),
            (403, "stopped_until_owner")
        );
        assert_eq!(paid.status().await["budget"]["stopped"]["status"], 401);
        if round == 0 {
            paid.restart();
        }
    }
    assert_eq!(upstream.calls(), 2, "once more, before it is stopped");
    std::fs::write(paid.folder.path().join("owner.toml"), format!("{RICH}# seen to\n")).unwrap();
    paid.restart();
    assert_eq!(paid.post("anthropic", &good).send().await.unwrap().status(), 200);
    assert_eq!(paid.status().await["budget"]["stopped"], Value::Null);
}

/// Found: an owner who had topped up said a word, and the server saw no request for an hour.
#[tokio::test]
async fn after_an_empty_account_each_word_of_the_owners_is_worth_one_try() {
    let upstream = Upstream::start();
    let mut paid = Paid::start(RICH, &upstream.url());
    let good = request("anthropic", &json!({"do": "plain"}), 10);
    let empty = request("anthropic", &json!({"do": "error", "status": 402}), 10);
    let inbox = paid.folder.path().join(".self/inbox.jsonl");
    assert_eq!(paid.post("anthropic", &empty).send().await.unwrap().status(), 402);
    let stopped = upstream.calls();
    for _ in 0..2 {
        let answer = paid.post("anthropic", &good).send().await.unwrap();
        assert_eq!(answer.status(), 403, "nobody said a word");
        let hint = json_of(answer).await["error"]["hint"].to_string();
        assert!(hint.contains("top up the account; the owner's next word tries again"), "{hint}");
    }
    assert_eq!(upstream.calls(), stopped);
    // Still empty: this word is tried, once; what comes after it on its account is not.
    std::fs::write(&inbox, "is it there?\n").unwrap();
    assert_eq!(paid.post("anthropic", &empty).send().await.unwrap().status(), 402);
    let tried = upstream.calls();
    assert!(tried > stopped, "{tried}");
    paid.restart();
    assert_eq!(paid.post("anthropic", &good).send().await.unwrap().status(), 403, "a word of before");
    assert_eq!(upstream.calls(), tried);
    // Topped up.
    std::fs::write(&inbox, "is it there?\nand now?\n").unwrap();
    assert_eq!(paid.post("anthropic", &good).send().await.unwrap().status(), 200);
    assert_eq!(paid.status().await["budget"]["stopped"], Value::Null);
    assert_eq!(paid.post("anthropic", &good).send().await.unwrap().status(), 200);
}

/// Found: a captive portal's 403 stopped all calls until the owner acted.
#[tokio::test]
async fn a_portals_page_stops_nothing() {
    let upstream = Upstream::start();
    let paid = Paid::start(RICH, &upstream.url());
    let portal = request("anthropic", &json!({"do": "portal"}), 10);
    assert_eq!(paid.post("anthropic", &portal).send().await.unwrap().status(), 403);
    assert_eq!(paid.status().await["budget"]["stopped"], Value::Null);
    let good = request("anthropic", &json!({"do": "plain"}), 10);
    assert_eq!(paid.post("anthropic", &good).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn a_closed_ledger_lets_nothing_leave_until_it_is_accepted() {
    let upstream = Upstream::start();
    let mut paid = Paid::start(RICH, &upstream.url());
    let good = request("anthropic", &json!({"do": "plain", "input": 5, "output": 5}), 10);
    assert_eq!(paid.post("anthropic", &good).send().await.unwrap().status(), 200);
    paid.wait_for("settle", 1);
    let house = house::House::new(paid.folder.path());
    let anchored = || {
        let anchor = Anchor::read(&house).ok().flatten()?;
        Some(anchor.bytes == std::fs::metadata(house.ledger()).ok()?.len())
    };
    assert!(crate::outside::happens_beside(|| anchored() == Some(true)).await);
    paid.kill();
    std::fs::write(paid.folder.path().join(".self/ledger.jsonl"), "").unwrap();
    paid.restart_dead();
    let answer = paid.post("anthropic", &good).send().await.unwrap();
    assert_eq!(answer.status(), 503);
    let body = json_of(answer).await;
    assert_eq!(body["error"]["type"], "ledger_closed");
    assert!(body["error"]["hint"].as_str().unwrap().contains("--accept-ledger"));
    assert!(paid.status().await["budget"]["closed"].is_string());
    assert_eq!(upstream.calls(), 1);
    paid.kill();
    let house = paid.folder.path().to_str().unwrap().to_owned();
    let done = std::process::Command::new(env!("CARGO_BIN_EXE_broker"))
        .args(["--accept-ledger", "--house", &house])
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    paid.restart_dead();
    assert_eq!(paid.post("anthropic", &good).send().await.unwrap().status(), 429, "today counts as spent");
    assert_eq!(paid.status().await["budget"]["closed"], Value::Null);
}

#[tokio::test]
async fn no_key_is_seen_anywhere() {
    let upstream = Upstream::start();
    let paid = Paid::start(RICH, &upstream.url());
    let mut seen = String::new();
    // Repeated in an answer, a stream cut to pieces, an error, and asked for by name.
    for (wire, key) in [("anthropic", ANTHROPIC_KEY), ("openai", OPENAI_KEY)] {
        for what in ["plain", "stream", "error"] {
            let told =
                json!({"do": what, "status": 400, "text": format!("it is {key} you see"), "pause_ms": 1});
            let answer = paid.post(wire, &request(wire, &told, 100)).send().await.unwrap();
            seen.push_str(&format!("{:?}", answer.headers()));
            seen.push_str(&String::from_utf8_lossy(&answer.bytes().await.unwrap()));
        }
        let mut body = request(wire, &json!({"do": "plain"}), 100);
        body["model"] = json!(key);
        seen.push_str(&paid.post(wire, &body).send().await.unwrap().text().await.unwrap());
    }
    assert!(seen.contains("[key]"), "{seen}");
    // Of the anthropic wire the owner's model is known, and no other is passed on.
    paid.wait_for("settle", 7);
    let files = [".self/ledger.jsonl", ".self/budget.json", "broker.log", ".self/broker/anchor.json"];
    for text in [seen].into_iter().chain(files.map(|file| paid.file(file))) {
        assert!(
            !text.contains(ANTHROPIC_KEY) && !text.contains(OPENAI_KEY) && !text.contains(LIFE),
            "{text}"
        );
    }
}

#[tokio::test]
async fn unknown_models_count_as_the_worst_and_the_owners_price_counts() {
    let upstream = Upstream::start();
    let paid = Paid::start(&format!("{RICH}[prices.\"local*\"]\ninput = 0\noutput = 0\n"), &upstream.url());
    for (n, (model, cost)) in
        [("nobody-knows-it", 30 * 100 + 150 * 10), ("local-one", 0)].into_iter().enumerate()
    {
        let mut body = request("openai", &json!({"do": "plain", "input": 100, "output": 10}), 100);
        body["model"] = json!(model);
        assert_eq!(paid.post("openai", &body).send().await.unwrap().status(), 200);
        let ledger = paid.wait_for("settle", n + 1);
        assert_eq!(ledger.of("settle")[n].entry.cost_micro_usd, Some(cost), "{model}");
    }
}

#[tokio::test]
async fn a_provider_that_is_not_there_costs_nothing() {
    let paid = Paid::start(RICH, "http://127.0.0.1:9");
    let answer = paid.post("anthropic", &request("anthropic", &json!({}), 10)).send().await.unwrap();
    assert_eq!(answer.status(), 502);
    assert_eq!(answer.headers()["x-feral-error"], "upstream_unreachable");
    assert_eq!(paid.wait_for("settle", 1).of("settle")[0].entry.cost_micro_usd, Some(0));
}

#[tokio::test]
async fn a_base_url_without_a_model_is_asked_what_it_has() {
    let upstream = Upstream::start();
    let settings = "[model]\nprovider = \"openai\"\nkey_env = \"OPENAI_API_KEY\"\n";
    let paid = Paid::start(settings, &upstream.url());
    assert_eq!(paid.status().await["model"]["name"], "the-first-that-talks");
    let (head, _) = upstream.counted.last.lock().unwrap().clone().unwrap();
    assert_eq!(head["authorization"], format!("Bearer {OPENAI_KEY}"));
}
