//! The way back from the owner's browser: a page on this machine, or its address pasted at the terminal.

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::Html;
use axum::routing::get;
use reqwest::Url;
use std::io::{BufRead, Read};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{self, Receiver, Sender};

const PATH: &str = "/callback";
/// Most bytes of a pasted line.
const MOST_LINE: u64 = 16 << 10;

/// Where the browser is sent back to.
pub struct Way {
    listener: TcpListener,
    pub address: String,
}

/// Whether a way back belongs to the sign-in that waits.
pub type IsOurs = Arc<dyn Fn(&Url) -> bool + Send + Sync>;

impl Way {
    /// Listens for it on this machine alone; port 0 is any.
    pub async fn open(port: u16) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await;
        let listener = listener.with_context(|| format!("failed to listen on 127.0.0.1:{port}"))?;
        let address = format!("http://{}{PATH}", listener.local_addr()?);
        Ok(Self { listener, address })
    }

    pub fn port(&self) -> u16 {
        self.listener.local_addr().map(|at| at.port()).unwrap_or_default()
    }

    /// The ways back that belong to the sign-in, as browsers bring them.
    pub fn taken(self, is_ours: IsOurs) -> Receiver<Url> {
        let (send, taken) = mpsc::channel(1);
        let page = Page { address: self.address, is_ours, send };
        let pages = Router::new().route(PATH, get(came_back)).with_state(Arc::new(page));
        tokio::spawn(async move { axum::serve(self.listener, pages).await });
        taken
    }
}

struct Page {
    address: String,
    is_ours: IsOurs,
    send: Sender<Url>,
}

async fn came_back(State(page): State<Arc<Page>>, asked: Uri) -> (StatusCode, Html<&'static str>) {
    let back = Url::parse(&format!("{}?{}", page.address, asked.query().unwrap_or_default()));
    match back {
        Ok(back) if (page.is_ours)(&back) => match page.send.try_send(back) {
            Ok(()) => (StatusCode::OK, Html("<p>Thank you. Go on at the terminal; this page can be closed.")),
            Err(_) => (StatusCode::GONE, Html("<p>This sign-in is over.")),
        },
        _ => (StatusCode::BAD_REQUEST, Html("<p>This belongs to no sign-in that was begun here.")),
    }
}

/// Lines typed or pasted at the terminal; the thread ends with the program.
pub fn pasted() -> Receiver<String> {
    let (send, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        let mut line = String::new();
        while input.by_ref().take(MOST_LINE).read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
            if send.blocking_send(std::mem::take(&mut line).trim().to_owned()).is_err() {
                break;
            }
        }
    });
    lines
}
