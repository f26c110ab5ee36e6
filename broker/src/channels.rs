//! The door of the owner's channels: connections to the places of these, and `POST /channels/send`; nobody else's, to nothing else.
//!
//! Invariant: a place is reached only if the owner's settings name its channel, at an address judged after its name was
//! resolved, once. Before anything is sent there the place is in the ledger, once an hour, and each message is before it
//! leaves.
//! Absent on purpose: tokens of platforms, which the program of the channels holds, and a look into what it sends: the
//! connections are TLS from there to the platform.

pub mod opened;

use crate::door::callers::OF_CHANNELS;
use crate::ground::hosts::{self, Reach};
use crate::ground::refusal::Refusal;
use crate::handles::Handles;
use crate::ledger::{Closed, Entry};
use crate::net::destination::Destination;
use crate::net::passing::{self, unreachable};
use crate::net::resolve::within;
use crate::net::tunnel::{self, Most, Passed};
use crate::policy::{Channel, Place};
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use house::mutex::lock;
use http::{Method, Request, Uri};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioIo;
use opened::{Line, Opened};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// Most connections at once, tunnels and plain requests: a channel holds one for what comes, and a few for what it sends.
const MOST_AT_ONCE: usize = 64;
/// Bounds of a connection: one for a channel's stream may live for days, so that its silence is bounded and not its life.
/// IMAP's IDLE is silent for 29 minutes (RFC 2177); all else says something within two.
pub const MOST: Most = Most { out: 64 << 30, back: 64 << 30, silence: Duration::from_secs(31 * 60) };
/// Most messages of a channel within an hour, answers and all.
pub const MOST_MESSAGES: u32 = 3_600;
const HOUR: Duration = Duration::from_secs(3_600);

pub struct Channels {
    /// By the channel's name.
    places: Vec<(String, Place)>,
    /// The owner's proxy settings.
    proxies: Matcher,
    at_once: Arc<Semaphore>,
    /// Held while a line of it is written: nobody takes a place for written down before it is.
    opened: tokio::sync::Mutex<Opened>,
    /// Messages of each channel, and since when they are counted.
    sent: Mutex<BTreeMap<String, (Instant, u32)>>,
    handles: Arc<Handles>,
}

/// A message that is about to leave, as the program of the channels says.
#[derive(Deserialize)]
struct Leaving {
    channel: String,
    chat: String,
    /// `send`, `edit`, or what the channel has beside.
    kind: String,
    bytes: u64,
    sha256: String,
}

pub fn routes(channels: Arc<Channels>) -> Router {
    Router::new().route(OF_CHANNELS, post(send)).with_state(channels)
}

async fn send(State(channels): State<Arc<Channels>>, body: Bytes) -> Response {
    let leaving = Refusal::reading(&body, "{\"channel\",\"chat\",\"kind\",\"bytes\",\"sha256\"}");
    let written = match leaving {
        Ok(leaving) => channels.leaves(leaving).await,
        Err(refusal) => Err(refusal),
    };
    written.map_or_else(IntoResponse::into_response, |()| Json(json!({"ok": true})).into_response())
}

/// Answers a request of the program's to the proxy: a tunnel, or a plain request with a whole address.
pub async fn proxy(channels: Arc<Channels>, request: Request<Incoming>) -> Response {
    let (method, uri) = (request.method().clone(), request.uri().clone());
    match channels.passed(request).await {
        Ok(response) => response,
        Err(refusal) => {
            channels.tell(&method, &uri, &refusal).await;
            refusal.into_response()
        }
    }
}

impl Channels {
    pub fn new(settings: &BTreeMap<String, Channel>, handles: Arc<Handles>) -> Self {
        let places = |(name, channel): (&String, &Channel)| {
            channel.places(name).into_iter().map(|place| (name.clone(), place)).collect::<Vec<_>>()
        };
        Self {
            places: settings.iter().flat_map(places).collect(),
            proxies: Matcher::from_env(),
            at_once: Arc::new(Semaphore::new(MOST_AT_ONCE)),
            opened: tokio::sync::Mutex::default(),
            sent: Mutex::default(),
            handles,
        }
    }

    /// Writes what no line holds yet, before the broker ends.
    pub async fn farewell(&self) {
        for line in self.opened.lock().await.rest() {
            self.handles.ledger.submit(entry(line));
        }
    }

    async fn passed(self: &Arc<Self>, mut request: Request<Incoming>) -> Result<Response, Refusal> {
        let (host, port) = tunnel::asked_for(request.method(), request.uri())?;
        self.handles.ledger.is_open()?;
        let (at, (name, place)) = self.judge(&host, port)?;
        let held = self.at_once.clone().try_acquire_owned().map_err(|_| {
            let message = format!("{MOST_AT_ONCE} connections are open");
            Refusal::new(503, "too_many_tunnels", message, "wait until one closes").after(5)
        })?;
        let tunnelled = request.method() == Method::CONNECT;
        let destination = self.destination(tunnelled, place, &host, port).await?;
        let target = tunnel::target(&host, port);
        let line = Line {
            channel: name.clone(),
            method: request.method().to_string(),
            path: target.clone(),
            ..Line::default()
        };
        self.note(at, line).await?;
        let outer = destination.connect(&target).await.map_err(|error| unreachable(&error))?;
        if !tunnelled {
            let answer = passing::plain(outer, request, MOST).await?;
            return Ok(answer.map(|body| {
                Body::new(body.map_frame(move |frame| {
                    let _kept = &held;
                    frame
                }))
            }));
        }
        let (channels, upgrade) = (self.clone(), hyper::upgrade::on(&mut request));
        tokio::spawn(async move {
            let (mut passed, mut outer) = (Passed::default(), outer);
            if let Ok(inner) = upgrade.await {
                tunnel::both_ways(&mut TokioIo::new(inner), &mut outer, MOST, &mut passed).await;
            }
            channels.opened.lock().await.carried(at, passed.bytes_out, passed.bytes_in);
            drop(held);
        });
        Ok(Response::new(Body::empty()))
    }

    /// The place that a request is for, by its number; refuses any other host.
    fn judge(&self, host: &str, port: u16) -> Result<(usize, &(String, Place)), Refusal> {
        let found = self.places.iter().enumerate().find(|(_, (_, place))| place.fits(host, port));
        found.ok_or_else(|| {
            let all: Vec<String> =
                self.places.iter().map(|(_, place)| tunnel::target(&place.host, place.port)).collect();
            let message = format!("{} belongs to no channel", tunnel::target(host, port));
            let hint = match all.as_slice() {
                [] => "the owner names channels in owner.toml, as [channels.telegram]".to_owned(),
                all => format!("the channels of owner.toml reach {}", all.join(", ")),
            };
            Refusal::new(403, "refused_host", message, hint)
        })
    }

    /// Where a place is: what the owner wrote may be on this machine, and a platform's own host only in public.
    async fn destination(
        &self,
        tunnelled: bool,
        place: &Place,
        host: &str,
        port: u16,
    ) -> Result<Destination, Refusal> {
        if !hosts::is_loopback(host)
            && let Some(proxy) = Destination::through(&self.proxies, tunnelled, host, port)
        {
            return Ok(proxy);
        }
        let furthest = if place.is_owners { Reach::Loopback } else { Reach::Public };
        let Handles { resolver, own_port, .. } = &*self.handles;
        let hint = "a platform is in public; a server of the owner's own is named by url, imap and smtp in owner.toml";
        within(host, port, furthest, *resolver, own_port, hint).await.map(Destination::To)
    }

    /// Counts a connection to a place; the first of an hour is on disk when this returns.
    async fn note(&self, at: usize, line: Line) -> Result<(), Closed> {
        let mut opened = self.opened.lock().await;
        let now = self.handles.clock.instant();
        if let Some(line) = opened.opens(at, line, now) {
            self.handles.ledger.append(entry(line.clone())).await?;
            opened.written(at, line, now);
        }
        Ok(())
    }

    /// Writes down a message before it leaves.
    async fn leaves(&self, leaving: Leaving) -> Result<(), Refusal> {
        let Leaving { channel, chat, kind, bytes, sha256 } = leaving;
        if !self.places.iter().any(|(name, _)| *name == channel) {
            let hint = "the owner names channels in owner.toml, as [channels.telegram]";
            return Err(Refusal::new(403, "no_channel", "there is no such channel", hint));
        }
        self.count(&channel)?;
        let brief = |text: &str| self.handles.secrets.scrub(&text.chars().take(200).collect::<String>());
        let entry = Entry {
            event: "message".into(),
            service: channel,
            method: brief(&kind),
            path: brief(&chat),
            bytes_out: bytes,
            decision: "allow".into(),
            note: brief(&sha256),
            ..Entry::default()
        };
        Ok(self.handles.ledger.append(entry).await?)
    }

    /// Counts a message; refused if there were too many within the hour.
    fn count(&self, channel: &str) -> Result<(), Refusal> {
        let (mut sent, now) = (lock(&self.sent), self.handles.clock.instant());
        let (since, count) = sent.entry(channel.to_owned()).or_insert((now, 0));
        if now.duration_since(*since) >= HOUR {
            (*since, *count) = (now, 0);
        }
        if *count >= MOST_MESSAGES {
            let left = HOUR.saturating_sub(now.duration_since(*since)).as_secs() + 1;
            let message = format!("{MOST_MESSAGES} messages left by this channel within the hour");
            return Err(Refusal::new(429, "too_many_messages", message, "the rest waits").after(left));
        }
        *count += 1;
        Ok(())
    }

    async fn tell(&self, method: &Method, uri: &Uri, refusal: &Refusal) {
        let place: String = uri.authority().map_or("", |place| place.as_str()).chars().take(200).collect();
        let line = Line {
            channel: "channels".to_owned(),
            method: method.to_string(),
            path: self.handles.secrets.scrub(&place),
            ..Line::default()
        };
        let entry = Entry { decision: refusal.kind.into(), ..entry(line) };
        let _ = self.handles.ledger.refused(entry).await;
    }
}

fn entry(line: Line) -> Entry {
    Entry {
        event: "channel".into(),
        service: line.channel,
        method: line.method,
        path: line.path,
        bytes_out: line.bytes_out,
        bytes_in: line.bytes_in,
        decision: "allow".into(),
        count: (line.count > 1).then_some(line.count),
        ..Entry::default()
    }
}
