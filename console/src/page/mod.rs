//! `serve`: the owner's page in a browser on this machine: events, talk, asks, undo, and the past as a picture.
//!
//! It reads records and state and keeps nothing but its link's token and an index it can make anew; it does only what the
//! terminal could. Nothing waits for it, and it may be killed at any moment.

pub mod bars;
pub mod form;
pub mod frame;
pub mod guard;
pub mod link;
pub mod out;
pub mod spent;
pub mod tokens;
pub mod trace;
pub mod under_way;
pub mod views;
pub mod waiting;
pub mod wakes;

mod acts;
mod door;
mod past;
mod routes;
mod server;
mod stream;

use crate::commands::options;
use anyhow::{Context, Result};
use axum::response::Response;
use house::House;
use house::moments::Place;
use house::terminal;
use http::{HeaderValue, header};
use link::Link;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use tokens::Tokens;
use tokio::sync::Semaphore;

/// Most pages at once that read the present, that read far back, and browsers that follow events.
const MOST_LIGHT: usize = 4;
const MOST_HEAVY: usize = 2;
const MOST_STREAMS: usize = 8;
/// Threads that read files.
const MOST_THREADS: usize = MOST_LIGHT + MOST_HEAVY + 2;

/// State that all requests share.
pub struct Server {
    pub house: House,
    pub link: Link,
    pub tokens: Tokens,
    pub port: u16,
    pub place: Place,
    pub light: Arc<Semaphore>,
    pub heavy: Arc<Semaphore>,
    pub streams: Arc<Semaphore>,
    pub past: Arc<past::Past>,
    pub waiting: waiting::Waiting,
}

impl Server {
    /// The name of the cookie that holds the token: of one house's page and no other's.
    pub fn cookie(&self) -> String {
        format!("feral-{}", self.port)
    }

    /// The way in.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.link.token())
    }

    /// An answer that hands its browser the token.
    fn admitted(&self, token: &str, mut answer: Response) -> Response {
        let set = format!("{}={token}; HttpOnly; SameSite=Strict; Path=/", self.cookie());
        if let Ok(set) = HeaderValue::from_str(&set) {
            answer.headers_mut().insert(header::SET_COOKIE, set);
        }
        answer
    }

    /// A token for the act of this path.
    pub fn act(&self, path: &str) -> String {
        let made = self.tokens.make(path, &self.link.token(), house::clock::wall_ms());
        made.unwrap_or_default()
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
    listener.set_nonblocking(true).context("failed to listen without waiting")?;
    let port = listener.local_addr().context("failed to learn the port")?.port();
    let server = Server {
        house: house.clone(),
        link: Link::open(house, wanted.new_link)?,
        tokens: Tokens::new()?,
        port,
        place: Place::here(),
        light: Arc::new(Semaphore::new(MOST_LIGHT)),
        heavy: Arc::new(Semaphore::new(MOST_HEAVY)),
        streams: Arc::new(Semaphore::new(MOST_STREAMS)),
        past: past::Past::new(house),
        waiting: waiting::Waiting::default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(MOST_THREADS)
        .thread_keep_alive(std::time::Duration::from_secs(5))
        .build()
        .context("failed to begin")?;
    let address = server.address();
    let server = Arc::new(server);
    let served = runtime.block_on(server::run(server.clone(), listener, || {
        terminal::words(&address);
        terminal::error(
            "The page of this house, for this machine's browsers: who has the link has the house. Ctrl-C ends it.",
        );
    }));
    runtime.shutdown_background();
    served.map(|()| 0)
}

/// Makes the link of a server that runs at this port anew: it looks at the file on each request.
fn renew(house: &House, port: u16) -> Result<u8> {
    let link = Link::open(house, true)?;
    terminal::words(&format!("http://127.0.0.1:{port}/?token={}", link.token()));
    terminal::error("The link is new: what was open by the old one is out. The server that runs goes on.");
    Ok(0)
}
