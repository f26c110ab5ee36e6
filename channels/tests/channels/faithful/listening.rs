//! A listener of a platform's: calls of its HTTP API and WebSockets at one address, so that a door that lets one place pass lets both.

use axum::body::Body;
use axum::http::{Response, request::Parts};
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};

/// Most bytes of a request's head that are looked at, and of a body.
const HEAD_BYTES: usize = 4 << 10;
const BODY_BYTES: usize = 80 << 20;

/// Whether a message of the program's may come, by its text.
pub type MayCome = Box<dyn Fn(&str) -> bool + Send>;

/// Connections that are no WebSockets.
struct Calls(mpsc::UnboundedReceiver<TcpStream>);

impl axum::serve::Listener for Calls {
    type Io = TcpStream;
    type Addr = ();

    async fn accept(&mut self) -> (TcpStream, ()) {
        match self.0.recv().await {
            Some(stream) => (stream, ()),
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Answers calls, after each of which `changed` is told, and hands WebSockets on.
pub fn serve<Opened: Future<Output = ()> + Send + 'static>(
    listener: TcpListener,
    changed: Arc<watch::Sender<u64>>,
    answer: impl Fn(&Parts, &[u8]) -> Response<Body> + Clone + Send + Sync + 'static,
    opened: impl Fn(TcpStream) -> Opened + Clone + Send + 'static,
) {
    let (calls, heard) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (calls, opened) = (calls.clone(), opened.clone());
            tokio::spawn(async move {
                match is_socket(&stream).await {
                    true => opened(stream).await,
                    false => _ = calls.send(stream),
                }
            });
        }
    });
    let app = axum::Router::new().fallback(move |request: axum::extract::Request| {
        let (answer, changed) = (answer.clone(), changed.clone());
        async move {
            let (parts, body) = request.into_parts();
            let body = axum::body::to_bytes(body, BODY_BYTES).await.unwrap_or_default();
            let answer = answer(&parts, &body);
            changed.send_modify(|version| *version += 1);
            answer
        }
    });
    tokio::spawn(async move { axum::serve(Calls(heard), app).await.unwrap() });
}

/// Whether a head asks for a WebSocket: RFC 6455, 4.1. Nothing of it is taken.
async fn is_socket(stream: &TcpStream) -> bool {
    let (mut head, mut known) = ([0; HEAD_BYTES], 0);
    loop {
        let count = stream.peek(&mut head).await.unwrap_or(0);
        let text = String::from_utf8_lossy(&head[..count]).to_ascii_lowercase();
        if text.contains("\r\n\r\n") || count == known || count == HEAD_BYTES {
            return text.contains("\r\nupgrade: websocket\r\n");
        }
        known = count;
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}
