//! Tools as every maker's server takes them: cases from a folder, and the creature's own list, on every wire.

use crate::faithful::{Faithful, Rules, Say, Wire};
use crate::faithfulness::client::post;
use creature::tools::catalogue::LIST;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A request with these tools, and where it goes; a tool's `strict` stands where its wire has it.
fn request(wire: Wire, tools: &[Value]) -> (&'static str, Value) {
    let say = json!([{"role": "user", "content": "go"}]);
    let part = |tool: &Value, key: &str| tool.get(key).cloned().unwrap_or(Value::Null);
    let [names, abouts, schemas] = ["name", "description", "schema"]
        .map(|key| tools.iter().map(|tool| part(tool, key)).collect::<Vec<_>>());
    let each = names.iter().zip(&abouts).zip(&schemas);
    let model = wire.model();
    match wire {
        Wire::Anthropic => {
            let tools: Vec<Value> = each
                .map(|((name, about), schema)| json!({"name": name, "description": about, "input_schema": schema}))
                .collect();
            ("/v1/messages", json!({"model": model, "max_tokens": 900, "tools": tools, "messages": say}))
        }
        Wire::Responses => {
            let tools: Vec<Value> = each
                .map(|((name, about), schema)| {
                    json!({"type": "function", "name": name, "description": about, "parameters": schema, "strict": false})
                })
                .collect();
            ("/v1/responses", json!({"model": model, "store": false, "tools": tools, "input": say}))
        }
        Wire::Chat => {
            let tools: Vec<Value> = each
                .map(|((name, about), schema)| {
                    json!({"type": "function", "function": {"name": name, "description": about, "parameters": schema}})
                })
                .collect();
            ("/v1/chat/completions", json!({"model": model, "tools": tools, "messages": say}))
        }
    }
}

fn server(wire: Wire) -> Faithful {
    Faithful::start(wire, Rules::default(), |_| Say::new().says("yes"))
}

#[test]
fn each_case_of_a_tool_is_taken_or_refused_on_every_wire_as_its_file_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/tools");
    let servers = Wire::ALL.map(|wire| (wire, server(wire)));
    let read = |path: &Path| -> Value { serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap() };
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(case) = name.strip_suffix(".json").filter(|case| !case.ends_with(".right")) else {
            continue;
        };
        let right = read(&path.with_file_name(format!("{case}.right.json")));
        for (wire, server) in &servers {
            let (at, body) = request(*wire, &[read(&path)]);
            let (status, reply) = post(server, at, &body);
            match right["refused"].as_str() {
                Some(words) => {
                    let said = reply["error"]["message"].as_str().unwrap_or_default();
                    assert!(status == 400 && said.contains(words), "{case}, {wire:?}: {status} {reply}");
                }
                None => {
                    assert_eq!((status, &right["taken"]), (200, &json!(true)), "{case}, {wire:?}: {reply}");
                }
            }
        }
        count += 1;
    }
    assert!(count >= 30, "{count} cases");
}

#[test]
fn more_tools_than_makers_take_are_refused() {
    let tool = |at: usize| json!({"name": format!("t{at}"), "description": "d", "schema": {"type": "object", "properties": {"n": {"type": "string"}}}});
    for wire in Wire::ALL {
        let server = server(wire);
        for (count, status) in [(128, 200), (129, 400)] {
            let tools: Vec<Value> = (0..count).map(tool).collect();
            let (at, body) = request(wire, &tools);
            assert_eq!(post(&server, at, &body).0, status, "{wire:?}, {count}");
        }
    }
}

/// Found with a real key: one schema of seventy was refused, and with it every request.
#[test]
fn the_creatures_own_tools_are_taken_by_every_maker() {
    for wire in Wire::ALL {
        let server = server(wire);
        let mut refused = Vec::new();
        for tool in LIST.native(&|_| true) {
            let tool = json!({"name": tool.name, "description": tool.description, "schema": tool.schema});
            let (at, body) = request(wire, &[tool]);
            let (status, reply) = post(&server, at, &body);
            if status != 200 {
                refused.push(reply["error"]["message"].as_str().unwrap_or_default().to_owned());
            }
        }
        assert!(refused.is_empty(), "{wire:?}: {} refused: {refused:#?}", refused.len());
    }
}
