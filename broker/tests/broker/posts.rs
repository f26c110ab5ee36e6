//! Posts: a thread goes out once whatever breaks, pictures are those that were approved, and both networks count their way.

use crate::home::{Home, Open, Seen, Stub, reply};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nherons";

/// X, which answers the so-and-so-manieth creation of a post as `fails` says.
fn x(fails: impl Fn(usize) -> Option<crate::home::Reply> + Send + Sync + 'static) -> Stub {
    let count = AtomicUsize::new(0);
    Stub::start(move |seen| match seen.path() {
        "/2/tweets" => {
            let at = count.fetch_add(1, Ordering::SeqCst) + 1;
            fails(at).unwrap_or_else(|| reply(201, json!({"data": {"id": format!("9{at}")}}).to_string()))
        }
        "/2/media/upload/initialize" => reply(200, r#"{"data":{"id":"77"}}"#),
        path if path.ends_with("/append") => reply(200, ""),
        path if path.ends_with("/finalize") => {
            reply(200, r#"{"data":{"id":"77","processing_info":{"state":"succeeded"}}}"#)
        }
        _ => reply(200, "{}"),
    })
}

fn home(stub: &Stub) -> Home {
    Home::new(&format!("[x]\nbase_url = \"{}\"\n", stub.url)).with("X_USER_TOKEN", "x-user-token-123")
}

fn asking(stub: &Stub, verdict: &str) -> Home {
    let rule = format!("{{ method = \"POST\", path = \"/2/tweets\", do = \"{verdict}\" }}");
    Home::new(&crate::home::it(stub, crate::home::BEARER, &rule).replace("services.it", "services.x"))
}

fn thread(texts: &[&str]) -> Value {
    json!({"service": "x", "parts": texts.iter().map(|text| json!({"text": text})).collect::<Vec<_>>()})
}

async fn post(open: &Open, body: &Value) -> Value {
    let (status, envelope) = open.post("/post", body.clone()).await;
    assert_eq!(status, 200, "{envelope}");
    envelope
}

fn bodies(stub: &Stub, path: &str) -> Vec<Value> {
    let seen = stub.seen().into_iter().filter(|seen| seen.path() == path);
    seen.map(|seen| serde_json::from_str(&seen.body).unwrap()).collect()
}

fn posted(envelope: &Value) -> Value {
    assert_eq!(envelope["ok"], true, "{envelope}");
    serde_json::from_str::<Value>(envelope["body"].as_str().unwrap()).unwrap()["posted"].clone()
}

#[tokio::test]
async fn a_thread_goes_out_part_by_part_and_once() {
    let stub = x(|_| None);
    let home = home(&stub);
    let open = home.open().await;
    let mut body = thread(&["one", "two", "three"]);
    (body["in_reply_to"], body["quote"]) = ("12".into(), "34".into());
    assert_eq!(posted(&post(&open, &body).await), json!(["91", "92", "93"]));
    let to = |id: &str| json!({"in_reply_to_tweet_id": id});
    let sent = [
        json!({"text": "one", "reply": to("12"), "quote_tweet_id": "34"}),
        json!({"text": "two", "reply": to("91")}),
        json!({"text": "three", "reply": to("92")}),
    ];
    assert_eq!(bodies(&stub, "/2/tweets"), sent);
    let lines = home.lines(".self/ledger.jsonl");
    let notes: Vec<&str> = lines.iter().filter_map(|line| line["note"].as_str()).collect();
    assert_eq!(notes, ["part 1 of 3", "part 2 of 3", "part 3 of 3"]);
    // The same post again is the same post, over a restart too.
    open.end().await;
    let open = home.open().await;
    assert_eq!(posted(&post(&open, &body).await), json!(["91", "92", "93"]));
    assert_eq!(bodies(&stub, "/2/tweets").len(), 3);
}

#[tokio::test]
async fn a_thread_that_broke_goes_on_from_there() {
    let stub = x(|at| (at == 2).then(|| reply(429, r#"{"title":"Too Many Requests"}"#)));
    let home = home(&stub);
    let open = home.open().await;
    let body = thread(&["one", "two", "three"]);
    let broke = post(&open, &body).await;
    let error = broke["error"].as_str().unwrap();
    assert!(
        error.contains("part 2 of 3 is not out: it answered 429: Too Many") && error.contains("91"),
        "{broke}"
    );
    assert!(broke["hint"].as_str().unwrap().contains("goes on from there"), "{broke}");
    assert_eq!(broke["unsure"], Value::Null);
    assert_eq!(posted(&post(&open, &body).await), json!(["91", "93", "94"]));
    let texts: Vec<Value> = bodies(&stub, "/2/tweets").into_iter().map(|body| body["text"].clone()).collect();
    assert_eq!(texts, ["one", "two", "two", "three"]);
}

#[tokio::test]
async fn a_part_that_may_be_out_is_sent_again_only_by_the_owners_yes() {
    for lost in
        [|| reply(503, "<html>"), || reply(201, "no json"), || reply(201, r#"{"data":{"id":"../1"}}"#)]
    {
        let stub = x(move |at| (at == 2).then(lost));
        let home = home(&stub);
        let open = home.open().await;
        let body = thread(&["one", "two"]);
        let unsure = post(&open, &body).await;
        assert_eq!(unsure["unsure"], true, "{unsure}");
        assert!(unsure["error"].as_str().unwrap().contains("part 2 of 2 may be out on x"), "{unsure}");
        let asked = post(&open, &body).await;
        assert_eq!(asked["asked"], "1", "{asked}");
        assert!(asked["error"].as_str().unwrap().contains("may be out"), "{asked}");
        assert_eq!(bodies(&stub, "/2/tweets").len(), 2, "nothing was sent again without a yes");
        home.answer("1", "approve");
        let done = home.until("1", &["executed"]).await;
        assert!(done["result"].as_str().unwrap().contains("91"), "{done}");
        assert_eq!(bodies(&stub, "/2/tweets").len(), 3);
    }
}

#[tokio::test]
async fn what_cannot_be_written_down_is_told_and_not_sent_again() {
    let folder: Arc<Mutex<std::path::PathBuf>> = Arc::default();
    let place = folder.clone();
    let stub = x(move |at| {
        if at == 2 {
            // As a disk that is full from here on.
            let place = place.lock().unwrap();
            std::fs::rename(&*place, place.with_extension("aside")).unwrap();
            std::fs::write(&*place, "").unwrap();
        }
        None
    });
    let home = home(&stub);
    *folder.lock().unwrap() = home.path(".self/broker/posts");
    let open = home.open().await;
    let body = thread(&["one", "two", "three"]);
    let unsure = post(&open, &body).await;
    assert_eq!(unsure["unsure"], true, "{unsure}");
    assert!(unsure["error"].as_str().unwrap().contains("could not be written down"), "{unsure}");
    let refused = post(&open, &body).await;
    assert!(refused["error"].as_str().unwrap().contains("cannot be read, so nothing is posted"), "{refused}");
    let place = home.path(".self/broker/posts");
    std::fs::remove_file(&place).unwrap();
    std::fs::rename(place.with_extension("aside"), &place).unwrap();
    assert_eq!(post(&open, &body).await["asked"], "1", "whether the second is out nobody knows now");
    for entry in std::fs::read_dir(&place).unwrap() {
        std::fs::write(entry.unwrap().path(), "{").unwrap();
    }
    let refused = post(&open, &body).await;
    assert!(refused["error"].as_str().unwrap().contains("cannot be read, so nothing is posted"), "{refused}");
    assert_eq!(bodies(&stub, "/2/tweets").len(), 2);
}

#[tokio::test]
async fn a_broker_killed_in_the_middle_sends_no_part_again() {
    let stub =
        x(|at| (at == 2).then(|| crate::home::Reply { wait: Duration::from_secs(60), ..reply(201, "") }));
    let home = home(&stub);
    let mut running = home.process();
    let body = thread(&["one", "two"]);
    let (url, sent) = (running.url.clone(), body.clone());
    let call = tokio::spawn(async move {
        let client = crate::home::client();
        let _ = client.post(format!("{url}/post")).bearer_auth(crate::home::TOKEN).json(&sent).send().await;
    });
    let reached = || bodies(&stub, "/2/tweets").len() == 2;
    assert!(crate::outside::happens_beside(reached).await, "the second part never left");
    running.kill();
    let _ = call.await;
    let open = home.open().await;
    let asked = post(&open, &body).await;
    assert_eq!(asked["asked"], "1", "{asked}");
    assert_eq!(bodies(&stub, "/2/tweets").len(), 2);
    home.answer("1", "deny");
    home.until("1", &["denied"]).await;
    let refused = post(&open, &body).await;
    assert!(refused["error"].as_str().unwrap().contains("the owner said no"), "{refused}");
}

fn pictured(bytes: &[u8]) -> Value {
    let picture = json!({"name": "a/heron.png", "alt": "seven herons", "data": STANDARD.encode(bytes)});
    json!({"service": "x", "parts": [{"text": "look", "pictures": [picture]}, {"text": "and on"}]})
}

#[tokio::test]
async fn a_yes_is_to_the_very_pictures() {
    let stub = x(|_| None);
    let home = asking(&stub, "ask");
    let open = home.open().await;
    let large: Vec<u8> =
        PNG.iter().copied().chain((0..2_500_000_u32).map(|at| at.to_le_bytes()[0])).collect();
    let asked = post(&open, &pictured(&large)).await;
    assert_eq!(asked["asked"], "1", "{asked}");
    let told: Value = serde_json::from_str(home.ask("1")["act"]["body"].as_str().unwrap()).unwrap();
    let picture = &told["pictures"][0];
    assert_eq!((&picture["type"], &picture["bytes"]), (&json!("image/png"), &json!(large.len())), "{told}");
    let kept = home.path(&format!(".self/broker/posts/{}.picture", picture["sha256"].as_str().unwrap()));
    assert_eq!(std::fs::read(&kept).unwrap(), large);
    // Other bytes under that name are not what was approved.
    std::fs::write(&kept, PNG).unwrap();
    home.answer("1", "approve");
    let failed = home.until("1", &["failed"]).await;
    assert!(failed["result"].as_str().unwrap().contains("not kept any more as it was asked for"), "{failed}");
    assert!(stub.seen().is_empty());
    post(&open, &pictured(&large)).await;
    home.answer("1", "approve");
    home.until("1", &["executed"]).await;
    let begun =
        json!({"media_type": "image/png", "total_bytes": large.len(), "media_category": "tweet_image"});
    assert_eq!(bodies(&stub, "/2/media/upload/initialize"), [begun]);
    let pieces = bodies(&stub, "/2/media/upload/77/append");
    let sent: Vec<u8> =
        pieces.iter().flat_map(|piece| STANDARD.decode(piece["media"].as_str().unwrap()).unwrap()).collect();
    assert!(pieces.len() == 3 && sent == large, "{} pieces", pieces.len());
    let words = json!({"id": "77", "metadata": {"alt_text": {"text": "seven herons"}}});
    assert_eq!(bodies(&stub, "/2/media/metadata"), [words]);
    let first = json!({"text": "look", "media": {"media_ids": ["77"]}});
    assert_eq!(
        bodies(&stub, "/2/tweets"),
        [first, json!({"text": "and on", "reply": {"in_reply_to_tweet_id": "91"}})]
    );
}

#[tokio::test]
async fn a_draft_shows_the_whole_thread_and_its_pictures() {
    let stub = x(|_| None);
    let home = asking(&stub, "draft");
    let draft = post(&home.open().await, &pictured(PNG)).await;
    let text = home.text(draft["path"].as_str().unwrap());
    assert!(text.contains("look\n[picture a/heron.png: image/png, 14 bytes, sha256 "), "{text}");
    assert!(text.contains("\"seven herons\"]\n\n---\n\nand on"), "{text}");
    assert!(stub.seen().is_empty());
}

#[tokio::test]
async fn what_no_network_takes_is_refused_before_anything_is_sent() {
    let stub = x(|_| None);
    let home = home(&stub);
    let open = home.open().await;
    let picture = |bytes: &[u8]| json!({"name": "p", "data": STANDARD.encode(bytes)});
    let with = |pictures: Vec<Value>| json!({"service": "x", "parts": [{"text": "t", "pictures": pictures}]});
    let mut odd = thread(&["t"]);
    odd["in_reply_to"] = "12a".into();
    let mut both = with(vec![picture(PNG)]);
    both["quote"] = "12".into();
    for (body, error) in [
        (thread(&[]), "1 to 25 parts"),
        (thread(&["t"; 26]), "1 to 25 parts"),
        (thread(&["fine", " "]), "part 2 is empty"),
        (thread(&["fine", &"日".repeat(141)]), "part 2 counts 282"),
        (odd, "names no post"),
        (both, "only one of both"),
        (with(vec![picture(b"<svg>")]), "no PNG, JPEG, GIF or WebP"),
        (with(vec![picture(b"RIFF1234WAVE")]), "no PNG, JPEG, GIF or WebP"),
        (with(vec![json!({"data": "%"})]), "not in base64"),
        (with(vec![picture(PNG); 5]), "5 pictures"),
        (with(vec![picture(PNG), picture(b"GIF89a")]), "a GIF beside others"),
        (with(vec![picture(&[PNG, &[0; 5_000_000]].concat())]), "5000000 are taken"),
        (json!({"service": "nobody", "parts": []}), "no service is called"),
    ] {
        let refused = post(&open, &body).await;
        let said = refused["error"].as_str().unwrap_or_default();
        assert!(refused["ok"] == false && said.contains(error), "{error}: {refused}");
    }
    // Each part is a use of the rule; a thread that finds no room for all of it does not begin.
    let texts: Vec<String> = (0..8).map(|at| format!("part {at}")).collect();
    posted(&post(&open, &thread(&texts.iter().map(String::as_str).collect::<Vec<_>>())).await);
    let refused = post(&open, &thread(&["a", "b", "c"])).await;
    assert!(refused["error"].as_str().unwrap().contains("10 times an hour, and 3 are not left"), "{refused}");
    assert_eq!(posted(&post(&open, &thread(&["a", "b"])).await).as_array().unwrap().len(), 2);
    let other = home.lines(".self/ledger.jsonl");
    assert!(!other.iter().any(|line| line.to_string().contains("x-user-token-123")));
}

/// A server of Bluesky's: tokens by a session, records by key; `fails` answers calls that put a record.
struct Pds {
    stub: Stub,
    records: Arc<Mutex<std::collections::BTreeMap<String, Value>>>,
}

fn pds(fails: impl Fn(usize) -> Option<crate::home::Reply> + Send + Sync + 'static) -> Pds {
    let records: Arc<Mutex<std::collections::BTreeMap<String, Value>>> = Arc::default();
    let (held, count, tokens) = (records.clone(), AtomicUsize::new(0), AtomicUsize::new(0));
    let stub = Stub::start(move |seen: &Seen| {
        let bearer = seen.header("authorization").unwrap_or_default().to_owned();
        let session = |nth: usize| {
            let told = json!({"accessJwt": format!("access-jwt-{nth:04}"), "refreshJwt": format!("refresh-jwt-{nth:04}"), "did": "did:plc:me"});
            reply(200, told.to_string())
        };
        match seen.path() {
            "/xrpc/com.atproto.server.createSession" if seen.body.contains("app-password-1") => {
                session(tokens.fetch_add(1, Ordering::SeqCst) + 1)
            }
            "/xrpc/com.atproto.server.refreshSession" if !seen.body.is_empty() => reply(400, "a body"),
            "/xrpc/com.atproto.server.refreshSession" if bearer.starts_with("Bearer refresh-jwt-") => {
                session(tokens.fetch_add(1, Ordering::SeqCst) + 1)
            }
            "/xrpc/com.atproto.server.createSession" | "/xrpc/com.atproto.server.refreshSession" => {
                reply(401, "{}")
            }
            _ if bearer != format!("Bearer access-jwt-{:04}", tokens.load(Ordering::SeqCst)) => {
                reply(400, r#"{"error":"ExpiredToken","message":"Token has expired"}"#)
            }
            "/xrpc/com.atproto.identity.resolveHandle" if seen.target.contains("ann.test") => {
                reply(200, r#"{"did":"did:plc:ann"}"#)
            }
            "/xrpc/com.atproto.identity.resolveHandle" => reply(400, r#"{"error":"InvalidRequest"}"#),
            "/xrpc/com.atproto.repo.getRecord" => {
                let root = json!({"uri": "at://root", "cid": "r"});
                reply(200, json!({"uri": "at://did:plc:ann/app.bsky.feed.post/k", "cid": "c", "value": {"reply": {"root": root}}}).to_string())
            }
            "/xrpc/com.atproto.repo.putRecord" => {
                let at = count.fetch_add(1, Ordering::SeqCst) + 1;
                let body: Value = serde_json::from_str(&seen.body).unwrap();
                assert_eq!(body["repo"], "me.test");
                let key = body["rkey"].as_str().unwrap().to_owned();
                let uri = format!("at://did:plc:me/app.bsky.feed.post/{key}");
                held.lock().unwrap().insert(key, body["record"].clone());
                fails(at).unwrap_or_else(|| reply(200, json!({"uri": uri, "cid": "of it"}).to_string()))
            }
            _ if seen.method == "EXPIRE" => reply(200, ""),
            _ => reply(200, "{}"),
        }
    });
    Pds { stub, records }
}

fn on_bluesky(pds: &Pds) -> Home {
    Home::new(&format!("[bluesky]\nbase_url = \"{}\"\n", pds.stub.url))
        .with("BLUESKY_HANDLE", "@me.test")
        .with("BLUESKY_APP_PASSWORD", "app-password-1")
}

#[tokio::test]
async fn on_bluesky_a_part_that_may_be_out_is_put_under_the_same_key() {
    let pds = pds(|at| (at == 2 || at == 3).then(|| reply(502, "<html>")));
    let home = on_bluesky(&pds);
    let open = home.open().await;
    let mut body = thread(&["Grüße @ann.test and @nobody.test, see https://a.example/x. #birds", "two"]);
    (body["service"], body["in_reply_to"]) =
        ("bluesky".into(), "at://did:plc:ann/app.bsky.feed.post/k".into());
    let broke = post(&open, &body).await;
    assert!(broke["error"].as_str().unwrap().contains("part 2 of 2 is not out"), "{broke}");
    open.end().await;
    // A new broker goes on with the session and under the key of the one before.
    let open = home.open().await;
    let out = posted(&post(&open, &body).await);
    assert_eq!(out.as_array().unwrap().len(), 2);
    let records = pds.records.lock().unwrap().clone();
    assert_eq!(records.len(), 2, "{records:#?}");
    assert!(records.keys().all(|key| key.len() == 13), "{records:#?}");
    let (first, second) = (records.values().next().unwrap(), records.values().nth(1).unwrap());
    let marks: Vec<Value> = first["facets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|facet| {
            let at = |name: &str| usize::try_from(facet["index"][name].as_u64().unwrap()).unwrap();
            let text = first["text"].as_str().unwrap().get(at("byteStart")..at("byteEnd")).unwrap();
            let is =
                ["did", "uri", "tag"].iter().find_map(|name| facet["features"][0][*name].as_str()).unwrap();
            json!([text, is])
        })
        .collect();
    assert_eq!(
        json!(marks),
        json!([
            ["@ann.test", "did:plc:ann"],
            ["https://a.example/x", "https://a.example/x"],
            ["#birds", "birds"]
        ])
    );
    let root = json!({"uri": "at://root", "cid": "r"});
    assert_eq!(
        first["reply"],
        json!({"root": root, "parent": {"uri": "at://did:plc:ann/app.bsky.feed.post/k", "cid": "c"}})
    );
    assert_eq!(second["reply"], json!({"root": root, "parent": {"uri": out[0], "cid": "of it"}}));
    let paths = |name: &str| pds.stub.seen().iter().filter(|seen| seen.path().ends_with(name)).count();
    assert_eq!((paths("createSession"), paths("refreshSession")), (1, 0));
    // Another client's session made ours stale: renewed without a body, and the call is made after all.
    pds.stub.forget();
    let client = crate::home::client();
    let url = format!("{}/xrpc/com.atproto.server.createSession", pds.stub.url);
    client.post(url).body("app-password-1").send().await.unwrap();
    let looked = open.call(json!({"service": "bluesky", "path": "/xrpc/app.bsky.feed.getTimeline"})).await;
    assert_eq!((&looked["ok"], &looked["status"]), (&json!(true), &json!(200)), "{looked}");
    assert_eq!((paths("createSession"), paths("refreshSession")), (1, 1));
    let raw = json!({"service": "bluesky", "method": "POST", "path": "/xrpc/com.atproto.repo.putRecord", "body": {"repo": "me.test"}});
    assert!(open.call(raw).await["asked"].is_string(), "the rule of posts allows no other record");
    let written = home.text(".self/ledger.jsonl") + &home.text(".self/broker/oauth2-bluesky.json");
    assert!(!written.contains("app-password-1") && !written.contains("jwt-0"), "{written}");
}
