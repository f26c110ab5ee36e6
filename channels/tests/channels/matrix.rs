//! A Matrix account before a homeserver that refuses, ends connections and has gaps; a real one is in `scripts/trials channels`.

use crate::faithful::matrix::{Answer, Homeserver};
use channels::channel::{Channel, Chat, Form, Heard, Message, Press, Trouble, Welcome, What};
use channels::door::Door;
use channels::platforms::matrix::Matrix;
use house::settings::channels::Channel as Settings;
use serde_json::{Value, json};
use std::time::Duration;

fn says(body: Value) -> Answer {
    Answer::Says(200, "", body)
}

fn whoami() -> Answer {
    says(json!({ "user_id": "@feral:x" }))
}

fn channel(server: &Homeserver) -> Matrix {
    let settings = Settings { url: server.url.clone(), token_env: "TOKEN".into(), ..Settings::default() };
    Matrix::new(&settings, &|_| Some("token".to_owned()), Door::new(None).unwrap()).unwrap()
}

fn event(id: &str, text: &str) -> Value {
    json!({ "type": "m.room.message", "event_id": id, "sender": "@anna:x", "origin_server_ts": 1,
        "content": { "msgtype": "m.text", "body": text } })
}

fn synced(next: &str, timeline: Value) -> Answer {
    says(json!({ "next_batch": next, "rooms": { "join": { "!r:x": { "timeline": timeline } } } }))
}

fn two() -> Answer {
    says(json!({ "joined": { "@anna:x": {}, "@feral:x": {} } }))
}

fn texts(heard: &[Heard]) -> Vec<String> {
    let text = |heard: &Heard| match &heard.what {
        What::Word(word) => word.text.clone(),
        other => panic!("{other:?}"),
    };
    heard.iter().map(text).collect()
}

fn message(text: &str) -> Message {
    let chat = Chat { id: "!r/../x:x".into(), thread: None, is_private: true };
    Message {
        chat,
        text: text.into(),
        form: Form::MatrixHtml,
        buttons: vec![],
        file: None,
        key: "ab".repeat(16),
    }
}

#[tokio::test]
async fn a_gap_is_filled_in_order_and_goes_on_where_it_stopped() {
    let page = |ids: std::ops::Range<usize>, end: Option<&str>| {
        let chunk: Vec<Value> = ids.map(|id| event(&format!("${id}"), &id.to_string())).collect();
        says(json!({ "chunk": chunk, "end": end }))
    };
    let limited =
        || synced("s9", json!({ "limited": true, "prev_batch": "p", "events": [event("$1500", "1500")] }));
    let server = Homeserver::start(vec![
        whoami(),
        limited(),
        page(0..700, Some("t1")),
        page(700..1_400, Some("t2")),
        two(),
        // Another process goes on behind what was acknowledged.
        whoami(),
        limited(),
        // A page of nothing, and one that goes on behind the end it was given.
        page(0..0, Some("t3")),
        page(1_400..1_501, Some("t4")),
        two(),
    ])
    .await;
    let first = channel(&server);
    first.connect(Some(&json!({ "since": "s1" }))).await.unwrap();
    let one = first.receive().await.unwrap();
    assert_eq!(one.heard.len(), 1_400);
    assert_eq!(one.cursor, json!({ "since": "s1", "gaps": { "!r:x": "t2" } }));
    let second = channel(&server);
    second.connect(Some(&one.cursor)).await.unwrap();
    let two = second.receive().await.unwrap();
    assert_eq!(two.cursor, json!({ "since": "s9" }));
    let all: Vec<String> = one.heard.iter().chain(&two.heard).map(|heard| heard.id.clone()).collect();
    assert_eq!(all, (0..=1_500).map(|id| format!("${id}")).collect::<Vec<_>>());
    assert!(
        server.paths().iter().any(|path| path.contains("messages?dir=f&from=t2&to=p")),
        "{:?}",
        server.paths()
    );
}

#[tokio::test]
async fn what_cannot_be_fetched_now_is_not_passed_over() {
    let timeline = || json!({ "events": [event("$1", "one")] });
    let server = Homeserver::start(vec![
        whoami(),
        Answer::Cut,
        synced("s2", timeline()),
        Answer::Says(502, "", Value::Null),
        synced("s2", timeline()),
        two(),
    ])
    .await;
    let channel = channel(&server);
    channel.connect(Some(&json!({ "since": "s1" }))).await.unwrap();
    for _ in 0..2 {
        assert!(matches!(channel.receive().await, Err(Trouble::Away(_))));
    }
    let batch = channel.receive().await.unwrap();
    assert_eq!((texts(&batch.heard), batch.heard[0].chat.is_private), (vec!["one".to_owned()], true));
}

#[tokio::test]
async fn a_place_that_the_homeserver_knows_no_more_begins_at_its_newest() {
    let server = Homeserver::start(vec![
        whoami(),
        Answer::Says(400, "", json!({ "errcode": "M_UNKNOWN", "error": "Invalid stream token" })),
        synced("s2", json!({ "limited": true, "prev_batch": "p", "events": [event("$1", "one")] })),
        two(),
    ])
    .await;
    let channel = channel(&server);
    channel.connect(Some(&json!({ "since": "of another" }))).await.unwrap();
    assert_eq!(texts(&channel.receive().await.unwrap().heard), ["one"]);
}

#[tokio::test]
async fn the_beginning_is_told_before_anything_is_heard() {
    let server =
        Homeserver::start(vec![whoami(), synced("s1", json!({ "events": [event("$0", "old")] }))]).await;
    let channel = channel(&server);
    assert_eq!(channel.connect(None).await.unwrap().id, "@feral:x");
    let begin = channel.receive().await.unwrap();
    assert_eq!((begin.heard.len(), begin.cursor), (0, json!({ "since": "s1" })));
}

fn invited(from: &str, rule: &str) -> Value {
    json!({ "invite_state": { "events": [
        { "type": "m.room.join_rules", "sender": from, "state_key": "", "content": { "join_rule": rule } },
        { "type": "m.room.member", "sender": from, "state_key": "@feral:x", "content": { "membership": "invite" } },
    ] } })
}

/// A homeserver names an invitation once, in the answer that it came before.
#[tokio::test]
async fn an_invitation_waits_for_its_code_over_an_end_of_the_program() {
    let rooms = json!({ "invite": { "!anna:x": invited("@anna:x", "invite") } });
    let server = Homeserver::start(vec![
        whoami(),
        says(json!({ "next_batch": "s1", "rooms": rooms })),
        whoami(),
        says(json!({})),
        synced("s2", json!({ "events": [event("$1", "hello")] })),
        two(),
    ])
    .await;
    let first = channel(&server);
    first.connect(None).await.unwrap();
    let begin = first.receive().await.unwrap();
    let second = channel(&server);
    second.welcome(&Welcome { owner: None, is_open: true });
    second.connect(Some(&begin.cursor)).await.unwrap();
    let batch = second.receive().await.unwrap();
    assert_eq!(texts(&batch.heard), ["hello"]);
    assert_eq!(batch.cursor, json!({ "since": "s2" }), "it is held no more");
    assert!(server.paths().iter().any(|path| path.ends_with("/join")), "{:?}", server.paths());
}

#[tokio::test]
async fn invitations_are_followed_by_who_asks_and_while_a_code_is_open() {
    let rooms = json!({ "invite": {
        "!anna:x": invited("@anna:x", "public"),
        "!eve:x": invited("@eve:x", "invite"),
        "!hall:x": invited("@eve:x", "public"),
    } });
    for (owner, is_open, joined) in [
        (None, false, vec![]),
        (Some("@anna:x"), false, vec!["!anna:x"]),
        (None, true, vec!["!eve:x"]),
        (Some("@anna:x"), true, vec!["!anna:x", "!eve:x"]),
    ] {
        let mut answers = vec![whoami(), says(json!({ "next_batch": "s1", "rooms": rooms }))];
        answers.extend(joined.iter().map(|_| says(json!({}))));
        answers.push(synced("s2", json!({ "events": [event("$1", "hello")] })));
        answers.push(two());
        let server = Homeserver::start(answers).await;
        let channel = channel(&server);
        channel.welcome(&Welcome { owner: owner.map(str::to_owned), is_open });
        channel.connect(None).await.unwrap();
        channel.receive().await.unwrap();
        assert_eq!(texts(&channel.receive().await.unwrap().heard), ["hello"]);
        let joins = server.paths().into_iter().filter_map(|path| {
            let room = path.strip_prefix("POST /_matrix/client/v3/rooms/")?.strip_suffix("/join")?.to_owned();
            Some(room.replace("%3A", ":"))
        });
        assert_eq!(joins.collect::<Vec<_>>(), joined, "{owner:?} {is_open}");
    }
}

#[tokio::test]
async fn refusals_mean_what_the_specification_says() {
    let code = |code: &str| json!({ "errcode": code, "error": "why" });
    for (status, head, body, means) in [
        (
            429,
            "",
            json!({ "errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 1_500 }),
            Trouble::Slower(Duration::from_millis(1_500)),
        ),
        (429, "retry-after: 7\r\n", code("M_LIMIT_EXCEEDED"), Trouble::Slower(Duration::from_secs(7))),
        (429, "", Value::Null, Trouble::Slower(Duration::from_secs(5))),
        (429, "retry-after: 999999999\r\n", Value::Null, Trouble::Slower(Duration::from_secs(3_600))),
        (
            401,
            "",
            json!({ "errcode": "M_UNKNOWN_TOKEN", "soft_logout": true }),
            Trouble::Revoked("has expired".into()),
        ),
        (401, "", code("M_UNKNOWN_TOKEN"), Trouble::Revoked("why".into())),
        (403, "", code("M_USER_DEACTIVATED"), Trouble::Revoked("why".into())),
        (403, "", code("M_FORBIDDEN"), Trouble::Refused("M_FORBIDDEN why".into())),
        (413, "", code("M_TOO_LARGE"), Trouble::Refused("M_TOO_LARGE".into())),
        (500, "", code("M_UNKNOWN"), Trouble::Away("500".into())),
        (502, "", Value::Null, Trouble::Away("502".into())),
        (302, "location: http://127.0.0.1:1/\r\n", Value::Null, Trouble::Away("302".into())),
    ] {
        let server = Homeserver::start(vec![Answer::Says(status, head, body.clone())]).await;
        let came = channel(&server).send(&message("x")).await.unwrap_err();
        let (seen, meant) = (format!("{came:?}"), format!("{means:?}"));
        let (kind, words) = meant.split_once('(').unwrap();
        assert!(
            seen.starts_with(kind) && seen.contains(words.trim_matches(['"', ')'])),
            "{status} {body}: {seen}"
        );
    }
}

#[tokio::test]
async fn a_send_whose_answer_is_lost_is_away_and_is_sent_again_by_the_same_key() {
    let server = Homeserver::start(vec![Answer::Cut, says(json!({ "event_id": "$1" }))]).await;
    let channel = channel(&server);
    assert!(channel.limits().keys.is_some());
    assert!(matches!(channel.send(&message("x")).await, Err(Trouble::Away(_))));
    assert_eq!(channel.send(&message("x")).await.unwrap().message, "$1");
    let paths = server.paths();
    assert_eq!(paths[0], paths[1]);
    assert!(
        paths[0].starts_with("PUT /_matrix/client/v3/rooms/!r%2F..%2Fx:x/send/m.room.message/abab"),
        "{}",
        paths[0]
    );
}

#[tokio::test]
async fn a_file_comes_from_its_place_alone_and_within_its_bound() {
    let server = Homeserver::start(vec![says(json!("0123456789")), says(json!("0123456789"))]).await;
    let channel = channel(&server);
    let file = |mxc: &str| channels::channel::Attached {
        name: "x".into(),
        bytes: None,
        place: json!({ "mxc": mxc }),
    };
    assert_eq!(channel.fetch(&file("mxc://x:8448/abc"), 12).await.unwrap(), b"\"0123456789\"");
    assert!(matches!(channel.fetch(&file("mxc://x/abc"), 11).await, Err(Trouble::Refused(_))));
    for odd in ["mxc://x/../../y", "mxc://x", "https://x/y", "mxc://x/a?b", "mxc:///a", "mxc://x/a/b", ""] {
        assert!(matches!(channel.fetch(&file(odd), 12).await, Err(Trouble::Refused(_))), "{odd}");
    }
    assert_eq!(server.paths()[0], "GET /_matrix/client/v1/media/download/x:8448/abc");
    assert_eq!(server.paths().len(), 2);
}

#[test]
fn without_a_token_the_owner_hears_what_to_do() {
    let settings =
        Settings { url: "https://x".into(), token_env: "MATRIX_ACCESS_TOKEN".into(), ..Settings::default() };
    let made = Matrix::new(&settings, &|_| None, Door::new(None).unwrap());
    assert!(made.err().unwrap().contains("MATRIX_ACCESS_TOKEN is not set"));
}

/// Found: a press on bytes that had changed did nothing and said nothing, for Matrix has no place for an answer.
#[tokio::test]
async fn a_press_has_no_answer_there_so_that_a_message_gives_it() {
    let server = Homeserver::start(vec![]).await;
    let press = Press { data: "yes".into(), message: "$1".into(), reply: Value::Null };
    assert!(matches!(channel(&server).answer(&press, "nothing was done").await, Err(Trouble::Refused(_))));
}
