//! How calls prove who they are for: published vectors, what reaches the stub, and tokens that are renewed.

use crate::home::{ALL, Home, SECRET, Seen, Stub, it, reply};
use broker::services::oauth1::{Credentials, authorization};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[test]
fn signatures_fit_the_published_ones() {
    // From X's page on creating a signature.
    let secrets = Credentials {
        consumer_key: "xvz1evFS4wEEPTGEFPHBog",
        consumer_secret: "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw",
        token: "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb",
        token_secret: "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE",
    };
    let pairs = [
        ("include_entities".to_owned(), "true".to_owned()),
        ("status".to_owned(), "Hello Ladies + Gentlemen, a signed OAuth request!".to_owned()),
    ];
    let url = "https://api.twitter.com/1.1/statuses/update.json";
    let nonce = "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg";
    let header = authorization(secrets, "post", url, &pairs, nonce, 1_318_622_958);
    assert!(header.contains("oauth_signature=\"hCtSmYh%2BiHYCEqBWrE7C7hYmtUk%3D\""), "{header}");
    assert!(
        header.starts_with("OAuth oauth_consumer_key=\"xvz1evFS4wEEPTGEFPHBog\", oauth_nonce="),
        "{header}"
    );
}

#[tokio::test]
async fn each_kind_of_proof_reaches_the_service() {
    let stub = Stub::ok();
    let sent = |auth: &'static str| {
        let settings = it(&stub, auth, ALL);
        let stub = &stub;
        async move {
            let home = Home::new(&settings).with("USER", "ann").with("OTHER_KEY", "another-secret-1");
            let answer =
                home.open().await.call(json!({"service": "it", "path": "/x", "query": {"q": "a b"}})).await;
            assert_eq!(answer["ok"], true, "{answer}");
            stub.last()
        }
    };
    assert_eq!(sent(r#"{ kind = "none" }"#).await.header("authorization"), None);
    let header = sent(r#"{ kind = "header", header = "X-Key", value_env = "THE_KEY" }"#).await;
    assert_eq!(header.header("x-key"), Some(SECRET));
    let basic = sent(r#"{ kind = "basic", user_env = "USER", password_env = "THE_KEY" }"#).await;
    let pair = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, format!("ann:{SECRET}"));
    assert_eq!(basic.header("authorization"), Some(format!("Basic {pair}").as_str()));
    let signed = sent(
        r#"{ kind = "oauth1", key_env = "USER", secret_env = "THE_KEY", token_env = "OTHER_KEY", token_secret_env = "THE_KEY" }"#,
    )
    .await;
    let header = signed.header("authorization").unwrap().to_owned();
    let field = |name: &str| {
        let (_, rest) = header.split_once(&format!("{name}=\"")).unwrap();
        rest.split_once('"').unwrap().0.to_owned()
    };
    let secrets = Credentials {
        consumer_key: "ann",
        consumer_secret: SECRET,
        token: "another-secret-1",
        token_secret: SECRET,
    };
    let pairs = [("q".to_owned(), "a b".to_owned())];
    let time = field("oauth_timestamp").parse().unwrap();
    let again =
        authorization(secrets, "GET", &format!("{}/x", stub.url), &pairs, &field("oauth_nonce"), time);
    assert_eq!(header, again);
    // A key that is not set is told by its name, and nothing is sent.
    stub.forget();
    let home = Home::new(&it(&stub, r#"{ kind = "bearer", token_env = "NOT_SET" }"#, ALL));
    let answer = home.open().await.call(json!({"service": "it", "path": "/x"})).await;
    assert!(answer["error"].as_str().unwrap().contains("NOT_SET is not set"), "{answer}");
    assert!(stub.seen().is_empty());
}

/// A service that takes only the newest access token, and rotates its refresh tokens; the one before is forgiven.
struct Signing {
    stub: Stub,
    state: Arc<Mutex<Issued>>,
}

#[derive(Default)]
struct Issued {
    count: usize,
    spent: Vec<String>,
    revoked: bool,
}

impl Signing {
    fn start(wait_ms: u64, lasts_s: u64) -> Self {
        let state: Arc<Mutex<Issued>> = Arc::default();
        let issued = state.clone();
        let stub = Stub::start(move |seen: &Seen| {
            let mut state = issued.lock().unwrap();
            if seen.path() != "/token" {
                let newest = format!("Bearer access-token-{:04}", state.count);
                let fits = !state.revoked && seen.header("authorization") == Some(newest.as_str());
                return reply(if fits { 200 } else { 401 }, "")
                    .with(format!("saw {:?}", seen.header("authorization")));
            }
            let given =
                seen.body.split('&').find_map(|pair| pair.strip_prefix("refresh_token=")).unwrap().to_owned();
            let (newest, before) = (format!("refresh-token-{:04}", state.count), state.spent.last().cloned());
            if given != newest && Some(&given) != before.as_ref() {
                return reply(400, "{\"error\":\"invalid_grant\"}");
            }
            state.revoked = false;
            state.count += 1;
            state.spent.push(given);
            let count = state.count;
            let body = json!({"access_token": format!("access-token-{count:04}"), "token_type": "bearer",
                "refresh_token": format!("refresh-token-{count:04}"), "expires_in": lasts_s});
            crate::home::Reply { wait: Duration::from_millis(wait_ms), ..reply(200, body.to_string()) }
        });
        Self { stub, state }
    }

    fn home(&self) -> Home {
        let auth = format!(
            r#"{{ kind = "oauth2", token_url = "{}/token", client_id_env = "ID", client_secret_env = "THE_KEY", refresh_token_env = "REFRESH" }}"#,
            self.stub.url
        );
        Home::new(&it(&self.stub, &auth, ALL))
            .with("ID", "client-id-0001")
            .with("REFRESH", "refresh-token-0000")
    }

    fn renewed(&self) -> usize {
        self.stub.seen().iter().filter(|seen| seen.path() == "/token").count()
    }
}

trait With {
    fn with(self, body: String) -> Self;
}

impl With for crate::home::Reply {
    fn with(mut self, body: String) -> Self {
        self.body = body.into_bytes();
        self
    }
}

const KEPT: &str = ".self/broker/oauth2-it.json";

#[tokio::test]
async fn one_caller_renews_and_the_others_wait() {
    let signing = Signing::start(100, 3_600);
    let home = signing.home();
    let open = Arc::new(home.open().await);
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let open = open.clone();
            tokio::spawn(
                async move { open.call(json!({"service": "it", "method": "POST", "path": "/x"})).await },
            )
        })
        .collect();
    for call in calls {
        let answer = call.await.unwrap();
        assert_eq!(answer["status"], 200, "{answer}");
        assert!(!answer.to_string().contains("access-token-0001"), "a learned token came back");
    }
    assert_eq!(signing.renewed(), 1);
    // Taken back by the service: renewed once on 401, by one caller, and the call is made once more.
    signing.state.lock().unwrap().revoked = true;
    let calls: Vec<_> = (0..10)
        .map(|_| {
            let open = open.clone();
            tokio::spawn(
                async move { open.call(json!({"service": "it", "path": "/x"})).await["status"] == 200 },
            )
        })
        .collect();
    for call in calls {
        assert!(call.await.unwrap());
    }
    assert_eq!(signing.renewed(), 2);
    let mode = std::fs::metadata(home.path(KEPT)).unwrap().permissions().mode() & 0o777;
    // Sealed: where walls cannot hide the folder, the creature reads the file.
    let kept = home.text(KEPT);
    let readable = ["token", "refresh", "access"].iter().any(|word| kept.contains(word));
    assert_eq!((mode, kept.is_empty(), readable), (0o600, false, false), "{kept}");
    assert!(!home.text(".self/ledger.jsonl").contains("refresh-token"));
    // After a restart nothing is renewed that is still good; a new token of the owner's stands before what was kept.
    Arc::into_inner(open).unwrap().end().await;
    let open = home.open().await;
    assert_eq!(open.call(json!({"service": "it", "path": "/x"})).await["status"], 200);
    assert_eq!(signing.renewed(), 2);
    open.end().await;
    let home = Home { dir: home.dir, keys: home.keys.clone() }.with("REFRESH", "refresh-token-0002");
    assert_eq!(home.open().await.call(json!({"service": "it", "path": "/x"})).await["status"], 200);
    assert_eq!(signing.renewed(), 3);
}

#[tokio::test]
async fn a_token_is_renewed_before_it_ends_and_a_refusal_is_not_hammered() {
    let signing = Signing::start(0, 30);
    let home = signing.home();
    let open = home.open().await;
    for _ in 0..3 {
        assert_eq!(open.call(json!({"service": "it", "path": "/x"})).await["status"], 200);
    }
    assert_eq!(signing.renewed(), 3, "it ends within the minute each time");
    open.end().await;
    let signing = Signing::start(0, 3_600);
    let home = signing.home().with("REFRESH", "refresh-token-9999");
    let open = home.open().await;
    for _ in 0..3 {
        let answer = open.call(json!({"service": "it", "path": "/x"})).await;
        assert!(answer["hint"].as_str().unwrap().contains("sign in again"), "{answer}");
    }
    assert_eq!((signing.renewed(), signing.stub.seen().len()), (1, 1));
}

#[tokio::test]
async fn kill_nine_while_tokens_rotate_locks_nobody_out() {
    let signing = Signing::start(15, 1);
    let home = signing.home();
    for round in 0..12_u64 {
        let mut running = home.process();
        let before = signing.renewed();
        let calls = async {
            for _ in 0..20 {
                running.call(json!({"service": "it", "path": "/x"})).await;
            }
        };
        // Some time after the first renewal began, however slow the machine is.
        let kill = async {
            while signing.renewed() == before {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            tokio::time::sleep(Duration::from_millis(round * 9)).await;
        };
        tokio::select! { () = calls => {}, () = kill => {} }
        running.kill();
        let mut alive = home.process();
        let answer = alive.call(json!({"service": "it", "path": "/x"})).await;
        assert_eq!(answer["status"], 200, "round {round}: locked out: {answer}");
        alive.kill();
    }
    assert!(signing.renewed() >= 24, "one on each side of each kill: {}", signing.renewed());
}
