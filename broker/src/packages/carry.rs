//! Request to a registry: an index page, held whole, or a file, passed on as it comes, within bounds.
//!
//! Invariant: the taint is set before the first byte goes back. A page's line is in the ledger before the page is passed on; a
//! file's line follows its last byte, as a tunnel's does.

use super::{Asked, Packages, Registry, answer, entry, npm};
use crate::ground::refusal::Refusal;
use crate::ledger::Entry;
use crate::net;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header;
use reqwest::Url;
use std::io;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Largest page of an index, in bytes.
const MOST_PAGE: usize = 64 << 20;
/// Largest file, in bytes.
const MOST_FILE: u64 = 1 << 30;
const PAGE: Duration = Duration::from_secs(60);
/// Longest time a file may be silent, and take in all.
const IDLE: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(crate::ground::taint::WINDOW_S.unsigned_abs());
/// Most pieces of a file that wait to be passed on.
const PIECES: usize = 4;

impl Packages {
    /// The address of a package's page.
    pub(super) async fn page_url(&self, asked: &Asked) -> Result<Url, Refusal> {
        let base = self.address(asked.registry).await?;
        let text = match asked.registry {
            Registry::Python => format!("{base}/{}/", asked.name),
            Registry::Npm => format!("{}/{}", base.as_str().trim_end_matches('/'), npm::segment(&asked.name)),
        };
        Url::parse(&text).map_err(|_| unreachable(asked, "its address cannot be read"))
    }

    /// A package's page of the index, and its content type.
    pub(super) async fn index(&self, asked: &Asked) -> Result<(Bytes, String), Refusal> {
        let url = self.page_url(asked).await?;
        let _place = self.at_once.acquire().await;
        let page = timeout(PAGE, async {
            let mut response = self.send(asked, &url, asked.registry.accept()).await?;
            let kind = kind_of(&response);
            let mut bytes = Vec::new();
            match net::read_most(&mut response, MOST_PAGE, &mut bytes).await {
                Ok(false) => Ok((Bytes::from(bytes), kind)),
                Ok(true) => Err(unreachable(asked, "its page is too long")),
                Err(_) => Err(unreachable(asked, "it broke off")),
            }
        });
        let (bytes, kind) = page.await.map_err(|_| unreachable(asked, "no answer in time"))??;
        let line = Entry {
            path: asked.name.clone(),
            bytes_in: bytes.len() as u64,
            status: Some(200),
            decision: "allow".into(),
            ..entry(asked.registry, asked.life)
        };
        self.approvals.handles.ledger.append(line).await?;
        Ok((bytes, kind))
    }

    /// A file that the index names.
    pub(super) async fn file(&self, asked: &Asked, name: &str, url: &str) -> Result<Response, Refusal> {
        let url = Url::parse(url).map_err(|_| unreachable(asked, "its file's address cannot be read"))?;
        let place = self.at_once.clone().acquire_owned().await;
        let response = timeout(IDLE, self.send(asked, &url, "*/*")).await;
        let mut response = response.map_err(|_| unreachable(asked, "no answer in time"))??;
        let length = response.content_length();
        if length.is_some_and(|length| length > MOST_FILE) {
            return Err(unreachable(asked, "its file is larger than 1 GiB"));
        }
        let (send, receive) = mpsc::channel::<io::Result<Bytes>>(PIECES);
        let mut body = answer(
            &kind_of(&response),
            Body::from_stream(futures_util::stream::unfold(receive, |mut receive| async move {
                receive.recv().await.map(|piece| (piece, receive))
            })),
        );
        if let Some(length) = length {
            body.headers_mut().insert(header::CONTENT_LENGTH, length.into());
        }
        let line = Entry {
            path: format!("{} {name}", asked.name).chars().take(200).collect(),
            status: Some(200),
            decision: "allow".into(),
            ..entry(asked.registry, asked.life)
        };
        let (handles, life) = (self.approvals.handles.clone(), asked.life);
        tokio::spawn(async move {
            let mut bytes_in = 0;
            let passed = timeout(LONGEST, pass(&mut response, &send, &mut bytes_in)).await;
            let cut = passed.unwrap_or("too long");
            if !cut.is_empty() {
                let _ = send.send(Err(io::Error::other(cut))).await;
            }
            handles.taint.read_untrusted(life);
            let line = Entry { bytes_in, note: cut.to_owned(), ..line };
            if let Err(closed) = handles.ledger.append(line).await {
                tracing::error!("a file could not be written down: {}", closed.0);
            }
            drop((send, place));
        });
        Ok(body)
    }

    /// Sends a GET and returns when its head is there; the taint is set by then.
    async fn send(&self, asked: &Asked, url: &Url, accept: &str) -> Result<reqwest::Response, Refusal> {
        let handles = &self.approvals.handles;
        handles.ledger.is_open()?;
        // Private addresses are the owner's to name: of the registry itself, and of what lies where it does.
        let own = self.address(asked.registry).await?.origin() == url.origin();
        let client = handles.outward.within(url, own).map_err(|unfit| {
            let hint = "a registry's files are fetched from public hosts over https";
            Refusal::new(403, "refused_address", unfit.error, hint)
        })?;
        let sent = client.get(url.clone()).header(header::ACCEPT, accept).send().await;
        handles.taint.try_read_untrusted(asked.life)?;
        let response = sent.map_err(|error| {
            tracing::warn!("a registry was not reached: {}", error.without_url());
            unreachable(asked, "it cannot be reached")
        })?;
        match response.status().as_u16() {
            200 => Ok(response),
            404 | 410 => {
                let message = format!("the {} registry has no {}", asked.registry.name(), asked.name);
                Err(Refusal::new(404, "no_package", message, "check its spelling"))
            }
            status if response.status().is_redirection() => Err(unreachable(
                asked,
                &format!("it sends elsewhere (status {status}), which is not followed"),
            )),
            status => Err(unreachable(asked, &format!("it answered {status}"))),
        }
    }
}

/// Passes on what comes; returns why it was cut, empty where it came whole.
async fn pass(
    response: &mut reqwest::Response,
    send: &mpsc::Sender<io::Result<Bytes>>,
    bytes_in: &mut u64,
) -> &'static str {
    loop {
        let piece = match timeout(IDLE, response.chunk()).await {
            Err(_) => return "idle",
            Ok(Err(_)) => return "broken",
            Ok(Ok(None)) => return "",
            Ok(Ok(Some(piece))) => piece,
        };
        *bytes_in += piece.len() as u64;
        if *bytes_in > MOST_FILE {
            return "too much";
        }
        match timeout(IDLE, send.send(Ok(piece))).await {
            Ok(Ok(())) => {}
            _ => return "the client left",
        }
    }
}

fn kind_of(response: &reqwest::Response) -> String {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.unwrap_or("application/octet-stream").to_owned()
}

fn unreachable(asked: &Asked, why: &str) -> Refusal {
    let message = format!("the {} registry, asked for {}: {why}", asked.registry.name(), asked.name);
    Refusal::new(502, "unreachable", message, "try again later; the owner names another under [packages]")
}
