//! Socket Mode of the faithful Slack: "Using Socket Mode", and "Retries" of the Events API.

use super::State;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};

/// "Using multiple connections": up to ten.
const MOST: usize = 10;
/// Retries of an event: three.
const RETRIES: u32 = 3;

#[derive(Clone, Debug)]
pub struct Delivery {
    pub kind: String,
    pub payload: Value,
    pub attempt: u32,
}

#[derive(Clone, Debug)]
pub enum Step {
    Say(Value),
    /// "Disconnecting": a message with this reason; the connection ends after a while.
    Disconnect(&'static str, Duration),
    Cut,
    /// Nothing comes or goes any more, and the connection stays.
    Freeze,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends an envelope by one connection, in turn; without one it is retried as if nothing answered.
pub fn deliver(state: &Arc<Mutex<State>>, delivery: Delivery) {
    let (id, wait) = {
        let mut held = lock(state);
        let id = held.id("envelope-");
        let mut said = json!({
            "type": delivery.kind, "envelope_id": id, "payload": delivery.payload,
            "accepts_response_payload": delivery.kind != "events_api",
        });
        if delivery.kind == "events_api" {
            said["retry_attempt"] = delivery.attempt.into();
            said["retry_reason"] = if delivery.attempt == 0 { "" } else { "timeout" }.into();
        }
        held.lines.retain(|line| !line.is_closed());
        held.turn += 1;
        let at = held.turn % held.lines.len().max(1);
        let is_sent = held.lines.get(at).is_some_and(|line| line.send(Step::Say(said)).is_ok());
        held.waiting.insert(id.clone(), delivery);
        (id, if is_sent { held.patience } else { Duration::ZERO })
    };
    let state = state.clone();
    tokio::spawn(async move {
        tokio::time::sleep(wait).await;
        let Some(late) = lock(&state).waiting.remove(&id) else { return };
        // Events alone are said again: at once, after a minute, after five.
        if late.kind != "events_api" || late.attempt >= RETRIES {
            return;
        }
        let minutes = [0, 1, 5][late.attempt as usize];
        let minute = lock(&state).minute;
        tokio::time::sleep(minute * minutes).await;
        deliver(&state, Delivery { attempt: late.attempt + 1, ..late });
    });
}

#[allow(clippy::result_large_err)]
pub async fn connection(stream: TcpStream, state: Arc<Mutex<State>>, changed: Arc<watch::Sender<u64>>) {
    let mut asked = String::new();
    let seen = |request: &Request, response: Response| {
        asked = request.uri().to_string();
        Ok(response)
    };
    let Ok(mut socket) = tokio_tungstenite::accept_hdr_async(stream, seen).await else { return };
    let (line, steps) = mpsc::unbounded_channel();
    let hello = {
        let mut state = lock(&state);
        // "Connecting": each address is made for one connection.
        let ticket = state.tickets.iter().position(|ticket| *ticket == asked);
        let Some(ticket) = ticket else {
            state.broken.push(format!("a connection to an address that is none, or was used: {asked}"));
            return;
        };
        state.tickets.remove(ticket);
        state.lines.retain(|line| !line.is_closed());
        if state.lines.len() >= MOST {
            return;
        }
        state.lines.push(line);
        state.connections_ever += 1;
        json!({
            "type": "hello", "num_connections": state.lines.len() as u64 + state.others, "connection_info": {"app_id": "A1"},
            "debug_info": {"host": "applink-1", "approximate_connection_time": 18_060},
        })
    };
    let _ = socket.send(Message::text(hello.to_string())).await;
    changed.send_modify(|version| *version += 1);
    talk(socket, steps, &state, &changed).await;
    changed.send_modify(|version| *version += 1);
}

async fn talk(
    mut socket: WebSocketStream<TcpStream>,
    mut steps: mpsc::UnboundedReceiver<Step>,
    state: &Mutex<State>,
    changed: &watch::Sender<u64>,
) {
    let (never, mut ends) = (Duration::from_secs(1_000_000), None);
    let mut ping = tokio::time::interval(Duration::from_secs(10));
    loop {
        tokio::select! {
            step = steps.recv() => match step {
                Some(Step::Say(what)) => { let _ = socket.send(Message::text(what.to_string())).await; }
                Some(Step::Disconnect(reason, after)) => {
                    let said = json!({"type": "disconnect", "reason": reason, "debug_info": {"host": "applink-1"}});
                    let _ = socket.send(Message::text(said.to_string())).await;
                    ends = Some(tokio::time::Instant::now() + after);
                }
                Some(Step::Freeze) => tokio::time::sleep(never).await,
                Some(Step::Cut) | None => return,
            },
            _ = ping.tick() => { let _ = socket.send(Message::Ping(vec![].into())).await; }
            () = tokio::time::sleep_until(ends.unwrap_or_else(|| tokio::time::Instant::now() + never)) => return,
            frame = socket.next() => match frame {
                Some(Ok(Message::Text(text))) => {
                    hear(state, &text);
                    changed.send_modify(|version| *version += 1);
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => {}
            },
        }
    }
}

/// "Acknowledge events": `envelope_id`, once for each.
fn hear(state: &Mutex<State>, text: &str) {
    let mut state = lock(state);
    let said: Value = serde_json::from_str(text).unwrap_or_default();
    let id = said["envelope_id"].as_str().unwrap_or_default();
    match state.waiting.remove(id) {
        Some(delivery) => {
            let named = delivery.payload["event_id"].as_str().unwrap_or(id).to_owned();
            state.acknowledged.push(named);
        }
        // An acknowledgement that comes too late is none.
        None if id.starts_with("envelope-") => {}
        None => state.broken.push(format!("an acknowledgement of nothing: {text}")),
    }
}
