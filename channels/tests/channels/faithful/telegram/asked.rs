//! A request to the Bot API as what it asks: token, method, arguments and files, in any of the forms that it takes.
//!
//! Bot API, "Making requests": GET and POST; a query string, a form, JSON (no files), or multipart (files).

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use tiny_http::Request;

/// sendDocument: files of up to 50 MB.
const BODY_BYTES: u64 = 52 << 20;

#[derive(Debug, Default)]
pub struct Asked {
    /// The path without its first slash.
    pub path: String,
    pub arguments: Map<String, Value>,
    pub files: BTreeMap<String, Upload>,
}

#[derive(Clone, Debug)]
pub struct Upload {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Reads a request; `None`: its body is too long.
pub fn read(request: &mut Request) -> Option<Asked> {
    let kind = request.headers().iter().find(|header| header.field.equiv("Content-Type"));
    let kind = kind.map(|header| header.value.as_str().to_owned()).unwrap_or_default();
    let (path, query) = request.url().split_once('?').unwrap_or((request.url(), ""));
    let mut asked = Asked { path: path.trim_start_matches('/').to_owned(), ..Asked::default() };
    asked.arguments.extend(fields(query));
    let mut body = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(request.as_reader(), BODY_BYTES + 1), &mut body)
        .ok()?;
    if body.len() as u64 > BODY_BYTES {
        return None;
    }
    if kind.starts_with("application/json") {
        if let Ok(Value::Object(arguments)) = serde_json::from_slice(&body) {
            asked.arguments.extend(arguments);
        }
    } else if let Some((_, boundary)) = kind.split_once("boundary=") {
        parts(&body, boundary.trim_matches('"'), &mut asked);
    } else {
        asked.arguments.extend(fields(&String::from_utf8_lossy(&body)));
    }
    Some(asked)
}

impl Asked {
    /// An argument that is no text is JSON in every form but a JSON body.
    pub fn json(&self, name: &str) -> Option<Value> {
        let value = self.arguments.get(name)?;
        value.as_str().map_or_else(|| Some(value.clone()), |text| serde_json::from_str(text).ok())
    }

    pub fn text(&self, name: &str) -> String {
        let value = self.arguments.get(name);
        let text = value.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        text.unwrap_or_default()
    }

    pub fn integer(&self, name: &str) -> Option<i64> {
        self.json(name)?.as_i64()
    }
}

fn fields(text: &str) -> Vec<(String, Value)> {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (plain(name), Value::String(plain(value)))).collect()
}

fn plain(text: &str) -> String {
    let (mut bytes, mut letters) = (Vec::new(), text.bytes());
    while let Some(byte) = letters.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits: Vec<u8> = letters.by_ref().take(2).collect();
                let digits = String::from_utf8_lossy(&digits).into_owned();
                bytes.push(u8::from_str_radix(&digits, 16).unwrap_or(b'?'));
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn parts(body: &[u8], boundary: &str, asked: &mut Asked) {
    let mark = format!("--{boundary}").into_bytes();
    let mut rest = body;
    while let Some(at) = find(rest, &mark) {
        rest = &rest[at + mark.len()..];
        let Some(end) = find(rest, &mark) else { return };
        // A part lies between line ends.
        let part = &rest[2..end - 2];
        let Some(head) = find(part, b"\r\n\r\n") else { continue };
        let (head, bytes) = (String::from_utf8_lossy(&part[..head]).into_owned(), &part[head + 4..]);
        let value = |name: &str| {
            let begin = head.find(&format!("{name}=\""))? + name.len() + 2;
            head[begin..].find('"').map(|end| head[begin..begin + end].to_owned())
        };
        let name = value("; name").unwrap_or_default();
        match value("filename") {
            Some(file) => {
                asked.files.insert(name, Upload { name: file, bytes: bytes.to_vec() });
            }
            None => {
                asked.arguments.insert(name, Value::String(String::from_utf8_lossy(bytes).into_owned()));
            }
        }
    }
}

fn find(all: &[u8], what: &[u8]) -> Option<usize> {
    all.windows(what.len()).position(|window| window == what)
}
