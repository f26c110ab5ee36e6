//! The proxy for cargo: where it leads, where not, and real fetches through it.

use crate::outside::{Answer, BUILD, FORMER, LIFE, Outside, Server, Start, happens, reply, start};
use base64::Engine;
use broker::cargo::registries::Registries;
use broker::ground::hosts::Reach;
use house::House;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A cargo home with the settings given.
fn cargo_home(settings: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("config.toml"), settings).unwrap();
    home
}

fn used(home: &Path, folder: &str, said: &str) {
    let folder = home.join("registry/index").join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.json"), said).unwrap();
}

fn with(home: &Path, more: Vec<(&str, String)>) -> Outside {
    let mut variables = vec![("CARGO_HOME", home.to_str().unwrap().to_owned())];
    variables.extend(more);
    start(Start { variables, ..Start::default() })
}

fn connect(outside: &Outside, target: &str, token: &str) -> (TcpStream, Answer) {
    let mut stream = outside.connect();
    let pass = base64::engine::general_purpose::STANDARD.encode(format!("life:{token}"));
    let pass =
        if token.is_empty() { String::new() } else { format!("proxy-authorization: Basic {pass}\r\n") };
    stream
        .write_all(format!("CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n{pass}\r\n").as_bytes())
        .unwrap();
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count == 1) {
        head.push(byte[0]);
    }
    let mut answer = Answer::of(&head);
    if answer.status != 200 {
        let length = answer.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        answer.body = vec![0; length];
        stream.read_exact(&mut answer.body).unwrap();
    }
    (stream, answer)
}

/// The first bytes a TLS client sends to `name`.
fn greeting(name: &str) -> Vec<u8> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = rustls::ClientConfig::builder()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let name = name.to_owned().try_into().unwrap();
    let mut client = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).unwrap();
    bytes
}

/// A server that keeps what each connection sent and answers `pong` to it.
fn listener() -> (std::net::SocketAddr, Arc<Mutex<Vec<Vec<u8>>>>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (at, seen) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
    let kept = seen.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let kept = kept.clone();
            std::thread::spawn(move || {
                let mut bytes = vec![0; 65_536];
                while let Ok(count @ 1..) = stream.read(&mut bytes) {
                    kept.lock().unwrap().push(bytes[..count].to_vec());
                    let _ = stream.write_all(b"pong");
                }
            });
        }
    });
    (at, seen)
}

#[test]
fn places_come_from_the_owners_cargo_alone() {
    let home = cargo_home(
        "[registries.own]\nindex = \"sparse+https://crates.example.org:8443/index/\"\n\
         [registries.here]\nindex = \"sparse+http://127.0.0.1:9/\"\n\
         [registries.ssh]\nindex = \"ssh://git@example.org/index.git\"\n\
         [source.x]\nreplace-with = \"mirror\"\n\
         [source.mirror]\nregistry = \"sparse+https://mirror.example.net/\"\n\
         [source.folder]\ndirectory = \"vendor\"\n",
    );
    let said = r#"{"dl":"https://static.example.com/{crate}/{version}","api":"https://example.com"}"#;
    used(home.path(), "index.example.com-0123456789abcdef", said);
    used(home.path(), "broken.example.com-0123456789abcdef", "{");
    std::fs::create_dir_all(home.path().join("registry/index/github.example-1ecc6299db9ec823/.git")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let house = House::new(folder.path());
    let places = Registries::at(home.path(), &house).places();
    let found: Vec<_> =
        places.iter().map(|place| (place.host.as_str(), place.port, place.https, place.furthest)).collect();
    let expected = [
        ("127.0.0.1", 9, false, Reach::Loopback),
        ("crates.example.org", 8443, true, Reach::Private),
        ("example.com", 443, true, Reach::Public),
        ("index.example.com", 443, true, Reach::Private),
        ("mirror.example.net", 443, true, Reach::Private),
        ("static.example.com", 443, true, Reach::Public),
    ];
    assert_eq!(found, expected);
    assert!(Registries::at(folder.path(), &house).places().is_empty(), "no settings, no places");
}

#[test]
fn settings_that_are_broken_name_nothing() {
    let home = cargo_home("[registries\n");
    let folder = tempfile::tempdir().unwrap();
    assert!(Registries::at(home.path(), &House::new(folder.path())).places().is_empty());
}

#[test]
fn other_hosts_are_refused_with_a_way_on() {
    let (at, seen) = listener();
    let home = cargo_home("[registries.own]\nindex = \"sparse+https://crates.example.org/\"\n");
    let outside = with(home.path(), vec![]);
    let targets = [
        format!("{at}"),
        format!("localhost:{}", at.port()),
        "example.org:443".into(),
        "crates.example.org:22".into(),
        "crates.example.org.evil.example:443".into(),
        "169.254.169.254:80".into(),
        format!("{}", outside.at),
    ];
    for target in &targets {
        let (_, answer) = connect(&outside, target, LIFE);
        assert_eq!((answer.status, answer.kind()), (403, "refused_host"), "{target}");
        assert!(answer.text().contains("crates.example.org:443") && answer.text().contains("/web?url="));
    }
    assert!(happens(|| outside.ledger().len() == targets.len()), "{:?}", outside.ledger());
    assert!(
        outside.ledger().iter().all(|line| line["event"] == "registry" && line["decision"] == "refused_host")
    );
    assert!(seen.lock().unwrap().is_empty());
    assert_eq!(outside.file(".self/broker/taint.json"), "", "nothing was read");
}

#[test]
fn a_token_is_asked_for() {
    let home = cargo_home("");
    let outside = with(home.path(), vec![]);
    for token in ["", FORMER, "x"] {
        let (_, answer) = connect(&outside, "example.org:443", token);
        assert_eq!((answer.status, answer.kind()), (407, "token_unknown"), "{token}");
        assert!(answer.header("proxy-authenticate").is_some_and(|scheme| scheme.starts_with("Basic")));
    }
    for token in [LIFE, BUILD] {
        assert_eq!(connect(&outside, "example.org:443", token).1.status, 403);
    }
    let bearer = format!(
        "CONNECT example.org:443 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {LIFE}\r\nconnection: close\r\n\r\n"
    );
    let mut stream = outside.connect();
    stream.write_all(bearer.as_bytes()).unwrap();
    assert_eq!(Answer::read(&mut stream).status, 407, "a header meant for the other end opens nothing here");
}

#[test]
fn a_tunnel_carries_taints_and_is_counted() {
    let (at, seen) = listener();
    let home =
        cargo_home(&format!("[registries.own]\nindex = \"sparse+https://localhost:{}/\"\n", at.port()));
    let outside = with(home.path(), vec![]);
    let target = format!("localhost:{}", at.port());
    let (mut stream, answer) = connect(&outside, &target, LIFE);
    assert_eq!(answer.status, 200);
    assert!(outside.file(".self/broker/taint.json").contains("until_s"), "tainted before a byte came back");
    let greeting = greeting("localhost");
    stream.write_all(&greeting).unwrap();
    let mut pong = [0; 4];
    stream.read_exact(&mut pong).unwrap();
    assert_eq!((&pong, seen.lock().unwrap().concat() == greeting), (b"pong", true));
    drop(stream);
    assert!(happens(|| outside.ledger().len() == 1));
    let line = &outside.ledger()[0];
    assert_eq!(
        (&line["event"], &line["path"], &line["life"]),
        (&"registry".into(), &target.into(), &7.into())
    );
    assert_eq!((&line["bytes_out"], &line["bytes_in"]), (&greeting.len().into(), &4.into()));
}

/// Found: what a build fetched tainted nobody, and the next life read it from cargo's folder.
#[test]
fn builds_fetch_too_and_taint_as_lives_do() {
    let (at, _) = listener();
    let home =
        cargo_home(&format!("[registries.own]\nindex = \"sparse+https://localhost:{}/\"\n", at.port()));
    let outside = with(home.path(), vec![]);
    let (mut stream, answer) = connect(&outside, &format!("localhost:{}", at.port()), BUILD);
    assert_eq!(answer.status, 200);
    stream.write_all(&greeting("localhost")).unwrap();
    stream.read_exact(&mut [0; 4]).unwrap();
    drop(stream);
    assert!(happens(|| outside.ledger().len() == 1));
    assert_eq!((&outside.ledger()[0]["life"], &outside.ledger()[0]["note"]), (&0.into(), &"build".into()));
    assert!(outside.file(".self/broker/taint.json").contains("until_s"));
}

#[test]
fn a_tunnel_is_for_the_host_it_was_opened_for() {
    let (at, seen) = listener();
    let home =
        cargo_home(&format!("[registries.own]\nindex = \"sparse+https://localhost:{}/\"\n", at.port()));
    let outside = with(home.path(), vec![]);
    let other = greeting("other.example.org");
    let plain = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec();
    for sent in [other, plain, vec![0x16, 3, 1, 255, 255, 0, 0], greeting("10.0.0.1")] {
        let (mut stream, answer) = connect(&outside, &format!("localhost:{}", at.port()), LIFE);
        assert_eq!(answer.status, 200);
        let _ = stream.write_all(&sent);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.is_empty(), "{rest:?}");
    }
    assert!(happens(|| outside.ledger().len() == 4));
    assert!(
        outside.ledger().iter().all(|line| line["decision"] == "refused_server_name"),
        "{:?}",
        outside.ledger()
    );
    assert!(seen.lock().unwrap().is_empty(), "not a byte went out");
}

#[test]
fn what_a_registry_says_of_itself_opens_no_private_network() {
    let (at, seen) = listener();
    let home = cargo_home("[registries.metadata]\nindex = \"sparse+https://169.254.169.254/\"\n");
    used(home.path(), "8.8.8.8-0123456789abcdef", &format!(r#"{{"dl":"https://{at}/dl"}}"#));
    let outside = with(home.path(), vec![]);
    for target in [at.to_string(), "169.254.169.254:443".into()] {
        let (_, answer) = connect(&outside, &target, LIFE);
        assert_eq!((answer.status, answer.kind()), (403, "refused_address"), "{target}");
    }
    assert!(seen.lock().unwrap().is_empty());
}

#[test]
fn a_closed_ledger_opens_no_tunnel() {
    let home = cargo_home("[registries.local]\nindex = \"sparse+http://127.0.0.1:1/\"\n");
    let outside = with(home.path(), vec![]);
    let ledger = outside.folder.path().join(".self/ledger.jsonl");
    // Another file in its place, as whoever wants a fresh one would put there.
    std::fs::remove_file(&ledger).unwrap();
    std::fs::write(&ledger, "{}\n").unwrap();
    // Whoever writes the next line finds out; what was asked before that may have been let through.
    assert!(happens(|| {
        let answer = connect(&outside, "127.0.0.1:1", LIFE).1;
        (answer.status, answer.kind()) == (503, "ledger_closed")
    }));
}

#[test]
fn only_so_many_tunnels() {
    let (at, _) = listener();
    let home =
        cargo_home(&format!("[registries.own]\nindex = \"sparse+https://localhost:{}/\"\n", at.port()));
    let outside = with(home.path(), vec![]);
    let target = format!("localhost:{}", at.port());
    let mut held = Vec::new();
    for _ in 0..32 {
        let (stream, answer) = connect(&outside, &target, LIFE);
        assert_eq!(answer.status, 200);
        held.push(stream);
    }
    assert_eq!(connect(&outside, &target, LIFE).1.kind(), "too_many_tunnels");
    assert_eq!(outside.get("/status").status, 200, "others are served meanwhile");
    drop(held);
    assert!(happens(|| connect(&outside, &target, LIFE).1.status == 200));
}

#[test]
fn it_goes_through_the_owners_proxy() {
    let proxy = Server::new(|path, head, stream| {
        let pass = base64::engine::general_purpose::STANDARD.encode("owner:word");
        assert!(head.contains(&format!("proxy-authorization: Basic {pass}")), "{head}");
        assert!(!head.contains(LIFE) && head.starts_with("CONNECT "), "{head}");
        assert_eq!(path, "crates.example.org:443");
        stream.write_all(b"HTTP/1.1 200 Connection established\r\nx: y\r\n\r\nearly").unwrap();
        std::thread::sleep(Duration::from_millis(500));
    });
    let home = cargo_home("[registries.own]\nindex = \"sparse+https://crates.example.org/\"\n");
    let outside = with(home.path(), vec![("https_proxy", format!("http://owner:word@{}", proxy.at))]);
    let (mut stream, answer) = connect(&outside, "crates.example.org:443", LIFE);
    assert_eq!(answer.status, 200);
    stream.write_all(&greeting("crates.example.org")).unwrap();
    let mut early = [0; 5];
    stream.read_exact(&mut early).unwrap();
    assert_eq!(&early, b"early");
    let refusing = Server::new(|_, _, stream| reply(stream, "407 No", b""));
    let outside = with(home.path(), vec![("CARGO_HTTP_PROXY", refusing.url(""))]);
    let (_, answer) = connect(&outside, "crates.example.org:443", LIFE);
    assert_eq!((answer.status, answer.kind()), (502, "unreachable"));
    assert!(answer.text().contains("407"));
}
