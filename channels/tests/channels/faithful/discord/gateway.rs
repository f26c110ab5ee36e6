//! The gateway of the faithful Discord: Gateway, Gateway Events, Opcodes and Status Codes.

use super::{BOT, State, person};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

const GUILD_MESSAGES: u64 = 1 << 9;
const DIRECT_MESSAGES: u64 = 1 << 12;
const MESSAGE_CONTENT: u64 = 1 << 15;
/// GUILD_MEMBERS, GUILD_PRESENCES, MESSAGE_CONTENT (Privileged Intents).
const PRIVILEGED: u64 = (1 << 1) | (1 << 8) | MESSAGE_CONTENT;
const KNOWN: u64 = (1 << 26) - 1;

/// How this gateway behaves; what of it is read anew at each step may be changed while it runs.
#[derive(Clone, Default)]
pub struct Manners {
    pub url: String,
    pub heartbeat_ms: u64,
    /// Heartbeats are not answered: a zombie.
    pub is_dead: bool,
    /// What the next connection meets in the place of a hello.
    pub first: Vec<Step>,
    /// What the connections that are open meet next.
    pub now: Vec<Step>,
    pub connections: u64,
    pub identifies: u64,
    pub resumes: u64,
    pub heartbeats: u64,
    /// Codes that clients closed with; 0: none.
    pub closes: Vec<u16>,
}

#[derive(Clone, Debug)]
pub enum Step {
    Say(Value),
    Close(u16),
    /// The connection ends without a word.
    Cut,
}

impl Manners {
    pub fn at(url: &str) -> Self {
        Self { url: url.to_owned(), heartbeat_ms: 41_250, ..Self::default() }
    }
}

#[derive(Clone, Default)]
pub struct Session {
    pub intents: u64,
    /// Everything that was sent, in order: what `seq` counts.
    pub events: Vec<Value>,
}

impl Session {
    pub fn dispatch(&mut self, kind: &str, what: &Value) {
        let of_guild = !what["guild_id"].is_null();
        let wanted = if of_guild { GUILD_MESSAGES } else { DIRECT_MESSAGES };
        if kind.starts_with("MESSAGE_") && self.intents & wanted == 0 {
            return;
        }
        let mut what = what.clone();
        // Message Content Intent: empty without it, but in messages of the app, direct ones, and where it is mentioned.
        let is_mentioned =
            what["mentions"].as_array().is_some_and(|all| all.iter().any(|user| user["id"] == BOT));
        if of_guild && self.intents & MESSAGE_CONTENT == 0 && !is_mentioned && kind.starts_with("MESSAGE_") {
            what["content"] = "".into();
            what["attachments"] = json!([]);
        }
        self.push(kind, what);
    }

    fn push(&mut self, kind: &str, what: Value) {
        let seq = self.events.len() + 1;
        self.events.push(json!({"op": 0, "t": kind, "s": seq, "d": what}));
    }
}

/// A connection: which session it is in, and how much of that was sent.
struct Line {
    socket: WebSocketStream<TcpStream>,
    session: Option<String>,
    sent: usize,
    last_beat: Instant,
    /// Payloads of the client's, within a minute of the first.
    payloads: u32,
    is_resume_url: bool,
}

#[allow(clippy::result_large_err)]
pub async fn connection(stream: TcpStream, state: Arc<Mutex<State>>, changed: Arc<watch::Sender<u64>>) {
    let mut asked = String::new();
    let seen = |request: &Request, response: Response| {
        asked = request.uri().to_string();
        Ok(response)
    };
    let Ok(socket) = tokio_tungstenite::accept_hdr_async(stream, seen).await else { return };
    let (is_resume_url, last_beat) = (asked.starts_with("/resume"), Instant::now());
    let mut line = Line { socket, session: None, sent: 0, last_beat, payloads: 0, is_resume_url };
    let code = talk(&mut line, &state, &changed, &asked).await;
    if let Some(code) = code {
        let frame = CloseFrame { code: code.into(), reason: "".into() };
        let _ = line.socket.close(Some(frame)).await;
        let _ = tokio::time::timeout(Duration::from_secs(1), async {
            while line.socket.next().await.is_some() {}
        })
        .await;
    }
    changed.send_modify(|version| *version += 1);
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Talks until the connection ends; a code to close it with.
async fn talk(
    line: &mut Line,
    state: &Mutex<State>,
    changed: &watch::Sender<u64>,
    asked: &str,
) -> Option<u16> {
    let mut news = changed.subscribe();
    let (first, every) = {
        let mut state = lock(state);
        state.gateway.connections += 1;
        (std::mem::take(&mut state.gateway.first), Duration::from_millis(state.gateway.heartbeat_ms))
    };
    // Connecting: the version and encoding are passed; 4012 "Invalid API version".
    if !asked.contains("v=10") || !asked.contains("encoding=json") || asked.contains("compress") {
        return Some(4012);
    }
    if !first.is_empty() {
        return steps(line, first).await;
    }
    say(line, json!({"op": 10, "d": {"heartbeat_interval": every.as_millis() as u64}})).await;
    loop {
        news.mark_unchanged();
        if let Some(code) = flush(line, state).await {
            return if code == 0 { None } else { Some(code) };
        }
        // Heartbeat Interval: "If your app fails to send a heartbeat event in time, your connection will be closed".
        let late = every.mul_f64(1.5).saturating_sub(line.last_beat.elapsed());
        tokio::select! {
            _ = news.changed() => {}
            () = tokio::time::sleep(late) => {
                lock(state).broken.push("no heartbeat in time".into());
                return Some(4009);
            }
            frame = line.socket.next() => match frame {
                Some(Ok(Message::Text(text))) => {
                    if let Some(code) = hear(line, state, &text).await {
                        return Some(code);
                    }
                }
                Some(Ok(Message::Close(frame))) => {
                    let code = frame.map_or(0, |frame| u16::from(frame.code));
                    let mut state = lock(state);
                    state.gateway.closes.push(code);
                    // Initiating a Disconnect: "your session will be invalidated".
                    if matches!(code, 1000 | 1001) && let Some(session) = &line.session {
                        state.sessions.remove(session);
                    }
                    return None;
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return None,
            },
        }
    }
}

/// Sends what the session has, and what was put before the connections that are open. `Some(0)`: it ends without a word.
async fn flush(line: &mut Line, state: &Mutex<State>) -> Option<u16> {
    loop {
        let now = if line.session.is_some() { std::mem::take(&mut lock(state).gateway.now) } else { vec![] };
        if let Some(code) = steps(line, now).await {
            return Some(code);
        }
        let next = {
            let state = lock(state);
            let session = line.session.as_ref().and_then(|id| state.sessions.get(id));
            session.and_then(|session| session.events.get(line.sent).cloned())
        };
        let event = next?;
        line.sent += 1;
        say(line, event).await;
    }
}

async fn steps(line: &mut Line, steps: Vec<Step>) -> Option<u16> {
    for step in steps {
        match step {
            Step::Say(what) => say(line, what).await,
            Step::Close(code) => return Some(code),
            Step::Cut => return Some(0),
        }
    }
    None
}

async fn say(line: &mut Line, what: Value) {
    let _ = line.socket.send(Message::text(what.to_string())).await;
}

/// A payload of the client's; a code to close with.
async fn hear(line: &mut Line, state: &Mutex<State>, text: &str) -> Option<u16> {
    line.payloads += 1;
    // Rate Limiting: 120 events a connection and minute; Sending Events: at most 4096 bytes.
    if line.payloads > 120 {
        return Some(4008);
    }
    let Ok(said) = serde_json::from_str::<Value>(text) else { return Some(4002) };
    if text.len() > 4096 {
        return Some(4002);
    }
    match said["op"].as_u64() {
        Some(1) => {
            line.last_beat = Instant::now();
            let answers = {
                let mut state = lock(state);
                state.gateway.heartbeats += 1;
                // Heartbeat: "the last sequence number received by the client".
                let is_number =
                    said["d"].is_null() || said["d"].as_u64().is_some_and(|seq| seq as usize <= line.sent);
                if !is_number {
                    state.broken.push(format!("a heartbeat with {}", said["d"]));
                }
                !state.gateway.is_dead
            };
            if answers {
                say(line, json!({"op": 11})).await;
            }
            None
        }
        Some(2) => identify(line, state, &said["d"]),
        Some(6) => resume(line, state, &said["d"]).await,
        Some(3 | 4 | 8) if line.session.is_some() => None,
        Some(3 | 4 | 8) => Some(4003),
        _ => Some(4001),
    }
}

fn identify(line: &mut Line, state: &Mutex<State>, what: &Value) -> Option<u16> {
    let mut state = lock(state);
    state.gateway.identifies += 1;
    let intents = what["intents"].as_u64();
    // Identify Structure: token, properties, intents.
    if line.session.is_some() {
        return Some(4005);
    } else if !what["properties"].is_object() {
        return Some(4002);
    } else if what["token"] != state.token.as_str() {
        return Some(4004);
    } else if intents.is_none_or(|intents| intents & !KNOWN != 0) {
        return Some(4013);
    } else if intents.is_some_and(|intents| intents & PRIVILEGED != 0) {
        return Some(4014);
    }
    let id = format!("session-{}", state.gateway.identifies);
    let mut session = Session { intents: intents.unwrap_or(0), events: vec![] };
    let ready = json!({
        "v": 10, "user": person(BOT), "guilds": [], "session_id": id, "application": {"id": BOT, "flags": 0},
        "resume_gateway_url": format!("{}/resume", state.gateway.url),
    });
    session.push("READY", ready);
    state.sessions.insert(id.clone(), session);
    (line.session, line.sent) = (Some(id), 0);
    None
}

async fn resume(line: &mut Line, state: &Mutex<State>, what: &Value) -> Option<u16> {
    match resumed(line.is_resume_url, &mut lock(state), what) {
        Ok(at) => (line.session, line.sent) = at,
        Err(code @ Some(_)) => return code,
        Err(None) => {}
    }
    if line.session.is_none() {
        // Preparing to Resume, "It's possible your app won't reconnect in time": Invalid Session, `d` false.
        say(line, json!({"op": 9, "d": false})).await;
    }
    None
}

/// The session and how much of it was received; a code to close with; `None`: there is no such session.
fn resumed(
    is_resume_url: bool,
    state: &mut State,
    what: &Value,
) -> Result<(Option<String>, usize), Option<u16>> {
    state.gateway.resumes += 1;
    // Preparing to Resume: "open a new connection using resume_gateway_url".
    if !is_resume_url {
        state.broken.push("a resume at the address of a first connection".into());
    }
    if what["token"] != state.token.as_str() {
        return Err(Some(4004));
    }
    let id = what["session_id"].as_str().unwrap_or_default();
    let session = state.sessions.get_mut(id).ok_or(None)?;
    let seq = what["seq"].as_u64().ok_or(Some(4002))? as usize;
    if seq > session.events.len() {
        return Err(Some(4007));
    }
    // Resumed: behind all that was missed.
    session.push("RESUMED", json!({}));
    Ok((Some(id.to_owned()), seq))
}
