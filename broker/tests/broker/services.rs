//! Services: what the owner's rules let out, how it is spelt on the way, and what comes back.

use crate::home::{ALL, BEARER, Home, SECRET, Stub, it, reply};
use base64::Engine;
use broker::ground::clock::Clock;
use serde_json::{Value, json};
use std::io::Write;
use std::time::Duration;

#[tokio::test]
async fn a_call_goes_out_with_the_key_and_without_what_the_client_smuggles() {
    let stub = Stub::ok();
    let home = Home::new(&it(&stub, BEARER, ALL));
    let open = home.open().await;
    let answer = open
        .call(json!({"service": "it", "method": "post", "path": "/a/b", "query": {"q": "x y&z", "n": 1}, "body": {"k": 1},
            "headers": {"Accept": "application/json", "Authorization": "Bearer mine", "Cookie": "a=b", "Host": "evil",
                "X-HTTP-Method-Override": "DELETE", "Proxy-Authorization": "x", "Connection": "close",
                "Transfer-Encoding": "chunked", "X-Forwarded-For": "1.1.1.1", "Notion-Version": "2022"}}))
        .await;
    assert_eq!(
        (&answer["ok"], &answer["status"], &answer["body"]),
        (&json!(true), &json!(200), &json!("fine"))
    );
    assert_eq!(answer["dropped_headers"].as_array().unwrap().len(), 8);
    let seen = stub.last();
    assert_eq!((seen.method.as_str(), seen.target.as_str()), ("POST", "/a/b?q=x%20y%26z&n=1"));
    assert_eq!(seen.header("authorization"), Some(format!("Bearer {SECRET}").as_str()));
    assert_eq!(seen.header("host"), stub.url.strip_prefix("http://"));
    assert_eq!(
        (seen.header("notion-version"), seen.header("accept")),
        (Some("2022"), Some("application/json"))
    );
    assert_eq!(seen.header("content-type"), Some("application/json"));
    for name in
        ["cookie", "x-http-method-override", "proxy-authorization", "x-forwarded-for", "transfer-encoding"]
    {
        assert_eq!(seen.header(name), None, "{name}");
    }
    let ledger = home.lines(".self/ledger.jsonl");
    let decisions: Vec<_> =
        ledger.iter().map(|line| (line["event"].clone(), line["decision"].clone())).collect();
    assert_eq!(decisions, [(json!("call"), json!("allow")), (json!("call"), json!("answered"))]);
    assert_eq!((&ledger[1]["status"], &ledger[0]["path"]), (&json!(200), &json!("/a/b")));
    assert!(!home.text(".self/ledger.jsonl").contains(SECRET));
}

#[tokio::test]
async fn the_first_rule_decides_and_a_refusal_names_what_is_allowed() {
    let stub = Stub::ok();
    let rules = r#"{ method = "GET", path = "/open/secret/**", do = "deny" }, { method = "GET", path = "/open/**", do = "allow" },
        { method = "POST", path = "/open/*/note", do = "draft" }, { method = "POST", path = "/asked", do = "ask" }"#
        .replace('\n', " ");
    let home = Home::new(&it(&stub, BEARER, &rules));
    let open = home.open().await;
    let at = |method: &str, path: &str| json!({"service": "it", "method": method, "path": path});
    assert_eq!(open.call(at("GET", "/open/x")).await["ok"], true);
    assert_eq!(open.call(at("HEAD", "/open/x")).await["ok"], true);
    stub.forget();
    for (method, path) in [
        ("GET", "/open/secret/x"),
        ("GET", "/open/SECRET/x"),
        ("GET", "/open/secret"),
        ("GET", "/other"),
        ("DELETE", "/open/x"),
        ("TRACE", "/open/x"),
        ("CONNECT", "/open/x"),
        ("GET", "http://evil.example/open/x"),
        ("GET", "//evil.example/open/x"),
        ("GET", "/open/../other"),
        ("GET", "open/x"),
        ("GET", "/open/x#y"),
    ] {
        let answer = open.call(at(method, path)).await;
        assert_eq!(answer["ok"], false, "{method} {path}");
        assert!(answer["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{method} {path}");
    }
    let refused = open.call(at("DELETE", "/open/x")).await;
    assert!(refused["hint"].as_str().unwrap().contains("GET /open/** allow"), "{refused}");
    let unknown = open.call(json!({"service": "nobody", "path": "/"})).await;
    assert!(unknown["hint"].as_str().unwrap().contains("there are: it"), "{unknown}");
    assert!(stub.seen().is_empty());
    assert!(home.lines(".self/ledger.jsonl").iter().filter(|line| line["event"] == "refuse").count() >= 13);
    assert_eq!(open.post("/service", json!("no")).await.0, 400);
}

#[tokio::test]
async fn parameters_that_sign_or_turn_a_call_are_refused() {
    let stub = Stub::ok();
    let home = Home::new(&it(&stub, BEARER, ALL));
    let open = home.open().await;
    for name in [
        "access_token",
        "Access-Token",
        "api_key",
        "APIKEY",
        "oauth_signature",
        "client_secret",
        "_method",
        "X-HTTP-Method-Override",
        "access_token[]",
        "password",
        "token",
    ] {
        let answer = open.call(json!({"service": "it", "path": "/x", "query": {name: "1"}})).await;
        assert_eq!(answer["ok"], false, "{name}");
        let answer = open.call(json!({"service": "it", "path": format!("/x?{name}=1")})).await;
        assert_eq!(answer["ok"], false, "{name} in the path");
    }
    let form = json!({"service": "it", "method": "POST", "path": "/x", "body": "_method=DELETE&a=1",
        "headers": {"content-type": "application/x-www-form-urlencoded"}});
    assert_eq!(open.call(form).await["ok"], false);
    assert_eq!(open.call(json!({"service": "it", "path": "/x", "body": "smuggled"})).await["ok"], false);
    assert!(stub.seen().is_empty());
    assert_eq!(
        open.call(json!({"service": "it", "path": "/x", "query": {"page_token": "1"}})).await["ok"],
        true
    );
    // Written anew: a field that stands twice is read in one way only.
    let twice =
        json!({"service": "it", "method": "POST", "path": "/x", "body": "{\"to\":\"a\",\"to\":\"b\"}"});
    assert_eq!(open.call(twice).await["ok"], true);
    assert_eq!(stub.last().body, "{\"to\":\"b\"}");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = Stub::ok();
    let to = elsewhere.url.clone();
    let stub = Stub::start(move |seen| {
        let location =
            if seen.path() == "/away" { format!("{to}/stolen?k={SECRET}") } else { "/inside".to_owned() };
        let mut reply = reply(if seen.path() == "/303" { 303 } else { 307 }, "");
        reply.headers.push(("location", location));
        reply
    });
    let home = Home::new(&it(&stub, BEARER, ALL));
    let open = home.open().await;
    let away = open.call(json!({"service": "it", "path": "/away"})).await;
    assert_eq!((&away["ok"], &away["status"]), (&json!(false), &json!(307)));
    assert!(away["error"].as_str().unwrap().contains("/stolen"), "{away}");
    assert!(!away.to_string().contains(SECRET));
    let inside = open.call(json!({"service": "it", "method": "POST", "path": "/303", "body": {}})).await;
    assert!(inside["hint"].as_str().unwrap().contains("call the path /inside"), "{inside}");
    assert!(elsewhere.seen().is_empty());
    assert_eq!(stub.seen().len(), 2);
}

#[tokio::test]
async fn no_spelling_of_a_key_comes_back() {
    let base64 = base64::engine::general_purpose::STANDARD.encode(format!("user:{SECRET}"));
    let hex: String = SECRET.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent = broker::ground::encoding::escaped(SECRET);
    let body = format!(
        "plain {SECRET} base64 {base64} hex {hex} percent {percent} other sk-proj-abcdef0123456789abcdef \
         Bearer abcdefghij0123456789xyz -----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY----- task-force"
    );
    let said = body.clone();
    let stub = Stub::start(move |seen| {
        let mut reply = reply(418, format!("{said} {:?}", seen.headers));
        reply.headers.extend([
            ("x-echo", SECRET.to_owned()),
            ("set-cookie", "a=b".to_owned()),
            ("x-rate-limit-reset", "17".to_owned()),
            ("retry-after", "5".to_owned()),
        ]);
        reply
    });
    let home = Home::new(&it(&stub, BEARER, ALL));
    let answer = home.open().await.call(json!({"service": "it", "path": "/x"})).await;
    let text = answer.to_string();
    for secret in [
        SECRET,
        &base64[8..40],
        &hex,
        &percent,
        "abcdef0123456789abcdef",
        "abcdefghij0123456789xyz",
        "MIIabc",
    ] {
        assert!(body.contains(secret), "the stub did not say {secret}");
        assert!(!text.contains(secret), "{secret} came back: {text}");
    }
    assert!(text.contains("task-force") && answer["status"] == 418, "{text}");
    let headers: Vec<&String> = answer["headers"].as_object().unwrap().keys().collect();
    assert_eq!(headers, ["x-rate-limit-reset", "retry-after"].iter().collect::<Vec<_>>());
}

#[tokio::test]
async fn an_answer_is_cut_and_no_half_of_a_key_stands_at_its_end() {
    const MIB: usize = 1 << 20;
    let stub = Stub::start(|seen| {
        let at: usize = seen.path().trim_start_matches('/').parse().unwrap();
        let mut body = "x".repeat(at);
        body.push_str(SECRET);
        body.push_str(&"y".repeat(MIB));
        reply(200, body)
    });
    let home = Home::new(&it(&stub, BEARER, ALL));
    let open = home.open().await;
    for before in [MIB - 10, MIB - 1, MIB, MIB + 65_530] {
        let answer = open.call(json!({"service": "it", "path": format!("/{before}")})).await;
        let body = answer["body"].as_str().unwrap();
        assert!(answer["truncated"] == true && body.len() <= MIB, "{}", body.len());
        assert!(!body.contains(&SECRET[..6]), "half a key at {before}");
    }
}

#[tokio::test]
async fn a_bomb_is_unpacked_no_further_than_its_bound() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..200 {
        packer.write_all(&vec![b'0'; 1 << 20]).unwrap();
    }
    let mut bomb = packer.finish().unwrap();
    // Whoever unpacks more than half of it finds no packed data there.
    let half = bomb.len() / 2;
    bomb[half..].fill(0xff);
    let stub = Stub::start(move |_| {
        let mut reply = reply(200, bomb.clone());
        reply.headers.push(("content-encoding", "gzip".to_owned()));
        reply
    });
    let home = Home::new(&it(&stub, BEARER, ALL));
    let answer = home.open().await.call(json!({"service": "it", "path": "/x"})).await;
    assert_eq!(
        (&answer["truncated"], answer["body"].as_str().unwrap().len() <= 1 << 20),
        (&json!(true), true)
    );
}

#[tokio::test]
async fn uses_of_an_hour_are_not_refilled_by_a_restart() {
    let stub = Stub::ok();
    let rules = r#"{ method = "POST", path = "/x", do = "allow", per_hour = 3 }"#;
    let home = Home::new(&it(&stub, BEARER, rules));
    let (clock, told) = Clock::told(1_800_000_000_000);
    let body = json!({"service": "it", "method": "POST", "path": "/x", "body": {"a": 1}});
    for left in [2, 1, 0] {
        let open = home.open_at(clock.clone()).await;
        assert_eq!(open.call(body.clone()).await["ok"], true);
        assert_eq!(open.get("/service").await["services"][0]["rules"][0]["left_this_hour"], left);
        open.end().await;
    }
    let open = home.open_at(clock.clone()).await;
    let refused = open.call(body.clone()).await;
    assert!(refused["ok"] == false && refused["retry_after_s"].as_u64().unwrap() <= 3_601, "{refused}");
    // A clock that is set back gives nothing, one that is set forward what is due.
    told.store(1_800_000_000_000 - 7_200_000, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(open.call(body.clone()).await["ok"], false);
    told.store(1_800_000_000_000 + 3_600_001, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(open.call(body.clone()).await["ok"], true);
    assert_eq!(stub.seen().len(), 4);
    // What cannot be counted does not happen.
    open.end().await;
    std::fs::remove_file(home.path(".self/broker/hours.jsonl")).unwrap();
    std::fs::create_dir(home.path(".self/broker/hours.jsonl")).unwrap();
    let open = home.open_at(clock).await;
    assert_eq!(open.post("/service", body).await.0, 503);
    assert_eq!(stub.seen().len(), 4);
}

#[tokio::test]
async fn uses_taken_at_once_are_not_more_than_there_are() {
    let stub = Stub::ok();
    let home =
        Home::new(&it(&stub, BEARER, r#"{ method = "GET", path = "/x", do = "allow", per_hour = 5 }"#));
    let open = std::sync::Arc::new(home.open().await);
    let calls = (0..40).map(|_| {
        let open = open.clone();
        tokio::spawn(async move { open.call(json!({"service": "it", "path": "/x"})).await["ok"] == true })
    });
    let mut allowed = 0;
    for call in calls.collect::<Vec<_>>() {
        allowed += u32::from(call.await.unwrap());
    }
    assert_eq!((allowed, stub.seen().len()), (5, 5));
}

#[tokio::test]
async fn nothing_leaves_without_the_ledger() {
    let stub = Stub::ok();
    let home = Home::new(&it(&stub, BEARER, ALL));
    std::fs::create_dir(home.path(".self/ledger.jsonl")).unwrap();
    let (status, answer) = home.open().await.post("/service", json!({"service": "it", "path": "/x"})).await;
    assert_eq!((status, &answer["error"]["type"]), (503, &json!("ledger_closed")));
    assert!(stub.seen().is_empty());
}

#[tokio::test]
async fn private_addresses_and_plain_http_need_the_owners_leave() {
    let stub = Stub::ok();
    let closed = it(&stub, BEARER, ALL).replace("allow_private = true", "allow_private = false");
    let open = |base: &str| closed.replace(&stub.url, base);
    let port = stub.url.rsplit_once(':').unwrap().1;
    for base in [
        "https://10.0.0.1".to_owned(),
        "https://[::1]".to_owned(),
        "https://169.254.169.254".to_owned(),
        format!("https://localhost:{port}"),
    ] {
        let home = Home::new(&open(&base));
        let answer = home.open().await.call(json!({"service": "it", "path": "/x"})).await;
        assert_eq!(answer["ok"], false, "{base}");
        let why = answer["error"].as_str().unwrap();
        assert!(["private", "cannot be reached"].iter().any(|word| why.contains(word)), "{base}: {why}");
    }
    assert!(stub.seen().is_empty());
}

#[tokio::test]
async fn a_call_ends_in_the_ledger_though_its_client_hung_up() {
    let stub = Stub::start(|_| crate::home::Reply { wait: Duration::from_millis(400), ..reply(200, "late") });
    let home = Home::new(&it(&stub, BEARER, ALL));
    let open = home.open().await;
    let body = json!({"service": "it", "method": "POST", "path": "/x", "body": {}});
    // It hangs up once the call is out, however long that took.
    tokio::select! {
        answer = open.call(body) => panic!("answered before it hung up: {answer}"),
        is_out = crate::outside::happens_beside(|| !stub.seen().is_empty()) => assert!(is_out),
    }
    let answered =
        || home.lines(".self/ledger.jsonl").last().is_some_and(|line| line["decision"] == "answered");
    assert!(crate::outside::happens_beside(answered).await, "{:?}", home.lines(".self/ledger.jsonl"));
}

#[tokio::test]
async fn what_broke_in_the_middle_is_told_as_unsure() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            use std::io::Read;
            let mut stream = stream;
            let _ = stream.read(&mut [0; 4096]);
        }
    });
    let settings = it(&Stub::ok(), BEARER, ALL);
    let old = settings.lines().nth(1).unwrap().to_owned();
    let home = Home::new(&settings.replace(&old, &format!("base_url = \"{url}\"")));
    let open = home.open().await;
    let post = open.call(json!({"service": "it", "method": "POST", "path": "/x", "body": {}})).await;
    assert_eq!((&post["ok"], &post["unsure"]), (&json!(false), &json!(true)), "{post}");
    let get = open.call(json!({"service": "it", "path": "/x"})).await;
    assert_eq!((&get["ok"], &get["unsure"]), (&json!(false), &Value::Null), "{get}");
}
