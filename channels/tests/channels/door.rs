//! The way out through the real broker: TLS to a server that the owner named, plain requests, a line before each message.

use channels::channel::Trouble;
use channels::door::{Broker, Door, Leaving};
use house::House;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub const TOKEN: &str = "7777777777777777777777777777777777777777777777777777777777777777";

/// A house and its broker, as the guardian sets them up.
pub struct Beside {
    pub folder: TempDir,
    broker: Child,
    pub port: u16,
}

impl Beside {
    pub fn new(settings: &str) -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir_all(folder.path().join(".self/broker")).unwrap();
        std::fs::write(folder.path().join("owner.toml"), settings).unwrap();
        let mut broker = Command::new(trials::programs::broker());
        broker.args(["--house", folder.path().to_str().unwrap()]).env_clear().env("PATH", "/usr/bin:/bin");
        let mut broker = broker.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(broker.stderr.take().unwrap()).lines().map_while(Result::ok);
        let port =
            lines.find_map(|line| line.split_once("serving on ")?.1.trim().rsplit_once(':')?.1.parse().ok());
        std::thread::spawn(move || lines.for_each(drop));
        let beside = Self { folder, broker, port: port.unwrap() };
        beside.tokens(TOKEN, beside.port);
        beside
    }

    pub fn tokens(&self, token: &str, port: u16) {
        let told = json!({"life": null, "build": null, "channels": {"token": token, "port": port}});
        let path = self.folder.path().join(".self/broker/tokens.json");
        std::fs::write(path.with_extension("new"), told.to_string()).unwrap();
        std::fs::rename(path.with_extension("new"), path).unwrap();
    }

    fn door(&self) -> Door {
        Door::new(Some(Broker::of(&House::new(self.folder.path())).unwrap())).unwrap()
    }

    pub fn ledger(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.path().join(".self/ledger.jsonl")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.broker.kill();
        let _ = self.broker.wait();
    }
}

fn leaving(sha256: &str) -> Leaving<'_> {
    Leaving { channel: "matrix", chat: "!room:example.org", kind: "send", bytes: 5, sha256 }
}

/// The broker's own tests have the certificate.
pub fn case(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../broker/tests/cases/tls/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// A server at `localhost` that speaks TLS: what each connection says is heard without.
pub async fn behind_tls<Heard: Future<Output = ()> + Send + 'static>(
    heard: impl Fn(tokio_rustls::server::TlsStream<TcpStream>) -> Heard + Clone + Send + 'static,
) -> u16 {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = rustls::pki_types::PrivateKeyDer::try_from(case("key.der")).unwrap();
    let server = rustls::ServerConfig::builder_with_provider(provider);
    let server = server.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let server = server.with_single_cert(vec![case("certificate.der").into()], key).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(server));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, heard) = (acceptor.clone(), heard.clone());
            tokio::spawn(async move {
                if let Ok(stream) = acceptor.accept(stream).await {
                    heard(stream).await;
                }
            });
        }
    });
    port
}

#[tokio::test]
async fn a_connection_carries_tls_to_a_named_server_and_leads_nowhere_else() {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let port = behind_tls(|mut stream| async move {
        let mut heard = [0; 5];
        while stream.read_exact(&mut heard).await.is_ok() {
            stream.write_all(&heard).await.unwrap();
        }
    })
    .await;
    let beside = Beside::new(&format!("[channels.matrix]\nurl = \"https://localhost:{port}\"\n"));
    let door = beside.door();
    let stream = door.connect("localhost", port).await.unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(case("certificate.der").into()).unwrap();
    let client = rustls::ClientConfig::builder_with_provider(provider);
    let client = client.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
    let connector = tokio_rustls::TlsConnector::from(Arc::new(client.with_no_client_auth()));
    let mut stream = connector.connect("localhost".try_into().unwrap(), stream).await.unwrap();
    for said in [b"first", b"other"] {
        stream.write_all(said).await.unwrap();
        let mut heard = [0; 5];
        stream.read_exact(&mut heard).await.unwrap();
        assert_eq!(&heard, said);
    }
    // This machine's certificates do not vouch for that one, and the door's own settings say so.
    let refused = door.http().get(format!("https://localhost:{port}/")).send().await;
    assert!(refused.is_err());
    for (host, other) in [("localhost", beside.port), ("example.org", 443), ("169.254.169.254", 80)] {
        let error = door.connect(host, other).await.unwrap_err();
        assert!(error.to_string().contains("refused_host"), "{host}: {error:#}");
    }
    assert!(beside.ledger().iter().any(|line| line["event"] == "channel" && line["decision"] == "allow"));
}

#[tokio::test]
async fn a_message_is_in_the_ledger_before_it_leaves_or_does_not_leave() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut head = vec![0; 4_096];
                let count = stream.read(&mut head).await.unwrap_or(0);
                let head = String::from_utf8_lossy(&head[..count]).into_owned();
                assert!(!head.contains(TOKEN), "the platform learns no token of the door: {head}");
                let _ = stream
                    .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
                    .await;
            });
        }
    });
    let mut beside = Beside::new(&format!("[channels.matrix]\nurl = \"http://{at}\"\n"));
    let door = beside.door();
    let sum = "ab".repeat(32);
    door.announce(&leaving(&sum)).await.unwrap();
    let lines = beside.ledger();
    let line = lines.iter().find(|line| line["event"] == "message").unwrap();
    assert_eq!((&line["path"], &line["note"]), (&json!("!room:example.org"), &json!(sum)));
    let answer =
        door.http().put(format!("http://{at}/_matrix/client/v3/rooms")).body("hello").send().await.unwrap();
    assert_eq!(answer.text().await.unwrap(), "{}");
    let unknown = door.announce(&Leaving { channel: "slack", ..leaving(&sum) }).await;
    assert!(matches!(&unknown, Err(Trouble::Away(why)) if why.contains("no such channel")), "{unknown:?}");
    // The guardian began anew: another token, which the program that it starts then reads.
    beside.tokens(&"8".repeat(64), beside.port);
    assert!(matches!(door.announce(&leaving(&sum)).await, Err(Trouble::Away(_))));
    assert!(door.connect(&at.ip().to_string(), at.port()).await.is_err(), "the old token opens nothing");
    let anew = beside.door();
    anew.announce(&leaving(&sum)).await.unwrap();
    beside.broker.kill().unwrap();
    beside.broker.wait().unwrap();
    assert!(matches!(anew.announce(&leaving(&sum)).await, Err(Trouble::Away(_))), "no line, no send");
    let found = beside.ledger().iter().filter(|line| line["event"] == "message").count();
    assert_eq!(found, 2);
}
