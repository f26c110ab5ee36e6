//! `/web`: what is passed on of an answer: its age, the wait it asks for, its body whatever its coding is called.

use crate::outside::{Server, reply};
use crate::web::{gzipped, with};
use std::io::Write;

#[test]
fn a_wait_is_passed_on_however_it_is_written() {
    let day = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(2);
    let date = jiff::fmt::rfc2822::to_string(&day.to_zoned(jiff::tz::TimeZone::UTC)).unwrap();
    for (written, seconds) in
        [("90", 90..=90), ("12.5", 13..=13), (date.as_str(), 7_000..=7_200), ("soon", 0..=0)]
    {
        let written = written.to_owned();
        let server = Server::new(move |_, _, stream| {
            reply(stream, &format!("503 Busy\r\nretry-after: {written}"), b"");
        });
        let answer = with("").page(&server.url("/"));
        let told = answer.header("retry-after").map_or(0, |told| told.parse().unwrap());
        assert!(seconds.contains(&told), "{told}, {:?}", answer.head);
    }
}

#[test]
fn a_page_that_is_as_it_was_comes_back_as_a_word() {
    let server = Server::new(|_, head, stream| {
        let known =
            head.contains("if-none-match: \"v1\"") && head.contains("if-modified-since: Mon, 02 Nov 2026");
        let age = "etag: \"v1\"\r\nlast-modified: Mon, 02 Nov 2026 10:00:00 GMT\r\ncache-control: max-age=60";
        match known {
            true => reply(stream, &format!("304 Not Modified\r\n{age}"), b""),
            false => reply(stream, &format!("200 OK\r\n{age}"), b"words"),
        }
    });
    let outside = with("");
    let whole = outside.page(&server.url("/"));
    assert_eq!((whole.status, whole.text().as_str(), whole.header("x-feral-status")), (200, "words", None));
    let age = ["etag", "last-modified", "cache-control"].map(|name| whole.header(name).unwrap().to_owned());
    assert_eq!(age, ["\"v1\"", "Mon, 02 Nov 2026 10:00:00 GMT", "max-age=60"]);
    let [etag, modified] = [&age[0], &age[1]].map(|value| crate::outside::encoded(value));
    let url = crate::outside::encoded(&server.url("/"));
    let same = outside.get(&format!("/web?url={url}&etag={etag}&modified={modified}"));
    assert_eq!((same.status, same.text().as_str(), same.header("x-feral-status")), (200, "", Some("304")));
    assert_eq!(
        (&outside.ledger()[1]["status"], &outside.ledger()[1]["decision"]),
        (&304.into(), &"allow".into())
    );
}

#[test]
fn a_body_is_unpacked_whatever_its_coding_is_called_or_refused_by_its_name() {
    let words = b"words of a page ".repeat(100);
    let packed = |kind: &str| -> Vec<u8> {
        let best = flate2::Compression::best();
        let (mut gzip, mut zlib, mut raw) = (
            flate2::write::GzEncoder::new(Vec::new(), best),
            flate2::write::ZlibEncoder::new(Vec::new(), best),
            flate2::write::DeflateEncoder::new(Vec::new(), best),
        );
        gzip.write_all(&words).unwrap();
        zlib.write_all(&words).unwrap();
        raw.write_all(&words).unwrap();
        match kind {
            "zlib" => zlib.finish().unwrap(),
            "raw" => raw.finish().unwrap(),
            "plain" => words.clone(),
            _ => gzip.finish().unwrap(),
        }
    };
    for (named, kind) in [
        ("gzip", "gzip"),
        ("GZIP", "gzip"),
        ("x-gzip", "gzip"),
        ("Gzip, identity", "gzip"),
        ("deflate", "zlib"),
        ("deflate", "raw"),
        ("identity", "plain"),
    ] {
        let body = packed(kind);
        let server = Server::new(move |_, _, stream| {
            reply(stream, &format!("200 OK\r\ncontent-encoding: {named}"), &body);
        });
        let answer = with("").page(&server.url("/"));
        assert_eq!((answer.status, answer.body == words), (200, true), "{named} {kind}: {}", answer.head);
    }
    for (named, body) in [("br", words.clone()), ("GZIP", words.clone())] {
        let server = Server::new(move |_, _, stream| {
            reply(stream, &format!("200 OK\r\ncontent-encoding: {named}"), &body);
        });
        let answer = with("").page(&server.url("/"));
        assert_eq!((answer.status, answer.kind()), (502, "unreadable_coding"), "{named}");
        assert!(answer.text().contains(&format!("`{}`", named.to_lowercase())), "{}", answer.text());
    }
}

#[test]
fn a_bomb_of_another_name_is_cut_too() {
    let bomb = gzipped(500);
    let most = bomb.len() + 1;
    let server = Server::new(move |_, _, stream| reply(stream, "200 OK\r\ncontent-encoding: GZIP", &bomb));
    let outside = with(&format!("most_bytes = {most}"));
    let answer = outside.page(&server.url("/bomb"));
    assert_eq!((answer.status, answer.body.len(), answer.header("x-feral-cut")), (200, most, Some("true")));
}
