//! Streams events to browsers as they happen: each has a thread that waits for files to change, and sends the changes.
//!
//! Invariant: nothing of the creature's waits for it; a browser that takes nothing is let go.

use crate::feed;
use crate::feed::shown::Verbosity;
use crate::page::out::safe;
use crate::page::{Server, frame, link, under_way, views, waiting};
use crate::window::sources::{Changed, Sources};
use axum::Extension;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use house::moments;
use house::records::memory::Record;
use http::{HeaderValue, StatusCode};
use maud::Markup;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::collections::HashMap;
use std::convert::Infallible;
use std::io::PipeReader;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{self, error::TrySendError};

/// Time until files are looked at though nothing told of a change, and least time between two looks at what stands.
const SLOW_MS: u16 = 2_000;
const BETWEEN_MS: u16 = 40;
/// Time left to the writer of a record to sync it before all followers read it: else they slow it down, measurably, on
/// a machine of few processors.
const SYNCED: Duration = Duration::from_millis(8);
/// Events that may wait for a browser; and slow looks between two signs of life.
const MOST_EVENTS: usize = 256;
const LOOKS_A_SIGN: u32 = 5;

/// Begins to tell a browser; refused where too many follow already.
pub async fn follow(Extension(server): Extension<Arc<Server>>) -> Response {
    let Ok(place) = server.streams.clone().try_acquire_owned() else {
        let told = "as many browsers follow as there may be";
        return (StatusCode::SERVICE_UNAVAILABLE, told).into_response();
    };
    let (to, from) = mpsc::channel::<Bytes>(MOST_EVENTS);
    // Closed as soon as the browser has gone: its place is free at once, not after the next slow look.
    let Ok((gone, there)) = std::io::pipe() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let begun = std::thread::Builder::new().name("follow".into()).spawn(move || {
        Follower::new(server, to, gone).run();
        drop(place);
    });
    if begun.is_err() {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let told = stream::unfold((from, there), |(mut from, there)| async move {
        Some((Ok::<_, Infallible>(from.recv().await?), (from, there)))
    });
    let mut answer = frame::asset("text/event-stream", Body::from_stream(told));
    // Else nginx as it comes gathers some KiB before it hands any on (nginx.org, ngx_http_proxy_module, proxy_buffering).
    answer.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    answer
}

struct Follower {
    server: Arc<Server>,
    to: mpsc::Sender<Bytes>,
    gone: PipeReader,
    sources: Sources,
    state: Option<(u64, u64)>,
    /// Last text of each event: the same is not sent twice.
    said: HashMap<&'static str, String>,
    /// The asks and answers as they were told last.
    asks: Option<waiting::Marks>,
    switch: Option<views::now::Switch>,
}

/// The browser has gone, or takes nothing.
struct Gone;

impl Follower {
    fn new(server: Arc<Server>, to: mpsc::Sender<Bytes>, gone: PipeReader) -> Self {
        let (mut sources, _) = Sources::open(&server.house, None, Verbosity::Normal);
        // Rows that the page shows already.
        sources.to_end();
        let state = link::state(&server.house);
        Self { server, to, gone, sources, state, said: HashMap::new(), asks: None, switch: None }
    }

    fn run(mut self) {
        let (mut last_ms, mut looks, mut owes) = (0, 0, true);
        loop {
            let now_ms = house::clock::wall_ms();
            let is_slow = now_ms.abs_diff(last_ms) >= SLOW_MS.into();
            let told = if is_slow || (owes && now_ms.abs_diff(last_ms) >= BETWEEN_MS.into()) {
                (owes, last_ms) = (false, now_ms);
                self.stand(is_slow)
            } else {
                Ok(())
            };
            let more = told.and_then(|()| self.rows());
            let Ok(more) = more else { return };
            looks = if is_slow { looks + 1 } else { looks };
            if looks >= LOOKS_A_SIGN {
                looks = 0;
                if self.send(Bytes::from_static(b": here\n\n")).is_err() {
                    return;
                }
            }
            self.wait(match (more, owes) {
                (true, _) => 0,
                (false, true) => BETWEEN_MS,
                (false, false) => SLOW_MS,
            });
            if self.to.is_closed() {
                return;
            }
            owes |= self.sources.drain() != Changed::Nothing;
        }
    }

    fn wait(&self, timeout_ms: u16) {
        let changes = self.sources.changes().map(|changes| PollFd::new(changes, PollFlags::POLLIN));
        let gone = PollFd::new(self.gone.as_fd(), PollFlags::POLLIN);
        let mut asked: Vec<PollFd> = changes.into_iter().chain([gone]).collect();
        if poll(&mut asked, PollTimeout::from(timeout_ms)).is_ok_and(|ready| ready > 0) {
            std::thread::sleep(SYNCED);
        }
    }

    /// Sends the status and the thought under way, and a notice where this is no longer the same house.
    fn stand(&mut self, is_slow: bool) -> Result<(), Gone> {
        let state = link::state(&self.server.house);
        if state != self.state {
            self.state = state;
            (self.sources, _) = Sources::open(&self.server.house, None, Verbosity::Normal);
            let told = match state {
                Some(_) => {
                    "Other state was put in the place of this house's: what you see from here on is of that."
                }
                None => "This house's state is gone: .self/ is not there.",
            };
            self.say("notice", told)?;
        }
        if is_slow && !self.server.entrance.counts(&self.server.seal) {
            self.say("notice", "This browser is out. Open the new link, or sign in anew.")?;
            return Err(Gone);
        }
        self.sources.look(is_slow);
        let known = &self.sources.known;
        let status = one_line(&views::now::status(known, moments::now(), &self.server.place));
        let thinking = safe(known.streams());
        let reply = one_line(&views::talk::reply(under_way::read(&self.server.house, known).as_ref()));
        let switch = views::now::applies(known);
        // It has a new token each time, and is sent only where another one applies.
        let switched = (self.switch.replace(switch) != Some(switch))
            .then(|| one_line(&views::now::switch(&self.server, known)));
        self.say("status", &status)?;
        self.say("thinking", &thinking)?;
        self.say("reply", &reply)?;
        if let Some(switched) = switched {
            self.send(event("switch", &switched))?;
        }
        self.asks()
    }

    /// Sends the number of waiting asks, and the asks, where asks or answers have changed.
    fn asks(&mut self) -> Result<(), Gone> {
        let marks = waiting::marks(&self.server.house);
        if self.asks.replace(marks) == Some(marks) {
            return Ok(());
        }
        let count = self.server.waiting.count(&self.server.house);
        self.say("count", &count.to_string())?;
        // The cards have new tokens each time, and are sent only where they differ otherwise.
        self.send(event("asked", &one_line(&views::talk::asked_of_you(&self.server))))
    }

    /// Sends the records remembered since; returns whether there are more at once.
    fn rows(&mut self) -> Result<bool, Gone> {
        let seen = self.sources.records();
        for record in &seen.shown {
            if let Some(row) = feed::row(record) {
                self.send(event("row", &one_line(&views::now::row(record, &row))))?;
            }
            if let Some(message) = Record(record).message() {
                self.send(event("said", &one_line(&views::talk::message(message, Record(record).at()))))?;
            }
        }
        Ok(seen.more)
    }

    fn say(&mut self, name: &'static str, told: &str) -> Result<(), Gone> {
        if self.said.get(name).is_some_and(|said| said == told) {
            return Ok(());
        }
        self.said.insert(name, told.to_owned());
        self.send(event(name, told))
    }

    fn send(&self, bytes: Bytes) -> Result<(), Gone> {
        match self.to.try_send(bytes) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_) | TrySendError::Closed(_)) => Err(Gone),
        }
    }
}

fn one_line(markup: &Markup) -> String {
    safe(&markup.0)
}

/// An event as the wire has it: a line of data for each line of the text.
fn event(name: &str, told: &str) -> Bytes {
    let data: String = told.split('\n').map(|line| format!("data: {line}\n")).collect();
    format!("event: {name}\n{data}\n").into()
}
