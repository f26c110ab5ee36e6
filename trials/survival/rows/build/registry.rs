//! A tiny registry on loopback: what an index says of a crate that was yanked, of one it fails at, of unpublished ones.

use std::net::TcpListener;

/// The address of the index, as a manifest names it.
pub struct Registry {
    pub index: String,
}

const YANKED: &str = "{\"name\":\"yanked\",\"vers\":\"1.0.0\",\"deps\":[],\"features\":{},\"yanked\":true,\
    \"cksum\":\"0000000000000000000000000000000000000000000000000000000000000000\"}\n";

impl Registry {
    pub fn start() -> Self {
        let server = tiny_http::Server::http("127.0.0.1:0").unwrap();
        let address = server.server_addr();
        let config = format!("{{\"dl\":\"http://{address}/dl\"}}");
        std::thread::spawn(move || {
            for request in server.incoming_requests() {
                let (status, text) = match request.url() {
                    "/config.json" => (200, config.clone()),
                    "/ya/nk/yanked" => (200, YANKED.to_owned()),
                    "/fl/ak/flaky" => (503, "not now".to_owned()),
                    _ => (404, "no such crate".to_owned()),
                };
                let _ = request.respond(tiny_http::Response::from_string(text).with_status_code(status));
            }
        });
        Self { index: format!("sparse+http://{address}/") }
    }

    /// One that takes every connection and never says a word.
    pub fn mute() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let index = format!("sparse+http://{}/", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let mut held = Vec::new();
            for connection in listener.incoming().flatten() {
                held.push(connection);
            }
        });
        Self { index }
    }

    /// How a manifest asks this registry for a crate.
    pub fn dependency(&self, name: &str) -> String {
        format!("{name} = {{ version = \"1\", registry-index = \"{}\" }}", self.index)
    }
}

/// A registry that nobody answers for.
pub fn refusing() -> Registry {
    Registry { index: "sparse+http://127.0.0.1:9/".into() }
}
