//! The proxy of MCP servers' programs that reach the network by nothing else: public addresses, judged as pages are.
//!
//! Invariant: a connection goes to an address that was judged after its name was resolved, once; a host is in the ledger
//! before anything is sent to it. The listener lies in the program's own network, so nobody else reaches it.
//! Behind the owner's proxy names are resolved there, and only what a request spells out is judged.

mod judge;

use crate::ground::refusal::Refusal;
use crate::handles::Handles;
use crate::ledger::Entry;
use crate::net::passing::{self, MOST_HELD_BYTES, unreachable};
use crate::net::tunnel::{self, Most, Passed};
use crate::policy;
use anyhow::Context;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use house::mutex::lock;
use http::{Method, Request, Uri};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Most connections at once; more wait until one ends.
const MOST_AT_ONCE: usize = 64;
/// Longest life of a connection, and of the head of a request.
const LONGEST: Duration = Duration::from_secs(900);
const HEAD: Duration = Duration::from_secs(20);
/// Most bytes of one connection.
const MOST: Most = Most { out: 64 << 20, back: 1 << 30, silence: tunnel::IDLE };
/// Most hosts within an hour: a name that is looked up carries data out too.
const MOST_HOSTS: usize = 1_000;
const HOUR: Duration = Duration::from_secs(3_600);
/// Most refusals that are kept for the next answer.
const MOST_TOLD: usize = 5;

/// Names and the addresses they are taken for, on this machine too: for tests, by whoever starts the broker by hand.
pub type Names = BTreeMap<String, IpAddr>;

pub struct Forward {
    /// Name of the server, in records.
    server: String,
    web: policy::Web,
    names: OnceLock<Names>,
    proxies: Matcher,
    hosts: Mutex<BTreeMap<String, Seen>>,
    refused: Mutex<Vec<String>>,
    handles: Arc<Handles>,
}

/// A host that was asked for within the hour.
struct Seen {
    at: Instant,
    /// Whether it is in the ledger.
    noted: bool,
}

/// A tunnel that begins when its client was answered.
struct Tunnel {
    upgrade: OnUpgrade,
    outer: TcpStream,
}

impl Forward {
    pub fn new(server: &str, web: &policy::Web, handles: &Arc<Handles>) -> Self {
        Self {
            server: server.to_owned(),
            // A program that obeys whatever page it shows does not reach the owner's own network.
            web: policy::Web { allow_private: false, ..web.clone() },
            names: OnceLock::new(),
            proxies: Matcher::from_env(),
            hosts: Mutex::default(),
            refused: Mutex::default(),
            handles: handles.clone(),
        }
    }

    /// Takes these names for these addresses; once, before it serves.
    pub fn know(&self, names: Names) {
        let _ = self.names.set(names);
    }

    /// Takes the refusals since it was last asked, a line each.
    pub fn refused(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.refused))
    }

    /// Serves until it is dropped; connections end with it.
    pub async fn serve(self: Arc<Self>, listener: TcpListener) {
        let places = Arc::new(Semaphore::new(MOST_AT_ONCE));
        let mut connections = JoinSet::new();
        while let Ok(place) = places.clone().acquire_owned().await {
            while connections.try_join_next().is_some() {}
            match listener.accept().await {
                Ok((stream, _)) => {
                    let connection = timeout(LONGEST, self.clone().converse(stream));
                    connections.spawn(async move {
                        let _ = connection.await;
                        drop(place);
                    });
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    /// Answers a request, and carries the tunnel that it may become.
    async fn converse(self: Arc<Self>, stream: TcpStream) {
        let opened: Arc<Mutex<Option<Tunnel>>> = Arc::default();
        let service = service_fn(|request: Request<Incoming>| {
            let (forward, opened) = (self.clone(), opened.clone());
            async move { Ok::<_, Infallible>(forward.answer(request, &opened).await) }
        });
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .max_buf_size(MOST_HELD_BYTES)
            .keep_alive(false)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        if served.await.is_err() {
            return;
        }
        let Some(mut tunnel) = lock(&opened).take() else { return };
        if let Ok(inner) = tunnel.upgrade.await {
            let mut inner = TokioIo::new(inner);
            tunnel::both_ways(&mut inner, &mut tunnel.outer, MOST, &mut Passed::default()).await;
        }
    }

    async fn answer(&self, mut request: Request<Incoming>, opened: &Mutex<Option<Tunnel>>) -> Response {
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let answer = if method == Method::CONNECT {
            let outer = self.reached(&method, &uri).await;
            outer.map(|outer| {
                *lock(opened) = Some(Tunnel { upgrade: hyper::upgrade::on(&mut request), outer });
                Response::new(Body::empty())
            })
        } else {
            match self.reached(&method, &uri).await {
                Ok(outer) => passing::plain(outer, request, MOST).await,
                Err(refusal) => Err(refusal),
            }
        };
        match answer {
            Ok(answer) => answer,
            Err(refusal) => {
                self.tell(&method, &uri, &refusal).await;
                refusal.into_response()
            }
        }
    }

    /// A connection to the host that a request is for: counted, judged, written down, made.
    async fn reached(&self, method: &Method, uri: &Uri) -> Result<TcpStream, Refusal> {
        let (host, port) = tunnel::asked_for(method, uri)?;
        self.handles.ledger.is_open()?;
        self.count(&host)?;
        let destination = self.judged(method == Method::CONNECT, &host, port).await?;
        if !lock(&self.hosts).get(&host).is_some_and(|seen| seen.noted) {
            let entry =
                Entry { decision: "allow".into(), ..self.entry(method, &tunnel::target(&host, port)) };
            self.handles.ledger.append(entry).await?;
            lock(&self.hosts).entry(host.clone()).and_modify(|seen| seen.noted = true);
        }
        destination.connect(&tunnel::target(&host, port)).await.map_err(|error| unreachable(&error))
    }

    /// Counts a host; refused if there were too many within the hour.
    fn count(&self, host: &str) -> Result<(), Refusal> {
        let mut hosts = lock(&self.hosts);
        let now = self.handles.clock.instant();
        hosts.retain(|_, seen| now.duration_since(seen.at) < HOUR);
        if hosts.len() >= MOST_HOSTS && !hosts.contains_key(host) {
            let message = format!("{MOST_HOSTS} hosts were asked for within the hour");
            return Err(Refusal::new(429, "too_many_hosts", message, "go on with those it knows, or later"));
        }
        hosts.entry(host.to_owned()).or_insert_with(|| Seen { at: now, noted: false });
        Ok(())
    }

    /// Notes a refusal in the ledger and for the next answer of the program.
    async fn tell(&self, method: &Method, uri: &Uri, refusal: &Refusal) {
        let place: String = uri.authority().map_or("", |place| place.as_str()).chars().take(200).collect();
        let place = self.handles.secrets.scrub(&place);
        let entry = Entry { decision: refusal.kind.into(), ..self.entry(method, &place) };
        let _ = self.handles.ledger.refused(entry).await;
        let mut refused = lock(&self.refused);
        let line = format!("{place}: {}", refusal.message);
        if refused.len() < MOST_TOLD && !refused.contains(&line) {
            refused.push(line);
        }
    }

    fn entry(&self, method: &Method, place: &str) -> Entry {
        Entry {
            event: "fetch".into(),
            service: self.server.clone(),
            method: method.to_string(),
            path: place.to_owned(),
            note: "by its program".into(),
            ..Entry::default()
        }
    }
}

/// The listener of a program's own network, as the stage that became the program sent it. Waits.
pub fn taken(socket: &UnixStream) -> std::io::Result<std::net::TcpListener> {
    let received = walls::network::receive(socket.as_raw_fd()).context("its program has ended");
    let mut received = received.map_err(std::io::Error::other)?.into_iter();
    let listener = received.next().map(std::net::TcpListener::from);
    let listener = listener.ok_or_else(|| std::io::Error::other("its walls could not be put up"))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}
