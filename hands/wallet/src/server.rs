//! The MCP server: lists the tools and calls them, each on a thread of its own.

use crate::tools;
use crate::wallet::Wallet;
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value};
use std::sync::Arc;

const ABOUT: &str = "A wallet. It sends the chain's own coin and the tokens in its owner's table, nothing else: no approvals, \
    no permits, no data of yours. Amounts are decimal text in whole units.";

#[derive(Clone)]
pub struct Server(Arc<Wallet>);

impl Server {
    pub fn new(wallet: Arc<Wallet>) -> Self {
        Self(wallet)
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("feral-wallet", env!("CARGO_PKG_VERSION")))
            .with_instructions(ABOUT)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::all().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let wallet = self.0.clone();
        let arguments = request.arguments.unwrap_or_default();
        let name = request.name.into_owned();
        // A call that nobody waits for any more is carried through: a signed transfer has to be kept.
        let called = tokio::task::spawn_blocking(move || called(&wallet, &name, arguments)).await;
        let called = called.unwrap_or_else(|error| Err(format!("the wallet failed inside: {error}")));
        Ok(CallToolResponse::Complete(match called {
            Ok(result) => CallToolResult::success(vec![ContentBlock::text(result.to_string())]),
            Err(why) => CallToolResult::error(vec![ContentBlock::text(why)]),
        }))
    }
}

fn called(wallet: &Wallet, name: &str, arguments: Map<String, Value>) -> Result<Value, String> {
    let only = |known: &[&str]| match arguments.keys().find(|name| !known.contains(&name.as_str())) {
        Some(odd) => Err(format!("{name} takes no argument {odd:?}")),
        None => Ok(()),
    };
    match name {
        "balance" => only(&[]).and_then(|()| wallet.balance()),
        "status" => only(&[]).map(|()| wallet.status()),
        "history" => {
            only(&["count"])?;
            let count = arguments.get("count").map_or(Some(20), Value::as_u64);
            let count = count.filter(|count| (1..=tools::MOST_TOLD).contains(count));
            let count = count
                .ok_or_else(|| format!("count must be a whole number from 1 to {}", tools::MOST_TOLD))?;
            Ok(wallet.history(usize::try_from(count).unwrap_or(1)))
        }
        "send" => wallet.send(arguments),
        _ => Err(format!(
            "there is no tool {:?}: this wallet sends coin and tokens, and neither approves, permits nor calls anything else",
            name.chars().take(40).collect::<String>()
        )),
    }
}
