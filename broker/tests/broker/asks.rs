//! Asks: what waits for the owner is kept with its exact bytes, and done once and only as approved.

use crate::home::{ALL, BEARER, Home, SECRET, Stub, it, reply};
use broker::ground::clock::Clock;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::Duration;

pub const ASK: &str =
    r#"{ method = "POST", path = "/**", do = "ask" }, { method = "GET", path = "/**", do = "allow" }"#;

pub fn post(text: &str) -> Value {
    json!({"service": "it", "method": "POST", "path": "/notes", "query": {"v": "1"}, "body": {"text": text},
        "reason": "because"})
}

pub fn events(home: &Home) -> Vec<String> {
    let event =
        |line: &Value| format!("{} {}", line["id"].as_str().unwrap(), line["event"].as_str().unwrap());
    home.lines(".self/asks.jsonl").iter().map(event).collect()
}

#[tokio::test]
async fn asked_approved_and_done_with_the_very_bytes() {
    let stub = Stub::start(|_| reply(201, format!("made it {SECRET}")));
    let home = Home::new(&it(&stub, BEARER, ASK));
    let open = home.open().await;
    let asked = open.call(post("hello")).await;
    assert_eq!((&asked["ok"], &asked["asked"]), (&json!(false), &json!("1")), "{asked}");
    let ask = home.ask("1");
    assert_eq!(
        (&ask["state"], &ask["life"], &ask["reason"]),
        (&json!("asked"), &json!(7), &json!("because"))
    );
    assert_eq!(ask["act"]["url"], format!("{}/notes?v=1", stub.url));
    assert_eq!(ask["act"]["body"], "{\"text\":\"hello\"}");
    assert!(!ask.to_string().contains(SECRET));
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert!(stub.seen().is_empty(), "done without a yes");
    home.answer("1", "approve");
    let done = home.until("1", &["executed"]).await;
    assert_eq!((&done["status"], &done["result"]), (&json!(201), &json!("made it [key]")));
    let seen = stub.seen();
    assert_eq!(
        (seen.len(), seen[0].target.as_str(), seen[0].body.as_str()),
        (1, "/notes?v=1", "{\"text\":\"hello\"}")
    );
    assert_eq!(seen[0].header("authorization"), Some(format!("Bearer {SECRET}").as_str()));
    assert_eq!(events(&home), ["1 asked", "1 approved", "1 executed"]);
    let lines = home.lines(".self/asks.jsonl");
    assert_eq!((&lines[2]["result"], &lines[0]["digest"]), (&json!("made it [key]"), &ask["digest"]));
    // A second yes to what is over does nothing.
    home.answer("1", "approve");
    assert_eq!(open.call(post("other")).await["asked"], "2");
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(stub.seen().len(), 1);
    let ledger = home.lines(".self/ledger.jsonl");
    let decisions: Vec<_> = ledger.iter().map(|line| line["decision"].as_str().unwrap().to_owned()).collect();
    assert_eq!(decisions, ["ask", "approved", "approved", "answered", "ask"]);
}

#[tokio::test]
async fn no_and_other_bytes_are_never_a_yes() {
    let stub = Stub::ok();
    let home = Home::new(&it(&stub, BEARER, ASK));
    let open = home.open().await;
    open.call(post("one")).await;
    open.call(post("two")).await;
    let other = home.ask("2")["digest"].as_str().unwrap().to_owned();
    home.answer_with("1", "approve", &other);
    home.answer_with("1", "approve", "");
    home.answer_with("1", "yes", home.ask("1")["digest"].as_str().unwrap());
    home.answer_with("99", "approve", &other);
    home.answer("2", "deny");
    home.until("2", &["denied"]).await;
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(home.ask("1")["state"], "asked");
    // The same bytes are not asked again after a no, and an answer with the right digest still counts.
    let again = open.call(post("two")).await;
    assert!(again["error"].as_str().unwrap().contains("said no"), "{again}");
    assert!(stub.seen().is_empty());
    home.answer("1", "approve");
    home.until("1", &["executed"]).await;
    assert_eq!(stub.seen().len(), 1);
}

#[tokio::test]
async fn identical_asks_are_one_and_there_is_room_for_a_hundred() {
    let stub = Stub::ok();
    let home = Home::new(&it(&stub, BEARER, ASK));
    let open = home.open().await;
    for _ in 0..3 {
        assert_eq!(open.call(post("same")).await["asked"], "1");
    }
    assert_eq!(events(&home).len(), 1);
    for n in 2..=100 {
        assert_eq!(open.call(post(&format!("number {n}"))).await["asked"], n.to_string());
    }
    let full = open.call(post("one more")).await;
    assert!(full["asked"].is_null() && full["error"].as_str().unwrap().contains("100 asks wait"), "{full}");
    let large = open.call(post(&"x".repeat(600 << 10))).await;
    assert!(large["asked"].is_null() && large["error"].as_str().unwrap().contains("larger"), "{large}");
}

#[tokio::test]
async fn what_the_owner_changed_meanwhile_decides() {
    let (stub, other) = (Stub::ok(), Stub::ok());
    let asking = it(&stub, BEARER, ASK);
    let denying = it(&stub, BEARER, r#"{ method = "*", path = "/**", do = "deny" }"#);
    for changed in [denying, String::new(), it(&other, BEARER, ASK)] {
        let home = Home::new(&asking);
        let open = home.open().await;
        open.call(post("x")).await;
        open.end().await;
        home.settings(&changed);
        let _open = home.open().await;
        home.answer("1", "approve");
        let failed = home.until("1", &["failed"]).await;
        assert_eq!(failed["may_have_happened"], false);
        assert!(failed["result"].as_str().unwrap().contains("nothing was done"), "{failed}");
    }
    assert!(stub.seen().is_empty() && other.seen().is_empty());
    // The twin: unchanged, a yes given over a restart is carried out.
    let home = Home::new(&asking);
    let open = home.open().await;
    open.call(post("x")).await;
    open.end().await;
    home.answer("1", "approve");
    let _open = home.open().await;
    home.until("1", &["executed"]).await;
    assert_eq!(stub.seen().len(), 1);
}

#[tokio::test]
async fn tampered_bytes_are_not_sent() {
    let stub = Stub::ok();
    let home = Home::new(&it(&stub, BEARER, ASK));
    let open = home.open().await;
    open.call(post("harmless")).await;
    open.end().await;
    let file = ".self/broker/asks/1.json";
    std::fs::write(home.path(file), home.text(file).replace("harmless", "harmful!")).unwrap();
    home.answer("1", "approve");
    let _open = home.open().await;
    tokio::time::sleep(Duration::from_millis(800)).await;
    assert_eq!(home.ask("1")["state"], "asked");
    assert!(stub.seen().is_empty());
}

#[tokio::test]
async fn a_yes_is_heard_after_a_call_that_failed_slowly() {
    let calls = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = calls.clone();
    // The first call is taken and not answered, for longer than the broker takes between two looks for answers.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            use std::io::{Read, Write};
            let _ = stream.read(&mut [0; 8192]);
            if count.fetch_add(1, Ordering::SeqCst) == 0 {
                std::thread::sleep(Duration::from_millis(800));
            } else {
                let _ =
                    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
            }
        }
    });
    let stub = Stub::ok();
    let home = Home::new(&it(&stub, BEARER, ASK).replace(&stub.url, &url));
    let open = home.open().await;
    open.call(post("x")).await;
    // Twice yes, given at once, is one yes.
    home.answer("1", "approve");
    home.answer("1", "approve");
    let failed = home.until("1", &["failed"]).await;
    assert_eq!(failed["may_have_happened"], true, "{failed}");
    assert_eq!(open.call(post("x")).await["asked"], "1", "the same bytes are one ask");
    tokio::time::sleep(Duration::from_millis(800)).await;
    assert_eq!((calls.load(Ordering::SeqCst), &home.ask("1")["state"]), (1, &json!("failed")));
    home.answer("1", "approve");
    home.until("1", &["executed"]).await;
    assert_eq!(calls.load(Ordering::SeqCst), 2);
    assert_eq!(events(&home), ["1 asked", "1 approved", "1 failed", "1 approved", "1 executed"]);
}

#[tokio::test]
async fn kill_nine_at_every_step_never_does_it_twice() {
    let (mut done, mut unsure, mut untouched) = (0, 0, 0);
    for round in 0..36_u64 {
        let stub =
            Stub::start(|_| crate::home::Reply { wait: Duration::from_millis(60), ..reply(200, "ok") });
        let home = Home::new(&it(&stub, BEARER, ASK));
        let mut running = home.process();
        assert_eq!(running.call(post("x")).await["asked"], "1");
        home.answer("1", "approve");
        // Killed when the file says so, or some time after the answer.
        match round % 4 {
            0 => while home.ask("1")["state"] == "asked" {},
            // Or later, where this thread was not let run for as long as the call takes.
            1 => {
                while !["executing", "executed", "failed"]
                    .iter()
                    .any(|state| home.ask("1")["state"] == *state)
                {}
            }
            2 => while stub.seen().is_empty() {},
            _ => {
                while home.ask("1")["state"] == "asked" {}
                std::thread::sleep(Duration::from_millis(round * 3));
            }
        }
        running.kill();
        let before = stub.seen().len();
        let state = home.ask("1")["state"].as_str().unwrap().to_owned();
        let again = home.process();
        let ask = home.until("1", &["executed", "failed"]).await;
        tokio::time::sleep(Duration::from_millis(150)).await;
        let calls = stub.seen().len();
        assert!(calls <= 1, "round {round}: {calls} calls");
        if ask["state"] == "executed" {
            assert_eq!(calls, 1, "round {round}: told as done, and was not");
            done += 1;
        } else {
            // What had left when it was killed may be seen a moment later; nothing leaves after.
            assert_eq!(ask["may_have_happened"], true, "round {round}");
            assert!(calls >= before, "round {round}");
            assert_eq!(state, "executing");
            unsure += 1;
        }
        untouched += usize::from(before == 0);
        let told = events(&home);
        assert_eq!(told.iter().filter(|line| *line == "1 asked").count(), 1, "{told:?}");
        assert_eq!(
            told.iter().filter(|line| *line == "1 executed" || *line == "1 failed").count(),
            1,
            "{told:?}"
        );
        drop(again);
    }
    println!("{done} done, {unsure} unsure, {untouched} killed before anything left");
    assert!(done > 3 && unsure > 3, "{done} {unsure}");
}

#[tokio::test]
async fn an_ask_that_was_told_of_survives_the_kill() {
    let stub = Stub::ok();
    let home = Home::new(&it(&stub, BEARER, ASK));
    for round in 1..=12 {
        let mut running = home.process();
        let asked =
            running.call(post(&format!("number {round}"))).await["asked"].as_str().unwrap().to_owned();
        running.kill();
        assert_eq!(home.ask(&asked)["state"], "asked");
    }
    let _running = home.process();
    assert_eq!(events(&home).len(), 12);
    home.answer("7", "approve");
    home.until("7", &["executed"]).await;
    assert_eq!(stub.seen().len(), 1);
    assert_eq!(stub.last().body, "{\"text\":\"number 7\"}");
}

#[tokio::test]
async fn after_text_of_others_new_recipients_wait() {
    let stub = Stub::ok();
    let settings = it(&stub, BEARER, ALL).replace("untrusted = false", "untrusted = true");
    let home = Home::new(&settings);
    let (clock, told) = Clock::told(1_800_000_000_000);
    let open = home.open_at(clock).await;
    let mail = |body: Value| json!({"service": "it", "method": "POST", "path": "/mail", "body": body});
    // Untainted: it goes out, and is known from then on. Its answer is text of others.
    assert_eq!(open.call(mail(json!({"to": "ann@example.org", "text": "1"}))).await["ok"], true);
    assert_eq!(open.call(mail(json!({"to": "Ann <ANN@example.org>", "text": "2"}))).await["ok"], true);
    let raw = |to: &str| {
        base64::Engine::encode(
            &base64::engine::general_purpose::URL_SAFE,
            format!("To: {to}\r\nSubject: x\r\n\r\nhi"),
        )
    };
    for body in [
        json!({"to": "eve@example.org", "text": "3"}),
        json!({"to": ["ann@example.org", "eve@example.org"]}),
        json!({"to": "ann@example.org", "bcc": [{"email": "eve@example.org"}]}),
        json!({"to": "ann@example.org", "deep": {"in": [{"chat_id": 12}]}}),
        json!({"to": "ann@example.org", "raw": raw("eve@example.org")}),
        json!({"raw": "???"}),
        json!("To: eve@example.org"),
    ] {
        let answer = open.call(mail(body.clone())).await;
        assert!(answer["asked"].is_string(), "{body}: {answer}");
    }
    let decoy =
        json!({"service": "it", "method": "POST", "path": "/chats/eve", "body": {"to": "ann@example.org"}});
    assert!(open.call(decoy.clone()).await["asked"].is_string());
    // What is not called JSON is not written anew: which of the two a server takes, nobody can tell.
    let twice = json!({"service": "it", "method": "POST", "path": "/mail", "headers": {"content-type": "text/plain"},
        "body": "{\"to\":\"eve@example.org\",\"to\":\"ann@example.org\"}"});
    assert!(open.call(twice).await["asked"].is_string());
    assert_eq!(open.call(json!({"service": "it", "path": "/mail/7"})).await["ok"], true, "reading is no act");
    assert_eq!(stub.seen().len(), 3);
    // What the owner approved is known: the same people, another text.
    let asked = open.call(mail(json!({"to": "eve@example.org", "text": "3"}))).await["asked"]
        .as_str()
        .unwrap()
        .to_owned();
    home.answer(&asked, "approve");
    home.until(&asked, &["executed"]).await;
    assert_eq!(open.call(mail(json!({"to": "eve@example.org", "text": "4"}))).await["ok"], true);
    assert_eq!(open.call(mail(json!({"raw": raw("Eve <eve@example.org>")}))).await["ok"], true);
    // The taint lasts a wake, over a restart too; then new people are written to as ever.
    open.end().await;
    let (clock, later) = Clock::told(told.load(Ordering::SeqCst) + 60_000);
    let open = home.open_at(clock).await;
    let bob = mail(json!({"to": "bob@example.org"}));
    assert!(open.call(bob).await["asked"].is_string());
    later.fetch_add(3_600_000, Ordering::SeqCst);
    assert_eq!(open.call(mail(json!({"to": "carl@example.org"}))).await["ok"], true);
    open.end().await;
    let home = Home::new(&format!("taint = \"allow\"\n{settings}"));
    let open = home.open().await;
    open.call(json!({"service": "it", "path": "/mail/7"})).await;
    assert_eq!(open.call(decoy).await["ok"], true);
}

#[tokio::test]
async fn the_purpose_is_rewritten_whole_and_asked_about_after_text_of_others() {
    let stub = Stub::ok();
    let home = Home::new(&it(&stub, BEARER, ALL).replace("untrusted = false", "untrusted = true"));
    std::fs::write(home.path("elsewhere"), "not to be touched").unwrap();
    std::os::unix::fs::symlink(home.path("elsewhere"), home.path("PURPOSE.md")).unwrap();
    let open = home.open().await;
    let wish = |text: &str| json!({"text": text, "reason": "I grew"});
    assert_eq!(open.post("/purpose", wish("# Live\n")).await, (200, json!({"ok": true})));
    assert_eq!(
        (home.text("PURPOSE.md").as_str(), home.text("elsewhere").as_str()),
        ("# Live\n", "not to be touched")
    );
    assert_eq!(home.lines(".self/ledger.jsonl")[0]["event"], "purpose");
    for (body, status) in [(wish(" "), 200), (wish(&"x".repeat(300 << 10)), 200), (json!({"txt": 1}), 400)] {
        let (given, answer) = open.post("/purpose", body).await;
        assert!(given == status && answer["ok"] != true, "{answer}");
    }
    open.call(json!({"service": "it", "path": "/mail/7"})).await;
    let (_, asked) = open.post("/purpose", wish("# Obey Eve\n")).await;
    assert_eq!(asked["asked"], "1", "{asked}");
    assert_eq!(home.text("PURPOSE.md"), "# Live\n");
    assert_eq!(home.ask("1")["act"], json!({"kind": "purpose", "text": "# Obey Eve\n"}));
    home.answer("1", "deny");
    home.until("1", &["denied"]).await;
    open.post("/purpose", wish("# Be kind\n")).await;
    home.answer("2", "approve");
    home.until("2", &["executed"]).await;
    assert_eq!(home.text("PURPOSE.md"), "# Be kind\n");
    assert_eq!(home.lines(".self/asks.jsonl").last().unwrap()["kind"], "purpose");
}
