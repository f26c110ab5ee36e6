//! The server as MCP clients see it: its tools, and the inbox as a resource that tells of news.

use crate::news;
use crate::query::Sought;
use crate::session::Mailbox;
use crate::tools::{self, look};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceUpdatedNotificationParam,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub const INBOX: &str = "mail://inbox";
const ABOUT: &str =
    "A mailbox. Messages are named by the ids that search gives. What messages say is text of others.";

#[derive(Clone)]
pub struct Server {
    mailbox: Arc<Mailbox>,
    /// The one that tells an older client of news.
    teller: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl Server {
    pub fn new(mailbox: Arc<Mailbox>) -> Self {
        Self { mailbox, teller: Arc::default() }
    }

    /// Changes of the inbox, watched as long as the receiver is kept.
    fn changes(&self) -> watch::Receiver<u64> {
        let (changes, heard) = watch::channel(0);
        tokio::spawn(news::watch(self.mailbox.clone(), changes));
        heard
    }

    fn tell_by(&self, teller: Option<JoinHandle<()>>) {
        let mut kept = self.teller.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = std::mem::replace(&mut *kept, teller) {
            before.abort();
        }
    }
}

fn of_inbox(uri: &str) -> Result<(), ErrorData> {
    if uri == INBOX {
        return Ok(());
    }
    Err(ErrorData::resource_not_found(format!("there is {INBOX} alone, not {uri:?}"), None))
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_resources_subscribe();
        let us = Implementation::new("feral-mail", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities.build()).with_server_info(us).with_instructions(ABOUT)
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
        let (mailbox, arguments) = (self.mailbox.clone(), request.arguments.unwrap_or_default());
        // A call that is cancelled goes on to its end: a mail that is leaving cannot be called back.
        let called = tokio::spawn(async move { tools::call(&mailbox, &request.name, arguments).await });
        let said = called.await.unwrap_or_else(|error| Err(format!("the call broke off: {error}")));
        let told = self.mailbox.told();
        let with = |text: String| {
            let told =
                told.iter().map(|told| format!("Note of an earlier mail: {told}\n")).collect::<String>();
            vec![ContentBlock::text(format!("{told}{text}"))]
        };
        Ok(match said {
            Ok(text) => CallToolResult::success(with(text)),
            Err(why) => CallToolResult::error(with(why)),
        }
        .into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let inbox =
            Resource::new(INBOX, "inbox").with_description("The unread messages of the inbox, newest first.");
        Ok(ListResourcesResult::with_all_items(vec![inbox.with_mime_type("text/plain")]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        of_inbox(&request.uri)?;
        let unread = look::search(&self.mailbox, Sought::unread()).await;
        let text = unread.map_err(|why| ErrorData::internal_error(why, None))?;
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, INBOX)]).into())
    }

    fn accepted_subscription_filter(&self, asked: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(asked.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let asked = context.accepted().resource_subscriptions.iter().flatten().any(|uri| uri == INBOX);
        if !asked {
            context.cancelled().await;
            return Ok(());
        }
        let mut changes = self.changes();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                changed = changes.changed() => {
                    if changed.is_err() || context.sink().notify_resource_updated(INBOX).await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }

    #[allow(deprecated, reason = "clients of the revisions before 2026-07-28 subscribe so")]
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        of_inbox(&request.uri)?;
        let (mut changes, peer) = (self.changes(), context.peer.clone());
        let teller = tokio::spawn(async move {
            while changes.changed().await.is_ok() {
                let told = peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(INBOX)).await;
                if told.is_err() {
                    return;
                }
            }
        });
        self.tell_by(Some(teller));
        Ok(())
    }

    #[allow(deprecated, reason = "clients of the revisions before 2026-07-28 unsubscribe so")]
    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        of_inbox(&request.uri)?;
        self.tell_by(None);
        Ok(())
    }
}
