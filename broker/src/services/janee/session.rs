//! The session with Janee, over streamable HTTP or a child's standard streams; opened when first needed.

use crate::ground::hosts;
use crate::handles::Handles;
use crate::policy::{self, Rule, Verdict};
use house::bounds::brief;
use reqwest::Url;
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult};
use rmcp::service::{Peer, RoleClient, RunningService, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use serde_json::{Map, Value};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::Command;
use tokio::sync::Mutex;

/// Longest time for a call, and for opening a connection.
const DEADLINE: Duration = Duration::from_secs(45);
const CONNECT: Duration = Duration::from_secs(15);
/// Longest time for closing a session.
const LEAVE: Duration = Duration::from_secs(3);
/// Largest message taken from a stream, in bytes.
const MOST_MESSAGE: usize = 8 << 20;
pub const NOT_CONFIGURED: &str = "janee is not configured";
pub const HINT: &str = "the owner configures it in owner.toml under [janee]";

type Session = RunningService<RoleClient, ()>;

/// Janee as the owner configured it, and the current session, which is opened again when lost.
pub struct Janee {
    pub settings: Option<policy::Janee>,
    session: Mutex<Option<Session>>,
    handles: Arc<Handles>,
}

/// Reason why a tool returned no result.
pub enum Lost {
    /// Nothing was sent.
    Unreached(String),
    /// Janee returned an error of the protocol.
    Said(String),
    /// It was sent, but no answer came.
    Silent(String),
}

impl Janee {
    pub fn new(settings: Option<policy::Janee>, handles: Arc<Handles>) -> Self {
        Self { settings, session: Mutex::default(), handles }
    }

    /// The rules of a capability: its own (in any letter case, since Janee may ignore that), else the ones for all,
    /// else the cautious default.
    pub fn rules(&self, capability: &str) -> Option<Vec<Rule>> {
        let janee = self.settings.as_ref()?;
        let any_case = || janee.rules.iter().find(|(name, _)| name.eq_ignore_ascii_case(capability));
        let own = janee.rules.get(capability).or_else(|| any_case().map(|(_, rules)| rules));
        let own = own.or_else(|| janee.rules.get("*"));
        let rule = |method: &str, verdict: Verdict| Rule {
            method: method.to_owned(),
            path: "/**".to_owned(),
            verdict,
            per_hour: None,
        };
        Some(own.cloned().unwrap_or_else(|| vec![rule("GET", Verdict::Allow), rule("*", Verdict::Ask)]))
    }

    /// Calls a tool. If the session is lost, it is opened again once, provided the call is `safe` to send twice.
    pub async fn tool(
        &self,
        name: &'static str,
        arguments: Map<String, Value>,
        safe: bool,
    ) -> Result<CallToolResult, Lost> {
        let mut again = safe;
        loop {
            let peer = self.peer().await?;
            let parameters = CallToolRequestParams::new(name).with_arguments(arguments.clone());
            let lost = match tokio::time::timeout(DEADLINE, peer.call_tool_once(parameters)).await {
                Ok(Ok(CallToolResponse::Complete(told))) => return Ok(told),
                Ok(Ok(_)) => {
                    return Err(Lost::Said(
                        "janee asks for something in between, which is not given".to_owned(),
                    ));
                }
                Ok(Err(ServiceError::McpError(said))) => {
                    let said = brief(&self.handles.secrets.scrub(&said.message), 300);
                    return Err(Lost::Said(format!("janee says: {said}")));
                }
                Ok(Err(error)) => brief(&self.handles.secrets.scrub(&error.to_string()), 300),
                Err(_) => {
                    again = false;
                    format!("no answer within {DEADLINE:?}")
                }
            };
            self.leave().await;
            if !again {
                return Err(Lost::Silent(format!("janee was lost in the middle of the call: {lost}")));
            }
            again = false;
        }
    }

    /// The peer of the session, which is opened if there is none.
    async fn peer(&self) -> Result<Peer<RoleClient>, Lost> {
        let mut session = self.session.lock().await;
        if let Some(running) =
            session.as_ref().filter(|running| !running.is_closed() && !running.is_transport_closed())
        {
            return Ok(running.peer().clone());
        }
        part(session.take());
        let Some(settings) = &self.settings else {
            return Err(Lost::Unreached("janee is not configured".to_owned()));
        };
        let made = tokio::time::timeout(CONNECT, self.connect(settings)).await;
        let running =
            made.unwrap_or_else(|_| Err(format!("no answer within {CONNECT:?}"))).map_err(|error| {
                Lost::Unreached(format!(
                    "janee cannot be reached: {}",
                    brief(&self.handles.secrets.scrub(&error), 300)
                ))
            })?;
        let peer = running.peer().clone();
        *session = Some(running);
        Ok(peer)
    }

    async fn leave(&self) {
        part(self.session.lock().await.take());
    }

    async fn connect(&self, settings: &policy::Janee) -> Result<Session, String> {
        if let Some((program, arguments)) = settings.command.split_first() {
            let mut command = Command::new(program);
            command.args(arguments).env_clear().kill_on_drop(true);
            for name in ["PATH", "HOME"] {
                command.envs(std::env::var(name).ok().map(|value| (name, value)));
            }
            for name in &settings.pass_env {
                command.envs(self.handles.secrets.get(name).map(|value| (name, value)));
            }
            // Discarded: its error output may contain credentials.
            let spawned = TokioChildProcess::builder(command).stderr(Stdio::null()).spawn();
            let (child, _) = spawned.map_err(|error| format!("{program} cannot be started: {error}"))?;
            return ().serve(child).await.map_err(|error| error.to_string());
        }
        let url = Url::parse(&settings.url).map_err(|_| "its url is no address".to_owned())?;
        let local = hosts::is_loopback(&hosts::host(&url));
        let client = if local || url.scheme() == "https" {
            self.handles.outward.client(&url).clone()
        } else {
            return Err("its url is neither https nor on this machine".to_owned());
        };
        let config = StreamableHttpClientTransportConfig::with_uri(settings.url.as_str())
            .max_sse_event_size(MOST_MESSAGE);
        let transport = StreamableHttpClientTransport::with_client(client, config);
        ().serve(transport).await.map_err(|error| error.to_string())
    }

    /// Closes the session; called before the broker ends.
    pub async fn farewell(&self) {
        if let Some(session) = self.session.lock().await.take() {
            let _ = tokio::time::timeout(LEAVE, session.cancel()).await;
        }
    }
}

fn part(session: Option<Session>) {
    if let Some(session) = session {
        tokio::spawn(async move {
            let _ = tokio::time::timeout(LEAVE, session.cancel()).await;
        });
    }
}
