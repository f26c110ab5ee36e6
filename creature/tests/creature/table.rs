//! Tests of the one table of tools: what is refused and what is taken of each kind, and the schemas made from it.

use crate::yard::Yard;
use creature::tools::catalogue::{LIST, TOOLS};
use creature::tools::tool::wire_name;
use serde_json::{Value, json};

#[tokio::test]
async fn bad_arguments_of_each_kind_are_refused_with_what_was_wrong() {
    let mut yard = Yard::new();
    for (tool, args, why) in [
        ("notes.read", json!({"name": " "}), "needs `name`, and it is empty"),
        ("notes.read", json!({"name": ["diary"]}), "takes text as `name`, not a list"),
        ("notes.write", json!({"name": "diary", "text": {"a": 1}}), "takes text as `text`, not an object"),
        ("rest", json!({}), "needs `sleep_s`"),
        ("rest", json!({"sleep_s": 604_801}), "a whole number from 0 to 604800 as `sleep_s`"),
        ("rest", json!({"sleep_s": -1}), "a whole number from 0 to 604800 as `sleep_s`"),
        ("rest", json!({"sleep_s": "soon"}), "a whole number from 0 to 604800 as `sleep_s`"),
        ("rest", json!({"sleep_s": 1.5}), "a whole number from 0 to 604800 as `sleep_s`"),
        ("rest", json!({"sleep_s": true}), "takes a number as `sleep_s`, not a boolean"),
        ("repo.read", json!({"path": "a", "from": 0}), "a whole number of at least 1 as `from`"),
        ("goal.add", json!({"title": "t", "cost_usd": "much"}), "takes a number as `cost_usd`, not text"),
        ("goal.add", json!({"title": "t", "checkpoints": [1]}), "takes text as checkpoints[0], not a number"),
        (
            "goal.add",
            json!({"title": "t", "checkpoints": []}),
            "takes 1 to 1000 entries as `checkpoints`, not 0",
        ),
        ("agenda.list", json!({"kind": "dreams"}), "takes one of stack, goals, opportunities"),
        ("repo.diff", json!({"staged": 1}), "takes true or false as `staged`, not a number"),
        ("memory.append", json!({"data": [1]}), "takes an object as `data`, not a list"),
        (
            "service.execute",
            json!({"service": "s", "method": "GET", "path": "/", "body": true}),
            "`body`, not a boolean",
        ),
        (
            "repo.edit",
            json!({"edits": [{"path": " ", "old": "", "new": ""}], "summary": "s"}),
            "needs `path` in edits[0], and it is empty",
        ),
        (
            "repo.edit",
            json!({"edits": [{"path": "a", "old": 1, "new": ""}], "summary": "s"}),
            "takes text as `old` in edits[0], not a number",
        ),
        (
            "spawn",
            json!({"graph": [{"objective": "o", "mood": "m"}]}),
            "takes no `mood` in graph[0], only objective, mode",
        ),
        (
            "spawn",
            json!({"graph": vec![json!({"objective": "o"}); 17]}),
            "takes 1 to 16 entries as `graph`, not 17",
        ),
    ] {
        let result = yard.call(tool, args.clone()).await;
        let (error, hint) =
            (result["error"].as_str().unwrap_or_default(), result["hint"].as_str().unwrap_or_default());
        assert!(error.starts_with(tool) && error.contains(why), "{tool} {args}: {result}");
        assert!(hint.starts_with("it takes {"), "{tool} {args}: {result}");
    }
}

#[tokio::test]
async fn what_is_meant_beyond_doubt_is_taken() {
    let mut yard = Yard::new();
    yard.put("creature/a.rs", "one\ntwo\n");
    for (tool, args) in [
        ("repo.read", json!({"path": "creature/a.rs", "from": "2", "lines": 1.0, "item": null})),
        ("memory.append", json!({"data": "{\"about\": \"x\"}"})),
        ("goal.add", json!({"title": "t", "checkpoints": "one\n\ntwo\n", "cost_usd": "$1,200"})),
        ("goal.add", json!({"title": "u", "checkpoints": "[\"one\", \"two\"]"})),
        ("agenda.list", json!({"kind": " goals "})),
        ("rest", json!({"sleep_s": "60", "intent": "look again"})),
    ] {
        let result = yard.call(tool, args.clone()).await;
        assert_eq!(result["ok"], json!(true), "{tool} {args}: {result}");
    }
    assert_eq!(yard.last("observation"), json!({"about": "x"}));
    let goals = &yard.store.agenda.goals.list;
    assert_eq!(goals.iter().map(|goal| goal.checkpoints.len()).collect::<Vec<_>>(), [2, 2]);
    assert!(!yard.tools.completed, "rest is the loop's to read");
}

#[test]
fn every_tool_has_a_name_and_a_closed_schema_for_the_wire() {
    let native = LIST.native(&|_| true);
    assert_eq!(native.len(), TOOLS.len());
    let mut names = std::collections::BTreeSet::new();
    for (wire, tool) in native.iter().zip(TOOLS.iter()) {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        assert!((1..=64).contains(&wire.name.len()) && wire.name.chars().all(plain), "{}", wire.name);
        assert!(names.insert(wire.name.clone()), "{} stands twice", wire.name);
        assert_eq!(wire.name, wire_name(tool.name));
        assert_eq!(LIST.by_wire_name(&wire.name).map(|tool| tool.name), Some(tool.name));
        assert_eq!(LIST.by_wire_name(tool.name).map(|tool| tool.name), Some(tool.name));
        assert!(!wire.description.trim().is_empty(), "{}", wire.name);
        closed(&wire.schema, wire.strict, &wire.name);
    }
    let strict: Vec<&str> = native.iter().filter(|tool| tool.strict).map(|tool| tool.name.as_str()).collect();
    assert_eq!(strict, ["notes_write", "files_write", "repo_edit", "repo_apply_patch"]);
    let hold = &native.iter().find(|tool| tool.name == "repo_edit").unwrap().schema["properties"]["hold"];
    assert_eq!(hold["type"], json!(["boolean", "null"]));
    let read = native.iter().find(|tool| tool.name == "repo_read").unwrap();
    assert_eq!(read.schema["properties"]["from"], json!({"type": "integer", "minimum": 1}));
    assert_eq!(read.schema["required"], json!(["path"]));
}

/// Every object with properties is closed; a strict one has all of them required and nothing a strict wire refuses.
fn closed(schema: &Value, strict: bool, name: &str) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        assert_eq!(schema["additionalProperties"], json!(false), "{name}");
        let required = schema["required"].as_array().unwrap();
        assert!(required.iter().all(|one| properties.contains_key(one.as_str().unwrap())), "{name}");
        assert!(!strict || required.len() == properties.len(), "{name}");
        properties.values().for_each(|inner| closed(inner, strict, name));
    }
    if let Some(items) = schema.get("items") {
        closed(items, strict, name);
    }
    for refused in ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"] {
        assert!(!strict || schema.get(refused).is_none(), "{name} has {refused}");
    }
}
