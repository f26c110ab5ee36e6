//! Real servers as judges, run by `scripts/trials servers`: llama.cpp's under each of its templates, and a gateway before two makers.

mod gemini;
mod process;

use crate::faithful::{Faithful, Rules, Say, Seen, Wire};
use creature::tools::catalogue::LIST;
use gemini::Gemini;
use mind::prompt;
use model::{Answer, Client, Endpoint, Error, Kind, Reply, Talk, Tool, Turn};
use process::{Server, place};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;
use std::time::Duration;

/// What the servers take for a key.
const KEY: &str = "sk-0f3c2a9be1d84756a0b1c2d3e4f50617";

/// Ids as most servers give them.
const FIRST: &str = "call_6f1d2c3b4a5968778695a4b3";
const SECOND: &str = "call_0a1b2c3d4e5f60718293a4b5";
const THIRD: &str = "call_ffeeddccbbaa998877665544";

fn tools() -> Vec<Tool> {
    LIST.native(&|_| true)
}

fn client(base_url: String, model: &str, max_tokens: u64) -> Client {
    let endpoint = Endpoint {
        wire: model::Wire::Chat,
        base_url,
        model: model.to_owned(),
        token: KEY.to_owned(),
        deadline: Duration::from_secs(120),
        silence: Duration::from_secs(120),
        max_tokens,
        effort: String::new(),
    };
    Client::new(endpoint).unwrap()
}

async fn say(
    client: &Client,
    tools: &[Tool],
    turns: &[Turn],
    schema: Option<&Value>,
) -> Result<Reply, Error> {
    let system = "You are Feral, and this is your house.";
    let talk = Talk { system, tools, turns, media: &[], schema, autonomous: false, without_thinking: false };
    client.say(&talk, &mut |_| {}).await
}

fn said(text: &str) -> Turn {
    Turn::Said { text: text.to_owned() }
}

/// A conversation as a model of this wire has it: two calls at once, one alone, their results, news.
fn lived() -> Vec<Turn> {
    let call = |id: &str, name: &str, args: Value| {
        let function = json!({"name": name, "arguments": args.to_string()});
        json!({"id": id, "type": "function", "function": function})
    };
    let result = |id: &str, text: &str, failed| Answer { id: id.to_owned(), text: text.to_owned(), failed };
    let first = json!([
        call(FIRST, "files_list", json!({"path": "."})),
        call(SECOND, "repo_read", json!({"path": "src/main.rs"})),
    ]);
    let second = json!([call(THIRD, "web_search", json!({"query": "herons"}))]);
    let thought = |words: Value, calls: Value| Turn::Thought {
        raw: json!({"role": "assistant", "content": words, "tool_calls": calls}),
    };
    vec![
        said("Look around."),
        thought(json!("I look."), first),
        Turn::Results {
            results: vec![result(FIRST, "notes.txt", false), result(SECOND, "no such file", true)],
        },
        thought(Value::Null, second),
        Turn::Results { results: vec![result(THIRD, "Herons are birds.", false)] },
        said("News: it is noon."),
        Turn::Thought { raw: json!({"role": "assistant", "content": "So it is."}) },
        said("Go on."),
    ]
}

/// The same as thoughts in JSON.
fn lived_in_json() -> Vec<Turn> {
    let thought = |calls: Value| {
        let thought = json!({"monologue": "I look.", "intent": "look", "tool_calls": calls, "sleep_s": 0});
        Turn::Thought { raw: json!({"role": "assistant", "content": thought.to_string()}) }
    };
    let listed = json!([{"tool": "files.list", "args": {"path": "."}}]);
    vec![
        said("Look around."),
        thought(listed),
        said("files.list: notes.txt"),
        thought(json!([])),
        said("Go on."),
    ]
}

/// What a request came to: taken, or refused with which words. A model of random weights writes nonsense, which is no
/// refusal.
fn came(client: &Client, result: Result<Reply, Error>) -> String {
    let without = client.accepted().without().join(", ");
    match result {
        Ok(_) if without.is_empty() => "taken".to_owned(),
        Ok(_) => format!("taken without {without}"),
        Err(error) if error.kind == Kind::Garbled => "taken; it wrote nonsense".to_owned(),
        Err(error) if error.kind == Kind::Form => format!("calls travel in JSON: {}", error.cause),
        Err(error) => format!("REFUSED {:?} {:?}: {}", error.status, error.kind, error.message),
    }
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: scripts/trials servers"]
async fn llama_cpp_takes_tools_conversations_and_schemas_under_each_of_its_templates() {
    let place = place();
    let mut templates: Vec<_> =
        fs::read_dir(place.join("templates")).unwrap().map(|entry| entry.unwrap().path()).collect();
    templates.retain(|path| path.extension().is_some_and(|ext| ext == "jinja"));
    templates.sort();
    let only = std::env::var("FERAL_TEMPLATE").unwrap_or_default();
    templates.retain(|path| path.to_string_lossy().contains(&only));
    assert!(!templates.is_empty());
    let schema = prompt::schema(model::Wire::Chat);
    let mut refused = Vec::new();
    for template in templates {
        let name = template.file_stem().unwrap().to_string_lossy().into_owned();
        let mut command = Command::new(place.join("llama-server"));
        command.arg("-m").arg(place.join("tiny.gguf")).arg("--chat-template-file").arg(&template);
        let words =
            ["--jinja", "-c", "65536", "-np", "1", "--port", "PORT", "--host", "127.0.0.1", "-t", "1"];
        let server = Server::start(command, &words, &place.join(format!("{name}.log")), "/health");
        let client = client(server.base_url(), "tiny", 16);
        let begins = came(&client, say(&client, &tools(), &[said("Look around.")], None).await);
        let goes_on = came(&client, say(&client, &tools(), &lived(), None).await);
        let client = self::client(server.base_url(), "tiny", 16);
        let thought = came(&client, say(&client, &[], &lived_in_json(), Some(&schema)).await);
        println!("| {name} | {begins} | {goes_on} | {thought} |");
        refused.extend(
            [&begins, &goes_on, &thought].into_iter().filter(|came| came.contains("REFUSED")).cloned(),
        );
    }
    assert!(refused.is_empty(), "{} refused", refused.len());
}

/// A mind that can only go on from what it is shown: it lists, asks for what it read of there, and tells what that said.
fn sighted(seen: &Seen) -> Say {
    if seen.json_mode {
        return Say::new().says("I look.").calls("files.list", json!({"path": "."}));
    }
    let told = seen.all_text();
    match (told.contains("the bird is a heron-41"), told.contains("bird.txt")) {
        (true, _) => Say::new().thinks("A heron.").says("It is a heron-41."),
        (false, true) => Say::new().thinks("There.").calls("files.read", json!({"path": "bird.txt"})),
        (false, false) => Say::new()
            .thinks("Where may it be?")
            .says("I look.")
            .calls("files.list", json!({"path": "."}))
            .calls("spawn", json!({"graph": [{"objective": "look too", "needs": []}]})),
    }
}

/// Talks until the model tells what it found, and is told news then; the requests it took.
async fn finds(client: &Client) -> Result<usize, String> {
    let (tools, mut turns) = (tools(), vec![said("Which bird is it?")]);
    for asked in 1..10 {
        let reply =
            say(client, &tools, &turns, None).await.map_err(|error| format!("request {asked}: {error}"))?;
        turns.push(Turn::Thought { raw: reply.raw });
        if reply.calls.is_empty() {
            let again = turns.iter().filter(|turn| matches!(turn, Turn::Said { .. })).count() > 1;
            assert!(reply.text.contains("heron-41"), "{}", reply.text);
            if again {
                return Ok(asked);
            }
            turns.push(said("And again?"));
            continue;
        }
        let answer = |call: &model::Call| {
            let text = match call.name.as_str() {
                "files_list" => "bird.txt",
                "files_read" => "the bird is a heron-41",
                _ => "nothing",
            };
            Answer { id: call.id.clone(), text: text.to_owned(), failed: call.name == "spawn" }
        };
        turns.push(Turn::Results { results: reply.calls.iter().map(answer).collect() });
    }
    Err("never told".to_owned())
}

#[tokio::test]
#[ignore = "needs litellm: scripts/trials servers"]
async fn a_gateway_translates_tools_and_conversations_for_two_other_makers() {
    let place = place();
    let anthropic = Faithful::start(Wire::Anthropic, Rules::default(), sighted);
    let gemini = Gemini::start(sighted);
    let model = |name: &str, model: &str, base: &str| json!({"model_name": name, "litellm_params": {"model": model, "api_key": "sk-none", "api_base": base}});
    let config = json!({
        "model_list": [
            model("claude", "anthropic/claude-sonnet-5-5", &anthropic.origin()),
            model("older", "anthropic/claude-sonnet-4-5", &anthropic.origin()),
            model("gemini", "gemini/gemini-3.5-flash", &gemini.base_url()),
        ],
        "litellm_settings": {"telemetry": false, "num_retries": 0},
        "router_settings": {"num_retries": 0, "disable_cooldowns": true},
    });
    fs::write(place.join("litellm.json"), config.to_string()).unwrap();
    let mut command = Command::new(place.join("venv/bin/litellm"));
    // The key of the gateway, which the token stands for here.
    command
        .env("LITELLM_MASTER_KEY", KEY)
        .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        .env("LITELLM_TELEMETRY", "False");
    command.arg("--config");
    command.arg(place.join("litellm.json"));
    let words = ["--host", "127.0.0.1", "--port", "PORT"];
    let server = Server::start(command, &words, &place.join("litellm.log"), "/health/liveliness");
    let schema = prompt::schema(model::Wire::Chat);
    let mut fell = Vec::new();
    for name in ["claude", "older", "gemini"] {
        let client = client(server.base_url(), name, 4_000);
        let found = match finds(&client).await {
            Ok(asked) => format!("taken, {asked} requests"),
            Err(error) => format!("FELL {error}"),
        };
        let thought = match say(&client, &[], &[said("Look around.")], Some(&schema)).await {
            Ok(reply) if reply.text.contains("files") => "taken".to_owned(),
            Ok(reply) => format!("FELL {:?}", reply.text),
            Err(error) => format!("FELL {error}"),
        };
        let accepted = client.accepted();
        let without = accepted.without();
        println!("| {name} | {found} | {} | {thought} |", without.join(", "));
        fell.extend([found, thought].into_iter().filter(|came| came.starts_with("FELL")));
    }
    println!(
        "signatures that came back to Gemini, and that something stood in for: {:?}",
        gemini.signatures()
    );
    println!("refused by the makers: {:#?} {:#?}", anthropic.violations(), gemini.refusals());
    assert!(fell.is_empty(), "{fell:#?}\n{}", server.end_of_log());
}
