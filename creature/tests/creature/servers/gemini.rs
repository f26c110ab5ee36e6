//! A stand-in for Google's GenerateContent: what it refuses of a request, by its SDK and its documentation, and a reply as events.
//!
//! Sources: `google/genai/types.py` of github.com/googleapis/python-genai (2026-08-21) for fields and names;
//! ai.google.dev/gemini-api/docs/function-calling for turns, and .../docs/thought-signatures for signatures.

use crate::faithful::http::{self, Request};
use crate::faithful::say::{Part, Say, wire_name};
use crate::faithful::tool_rules::{self, Tool};
use crate::faithful::{Message, Seen, Shown, Wire};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What stands in for a signature that a client has lost: "skip_thought_signature_validator" in base64.
const SKIPS: &str = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=";

/// Fields of GenerateContentRequest.
const FIELDS: [&str; 8] = [
    "model",
    "contents",
    "tools",
    "toolConfig",
    "safetySettings",
    "systemInstruction",
    "generationConfig",
    "cachedContent",
];

type Mind = Box<dyn FnMut(&Seen) -> Say + Send>;

#[derive(Default)]
struct State {
    requests: usize,
    refusals: Vec<String>,
    /// Signatures that came back, and those that something else stood in for.
    signed: usize,
    skipped: usize,
}

/// A server on loopback, for as long as its process lives.
pub struct Gemini {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Gemini {
    pub fn start(mind: impl FnMut(&Seen) -> Say + Send + 'static) -> Gemini {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State::default()));
        let theirs = Arc::clone(&state);
        let mut mind: Mind = Box::new(mind);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                serve(&stream, &theirs, &mut mind);
            }
        });
        Gemini { address, state }
    }

    pub fn base_url(&self) -> String {
        format!("http://{}/v1beta", self.address)
    }

    pub fn refusals(&self) -> Vec<String> {
        self.state.lock().unwrap().refusals.clone()
    }

    /// Signatures of calls that came back as given, and those that something else stood in for.
    pub fn signatures(&self) -> (usize, usize) {
        let state = self.state.lock().unwrap();
        (state.signed, state.skipped)
    }
}

fn serve(stream: &TcpStream, state: &Mutex<State>, mind: &mut Mind) {
    let Some(request) = Request::read(stream) else { return };
    let mut state = state.lock().unwrap();
    state.requests += 1;
    let judged = check(&request, &mut state);
    if let Err(message) = judged {
        let error = json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}});
        state.refusals.push(message);
        let _ = http::whole(stream, 400, "application/json", error.to_string().as_bytes());
        return;
    }
    let seen = seen(&request.body, state.requests);
    let say = mind(&seen);
    let say = if seen.json_mode { say.into_thought(false) } else { say };
    let reply = reply(&say, state.requests);
    let _ = match request.path.contains(":streamGenerateContent") {
        true => {
            let stream_of = |event: &Value| format!("data: {event}\r\n\r\n");
            http::whole(stream, 200, "text/event-stream", stream_of(&reply).as_bytes())
        }
        false => http::whole(stream, 200, "application/json", reply.to_string().as_bytes()),
    };
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

/// A field by its name in JSON or in proto: Google takes both.
fn field<'a>(value: &'a Value, camel: &str, snake: &str) -> &'a Value {
    if value[camel].is_null() { &value[snake] } else { &value[camel] }
}

fn check(request: &Request, state: &mut State) -> Result<(), String> {
    let body = &request.body;
    let known = |key: &str| {
        let camel = FIELDS.contains(&key);
        camel || ["tool_config", "safety_settings", "system_instruction", "generation_config"].contains(&key)
    };
    let mut keys = body.as_object().ok_or("the body is no JSON object")?.keys();
    if let Some(key) = keys.find(|key| !known(key)) {
        return Err(format!("Invalid JSON payload received. Unknown name \"{key}\": Cannot find field."));
    }
    let declared: Vec<&Value> = list(body, "tools")
        .iter()
        .flat_map(|tool| field(tool, "functionDeclarations", "function_declarations").as_array())
        .flatten()
        .collect();
    let uncased: Vec<(Value, &Value)> = declared
        .iter()
        .map(|declared| {
            let schema = match field(declared, "parametersJsonSchema", "parameters_json_schema") {
                Value::Null => &declared["parameters"],
                schema => schema,
            };
            (in_small_letters(schema), *declared)
        })
        .collect();
    let tools: Vec<Tool<'_>> = uncased
        .iter()
        .map(|(schema, declared)| Tool {
            name: declared["name"].as_str().unwrap_or_default(),
            description: &declared["description"],
            schema,
            strict: false,
        })
        .collect();
    tool_rules::check(&tools)?;
    let contents = list(body, "contents");
    if contents.is_empty() {
        return Err("contents is not specified".to_owned());
    }
    turns(contents)?;
    signatures(contents, state)
}

/// Types are written in capitals in Google's own schemas.
fn in_small_letters(schema: &Value) -> Value {
    let mut schema = schema.clone();
    let Some(object) = schema.as_object_mut() else { return schema };
    if let Some(Value::String(kind)) = object.get_mut("type") {
        *kind = kind.to_lowercase();
    }
    if let Some(items) = object.get_mut("items") {
        *items = in_small_letters(items);
    }
    let properties = object.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(|properties| properties.values_mut()) {
        *property = in_small_letters(property);
    }
    schema
}

/// Roles, parts that hold something, and as many responses right after a turn as it has calls, by name.
fn turns(contents: &[Value]) -> Result<(), String> {
    let names = |content: Option<&Value>, camel: &str, snake: &str| -> Vec<String> {
        let parts = content.map(|content| list(content, "parts")).unwrap_or_default();
        let held = parts.iter().map(|part| field(part, camel, snake)).filter(|held| !held.is_null());
        held.map(|held| held["name"].as_str().unwrap_or_default().to_owned()).collect()
    };
    for (at, content) in contents.iter().enumerate() {
        let role = content["role"].as_str().unwrap_or("user");
        if !matches!(role, "user" | "model" | "function") {
            return Err("Please use a valid role: user, model.".to_owned());
        }
        if list(content, "parts").is_empty() {
            return Err(format!("contents[{at}].parts: contents.parts must not be empty."));
        }
        if list(content, "parts").iter().any(|part| part.as_object().is_none_or(|part| part.is_empty())) {
            return Err(format!(
                "contents[{at}].parts: required oneof field 'data' must have one initialized field"
            ));
        }
        let mut calls = names(Some(content), "functionCall", "function_call");
        let mut answers = names(contents.get(at + 1), "functionResponse", "function_response");
        if calls.len() != answers.len() {
            return Err("Please ensure that the number of function response parts is equal to the number of function \
                 call parts of the function call turn."
                .to_owned());
        }
        let before = at.checked_sub(1).and_then(|at| contents.get(at));
        if !calls.is_empty() && before.is_none_or(|before| before["role"] == "model") {
            return Err(
                "Please ensure that function call turn comes immediately after a user turn or after a \
                 function response turn."
                    .to_owned(),
            );
        }
        calls.sort();
        answers.sort();
        if calls != answers || answers.iter().any(String::is_empty) {
            return Err(format!("function_response.name: {answers:?} do not answer {calls:?}"));
        }
    }
    Ok(())
}

/// The first call of each turn since the user's last words goes back with its signature.
fn signatures(contents: &[Value], state: &mut State) -> Result<(), String> {
    let has_words = |content: &Value| {
        content["role"] != "model" && list(content, "parts").iter().any(|part| part["text"].is_string())
    };
    let from = contents.iter().rposition(has_words).unwrap_or(0);
    for content in contents.iter().skip(from).filter(|content| content["role"] == "model") {
        let is_call = |part: &&Value| !field(part, "functionCall", "function_call").is_null();
        let Some(call) = list(content, "parts").iter().find(is_call) else { continue };
        match field(call, "thoughtSignature", "thought_signature").as_str() {
            Some(signature) if signature == SKIPS => state.skipped += 1,
            Some(signature) if signature.starts_with("c2lnbmVk") => state.signed += 1,
            _ => return Err("Function call is missing a thought_signature in functionCall parts.".to_owned()),
        }
    }
    Ok(())
}

fn texts(content: &Value) -> String {
    list(content, "parts").iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
}

fn seen(body: &Value, number: usize) -> Seen {
    let message = |content: &Value| {
        let shown = |part: &Value| {
            let (call, response) = (
                field(part, "functionCall", "function_call"),
                field(part, "functionResponse", "function_response"),
            );
            let name = |of: &Value| of["name"].as_str().unwrap_or_default().to_owned();
            match (part["text"].as_str(), call.is_null(), response.is_null()) {
                (Some(text), ..) => Shown::Text(text.to_owned()),
                (_, false, _) => {
                    Shown::Call { id: String::new(), name: name(call), args: call["args"].clone() }
                }
                (_, _, false) => Shown::Result {
                    id: String::new(),
                    name: name(response),
                    text: response["response"].to_string(),
                    failed: false,
                },
                _ => Shown::Other(part.clone()),
            }
        };
        let role = if content["role"] == "model" { "assistant" } else { "user" };
        Message { role: role.to_owned(), parts: list(content, "parts").iter().map(shown).collect() }
    };
    let declared = list(body, "tools")
        .iter()
        .flat_map(|tool| field(tool, "functionDeclarations", "function_declarations").as_array())
        .flatten();
    let tools = declared
        .map(|tool| (tool["name"].as_str().unwrap_or_default().to_owned(), tool["parameters"].clone()));
    Seen {
        number,
        wire: Wire::Chat,
        model: String::new(),
        system: texts(field(body, "systemInstruction", "system_instruction")),
        tools: tools.collect(),
        messages: list(body, "contents").iter().map(message).collect(),
        json_mode: list(body, "tools").is_empty(),
        autonomous: false,
        body: body.clone(),
    }
}

fn reply(say: &Say, number: usize) -> Value {
    let part = |(at, part): (usize, &Part)| match part {
        Part::Thinking(text) => Some(json!({"text": text, "thought": true})),
        Part::Text(text) => Some(json!({"text": text})),
        Part::Call(name, args) => {
            let call = json!({"name": wire_name(name), "args": args});
            // "signed" in base64, and which one.
            Some(json!({"functionCall": call, "thoughtSignature": format!("c2lnbmVk{number:04}{at:04}")}))
        }
        Part::Broken(..) | Part::Unknown(_) => None,
    };
    let parts: Vec<Value> = say.parts.iter().enumerate().filter_map(part).collect();
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": 12_000, "candidatesTokenCount": 40, "thoughtsTokenCount": 300, "totalTokenCount": 12_340,
        },
        "modelVersion": "gemini-3.5-flash",
    })
}
