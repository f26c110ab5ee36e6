//! A homeserver for what a real one does not do when asked: it answers by a list, and ends connections where that says so.

use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

pub enum Answer {
    /// Status, fields of the head, body.
    Says(u16, &'static str, Value),
    /// The request is read, and the connection ends.
    Cut,
}

pub struct Homeserver {
    pub url: String,
    /// Requests in their order: method and path, and the body.
    pub asked: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Homeserver {
    /// Answers each request with the next of these; then with 404.
    pub async fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (kept, mut answers) = (asked.clone(), VecDeque::from(answers));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = talk(stream, &kept, &mut answers).await;
            }
        });
        Self { url, asked }
    }

    pub fn paths(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(|(path, _)| path.clone()).collect()
    }
}

async fn talk(
    stream: TcpStream,
    asked: &Mutex<Vec<(String, Value)>>,
    answers: &mut VecDeque<Answer>,
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut first = String::new();
    stream.read_line(&mut first).await?;
    let (mut length, mut is_signed) = (0, false);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let field = line.trim().to_ascii_lowercase();
        if field.is_empty() {
            break;
        }
        length = field.strip_prefix("content-length:").map_or(length, |value| value.trim().parse().unwrap());
        is_signed |= field == "authorization: bearer token";
    }
    assert!(is_signed, "the token stands in a field, and nowhere else: \"Client Authentication\"");
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let request = first.trim_end_matches(" HTTP/1.1\r\n").to_owned();
    asked.lock().unwrap().push((request, serde_json::from_slice(&body).unwrap_or_default()));
    let (status, head, body) = match answers.pop_front() {
        Some(Answer::Says(status, head, body)) => (status, head, body.to_string()),
        Some(Answer::Cut) => return Ok(()),
        None => (404, "", "{\"errcode\":\"M_UNRECOGNIZED\",\"error\":\"\"}".to_owned()),
    };
    let head =
        format!("HTTP/1.1 {status} X\r\nconnection: close\r\n{head}content-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await
}
