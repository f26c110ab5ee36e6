//! The owner's page among a crowd of connections without its token: the owner is answered at once, by old and new ones.

use crate::page::Page;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use trials::{House, SOUND};

/// Less than the ten seconds that the page gives a head to end. Without places of their own the owners waited that long
/// for one of sixty-four slow heads in every round, and more than sixty seconds for the others.
const AT_ONCE: Duration = Duration::from_secs(6);
/// Each behind the same crowd; a machine that stands still for a moment spoils one or two of them.
const ROUNDS: usize = 5;

/// How long the owner's browser waits for a page by a new connection; like a browser it tries again where one breaks.
fn answered(page: &Page) -> Duration {
    let began = Instant::now();
    while began.elapsed() < AT_ONCE {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", page.port)) else { continue };
        stream.set_read_timeout(Some(AT_ONCE)).unwrap();
        let head = format!("Host: {}\r\nCookie: {}\r\nConnection: close", page.host(), page.cookie());
        let mut told = [0; 12];
        let sent = write!(stream, "GET /talk HTTP/1.1\r\n{head}\r\n\r\n");
        if sent.is_ok() && stream.read_exact(&mut told).is_ok() {
            assert_eq!(&told, b"HTTP/1.1 200");
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).unwrap();
            return began.elapsed();
        }
    }
    began.elapsed()
}

/// A connection that has shown the token and asks again and again.
struct Known(TcpStream);

impl Known {
    fn of(page: &Page) -> Self {
        let mut known = Self(page.connect());
        known.asks(page);
        known
    }

    fn asks(&mut self, page: &Page) {
        write!(
            self.0,
            "GET /favicon.ico HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n\r\n",
            page.host(),
            page.cookie()
        )
        .unwrap();
        let mut told = Vec::new();
        while !told.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.0.read_exact(&mut byte).expect("a connection that has shown the token keeps its place");
            told.push(byte[0]);
        }
        assert!(told.starts_with(b"HTTP/1.1 204"), "{}", String::from_utf8_lossy(&told));
    }
}

/// Ends the crowd with the test, however it ends.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The owner asks while others do their worst, until each round was answered.
fn asks_among(page: &Page, mut known: Known, what: &str, is_over: &AtomicBool) {
    let _over = Over(is_over);
    let mut waits = [Duration::ZERO; ROUNDS];
    for wait in &mut waits {
        *wait = answered(page);
        known.asks(page);
    }
    println!("{what}: {waits:?}");
    waits.sort();
    assert!(waits[ROUNDS / 2] < AT_ONCE, "{what}: {waits:?}");
}

/// Waits until a thread of the crowd has done its part, so that the owner comes last.
fn wait_for(count: &AtomicUsize, wanted: usize) {
    while count.load(Ordering::SeqCst) < wanted {
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_closed(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0; 512]) {
        Ok(0) => true,
        Ok(_) => false,
        Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
    }
}

/// Holds so many connections, each with a head that never ends, and replaces each that is ended.
fn renews(page: &Page, many: usize, begun: &AtomicUsize, is_over: &AtomicBool) {
    let open = || {
        let mut stream = TcpStream::connect(("127.0.0.1", page.port)).ok()?;
        stream.write_all(b"GET / HTTP/1.1\r\nx: ").ok()?;
        stream.set_nonblocking(true).ok()?;
        Some(stream)
    };
    let mut held: Vec<TcpStream> = std::iter::repeat_with(open).flatten().take(many).collect();
    begun.fetch_add(many, Ordering::SeqCst);
    while !is_over.load(Ordering::SeqCst) {
        for stream in &mut held {
            let gone = is_closed(stream) || stream.write_all(b"x").is_err();
            if let Some(new) = gone.then(open).flatten() {
                *stream = new;
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn among_heads(many: usize) {
    let house = House::new(SOUND);
    let page = Page::of(&house);
    let (begun, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let known = Known::of(&page);
        for _ in 0..4 {
            scope.spawn(|| renews(&page, many / 4, &begun, &is_over));
        }
        wait_for(&begun, many);
        asks_among(&page, known, &format!("{many} heads that never end, each renewed"), &is_over);
    });
}

/// Found: sixty-four heads without an end kept the owner waiting for ten seconds.
#[test]
fn sixty_four_slow_heads_do_not_lock_the_page() {
    among_heads(64);
}

/// Found: four hundred of them, each begun anew, locked it for good.
#[test]
fn four_hundred_renewed_heads_do_not_lock_the_page() {
    among_heads(400);
}

/// Found: three thousand connections that say nothing locked it for more than a minute.
#[test]
fn three_thousand_idle_connections_do_not_lock_the_page() {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    let _ = setrlimit(Resource::RLIMIT_NOFILE, hard.min(8_192).max(soft), hard);
    let house = House::new(SOUND);
    let page = Page::of(&house);
    let mut known = Known::of(&page);
    let mut idle = Vec::new();
    for number in 0..3_000 {
        idle.extend(TcpStream::connect(("127.0.0.1", page.port)));
        if number % 200 == 0 {
            // One that says nothing for ten seconds is ended, whatever it has shown.
            known.asks(&page);
        }
    }
    assert!(idle.len() > 500, "{}", idle.len());
    asks_among(&page, known, "idle connections", &AtomicBool::new(false));
}

/// Of the same kind: requests without the token, as fast as they are refused.
#[test]
fn refused_requests_without_a_pause_do_not_lock_the_page() {
    let house = House::new(SOUND);
    let page = Page::of(&house);
    let (begun, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let known = Known::of(&page);
        for _ in 0..4 {
            scope.spawn(|| {
                while !is_over.load(Ordering::SeqCst) {
                    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", page.port)) else { continue };
                    let asked = format!("GET /talk HTTP/1.1\r\nHost: {}\r\n\r\n", page.host());
                    // As many as it takes over one connection.
                    while stream.write_all(asked.as_bytes()).is_ok() && !is_closed(&mut stream) {}
                    begun.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        wait_for(&begun, 200);
        asks_among(&page, known, "requests without the token", &is_over);
    });
}
