//! The way in by the link: for browsers of this machine, over loopback, as whoever has the token.

use crate::commands::options;
use crate::page::entrance::{Admitted, Bytes, Ends, Entrance, Opening};
use crate::page::form::button;
use crate::page::frame::{self, see};
use crate::page::guard::{Judged, judge};
use crate::page::link::Link;
use crate::page::{Server, acts};
use anyhow::{Context, Result};
use axum::Router;
use axum::response::Response;
use axum::routing::post;
use house::{House, terminal};
use http::request::Parts;
use http::{HeaderValue, header};
use maud::{Markup, html};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use tokio::net::TcpStream;

/// The link's token, and the port that is listened at.
pub struct Loopback {
    link: Arc<Link>,
    port: u16,
}

impl Loopback {
    pub fn new(link: Link, port: u16) -> Self {
        Self { link: Arc::new(link), port }
    }

    /// The link that leads in.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.link.token())
    }

    /// The name of the cookie that holds the token: of one house's page and no other's.
    fn cookie(&self) -> String {
        format!("feral-{}", self.port)
    }
}

/// An answer that hands its browser the token.
fn admitted(cookie: &str, token: &str, mut answer: Response) -> Response {
    let set = format!("{cookie}={token}; HttpOnly; SameSite=Strict; Path=/");
    if let Ok(set) = HeaderValue::from_str(&set) {
        answer.headers_mut().insert(header::SET_COOKIE, set);
    }
    answer
}

impl Entrance for Loopback {
    fn opened(&self, stream: TcpStream, _: Ends) -> Opening {
        Box::pin(async move { Some(Box::new(stream) as Box<dyn Bytes>) })
    }

    fn admits(&self, asked: &Parts) -> Admitted {
        let (token, cookie) = (self.link.token(), self.cookie());
        match judge(asked, &token, &cookie) {
            Judged::Passes => Admitted::In(token),
            Judged::Open => Admitted::Open,
            Judged::Refused(refusal) => Admitted::Refused(refusal),
            Judged::Enters { from_elsewhere } => {
                let leads = if from_elsewhere { frame::entry() } else { see("/") };
                Admitted::Answered(Box::new(admitted(&cookie, &token, leads)), true)
            }
        }
    }

    fn counts(&self, seal: &str) -> bool {
        self.link.token() == seal
    }

    fn routes(&self) -> [Router; 2] {
        let (link, cookie) = (self.link.clone(), self.cookie());
        // Makes the link anew; the browser that asked keeps access, all others lose it.
        let anew = move || async move {
            match link.renew() {
                Ok(token) => admitted(&cookie, &token, see("/")),
                Err(error) => acts::failed("The link", "/", &error, &html! {}),
            }
        };
        [Router::new(), Router::new().route("/link/new", post(anew))]
    }

    fn told(&self, server: &Server) -> Markup {
        html! {
            details {
                summary { "The link to this page" }
                p { "Whoever has it can do what you can do here. A new one shuts out every browser but this." }
                (button(server, "/link/new", "Make a new link", &[]))
            }
        }
    }
}

/// Serves until it is asked to end; returns the exit status.
pub fn serve(house: &House, wanted: &options::Serve) -> Result<u8> {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, wanted.port));
    let listener = match bound {
        Ok(listener) => listener,
        Err(error) if wanted.new_link && error.kind() == std::io::ErrorKind::AddrInUse => {
            return renew(house, wanted.port);
        }
        Err(error) => {
            let other =
                terminal::typed(&format!("serve --port {}", wanted.port.saturating_add(1).max(1_024)));
            let told = format!("port {} cannot be had ({error}); another one: `{other}`", wanted.port);
            return Err(anyhow::anyhow!(told));
        }
    };
    let port = listener.local_addr().context("failed to learn the port")?.port();
    let entrance = Arc::new(Loopback::new(Link::open(house, wanted.new_link)?, port));
    let address = entrance.address();
    let served = Server::new(house, entrance)?.run(listener, || {
        terminal::words(&address);
        terminal::error(
            "The page of this house, for this machine's browsers: who has the link has the house. Ctrl-C ends it.",
        );
    });
    served.map(|()| 0)
}

/// Makes the link of a server that runs at this port anew: it looks at the file on each request.
fn renew(house: &House, port: u16) -> Result<u8> {
    let link = Link::open(house, true)?;
    terminal::words(&format!("http://127.0.0.1:{port}/?token={}", link.token()));
    terminal::error("The link is new: what was open by the old one is out. The server that runs goes on.");
    Ok(0)
}
