//! Thinking with a model over real HTTP, in both wires: tools run, garbled replies and outages are survived.

use crate::broker::loopback;
use crate::house::{Line, Script, TempHouse, thought};
use serde_json::{Value, json};

fn remember(text: &str, as_text: bool) -> Value {
    let args = json!({"kind": "observation", "data": {"about": "test", "text": text}});
    match as_text {
        true => json!([{"tool": "memory.append", "args_json": args.to_string()}]),
        false => json!([{"tool": "memory.append", "args": args}]),
    }
}

#[test]
fn a_model_in_the_anthropic_wire_calls_tools() {
    loopback!();
    let script = Script::new(vec![
        thought("remember", remember("over anthropic", true), 0),
        thought("look", json!([{"tool": "no.such", "args_json": "{}"}]), 300),
    ]);
    let house = TempHouse::with_model("anthropic", &script, 300);
    let living = house.live(1);
    house.record("observation", |data| data["text"] == "over anthropic");
    let missing = house.record("action", |data| data["tool"] == "no.such");
    assert_eq!(missing.data["result"]["ok"], false);
    assert!(missing.data["result"]["error"].is_string() && missing.data["result"]["hint"].is_string());
    let said = house.record("thought", |data| data["thought"] == 1);
    assert_eq!(said.data["mind"], "anthropic scripted");
    assert_eq!(said.data["usage"]["input_tokens"], 11);
    assert_eq!(said.data["usage"]["cache_read_tokens"], 5);
    let asked = script.request(0);
    let system = asked["system"].to_string();
    assert!(system.contains("args_json") && system.contains("memory.append"), "{system}");
    assert!(script.situation(1).contains("over anthropic"), "the result is not in the next thought");
    living.leave();
}

#[test]
fn a_model_in_the_openai_wire_calls_tools_and_its_fences_are_mended() {
    loopback!();
    let fenced = json!({"monologue": "m", "tool_calls": remember("over openai", false), "sleep_s": "300"});
    let script = Script::new(vec![Line::Says(format!("Sure!\n```json\n{fenced}\n```"))]);
    let house = TempHouse::with_model("openai", &script, 300);
    let living = house.live(1);
    house.record("observation", |data| data["text"] == "over openai");
    let said = house.record("thought", |data| data["thought"] == 1);
    assert_eq!(said.data["sleep_s"], 300);
    assert!(said.data["usage"]["repaired"].as_str().unwrap().contains("fenced"), "{}", said.data);
    assert_eq!(script.request(0)["response_format"]["type"], "json_schema");
    living.leave();
}

/// Found: a model that writes no JSON, whatever it is told, was answered for by instinct, and its own words were thrown away.
#[test]
fn a_model_that_writes_no_json_though_it_was_told_to_has_answered_in_its_own_words() {
    loopback!();
    let words = "High water is at **04:12**.\n\n```rust\nfn main() { println!(\"{}\", 4); }\n```";
    let script = Script::sighted(move |shown| match shown.contains("when is high water?") {
        true if shown.contains("and tomorrow") => Line::Says("Tomorrow at 05:01.".to_owned()),
        true => Line::Says(words.to_owned()),
        false => thought("rest", json!([]), 300),
    });
    let house = TempHouse::with_model("openai", &script, 1);
    house.say(r#"{"text": "when is high water?"}"#);
    let living = house.live(1);
    let answer = house.record("message", |data| data["from"] == "creature" && data["kind"] == "answer");
    assert_eq!(answer.data["text"], words);
    let thoughts = house.records().into_iter().filter(|record| record.kind == "thought");
    let kept: Vec<bool> = thoughts.map(|record| record.data["garbled"] == true).take(2).collect();
    assert_eq!(kept, [true, false], "it is told once, and then understood");
    house.say(r#"{"text": "and tomorrow, when is high water?"}"#);
    house.record("message", |data| data["kind"] == "answer" && data["text"] == "Tomorrow at 05:01.");
    let garbled = house.records().iter().filter(|record| record.data["garbled"] == true).count();
    assert_eq!(garbled, 1, "it is not told again");
    living.leave();
}

#[test]
fn safe_mode_is_instinct_without_memory_whatever_is_configured() {
    loopback!();
    let script = Script::new(vec![thought("never asked", json!([]), 300)]);
    let house = TempHouse::with_model("openai", &script, 300);
    house.write(
        ".self/memory.jsonl",
        "{\"at\":\"x\",\"life\":1,\"kind\":\"thought\",\"data\":{\"thought\":41}}\n",
    );
    let mut command = house.command(4);
    let living = crate::house::Living { child: command.env("FERAL_SAFE", "1").spawn().unwrap() };
    house.record("observation", |data| data["about"] == "birth" && data["safe"] == true);
    let thought = house.record("thought", |data| data["mind"] == "instinct");
    assert_eq!(thought.data["thought"], 1, "memory was read");
    living.leave();
    assert!(script.asked.lock().unwrap().is_empty());
}

#[test]
fn a_rehearsal_lives_one_thought_and_exits() {
    let house = TempHouse::new();
    let status = house.command(1).arg("rehearse").env("FERAL_REHEARSAL", "1").status().unwrap();
    assert!(status.success(), "{}", house.log());
    assert!(house.records().iter().any(|r| r.kind == "thought"));
    assert!(house.records().iter().filter(|r| r.kind == "action").count() >= 3);
}
