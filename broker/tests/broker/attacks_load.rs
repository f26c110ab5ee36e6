//! The real broker against those who only take up room: slow, large and many; and its end and its return.

use crate::outside::{
    Answer, FORMER, LIFE, Outside, Server, Start, command, encoded, folder, happens, reply, serving, start,
};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// Drops to somebody who never hangs up.
const MOST_DROPS: usize = 600;

const POST: &str =
    "POST /llm/openai/v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";

fn post(token: &str, rest: &str) -> String {
    format!("{POST}authorization: Bearer {token}\r\n{rest}\r\n")
}

/// A broker whose model is a server that answers anything.
fn with_model() -> (Server, Outside) {
    let model = Server::new(|_, _, stream| {
        let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
        while stream.read(&mut [0; 65_536]).is_ok_and(|count| count > 0) {}
        reply(stream, "200 OK\r\ncontent-type: application/json", b"{}");
    });
    let settings = format!(
        "[web]\nallow_private = true\n[model]\nprovider = \"openai\"\nmodel = \"stub\"\nbase_url = \"{}\"\n",
        model.url("/v1")
    );
    let outside = start(Start { settings: &settings, ..Start::default() });
    (model, outside)
}

/// Sends a byte every tenth of a second until the other end hangs up; how many that took. A busy machine sends fewer.
fn drip(outside: &Outside, head: &str, byte: &[u8]) -> usize {
    let mut stream = outside.connect();
    stream.write_all(head.as_bytes()).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let mut drops = 0;
    while drops < MOST_DROPS && stream.write_all(byte).is_ok() {
        drops += 1;
        match stream.read(&mut [0; 4_096]) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error)
                if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {}
            Err(_) => break,
        }
    }
    drops
}

#[test]
fn who_is_slow_is_left() {
    let (_model, outside) = with_model();
    let cases = [
        ("a head", "GET /status HTTP/1.1\r\n".to_owned(), &b"x"[..], 150),
        ("headers", "GET /status HTTP/1.1\r\n".to_owned(), b"x: y\r\n", 150),
        ("nothing at all", String::new(), b"", 150),
        ("a body of a known length", post(LIFE, "content-length: 100000\r\n"), b"x", 300),
        ("a body in chunks", post(LIFE, "transfer-encoding: chunked\r\n"), b"1\r\nx\r\n", 300),
        ("a body nobody asked for", post(FORMER, "content-length: 100000\r\n"), b"x", 300),
    ];
    std::thread::scope(|scope| {
        let dripping: Vec<_> = cases
            .iter()
            .map(|(name, head, byte, most)| {
                let outside = &outside;
                (name, most, scope.spawn(move || drip(outside, head, byte)))
            })
            .collect();
        assert_eq!(outside.get("/status").status, 200, "others are served meanwhile");
        for (name, most, dripping) in dripping {
            let drops = dripping.join().unwrap();
            println!("{name}: left after {drops} drops, ten a second");
            assert!(drops < *most, "{name}: {drops}");
        }
    });
    assert_eq!(outside.get("/status").status, 200);
}

/// Sends up to so many megabytes; how many went out, and what came back.
fn pour(outside: &Outside, head: &str, megabytes: usize, chunked: bool) -> (usize, Answer) {
    let mut stream = outside.connect();
    stream.set_write_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let piece = vec![b'x'; 1 << 20];
    let mut sent = 0;
    for _ in 0..megabytes {
        let framed = chunked.then(|| stream.write_all(b"100000\r\n")).is_none_or(|written| written.is_ok());
        if !framed || stream.write_all(&piece).is_err() || chunked && stream.write_all(b"\r\n").is_err() {
            break;
        }
        sent += 1;
    }
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    (sent, Answer::of(&answer))
}

#[test]
fn a_gigabyte_is_not_taken() {
    let (_model, outside) = with_model();
    let before = outside.peak_kb();
    let (sent, answer) = pour(&outside, &post(LIFE, "content-length: 1073741824\r\n"), 1_024, false);
    println!("with its length: {sent} MB went out, answered {}", answer.status);
    assert!(sent < 64 && matches!(answer.status, 0 | 413), "{sent} {}", answer.head);
    let (sent, answer) = pour(&outside, &post(LIFE, "transfer-encoding: chunked\r\n"), 1_024, true);
    println!("in chunks: {sent} MB went out, answered {}", answer.status);
    assert!(sent < 100 && matches!(answer.status, 0 | 400 | 413), "{sent} {}", answer.head);
    let (sent, _) = pour(&outside, &post(FORMER, "transfer-encoding: chunked\r\n"), 1_024, true);
    assert!(sent < 64, "a stranger's body is not even read: {sent}");
    let grown = outside.peak_kb() - before;
    println!("memory grew by {grown} kB");
    assert!(grown < 150_000, "{grown}");
    assert_eq!(outside.get("/status").status, 200);
}

#[test]
fn many_large_bodies_take_turns() {
    let (_model, outside) = with_model();
    let before = outside.peak_kb();
    std::thread::scope(|scope| {
        let pouring: Vec<_> = (0..40)
            .map(|_| scope.spawn(|| pour(&outside, &post(LIFE, "transfer-encoding: chunked\r\n"), 31, true)))
            .collect();
        assert!(happens(|| outside.get("/status").status == 200));
        pouring.into_iter().for_each(|pouring| drop(pouring.join().unwrap()));
    });
    let grown = outside.peak_kb() - before;
    println!("40 bodies of 31 MB at once: memory grew by {grown} kB");
    assert!(grown < 700_000, "{grown}");
    assert_eq!(outside.get("/status").status, 200);
}

#[test]
fn thousands_of_idle_connections_shut_nobody_out() {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    let _ = setrlimit(Resource::RLIMIT_NOFILE, hard.min(8_192).max(soft), hard);
    let server = Server::new(|_, _, stream| {
        std::thread::sleep(Duration::from_secs(3));
        reply(stream, "200 OK", b"slow but there");
    });
    let (_model, outside) = with_model();
    let before = outside.peak_kb();
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| outside.get(&format!("/web?url={}", encoded(&server.url("/")))));
        assert!(happens(|| server.count() == 1));
        let mut idle = Vec::new();
        for number in 0..3_000 {
            let Ok(mut stream) = TcpStream::connect(outside.at) else { break };
            let _ = stream.write_all(&b"GET /status HTTP/1.1\r\nx: "[..number % 24]);
            idle.push(stream);
            if number % 100 == 99 {
                assert_eq!(outside.get("/status").status, 200);
            }
        }
        assert_eq!(idle.len(), 3_000);
        let slow = slow.join().unwrap();
        assert_eq!(
            (slow.status, slow.text().as_str()),
            (200, "slow but there"),
            "what is in hand is finished"
        );
    });
    let grown = outside.peak_kb() - before;
    println!("memory grew by {grown} kB");
    assert!(grown < 60_000, "{grown}");
}

#[test]
fn it_ends_when_told_and_finishes_what_is_in_hand() {
    let server = Server::new(|_, _, stream| {
        std::thread::sleep(Duration::from_secs(1));
        reply(stream, "200 OK", b"just in time");
    });
    let (_model, mut outside) = with_model();
    let mut stream = outside.connect();
    let ask = format!(
        "GET /web?url={} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {LIFE}\r\n\r\n",
        encoded(&server.url("/"))
    );
    stream.write_all(ask.as_bytes()).unwrap();
    assert!(happens(|| server.count() == 1));
    kill(Pid::from_raw(outside.child.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
    assert_eq!(Answer::read(&mut stream).text(), "just in time");
    assert_eq!(outside.child.wait().unwrap().code(), Some(0));
    assert_eq!(outside.ledger().len(), 1);
}

#[test]
fn on_the_same_descriptor_it_comes_back_to_the_same_port() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    fcntl(&listener, FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
    let start =
        Start { variables: vec![("FERAL_BROKER_FD", listener.as_raw_fd().to_string())], ..Start::default() };
    let house = folder(&start);
    let mut child = command(house.path(), &start).spawn().unwrap();
    assert_eq!(serving(&mut child), Some(at));
    let ask = |stream: &mut TcpStream| {
        let text = format!(
            "GET /status HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {LIFE}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(text.as_bytes()).unwrap();
    };
    let mut stream = TcpStream::connect(at).unwrap();
    ask(&mut stream);
    assert_eq!(Answer::read(&mut stream).status, 200);
    child.kill().unwrap();
    child.wait().unwrap();
    let mut queued: Vec<TcpStream> = (0..5).map(|_| TcpStream::connect(at).unwrap()).collect();
    queued.iter_mut().for_each(ask);
    let began = Instant::now();
    let mut child = command(house.path(), &start).spawn().unwrap();
    assert_eq!(serving(&mut child), Some(at));
    for stream in &mut queued {
        assert_eq!(Answer::read(stream).status, 200, "what came meanwhile was kept");
    }
    println!("back, with what had queued answered, in {:?}", began.elapsed());
    child.kill().unwrap();
    child.wait().unwrap();
}
