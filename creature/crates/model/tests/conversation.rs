//! Whole conversations with servers that hold to their wires' rules: whatever is said, no request is refused for its form.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

#[path = "../../../tests/faithful/mod.rs"]
mod faithful;
#[macro_use]
mod server;
#[path = "conversation/templates.rs"]
mod templates;

use std::time::Duration;

use faithful::say::Part;
use faithful::{Faithful, Rules, Say, Seen};
use model::{Answer, Client, Endpoint, Kind, Reply, Turn, Wire};
use serde_json::{Value, json};
use server::{Asked, TOKEN, WIRES, said, talk};

/// Numbers that look random and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % most as u64).unwrap()
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }
}

fn theirs(wire: Wire) -> faithful::Wire {
    match wire {
        Wire::Anthropic => faithful::Wire::Anthropic,
        Wire::Responses => faithful::Wire::Responses,
        Wire::Chat => faithful::Wire::Chat,
    }
}

fn client(server: &Faithful, wire: Wire, model: &str) -> Client {
    let endpoint = Endpoint {
        wire,
        base_url: server.base_url(),
        model: model.to_owned(),
        token: TOKEN.to_owned(),
        deadline: Duration::from_secs(20),
        silence: Duration::from_secs(20),
        max_tokens: 4_000,
        effort: String::new(),
    };
    Client::new(endpoint).unwrap()
}

/// Anything a model may say.
fn anything(dice: &mut Dice) -> Say {
    let mut say = Say::new();
    // What a client must mend cannot be what thinking after it is bound to.
    let is_odd = dice.one_in(4);
    for number in 0..dice.below(6) {
        say = match dice.below(10) {
            0 | 1 if !is_odd || number == 0 => say.thinks("hm, let me see"),
            2 => say.says(" \n"),
            3 => say.says(&format!("words {number}")),
            4 => say.unknown_block(json!({"type": "of_tomorrow", "data": {"z": 1, "a": [number, null]}})),
            5 => say.broken_arguments("repo.read", "{\"path\": \"src/li"),
            6 => say.calls("nobody.knows", json!({"x": number})),
            7 if is_odd => say.lone_surrogate(),
            _ => say.calls("repo.read", json!({"path": format!("src/{number}.rs"), "from": number})),
        };
    }
    // Thinking that nothing follows does not go back: another test.
    let blank = |part: &&Part| matches!(part, Part::Text(text) if text.trim().is_empty());
    if matches!(say.parts.iter().rev().find(|part| !blank(part)), Some(Part::Thinking(_))) {
        say = say.says("So it is.");
    }
    say = match dice.below(12) {
        0 | 1 if is_odd => say.duplicate_ids(),
        2 | 3 if is_odd => say.no_ids(),
        2 => say.stop("max_tokens"),
        3 => say.stop("window"),
        4 => say.whole(),
        5 => say.cut_after(dice.below(2_000)),
        6 => say.status(401, "{\"error\": {\"type\": \"authentication_error\", \"message\": \"no\"}}"),
        _ => say,
    };
    say
}

/// What came of the calls, as a life would put it, and sometimes as one that was killed.
fn results(reply: &Reply, dice: &mut Dice) -> Vec<Turn> {
    let mut results: Vec<Answer> = Vec::new();
    for call in &reply.calls {
        let text = ["", "fn main() {}\n", "two\nlines", "é \u{1f600}"][dice.below(4)].to_owned();
        results.push(Answer { id: call.id.clone(), text, failed: dice.one_in(3) });
    }
    let mut turns = Vec::new();
    match dice.below(8) {
        0 => {}
        1 => {
            results.pop();
            turns.push(Turn::Results { results });
        }
        _ if results.is_empty() => {}
        _ => turns.push(Turn::Results { results }),
    }
    for number in 0..dice.below(3) {
        turns.push(said(&format!("news {number}")));
    }
    turns
}

/// Messages or items without the marks, which move.
fn sent(wire: Wire, body: &Value) -> Vec<Value> {
    let mut list =
        body[if wire == Wire::Responses { "input" } else { "messages" }].as_array().unwrap().clone();
    for block in list.iter_mut().filter_map(|message| message["content"].as_array_mut()).flatten() {
        block.as_object_mut().unwrap().shift_remove("cache_control");
    }
    list
}

async fn converses(wire: Wire, rules: Rules, model: &str, seed: u64) {
    let (mut theirs_dice, mut dice) = (Dice(seed), Dice(!seed));
    let server = Faithful::start(theirs(wire), rules, move |_| anything(&mut theirs_dice));
    let client = client(&server, wire, model);
    let mut talk = talk();
    let mut answered: Vec<Value> = Vec::new();
    for _ in 0..14 {
        // As it comes back from a file.
        talk.turns = serde_json::from_str(&serde_json::to_string(&talk.turns).unwrap()).unwrap();
        let told = talk.to(&client).await;
        if let Some(seen) = server.seen().last() {
            let now = sent(wire, &seen.body);
            assert!(
                now.starts_with(&answered),
                "{wire:?} {seed}: what was answered has changed\n{answered:#?}\n{now:#?}"
            );
            // A thought of nothing is none: what follows it joins what went before.
            let is_kept = |reply: &Reply| {
                let says = reply.raw.get("content").is_some_and(|content| !content.is_null());
                says || !reply.calls.is_empty() || reply.raw.as_array().is_some_and(|raw| !raw.is_empty())
            };
            answered = if told.as_ref().is_ok_and(is_kept) { now } else { answered };
        }
        if !server.violations().is_empty() {
            println!("{wire:?} {seed}: {:#}", json!(talk.turns));
        }
        server.assert_no_violations();
        match told {
            Ok(reply) => {
                talk.turns.push(Turn::Thought { raw: reply.raw.clone() });
                talk.turns.extend(results(&reply, &mut dice));
            }
            Err(error) => {
                let passing = [Kind::Garbled, Kind::Unreachable, Kind::Refused, Kind::TooLong];
                assert!(passing.contains(&error.kind), "{wire:?} {seed}: {error}");
                talk.turns.push(said("Something broke off."));
            }
        }
    }
}

#[tokio::test]
async fn whatever_is_said_no_request_is_refused_for_its_form() {
    loopback!();
    for seed in 0..12 {
        for model in ["claude-sonnet-5-5", "claude-fable-5-1", "claude-sonnet-5", "claude-haiku-4-5"] {
            converses(Wire::Anthropic, Rules { seed, ..Rules::default() }, model, seed).await;
        }
        converses(Wire::Responses, Rules { seed, ..Rules::default() }, "gpt-6.1-sol", seed).await;
        for rules in [Rules::local(), Rules::odd(), Rules { repeats_names: true, ..Rules::local() }] {
            converses(Wire::Chat, Rules { seed, ..rules }, "local-test", seed).await;
        }
    }
}

#[tokio::test]
async fn what_a_long_job_says_again_is_read_from_the_cache() {
    loopback!();
    for wire in WIRES {
        let mind = |seen: &faithful::Seen| {
            Say::new().thinks("on").calls("repo.read", json!({"path": format!("src/{}.rs", seen.thoughts())}))
        };
        let server = Faithful::start(theirs(wire), Rules::default(), mind);
        let client = client(&server, wire, theirs(wire).model());
        let mut talk = Asked { system: "You are Feral. ".repeat(400), ..talk() };
        for _ in 0..20 {
            let reply = talk.to(&client).await.unwrap();
            talk.turns.push(Turn::Thought { raw: reply.raw.clone() });
            let text = "let line = of_source(code);\n".repeat(100);
            let answer =
                |call: &model::Call| Answer { id: call.id.clone(), text: text.clone(), failed: false };
            talk.turns.push(Turn::Results { results: reply.calls.iter().map(answer).collect() });
        }
        server.assert_no_violations();
        let share = faithful::ledger::read_share(&server.ledger());
        assert!(share > 0.85, "{wire:?}: {share}\n");
    }
}

#[tokio::test]
async fn thinking_bound_elsewhere_is_told_and_left_out_on_request() {
    loopback!();
    for (wire, model) in [(Wire::Anthropic, "claude-sonnet-5-5"), (Wire::Responses, "gpt-6.1-sol")] {
        let mind = |_: &_| Say::new().thinks("hm").says("I look.").calls("repo.read", json!({"path": "x"}));
        let server = Faithful::start(theirs(wire), Rules::default(), mind);
        let client = client(&server, wire, model);
        let mut talk = talk();
        for _ in 0..2 {
            let reply = talk.to(&client).await.unwrap();
            talk.turns.push(Turn::Thought { raw: reply.raw });
        }
        talk.system = "Another system.".to_owned();
        let error = talk.to(&client).await.unwrap_err();
        assert_eq!(error.kind, Kind::Signature, "{error}");
        talk.without_thinking = true;
        talk.to(&client).await.unwrap();
        assert_eq!(server.violations().len(), 1, "{:?}", server.violations());
        let last = server.seen().pop().unwrap();
        assert!(
            !last.body.to_string().contains("encrypted_content\":")
                && !last.body.to_string().contains("signature")
        );
    }
}

#[tokio::test]
async fn news_come_after_the_results_and_never_between() {
    loopback!();
    for (model, role) in
        [("claude-opus-5", "system"), ("claude-sonnet-5", "user"), ("claude-haiku-5-5", "user")]
    {
        let mind = |_: &_| {
            Say::new().calls("repo.read", json!({"path": "x"})).calls("repo.read", json!({"path": "y"}))
        };
        let server = Faithful::start(faithful::Wire::Anthropic, Rules::default(), mind);
        let client = client(&server, Wire::Anthropic, model);
        let mut talk = talk();
        let reply = talk.to(&client).await.unwrap();
        talk.turns.push(Turn::Thought { raw: reply.raw });
        // Out of order, and one of them too early.
        talk.turns.push(said("The owner says: stop."));
        let answer = |call: &model::Call| Answer { id: call.id.clone(), text: "ok".to_owned(), failed: true };
        talk.turns.push(Turn::Results { results: reply.calls.iter().rev().map(answer).collect() });
        talk.to(&client).await.unwrap();
        server.assert_no_violations();
        let body = server.seen().pop().unwrap().body;
        let messages = body["messages"].as_array().unwrap();
        let results = &messages[2]["content"];
        assert_eq!(results[0]["tool_use_id"], reply.calls[0].id);
        assert_eq!((&results[0]["is_error"], &results[1]["type"]), (&json!(true), &json!("tool_result")));
        match role {
            "system" => {
                assert_eq!(messages[3], json!({"role": "system", "content": "The owner says: stop."}))
            }
            _ => assert_eq!(results[2]["text"], "The owner says: stop."),
        }
        let marks = body.to_string().matches("cache_control").count();
        assert_eq!(marks, 4, "{body:#}");
        let last = results.as_array().unwrap().last().unwrap();
        assert!(
            last.get("cache_control").is_some() && messages[0]["content"][1].get("cache_control").is_some()
        );
    }
}

/// Found: an always-on creature wakes every five minutes and more, when nothing it wrote to the cache is left.
#[tokio::test]
async fn at_a_rhythm_of_half_an_hour_the_frame_is_read_from_a_cache_of_an_hour() {
    loopback!();
    let priced = async |hour: bool, pause_s: u64| -> (usize, f64) {
        let server =
            Faithful::start(faithful::Wire::Anthropic, Rules::default(), |_| Say::new().says("Nothing."));
        let client = client(&server, Wire::Anthropic, "claude-sonnet-5-5");
        client.keep_an_hour(hour);
        let mut talk = talk();
        talk.system = "Be a heron. ".repeat(2_000);
        for _ in 0..6 {
            talk.to(&client).await.unwrap();
            server.forward(pause_s);
        }
        server.assert_no_violations();
        let ledger = server.ledger();
        let read = ledger.iter().map(|entry| entry.tokens.read).sum();
        (read, faithful::ledger::cost(&ledger, &faithful::Prices::MIDDLE).0)
    };
    let (short, long) = (priced(false, 1_800).await, priced(true, 1_800).await);
    println!("every 30 min: five minutes {short:?}, an hour {long:?}");
    assert!(short.0 == 0 && long.0 > 0 && long.1 < short.1 * 0.6, "{short:?} {long:?}");
    let (short, long) = (priced(false, 240).await, priced(true, 240).await);
    println!("every 4 min: five minutes {short:?}, an hour {long:?}");
    assert!(
        short.0 == long.0 && short.1 < long.1,
        "at a fast rhythm the short one is cheaper: {short:?} {long:?}"
    );
}

/// Found: after a turn of ten calls nothing was read from the cache: the one mark that moves was too far from the last.
#[tokio::test]
async fn what_a_request_marks_last_the_next_one_marks_again_however_many_calls_lie_between() {
    loopback!();
    let mind = |_: &Seen| {
        (0..16).fold(Say::new().says("All at once."), |say, at| {
            say.calls("files.read", json!({"path": format!("{at}.txt")}))
        })
    };
    let server = Faithful::start(faithful::Wire::Anthropic, Rules::default(), mind);
    let client = client(&server, Wire::Anthropic, "claude-sonnet-5-5");
    let mut talk = talk();
    for _ in 0..4 {
        let reply = talk.to(&client).await.unwrap();
        let results = reply.calls.iter().map(|call| Answer {
            id: call.id.clone(),
            text: "a heron\n".repeat(40),
            failed: false,
        });
        let results = Turn::Results { results: results.collect() };
        talk.turns.extend([Turn::Thought { raw: reply.raw }, results]);
    }
    server.assert_no_violations();
    // The place of each marked block, counted through all messages.
    let marks = |body: &Value| -> Vec<usize> {
        let blocks: Vec<Value> = body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|message| message["content"].as_array().unwrap().clone())
            .collect();
        (0..blocks.len()).filter(|at| blocks[*at].get("cache_control").is_some()).collect()
    };
    let marked: Vec<Vec<usize>> = server.seen().iter().map(|seen| marks(&seen.body)).collect();
    for pair in marked.windows(2) {
        assert!(pair[1].contains(pair[0].last().unwrap()), "{marked:?}");
        assert!(pair[1].len() <= 3, "with that of the system four at most: {marked:?}");
    }
}

#[tokio::test]
async fn tools_are_probed_where_they_are_dropped_too() {
    loopback!();
    for wire in WIRES {
        for drops_tools in [false, true] {
            let rules = Rules { drops_tools, local: wire == Wire::Chat, ..Rules::default() };
            let server = Faithful::start(theirs(wire), rules, |_| Say::new().says("Gladly."));
            let client = client(&server, wire, theirs(wire).model());
            let takes = client.takes_tools("otter71", false).await.unwrap();
            server.assert_no_violations();
            assert_eq!(takes, !drops_tools, "{wire:?} {:?} {:?}", server.refusals(), server.ledger());
        }
    }
}

#[test]
fn turns_are_written_as_they_are_read() {
    let text = r#"[{"turn":"said","text":"x"},{"turn":"thought","raw":[{"z":1,"a":{"y":null,"b":"é"}}]},{"turn":"results","results":[{"id":"i","text":"t","failed":false}]}]"#;
    let turns: Vec<Turn> = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&turns).unwrap(), text, "in the order the wire gave");
}

/// Talks in turns of two calls, then words, with news beside every result; returns the replies.
async fn lives_with_news(client: &Client, server: &Faithful, rounds: usize) -> Vec<Reply> {
    let mut asked = Asked { turns: vec![said("Begin.")], ..talk() };
    let mut replies = Vec::new();
    for round in 0..rounds {
        let reply =
            asked.to(client).await.unwrap_or_else(|error| panic!("{round}: {error} {:?}", server.refusals()));
        asked.turns.push(Turn::Thought { raw: reply.raw.clone() });
        let answer =
            |call: &model::Call| Answer { id: call.id.clone(), text: format!("of {round}"), failed: false };
        asked.turns.push(Turn::Results { results: reply.calls.iter().map(answer).collect() });
        asked.turns.push(said(&format!("News {round}.")));
        replies.push(reply);
    }
    replies
}
