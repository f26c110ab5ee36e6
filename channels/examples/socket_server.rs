//! The Discord or Slack server of the tests as a program of its own: PLATFORM; what a line says is done, and answered by a line.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing
)]

#[allow(dead_code, reason = "the other servers of the tests are no part of it")]
#[path = "../tests/channels/faithful/mod.rs"]
mod faithful;

use faithful::{discord, slack};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

/// Either platform, by what the other side does there.
enum Server {
    Discord(discord::Server),
    Slack(slack::Server),
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let server = match std::env::args().nth(1).as_deref() {
        Some("discord") => Server::Discord(discord::Server::start().await),
        Some("slack") => Server::Slack(slack::Server::start().await),
        other => panic!("no platform {other:?}"),
    };
    let (url, secrets) = match &server {
        Server::Discord(server) => (server.base.clone(), json!([discord::TOKEN])),
        Server::Slack(server) => (server.state().base.clone(), json!([slack::BOT_TOKEN, slack::APP_TOKEN])),
    };
    println!("{}", json!({"url": url, "secrets": secrets}));
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let line: Value = serde_json::from_str(&line).expect("a line of JSON");
        println!("{}", json!({"done": done(&server, &line)}));
    }
}

/// `say` (a word of the owner's in the direct chat), `deliver` (Slack: an envelope as it is), `seen` (messages of that chat),
/// `broken` (rules that were).
fn done(server: &Server, line: &Value) -> Value {
    let text = line["text"].as_str().unwrap_or_default();
    match (line["do"].as_str().unwrap_or_default(), server) {
        ("say", Server::Discord(server)) => server.say(discord::DM, discord::OWNER, text),
        ("say", Server::Slack(server)) => server.say(slack::DM, slack::OWNER, text),
        ("deliver", Server::Slack(server)) => {
            server.deliver(line["kind"].as_str().unwrap(), line["payload"].clone());
            Value::Null
        }
        ("seen", Server::Discord(server)) => json!(server.state().messages.get(discord::DM)),
        ("seen", Server::Slack(server)) => json!({"messages": server.state().messages[slack::DM],
            "replies": server.state().replies, "acknowledged": server.state().acknowledged}),
        ("broken", Server::Discord(server)) => json!(server.state().broken),
        ("broken", Server::Slack(server)) => json!(server.state().broken),
        (other, _) => panic!("nothing known as {other}"),
    }
}
