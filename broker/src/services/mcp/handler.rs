//! The broker as a client of one MCP server: notes what changed there and how far a call is; grants nothing.

use super::watched::Watched;
use house::mutex::lock;
use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProtocolVersion,
    ResourceUpdatedNotificationParam,
};
use rmcp::service::{NotificationContext, RoleClient};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Characters kept of a server's word about its progress.
const MOST_WORDS: usize = 200;

#[derive(Clone, Default)]
pub struct Handler {
    /// Its list of tools is no longer the one that was read.
    pub changed: Arc<AtomicBool>,
    /// Its last word about how far it is.
    pub progress: Arc<Mutex<String>>,
    pub watched: Arc<Watched>,
}

impl Handler {
    /// Notes that its list of tools is no longer the one that was read.
    pub fn has_other_tools(&self) {
        self.changed.store(true, Ordering::Release);
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("feral", env!("CARGO_PKG_VERSION"));
        let us = ClientConfig::new(ClientCapabilities::default(), us);
        // Revisions after this one have no `initialize`, which this is said in.
        us.with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.has_other_tools();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.watched.relist.notify_one();
    }

    async fn on_resource_updated(
        &self,
        said: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.watched.note(&said.uri);
    }

    async fn on_progress(&self, said: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let of = said.total.map(|total| format!(" of {total}")).unwrap_or_default();
        let words = said.message.map(|words| format!(": {words}")).unwrap_or_default();
        let line = house::printable::flat(&format!("{}{of}{words}", said.progress));
        *lock(&self.progress) = house::bounds::brief(&line, MOST_WORDS);
    }
}
