//! The real broker against those who lie: about who they are, where they mean to go, and where a request ends.

use crate::outside::{Answer, BUILD, FORMER, LIFE, Outside, Start, start, tokens};
use base64::Engine;
use std::io::{Read, Write};

fn status_with(outside: &Outside, headers: &str) -> Answer {
    outside.ask(&format!("GET /status HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}\r\n"))
}

#[test]
fn only_the_token_of_this_life_opens_the_door() {
    let outside = start(Start::default());
    let basic = |token: &str| base64::engine::general_purpose::STANDARD.encode(format!("any:{token}"));
    for headers in [
        format!("authorization: Bearer {LIFE}\r\n"),
        format!("Authorization: bearer  {LIFE}\r\n"),
        format!("x-api-key: {LIFE}\r\n"),
        format!("authorization: Basic {}\r\n", basic(LIFE)),
        format!("proxy-authorization: Basic {}\r\n", basic(LIFE)),
    ] {
        assert_eq!(status_with(&outside, &headers).status, 200, "{headers}");
    }
    for headers in [
        String::new(),
        "authorization: Bearer \r\n".into(),
        "authorization: Bearer\r\n".into(),
        format!("authorization: {LIFE}\r\n"),
        format!("authorization: Bearer {}\r\n", &LIFE[..63]),
        format!("authorization: Bearer {LIFE}1\r\n"),
        format!("authorization: Bearer {FORMER}\r\n"),
        format!("authorization: Bearer {FORMER}\r\nauthorization: Bearer {LIFE}\r\n"),
        format!("authorization: Bearer {LIFE}\r\nauthorization: Bearer {FORMER}\r\n"),
        format!("authorization: Basic {}\r\n", basic(FORMER)),
        "authorization: Basic !!!\r\n".into(),
        format!("authorization: Digest {LIFE}\r\n"),
        format!("cookie: token={LIFE}\r\n"),
        format!(
            "x-forwarded-for: 127.0.0.1\r\nx-feral-life: 7\r\nauthorization: Bearer {}\r\n",
            "0".repeat(64)
        ),
    ] {
        let answer = status_with(&outside, &headers);
        assert_eq!((answer.status, answer.kind()), (401, "token_unknown"), "{headers}");
    }
    assert_eq!(
        outside
            .ask(&format!("GET /status?token={LIFE} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"))
            .status,
        401
    );
}

#[test]
fn a_former_life_is_nobody() {
    let outside = start(Start::default());
    assert_eq!(outside.get("/status").status, 200);
    tokens(outside.folder.path(), 8, FORMER);
    assert_eq!(outside.get("/status").kind(), "token_unknown");
    assert_eq!(status_with(&outside, &format!("authorization: Bearer {FORMER}\r\n")).status, 200);
    std::fs::write(outside.folder.path().join(".self/broker/tokens.json"), "{\"life\":{\"numb").unwrap();
    assert_eq!(
        status_with(&outside, &format!("authorization: Bearer {FORMER}\r\n")).status,
        401,
        "half a file"
    );
    std::fs::write(
        outside.folder.path().join(".self/broker/tokens.json"),
        "{\"life\":{\"number\":9,\"token\":\"\"}}",
    )
    .unwrap();
    assert_eq!(status_with(&outside, "authorization: Bearer \r\n").status, 401, "an empty token is no token");
    std::fs::remove_file(outside.folder.path().join(".self/broker/tokens.json")).unwrap();
    assert_eq!(outside.get("/status").status, 401);
    tokens(outside.folder.path(), 10, LIFE);
    assert_eq!(outside.get("/status").status, 200);
}

#[test]
fn a_build_may_only_fetch_crates() {
    let outside = start(Start::default());
    let build = format!("authorization: Bearer {BUILD}\r\nconnection: close\r\n");
    for line in [
        "GET /web?url=https://example.org/",
        "GET /status",
        "POST /llm/openai/v1/chat/completions",
        "POST /purpose",
    ] {
        let answer = outside.ask(&format!("{line} HTTP/1.1\r\nhost: x\r\n{build}\r\n"));
        assert_eq!((answer.status, answer.kind()), (403, "builds_fetch_crates_only"), "{line}");
    }
}

#[test]
fn what_is_no_http_ends_the_connection_and_nothing_else() {
    let outside = start(Start::default());
    let mut tls = vec![0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3];
    tls.extend([0xab; 500]);
    let cases: [&[u8]; 12] = [
        b"\0\0\0\0\r\n\r\n",
        &tls,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /status\r\n\r\n",
        b"GET /status HTTP/9.9\r\n\r\n",
        b"GET  /status HTTP/1.1\r\n\r\n",
        b"G\xc3\x89T /status HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET /status HTTP/1.1\r\nbad header: \x01\r\n\r\n",
        b"GET /status HTTP/1.1\r\n: empty\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET /status HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
        b"\r\n\r\n\r\n\r\n\xff\xff\xff\xff\r\n\r\n",
    ];
    for bytes in cases {
        let mut stream = outside.connect();
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let text = String::from_utf8_lossy(&answer).into_owned();
        let refused = answer.is_empty() || text.starts_with("HTTP/1.1 4") || text.starts_with("HTTP/1.0 4");
        assert!(refused, "{}: {text}", String::from_utf8_lossy(bytes));
        assert_eq!(outside.get("/status").status, 200);
    }
}

#[test]
fn ten_thousand_headers_are_too_many() {
    let outside = start(Start::default());
    let before = outside.peak_kb();
    for header in ["x: y\r\n".repeat(10_000), format!("x: {}\r\n", "y".repeat(1 << 20))] {
        let mut stream = outside.connect();
        let _ = stream.write_all(
            format!("GET /status HTTP/1.1\r\nauthorization: Bearer {LIFE}\r\n{header}\r\n").as_bytes(),
        );
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = Answer::of(&answer);
        assert!(matches!(answer.status, 0 | 400 | 431), "{}", answer.head);
    }
    assert!(outside.peak_kb() - before < 5_000);
    assert_eq!(outside.get("/status").status, 200);
}

/// How many answers come for bytes that hold one request, or two, depending on who reads them.
fn answers(outside: &Outside, bytes: &str) -> Vec<u16> {
    let mut stream = outside.connect();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(1))).unwrap();
    stream.write_all(bytes.as_bytes()).unwrap();
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text).into_owned();
    text.match_indices("HTTP/1.1 ").filter_map(|(at, _)| text.get(at + 9..at + 12)?.parse().ok()).collect()
}

#[test]
fn a_request_ends_where_it_says_and_only_there() {
    let outside = start(Start::default());
    let known = format!("host: x\r\nauthorization: Bearer {LIFE}\r\n");
    let hidden = format!("GET /status HTTP/1.1\r\n{known}connection: close\r\n\r\n");
    let shapes = [
        format!(
            "content-length: {}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{hidden}",
            5 + hidden.len()
        ),
        format!("transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n{hidden}"),
        format!("content-length: 0\r\ncontent-length: {}\r\n\r\n{hidden}", hidden.len()),
        format!("content-length: 0, {}\r\n\r\n{hidden}", hidden.len()),
        format!("content-length: +0\r\n\r\n{hidden}"),
        format!("transfer-encoding: xchunked\r\n\r\n0\r\n\r\n{hidden}"),
        format!("transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n{hidden}"),
        format!("transfer-encoding : chunked\r\n\r\n0\r\n\r\n{hidden}"),
        format!("transfer-encoding:\x0bchunked\r\n\r\n0\r\n\r\n{hidden}"),
        format!("transfer-encoding: chunked\r\n\r\n0;\n\r\n\r\n{hidden}"),
        format!("transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n{hidden}"),
    ];
    for shape in shapes {
        let got = answers(&outside, &format!("POST /nothing HTTP/1.1\r\n{known}{shape}"));
        assert!(!got.contains(&200), "{got:?}: {shape}");
    }
    let plain = format!("POST /nothing HTTP/1.1\r\n{known}content-length: 0\r\n\r\n{hidden}");
    assert_eq!(answers(&outside, &plain), [404, 200], "two plain requests after each other are two");
}

#[test]
fn what_the_host_header_says_changes_nothing() {
    let outside = start(Start::default());
    let at = outside.at;
    for host in ["evil.example", "127.0.0.1", "", "localhost:1", "a b"] {
        let unknown =
            outside.ask(&format!("GET /status HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"));
        assert!(matches!(unknown.status, 400 | 401), "{host}: {}", unknown.head);
    }
    let known = format!(
        "authorization: Bearer {LIFE}\r\nproxy-authorization: Bearer {LIFE}\r\nconnection: close\r\n\r\n"
    );
    for target in [
        format!("http://{at}/status"),
        format!("http://evil.example:{}/status", at.port()),
        "http://x/web?url=https://example.org/".into(),
    ] {
        let answer = outside.ask(&format!("GET {target} HTTP/1.1\r\nhost: {at}\r\n{known}"));
        assert_eq!((answer.status, answer.kind()), (403, "refused_host"), "{target}");
    }
    for path in ["//status", "/./status", "/x/../status", "/%73tatus", "/status/", "/STATUS", "*"] {
        let answer = outside.ask(&format!("GET {path} HTTP/1.1\r\nhost: x\r\n{known}"));
        assert!(matches!(answer.status, 400 | 404), "{path}: {}", answer.head);
    }
}

#[test]
fn it_listens_on_this_machine_only() {
    let outside = start(Start::default());
    let port = format!(":{:04X}", outside.at.port());
    let listening: Vec<String> = ["tcp", "tcp6"]
        .iter()
        .flat_map(|table| {
            std::fs::read_to_string(format!("/proc/{}/net/{table}", outside.child.id()))
                .unwrap_or_default()
                .lines()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .filter(|line| line.split_whitespace().nth(3) == Some("0A"))
        .filter_map(|line| line.split_whitespace().nth(1).filter(|at| at.ends_with(&port)).map(str::to_owned))
        .collect();
    assert_eq!(listening, [format!("0100007F{port}")]);
    let folder = outside.folder.path().join(".self/broker");
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
}
