//! A connection to Discord's gateway: hello, heartbeats, identify or resume, and what each close code asks for.

use crate::channel::Trouble;
use crate::door::Door;
use crate::platforms::calls::{at, chance};
use crate::platforms::websocket::{Frame, Socket};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout};

/// Longest wait for the gateway to begin, and for a session that is asked for.
const PATIENCE: Duration = Duration::from_secs(30);
/// Close code with which a session stays one that can be resumed: any but 1000 and 1001 (Gateway, Sending Heartbeats).
const KEEP_SESSION: u16 = 4000;
/// Bounds of what the gateway may ask for between two heartbeats, in milliseconds.
const BEAT_MS: (u64, u64) = (50, 600_000);
/// Most events that are kept while a session is resumed.
const REPLAYED: usize = 20_000;
/// Op 9 is answered after one to five seconds.
const INVALID_WAIT_S: f64 = 1.0;
const INVALID_SPREAD_S: f64 = 4.0;

/// Gateway, Resuming: all that a session is taken up again by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub id: String,
    pub url: String,
    pub seq: u64,
}

/// An event, by its name.
pub struct Dispatch {
    pub kind: String,
    pub what: Value,
}

/// Why a connection ended, and so how it goes on.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// The session can be resumed.
    Resume(String),
    /// A new session is needed.
    Anew(String),
    /// The token is not taken.
    Token,
    Trouble(Trouble),
}

/// Everything that a connection is made with.
pub struct Plan {
    pub door: Door,
    pub token: String,
    pub intents: u64,
    /// Whether a gateway without TLS is taken: the owner's own server on this machine.
    pub is_plain: bool,
}

pub struct Link {
    socket: Socket,
    every: Duration,
    next_beat: Instant,
    /// Whether the last heartbeat was answered.
    is_acked: bool,
    /// Whether a heartbeat could not leave.
    is_broken: bool,
    /// The last number received; `None` before the first.
    seq: Option<u64>,
}

impl Link {
    /// Identifies, and waits until the session is ready.
    pub async fn identify(plan: &Plan, url: &str) -> Result<(Self, Session), Ended> {
        let mut link = Self::open(plan, url).await?;
        let properties = json!({"os": "linux", "browser": "feral", "device": "feral"});
        let identify = json!({"token": plan.token, "intents": plan.intents, "properties": properties});
        link.say(&json!({"op": 2, "d": identify})).await?;
        loop {
            let Dispatch { kind, what } = within(link.next()).await?;
            if kind == "READY" {
                let text = |key: &str| at(&what, &format!("/{key}")).as_str().unwrap_or_default().to_owned();
                let session = Session {
                    id: text("session_id"),
                    url: text("resume_gateway_url"),
                    seq: link.seq.unwrap_or(0),
                };
                return Ok((link, session));
            }
        }
    }

    /// Resumes, and waits until all that was missed is replayed; returns it.
    pub async fn resume(plan: &Plan, session: &Session) -> Result<(Self, Vec<(Dispatch, u64)>), Ended> {
        let mut link = Self::open(plan, &session.url).await?;
        link.seq = Some(session.seq);
        let resume = json!({"token": plan.token, "session_id": session.id, "seq": session.seq});
        link.say(&json!({"op": 6, "d": resume})).await?;
        let mut replayed = Vec::new();
        loop {
            let dispatch = within(link.next()).await?;
            if dispatch.kind == "RESUMED" {
                return Ok((link, replayed));
            }
            if replayed.len() >= REPLAYED {
                return Err(Ended::Anew("more was missed than is kept".to_owned()));
            }
            replayed.push((dispatch, link.seq.unwrap_or(session.seq)));
        }
    }

    async fn open(plan: &Plan, url: &str) -> Result<Self, Ended> {
        let mut address = reqwest::Url::parse(url)
            .map_err(|_| Ended::Anew(format!("no address of a gateway: {url:.100}")))?;
        address.set_query(Some("v=10&encoding=json"));
        let socket =
            Socket::open(&plan.door, address.as_str(), plan.is_plain).await.map_err(Ended::Trouble)?;
        let next_beat = Instant::now() + PATIENCE;
        let mut link =
            Self { socket, every: PATIENCE, next_beat, is_acked: true, is_broken: false, seq: None };
        let hello = async {
            loop {
                match link.socket.next().await {
                    Frame::Json(said) if at(&said, "/op") == 10 => return Ok(said),
                    Frame::Json(said) if at(&said, "/op") == 7 => {
                        return Err(Ended::Resume("told to reconnect".to_owned()));
                    }
                    Frame::Json(_) | Frame::Alive => {}
                    Frame::Closed(code) => return Err(closed(code)),
                }
            }
        };
        let said = within(hello).await?;
        let asked_ms = at(&said, "/d/heartbeat_interval").as_u64().unwrap_or(BEAT_MS.1);
        link.every = Duration::from_millis(asked_ms.clamp(BEAT_MS.0, BEAT_MS.1));
        // Gateway, Heartbeat Interval: the first one after a part of the interval that chance says.
        link.next_beat = Instant::now() + link.every.mul_f64(chance());
        Ok(link)
    }

    pub fn seq(&self) -> Option<u64> {
        self.seq
    }

    /// Waits for the next event, and keeps the connection alive meanwhile.
    pub async fn next(&mut self) -> Result<Dispatch, Ended> {
        loop {
            if self.is_broken {
                return Err(Ended::Resume("the connection broke".to_owned()));
            }
            let frame = tokio::select! {
                () = sleep_until(self.next_beat) => {
                    if !self.is_acked {
                        return Err(Ended::Resume("a heartbeat was not answered".to_owned()));
                    }
                    self.beat().await?;
                    continue;
                }
                frame = self.socket.next() => frame,
            };
            let said = match frame {
                Frame::Json(said) => said,
                Frame::Alive => continue,
                Frame::Closed(code) => return Err(closed(code)),
            };
            if let Some(dispatch) = self.hear(said).await? {
                return Ok(dispatch);
            }
        }
    }

    async fn hear(&mut self, mut said: Value) -> Result<Option<Dispatch>, Ended> {
        match at(&said, "/op").as_u64() {
            Some(0) => {
                self.seq = at(&said, "/s").as_u64().or(self.seq);
                let kind = at(&said, "/t").as_str().unwrap_or_default().to_owned();
                return Ok(Some(Dispatch {
                    kind,
                    what: said.get_mut("d").map(Value::take).unwrap_or_default(),
                }));
            }
            // Gateway, Heartbeat Requests.
            Some(1) => self.beat().await?,
            Some(7) => return Err(Ended::Resume("told to reconnect".to_owned())),
            Some(9) => {
                tokio::time::sleep(Duration::from_secs_f64(INVALID_WAIT_S + INVALID_SPREAD_S * chance()))
                    .await;
                let why = "the session is not valid".to_owned();
                return Err(if at(&said, "/d") == true { Ended::Resume(why) } else { Ended::Anew(why) });
            }
            Some(11) => self.is_acked = true,
            Some(_) | None => {}
        }
        Ok(None)
    }

    /// Waits for something else, and keeps the connection alive meanwhile; what it says is not read.
    pub async fn beating<T>(&mut self, other: impl Future<Output = T>) -> T {
        tokio::pin!(other);
        loop {
            tokio::select! {
                done = &mut other => return done,
                () = sleep_until(self.next_beat), if !self.is_broken => {
                    self.is_broken = self.beat().await.is_err();
                    // Its answer lies unread.
                    self.is_acked = true;
                }
            }
        }
    }

    async fn beat(&mut self) -> Result<(), Ended> {
        self.is_acked = false;
        self.next_beat = Instant::now() + self.every;
        let beat = json!({"op": 1, "d": self.seq});
        self.say(&beat).await
    }

    async fn say(&mut self, what: &Value) -> Result<(), Ended> {
        self.socket.send(what).await.map_err(|()| Ended::Resume("the connection broke".to_owned()))
    }

    /// Closes so that the session can be resumed.
    pub async fn close(self) {
        self.socket.close(KEEP_SESSION).await;
    }
}

async fn within<T>(wait: impl Future<Output = Result<T, Ended>>) -> Result<T, Ended> {
    let late = || Ended::Resume("the gateway said nothing".to_owned());
    timeout(PATIENCE, wait).await.unwrap_or_else(|_| Err(late()))
}

/// Opcodes and Status Codes, Gateway Close Event Codes.
fn closed(code: Option<u16>) -> Ended {
    let told = |text: &str| Ended::Trouble(Trouble::Revoked(text.to_owned()));
    match code {
        Some(4004) => Ended::Token,
        Some(4014) => told(
            "Discord does not let the bot hear what it asks for: at discord.com/developers/applications open your app, Bot, \
             and switch Message Content Intent on",
        ),
        Some(code @ (4010..=4013)) => {
            Ended::Trouble(Trouble::Refused(format!("Discord's gateway refuses this program ({code})")))
        }
        Some(code @ (4003 | 4005 | 4007 | 4009)) => {
            Ended::Anew(format!("the gateway closed the session ({code})"))
        }
        Some(code) => Ended::Resume(format!("the gateway closed the connection ({code})")),
        None => Ended::Resume("the connection ended".to_owned()),
    }
}
