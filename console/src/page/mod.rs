//! `serve`: the owner's page in a browser on this machine: events, talk, asks, undo, and the past as a picture.
//!
//! It reads records and state and keeps nothing but its link's token and an index it can make anew; it does only what the
//! terminal could. Nothing waits for it, and it may be killed at any moment.

pub mod acts;
pub mod app;
pub mod bars;
pub mod beyond;
pub mod entrance;
pub mod form;
pub mod frame;
pub mod guard;
pub mod link;
pub mod loopback;
pub mod out;
pub mod server;
pub mod spent;
pub mod tokens;
pub mod trace;
pub mod under_way;
pub mod views;
pub mod waiting;
pub mod wakes;

mod door;
mod past;
mod routes;
mod stream;

use anyhow::{Context, Result};
use entrance::Entrance;
use house::House;
use house::moments::Place;
use std::net::TcpListener;
use std::sync::Arc;
use tokens::Tokens;
use tokio::sync::Semaphore;

/// Most pages at once that read the present, that read far back, and browsers that follow events.
const MOST_LIGHT: usize = 4;
const MOST_HEAVY: usize = 2;
const MOST_STREAMS: usize = 8;
/// Threads that read files.
const MOST_THREADS: usize = MOST_LIGHT + MOST_HEAVY + 2;

/// State that all requests share, and the seal of one.
#[derive(Clone)]
pub struct Server {
    pub house: House,
    pub entrance: Arc<dyn Entrance>,
    /// Seal of the acts of the request that is answered; empty where nobody was let in.
    pub seal: String,
    pub tokens: Arc<Tokens>,
    pub place: Place,
    pub light: Arc<Semaphore>,
    pub heavy: Arc<Semaphore>,
    pub streams: Arc<Semaphore>,
    pub past: Arc<past::Past>,
    pub waiting: Arc<waiting::Waiting>,
}

impl Server {
    pub fn new(house: &House, entrance: Arc<dyn Entrance>) -> Result<Self> {
        Ok(Self {
            house: house.clone(),
            entrance,
            seal: String::new(),
            tokens: Arc::new(Tokens::new()?),
            place: Place::here(),
            light: Arc::new(Semaphore::new(MOST_LIGHT)),
            heavy: Arc::new(Semaphore::new(MOST_HEAVY)),
            streams: Arc::new(Semaphore::new(MOST_STREAMS)),
            past: past::Past::new(house),
            waiting: Arc::default(),
        })
    }

    /// As it is to a request that was let in.
    fn sealed(&self, seal: &str) -> Arc<Self> {
        Arc::new(Self { seal: seal.to_owned(), ..self.clone() })
    }

    /// A token for the act of this path.
    pub fn act(&self, path: &str) -> String {
        self.tokens.make(path, &self.seal, house::clock::wall_ms()).unwrap_or_default()
    }

    /// Serves until a signal; `begun` is called once it listens.
    pub fn run(self, listener: TcpListener, begun: impl FnOnce()) -> Result<()> {
        listener.set_nonblocking(true).context("failed to listen without waiting")?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(MOST_THREADS)
            .thread_keep_alive(std::time::Duration::from_secs(5))
            .build()
            .context("failed to begin")?;
        let served = runtime.block_on(server::run(self, listener, begun));
        runtime.shutdown_background();
        served
    }
}
