//! A server that takes mail as RFC 5321 and 4954 say, and that ends, refuses or falls silent where a test wants it to.

use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// An accident at the line that begins with a word.
#[derive(Clone, Copy, Debug)]
pub enum Does {
    /// The connection ends before the answer.
    Cut,
    /// This is the answer.
    Says(&'static str),
}

pub struct Smtp {
    pub port: u16,
    /// Mails that it answered for, or would have.
    pub taken: Arc<Mutex<Vec<String>>>,
}

impl Smtp {
    pub async fn start(at: &'static str, does: Does) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let taken = Arc::new(Mutex::new(Vec::new()));
        let kept = taken.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = talk(stream, at, does, &kept).await;
            }
        });
        Self { port, taken }
    }
}

async fn talk(stream: TcpStream, at: &str, does: Does, taken: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut order = "";
    let mut line = "CONNECT".to_owned();
    loop {
        let word = line.split([' ', ':', '\r']).next().unwrap_or_default().to_ascii_uppercase();
        let usual = match word.as_str() {
            "CONNECT" => "220 localhost ESMTP",
            "EHLO" => "250-localhost\r\n250-SIZE 1000000\r\n250 AUTH PLAIN",
            "AUTH" if line.trim_end().ends_with("AGFubmEAc2VjcmV0") => "235 2.7.0 Authentication successful",
            "AUTH" => "535 5.7.8 Authentication credentials invalid",
            // The order of commands: RFC 5321, 4.1.4.
            "MAIL" if order == "AUTH" => "250 OK",
            "RCPT" if order == "MAIL" => "250 OK",
            "DATA" if order == "RCPT" => "354 Start mail input; end with <CRLF>.<CRLF>",
            "QUIT" => "221 bye",
            _ => "503 bad sequence of commands",
        };
        let answer = match does {
            Does::Cut if word == at => return Ok(()),
            Does::Says(says) if word == at => says,
            Does::Cut | Does::Says(_) => usual,
        };
        stream.write_all(format!("{answer}\r\n").as_bytes()).await?;
        order = ["AUTH", "MAIL", "RCPT"].into_iter().find(|of| *of == word).unwrap_or("");
        if word == "DATA" && answer.starts_with("354") {
            let mut mail = String::new();
            let mut lines = 0;
            loop {
                line.clear();
                stream.read_line(&mut line).await?;
                lines += 1;
                if line.is_empty() || (at == "HEAD" && lines == 3) {
                    return Ok(());
                }
                if line == ".\r\n" {
                    break;
                }
                assert!(line.ends_with("\r\n"), "each line ends with CR and LF: RFC 5321, 2.3.8");
                mail.push_str(line.strip_prefix('.').unwrap_or(&line));
            }
            taken.lock().unwrap().push(mail);
            match does {
                Does::Cut if at == "DOT" => return Ok(()),
                Does::Says(says) if at == "DOT" => stream.write_all(format!("{says}\r\n").as_bytes()).await?,
                Does::Cut | Does::Says(_) => stream.write_all(b"250 OK queued\r\n").await?,
            }
        }
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(());
        }
    }
}
