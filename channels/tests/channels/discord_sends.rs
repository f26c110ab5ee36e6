//! Discord before an HTTP API that keeps the published rules: one message a key, limits kept, and each refusal as what to do.

use crate::discord::{channel, hear, next, texts, word};
use crate::faithful::discord::{CHANNEL, DM, Fault, OWNER, Server};
use channels::channel::{Attached, Button, Channel, Chat, Form, Message, Outgoing, Trouble, What};
use serde_json::json;
use std::time::{Duration, Instant};

fn chat() -> Chat {
    Chat { id: DM.into(), thread: None, is_private: true }
}

fn message(text: &str, key: u8) -> Message {
    Message {
        chat: chat(),
        text: text.into(),
        form: Form::DiscordMarkdown,
        buttons: vec![],
        file: None,
        key: format!("{key:02x}{:030}", 0),
    }
}

/// A server whose chat with the owner is open.
async fn open() -> Server {
    let server = Server::start().await;
    server.say(DM, OWNER, "hello");
    server
}

fn written(server: &Server) -> Vec<String> {
    let ours = |message: &&serde_json::Value| message["author"]["id"] == crate::faithful::discord::BOT;
    let state = server.state();
    state.messages[DM]
        .iter()
        .filter(ours)
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_message_whose_answer_never_came_is_sent_again_and_stands_there_once() {
    let server = open().await;
    let channel = channel(&server);
    for fault in [Fault::Forgets, Fault::Drops, Fault::Status(502)] {
        server.fail("POST /channels", fault.clone());
        let key = server.state().requests.len() as u8;
        let text = format!("{fault:?}");
        let trouble = channel.send(&message(&text, key)).await.unwrap_err();
        assert!(matches!(trouble, Trouble::Doubtful(_)), "{fault:?}: {trouble:?}");
        let sent = channel.send(&message(&text, key)).await.unwrap();
        assert_eq!(channel.send(&message(&text, key)).await.unwrap(), sent, "one key, one message");
    }
    assert_eq!(written(&server), ["Forgets", "Drops", "Status(502)"]);
}

#[tokio::test]
async fn a_message_carries_its_buttons_and_reaches_nobody_else() {
    let server = open().await;
    let channel = channel(&server);
    let buttons =
        (0..7).map(|at| Button { label: format!("Yes {at}"), data: format!("{at}-{}", "x".repeat(98)) });
    let asked = Message { buttons: buttons.collect(), ..message("@everyone look", 1) };
    let sent = channel.send(&asked).await.unwrap();
    let said = server.state().messages[DM].last().cloned().unwrap();
    assert_eq!(said["components"].as_array().unwrap().len(), 2, "five buttons a row");
    assert_eq!(said["flags"], 4, "no embed is fetched from where a link leads");
    let asked_for = server.state().requests.last().unwrap().2.clone();
    assert_eq!(asked_for["allowed_mentions"], json!({"parse": []}));
    channel.edit(&sent.message, &message("done", 2)).await.unwrap();
    let said = server.state().messages[DM].last().cloned().unwrap();
    assert_eq!(
        (said["content"].as_str(), said["components"].as_array().map(Vec::len)),
        (Some("done"), Some(0))
    );
    channel.typing(&chat()).await.unwrap();
    let (limits, long) = (channel.limits(), "a".repeat(100_000));
    assert!(
        matches!(channel.send(&message(&long, 3)).await, Err(Trouble::Refused(why)) if why.contains("2000"))
    );
    channel.send(&message(&long[..limits.text], 4)).await.unwrap();
    server.assert_kept();
}

#[tokio::test]
async fn a_limit_that_was_told_is_kept_without_asking() {
    let server = open().await;
    let channel = channel(&server);
    (server.state().limit, server.state().window) = (3, Duration::from_millis(1_500));
    let begun = Instant::now();
    for at in 0..7 {
        while let Err(trouble) = channel.send(&message(&at.to_string(), at)).await {
            let Trouble::Slower(wait) = trouble else { panic!("{trouble:?}") };
            assert!(wait <= Duration::from_millis(1_500), "{wait:?}");
            tokio::time::sleep(wait).await;
        }
    }
    assert!(begun.elapsed() >= Duration::from_secs(3), "two windows were waited out");
    assert_eq!(written(&server).len(), 7);
    // "a request on an exhausted bucket" would be a broken rule.
    server.assert_kept();
}

#[tokio::test]
async fn a_429_holds_its_route_and_a_global_one_holds_all() {
    let server = open().await;
    let channel = channel(&server);
    server.fail("/typing", Fault::Limited(0.7, false));
    assert_eq!(channel.typing(&chat()).await, Err(Trouble::Slower(Duration::from_millis(700))));
    assert!(matches!(channel.typing(&chat()).await, Err(Trouble::Slower(_))));
    channel.send(&message("another route", 1)).await.unwrap();
    server.fail("POST", Fault::Limited(0.5, true));
    assert_eq!(channel.send(&message("x", 2)).await, Err(Trouble::Slower(Duration::from_millis(500))));
    let before = server.state().requests.len();
    assert!(matches!(channel.edit("1", &message("x", 3)).await, Err(Trouble::Slower(_))));
    assert_eq!(server.state().requests.len(), before, "nothing goes out while all is held");
    tokio::time::sleep(Duration::from_millis(700)).await;
    channel.typing(&chat()).await.unwrap();
}

#[tokio::test]
async fn each_refusal_says_what_the_owner_can_do() {
    let server = open().await;
    let channel = channel(&server);
    let advice = [
        (403, 50_001, "View Channel"),
        (403, 50_007, "direct messages"),
        (403, 50_013, "Send Messages"),
        (403, 50_278, "no server"),
        (404, 10_003, "invite it again"),
        (413, 40_005, "10 MiB"),
    ];
    for (status, code, wanted) in advice {
        server.fail("POST /channels", Fault::Code(status, code));
        let trouble = channel.send(&message("x", 1)).await.unwrap_err();
        assert!(matches!(&trouble, Trouble::Refused(why) if why.contains(wanted)), "{code}: {trouble:?}");
    }
    let elsewhere =
        Message { chat: Chat { id: "404".into(), thread: None, is_private: false }, ..message("x", 2) };
    assert!(matches!(channel.send(&elsewhere).await, Err(Trouble::Refused(_))));
    server.fail("POST /channels", Fault::Code(401, 0));
    assert!(
        matches!(channel.send(&message("x", 3)).await, Err(Trouble::Revoked(why)) if why.contains(".env"))
    );
    let before = server.state().requests.len();
    assert!(matches!(channel.send(&message("x", 4)).await, Err(Trouble::Revoked(_))));
    assert_eq!(server.state().requests.len(), before);
}

#[tokio::test]
async fn a_press_is_deferred_at_once_and_answered_when_the_answer_is_there() {
    let server = open().await;
    let channel = channel(&server);
    channel.connect(None).await.unwrap();
    let id = server.press(DM, OWNER, "55", "ask-1");
    server.until("a deferral", |state| state.count("/callback") == 1).await;
    // Longer than Discord waits for an answer to a press.
    tokio::time::sleep(Duration::from_millis(3_200)).await;
    let heard = hear(&channel, 1).await.remove(0);
    let What::Press(press) = &heard.what else { panic!("{heard:?}") };
    assert_eq!(
        (heard.id.as_str(), press.data.as_str(), press.message.as_str()),
        (id.as_str(), "ask-1", "55")
    );
    assert_eq!((heard.from.id.as_str(), heard.chat), (OWNER, chat()));
    channel.answer(press, "done, once").await.unwrap();
    let state = server.state();
    assert_eq!(
        (state.answered[0]["content"].as_str(), state.answered[0]["flags"].as_u64()),
        (Some("done, once"), Some(68))
    );
}

#[tokio::test]
async fn files_go_out_and_come_in_bounded_and_without_the_token() {
    let server = open().await;
    let channel = channel(&server);
    channel.connect(None).await.unwrap();
    let file = |bytes: usize| Some(Outgoing { name: "a \"b\".txt".into(), bytes: vec![b'x'; bytes].into() });
    channel.send(&Message { file: file(5_000), ..message("here", 1) }).await.unwrap();
    assert_eq!(server.state().messages[DM].last().unwrap()["attachments"][0]["size"], 5_000);
    let large = Message { file: file((10 << 20) + 1), ..message("here", 2) };
    assert!(matches!(channel.send(&large).await, Err(Trouble::Refused(why)) if why.contains("10 MiB")));

    let url = |name: &str| format!("{}/attachments/{name}", server.base);
    server.state().files.insert("now".into(), (b"content".to_vec(), true));
    server.state().files.insert("old".into(), (vec![], false));
    let files = json!([{"id": "7", "filename": "../../x", "size": 7, "url": url("old")}]);
    let said = server.say_with(DM, OWNER, "", json!({"attachments": files}));
    let heard = next(&channel).await.heard;
    let attached = &word(&heard[0]).files[0];
    assert_eq!((attached.name.as_str(), attached.bytes), ("../../x", Some(7)), "its name is text, no path");
    // The address has expired; the message says the new one.
    let fresh = json!([{"id": "7", "filename": "../../x", "size": 7, "url": url("now")}]);
    let position =
        server.state().messages[DM].iter().position(|message| message["id"] == said["id"]).unwrap();
    server.state().messages.get_mut(DM).unwrap()[position]["attachments"] = fresh;
    assert_eq!(channel.fetch(attached, 7).await.unwrap(), b"content");
    assert!(
        matches!(channel.fetch(attached, 6).await, Err(Trouble::Refused(_))),
        "the size that was told is too much"
    );
    let silent = Attached { bytes: None, ..attached.clone() };
    assert!(matches!(channel.fetch(&silent, 6).await, Err(Trouble::Refused(_))), "and the one that comes");
    let strange = Attached { place: json!({"url": "https://example.org/x"}), ..silent };
    assert!(
        matches!(channel.fetch(&strange, 6).await, Err(Trouble::Refused(why)) if why.contains("Discord"))
    );
    server.assert_kept();
    assert_eq!(texts(&heard), [""]);
    let _ = CHANNEL;
}
