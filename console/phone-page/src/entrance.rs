//! The way in from beyond this machine: TLS, a name that is this page's, and a session.

use crate::certificate::Certificate;
use crate::phone::Phone;
use crate::stored::Stored;
use crate::tls::Tls;
use crate::{sessions_page, sign_in, standing};
use anyhow::{Context, Result};
use axum::{Extension, Router};
use console::page::Server;
use console::page::entrance::{Admitted, Bytes, Ends, Entrance, Opening};
use console::page::frame::see;
use console::page::guard::{Called, OPEN, Refusal, called_so, from_here, plain_form};
use house::clock::wall_ms;
use house::settings::page::Page;
use house::{House, terminal};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use maud::Markup;
use std::net::TcpListener;
use std::sync::Arc;
use tokio::net::TcpStream;

/// Thirty days, as long as a session; for the owner's certificate alone: a browser that once took this leads nobody past
/// a warning any more (RFC 6797, section 8.4), as one that was made here has it.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=2592000");
const SIGN_IN: &str = "Sign in anew; then do it once more.";

/// The way in, as the server has it.
struct Way {
    phone: Arc<Phone>,
    tls: Tls,
}

/// Serves the page until a signal.
pub fn serve(house: &House, page: Page) -> Result<()> {
    let listen = page.listens().context("owner.toml has no [page] listen")?;
    let stored = Stored::of(house);
    let certificate = Certificate::of(&page, &stored)?;
    let bound = TcpListener::bind(listen);
    let listener =
        bound.with_context(|| format!("{listen} cannot be had: [page] listen may name another port"))?;
    let at = listener.local_addr().context("failed to learn the port")?;
    let tls = Tls::new(&page, &stored, &certificate)?;
    let phone = Arc::new(Phone::new(page, stored, at.port()));
    let told = phone.clone();
    Server::new(house, Arc::new(Way { phone, tls }))?.run(listener, || {
        if let Err(error) = standing::tell(&told.stored, &told.page, at, &certificate) {
            terminal::error(&format!("page: where it listens cannot be told: {error:#}"));
        }
        terminal::error(&format!("page: it listens at {at}, SHA-256 {}", certificate.fingerprint));
    })
}

impl Way {
    fn judged(&self, asked: &Parts) -> Result<Admitted, Refusal> {
        let here = asked.extensions.get::<Ends>().map(|ends| ends.here.ip().to_canonical());
        let here = here.map(|ip| if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() });
        let names: Vec<String> = here.into_iter().chain(self.phone.page.host.clone()).collect();
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
        let Some(session) = self.phone.session(&asked.headers) else {
            if is_read {
                return Ok(Admitted::Answered(Box::new(see("/sign-in")), false));
            }
            let why = "This browser is not signed in, or its session has ended.";
            return Err(Refusal { status: StatusCode::FORBIDDEN, why, what_to_do: SIGN_IN });
        };
        self.phone.note(&session);
        Ok(Admitted::In(session))
    }
}

impl Entrance for Way {
    fn opened(&self, stream: TcpStream, _: Ends) -> Opening {
        let opening = self.tls.open(stream);
        Box::pin(async move { opening.await.map(|bytes| Box::new(bytes) as Box<dyn Bytes>) })
    }

    fn admits(&self, asked: &Parts) -> Admitted {
        self.judged(asked).unwrap_or_else(Admitted::Refused)
    }

    fn counts(&self, seal: &str) -> bool {
        self.phone.with_seats(|seats| seats.of(seal, wall_ms()).is_some())
    }

    fn routes(&self) -> [Router; 2] {
        let open = sign_in::routes().merge(sessions_page::shown());
        [open, sessions_page::done()].map(|routes| routes.layer(Extension(self.phone.clone())))
    }

    fn told(&self, server: &Server) -> Markup {
        sessions_page::told(server)
    }

    fn closes(&self, headers: &mut HeaderMap) {
        if self.phone.page.cert.is_some() {
            headers.insert(header::STRICT_TRANSPORT_SECURITY, HSTS);
        }
    }
}
