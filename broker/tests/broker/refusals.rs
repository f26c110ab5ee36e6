//! Refusals without end: they are counted, and fill no ledger.

use crate::outside::{LIFE, Outside, Start, happens, start};
use broker::ledger::Entry;
use broker::ledger::refusals::{Noted, Refusals, SPAN, WHOLE};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

const MANY: usize = 2_000;

fn of(life: u64, event: &str, path: &str) -> Entry {
    Entry { life, event: event.into(), path: path.into(), decision: "refused".into(), ..Entry::default() }
}

#[test]
fn beyond_the_first_they_are_one_line_a_minute_until_a_quiet_one() {
    let (mut refusals, mut now) = (Refusals::default(), Instant::now());
    let mut lines = 0;
    for minute in 0..60 {
        for n in 0..1_000 {
            let noted = refusals.note(&of(7, "refuse", &format!("/{n}")), now + Duration::from_millis(n));
            lines += usize::from(noted == Noted::Whole);
            assert!((noted == Noted::Whole) == (minute == 0 && n < WHOLE), "{minute}, {n}: {noted:?}");
        }
        now += SPAN;
        let sum = refusals.sum(&(7, "refuse".into()), now).unwrap();
        let whole = if minute == 0 { WHOLE } else { 0 };
        assert_eq!((sum.count, sum.path.as_str(), sum.life), (Some(1_000 - whole), "", 7));
        lines += 1;
    }
    assert_eq!(lines as u64, WHOLE + 60);
    // Another life and another event have lines of their own.
    assert_eq!(refusals.note(&of(8, "refuse", "/"), now), Noted::Whole);
    assert_eq!(refusals.note(&of(7, "fetch", "/"), now), Noted::Whole);
    assert!(matches!(refusals.note(&of(7, "refuse", "/a"), now), Noted::First(_)));
    assert_eq!(refusals.note(&of(7, "refuse", "/a"), now + 3 * SPAN), Noted::Summed, "its line is late");
    let rest = refusals.rest();
    assert_eq!(rest.iter().map(|sum| (sum.count, sum.path.as_str())).collect::<Vec<_>>(), [(Some(2), "/a")]);
    assert_eq!(refusals.note(&of(7, "refuse", "/"), now + 4 * SPAN), Noted::Whole, "after a quiet minute");
}

/// Sends requests over one connection, each refused; the answers are told apart by their heads alone.
fn flood(outside: &Outside, request: impl Fn(usize) -> String) {
    let mut stream = outside.connect();
    let mut left = Vec::new();
    for number in 0..MANY {
        stream.write_all(request(number).as_bytes()).unwrap();
        loop {
            let text = String::from_utf8_lossy(&left).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length = head.to_lowercase();
                let length = length.split_once("content-length: ").unwrap().1;
                let length: usize = length.lines().next().unwrap().trim().parse().unwrap();
                if body.len() >= length {
                    left.drain(..head.len() + 4 + length);
                    break;
                }
            }
            let mut piece = [0; 4_096];
            let read = stream.read(&mut piece).unwrap();
            assert!(read > 0, "after {number}");
            left.extend_from_slice(&piece[..read]);
        }
    }
}

/// Found: 80,000 refusals were 80,000 lines, 80 MB.
#[test]
fn thousands_of_refusals_fill_no_ledger_and_each_is_counted() {
    let mut outside = start(Start::default());
    let head = format!("host: x\r\nauthorization: Bearer {LIFE}\r\n");
    flood(&outside, |number| {
        let body = format!("{{\"service\":\"none{number}\",\"method\":\"POST\",\"path\":\"/{number}\"}}");
        format!("POST /service HTTP/1.1\r\n{head}content-length: {}\r\n\r\n{body}", body.len())
    });
    flood(&outside, |number| {
        format!("GET /web?url=http%3A%2F%2F127.0.0.1%3A{number}%2F HTTP/1.1\r\n{head}\r\n")
    });
    let proxied = format!("host: x\r\nproxy-authorization: Bearer {LIFE}\r\n");
    flood(&outside, |number| format!("GET http://nobody{number}.example/ HTTP/1.1\r\n{proxied}\r\n"));
    kill(Pid::from_raw(outside.child.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
    assert_eq!(outside.child.wait().unwrap().code(), Some(0));
    // Read as the broker does, line by line from the first.
    let lines: Vec<Value> = outside.ledger();
    assert_eq!(crate::paid::read(outside.folder.path()).lines.len(), lines.len(), "the chain is whole");
    println!("{} refusals are {} lines", 3 * MANY, lines.len());
    assert!(lines.len() < 3 * 60, "{}", lines.len());
    for event in ["refuse", "fetch", "registry"] {
        let of_it = lines.iter().filter(|line| line["event"] == event);
        let counted: u64 = of_it.map(|line| line["count"].as_u64().unwrap_or(1)).sum();
        assert_eq!(counted, MANY as u64, "{event}");
    }
    assert!(happens(|| !outside.file(".self/broker/anchor.json").is_empty()));
}
