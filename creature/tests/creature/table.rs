//! Tests of the one table of tools: what is refused and what is taken of each kind, and the schemas made from it.

use crate::yard::Yard;
use creature::tools::catalogue::{LIST, TOOLS};
use creature::tools::tool::wire_name;
use serde_json::json;

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
        ("agenda.list", json!({"kind": "dreams"}), "takes one of stack, requests, goals, opportunities"),
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
    assert!(!yard.tools.left.completed, "rest is the loop's to read");
}

#[test]
fn every_tool_has_a_name_for_the_wire_and_arguments_in_the_one_form() {
    let native = LIST.native(&|_| true);
    assert_eq!(native.len(), TOOLS.len());
    for (wire, tool) in native.iter().zip(TOOLS.iter()) {
        assert_eq!(wire.name, wire_name(tool.name));
        assert_eq!(LIST.by_wire_name(&wire.name).map(|tool| tool.name), Some(tool.name));
        assert_eq!(LIST.by_wire_name(tool.name).map(|tool| tool.name), Some(tool.name));
        assert!(!tool.args.is_empty(), "{}: some servers refuse a tool without arguments", tool.name);
    }
    let strict: Vec<&str> = native.iter().filter(|tool| tool.strict).map(|tool| tool.name.as_str()).collect();
    for name in ["notes_write", "files_write", "repo_edit", "repo_apply_patch"] {
        assert!(strict.contains(&name), "{name} carries code or papers");
    }
    let schema = |name: &str| &native.iter().find(|tool| tool.name == name).unwrap().schema;
    let read = schema("repo_read");
    assert_eq!(read["properties"]["from"], json!({"type": "integer"}));
    assert_eq!(read["required"], json!(["path"]));
    let data = &schema("memory_append")["properties"]["data"];
    assert_eq!(data, &json!({"type": "string", "description": "a JSON object, as text"}));
    assert_eq!(schema("repo_status")["properties"], json!({"why": {"type": "string"}}));
}

/// What took several types comes as text from a server that knows one type a field: it is read as before.
#[tokio::test]
async fn what_took_several_types_is_read_from_text_too() {
    for (previous, waits_for) in [
        (json!(true), "session-1, session-2"),
        (json!("true"), "session-1, session-2"),
        (json!("all"), "session-1, session-2"),
        (json!(["session-2"]), "session-2"),
        (json!("[\"session-2\"]"), "session-2"),
        (json!("session-2"), "session-2"),
    ] {
        let mut yard = Yard::new();
        for args in [json!({"objective": "one"}), json!({"objective": "two"})] {
            assert_eq!(yard.call("spawn", args).await["ok"], true);
        }
        let args = json!({"objective": "sum up", "depends_on_previous": previous, "not_before": "60"});
        let result = yard.call("spawn", args).await;
        assert_eq!(result["spawned"][0]["id"], "session-3", "{result}");
        let session = yard.store.sessions.get("session-3").unwrap();
        assert_eq!(session.depends_on.join(", "), waits_for, "{previous}");
        assert!(session.not_before.is_some(), "{previous}");
    }
    let mut yard = Yard::new();
    let result = yard.call("spawn", json!({"objective": "x", "not_before": "-5"})).await;
    assert!(result["error"].as_str().unwrap().contains("not_before"), "{result}");
    assert_eq!(yard.call("dream.now", json!({"why": "to see"})).await["ok"], true);
}

/// Found: 13 tools in the first request of a new house were for what nobody had configured.
#[test]
fn a_new_house_lists_what_it_can_use_and_every_other_tool_is_called_by_its_name() {
    let listed = |configured: &[&str]| {
        let configured: Vec<String> = configured.iter().map(|name| (*name).to_owned()).collect();
        TOOLS.iter().filter(|tool| LIST.is_listed(tool.name, &configured)).count()
    };
    assert!(listed(&[]) < listed(&["x", "search", "services", "mcp"]));
    // None is lost: what is not listed is named by `more`, and called through it.
    let (_, more) = LIST.more(&[]);
    for tool in TOOLS.iter() {
        let named = more.description.split([' ', ',']).any(|name| name == tool.name);
        assert!(named != LIST.is_listed(tool.name, &[]), "{}", tool.name);
    }
    for args in [
        json!({"tool": "goal.extend", "args": "{\"id\": \"goal-1\"}"}),
        json!({"tool": "goal_extend", "args": {"id": "goal-1"}}),
    ] {
        let mut call = mind::thought::ToolCall {
            tool: "more".to_owned(),
            args: args.as_object().unwrap().clone(),
            ..Default::default()
        };
        LIST.unfold(&mut call);
        assert_eq!(
            (call.tool.as_str(), &call.args["id"], call.refused),
            ("goal.extend", &json!("goal-1"), None)
        );
    }
    let mut call = mind::thought::ToolCall {
        tool: "more".to_owned(),
        args: json!({"tool": "x.reply", "args": "to 7"}).as_object().unwrap().clone(),
        ..Default::default()
    };
    LIST.unfold(&mut call);
    assert!(call.refused.unwrap().contains("no JSON object"));
}
