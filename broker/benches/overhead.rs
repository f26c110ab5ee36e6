//! What a model call costs more through the broker: beside a bare proxy of the same making, and beside no proxy.
//!
//! Run by `scripts/bench`. Prints a row as a JSON line; any other line is a note.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods
)]

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use broker::broker::Broker;
use broker::ground::clock::Clock;
use broker::ground::hosts::Resolver;
use broker::net::outward::Outward;
use broker::policy::Policy;
use broker::secrets::keys::Keys;
use futures_util::future::join_all;
use house::House;
use http::HeaderMap;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::net::SocketAddr;
use std::time::Instant;

const TOKEN: &str = "1111111111111111111111111111111111111111111111111111111111111111";
const PATH: &str = "/v1/messages";

/// Bytes of a thought's prompt, about.
const PROMPT_BYTES: usize = 20_000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("nothing measured: this is for `cargo bench`");
        return;
    }
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let folder = tempfile::tempdir().unwrap();
    let upstream = serve(|_| Router::new().route(PATH, post(answer)));
    let proxy = serve(move |_| {
        Router::new()
            .route(PATH, post(passed))
            .with_state((Outward::new(Resolver::default()).unwrap(), upstream))
    });
    let broker = broker(folder.path(), upstream);
    let places = [
        format!("http://{broker}/llm/anthropic{PATH}"),
        format!("http://{proxy}{PATH}"),
        format!("http://{upstream}{PATH}"),
    ];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = Outward::new(Resolver::default()).unwrap();
        for (at_once, rounds) in [(1, if quick { 300 } else { 3_000 }), (8, if quick { 60 } else { 600 })] {
            let mut samples = [Vec::new(), Vec::new(), Vec::new()];
            let mut syncs = Vec::new();
            let mut file = std::fs::File::create(folder.path().join("synced")).unwrap();
            for round in 0..rounds + 20 {
                // In turns, so that whatever else the machine does meets all of them.
                for turn in 0..3 {
                    let which = (round + turn) % 3;
                    let calls = (0..at_once).map(|_| call(&client, &places[which]));
                    let took = join_all(calls).await;
                    if round >= 20 {
                        samples[which].extend(took);
                    }
                }
                let begun = Instant::now();
                file.write_all(&[b'x'; 450]).unwrap();
                file.sync_data().unwrap();
                syncs.push(begun.elapsed().as_secs_f64() * 1e3);
            }
            report(at_once, samples, &syncs);
        }
    });
}

fn report(at_once: usize, samples: [Vec<f64>; 3], syncs: &[f64]) {
    let [broker, proxy, direct] = samples;
    let what = format!("a model call, {at_once} at once");
    let method = format!(
        "a {} kB prompt and its answer on loopback, through the broker (reserved and synced before it leaves, settled \
         after), through a proxy of the same HTTP stack without a ledger, and without any; in turns",
        PROMPT_BYTES / 1_000
    );
    let row = |against: &str, theirs: &[f64], aim: &str| {
        let row = json!({
            "what": what, "method": method, "unit": "ms", "ours": broker, "against": against, "theirs": theirs,
            "aim": aim,
        });
        println!("{row}");
    };
    row("a bare proxy", &proxy, "p99 less than 2 ms above it");
    row("no proxy", &direct, "");
    let named = [("broker", &broker), ("bare proxy", &proxy), ("direct", &direct)];
    for (name, samples) in named {
        println!(
            "{at_once} at once, {name}: p50 {:.2} ms, p99 {:.2} ms",
            at(samples, 0.5),
            at(samples, 0.99)
        );
    }
    println!(
        "{at_once} at once: the broker takes {:.2} ms more at p50 and {:.2} ms more at p99 than the bare proxy; a bare \
         append and sync of one line: p50 {:.2} ms, p99 {:.2} ms",
        at(&broker, 0.5) - at(&proxy, 0.5),
        at(&broker, 0.99) - at(&proxy, 0.99),
        at(syncs, 0.5),
        at(syncs, 0.99)
    );
}

fn at(samples: &[f64], share: f64) -> f64 {
    let mut sorted = samples.to_owned();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() as f64 * share) as usize).min(sorted.len() - 1)]
}

/// One call to its last byte, in milliseconds.
async fn call(client: &Outward, url: &str) -> f64 {
    let text = "word ".repeat(PROMPT_BYTES / 5);
    let body = json!({
        "model": "claude-sonnet-5-5", "max_tokens": 100, "messages": [{"role": "user", "content": text}],
    });
    let body = body.to_string();
    let url = reqwest::Url::parse(url).unwrap();
    let request = client.client(&url).post(url).header("x-api-key", TOKEN).body(body);
    let begun = Instant::now();
    let answer = request.send().await.unwrap();
    let status = answer.status();
    let bytes = answer.bytes().await.unwrap();
    let took = begun.elapsed().as_secs_f64() * 1e3;
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&bytes));
    took
}

async fn answer(body: Bytes) -> Response {
    assert!(body.len() > PROMPT_BYTES);
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let text =
        json!({"content": [{"type": "text", "text": "well ".repeat(400)}], "usage": usage}).to_string();
    Response::builder().header("content-type", "application/json").body(Body::from(text)).unwrap()
}

/// All that a proxy has to do.
async fn passed(
    State((outward, to)): State<(Outward, SocketAddr)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let url = reqwest::Url::parse(&format!("http://{to}{PATH}")).unwrap();
    let key = headers["x-api-key"].clone();
    let answer = outward.client(&url).post(url).header("x-api-key", key).body(body).send().await.unwrap();
    let (status, kind) = (answer.status(), answer.headers()["content-type"].clone());
    let body = Body::from_stream(answer.bytes_stream());
    Response::builder().status(status).header("content-type", kind).body(body).unwrap()
}

/// A server in a thread of its own, as the broker has a process of its own.
fn serve(make: impl FnOnce(SocketAddr) -> Router + Send + 'static) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let at = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let router = make(at);
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let service = hyper_util::service::TowerToHyperService::new(router.clone());
                let io = hyper_util::rt::TokioIo::new(stream);
                tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(io, service));
            }
        });
    });
    at
}

fn broker(folder: &std::path::Path, upstream: SocketAddr) -> SocketAddr {
    let house = House::new(folder);
    std::fs::create_dir_all(house.broker()).unwrap();
    let tokens = json!({"life": {"number": 1, "token": TOKEN}});
    std::fs::write(house.tokens(), tokens.to_string()).unwrap();
    let settings = format!(
        "[budget]\ndaily_usd = 900000\nweekly_usd = 900000\nautonomous_percent = 100\n[model]\nprovider = \"anthropic\"\n\
         base_url = \"http://{upstream}\"\n"
    );
    let policy = Policy::read(&settings).unwrap();
    let keys = BTreeMap::from([("ANTHROPIC_API_KEY".to_owned(), "sk-ant-bench-0123456789".to_owned())]);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let at = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let broker = Broker::with(house, Clock::default(), policy, Keys::of(keys)).unwrap();
            broker.serve(tokio::net::TcpListener::from_std(listener).unwrap()).await
        })
    });
    at
}
