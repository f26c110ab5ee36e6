//! An MCP server that behaves as Janee does, for the tests: on standard streams, or with a port over streamable HTTP.
//!
//! Its capability `echo` answers with what it was asked; paths make it misbehave.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use std::io::Write;

#[derive(Clone)]
struct JaneeLike {
    /// Every call is a line here.
    log: String,
}

impl ServerHandler for JaneeLike {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = Value::Object(request.arguments.unwrap_or_default());
        if request.name == "list_services" {
            return Ok(said(&json!([{"capability": "echo", "about": "says it again"}])));
        }
        let mut log = std::fs::OpenOptions::new().create(true).append(true).open(&self.log).unwrap();
        writeln!(log, "{given}").unwrap();
        assert!(given["body"].is_null() || given["body"].is_string(), "a body is text");
        let path = given["path"].as_str().unwrap_or_default();
        if path == "/die" {
            std::process::exit(3);
        }
        if path == "/hang" {
            std::future::pending::<()>().await;
        }
        if path == "/protocol" {
            return Err(ErrorData::internal_error("no such thing", None));
        }
        if path == "/denied" {
            let denial = json!({"reasonCode": "POLICY", "nextStep": "ask the owner for write access"});
            return Ok(said(&json!({"error": "denied by policy", "denial": denial})));
        }
        let status =
            path.strip_prefix("/status/").and_then(|status| status.parse::<u16>().ok()).unwrap_or(200);
        let environment: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
        let secret = std::env::var("JANEE_KEY").unwrap_or_default();
        let body = json!({"asked": given, "environment": environment, "secret": secret});
        Ok(said(&json!({"status": status, "body": body.to_string()})))
    }
}

fn said(value: &Value) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(value.to_string())]).into()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut args = std::env::args().skip(1);
    let log = args.next().unwrap();
    match args.next() {
        None => {
            let running = JaneeLike { log }.serve((tokio::io::stdin(), tokio::io::stdout())).await.unwrap();
            let _ = running.waiting().await;
        }
        Some(port) => {
            let service: StreamableHttpService<JaneeLike, LocalSessionManager> = StreamableHttpService::new(
                move || Ok(JaneeLike { log: log.clone() }),
                Default::default(),
                StreamableHttpServerConfig::default(),
            );
            let app = axum::Router::new().route_service("/mcp", service);
            let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await.unwrap();
            println!("ready");
            axum::serve(listener, app).await.unwrap();
        }
    }
}
