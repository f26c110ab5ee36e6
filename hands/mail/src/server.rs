//! The server as MCP clients see it: its tools, and what it says of itself.

use crate::session::Mailbox;
use crate::tools;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Longest time for a tool that only talks to the mailbox.
const LOOK: Duration = Duration::from_secs(50);
const ABOUT: &str =
    "A mailbox. Messages are named by the ids that search gives. What messages say is text of others.";

#[derive(Clone)]
pub struct Server {
    pub mailbox: Arc<Mailbox>,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let us = Implementation::new("feral-mail", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(us).with_instructions(ABOUT)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::listed()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::listed().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.get_tool(&request.name).is_none() {
            return Err(ErrorData::invalid_params(format!("there is no tool {:?}", request.name), None));
        }
        let called = tools::call(&self.mailbox, &request.name, request.arguments.unwrap_or_default());
        let said = timeout(LOOK, called).await.unwrap_or_else(|_| {
            Err(format!("the mailbox's server does not answer within {} s; try again later", LOOK.as_secs()))
        });
        Ok(match said {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(why) => CallToolResult::error(vec![ContentBlock::text(why)]),
        }
        .into())
    }
}
