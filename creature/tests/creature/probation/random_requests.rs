//! Random requests by the real client: tools, settings, forms and conversations on all wires; none is refused for its form.

use crate::broker::loopback;
use crate::faithful::say::Part;
use crate::faithful::{Faithful, Rules, Say, Wire, models};
use creature::tools::catalogue::LIST;
use fastrand::Rng;
use mind::prompt;
use model::{Answer, Client, Endpoint, Talk, Tool, Turn};
use serde_json::{Value, json};
use std::time::Duration;

/// Conversations of each wire, and requests of each.
const CONVERSATIONS: u64 = 40;
const REQUESTS: usize = 7;

fn client_wire(wire: Wire) -> model::Wire {
    match wire {
        Wire::Anthropic => model::Wire::Anthropic,
        Wire::Responses => model::Wire::Responses,
        Wire::Chat => model::Wire::Chat,
    }
}

/// A model of the wire that its server knows, and how much it is to think.
fn settings(wire: Wire, rng: &mut Rng) -> (String, String) {
    let names: Vec<&str> = match wire {
        // Reasoning models at OpenAI's own chat address refuse the limit's old name, which is learned there.
        Wire::Chat => vec!["local-test", "gpt-4.1", "gpt-test"],
        Wire::Anthropic | Wire::Responses => models::names(wire).collect(),
    };
    let efforts = ["", "", "low", "medium", "high", "max"];
    (names[rng.usize(..names.len())].to_owned(), efforts[rng.usize(..efforts.len())].to_owned())
}

fn client(server: &Faithful, wire: Wire, rng: &mut Rng) -> Client {
    let (model, effort) = settings(wire, rng);
    let endpoint = Endpoint {
        wire: client_wire(wire),
        base_url: server.base_url(),
        model,
        token: "a-token-of-this-life".to_owned(),
        deadline: Duration::from_secs(60),
        silence: Duration::from_secs(60),
        max_tokens: [256, 4_000, 8_192][rng.usize(..3)],
        effort,
    };
    let client = Client::new(endpoint).unwrap();
    // What an earlier life may have found out.
    let parts = ["strict", "parallel", "summary", "stream_usage", "system_news", "schema"];
    let without: Vec<&str> = parts.into_iter().filter(|_| rng.u8(..4) == 0).collect();
    let names = ["spawn", "repo_edit", "web_search"];
    let left_out =
        names.into_iter().filter(|_| rng.u8(..4) == 0).map(|name| (name.to_owned(), json!("refused")));
    let left_out: serde_json::Map<String, Value> = left_out.collect();
    let accepted = json!({"without": without, "without_tools": left_out});
    client.accept(serde_json::from_value(accepted).unwrap());
    client
}

/// Anything a model may say with these tools.
fn anything(rng: &mut Rng, tools: &[String]) -> Say {
    let texts = ["", "x", "{\"a\": 1", "é \u{1f600}", "two\nlines", "null"];
    let mut say = Say::new();
    for number in 0..rng.usize(..5) {
        say = match rng.u8(..6) {
            0 if number == 0 => say.thinks("hm"),
            1 => say.says(&format!("words {number}")),
            2 => say.calls("nobody.knows", json!({"x": number})),
            3 => say.broken_arguments("repo.read", "{\"path\": \"src/li"),
            _ if tools.is_empty() => say.says("so"),
            _ => {
                let name = &tools[rng.usize(..tools.len())];
                let args = json!({"path": texts[rng.usize(..texts.len())], "why": null, "graph": [{"objective": "o"}]});
                say.calls(name, args)
            }
        };
    }
    // Thinking that nothing follows does not go back.
    let ends_in_thinking = matches!(say.parts.last(), Some(Part::Thinking(_)) | None);
    if ends_in_thinking { say.says("So it is.") } else { say }
}

/// One conversation; the requests that were answered.
async fn converses(wire: Wire, seed: u64) -> usize {
    let rng = &mut Rng::with_seed(seed);
    let few = rng.bool();
    let tools: Vec<Tool> = LIST.native(&|_| true).into_iter().filter(|_| !few || rng.u8(..4) == 0).collect();
    let in_json = tools.is_empty() || rng.u8(..5) == 0;
    let tools = if in_json { Vec::new() } else { tools };
    let names: Vec<String> = LIST
        .0
        .iter()
        .filter(|tool| tools.iter().any(|one| one.name == tool.native.name))
        .map(|tool| tool.name.to_owned())
        .collect();
    let rules = match (wire, rng.u8(..3)) {
        (Wire::Chat, 0) => Rules::local(),
        (Wire::Chat, 1) => Rules::odd(),
        _ => Rules::default(),
    };
    // A whole list is some 12,000 tokens.
    let rules = Rules { seed, window: 1_000_000, ..rules };
    let mut theirs = rng.fork();
    let server = Faithful::start(wire, rules, move |_| anything(&mut theirs, &names));
    let client = client(&server, wire, rng);
    let schema = in_json.then(|| prompt::schema(client_wire(wire)));
    let mut turns = vec![Turn::Said { text: "Look around.".to_owned() }];
    for _ in 0..REQUESTS {
        let talk = Talk {
            // A thought in JSON is asked for in words too, else OpenAI's chat completions refuse to hold to it.
            system: if in_json { "Answer in JSON." } else { ["You are Feral.", ""][rng.usize(..2)] },
            tools: &tools,
            turns: &turns,
            media: &[],
            schema: schema.as_ref(),
            autonomous: rng.bool(),
            // Old thinking is bound to the words before it.
            without_thinking: true,
        };
        let reply = client.say(&talk, &mut |_| {}).await;
        server.assert_no_violations();
        let reply = reply.unwrap_or_else(|error| panic!("{wire:?}, seed {seed}: {error}"));
        let done =
            |call: &model::Call| Answer { id: call.id.clone(), text: "done".to_owned(), failed: rng.bool() };
        let results: Vec<Answer> = reply.calls.iter().map(done).collect();
        turns.push(Turn::Thought { raw: reply.raw });
        if !results.is_empty() {
            turns.push(Turn::Results { results });
        }
        if rng.bool() || reply.calls.is_empty() {
            turns.push(Turn::Said { text: "Go on.".to_owned() });
        }
    }
    server.ledger().len()
}

#[tokio::test]
async fn no_request_of_any_tools_settings_and_conversation_is_refused_for_its_form() {
    loopback!();
    for wire in Wire::ALL {
        for seed in 0..CONVERSATIONS {
            assert_eq!(converses(wire, seed).await, REQUESTS, "{wire:?}, seed {seed}");
        }
    }
}
