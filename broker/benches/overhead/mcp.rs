//! What a call of an MCP tool costs more through the broker: judged, recorded and synced, beside rmcp's bare client.

use super::{TOKEN, at, broker, serve};
use axum::body::{Body, Bytes};
use axum::response::Response;
use axum::{Router, routing::post};
use http::StatusCode;
use rmcp::model::CallToolRequestParams;
use rmcp::service::{Peer, RoleClient, ServiceExt};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};
use std::time::Instant;

pub async fn measure(folder: &std::path::Path, rounds: usize) {
    let server = serve(|_| Router::new().route("/mcp", post(answer)));
    let rules = "[[mcp.it.rules]]\ntool = \"*\"\ndo = \"allow\"\nlooks = true\n";
    let most = "per_hour = 1000000\nuntrusted = false\n";
    let broker = broker(folder, &format!("[mcp.it]\nurl = \"http://{server}/mcp\"\n{most}{rules}"));
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let config = StreamableHttpClientTransportConfig::with_uri(format!("http://{server}/mcp"));
    let transport = StreamableHttpClientTransport::with_client(client.clone(), config);
    let bare = ().serve(transport).await.unwrap();
    let url = format!("http://{broker}/mcp/call");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..rounds + 20 {
        let (broker, direct) = (through(&client, &url).await, direct(bare.peer()).await);
        if round >= 20 {
            ours.push(broker);
            theirs.push(direct);
        }
    }
    let method = "a short call and its answer over HTTP on loopback, through the broker (judged, and two synced lines of \
                  the ledger) and by rmcp's client without it; in turns";
    let more = at(&ours, 0.5) - at(&theirs, 0.5);
    println!("a tool's call: the broker takes {more:.2} ms more at p50 than rmcp's bare client");
    let row = json!({
        "what": "a call of an MCP tool", "method": method, "unit": "ms", "ours": ours, "against": "rmcp's bare client",
        "theirs": theirs, "aim": "p50 at most 2 ms above it",
    });
    println!("{row}");
}

async fn through(client: &reqwest::Client, url: &str) -> f64 {
    let asked = json!({"server": "it", "tool": "look", "arguments": {"text": "x"}, "reason": "to measure"});
    let begun = Instant::now();
    let answer = client.post(url).bearer_auth(TOKEN).json(&asked).send().await.unwrap();
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["body"], "seen", "{answer}");
    begun.elapsed().as_secs_f64() * 1e3
}

async fn direct(peer: &Peer<RoleClient>) -> f64 {
    let arguments = json!({"text": "x"}).as_object().cloned().unwrap_or_default();
    let begun = Instant::now();
    let asked = CallToolRequestParams::new("look").with_arguments(arguments);
    peer.call_tool_once(asked).await.unwrap();
    begun.elapsed().as_secs_f64() * 1e3
}

/// An MCP server of one tool, of a revision that every client speaks.
async fn answer(body: Bytes) -> Response {
    let asked: Value = serde_json::from_slice(&body).unwrap();
    let response = Response::builder().header("content-type", "application/json");
    let result = match asked["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "it", "version": "1"}}),
        "tools/list" => json!({"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}),
        "tools/call" => json!({"content": [{"type": "text", "text": "seen"}]}),
        "server/discover" => return response.status(StatusCode::BAD_REQUEST).body(Body::empty()).unwrap(),
        _ => return response.status(StatusCode::ACCEPTED).body(Body::empty()).unwrap(),
    };
    response.body(json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}).to_string().into()).unwrap()
}
