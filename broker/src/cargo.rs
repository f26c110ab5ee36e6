//! The proxy for cargo: tunnels and plain requests, only to the hosts that crates come from.
//!
//! Invariant: a host is reached only if the owner's cargo names it, at a checked address; the taint is
//! set before the first byte comes back; each tunnel and each refusal is a line in the ledger.

pub mod carried;
pub mod registries;

use crate::cargo::registries::{Place, Registries};
use crate::door::callers::Caller;
use crate::ground::hosts::{self, Reach};
use crate::ground::refusal::Refusal;
use crate::handles::Handles;
use crate::ledger::Entry;
use crate::net::resolve::{resolve, within};
use crate::net::tunnel::{self, Passed, host_of, passed_on};
use crate::net::{self, tls};
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{Method, Request, Uri};
use hyper::body::Incoming;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Most tunnels at once; cargo needs one or two.
const MOST_TUNNELS: usize = 32;
/// Most plain requests at once; each is held in memory whole.
const MOST_PLAIN: usize = 4;
const MOST_PLAIN_BYTES: usize = 64 << 20;
const PLAIN: Duration = Duration::from_secs(60);
/// Dependencies of the proxy for cargo.
pub struct Cargo {
    pub registries: Registries,
    /// The owner's proxy settings.
    pub proxies: Matcher,
    pub at_once: AtOnce,
    pub handles: Arc<Handles>,
}

/// Bounds on simultaneous tunnels and requests.
pub struct AtOnce {
    tunnels: Arc<Semaphore>,
    plain: Semaphore,
}

impl Default for AtOnce {
    fn default() -> Self {
        Self { tunnels: Arc::new(Semaphore::new(MOST_TUNNELS)), plain: Semaphore::new(MOST_PLAIN) }
    }
}

impl Cargo {
    /// For the registries of the owner's cargo, by the proxies it uses.
    pub fn new(handles: Arc<Handles>) -> Self {
        let registries = Registries::of(&handles.house);
        let proxies = match registries.proxy() {
            Some(proxy) => {
                let none = ["no_proxy", "NO_PROXY"].iter().find_map(|name| std::env::var(name).ok());
                Matcher::builder().all(proxy).no(none.unwrap_or_default()).build()
            }
            None => Matcher::from_env(),
        };
        Self { registries, proxies, at_once: AtOnce::default(), handles }
    }

    fn proxy_for(&self, place: &Place) -> Option<Intercept> {
        let uri = tunnel::base(place.https, &place.host, place.port)?;
        self.proxies.intercept(&uri).filter(|_| !hosts::is_loopback(&place.host))
    }

    /// The registry a request is for; refuses any other host.
    fn judge(&self, https: bool, host: &str, port: u16) -> Result<Place, Refusal> {
        let places = self.registries.places();
        let fits = |place: &&Place| (place.https, place.host.as_str(), place.port) == (https, host, port);
        if let Some(place) = places.iter().find(fits) {
            return Ok(place.clone());
        }
        let mut reachable: Vec<String> =
            places.iter().map(|place| tunnel::target(&place.host, place.port)).collect();
        reachable.dedup();
        let reachable = match reachable.is_empty() {
            true => "no registry: the owner's cargo has no settings and no index yet".to_owned(),
            false => reachable.join(", "),
        };
        let hint = format!("cargo reaches {reachable}; pages are fetched with GET /web?url=…");
        let message = format!("{} is not a registry of cargo's", tunnel::target(host, port));
        Err(Refusal::new(403, "refused_host", message, hint))
    }

    /// Records what the guardian fetched before there was a broker, as the first line of a new ledger.
    pub fn note_fetched(&self, fetched: &str) {
        if self.handles.ledger.is_new() && !fetched.is_empty() {
            let note = format!("before there was a broker, by the owner: {fetched}");
            self.handles.ledger.submit(Entry { note, decision: "allow".into(), ..entry(Caller::Build) });
        }
    }
}

/// Answers a proxy request of a life or a build: a tunnel, or a plain request with a whole URL.
pub async fn proxy(cargo: Arc<Cargo>, caller: Caller, request: Request<Incoming>) -> Response {
    let tunnelled = request.method() == Method::CONNECT;
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let answer = match (cargo.handles.ledger.is_open(), tunnelled) {
        (Err(closed), _) => Err(closed.into()),
        (Ok(()), true) => open(&cargo, caller, request).await,
        (Ok(()), false) => plain(&cargo, caller, request).await,
    };
    answer.unwrap_or_else(|refusal| {
        let entry = Entry {
            method: method.to_string(),
            path: cargo.handles.secrets.scrub(&place_of(&uri)),
            decision: refusal.kind.into(),
            ..entry(caller)
        };
        tokio::spawn(async move {
            let _ = cargo.handles.ledger.refused(entry).await;
        });
        refusal.into_response()
    })
}

fn place_of(uri: &Uri) -> String {
    let place = format!("{}{}", uri.authority().map_or("", |authority| authority.as_str()), uri.path());
    place.chars().take(200).collect()
}

fn entry(caller: Caller) -> Entry {
    let note = if caller == Caller::Build { "build".to_owned() } else { String::new() };
    Entry {
        life: number(caller),
        note,
        event: "registry".into(),
        service: "registry".into(),
        ..Entry::default()
    }
}

/// Opens a tunnel: checked, connected and the taint set before the client hears that it is open.
async fn open(
    cargo: &Arc<Cargo>,
    caller: Caller,
    mut request: Request<Incoming>,
) -> Result<Response, Refusal> {
    let (host, port) = host_of(request.uri(), None)?;
    let place = cargo.judge(true, &host, port)?;
    let held = cargo.at_once.tunnels.clone().try_acquire_owned().map_err(|_| {
        Refusal::new(503, "too_many_tunnels", format!("{MOST_TUNNELS} are open"), "wait until one closes")
            .after(5)
    })?;
    let stream = match cargo.proxy_for(&place) {
        Some(proxy) => tunnel::chain(&proxy, &tunnel::target(&host, port)).await.map_err(unreachable)?,
        None => tunnel::dial(&checked(cargo, &place).await?).await.map_err(unreachable)?,
    };
    cargo.handles.taint.try_read_untrusted(number(caller))?;
    let upgrade = hyper::upgrade::on(&mut request);
    let cargo = cargo.clone();
    tokio::spawn(async move {
        let passed = match upgrade.await {
            Ok(inner) => carried::carry(TokioIo::new(inner), stream, &place.host).await,
            Err(_) => Passed { cut: "the client left", ..Passed::default() },
        };
        close(&cargo, caller, &place, passed, held).await;
    });
    Ok(Response::new(Body::empty()))
}

async fn close(cargo: &Cargo, caller: Caller, place: &Place, passed: Passed, held: OwnedSemaphorePermit) {
    cargo.handles.taint.read_untrusted(number(caller));
    let refused = passed.cut.starts_with("refused");
    let mut entry = Entry {
        method: "CONNECT".into(),
        path: tunnel::target(&place.host, place.port),
        bytes_out: passed.bytes_out,
        bytes_in: passed.bytes_in,
        status: Some(200),
        decision: if refused { passed.cut } else { "allow" }.into(),
        ..entry(caller)
    };
    if !refused && !passed.cut.is_empty() {
        entry.note = format!("{} {}", entry.note, passed.cut).trim().to_owned();
    }
    if let Err(closed) = cargo.handles.ledger.append(entry).await {
        tracing::error!("a tunnel could not be written down: {}", closed.0);
    }
    drop(held);
}

/// Passes on a plain request: a registry on this machine or in the owner's network may be without TLS.
async fn plain(cargo: &Arc<Cargo>, caller: Caller, request: Request<Incoming>) -> Result<Response, Refusal> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) || request.uri().scheme_str() != Some("http")
    {
        let hint = "over plain http crates are only fetched: GET or HEAD";
        let message = format!("{} is not passed on", request.method());
        return Err(Refusal::new(403, "refused_method", message, hint));
    }
    let (host, port) = host_of(request.uri(), Some(80))?;
    let place = cargo.judge(false, &host, port)?;
    let _held = cargo.at_once.plain.acquire().await;
    let (method, url) = (request.method().clone(), request.uri().to_string());
    let client = client(cargo, &place).await?;
    cargo.handles.taint.try_read_untrusted(number(caller))?;
    let sent = client.request(method.clone(), url).headers(passed_on(request.headers())).send().await;
    let mut answer = sent.map_err(|error| broke(&error))?;
    let mut bytes = Vec::new();
    if net::read_most(&mut answer, MOST_PLAIN_BYTES, &mut bytes).await.map_err(|error| broke(&error))? {
        return Err(unreachable(anyhow::anyhow!("its answer is larger than {MOST_PLAIN_BYTES} bytes")));
    }
    let entry = Entry {
        method: method.to_string(),
        path: tunnel::target(&host, port) + request.uri().path(),
        bytes_in: bytes.len() as u64,
        status: Some(answer.status().as_u16()),
        decision: "allow".into(),
        ..entry(caller)
    };
    cargo.handles.ledger.append(entry).await?;
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = answer.status();
    *response.headers_mut() = passed_on(answer.headers());
    Ok(response)
}

/// The client for plain requests to a registry: by the owner's proxy, else to the addresses that were checked.
async fn client(cargo: &Cargo, place: &Place) -> Result<reqwest::Client, Refusal> {
    let client = tls::client().map_err(unreachable)?.no_gzip().timeout(PLAIN);
    let client = match cargo.proxy_for(place) {
        Some(proxy) => {
            let all = reqwest::Proxy::all(proxy.uri().to_string()).map_err(|error| broke(&error))?;
            let pass = proxy.basic_auth().cloned();
            client.proxy(pass.into_iter().fold(all, reqwest::Proxy::custom_http_auth))
        }
        None => client.no_proxy().resolve_to_addrs(&place.host, &checked(cargo, place).await?),
    };
    client.build().map_err(|error| broke(&error))
}

fn broke(error: &reqwest::Error) -> Refusal {
    let why = if error.is_timeout() { "no answer in time".to_owned() } else { net::told(error) };
    unreachable(anyhow::anyhow!(why))
}

/// Number of the life; 0 for a build: lives read what builds fetched, and what their programs wrote.
fn number(caller: Caller) -> u64 {
    match caller {
        Caller::Life(life) => life,
        Caller::Build | Caller::Channels => 0,
    }
}

/// Resolves the name once, and checks its addresses.
async fn checked(cargo: &Cargo, place: &Place) -> Result<Vec<SocketAddr>, Refusal> {
    let Handles { resolver, own_port, .. } = &*cargo.handles;
    let furthest = match &place.index {
        Some(index) => {
            let index = resolve(index, place.port).await?;
            index.iter().map(|to| resolver.reach(to.ip())).min().unwrap_or(Reach::Public)
        }
        None => place.furthest,
    };
    let hint = "only the owner can name a registry in a private network, in cargo's own settings";
    within(&place.host, place.port, furthest, *resolver, own_port, hint).await
}

fn unreachable(error: anyhow::Error) -> Refusal {
    Refusal::new(502, "unreachable", format!("{error:#}"), "try again later; offline builds need nothing")
}
