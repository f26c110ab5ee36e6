//! Discord and Slack through the real broker, as the program has them: TLS and WebSockets in tunnels, a line before each message.

use crate::door::{Beside, TOKEN, behind_tls, case};
use crate::faithful::listening::MayCome;
use crate::faithful::{discord, slack};
use crate::home::{append, lines};
use base64::Engine;
use house::{House, clock};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

/// Before the broker: its answer to what is about to leave may be that too much left within the hour.
struct Gate {
    port: u16,
    refusals: Arc<AtomicUsize>,
}

impl Gate {
    async fn before(broker: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (port, refusals) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
        let left = refusals.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let left = left.clone();
                tokio::spawn(async move {
                    let mut head = [0; 32];
                    let count = stream.peek(&mut head).await.unwrap_or(0);
                    let is_refused = head[..count].starts_with(b"POST /channels/send")
                        && left
                            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
                            .is_ok();
                    if is_refused {
                        let answer = b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
                        let _ = stream.write_all(answer).await;
                        return;
                    }
                    let mut broker = TcpStream::connect(("127.0.0.1", broker)).await.unwrap();
                    let _ = copy_bidirectional(&mut stream, &mut broker).await;
                });
            }
        });
        Self { port, refusals }
    }
}

/// A house with the real broker and the real program of the channels, paired on one of them.
struct Tunnelled {
    beside: Beside,
    gate: Gate,
    house: House,
    program: Child,
    name: &'static str,
}

impl Tunnelled {
    /// `tls`: the port of `localhost` at which the platform is.
    async fn start(name: &'static str, tls: u16, secrets: &str, owner: &str, chat: &str) -> Self {
        let beside = Beside::new(&format!("[channels.{name}]\nurl = \"https://localhost:{tls}\"\n"));
        let gate = Gate::before(beside.port).await;
        beside.tokens(TOKEN, gate.port);
        let root = beside.folder.path();
        let house = House::new(root);
        for folder in [".git", "creature", ".self/broker/channels", ".self/broker/asks", ".self/workspace"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::fs::write(root.join(".env"), secrets).unwrap();
        let chat = json!({"id": chat, "thread": null, "is_private": true});
        let thread = format!("{name}-{}", chat["id"].as_str().unwrap());
        let paired = json!({"id": owner, "name": "Ann", "chat": chat, "since": clock::stamp()});
        let state = json!({"owner": paired, "chats": [[thread, chat]]});
        std::fs::write(channels::places::state(&house, name), state.to_string()).unwrap();
        let pem = base64::engine::general_purpose::STANDARD.encode(case("certificate.der"));
        let trusted = root.join("trusted.pem");
        std::fs::write(&trusted, format!("-----BEGIN CERTIFICATE-----\n{pem}\n-----END CERTIFICATE-----\n"))
            .unwrap();
        let program = Command::new(env!("CARGO_BIN_EXE_channels"))
            .args(["--house", root.to_str().unwrap()])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("SSL_CERT_FILE", trusted)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let tunnelled = Self { beside, gate, house, program, name };
        tunnelled
            .until("it is connected", |it| {
                house::channels::standing(&it.house).get(name).is_some_and(|it| it.state == "connected")
            })
            .await;
        tunnelled
    }

    async fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let until = Instant::now() + Duration::from_secs(60);
        while !is_so(self) {
            let standing = std::fs::read_to_string(self.house.channels_standing()).unwrap_or_default();
            assert!(Instant::now() < until, "never: {what}; {standing} {:?}", self.beside.ledger());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn heard(&self, text: &str) {
        self.until(text, |it| lines(&it.house.inbox()).iter().any(|line| line["text"] == text)).await;
    }

    fn answers(&self, thread: &str, text: &str) {
        let data = json!({"from": "creature", "kind": "answer", "text": text, "thread": thread, "at": clock::stamp()});
        let record = json!({"at": clock::stamp(), "life": 7, "kind": "message", "data": data});
        append(&self.house.memory(), &record);
    }

    /// Whether a text's digest stands in the ledger, for the platform to ask when it comes.
    fn announced(&self) -> MayCome {
        let ledger = self.house.ledger();
        Box::new(move |text| {
            let digest = house::printable::hex(&Sha256::digest(text.as_bytes()));
            lines(&ledger).iter().any(|line| line["event"] == "message" && line["note"] == json!(digest))
        })
    }

    /// Says an answer; then one that the broker refuses at first, and one behind it.
    async fn talked(&self, thread: &str, texts: impl Fn() -> Vec<String>) {
        self.answers(thread, "the first");
        self.until("the first answer", |_| texts().len() == 1).await;
        self.gate.refusals.store(2, Ordering::SeqCst);
        self.answers(thread, "beyond the hour's most");
        self.answers(thread, "and another");
        self.until("all answers", |_| texts().len() == 3).await;
        assert_eq!(texts(), ["the first", "beyond the hour's most", "and another"]);
        assert_eq!(self.gate.refusals.load(Ordering::SeqCst), 0);
        let ledger = self.beside.ledger();
        let of = |event: &str| -> Vec<&Value> {
            ledger.iter().filter(|line| line["event"] == event && line["service"] == self.name).collect()
        };
        assert_eq!(of("message").len(), 3, "{ledger:?}");
        let tunnel = of("channel");
        assert_eq!(tunnel.len(), 1, "one place, one line: {ledger:?}");
        assert_eq!((&tunnel[0]["method"], &tunnel[0]["decision"]), (&json!("CONNECT"), &json!("allow")));
        assert!(ledger.iter().all(|line| line["decision"] == "allow"), "{ledger:?}");
    }
}

impl Drop for Tunnelled {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// The port of `localhost` at which a server is heard by TLS.
async fn by_tls(base: &str) -> u16 {
    let at = base.trim_start_matches("http://").to_owned();
    behind_tls(move |mut stream| {
        let at = at.clone();
        async move {
            let mut server = TcpStream::connect(at).await.unwrap();
            let _ = copy_bidirectional(&mut stream, &mut server).await;
        }
    })
    .await
}

#[tokio::test]
async fn discord_is_heard_and_answered_through_the_broker() {
    let server = discord::Server::start().await;
    let tls = by_tls(&server.base).await;
    server.state().gateway.url = format!("wss://localhost:{tls}");
    let secrets = format!("DISCORD_BOT_TOKEN={}\n", discord::TOKEN);
    let it = Tunnelled::start("discord", tls, &secrets, discord::OWNER, discord::DM).await;
    server.state().may_come = Some(it.announced());
    server.say(discord::DM, discord::OWNER, "hello");
    it.heard("hello").await;
    let texts = || {
        let state = server.state();
        let ours = state.messages[discord::DM].iter().filter(|said| said["author"]["id"] == discord::BOT);
        ours.map(|said| said["content"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    it.talked(&format!("discord-{}", discord::DM), texts).await;
    // The stream is another one from here on, and the session the same.
    server.state().gateway.now = vec![discord::gateway::Step::Cut];
    server.say(discord::DM, discord::OWNER, "behind a cut");
    it.heard("behind a cut").await;
    let connected = server.state().gateway.clone();
    assert_eq!((connected.identifies, connected.resumes), (1, 1));
    server.assert_kept();
}

#[tokio::test]
async fn slack_is_heard_and_answered_through_the_broker() {
    let server = slack::Server::start().await;
    let base = server.state().base.clone();
    let tls = by_tls(&base).await;
    server.state().socket_url = format!("wss://localhost:{tls}");
    let secrets = format!("SLACK_BOT_TOKEN={}\nSLACK_APP_TOKEN={}\n", slack::BOT_TOKEN, slack::APP_TOKEN);
    let it = Tunnelled::start("slack", tls, &secrets, slack::OWNER, slack::DM).await;
    server.state().may_come = Some(it.announced());
    server.say(slack::DM, slack::OWNER, "hello");
    it.heard("hello").await;
    let texts = || {
        let state = server.state();
        let ours = state.messages[slack::DM].iter().filter(|said| said["user"] == slack::BOT);
        ours.map(|said| said["blocks"][0]["text"]["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    it.talked(&format!("slack-{}", slack::DM), texts).await;
    server.meet(&slack::socket::Step::Disconnect("refresh_requested", Duration::from_millis(200)));
    server.until("a successor", |state| state.connections_ever == 2).await;
    server.say(slack::DM, slack::OWNER, "by another connection");
    it.heard("by another connection").await;
    server.until("all acknowledged", |state| state.acknowledged.len() == 2).await;
    server.assert_kept();
}
