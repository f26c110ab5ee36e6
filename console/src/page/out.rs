//! A page on its way out: its head at once, its body in pieces from a thread that may read files; bounded in memory.
//!
//! Invariant: all text is spelled out before it leaves, so that no letter of the creature's steers what stands beside it.

use anyhow::Result;
use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use house::printable::{plain_spaces, spelled};
use http::StatusCode;
use maud::Markup;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc};

/// Bytes gathered before they leave, pieces that may wait, and how long a reader may take none of them.
const PIECE_BYTES: usize = 16 << 10;
const MOST_PIECES: usize = 16;
const PATIENCE: Duration = Duration::from_secs(20);
/// Longest wait of the status for a body that may say that the page is missing.
const MISSING_WAIT: Duration = Duration::from_millis(20);

enum Piece {
    Text(Bytes),
    /// There is no such thing: said before any text, or not at all.
    Missing,
}

/// Writer of a body.
pub struct Out {
    to: mpsc::Sender<Piece>,
    runtime: Handle,
    held: Vec<u8>,
}

/// Reasons why a page ends early.
#[derive(Debug)]
pub enum Ended {
    /// The reader has gone, or takes nothing.
    Gone,
    /// There is no such thing: said instead of it, with the status for that.
    Missing(String),
}

impl std::fmt::Display for Ended {
    fn fmt(&self, to: &mut std::fmt::Formatter) -> std::fmt::Result {
        to.write_str(match self {
            Self::Gone => "the reader has gone",
            Self::Missing(told) => told,
        })
    }
}

impl std::error::Error for Ended {}

/// Ends a page before its first text: there is no such thing.
pub fn missing(told: impl std::fmt::Display) -> anyhow::Error {
    Ended::Missing(format!("{told:#}")).into()
}

impl Out {
    /// Writes markup, every letter of it visible.
    pub fn html(&mut self, markup: &Markup) -> Result<()> {
        self.raw(&safe(&markup.0))
    }

    /// Writes text of a form's field or of a file as it is: escaped already, and shown by itself.
    pub fn raw(&mut self, text: &str) -> Result<()> {
        self.held.extend_from_slice(text.as_bytes());
        if self.held.len() >= PIECE_BYTES { self.flush() } else { Ok(()) }
    }

    /// Sends the text written so far.
    pub fn flush(&mut self) -> Result<()> {
        if self.held.is_empty() {
            return if self.to.is_closed() { Err(Ended::Gone.into()) } else { Ok(()) };
        }
        let piece = Piece::Text(std::mem::take(&mut self.held).into());
        self.send(piece)
    }

    /// Answers with the status for a missing page; the text that follows explains.
    pub fn missing(&mut self) -> Result<()> {
        self.send(Piece::Missing)
    }

    /// Whether the reader has gone.
    pub fn is_gone(&self) -> bool {
        self.to.is_closed()
    }

    fn send(&self, piece: Piece) -> Result<()> {
        let sent = async { tokio::time::timeout(PATIENCE, self.to.send(piece)).await };
        match self.runtime.block_on(sent) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Ended::Gone.into()),
        }
    }
}

impl std::io::Write for Out {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.held.extend_from_slice(bytes);
        if self.held.len() >= PIECE_BYTES {
            Out::flush(self).map_err(std::io::Error::other)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Out::flush(self).map_err(std::io::Error::other)
    }
}

/// Text with invisible characters spelled out.
pub fn safe(text: &str) -> String {
    let is_plain = |byte: &u8| matches!(byte, b'\n' | b' '..=b'~');
    if text.as_bytes().iter().all(is_plain) { text.to_owned() } else { spelled(&plain_spaces(text)) }
}

/// A body that begins with `head` and goes on with what `write` writes, on a thread of its own once there is a place;
/// and the status of the whole.
pub async fn body(
    head: String,
    places: Arc<Semaphore>,
    write: impl FnOnce(&mut Out) + Send + 'static,
) -> (StatusCode, Body) {
    let (to, mut from) = mpsc::channel(MOST_PIECES);
    let runtime = Handle::current();
    tokio::spawn(async move {
        let Ok(place) = places.acquire_owned().await else { return };
        if to.is_closed() {
            return;
        }
        tokio::task::spawn_blocking(move || {
            let mut out = Out { to, runtime, held: Vec::new() };
            write(&mut out);
            let _ = out.flush();
            drop(place);
        });
    });
    let first = tokio::time::timeout(MISSING_WAIT, from.recv()).await.ok().flatten();
    let (status, first) = match first {
        Some(Piece::Missing) => (StatusCode::NOT_FOUND, None),
        Some(Piece::Text(text)) => (StatusCode::OK, Some(text)),
        None => (StatusCode::OK, None),
    };
    let begin = [Some(Bytes::from(head)), first].into_iter().flatten().map(Ok::<_, Infallible>);
    let rest = stream::unfold(from, |mut from| async move {
        loop {
            match from.recv().await? {
                Piece::Text(text) => return Some((Ok::<_, Infallible>(text), from)),
                Piece::Missing => {}
            }
        }
    });
    let whole = futures_util::StreamExt::chain(stream::iter(begin), rest);
    (status, Body::from_stream(whole))
}
