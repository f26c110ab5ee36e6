//! Hands a mail over, and says what is certain about it afterwards. RFC 5321 (SMTP), 3207 (STARTTLS), 4954 (AUTH).

use super::server::{Security, Server, Wire};
use crate::channel::Trouble;
use crate::door::Door;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;

/// Longest time for an answer before the mail: shorter than the five minutes of RFC 5321, 4.5.3.2, for nothing has been
/// handed over yet; and for the answer to the mail itself (4.5.3.2.6).
const STEP: Duration = Duration::from_secs(60);
const TAKE: Duration = Duration::from_secs(600);
/// Longest line of an answer, and most lines of one.
const LINE_BYTES: u64 = 2_048;
const MOST_LINES: usize = 100;

/// How mail is handed over.
#[derive(Clone)]
pub struct Account {
    pub server: Server,
    pub user: String,
    pub password: String,
}

struct Talk<'a> {
    stream: BufReader<Box<dyn Wire>>,
    server: &'a Server,
}

/// An answer: its code and its lines.
struct Answer {
    code: u16,
    lines: Vec<String>,
}

impl Answer {
    fn words(&self) -> String {
        super::reading::line(&format!("{} {}", self.code, self.lines.join(" ")), 300)
    }

    fn has(&self, extension: &str) -> bool {
        self.lines.iter().any(|line| {
            line.split_whitespace().next().is_some_and(|name| name.eq_ignore_ascii_case(extension))
        })
    }
}

/// Hands a mail of plain letters from one address to another.
pub async fn hand_over(
    account: &Account,
    door: &Door,
    from: &str,
    to: &str,
    mail: &[u8],
) -> Result<(), Trouble> {
    let server = &account.server;
    let stream = BufReader::new(server.connect(door).await?);
    let mut talk = Talk { stream, server };
    expect(talk.answer(STEP).await?, 220, "the greeting")?;
    let mut can = talk.greet().await?;
    if server.security != Security::Implicit {
        if can.has("STARTTLS") {
            talk = talk.secured(door).await?;
            can = talk.greet().await?;
        } else if server.security == Security::StartTls {
            let why = format!("{} gives no TLS on port {}; port 465 may", server.host, server.port);
            return Err(Trouble::Refused(why));
        }
    }
    // A server that offers no sign-in, as some within a machine, takes mail without one.
    if can.has("AUTH") || server.security != Security::Offered {
        talk.sign_in(account, &can).await?;
    }
    expect(talk.said(&format!("MAIL FROM:<{from}>")).await?, 250, "the sender")?;
    expect(talk.said(&format!("RCPT TO:<{to}>")).await?, 250, to)?;
    expect(talk.said("DATA").await?, 354, "the mail")?;
    talk.take(mail).await
}

impl Talk<'_> {
    fn lost(&self, error: &std::io::Error) -> Trouble {
        Trouble::Away(format!("the connection to {} was lost: {error}", self.server.host))
    }

    /// Says a line and reads the answer.
    async fn said(&mut self, line: &str) -> Result<Answer, Trouble> {
        let line = format!("{line}\r\n");
        let written = async {
            self.stream.write_all(line.as_bytes()).await?;
            self.stream.flush().await
        };
        written.await.map_err(|error| self.lost(&error))?;
        self.answer(STEP).await
    }

    /// Reads an answer: lines of one code, the last with a space behind it (RFC 5321, 4.2).
    async fn answer(&mut self, wait: Duration) -> Result<Answer, Trouble> {
        let late =
            || Trouble::Away(format!("{} does not answer within {} s", self.server.host, wait.as_secs()));
        timeout(wait, read(&mut self.stream)).await.map_err(|_| late())?.map_err(|error| {
            Trouble::Away(format!("the connection to {} was lost: {error}", self.server.host))
        })
    }

    async fn greet(&mut self) -> Result<Answer, Trouble> {
        let answer = self.said("EHLO localhost").await?;
        expect_any(&answer, 250, "the greeting")?;
        Ok(answer)
    }

    /// Begins TLS; all that came before it counts for nothing (RFC 3207, 4.2).
    async fn secured(mut self, door: &Door) -> Result<Self, Trouble> {
        expect(self.said("STARTTLS").await?, 220, "STARTTLS")?;
        let stream = self.server.secured(door, self.stream.into_inner()).await?;
        Ok(Self { stream: BufReader::new(stream), server: self.server })
    }

    /// Signs in by PLAIN, or by LOGIN where there is no other (RFC 4954, 4; RFC 4616).
    async fn sign_in(&mut self, account: &Account, can: &Answer) -> Result<(), Trouble> {
        let (user, password) = (&account.user, &account.password);
        let offers = |name: &str| {
            can.lines
                .iter()
                .any(|line| line.to_uppercase().starts_with("AUTH") && line.to_uppercase().contains(name))
        };
        let answer = if offers("PLAIN") || !offers("LOGIN") {
            self.said(&format!("AUTH PLAIN {}", STANDARD.encode(format!("\0{user}\0{password}")))).await?
        } else {
            expect(self.said("AUTH LOGIN").await?, 334, "the sign-in")?;
            expect(self.said(&STANDARD.encode(user)).await?, 334, "the sign-in")?;
            self.said(&STANDARD.encode(password)).await?
        };
        match answer.code {
            235 => Ok(()),
            // "Authentication credentials invalid", or too weak, or to be changed (RFC 4954, 6).
            530..=538 => Err(Trouble::Revoked(format!(
                "{} refuses user {user} with this password: {}",
                self.server.host,
                answer.words()
            ))),
            _ => expect(answer, 235, "the sign-in"),
        }
    }

    /// Sends the mail itself. Until its last dot nothing was handed over; from then on only an answer tells.
    async fn take(&mut self, mail: &[u8]) -> Result<(), Trouble> {
        let sent = timeout(TAKE, async {
            self.stream.write_all(&stuffed(mail)).await?;
            self.stream.flush().await
        });
        let late = || {
            Trouble::Away(format!("{} does not take the mail within {} s", self.server.host, TAKE.as_secs()))
        };
        sent.await.map_err(|_| late())?.map_err(|error| {
            Trouble::Away(format!("the connection to {} was lost: {error}", self.server.host))
        })?;
        let ended = async {
            self.stream.write_all(b".\r\n").await?;
            self.stream.flush().await?;
            read(&mut self.stream).await
        };
        let answer = match timeout(TAKE, ended).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(Trouble::Doubtful(format!("no answer to the mail came: {error}"))),
            Err(_) => {
                return Err(Trouble::Doubtful(format!(
                    "no answer to the mail came within {} s",
                    TAKE.as_secs()
                )));
            }
        };
        expect(answer, 250, "the mail")?;
        // Nobody waits for a farewell.
        let _ = timeout(Duration::from_secs(2), self.said("QUIT")).await;
        Ok(())
    }
}

async fn read(stream: &mut BufReader<Box<dyn Wire>>) -> std::io::Result<Answer> {
    let mut lines = Vec::new();
    let odd = |what: &str| std::io::Error::other(what.to_owned());
    while lines.len() < MOST_LINES {
        let mut line = Vec::new();
        (&mut *stream).take(LINE_BYTES).read_until(b'\n', &mut line).await?;
        if !line.ends_with(b"\n") {
            return Err(odd(if line.is_empty() { "it was closed" } else { "its answer is no line" }));
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches(['\r', '\n']);
        let code: u16 =
            line.get(..3).and_then(|code| code.parse().ok()).ok_or_else(|| odd("its answer has no code"))?;
        lines.push(line.get(4..).unwrap_or_default().to_owned());
        if line.as_bytes().get(3) != Some(&b'-') {
            return Ok(Answer { code, lines });
        }
    }
    Err(odd("its answer has no end"))
}

fn expect(answer: Answer, code: u16, what: &str) -> Result<(), Trouble> {
    expect_any(&answer, code, what)
}

/// Judges a code: 2xx and 3xx as they are asked for, 4xx for now, 5xx for good (RFC 5321, 4.2.1).
fn expect_any(answer: &Answer, code: u16, what: &str) -> Result<(), Trouble> {
    match answer.code {
        // A recipient may also be taken "to be forwarded": 251.
        given if given == code || (code == 250 && given == 251) => Ok(()),
        400..=499 => Err(Trouble::Away(format!("{what} is not taken now: {}", answer.words()))),
        500..=599 => Err(Trouble::Refused(format!("{what} is refused: {}", answer.words()))),
        _ => Err(Trouble::Away(format!("{what} is answered oddly: {}", answer.words()))),
    }
}

/// A mail with a dot before each that begins a line, and an end of its last line (RFC 5321, 4.5.2).
pub fn stuffed(mail: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(mail.len() + 64);
    let mut is_start = true;
    for byte in mail {
        if is_start && *byte == b'.' {
            out.push(b'.');
        }
        out.push(*byte);
        is_start = *byte == b'\n';
    }
    if !is_start {
        out.extend_from_slice(b"\r\n");
    }
    out
}
