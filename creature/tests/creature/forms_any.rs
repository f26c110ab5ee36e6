//! Tools of whatever schema, as an owner's server may give them: in a request of the real client every maker takes them.

use crate::broker::loopback;
use crate::faithful::{Faithful, Rules, Say, Wire};
use creature::tools::catalogue::LIST;
use fastrand::Rng;
use model::{Client, Endpoint, Talk, Tool, Turn};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Requests of each wire, and tools in each.
const REQUESTS: u64 = 30;
const TOOLS: usize = 12;

fn pick<'a>(rng: &mut Rng, words: &[&'a str]) -> &'a str {
    words[rng.usize(..words.len())]
}

/// Any JSON schema, as generators and people write them.
fn schema(rng: &mut Rng, depth: usize) -> Value {
    let mut fields = Map::new();
    match if depth > 13 { 0 } else { rng.u8(..14) } {
        0 => drop(fields.insert(
            "type".into(),
            json!(pick(rng, &["string", "integer", "number", "boolean", "null", "any", "String"])),
        )),
        1 => drop(fields.insert("type".into(), json!([pick(rng, &["string", "array", "object"]), "null"]))),
        2 => drop(fields.insert("type".into(), json!(["string", "integer", "object"]))),
        3 => drop(fields.insert(
            "$ref".into(),
            json!(pick(rng, &["#/$defs/a", "#/definitions/b", "#/$defs/gone", "#", "other.json"])),
        )),
        4 => drop(fields.insert(pick(rng, &["anyOf", "oneOf"]).into(), some(rng, depth))),
        5 => drop(fields.insert("allOf".into(), some(rng, depth))),
        6 => drop(fields.insert("type".into(), json!("array"))),
        7 => {
            fields.insert("type".into(), json!("array"));
            fields.insert("items".into(), if rng.bool() { some(rng, depth) } else { schema(rng, depth + 1) });
        }
        8 => drop(fields.insert("prefixItems".into(), some(rng, depth))),
        9 => drop(fields.insert("type".into(), json!("object"))),
        10 => {
            let values =
                [json!(["a", "b", "b"]), json!(["", "a"]), json!([1, 2]), json!([1.5, "x", null]), json!([])];
            fields.insert("enum".into(), values[rng.usize(..values.len())].clone());
        }
        11 => drop(
            fields.insert("const".into(), [json!("only"), json!(7), json!(null)][rng.usize(..3)].clone()),
        ),
        _ => return object(rng, depth),
    }
    about(rng, &mut fields);
    Value::Object(fields)
}

fn some(rng: &mut Rng, depth: usize) -> Value {
    (0..rng.usize(..4)).map(|_| schema(rng, depth + 1)).collect()
}

fn object(rng: &mut Rng, depth: usize) -> Value {
    let names = ["path", "a-b", "2nd", "with space", "ok_1", "$filter", "é", "x"];
    let count = rng.usize(..5);
    let properties: Map<String, Value> =
        (0..count).map(|_| (pick(rng, &names).to_owned(), schema(rng, depth + 1))).collect();
    let required: Vec<&str> = (0..rng.usize(..3)).map(|_| pick(rng, &names)).collect();
    let mut fields = Map::from_iter([
        ("properties".to_owned(), Value::Object(properties)),
        ("required".to_owned(), json!(required)),
    ]);
    if rng.bool() {
        fields.insert("type".to_owned(), json!("object"));
    }
    about(rng, &mut fields);
    Value::Object(fields)
}

/// What stands beside a type.
fn about(rng: &mut Rng, fields: &mut Map<String, Value>) {
    let more = [
        ("description", json!("d".repeat(1_500))),
        ("description", json!("")),
        ("default", json!({"a": null})),
        ("additionalProperties", json!({"type": "string"})),
        ("format", json!("date-time")),
        ("minimum", json!(0)),
        ("exclusiveMinimum", json!(true)),
        ("pattern", json!("^[a-z]+$")),
        ("title", json!("T")),
        ("nullable", json!(true)),
        ("$schema", json!("http://json-schema.org/draft-07/schema#")),
        ("examples", json!([1])),
        ("if", json!({"properties": {}})),
        ("patternProperties", json!({"^x": {}})),
    ];
    for _ in 0..rng.usize(..3) {
        let (key, value) = &more[rng.usize(..more.len())];
        fields.insert((*key).to_owned(), value.clone());
    }
}

fn tool(rng: &mut Rng, number: usize) -> Tool {
    let mut schema = if rng.u8(..4) == 0 { schema(rng, 0) } else { object(rng, 0) };
    if let Value::Object(fields) = &mut schema {
        fields
            .insert("$defs".to_owned(), json!({"a": self::schema(rng, 8), "self": {"$ref": "#/$defs/self"}}));
        fields.insert("definitions".to_owned(), json!({"b": object(rng, 8)}));
    }
    let description = ["Does it.", "", &"long ".repeat(400)][rng.usize(..3)].to_owned();
    Tool { name: format!("tool_{number}"), description, schema, strict: rng.u8(..6) == 0 }
}

fn client(server: &Faithful, wire: Wire) -> Client {
    let endpoint = Endpoint {
        wire: match wire {
            Wire::Anthropic => model::Wire::Anthropic,
            Wire::Responses => model::Wire::Responses,
            Wire::Chat => model::Wire::Chat,
        },
        base_url: server.base_url(),
        model: wire.model().to_owned(),
        token: "a-token-of-this-life".to_owned(),
        deadline: Duration::from_secs(60),
        silence: Duration::from_secs(60),
        max_tokens: 4_000,
        effort: String::new(),
    };
    Client::new(endpoint).unwrap()
}

/// Sends the tools once, and gives back what of them arrived.
async fn sent(wire: Wire, tools: &[Tool], case: &str) -> Vec<(String, Value)> {
    let server = Faithful::start(wire, Rules::default(), |_| Say::new().says("yes"));
    let turns = [Turn::Said { text: "Go.".to_owned() }];
    let talk = Talk {
        system: "",
        tools,
        turns: &turns,
        media: &[],
        schema: None,
        autonomous: false,
        without_thinking: false,
    };
    let said = client(&server, wire).say(&talk, &mut |_| {}).await;
    assert!(server.refusals().is_empty(), "{case}: {:?}", server.refusals());
    assert!(said.is_ok(), "{case}: {said:?}");
    server.seen().pop().unwrap().tools.into_iter().collect()
}

/// A server of the owner's may say anything of its tools: one bare object among seventy tools, and every request was refused.
#[tokio::test]
async fn tools_of_any_schema_are_sent_as_every_maker_takes_them() {
    loopback!();
    for wire in Wire::ALL {
        for seed in 0..REQUESTS {
            let rng = &mut Rng::with_seed(seed);
            let tools: Vec<Tool> = (0..TOOLS).map(|number| tool(rng, number)).collect();
            let case = format!("{wire:?}, seed {seed}");
            assert_eq!(sent(wire, &tools, &case).await.len(), TOOLS, "{case}");
        }
    }
}

#[tokio::test]
async fn a_bare_object_a_union_and_a_reference_keep_what_they_mean() {
    loopback!();
    let schema = json!({
        "$schema": "x", "type": "object", "additionalProperties": false, "required": ["capability", "gone"],
        "$defs": {"at": {"type": "object", "properties": {"x": {"type": ["integer", "null"], "minimum": 0}}}},
        "properties": {
            "capability": {"type": "string", "minLength": 1},
            "headers": {"type": "object", "description": "of the request"},
            "at": {"$ref": "#/$defs/at"},
            "one": {"anyOf": [{"type": "string", "enum": ["a"]}, {"const": "b"}, {"type": "null"}]},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "pairs": {"type": "array", "items": {"type": "array", "items": [{"type": "number"}, {"type": "number"}]}},
        },
    });
    let tool = Tool { name: "execute".to_owned(), description: "Calls.".to_owned(), schema, strict: false };
    let due = json!({
        "type": "object",
        "properties": {
            "capability": {"type": "string", "description": "characters at least: 1"},
            "headers": {"type": "string", "description": "of the request; a JSON object, as text"},
            "at": {"type": "object", "properties": {"x": {"type": "integer", "description": "at least 0"}}},
            "one": {"type": "string", "enum": ["a", "b"]},
            "either": {"type": "string", "description": "text, or JSON as text"},
            "pairs": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
        },
        "required": ["capability"],
    });
    for wire in Wire::ALL {
        assert_eq!(
            sent(wire, std::slice::from_ref(&tool), "execute").await,
            [("execute".to_owned(), due.clone())],
            "{wire:?}"
        );
    }
}

/// What is in the one form already goes as it stands: a changed byte would cost the cache of every conversation.
#[tokio::test]
async fn the_creatures_own_tools_go_as_they_stand() {
    loopback!();
    let tools = LIST.native(&|_| true);
    let own: std::collections::BTreeMap<String, String> =
        tools.iter().map(|tool| (tool.name.clone(), tool.schema.to_string())).collect();
    let arrived = sent(Wire::Chat, &tools, "own").await;
    assert_eq!(arrived.len(), own.len());
    for (name, schema) in arrived {
        assert_eq!(schema.to_string(), own[&name], "{name}");
    }
}
