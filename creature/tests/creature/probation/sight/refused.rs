//! Servers that refuse the form of a request: a thought comes all the same, by the next simpler form, told once and kept.

use super::world::{AUTO, World};
use crate::broker::loopback;
use crate::faithful::{Refuses, Rules, Say, Seen, Wire};
use crate::lived::Lived;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

const NOON: &str = "2026-03-02T12:00:00Z";

type Refusal = Option<(u16, String)>;

/// A server that refuses some requests, and the bodies it has refused.
struct Refusing {
    rules: Rules,
    refused: Arc<Mutex<Vec<String>>>,
}

impl Refusing {
    fn new(rules: Rules, judge: impl Fn(&Value) -> Refusal + Send + Sync + 'static) -> Self {
        let refused = Arc::new(Mutex::new(Vec::new()));
        let noting = Arc::clone(&refused);
        let judge = move |body: &Value| {
            let answer = judge(body);
            if answer.is_some() {
                noting.lock().unwrap().push(body.to_string());
            }
            answer
        };
        Self { rules: Rules { refuses: Some(Refuses(Arc::new(judge))), ..rules }, refused }
    }

    /// How many requests were refused; none of them came twice.
    #[track_caller]
    fn count(&self) -> usize {
        let refused = self.refused.lock().unwrap();
        let each: BTreeSet<&String> = refused.iter().collect();
        assert_eq!(each.len(), refused.len(), "a body that was refused came again");
        refused.len()
    }
}

/// The names of a request's tools.
fn tools(body: &Value) -> Vec<&str> {
    let tools = body["tools"].as_array().map_or(&[] as &[Value], Vec::as_slice);
    let name = |tool: &'_ Value| tool["name"].as_str().map(str::len);
    assert!(tools.iter().all(|tool| name(tool).is_some() || tool["function"]["name"].is_string()), "{body}");
    tools.iter().filter_map(|tool| tool["name"].as_str().or(tool["function"]["name"].as_str())).collect()
}

/// Two lives of several wakes, in each of which the owner is answered; observations about the server.
async fn two_lives(wire: Wire, rules: Rules) -> (World, Vec<String>) {
    let world = World::new(wire, rules, AUTO, |seen: &Seen| {
        let answered = seen.last_results().iter().any(|(name, _)| name.contains("owner"));
        match seen.autonomous || answered || !seen.all_text().contains("how are you") {
            true => Say::new().rests(300),
            false => Say::new().says("I say so.").calls("owner.message", json!({"text": "well"})),
        }
    });
    for life in 1..=2 {
        world.house.say(&json!({"at": NOON, "text": format!("how are you, {life}")}).to_string());
        let mut lived = Lived::born(&world.house, NOON, life).await;
        for _ in 0..6 {
            lived.wake().await;
        }
        let records = world.house.records();
        let answers =
            records.iter().filter(|record| record.kind == "message" && record.data["text"] == "well");
        assert_eq!(answers.count() as u64, life, "{wire:?}: {records:#?}");
    }
    world.server.assert_no_violations();
    let about = |record: &memory::Record| record.data["about"] == "server";
    let records = world.house.records();
    let told = records.iter().filter(|record| about(record));
    let told = told.filter_map(|record| record.data["text"].as_str().map(str::to_owned)).collect();
    (world, told)
}

/// Found with a real key: OpenAI refused the list for one of its tools, ten minutes apart, for ever.
#[tokio::test]
async fn a_refusal_that_names_a_tool_leaves_that_tool_out_and_is_told_once() {
    loopback!();
    for wire in Wire::ALL {
        let server = Refusing::new(Rules::default(), move |body| {
            let at = tools(body).iter().position(|name| *name == "spawn")?;
            let message = match wire {
                Wire::Responses => {
                    "Invalid schema for function 'spawn': In context=('properties', 'depends_on_previous'), array schema \
                     missing items."
                        .to_owned()
                }
                Wire::Anthropic => format!("tools.{at}.custom.input_schema: JSON schema is invalid."),
                Wire::Chat => format!("Invalid value at 'tools[0].function_declarations[{at}].parameters'"),
            };
            Some((400, json!({"error": {"message": message, "type": "invalid_request_error"}}).to_string()))
        });
        let (world, told) = two_lives(wire, server.rules.clone()).await;
        assert!(told.len() == 1 && told[0].contains("spawn"), "{wire:?}: {told:?}");
        // A strict tool's list is tried as a plain one first where the refusal does not say which tool it is.
        assert_eq!(server.count(), 1, "{wire:?}");
        let seen = world.server.seen();
        assert!(seen.iter().all(|seen| seen.tool("spawn").is_none()), "{wire:?}");
        assert!(seen.iter().all(|seen| seen.tool("repo.edit").is_some()), "{wire:?}: {}", seen.len());
    }
}

fn judged_by_words(status: u16, words: &'static str) -> impl Fn(&Value) -> Refusal {
    move |body| (tools(body).len() > 1).then(|| (status, words.to_owned()))
}

/// The whole list is refused, however it is said: the probe passes, and the thought comes as JSON.
#[tokio::test]
async fn a_list_that_is_refused_after_a_probe_that_passed_is_asked_in_json_and_known_to_the_next_life() {
    loopback!();
    let cases = [
        (
            400,
            r#"{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"type\". Proto field is not repeating, cannot start list.","status":"INVALID_ARGUMENT"}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 64, but got an array with length 76 instead.","param":"tools","code":"array_above_max_length"}}"#,
        ),
        (404, r#"{"error":{"code":404,"message":"Nobody who serves this model supports so many tools."}}"#),
        (422, r#"{"detail":[{"loc":["body","tools"],"msg":"ensure this value has at most 64 items"}]}"#),
        (
            500,
            r#"{"error":{"code":500,"message":"tools need another flag of this server","type":"server_error"}}"#,
        ),
        (501, "Not Implemented"),
    ];
    for (status, words) in cases {
        let server = Refusing::new(Rules::local(), judged_by_words(status, words));
        let (world, told) = two_lives(Wire::Chat, server.rules.clone()).await;
        assert_eq!(server.count(), 1, "{words}");
        assert!(told.len() == 1 && told[0].contains("JSON"), "{words}: {told:?}");
        assert!(world.server.seen().iter().all(|seen| seen.json_mode), "{words}");
        let kept = std::fs::read_to_string(world.house.path(".self/mind/servers.json")).unwrap();
        assert!(kept.contains("\"by\":\"c0ffee\"") && kept.contains("\"in_json\":true"), "{kept}");
    }
}

/// The wires that are never asked whether they take tools: strict, plain, JSON.
#[tokio::test]
async fn a_list_refused_on_the_other_wires_is_asked_plain_and_then_in_json() {
    loopback!();
    for wire in [Wire::Anthropic, Wire::Responses] {
        let words = r#"{"error":{"type":"invalid_request_error","message":"tools are not supported"}}"#;
        let server = Refusing::new(Rules::default(), move |body: &Value| {
            (!tools(body).is_empty()).then(|| (400, words.to_owned()))
        });
        let (world, told) = two_lives(wire, server.rules.clone()).await;
        assert_eq!(server.count(), 2, "{wire:?}: strict and plain");
        assert!(told.len() == 1 && told[0].contains("JSON"), "{wire:?}: {told:?}");
        assert!(world.server.seen().iter().all(|seen| seen.json_mode), "{wire:?}");
        let plain = server.refused.lock().unwrap()[1].clone();
        assert!(!plain.contains("\"strict\":true") && !plain.contains("additionalProperties"), "{plain}");
    }
}

/// As DeepSeek takes no schema, and others no form of a reply at all.
#[tokio::test]
async fn a_thought_in_json_is_held_to_an_object_where_schemas_are_refused_and_to_nothing_where_both_are() {
    loopback!();
    let local = Rules { drops_tools: true, ..Rules::local() };
    for (rules, format, refusals) in [
        (local.clone(), json!("json_schema"), 0),
        (Rules { refuses_schema: true, ..local.clone() }, json!("json_object"), 1),
        (Rules { refuses_format: true, ..local }, Value::Null, 2),
    ] {
        let (world, told) = two_lives(Wire::Chat, rules).await;
        let mut thoughts = world.server.seen();
        // But for the question whether tools are had.
        thoughts.retain(|seen| seen.json_mode);
        let formats = thoughts.iter().map(|seen| &seen.body["response_format"]["type"]);
        assert!(
            thoughts.len() > 2 && formats.clone().all(|sent| *sent == format),
            "{:?}",
            formats.collect::<Vec<_>>()
        );
        assert_eq!(world.server.refusals().len(), refusals, "{format}: each once, in both lives");
        assert_eq!(told.len(), refusals.min(1), "{format}: {told:?}");
    }
}

/// Another build of the creature may have mended what was refused.
#[tokio::test]
async fn another_build_tries_the_simplest_form_anew() {
    loopback!();
    let server = Refusing::new(Rules::local(), judged_by_words(400, "tools are refused"));
    let (world, _) = two_lives(Wire::Chat, server.rules.clone()).await;
    let path = world.house.path(".self/mind/servers.json");
    let kept = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, kept.replace("c0ffee", "decade")).unwrap();
    world.house.say(&json!({"at": NOON, "text": "how are you, 3"}).to_string());
    Lived::born(&world.house, NOON, 3).await.wake().await;
    assert_eq!(server.count(), 2, "the list as its wire has it is tried once more");
    assert!(world.server.seen().last().unwrap().json_mode);
}

/// A fall puts an earlier creature back, which finds in the file what a later one has found out.
#[tokio::test]
async fn what_a_later_creature_wrote_of_servers_costs_no_probe_and_stays() {
    loopback!();
    let (world, _) = two_lives(Wire::Chat, Rules::local()).await;
    let probes = || world.server.ledger().len() - world.server.seen().len();
    assert_eq!(probes(), 1);
    let path = world.house.path(".self/mind/servers.json");
    let read = || -> Value { serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap() };
    let mut later = read();
    let name = later.as_object().unwrap().keys().next().unwrap().clone();
    later[&name]["speed"] = json!({"words_s": 7});
    later[&name]["answered"] = json!({"by": "decade", "in_json": false, "without": ["of_tomorrow"]});
    later["a_server of_tomorrow"] = json!({"takes": ["tools", "smells"]});
    let mut earlier = later.clone();
    earlier[&name].as_object_mut().unwrap().remove("answered");
    for (life, written) in (3..).zip([later, earlier]) {
        std::fs::write(&path, written.to_string()).unwrap();
        world.house.say(&json!({"at": NOON, "text": format!("how are you, {life}")}).to_string());
        Lived::born(&world.house, NOON, life).await.wake().await;
        let now = read();
        assert_eq!(probes(), 1, "{written}");
        assert_eq!(now[&name]["answered"]["by"], "c0ffee", "{now}");
        for kept in ["/a_server of_tomorrow".to_owned(), format!("/{}/speed", name.replace('/', "~1"))] {
            assert!(now.pointer(&kept).is_some() && now.pointer(&kept) == written.pointer(&kept), "{now}");
        }
    }
}

/// A server that refuses everything is not taken for one that refuses tools.
#[tokio::test]
async fn what_is_refused_in_json_too_is_not_laid_on_the_tools() {
    loopback!();
    let broken = Arc::new(Mutex::new(true));
    let theirs = Arc::clone(&broken);
    let rules = Rules {
        refuses: Some(Refuses(Arc::new(move |_: &Value| {
            theirs.lock().unwrap().then(|| (400, json!({"error": {"message": "not today"}}).to_string()))
        }))),
        ..Rules::default()
    };
    let world = World::new(Wire::Responses, rules, AUTO, |_| Say::new().says("I am.").rests(300));
    let mut lived = Lived::born(&world.house, NOON, 1).await;
    lived.wake().await;
    assert!(world.server.seen().is_empty());
    *broken.lock().unwrap() = false;
    for _ in 0..6 {
        lived.wake().await;
    }
    let seen = world.server.seen();
    assert!(!seen.is_empty() && seen.iter().all(|seen| !seen.json_mode), "{}", seen.len());
}

/// A sub-session of the quick model's is refused before that model has ever thought for the creature itself.
#[tokio::test]
async fn a_list_refused_in_a_conversation_apart_is_asked_in_json_the_next_time() {
    loopback!();
    let server = Refusing::new(Rules::local(), |body| {
        let is_quick = body["model"] == "gpt-test";
        (is_quick && tools(body).len() > 1).then(|| (400, "tools are refused".to_owned()))
    });
    let world = World::new(Wire::Chat, server.rules.clone(), AUTO, |seen: &Seen| {
        if seen.model == "gpt-test" {
            return Say::new().says("The mat hides it.");
        }
        let has_spawned = seen.all_text().contains("session-1");
        match has_spawned {
            true => Say::new().rests(300),
            false => Say::new().says("I ask.").calls("spawn", json!({"objective": "find the key"})),
        }
    });
    let quick = json!({"wire": "openai", "name": "gpt-test", "path": "/llm/openai/v1", "address": "local:2", "window": 100_000});
    world.offer(json!({"window": 100_000, "quick": quick}));
    let mut lived = Lived::born(&world.house, NOON, 1).await;
    let answer = || {
        let records = world.house.records();
        records.iter().any(|record| record.data.to_string().contains("The mat hides it."))
    };
    for _ in 0..12 {
        lived.wake().await;
        if answer() {
            break;
        }
    }
    assert!(answer(), "{:#?}", world.house.records());
    assert_eq!(server.count(), 1);
    world.server.assert_no_violations();
}
