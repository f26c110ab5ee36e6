//! A plain client for the faithful servers: posts, undoes the chunks, reads events.

use crate::faithful::Faithful;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;

/// Status and body of an answer; what came where it was cut.
pub fn raw(server: &Faithful, path: &str, body: &[u8]) -> (u16, Vec<u8>) {
    let mut stream = TcpStream::connect(server.origin().trim_start_matches("http://")).unwrap();
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nanthropic-version: 2023-06-01\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let at = answer.windows(4).position(|end| end == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(answer[..at].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let rest = &answer[at + 4..];
    (status, if head.contains("chunked") { joined(rest) } else { rest.to_vec() })
}

fn joined(mut rest: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(at) = rest.windows(2).position(|end| end == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..at]).unwrap(), 16).unwrap();
        let piece = &rest[at + 2..];
        whole.extend(&piece[..length.min(piece.len())]);
        rest = piece.get(length + 2..).unwrap_or_default();
    }
    whole
}

pub fn post(server: &Faithful, path: &str, body: &Value) -> (u16, Value) {
    let (status, body) = raw(server, path, body.to_string().as_bytes());
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

/// The data of a stream's events.
pub fn events(stream: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(stream);
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    data.map(|data| serde_json::from_str(data).unwrap_or_else(|_| Value::String(data.trim().to_owned())))
        .collect()
}
