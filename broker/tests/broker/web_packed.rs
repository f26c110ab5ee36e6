//! Pages as servers pack and delay them: codings in every spelling, waits in every form.

use crate::outside::{Outside, Server, Start, reply, start};
use std::io::Write;

fn with() -> Outside {
    start(Start { settings: "[web]\nallow_private = true\n", ..Start::default() })
}

const PAGE: &[u8] = b"<p>a page, and a page, and a page</p>";

fn gzip() -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(PAGE).unwrap();
    packed.finish().unwrap()
}

fn zlib() -> Vec<u8> {
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(PAGE).unwrap();
    packed.finish().unwrap()
}

fn raw() -> Vec<u8> {
    let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(PAGE).unwrap();
    packed.finish().unwrap()
}

/// Found: `GZIP`, `x-gzip`, `deflate` and `br` were handed on packed, as the page.
#[test]
fn a_page_is_unpacked_however_its_coding_is_spelled_or_refused_by_its_name() {
    for (named, packed) in [
        ("gzip", gzip()),
        ("GZIP", gzip()),
        ("x-gzip", gzip()),
        ("X-GZip", gzip()),
        ("deflate", zlib()),
        ("Deflate", raw()),
        ("identity", PAGE.to_vec()),
        ("gzip, identity", gzip()),
    ] {
        let server = Server::new(move |_, _, stream| {
            reply(stream, &format!("200 OK\r\ncontent-encoding: {named}"), &packed);
        });
        let answer = with().page(&server.url("/"));
        assert_eq!((answer.status, answer.body.as_slice()), (200, PAGE), "{named}");
    }
    for named in ["br", "BR", "zstd", "compress", "gzip, br"] {
        let server = Server::new(move |_, head, stream| {
            assert!(head.to_lowercase().contains("accept-encoding: gzip, deflate\r\n"), "{head}");
            reply(stream, &format!("200 OK\r\ncontent-encoding: {named}"), &gzip());
        });
        let answer = with().page(&server.url("/"));
        assert_eq!((answer.status, answer.kind()), (502, "unreachable"), "{named}");
        assert!(
            answer.text().contains(&format!("packed as \\\"{}\\\"", named.to_lowercase())),
            "{}",
            answer.text()
        );
    }
}

/// Found: a page's wait was heard in whole seconds only.
#[test]
fn a_page_s_wait_is_heard_in_every_form() {
    let until = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(3_000);
    let date = jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&until).unwrap();
    for (header, expected) in [
        ("retry-after: 12.5".to_owned(), 13..=13),
        (format!("Retry-After: {date}"), 2_900..=3_000),
        ("x-ratelimit-remaining: 0\r\nx-ratelimit-reset: 70".to_owned(), 70..=70),
    ] {
        let server = Server::new({
            let header = header.clone();
            move |_, _, stream| reply(stream, &format!("429 Too Many\r\n{header}"), b"go away")
        });
        let answer = with().page(&server.url("/"));
        let wait_s: Option<u64> = answer.header("retry-after").and_then(|wait| wait.parse().ok());
        assert!(wait_s.is_some_and(|wait_s| expected.contains(&wait_s)), "{header}: {wait_s:?}");
    }
}
