//! Slack's Socket Mode: connections that come and go, each with a successor before it ends, and envelopes answered by id.
//!
//! Invariant: an envelope with something in it for the owner is acknowledged only when it is asked for.

use super::events::{Me, heard};
use super::web::{As, Web};
use crate::channel::{Heard, Trouble};
use crate::door::Door;
use crate::platforms::calls::at;
use crate::platforms::websocket::{Frame, Socket};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

/// Longest wait for the first message of a connection.
const HELLO: Duration = Duration::from_secs(30);
/// Silence after which a connection is asked whether it lives, and again after which it is given up: Slack pings by itself.
const SILENCE: Duration = Duration::from_secs(45);
/// Connections refresh regularly: longest that one which was told to end is listened to beside its successor.
const OVERLAP: Duration = Duration::from_secs(30);
/// A connection that lived shorter has no successor of its own: the caller makes the pauses.
const BRIEF: Duration = Duration::from_secs(10);
/// Envelopes that wait to be received; no more acknowledgements than those can wait to leave.
const WAITING: usize = 1_000;

/// Something said, with how it is acknowledged.
pub struct Envelope {
    pub heard: Heard,
    pub id: String,
    /// To the connection it came by; where that is gone, Slack says it again.
    pub back: mpsc::UnboundedSender<String>,
}

pub type Told = Result<Envelope, Trouble>;

pub struct Links {
    pub web: Arc<Web>,
    pub door: Door,
}

/// A connection that said hello.
struct Link {
    socket: Socket,
    /// Connections of this app there are, by Slack's count.
    connections: u64,
}

/// Why a connection ended.
enum Ended {
    /// It broke, or was told to end: a successor listens, or is needed.
    Gone {
        is_succeeded: bool,
        why: String,
    },
    Trouble(Trouble),
}

impl Links {
    /// Opens a connection; envelopes come by it and by its successors until the receiver is dropped. Also returns how many
    /// connections this app has.
    pub async fn start(self: Arc<Self>, me: Me) -> Result<(mpsc::Receiver<Told>, u64), Trouble> {
        let link = self.open().await?;
        let connections = link.connections;
        let (tell, told) = mpsc::channel(WAITING);
        tokio::spawn(self.keep(me, link, tell));
        Ok((told, connections))
    }

    /// apps.connections.open, then Socket Mode, "Connecting": the address is good for one connection.
    async fn open(&self) -> Result<Link, Trouble> {
        let told = self.web.call(As::App, "apps.connections.open", &[]).await;
        let told = told.map_err(crate::platforms::calls::harmless)?;
        let url = at(&told, "/url").as_str().unwrap_or_default();
        let mut socket = Socket::open(&self.door, url, self.web.is_plain()).await?;
        let hello = async {
            loop {
                match socket.next().await {
                    Frame::Json(said) if at(&said, "/type") == "hello" => {
                        return Ok(at(&said, "/num_connections").as_u64().unwrap_or(1));
                    }
                    Frame::Json(said) if at(&said, "/reason") == "link_disabled" => return Err(disabled()),
                    Frame::Closed(_) => return Err(Trouble::Away("Slack closed the connection".to_owned())),
                    Frame::Json(_) | Frame::Alive => {}
                }
            }
        };
        let late = || Err(Trouble::Away("Slack said nothing".to_owned()));
        let connections = timeout(HELLO, hello).await.unwrap_or_else(|_| late())?;
        Ok(Link { socket, connections })
    }

    /// Listens to a connection, and to those that follow it.
    async fn keep(self: Arc<Self>, me: Me, link: Link, tell: mpsc::Sender<Told>) {
        let since = Instant::now();
        let ended = tokio::select! {
            ended = self.listen(&me, link, &tell) => ended,
            () = tell.closed() => return,
        };
        let trouble = match ended {
            Ended::Gone { is_succeeded: true, .. } => return,
            Ended::Gone { why, .. } if since.elapsed() < BRIEF => Trouble::Away(why),
            Ended::Gone { .. } => return self.succeed(me, tell).await,
            Ended::Trouble(trouble) => trouble,
        };
        let _ = tell.send(Err(trouble)).await;
    }

    /// Opens a connection in another's stead.
    fn succeed(
        self: Arc<Self>,
        me: Me,
        tell: mpsc::Sender<Told>,
    ) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            match self.open().await {
                Ok(link) => self.keep(me, link, tell).await,
                Err(trouble) => {
                    let _ = tell.send(Err(trouble)).await;
                }
            }
        })
    }

    async fn listen(self: &Arc<Self>, me: &Me, link: Link, tell: &mpsc::Sender<Told>) -> Ended {
        let mut socket = link.socket;
        let (back, mut acknowledged) = mpsc::unbounded_channel::<String>();
        let (mut quiet_until, mut is_asked, mut is_succeeded) = (Instant::now() + SILENCE, false, false);
        let mut ends = None;
        let gone = |is_succeeded: bool, why: &str| Ended::Gone { is_succeeded, why: why.to_owned() };
        loop {
            let frame = tokio::select! {
                frame = socket.next() => frame,
                Some(id) = acknowledged.recv() => {
                    if socket.send(&json!({"envelope_id": id})).await.is_err() {
                        return gone(is_succeeded, "the connection to Slack broke");
                    }
                    continue;
                }
                () = sleep_until(ends.unwrap_or(quiet_until)) => {
                    if ends.is_some() || is_asked || socket.ping().await.is_err() {
                        return gone(is_succeeded, "Slack is silent");
                    }
                    (quiet_until, is_asked) = (Instant::now() + SILENCE, true);
                    continue;
                }
            };
            (quiet_until, is_asked) = (Instant::now() + SILENCE, false);
            let said = match frame {
                Frame::Json(said) => said,
                Frame::Alive => continue,
                Frame::Closed(_) => return gone(is_succeeded, "Slack closed the connection"),
            };
            if at(&said, "/type") != "disconnect" {
                self.pass(me, said, &back, &mut socket, tell).await;
                continue;
            }
            // "Disconnecting": `warning` some seconds before, `refresh_requested` when it is due.
            if at(&said, "/reason") == "link_disabled" {
                return Ended::Trouble(disabled());
            }
            if !is_succeeded {
                (is_succeeded, ends) = (true, Some(Instant::now() + OVERLAP));
                tokio::spawn(self.clone().succeed(me.clone(), tell.clone()));
            }
        }
    }

    /// Passes an envelope on; one with nothing in it is acknowledged at once.
    async fn pass(
        &self,
        me: &Me,
        said: Value,
        back: &mpsc::UnboundedSender<String>,
        socket: &mut Socket,
        tell: &mpsc::Sender<Told>,
    ) {
        let Some(id) = at(&said, "/envelope_id").as_str().map(str::to_owned) else { return };
        match heard(at(&said, "/type").as_str().unwrap_or_default(), at(&said, "/payload"), me) {
            Some(heard) => {
                let _ = tell.send(Ok(Envelope { heard, id, back: back.clone() })).await;
            }
            None => {
                let _ = socket.send(&json!({"envelope_id": id})).await;
            }
        }
    }
}

fn disabled() -> Trouble {
    Trouble::Revoked(
        "Socket Mode is off, so Slack says nothing: at api.slack.com/apps open your app, Socket Mode, and switch it on".to_owned(),
    )
}
