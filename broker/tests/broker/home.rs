//! A house in a temporary folder, and a broker in it.

use crate::outside::{found_beside, happens_beside};
pub use crate::stub::{Reply, Seen, Stub, reply};
use broker::broker::Broker;
use broker::ground::clock::Clock;
use broker::policy::Policy;
use broker::secrets::keys::Keys;
use house::House;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use tempfile::TempDir;

pub const TOKEN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
pub const SECRET: &str = "s3cr3t-V4lue/with+odd=chars";

/// A house in a folder that goes away.
pub struct Home {
    pub dir: TempDir,
    pub keys: BTreeMap<String, String>,
}

impl Home {
    pub fn new(settings: &str) -> Self {
        let dir = TempDir::new().unwrap();
        std::fs::create_dir_all(dir.path().join(".self/broker")).unwrap();
        let home = Self { dir, keys: BTreeMap::from([("THE_KEY".to_owned(), SECRET.to_owned())]) };
        home.settings(settings);
        let tokens = json!({"life": {"number": 7, "token": TOKEN}});
        std::fs::write(home.path(".self/broker/tokens.json"), tokens.to_string()).unwrap();
        home
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.keys.insert(name.to_owned(), value.to_owned());
        self
    }

    pub fn settings(&self, settings: &str) {
        std::fs::write(self.path("owner.toml"), settings).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub fn lines(&self, name: &str) -> Vec<Value> {
        self.text(name).lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    pub fn house(&self) -> House {
        House::new(self.dir.path())
    }

    /// A broker in this process.
    pub async fn open(&self) -> Open {
        self.open_at(Clock::default()).await
    }

    pub async fn open_at(&self, clock: Clock) -> Open {
        let house = self.house();
        let policy = Policy::load(&house).unwrap();
        let broker = Broker::with(house, clock, policy, Keys::of(self.keys.clone())).unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (tell, told) = tokio::sync::oneshot::channel::<()>();
        let serving = tokio::spawn(broker.clone().serve_until(listener, None, async {
            let _ = told.await;
        }));
        Open { url, broker, serving, tell: Some(tell), client: client() }
    }

    /// The real program, as a process.
    pub fn process(&self) -> Running {
        let mut child = Command::new(env!("CARGO_BIN_EXE_broker"))
            .args(["--house", self.dir.path().to_str().unwrap()])
            .env_clear()
            .envs(&self.keys)
            .envs(std::env::var("PATH").ok().map(|path| ("PATH", path)))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut url = String::new();
        for line in lines.by_ref().map_while(Result::ok) {
            if let Some((_, at)) = line.split_once("serving on ") {
                url = format!("http://{}", at.trim());
                break;
            }
        }
        assert!(!url.is_empty(), "the broker did not start");
        std::thread::spawn(move || lines.for_each(drop));
        Running { child, url, client: client() }
    }

    /// The owner answers an ask, as the guardian's command line does.
    pub fn answer(&self, id: &str, answer: &str) {
        let digest = self.ask(id)["digest"].as_str().unwrap().to_owned();
        self.answer_with(id, answer, &digest);
    }

    pub fn answer_with(&self, id: &str, answer: &str, digest: &str) {
        let line = json!({"at": "2026-01-01T00:00:00Z", "id": id, "answer": answer, "digest": digest});
        let path = self.path(".self/broker/answers.jsonl");
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    pub fn ask(&self, id: &str) -> Value {
        serde_json::from_str(&self.text(&format!(".self/broker/asks/{id}.json"))).unwrap_or_default()
    }

    /// Waits until an ask is in one of these states, and that is announced.
    pub async fn until(&self, id: &str, states: &[&str]) -> Value {
        let told = |state: &str| {
            let lines = self.text(".self/asks.jsonl");
            let lines = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            lines.rev().find(|line| line["id"] == id).is_some_and(|line| line["event"] == state)
        };
        let is = |ask: &Value| states.iter().any(|state| ask["state"] == *state && told(state));
        let found = found_beside(|| Some(self.ask(id)).filter(is)).await;
        found.unwrap_or_else(|| panic!("never {states:?}: {:#}", self.ask(id)))
    }
}

pub fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

pub struct Open {
    pub url: String,
    pub broker: Broker,
    serving: tokio::task::JoinHandle<anyhow::Result<()>>,
    tell: Option<tokio::sync::oneshot::Sender<()>>,
    client: reqwest::Client,
}

impl Open {
    pub async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        post(&self.client, &self.url, path, body).await
    }

    /// An envelope that came with 200.
    pub async fn call(&self, body: Value) -> Value {
        let (status, envelope) = self.post("/service", body).await;
        assert_eq!(status, 200, "{envelope}");
        envelope
    }

    pub async fn get(&self, path: &str) -> Value {
        let url = format!("{}{path}", self.url);
        self.client.get(url).bearer_auth(TOKEN).send().await.unwrap().json().await.unwrap()
    }

    /// Ends it as a process would: nothing of it is at work when the next one opens the house.
    pub async fn end(mut self) {
        self.client = client();
        let _ = self.tell.take().unwrap().send(());
        let _ = (&mut self.serving).await;
        let Broker { approvals, services, llm, web, cargo, .. } = &self.broker;
        let approvals = Arc::downgrade(approvals);
        let services = Arc::downgrade(services);
        let llm = Arc::downgrade(llm);
        let web = Arc::downgrade(web);
        let cargo = Arc::downgrade(cargo);
        let held = move || {
            let counts = [approvals.strong_count(), services.strong_count(), llm.strong_count()];
            counts.into_iter().sum::<usize>() + web.strong_count() + cargo.strong_count()
        };
        let lock = self.broker.approvals.handles.house.broker().join("ledger.lock");
        drop(self);
        assert!(happens_beside(|| held() == 0).await, "somebody still holds the broker");
        let is_free = || house::files::open_lock(&lock).is_ok_and(|file| file.try_lock().is_ok());
        assert!(happens_beside(is_free).await, "the ledger's writer never ended");
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

pub struct Running {
    child: Child,
    pub url: String,
    client: reqwest::Client,
}

impl Running {
    pub async fn call(&self, body: Value) -> Value {
        post(&self.client, &self.url, "/service", body).await.1
    }

    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

pub async fn post(client: &reqwest::Client, url: &str, path: &str, body: Value) -> (u16, Value) {
    let request = client.post(format!("{url}{path}")).bearer_auth(TOKEN).json(&body);
    match request.send().await {
        Ok(response) => {
            let status = response.status().as_u16();
            (status, response.json().await.unwrap_or_default())
        }
        Err(error) => (0, json!({"broke": error.to_string()})),
    }
}

/// Settings for a service named `it` behind the stub.
pub fn it(stub: &Stub, auth: &str, rules: &str) -> String {
    format!(
        "[services.it]\nbase_url = \"{}\"\nallow_private = true\nuntrusted = false\nauth = {auth}\nrules = [{rules}]\n",
        stub.url
    )
}

pub const BEARER: &str = r#"{ kind = "bearer", token_env = "THE_KEY" }"#;
pub const ALL: &str = r#"{ method = "*", path = "/**", do = "allow" }"#;
