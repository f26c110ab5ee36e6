//! The way in from beyond this machine: TLS, a name that is this page's, and a session.

use crate::certificate::Certificate;
use crate::passkeys::Passkeys;
use crate::password::Kept;
use crate::seats::{By, DAY_MS, KNOWN_MS, LONGEST_MS, Seats, Session, digest};
use crate::stored::{self, Stored};
use crate::tls::Tls;
use crate::{sessions_page, sign_in, standing};
use anyhow::{Context, Result, bail};
use axum::response::Response;
use axum::{Extension, Router};
use console::page::Server;
use console::page::entrance::{Admitted, Bytes, Ends, Entrance, Opening};
use console::page::frame::see;
use console::page::guard::{Called, OPEN, Refusal, called_so, cookies, from_here, plain_form};
use house::clock::{Millis, wall_ms};
use house::files::{self, Mark};
use house::printable::hex;
use house::settings::page::Page;
use house::{House, terminal};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use maud::Markup;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpStream;

/// Thirty days, as long as a session; for the owner's certificate alone: a browser that once took this leads nobody past
/// a warning any more (RFC 6797, section 8.4), as one that was made here has it.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=2592000");
const SIGN_IN: &str = "Sign in anew; then do it once more.";

/// All of this way in that requests share.
pub struct Phone {
    pub house: House,
    pub page: Page,
    pub stored: Stored,
    pub passkeys: Option<Passkeys>,
    /// One hash at a time: each takes 19 MiB and a processor.
    pub hashing: tokio::sync::Mutex<()>,
    tls: Tls,
    port: u16,
    seats: Mutex<(Option<Mark>, Seats)>,
}

/// The way in, as the server has it.
pub struct Way(pub Arc<Phone>);

impl Phone {
    /// Serves the page until a signal.
    pub fn serve(house: &House, page: Page) -> Result<()> {
        let listen = page.listens().context("owner.toml has no [page] listen")?;
        let stored = Stored::of(house);
        let certificate = Certificate::of(&page, &stored)?;
        let bound = TcpListener::bind(listen);
        let listener =
            bound.with_context(|| format!("{listen} cannot be had: [page] listen may name another port"))?;
        let at = listener.local_addr().context("failed to learn the port")?;
        let phone = Arc::new(Self::new(house, page, stored, &certificate, at.port())?);
        let (told, of) = (phone.clone(), certificate);
        Server::new(house, Arc::new(Way(phone)))?.run(listener, || {
            if let Err(error) = standing::tell(&told.stored, &told.page, at, &of) {
                terminal::error(&format!("page: where it listens cannot be told: {error:#}"));
            }
            terminal::error(&format!("page: it listens at {at}, SHA-256 {}", of.fingerprint));
        })
    }

    fn new(house: &House, page: Page, stored: Stored, certificate: &Certificate, port: u16) -> Result<Self> {
        let tls = Tls::new(&page, &stored, certificate)?;
        let passkeys = page.host.as_deref().and_then(|host| Passkeys::of(host, port));
        let (hashing, seats) = (tokio::sync::Mutex::default(), Mutex::default());
        Ok(Self { house: house.clone(), page, stored, passkeys, hashing, tls, port, seats })
    }

    /// Works with who is signed in, as it stands in the file now.
    pub fn with_seats<T>(&self, work: impl FnOnce(&Seats) -> T) -> T {
        let mark = files::mark(&self.stored.path(stored::SEATS));
        let mut held = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        if held.0 != mark {
            *held = (mark, if mark.is_some() { self.stored.read(stored::SEATS) } else { Seats::default() });
        }
        work(&held.1)
    }

    /// The name of a cookie: of one house's page, taken by browsers from this host over TLS alone.
    fn cookie(&self, what: &str) -> String {
        format!("__Host-feral-{what}{}", self.port)
    }

    /// The digest of the cookie that has this name and is somebody's.
    fn given(
        &self,
        headers: &HeaderMap,
        what: &str,
        is_one: impl Fn(&Seats, &str) -> bool,
    ) -> Option<String> {
        let name = self.cookie(what);
        let mut digests = cookies(headers, &name).map(digest);
        digests.find(|digest| self.with_seats(|seats| is_one(seats, digest)))
    }

    /// The digest of the session that a request belongs to.
    pub fn session(&self, headers: &HeaderMap) -> Option<String> {
        self.given(headers, "", |seats, digest| seats.of(digest, wall_ms()).is_some())
    }

    /// The digest of the cookie of a browser that signed in before.
    pub fn known(&self, headers: &HeaderMap) -> Option<String> {
        self.given(headers, "known-", |seats, digest| seats.knows(digest, wall_ms()))
    }

    /// Begins a session, which is on the disk when this returns; the answer that hands it over. `by_hash`: the hash of
    /// the password that was given, which may have been changed since it was looked at.
    pub fn begin(
        &self,
        headers: &HeaderMap,
        from: IpAddr,
        by: By,
        by_hash: Option<&str>,
    ) -> Result<Response> {
        let (cookie, browser, now_ms) = (hex(&files::random()?), hex(&files::random()?), wall_ms());
        let session = Session {
            id: digest(&cookie).chars().take(8).collect(),
            digest: digest(&cookie),
            since_ms: now_ms,
            seen_ms: now_ms,
            by,
            browser: sign_in::browser(headers),
            from: from.to_canonical().to_string(),
        };
        let (had, known) = (self.session(headers), digest(&browser));
        self.stored.alone(|| {
            if by_hash.is_some_and(|hash| self.stored.read::<Kept>(stored::PASSWORD).hash != hash) {
                bail!("the password was changed just now");
            }
            let mut seats: Seats = self.stored.read(stored::SEATS);
            seats.begin(session, had.as_deref(), &known);
            self.stored.write(stored::SEATS, &serde_json::to_vec(&seats)?)
        })?;
        let mut answer = see(if by == By::Link { "/sessions" } else { "/" });
        self.set(answer.headers_mut(), "", &cookie, LONGEST_MS);
        self.set(answer.headers_mut(), "known-", &browser, KNOWN_MS);
        Ok(answer)
    }

    /// Has the browser keep a cookie for so long, or forget it.
    fn set(&self, headers: &mut HeaderMap, what: &str, value: &str, longest_ms: Millis) {
        let (name, longest_s) = (self.cookie(what), longest_ms / 1_000);
        let set = format!("{name}={value}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age={longest_s}");
        if let Ok(set) = HeaderValue::from_str(&set) {
            headers.append(header::SET_COOKIE, set);
        }
    }

    /// The answer to a browser that is signed out: what it holds of the page goes, in its history too.
    pub fn signed_out(&self) -> Response {
        let mut answer = see("/sign-in");
        self.set(answer.headers_mut(), "", "", 0);
        let clear = HeaderName::from_static("clear-site-data");
        answer.headers_mut().insert(clear, HeaderValue::from_static("\"cache\""));
        answer
    }

    fn judged(&self, asked: &Parts) -> Result<Admitted, Refusal> {
        let here = asked.extensions.get::<Ends>().map(|ends| ends.here.ip().to_canonical());
        let here = here.map(|ip| if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() });
        let names: Vec<String> = here.into_iter().chain(self.page.host.clone()).collect();
        let called = Called {
            scheme: "https://",
            names: &names,
            why: "This page is asked for by a name or address that is not its own.",
            what_to_do: "Open it by this machine's own address. Where a name, a router or a proxy stands between, the \
                name that browsers write has to be `host` under [page] in owner.toml.",
        };
        let host = called_so(asked, &called)?;
        let (path, is_read) = (asked.uri.path(), asked.method != Method::POST);
        // As by the link of `serve`, another site's link may lead to the single-use link's page, and nowhere else.
        from_here(asked, &called, host, is_read && path == sign_in::INVITED)?;
        plain_form(asked)?;
        if is_read && OPEN.contains(&path) || sign_in::PATHS.contains(&path) {
            return Ok(Admitted::Open);
        }
        let Some(session) = self.session(&asked.headers) else {
            if is_read {
                return Ok(Admitted::Answered(Box::new(see("/sign-in")), false));
            }
            let why = "This browser is not signed in, or its session has ended.";
            return Err(Refusal { status: StatusCode::FORBIDDEN, why, what_to_do: SIGN_IN });
        };
        self.note(&session);
        Ok(Admitted::In(session))
    }

    /// Notes that a session is used, now and then; nobody waits for it.
    fn note(&self, digest: &str) {
        let now_ms = wall_ms();
        if self.with_seats(|seats| seats.of(digest, now_ms).is_some_and(|one| one.is_noted_long_ago(now_ms)))
        {
            let (stored, digest) = (self.stored.clone(), digest.to_owned());
            tokio::task::spawn_blocking(move || {
                stored.change(stored::SEATS, |seats: &mut Seats| seats.note(&digest, now_ms))
            });
        }
    }
}

impl Entrance for Way {
    fn opened(&self, stream: TcpStream, _: Ends) -> Opening {
        let opening = self.0.tls.open(stream);
        Box::pin(async move { opening.await.map(|bytes| Box::new(bytes) as Box<dyn Bytes>) })
    }

    fn admits(&self, asked: &Parts) -> Admitted {
        self.0.judged(asked).unwrap_or_else(Admitted::Refused)
    }

    fn counts(&self, seal: &str) -> bool {
        self.0.with_seats(|seats| seats.of(seal, wall_ms()).is_some())
    }

    fn routes(&self) -> [Router; 2] {
        let open = sign_in::routes().merge(sessions_page::shown());
        [open, sessions_page::done()].map(|routes| routes.layer(Extension(self.0.clone())))
    }

    fn told(&self, server: &Server) -> Markup {
        sessions_page::told(server)
    }

    fn closes(&self, headers: &mut HeaderMap) {
        if self.0.page.cert.is_some() {
            headers.insert(header::STRICT_TRANSPORT_SECURITY, HSTS);
        }
    }
}

/// Where a page listens, as an address to open: by its name, else by an address of this machine's.
pub fn address(page: &Page, at: SocketAddr) -> String {
    let host = page.host.clone().unwrap_or_else(|| match at.ip() {
        ip if ip.is_unspecified() => "this machine's address".to_owned(),
        IpAddr::V6(ip) => format!("[{ip}]"),
        IpAddr::V4(ip) => ip.to_string(),
    });
    if at.port() == 443 { format!("https://{host}") } else { format!("https://{host}:{}", at.port()) }
}

/// Days of a span.
pub fn days(span_ms: Millis) -> Millis {
    span_ms / DAY_MS
}
