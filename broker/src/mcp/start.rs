//! Starts or reaches an MCP server: its program with the variables the owner named, or its address.

use super::handler::Handler;
use crate::ground::hosts;
use crate::handles::Handles;
use crate::policy;
use reqwest::Url;
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use tokio::process::{Child, Command};

/// Largest message taken, in bytes.
const MOST_MESSAGE: usize = 16 << 20;

pub type Session = RunningService<RoleClient, Handler>;

/// Settings and means of reaching one server.
#[derive(Clone)]
pub struct Start {
    pub name: String,
    pub settings: policy::Mcp,
    pub handles: Arc<Handles>,
}

impl Start {
    /// Opens a session; the child is ended when it is dropped.
    pub async fn session(&self, handler: Handler) -> Result<(Session, Option<Child>), String> {
        // Newest revision first; a server of an earlier one says so (MCP 2026-07-28, basic/lifecycle).
        let lifecycle = ClientLifecycleMode::Auto { preferred_versions: vec![], legacy_version: None };
        if self.settings.command.is_empty() {
            let session = handler.serve_with_lifecycle(self.remote()?, lifecycle).await;
            return session.map(|session| (session, None)).map_err(|error| error.to_string());
        }
        let mut child = self.child()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("its program has no standard streams".to_owned());
        };
        let transport = AsyncRwTransport::new(output, input).with_max_line_length(MOST_MESSAGE);
        let session = handler.serve_with_lifecycle(transport, ClientLifecycleMode::Initialize).await;
        session.map(|session| (session, Some(child))).map_err(|error| error.to_string())
    }

    fn child(&self) -> Result<Child, String> {
        let Some((program, arguments)) = self.settings.command.split_first() else {
            return Err("it has no command".to_owned());
        };
        let home = self.home();
        std::fs::create_dir_all(&home)
            .map_err(|error| format!("{} cannot be made: {error}", home.display()))?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&home).env_clear().env("HOME", &home).kill_on_drop(true);
        for name in ["PATH", "LANG"] {
            command.envs(std::env::var(name).ok().map(|value| (name, value)));
        }
        for name in &self.settings.env {
            command.envs(self.handles.secrets.get(name).map(|value| (name, value)));
        }
        // Its error output may hold credentials, so it is not kept.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn().map_err(|error| format!("{program} cannot be started: {error}"))
    }

    fn home(&self) -> PathBuf {
        self.handles.house.broker().join("mcp").join(&self.name)
    }

    fn remote(&self) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
        let url = Url::parse(&self.settings.url).map_err(|_| "its url is no address".to_owned())?;
        if url.scheme() != "https" && !hosts::is_loopback(&hosts::host(&url)) {
            return Err("its url is neither https nor on this machine".to_owned());
        }
        let mut config = StreamableHttpClientTransportConfig::with_uri(self.settings.url.as_str())
            .max_sse_event_size(MOST_MESSAGE);
        if !self.settings.token_env.is_empty() {
            let token = self.handles.secrets.get(&self.settings.token_env);
            let token = token.ok_or_else(|| format!("{} is not set in .env", self.settings.token_env))?;
            config = config.auth_header(token);
        }
        Ok(StreamableHttpClientTransport::with_client(self.handles.outward.client(&url).clone(), config))
    }
}
