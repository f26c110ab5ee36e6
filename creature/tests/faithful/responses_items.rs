//! What OpenAI Responses refuses of its input: pairs, ids, reasoning alone or of another conversation, changed items.

use super::given::{Amiss, Given, arguments, mended};
use super::media;
use super::rules::{Checked, Refusal, hash, is_name, list, must, refusal, refuse, text, unique};
use serde_json::{Value, json};

/// The items of a request.
pub fn check(body: &Value, given: &Given) -> Checked {
    let items = items(body);
    must(!items.is_empty(), || "Missing required parameter: 'input'.".into())?;
    for (at, item) in items.iter().enumerate() {
        one(at, item, body["store"] == false)?;
    }
    unique(items.iter().map(|item| text(item, "id")).filter(|id| !id.is_empty())).or_else(|id| {
        refuse(format!(
            "Duplicate item found with id {id}. Remove duplicate items from your input and try again."
        ))
    })?;
    pairs(&items)?;
    bound(body, &items)?;
    as_given(&items, text(body, "model"), given)
}

/// Items of the input; a text is a user's message.
pub fn items(body: &Value) -> Vec<Value> {
    match &body["input"] {
        Value::String(text) => vec![json!({"role": "user", "content": text})],
        input => input.as_array().cloned().unwrap_or_default(),
    }
}

pub fn kind(item: &Value) -> &str {
    match text(item, "type") {
        "" => "message",
        kind => kind,
    }
}

/// Whether it is the model's.
pub fn is_own(item: &Value) -> bool {
    match kind(item) {
        "message" => text(item, "role") == "assistant",
        "function_call_output" | "configuration_update" => false,
        _ => true,
    }
}

fn one(at: usize, item: &Value, forgets: bool) -> Checked {
    let id = text(item, "id");
    must(id.len() <= 64, || {
        format!("Invalid 'input[{at}].id': string too long. Expected a string with maximum length 64.")
    })?;
    // `FunctionCallOutputItemParam.call_id` of openapi.yaml; github.com/AnswerDotAI/fastllm/issues/45.
    let call = text(item, "call_id");
    must(call.len() <= 64, || {
        format!("Invalid 'input[{at}].call_id': string too long. Expected a string with maximum length 64.")
    })?;
    match kind(item) {
        "message" => {
            let role = text(item, "role");
            must(matches!(role, "user" | "assistant" | "system" | "developer"), || {
                format!("Invalid value: '{role}' for 'input[{at}].role'.")
            })?;
            let part = if role == "assistant" { "output_text" } else { "input_text" };
            let fits = |kind: &str| kind == part || (role == "assistant" && kind == "refusal");
            let is_medium = |part: &&Value| matches!(text(part, "type"), "input_image" | "input_file");
            let parts = list(item, "content").iter();
            for (place, part) in
                parts.clone().enumerate().filter(|(_, part)| role == "user" && is_medium(part))
            {
                media::responses_part(&format!("input[{at}].content[{place}]"), part)?;
            }
            let odd = parts.filter(|part| role != "user" || !is_medium(part));
            let odd = odd.map(|part| text(part, "type")).find(|kind| !fits(kind));
            must(odd.is_none(), || {
                format!("Invalid value: '{}'. Supported values are: '{part}'.", odd.unwrap_or(""))
            })?;
            let content = &item["content"];
            must(content.is_string() || content.is_array(), || {
                format!("Missing required parameter: 'input[{at}].content'.")
            })
        }
        "function_call" => {
            must(!call.is_empty(), || format!("Missing required parameter: 'input[{at}].call_id'."))?;
            must(is_name(text(item, "name")), || {
                format!("Invalid 'input[{at}].name': string does not match pattern.")
            })?;
            // On no page: known as a refusal only.
            must(id.is_empty() || id.starts_with("fc"), || {
                format!("Invalid 'input[{at}].id': '{id}'. Expected an ID that begins with 'fc'.")
            })?;
            let args: Value = serde_json::from_str(text(item, "arguments")).unwrap_or_default();
            must(args.is_object(), || {
                format!("Invalid 'input[{at}].arguments': not a JSON object in a string.")
            })
        }
        "function_call_output" => must(item["output"].is_string() || item["output"].is_array(), || {
            format!("Missing required parameter: 'input[{at}].output'.")
        }),
        "reasoning" => {
            // github.com/openai/openai-agents-python/issues/2265. What is encrypted is taken with its id too by OpenAI
            // itself, not by all who serve its wire; Codex leaves the id out.
            if forgets && !id.is_empty() {
                let said = format!(
                    "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again \
                     with `store` set to true, or remove this item from your input."
                );
                return Err(Refusal { status: 404, ..refusal(said) });
            }
            must(item["summary"].is_array(), || format!("Missing required parameter: 'input[{at}].summary'."))
        }
        _ => Ok(()),
    }
}

fn pairs(items: &[Value]) -> Checked {
    let mut open: Vec<&str> = Vec::new();
    let mut calls: Vec<&str> = Vec::new();
    // From the first output on no more calls come until all are answered.
    let mut answering = false;
    for (at, item) in items.iter().enumerate() {
        match kind(item) {
            "function_call_output" => {
                let id = text(item, "call_id");
                let Some(place) = open.iter().position(|open| *open == id) else {
                    return refuse(format!("No tool call found for function call output with call_id {id}."));
                };
                open.remove(place);
                answering = !open.is_empty();
            }
            _ if answering || !(open.is_empty() || is_own(item)) => break,
            "function_call" => {
                open.push(text(item, "call_id"));
                calls.push(text(item, "call_id"));
            }
            // github.com/continuedev/continue/issues/8933.
            "reasoning" => must(items.get(at + 1).is_some_and(is_own), || {
                let id = text(item, "id");
                format!("Item '{id}' of type 'reasoning' was provided without its required following item.")
            })?,
            _ => {}
        }
    }
    must(open.is_empty(), || format!("No tool output found for function call {}.", open.join(", ")))?;
    unique(calls.into_iter()).or_else(|id| refuse(format!("Duplicate function call with call_id {id}.")))
}

/// Reasoning goes back only behind what it was made behind, to the model that made it.
fn bound(body: &Value, items: &[Value]) -> Checked {
    let model = text(body, "model");
    let mut before = head(body);
    for item in items {
        let sealed = text(item, "encrypted_content");
        if kind(item) == "reasoning" && sealed != seal(model, before) {
            let id = text(item, "id");
            return Err(Refusal {
                code: "invalid_encrypted_content",
                ..refusal(format!(
                    "The encrypted content for item {id} could not be verified. Reason: Encrypted content could not \
                     be decrypted or parsed."
                ))
            });
        }
        before = follow(before, item);
    }
    Ok(())
}

/// The hash of what stands before the input.
fn head(body: &Value) -> u64 {
    hash(&(text(body, "model"), body["tools"].to_string(), text(body, "instructions")))
}

/// The hash with one more item; reasoning may be left out from the oldest on.
pub fn follow(before: u64, item: &Value) -> u64 {
    if kind(item) == "reasoning" || is_blank(item) { before } else { hash(&(before, mended(&said(item)))) }
}

/// A message of the model's without words, which need not come back.
fn is_blank(item: &Value) -> bool {
    kind(item) == "message" && is_own(item) && content(item).trim().is_empty()
}

/// The hash of a whole input.
pub fn prefix(body: &Value) -> u64 {
    items(body).iter().fold(head(body), follow)
}

pub fn seal(model: &str, before: u64) -> String {
    format!("enc.{model}.{:016x}", hash(&(before, "sealed")))
}

/// What an item says, without its id and state.
pub fn said(item: &Value) -> Value {
    match kind(item) {
        "message" => {
            json!({"role": item["role"], "text": content(item), "phase": item["phase"]})
        }
        "function_call" => {
            let args = arguments(&item["arguments"]);
            json!({"call_id": item["call_id"], "name": item["name"], "args": args})
        }
        _ => {
            let mut item = item.clone();
            for name in ["id", "status"] {
                item.as_object_mut().map(|item| item.remove(name));
            }
            item
        }
    }
}

/// The text of a message or of an output.
pub fn content(item: &Value) -> String {
    let content = if kind(item) == "function_call_output" { &item["output"] } else { &item["content"] };
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let words = |part: &Value| text(part, "text").to_owned() + text(part, "refusal");
            parts.iter().map(words).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn as_given(items: &[Value], model: &str, given: &Given) -> Checked {
    let mut older = false;
    let mut at = 0;
    while at < items.len() {
        let turn: Vec<&Value> = items[at..].iter().take_while(|item| is_own(item)).collect();
        if turn.is_empty() {
            at += 1;
            continue;
        }
        let (parts, seals) = split(&turn, model);
        let named = turn.iter().map(|item| text(item, "id")).find(|id| !id.is_empty());
        match given.check(&parts, &seals, &mut older) {
            Err(Amiss::NeverGiven) => {
                return refuse(format!("input[{at}]: these items are not as they were given out: {turn:?}"));
            }
            Err(_) => {
                return refuse(format!(
                    "input[{at}]: reasoning items are missing from among the model's items"
                ));
            }
            Ok(()) => {}
        }
        // Without its reasoning an item goes back without its id.
        if let Some(id) = named.filter(|_| seals.is_empty() && given.thought(&parts)) {
            return refuse(format!("Item '{id}' was provided without its required 'reasoning' item."));
        }
        at += turn.len();
    }
    Ok(())
}

/// What is said, and the marks of what is thought.
pub fn split(items: &[&Value], model: &str) -> (Vec<Value>, Vec<String>) {
    // Reasoning that nothing follows is no turn's end.
    let end =
        items.iter().rposition(|item| kind(item) != "reasoning" && !is_blank(item)).map_or(0, |at| at + 1);
    let own = items[..end].iter().filter(|item| !is_blank(item));
    let (thoughts, rest): (Vec<&Value>, Vec<&Value>) = own.partition(|item| kind(item) == "reasoning");
    let seal = |item: &&Value| format!("{model} {}", text(item, "encrypted_content"));
    (rest.into_iter().map(said).collect(), thoughts.iter().map(seal).collect())
}
