//! Just enough of HTTP/1.1 for one request a connection: read whole, answered whole or in chunks split anywhere.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::TcpStream;

/// One request as it came.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// Names in small letters.
    pub headers: Vec<(String, String)>,
    pub raw: Vec<u8>,
    /// Null where the body is no JSON.
    pub body: Value,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// None where the client hung up before its end.
    pub fn read(stream: &TcpStream) -> Option<Request> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        let first = line(&mut reader)?;
        let mut words = first.split(' ').map(str::to_owned);
        let (method, path) = (words.next()?, words.next()?);
        let mut request = Request { method, path, ..Request::default() };
        loop {
            let line = line(&mut reader)?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':')?;
            request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        if request.header("expect").is_some_and(|expect| expect.eq_ignore_ascii_case("100-continue")) {
            (&mut &*stream).write_all(b"HTTP/1.1 100 Continue\r\n\r\n").ok()?;
        }
        request.raw = match request.header("transfer-encoding") {
            Some(_) => chunked(&mut reader)?,
            None => {
                let length =
                    request.header("content-length").map_or(Some(0), |length| length.parse().ok())?;
                bytes(&mut reader, length)?
            }
        };
        request.body = serde_json::from_slice(&request.raw).unwrap_or_default();
        Some(request)
    }
}

fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    let read = reader.read_line(&mut line).ok()?;
    (read > 0).then(|| line.trim_end().to_owned())
}

fn bytes(reader: &mut impl Read, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

fn chunked(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let length = usize::from_str_radix(line(reader)?.split(';').next()?.trim(), 16).ok()?;
        whole.extend(bytes(reader, length)?);
        line(reader)?;
        if length == 0 {
            return Some(whole);
        }
    }
}

/// Answers whole.
pub fn whole(mut stream: &TcpStream, status: u16, kind: &str, body: &[u8]) -> Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} {}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n",
        reason(status)
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    stream.flush()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        413 => "Payload Too Large",
        _ => "Answer",
    }
}

/// An answer whose body comes in chunks.
pub struct Chunks<'a> {
    stream: &'a TcpStream,
}

impl<'a> Chunks<'a> {
    pub fn begin(mut stream: &'a TcpStream, kind: &str) -> Result<Chunks<'a>> {
        stream.set_nodelay(true)?;
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        Ok(Chunks { stream })
    }

    pub fn write(&mut self, piece: &[u8]) -> Result<()> {
        if piece.is_empty() {
            return Ok(());
        }
        let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
        chunk.extend(piece);
        chunk.extend(b"\r\n");
        (&mut &*self.stream).write_all(&chunk)
    }

    pub fn end(self) -> Result<()> {
        (&mut &*self.stream).write_all(b"0\r\n\r\n")
    }
}
