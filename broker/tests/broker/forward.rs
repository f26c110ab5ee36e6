//! The proxy of MCP servers' programs: what it reaches and refuses, its bounds, garbage, and that nobody else has it.

use crate::home::{Home, SECRET, Stub, reply};
use crate::mcp::{call, home as like};
use broker::forward::{Forward, Names};
use broker::ground::clock::Clock;
use broker::ground::hosts::Resolver;
use broker::handles::Handles;
use broker::policy;
use broker::secrets::keys::Keys;
use serde_json::json;
use std::net::SocketAddr;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A proxy that knows `garden.test` on this machine, and names that lead where nobody may go.
struct Proxy {
    home: Home,
    at: SocketAddr,
    forward: Arc<Forward>,
    serving: tokio::task::JoinHandle<()>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn proxy(web: policy::Web) -> Proxy {
    let home = Home::new("");
    let keys = Keys::of(home.keys.clone());
    let handles = Handles::open(home.house(), Clock::default(), keys, Resolver::default()).unwrap();
    let forward = Arc::new(Forward::new("like", &web, &handles));
    let named = "garden.test=127.0.0.1 private.test=10.0.0.7 cloud.test=169.254.169.254 tunnel.test=2002:7f00:1:: \
        mapped.test=::ffff:10.0.0.1 nat.test=64:ff9b::a00:1";
    let named = named.split_whitespace().map(|pair| pair.split_once('=').unwrap());
    forward.know(named.map(|(name, ip)| (name.to_owned(), ip.parse().unwrap())).collect::<Names>());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let serving = tokio::spawn(forward.clone().serve(listener));
    Proxy { home, at, forward, serving }
}

impl Proxy {
    /// All that comes back for these bytes; cut off where the proxy hangs up at once.
    async fn says(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.at).await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.write_all(bytes).await;
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }

    async fn gets(&self, url: &str) -> String {
        self.says(format!("GET {url} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await
    }

    async fn opens(&self, target: &str) -> (TcpStream, String) {
        let mut stream = TcpStream::connect(self.at).await.unwrap();
        let ask = format!("CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n\r\n");
        stream.write_all(ask.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let Ok(byte) = stream.read_u8().await else { break };
            head.push(byte);
        }
        (stream, String::from_utf8_lossy(&head).into_owned())
    }

    fn ledger(&self) -> Vec<(String, String)> {
        let lines = self.home.lines(".self/ledger.jsonl");
        let fetches = lines.iter().filter(|line| line["event"] == "fetch" && line["service"] == "like");
        let word = |line: &serde_json::Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
        fetches.map(|line| (word(line, "path"), word(line, "decision"))).collect()
    }
}

fn port(stub: &Stub) -> &str {
    stub.url.rsplit_once(':').unwrap().1
}

#[tokio::test]
async fn private_and_local_addresses_are_refused_as_spelled_and_as_resolved() {
    let stub = Stub::ok();
    let proxy = proxy(policy::Web { allow_private: true, ..policy::Web::default() }).await;
    let at = port(&stub);
    let hosts = "127.0.0.1 localhost a.localhost 10.0.0.1 192.168.1.1 172.16.0.1 100.64.0.1 169.254.169.254 0.0.0.0 \
        [::1] [::] [fe80::1] [fd12::1] [fd00:ec2::254] [::ffff:127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::] 2130706433 \
        0x7f000001 0177.0.0.1 127.1 router.local intranet metadata.google.internal 127.0.0.1. \
        private.test cloud.test tunnel.test mapped.test nat.test";
    let mut tried = 0;
    for host in hosts.split_whitespace() {
        for port in [at, "80", "443"] {
            let (_, head) = proxy.opens(&format!("{host}:{port}")).await;
            assert!(head.starts_with("HTTP/1.1 403"), "CONNECT {host}:{port}: {head}");
            let answer = proxy.gets(&format!("http://{host}:{port}/")).await;
            assert!(
                answer.starts_with("HTTP/1.1 403") && answer.contains("refused_address"),
                "{host}: {answer}"
            );
            tried += 2;
        }
    }
    // A public host by a port that no page is served on.
    assert!(proxy.opens("example.org:25").await.1.starts_with("HTTP/1.1 403"));
    assert!(stub.seen().is_empty(), "{:?}", stub.seen());
    let told = proxy.forward.refused();
    assert!(told.len() == 5 && told[0].starts_with("127.0.0.1:"), "{told:?}");
    assert!(proxy.forward.refused().is_empty(), "told once");
    let ledger = proxy.ledger();
    assert!(tried > 100 && ledger.len() >= 30 && ledger.len() < 40, "bounded: {}", ledger.len());
    assert!(ledger.iter().all(|(_, decision)| decision == "refused_address"), "{ledger:?}");
}

#[tokio::test]
async fn a_request_goes_on_as_it_is_but_for_what_belongs_to_the_hop() {
    let stub = Stub::start(|seen| reply(201, format!("{} {}", seen.method, seen.body)));
    let proxy = proxy(policy::Web::default()).await;
    let url = format!("http://garden.test:{}/beds?of=1", port(&stub));
    let ask = format!(
        "POST {url} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: a=b\r\nProxy-Connection: keep-alive\r\n\
         Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nProxy-Authorization: Basic eA==\r\nContent-Length: 5\r\n\r\nbeans"
    );
    let answer = proxy.says(ask.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 201") && answer.ends_with("POST beans"), "{answer}");
    let seen = stub.last();
    assert_eq!((seen.target.as_str(), seen.header("cookie")), ("/beds?of=1", Some("a=b")));
    // The host is the one that was judged, whatever the request says beside it.
    assert_eq!(seen.header("host"), Some(url.split('/').nth(2).unwrap()));
    for name in ["x-hop", "proxy-connection", "proxy-authorization"] {
        assert_eq!(seen.header(name), None, "{name}");
    }
    proxy.gets(&url).await;
    let ledger = proxy.ledger();
    assert_eq!(ledger, [(format!("garden.test:{}", port(&stub)), "allow".to_owned())], "one line a host");
}

#[tokio::test]
async fn a_tunnel_carries_both_ways_and_a_host_that_hangs_up_ends_it() {
    let outer = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = format!("garden.test:{}", outer.local_addr().unwrap().port());
    let proxy = proxy(policy::Web::default()).await;
    let (mut inner, head) = proxy.opens(&target).await;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let (mut other, _) = outer.accept().await.unwrap();
    let (mut heard, mut back) = ([0; 5], [0; 6]);
    inner.write_all(b"hello").await.unwrap();
    other.read_exact(&mut heard).await.unwrap();
    other.write_all(b"heron!").await.unwrap();
    inner.read_exact(&mut back).await.unwrap();
    assert_eq!((&heard, &back), (b"hello", b"heron!"));
    drop(other);
    assert_eq!(inner.read(&mut heard).await.unwrap(), 0);
}

#[tokio::test]
async fn more_connections_than_it_has_places_for_wait_and_large_bodies_are_cut() {
    let outer = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = format!("garden.test:{}", outer.local_addr().unwrap().port());
    let proxy = proxy(policy::Web::default()).await;
    let (mut inner, mut others) = (Vec::new(), Vec::new());
    for _ in 0..64 {
        let (stream, head) = proxy.opens(&target).await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        inner.push(stream);
        others.push(outer.accept().await.unwrap().0);
    }
    let waiting = proxy.opens(&target);
    tokio::pin!(waiting);
    let soon = tokio::time::timeout(Duration::from_millis(300), &mut waiting).await;
    assert!(soon.is_err(), "the 65th waits");
    inner.pop();
    others.pop();
    assert!(waiting.await.1.starts_with("HTTP/1.1 200"), "and has the place of one that ended");
    // What a program sends by one connection ends at 64 MiB.
    let (mut sender, mut taker) = (inner.pop().unwrap(), others.pop().unwrap());
    let taken = tokio::spawn(async move {
        let (mut taken, mut piece) = (0, vec![0; 1 << 20]);
        while let Ok(count @ 1..) = taker.read(&mut piece).await {
            taken += count;
        }
        taken
    });
    let piece = vec![0; 1 << 20];
    let sent = async { while sender.write_all(&piece).await.is_ok() {} };
    tokio::time::timeout(Duration::from_secs(60), sent).await.expect("it is cut");
    assert!((64 << 20..=66 << 20).contains(&taken.await.unwrap()));
}

#[tokio::test]
async fn a_thousand_hosts_an_hour_are_asked_for_and_no_more() {
    let proxy = proxy(policy::Web::default()).await;
    for number in 0..1_000 {
        assert!(proxy.gets(&format!("http://h{number}.local/")).await.starts_with("HTTP/1.1 403"));
    }
    let more = proxy.gets("http://h1000.local/").await;
    assert!(more.starts_with("HTTP/1.1 429") && more.contains("too_many_hosts"), "{more}");
    let stub = Stub::ok();
    let known = proxy.gets(&format!("http://h1.local:{}/", port(&stub))).await;
    assert!(known.starts_with("HTTP/1.1 403"), "those it knows are judged as before: {known}");
}

#[tokio::test]
async fn garbage_is_answered_or_cut_off_and_harms_nobody() {
    let stub = Stub::ok();
    let proxy = proxy(policy::Web::default()).await;
    let long = format!("GET http://garden.test/ HTTP/1.1\r\nx: {}\r\n\r\n", "a".repeat(200 << 10));
    for garbage in [
        b"\x16\x03\x01\x02\x00\x01\x00".as_slice(),
        b"\x05\x01\x00",
        b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
        b"GET /status HTTP/1.1\r\n\r\n",
        b"GET https://garden.test/ HTTP/1.1\r\n\r\n",
        b"GET ftp://garden.test/ HTTP/1.1\r\n\r\n",
        b"GET http://me:word@garden.test/ HTTP/1.1\r\n\r\n",
        b"GET http:///x HTTP/1.1\r\n\r\n",
        b"CONNECT garden.test HTTP/1.1\r\n\r\n",
        b"CONNECT /x HTTP/1.1\r\n\r\n",
        b"CONNECT garden.test:99999 HTTP/1.1\r\n\r\n",
        b"CONNECT me@garden.test:443 HTTP/1.1\r\n\r\n",
        b"GET http://garden.test/ HTTP/9.9\r\n\r\n",
        b"\r\n\r\n\r\n",
        long.as_bytes(),
    ] {
        let mut stream = TcpStream::connect(proxy.at).await.unwrap();
        let _ = stream.write_all(garbage).await;
        let _ = stream.shutdown().await;
        let mut answer = String::new();
        let _ =
            tokio::time::timeout(Duration::from_secs(30), stream.read_to_string(&mut answer)).await.unwrap();
        let told = String::from_utf8_lossy(&garbage[..garbage.len().min(60)]).into_owned();
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{told}: {answer}");
    }
    assert!(stub.seen().is_empty());
    let url = format!("http://garden.test:{}/", port(&stub));
    assert!(proxy.gets(&url).await.ends_with("fine"));
    let refused = proxy.gets(&format!("http://{SECRET}.local/")).await;
    assert!(!refused.is_empty() && !proxy.home.text(".self/ledger.jsonl").contains(SECRET));
}

#[tokio::test]
async fn the_owners_lists_of_hosts_hold_here_too() {
    let web = policy::Web { deny: vec!["bad.example.org".into()], ..policy::Web::default() };
    let proxy = proxy(web).await;
    let (_, head) = proxy.opens("bad.example.org:443").await;
    assert!(head.starts_with("HTTP/1.1 403"), "{head}");
    assert_eq!(proxy.ledger()[0].1, "refused_host");
}

#[tokio::test]
async fn a_program_reaches_by_its_proxy_what_is_public_and_nothing_beside_it() {
    let stub = Stub::ok();
    let url = format!("http://garden.test:{}/", port(&stub));
    let home = like(&format!("asks its proxy for {url}"), "network = \"proxy\"\n");
    let open = home.open().await;
    open.broker.services.mcp.know(&Names::from([("garden.test".to_owned(), "127.0.0.1".parse().unwrap())]));
    let answer = call(&open, "look", json!({})).await;
    let body = answer["body"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(body.ends_with("fine"), "{body}");
    assert_eq!(stub.seen().len(), 1);
    // The port is one of its own network: here nobody serves on it.
    let own = body.lines().next().unwrap().trim_start_matches("http://");
    assert!(std::net::TcpStream::connect(own).is_err(), "{own}");
    std::fs::write(home.path("like/mode"), "asks its proxy for http://10.0.0.1/").unwrap();
    let refused = call(&open, "look", json!({})).await;
    let body = refused["body"].as_str().unwrap();
    assert!(
        body.contains("HTTP/1.1 403")
            && body.ends_with("[not reached: 10.0.0.1: 10.0.0.1 is a private or local address]"),
        "{body}"
    );
    std::fs::write(home.path("like/mode"), format!("connects to 127.0.0.1:{}", port(&stub))).unwrap();
    let beside = call(&open, "look", json!({})).await;
    assert!(beside["body"].as_str().unwrap().starts_with("Err("), "{beside}");
    let lines = home.lines(".self/ledger.jsonl");
    let hosts: Vec<_> = lines.iter().filter(|line| line["event"] == "fetch").collect();
    assert_eq!(
        (hosts.len(), &hosts[0]["service"], &hosts[1]["decision"]),
        (2, &json!("like"), &json!("refused_address"))
    );
}

#[tokio::test]
async fn a_program_with_a_proxy_has_sockets_of_its_own_and_sees_no_others() {
    let others = tempfile::tempdir().unwrap();
    let path = others.path().join("agent.sock");
    let _listening = UnixListener::bind(&path).unwrap();
    let mode = format!("tries the socket {}", path.display());
    let home = like(&mode, "network = \"proxy\"\n");
    let open = home.open().await;
    let answer = call(&open, "look", json!({})).await;
    assert_eq!(answer["body"], "Ok(()) Ok(()) Err(\"entity not found\")", "{answer}");
    let home = like(&mode, "network = \"none\"\n");
    let open = home.open().await;
    let answer = call(&open, "look", json!({})).await;
    let body = answer["body"].as_str().unwrap();
    assert!(
        body.contains("Operation not permitted") && body.ends_with("Err(\"permission denied\")"),
        "{body}"
    );
}
