//! A single MCP server: its session, opened when first needed and again after a growing pause, its tools, and calls.
//!
//! Invariant: a call is sent once; whether one was sent that got no answer is said.

use super::failure::{self, Failure, Lost, Refused};
use super::handler::Handler;
use super::listed::{self, Listed};
use super::offers;
use super::skills;
use super::start::{Opened, Running, Session, Start};
use super::tool::Tool;
use super::watched::{self, Watched};
use house::bounds::brief;
use house::mutex::lock;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde_json::{Map, Value};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex as StdMutex};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

/// Longest time for opening a session: a program may have to be fetched first.
const CONNECT: Duration = Duration::from_secs(60);
const LIST: Duration = Duration::from_secs(30);
/// Longest time for any answer after a call got none.
const ANSWER: Duration = Duration::from_secs(5);
/// Longest time for closing a session.
const LEAVE: Duration = Duration::from_secs(3);
/// Pause after the first failure to open a session; it doubles with each.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

#[derive(Default)]
struct Held {
    open: Option<Open>,
    failures: u32,
    pause: Option<Pause>,
    /// The owner's sign-in by which it was reached for last; another one ends a session, and a pause.
    signed: Option<i64>,
}

/// Time before which no session is opened, and why.
struct Pause {
    until: Instant,
    why: String,
}

struct Open {
    session: Session,
    /// Killed when dropped.
    _running: Option<Running>,
    /// The time by which it is opened anew.
    ends: Option<Instant>,
    tools: Option<Arc<Listed>>,
    /// Hears what it tells by itself.
    _hearing: JoinSet<()>,
}

/// How a server stands: for the owner, who sees it without asking it anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    Up,
    /// It is being reached, or is listing its tools.
    Opening,
    Down(String),
    /// Nothing was asked of it yet.
    Idle,
}

pub struct Server {
    pub start: Start,
    handler: Handler,
    held: Mutex<Held>,
    /// Its last call got no answer in time.
    silent: AtomicBool,
    /// The tool that was called last, and since when it is at work.
    under_way: StdMutex<Option<(String, Instant)>>,
}

impl Server {
    pub fn new(start: Start) -> Self {
        let watched = Arc::new(Watched::new(&start.settings.watch));
        let handler = Handler { watched, ..Handler::default() };
        Self {
            start,
            handler,
            held: Mutex::default(),
            silent: AtomicBool::default(),
            under_way: StdMutex::default(),
        }
    }

    /// Its tools as they are now.
    pub async fn tools(&self) -> Result<Arc<Listed>, Lost> {
        let mut held = self.held.lock().await;
        let peer = self.peer(&mut held).await?;
        if self.handler.changed.swap(false, Ordering::AcqRel)
            && let Some(open) = &mut held.open
        {
            open.tools = None;
        }
        if let Some(tools) = held.open.as_ref().and_then(|open| open.tools.clone()) {
            return Ok(tools);
        }
        let listed = timeout(LIST, listed::list(&peer)).await;
        let listed = listed.map(|listed| listed.map_err(|error| self.told(failure::of_call(&error))));
        match listed.unwrap_or_else(|_| Err(format!("no answer within {LIST:?}"))) {
            Ok(listed) => {
                let listed = Arc::new(listed);
                if let Some(open) = &mut held.open {
                    open.tools = Some(listed.clone());
                }
                Ok(listed)
            }
            Err(error) => {
                Err(self.failed(&mut held, format!("{} does not list its tools: {error}", self.start.name)))
            }
        }
    }

    /// Calls a tool, once. Dropped before its end, it has the server told that the call is cancelled.
    pub async fn call(&self, tool: &Tool, arguments: Map<String, Value>) -> Result<CallToolResult, Lost> {
        let peer = self.peer(&mut *self.held.lock().await).await?;
        let deadline = Duration::from_secs(self.start.settings.deadline_s);
        let name = &self.start.name;
        let silent = |why: String| Lost::Silent(format!("{name} was lost in the middle of the call: {why}"));
        let under_way = UnderWay::begin(self, &tool.name);
        let answer = timeout(deadline, self.take(&peer, tool, arguments)).await;
        let progress = self.progress().unwrap_or_default();
        drop(under_way);
        match answer {
            Ok(Ok(Some(result))) => Ok(result),
            Ok(Ok(None)) => {
                Err(Lost::Said(format!("{name} asks for something in between, which is not given")))
            }
            Ok(Err(ServiceError::McpError(said))) => {
                Err(Lost::Said(format!("{name} says: {}", self.said(&said.message))))
            }
            Ok(Err(error)) => {
                let failure = failure::of_call(&error);
                let (is_refused, goes_on) =
                    (failure.refused.is_some(), matches!(failure.refused, Some(Refused::Scope(_))));
                let why = self.told(failure);
                if !goes_on {
                    self.failed(&mut *self.held.lock().await, why.clone());
                }
                Err(if is_refused { Lost::Unreached(format!("{name}: {why}")) } else { silent(why) })
            }
            Err(_) => {
                self.silent.store(true, Ordering::Release);
                let told = if progress.is_empty() { "" } else { "; the last it told of its progress: " };
                Err(silent(format!("no answer within {} s{told}{progress}", deadline.as_secs())))
            }
        }
    }

    /// The result of a tool, or of what is offered as one; none where the server wants something in between.
    async fn take(
        &self,
        peer: &Peer<RoleClient>,
        tool: &Tool,
        arguments: Map<String, Value>,
    ) -> Result<Option<CallToolResult>, ServiceError> {
        if let Some(skill) = &tool.skill {
            let result = skills::read(peer, skill, &arguments).await?;
            if result.as_ref().is_some_and(|result| result.is_error == Some(true)) {
                // It may be another by now, which its list says.
                self.handler.has_other_tools();
            }
            return Ok(result);
        }
        let offers = peer.peer_info().map(|info| offers::of(&info.capabilities)).unwrap_or_default();
        if offers.iter().any(|offer| offer.name == tool.name) {
            return offers::take(peer, &tool.name, &arguments).await;
        }
        let parameters = CallToolRequestParams::new(tool.name.clone()).with_arguments(arguments);
        let answer = peer.call_tool_once(parameters).await?;
        let CallToolResponse::Complete(result) = answer else { return Ok(None) };
        Ok(Some(result))
    }

    /// Whether its list of tools is no longer the one that was read.
    pub fn has_changed(&self) -> bool {
        self.handler.changed.load(Ordering::Acquire)
    }

    /// Its last word about how far the call at hand is.
    pub fn progress(&self) -> Option<String> {
        let words = lock(&self.handler.progress).clone();
        Some(self.said(&words)).filter(|words| !words.is_empty())
    }

    /// The tool that was called last, while it is at work, and for how long.
    pub fn under_way(&self) -> Option<(String, Duration)> {
        lock(&self.under_way).as_ref().map(|(tool, since)| (tool.clone(), since.elapsed()))
    }

    /// Its resources that the owner has watched.
    pub fn watched(&self) -> &Watched {
        &self.handler.watched
    }

    /// Whether it has resources watched, and no session to hear of them by.
    pub fn is_unheard(&self) -> bool {
        let Ok(held) = self.held.try_lock() else { return false };
        let is_over = |open: &Open| !is_alive(open) || open.ends.is_some_and(|ends| ends <= Instant::now());
        let is_unheard = held.open.as_ref().map_or(held.pause.is_none(), is_over);
        self.watched().is_any() && is_unheard
    }

    /// Whether it is down, and may be reached again by now.
    pub fn is_due(&self) -> bool {
        let Ok(held) = self.held.try_lock() else { return false };
        let is_over = |pause: &Pause| pause.until <= Instant::now() || held.signed != self.signed_at();
        held.open.is_none() && held.pause.as_ref().is_some_and(is_over)
    }

    /// Why it was not reached when it was last tried, while it is not tried again.
    pub fn trouble(&self) -> Option<String> {
        let held = self.held.try_lock().ok()?;
        let pause = held.pause.as_ref().filter(|_| held.open.is_none())?;
        (pause.until > Instant::now()).then(|| pause.why.clone())
    }

    /// How it stands now.
    pub fn standing(&self) -> Standing {
        let Ok(held) = self.held.try_lock() else { return Standing::Opening };
        match (&held.open, &held.pause) {
            (Some(open), _) if is_alive(open) => Standing::Up,
            (Some(_), _) => Standing::Down(format!("{} ended", self.start.name)),
            (None, Some(pause)) => Standing::Down(pause.why.clone()),
            (None, None) => Standing::Idle,
        }
    }

    async fn peer(&self, held: &mut Held) -> Result<Peer<RoleClient>, Lost> {
        let signed = self.signed_at();
        // Noted before it is reached for: a sign-in meanwhile is another one.
        let is_other = std::mem::replace(&mut held.signed, signed) != signed;
        let is_over = |open: &mut Open| is_other || open.ends.is_some_and(|ends| ends <= Instant::now());
        held.open.take_if(is_over).into_iter().for_each(part);
        if let Some(open) = held.open.as_ref().filter(|open| is_alive(open)) {
            let peer = open.session.peer().clone();
            if !self.silent.swap(false, Ordering::AcqRel) || answers(&peer).await {
                return Ok(peer);
            }
            // It hangs, or it began anew and knows nothing of this session.
            held.open.take().into_iter().for_each(part);
        }
        if let Some(open) = held.open.take() {
            part(open);
            // It lived and died: a server that does so at once is not started again at once.
            self.failed(held, format!("{} ended", self.start.name));
        }
        let paused = |pause: &&Pause| pause.until > Instant::now() && !is_other;
        if let Some(pause) = held.pause.as_ref().filter(paused) {
            let left = pause.until.duration_since(Instant::now()).as_secs() + 1;
            return Err(Lost::Unreached(format!("{}; it is tried again in {left} s", pause.why)));
        }
        let opened = timeout(CONNECT, self.start.session(self.handler.clone())).await;
        let late = || Err(format!("no answer within {} s", CONNECT.as_secs()).into());
        match opened.unwrap_or_else(|_| late()) {
            Ok(Opened { session, running, ends }) => {
                let peer = session.peer().clone();
                lock(&self.handler.progress).clear();
                let mut hearing = JoinSet::new();
                hearing.spawn(watched::follow(peer.clone(), self.handler.clone()));
                held.open = Some(Open { session, _running: running, ends, tools: None, _hearing: hearing });
                Ok(peer)
            }
            Err(failure) => {
                let why = format!("{} cannot be reached: {}", self.start.name, self.told(failure));
                Err(self.failed(held, why))
            }
        }
    }

    fn signed_at(&self) -> Option<i64> {
        self.start.sign_in.as_ref().and_then(|sign_in| sign_in.store.signed_at())
    }

    /// A failure in words; what a server wants of the owner is noted for the sign-in.
    fn told(&self, failure: Failure) -> String {
        match (&self.start.sign_in, &failure.refused) {
            (Some(sign_in), Some(refused)) => sign_in.wanted(refused),
            _ => self.said(&failure.why),
        }
    }

    /// Ends the session and pauses before the next; longer after each failure within ten minutes of the last.
    fn failed(&self, held: &mut Held, why: String) -> Lost {
        held.open.take().into_iter().for_each(part);
        let long_ago = held.pause.as_ref().is_some_and(|pause| pause.until.elapsed() > LONGEST_PAUSE);
        held.failures = if long_ago { 0 } else { held.failures };
        let pause = FIRST_PAUSE.saturating_mul(1 << held.failures.min(10)).min(LONGEST_PAUSE);
        held.failures += 1;
        if held.failures == 1 {
            tracing::warn!("MCP server {}: {why}", self.start.name);
        }
        held.pause = Some(Pause { until: Instant::now() + pause, why: why.clone() });
        Lost::Unreached(why)
    }

    fn said(&self, words: &str) -> String {
        brief(&house::printable::flat(&self.start.handles.secrets.scrub(words)), 300)
    }

    pub async fn leave(&self) {
        if let Some(open) = self.held.lock().await.open.take() {
            let _ = timeout(LEAVE, open.session.cancel()).await;
        }
    }
}

/// A call at work, until it is dropped: whoever waited for it may be gone.
struct UnderWay<'a>(&'a Server);

impl<'a> UnderWay<'a> {
    fn begin(server: &'a Server, tool: &str) -> Self {
        *lock(&server.under_way) = Some((tool.to_owned(), Instant::now()));
        Self(server)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        lock(&self.0.under_way).take();
        lock(&self.0.handler.progress).clear();
    }
}

fn is_alive(open: &Open) -> bool {
    !open.session.is_closed() && !open.session.is_transport_closed()
}

/// Whether a server answers anything at all.
async fn answers(peer: &Peer<RoleClient>) -> bool {
    let answer = timeout(ANSWER, peer.list_tools(None)).await;
    matches!(answer, Ok(Ok(_) | Err(ServiceError::McpError(_))))
}

fn part(open: Open) {
    tokio::spawn(async move {
        let _ = timeout(LEAVE, open.session.cancel()).await;
    });
}
