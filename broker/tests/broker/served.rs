//! Servers on loopback, each in a thread of its own: connections given to a function, and pages by their paths.

use axum::Router;
use axum::routing::{MethodRouter, any};
use serde_json::{Value, json};
use std::net::SocketAddr;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// Starts a server that has each connection served before it takes the next; its address.
pub fn served<F: Future<Output = ()>>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let at = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                serve(stream).await;
            }
        });
    });
    at
}

/// Starts a server of these routes, for many connections at once.
pub fn routes(app: Router) -> SocketAddr {
    served(move |stream| {
        let _ = stream.set_nodelay(true);
        let service = hyper_util::service::TowerToHyperService::new(app.clone());
        let io = hyper_util::rt::TokioIo::new(stream);
        tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(io, service));
        std::future::ready(())
    })
}

/// The same, as the beginning of its addresses.
pub fn server(app: Router) -> String {
    format!("http://{}", routes(app))
}

/// A page that is always the same.
pub fn says(page: Value) -> MethodRouter {
    any(move || async move { page.to_string() })
}

/// A server of these pages; those of Ollama's list of models are there in any case.
pub fn pages(pages: &[(&'static str, Value)]) -> String {
    let app = Router::new().route("/api/tags", says(json!({"models": [{"name": "m"}]})));
    server(pages.iter().fold(app, |app, (path, page)| app.route(path, says(page.clone()))))
}

/// Reads a request: its head in small letters, and its body; nothing where it breaks off.
pub async fn request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
            if bytes.len() >= end + 4 + length {
                return Some((head, bytes.split_off(end + 4)));
            }
        }
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return None;
        }
    }
}
