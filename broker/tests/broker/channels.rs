//! The channels' door: to the owner's places by the channels' token alone, each place and each message in the ledger before it.

use crate::outside::{Answer, BUILD, CHANNELS, LIFE, Outside, Server, Start, happens, reply, start};
use base64::Engine;
use broker::channels::opened::{Line, Opened, SPAN};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub fn connect(outside: &Outside, target: &str, token: &str) -> (TcpStream, Answer) {
    let mut stream = outside.connect();
    let pass = base64::engine::general_purpose::STANDARD.encode(format!("channels:{token}"));
    let asked =
        format!("CONNECT {target} HTTP/1.1\r\nhost: {target}\r\nproxy-authorization: Basic {pass}\r\n\r\n");
    stream.write_all(asked.as_bytes()).unwrap();
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count == 1) {
        head.push(byte[0]);
    }
    (stream, Answer::of(&head))
}

pub fn says(outside: &Outside, path: &str, token: &str, body: &Value) -> Answer {
    let body = body.to_string();
    outside.ask(&format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    ))
}

pub fn leaving(channel: &str) -> Value {
    json!({"channel": channel, "chat": "1234", "kind": "send", "bytes": 5, "sha256": "ab".repeat(32)})
}

/// A house whose homeserver is at this address.
pub fn house(url: &str) -> Outside {
    let settings = format!("[channels.matrix]\nurl = \"{url}\"\n[channels.telegram]\n");
    start(Start { settings: &settings, secrets: "MATRIX_ACCESS_TOKEN=syt_the_token\n", ..Start::default() })
}

/// A server of TLS that answers each line with the same line.
fn echo() -> (SocketAddr, rustls::ClientConfig) {
    let file =
        |name: &str| std::fs::read(format!("{}/tests/cases/tls/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let certificate = rustls::pki_types::CertificateDer::from(file("certificate.der"));
    let key = rustls::pki_types::PrivateKeyDer::try_from(file("key.der")).unwrap();
    let server = rustls::ServerConfig::builder().with_no_client_auth();
    let server = Arc::new(server.with_single_cert(vec![certificate.clone()], key).unwrap());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = rustls::ServerConnection::new(server.clone()).unwrap();
            let mut stream = rustls::StreamOwned::new(connection, stream);
            std::thread::spawn(move || {
                let mut piece = [0; 1_024];
                while let Ok(count @ 1..) = stream.read(&mut piece) {
                    if stream.write_all(&piece[..count]).is_err() {
                        break;
                    }
                }
            });
        }
    });
    (at, rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())
}

#[test]
fn a_tunnel_of_the_channels_carries_tls_to_a_server_that_the_owner_named() {
    let (at, tls) = echo();
    let outside = house(&format!("https://localhost:{}", at.port()));
    let (stream, answer) = connect(&outside, &format!("localhost:{}", at.port()), CHANNELS);
    assert_eq!(answer.status, 200, "{answer:?}");
    let name = "localhost".try_into().unwrap();
    let client = rustls::ClientConnection::new(Arc::new(tls), name).unwrap();
    let mut stream = rustls::StreamOwned::new(client, stream);
    for said in ["one", "another"] {
        stream.write_all(said.as_bytes()).unwrap();
        let mut heard = vec![0; said.len()];
        stream.read_exact(&mut heard).unwrap();
        assert_eq!(heard, said.as_bytes());
    }
    let ledger = outside.ledger();
    let line = &ledger[0];
    assert_eq!(
        (&line["event"], &line["service"], &line["method"], &line["path"], &line["decision"]),
        (
            &"channel".into(),
            &"matrix".into(),
            &"CONNECT".into(),
            &format!("localhost:{}", at.port()).into(),
            &"allow".into()
        )
    );
    assert!(!outside.file(".self/ledger.jsonl").contains("another"), "nobody looks into it");
}

#[test]
fn the_door_is_the_channels_alone_and_leads_nowhere_else() {
    let server = Server::new(|_, _, stream| reply(stream, "200 OK", b"{}"));
    let elsewhere = Server::new(|_, _, stream| reply(stream, "200 OK", b"{}"));
    let outside = house(&server.url(""));
    let place = server.at.to_string();
    for token in [LIFE, BUILD] {
        let (_, answer) = connect(&outside, &place, token);
        assert_eq!((answer.status, answer.kind()), (403, "refused_host"), "{answer:?}");
    }
    assert_eq!(connect(&outside, &place, &"5".repeat(64)).1.status, 407);
    let own = outside.at.to_string();
    for target in [
        &elsewhere.at.to_string(),
        &own,
        "example.org:443",
        "api.telegram.org:80",
        "api.telegram.org.evil.example:443",
        "evil.api.telegram.org:443",
        "discord.com:443",
        "169.254.169.254:443",
        &format!("localhost:{}", server.at.port()),
    ] {
        let (_, answer) = connect(&outside, target, CHANNELS);
        assert_eq!((answer.status, answer.kind()), (403, "refused_host"), "{target}: {answer:?}");
    }
    for (path, kind) in [
        ("/service", "channels_send_only"),
        ("/llm/v1/chat/completions", "channels_send_only"),
        ("/mcp", "channels_send_only"),
    ] {
        let answer = says(&outside, path, CHANNELS, &json!({}));
        assert_eq!((answer.status, answer.kind()), (403, kind), "{path}");
    }
    for path in ["/status", "/web?url=http%3A%2F%2Fexample.org", "/service"] {
        let asked = format!(
            "GET {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {CHANNELS}\r\nconnection: close\r\n\r\n"
        );
        assert_eq!(outside.ask(&asked).kind(), "channels_send_only", "{path}");
    }
    for (token, kind) in [(LIFE, "not_yours"), (BUILD, "builds_fetch_crates_only"), ("", "token_unknown")] {
        let answer = says(&outside, "/channels/send", token, &leaving("matrix"));
        assert_eq!(answer.kind(), kind, "{answer:?}");
    }
    assert_eq!((server.count(), elsewhere.count()), (0, 0));
    assert!(
        outside.ledger().iter().all(|line| line["decision"] == "refused_host" && line["event"] != "message")
    );
}

#[test]
fn a_place_that_is_not_there_is_in_the_ledger_before_it_is_tried() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let outside = house(&format!("http://{free}"));
    let (_, answer) = connect(&outside, &free.to_string(), CHANNELS);
    assert_eq!((answer.status, answer.kind()), (502, "unreachable"), "{answer:?}");
    let decisions: Vec<_> = outside.ledger().iter().map(|line| line["decision"].clone()).collect();
    assert_eq!(decisions, ["allow", "unreachable"]);
}

#[test]
fn a_plain_request_goes_on_as_it_is_and_leaves_the_token_behind() {
    let heads = Arc::new(Mutex::new(Vec::new()));
    let kept = heads.clone();
    let server = Server::new(move |path, head, stream| {
        kept.lock().unwrap().push(head.to_owned());
        let mut body = [0; 5];
        stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let _ = stream.read_exact(&mut body);
        reply(stream, "201 Created", path.as_bytes());
    });
    let outside = house(&server.url(""));
    let pass = base64::engine::general_purpose::STANDARD.encode(format!("channels:{CHANNELS}"));
    let asked = |scheme: &str| {
        format!(
            "POST {scheme}://{}/_matrix/client/v3/sync?since=1 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer syt_the_token\r\n\
             proxy-authorization: Basic {pass}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            server.at
        )
    };
    let answer = outside.ask(&asked("http"));
    assert!(answer.status == 201 && answer.text().contains("/_matrix/client/v3/sync?since=1"), "{answer:?}");
    let head = heads.lock().unwrap().pop().unwrap();
    assert!(head.contains("syt_the_token"), "the platform's own token goes on: {head}");
    assert!(!head.to_lowercase().contains("proxy-authorization") && !head.contains(&pass), "{head}");
    assert_eq!(outside.ask(&asked("https")).kind(), "refused_method");
    assert_eq!(outside.ledger()[0]["path"], server.at.to_string(), "without path and query");
}

#[test]
fn many_connections_to_a_place_are_one_line_and_each_message_is_one() {
    let server = Server::new(|_, _, stream| reply(stream, "200 OK", b"{}"));
    let outside = house(&server.url(""));
    for _ in 0..7 {
        let (stream, answer) = connect(&outside, &server.at.to_string(), CHANNELS);
        assert_eq!(answer.status, 200);
        drop(stream);
    }
    for number in 0..3 {
        let answer = says(&outside, "/channels/send", CHANNELS, &leaving("matrix"));
        assert_eq!(answer.status, 200, "{answer:?}");
        // On disk before the answer.
        assert_eq!(outside.ledger().iter().filter(|line| line["event"] == "message").count(), number + 1);
    }
    let lines = outside.ledger();
    assert_eq!(lines.iter().filter(|line| line["event"] == "channel").count(), 1);
    let message = lines.iter().find(|line| line["event"] == "message").unwrap();
    assert_eq!(
        (&message["service"], &message["method"], &message["path"], &message["bytes_out"], &message["note"]),
        (&"matrix".into(), &"send".into(), &"1234".into(), &5.into(), &"ab".repeat(32).into())
    );
    for (body, kind) in [(leaving("slack"), "no_channel"), (json!({"channel": "matrix"}), "malformed")] {
        assert_eq!(says(&outside, "/channels/send", CHANNELS, &body).kind(), kind);
    }
    // A broker that ends writes what no line holds yet.
    std::process::Command::new("kill").arg(outside.child.id().to_string()).status().unwrap();
    let counted = || outside.ledger().iter().any(|line| line["event"] == "channel" && line["count"] == 6);
    assert!(happens(counted), "{:?}", outside.ledger());
}

#[test]
fn nothing_leaves_where_the_ledger_is_closed() {
    let server = Server::new(|_, _, stream| reply(stream, "200 OK", b"{}"));
    let settings = format!("[channels.matrix]\nurl = \"{}\"\n", server.url(""));
    let prepared = Start { settings: &settings, ..Start::default() };
    let folder = crate::outside::folder(&prepared);
    std::fs::write(folder.path().join(".self/ledger.jsonl"), "garbage\n").unwrap();
    let mut child = crate::outside::command(folder.path(), &prepared).spawn().unwrap();
    let at = crate::outside::serving(&mut child).unwrap();
    let outside = Outside { folder, at, child };
    let (_, answer) = connect(&outside, &server.at.to_string(), CHANNELS);
    assert_eq!((answer.status, answer.kind()), (503, "ledger_closed"));
    assert_eq!(says(&outside, "/channels/send", CHANNELS, &leaving("matrix")).kind(), "ledger_closed");
    assert_eq!(server.count(), 0);
}

/// The owner's proxy resolves names itself, so that a platform is reached where only the proxy has a way out.
#[test]
fn the_owners_proxy_is_used_and_not_for_this_machine() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = asked.clone();
    let proxy = Server::new(move |path, _, stream| {
        kept.lock().unwrap().push(path.to_owned());
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        let mut heard = [0; 5];
        if stream.read_exact(&mut heard).is_ok() {
            let _ = stream.write_all(&heard);
        }
    });
    let server = Server::new(|_, _, stream| reply(stream, "200 OK", b"{}"));
    let settings = format!("[channels.telegram]\n[channels.matrix]\nurl = \"{}\"\n", server.url(""));
    let variables = vec![("HTTPS_PROXY", proxy.url("")), ("HTTP_PROXY", proxy.url(""))];
    let outside = start(Start { settings: &settings, variables, ..Start::default() });
    let (mut stream, answer) = connect(&outside, "api.telegram.org:443", CHANNELS);
    assert_eq!(answer.status, 200, "{answer:?}");
    stream.write_all(b"hello").unwrap();
    let mut heard = [0; 5];
    stream.read_exact(&mut heard).unwrap();
    assert_eq!(&heard, b"hello");
    assert_eq!(*asked.lock().unwrap(), ["api.telegram.org:443"]);
    assert_eq!(connect(&outside, &server.at.to_string(), CHANNELS).1.status, 200);
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[test]
fn the_first_connection_of_an_hour_is_a_line_and_those_after_it_a_number() {
    let (mut opened, began) = (Opened::default(), Instant::now());
    let line = |path: &str| Line { channel: "discord".into(), path: path.into(), ..Line::default() };
    let first = opened.opens(1, line("gateway.discord.gg:443"), began).unwrap();
    assert_eq!((first.count, first.path.as_str()), (1, "gateway.discord.gg:443"));
    // Not written, so the next one is still the first.
    let again = opened.opens(1, line("gateway.discord.gg:443"), began).unwrap();
    assert_eq!(again.count, 2);
    opened.written(1, again, began);
    for _ in 0..10_000 {
        assert_eq!(opened.opens(1, line("a.discord.gg:443"), began + SPAN / 2), None);
        opened.carried(1, 3, 5);
    }
    assert!(opened.opens(2, line("discord.com:443"), began).is_some(), "each place has its own");
    let due = opened.opens(1, line("b.discord.gg:443"), began + SPAN).unwrap();
    assert_eq!((due.count, due.bytes_out, due.bytes_in), (10_001, 30_000, 50_000));
    assert_eq!(due.path, "b.discord.gg:443");
    opened.written(1, due, began + SPAN);
    opened.carried(1, 1, 0);
    let rest = opened.rest();
    assert_eq!(rest.iter().map(|line| (line.count, line.bytes_out)).collect::<Vec<_>>(), [(0, 1), (1, 0)]);
    assert!(opened.rest().is_empty());
}
