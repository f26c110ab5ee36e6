//! Slack's Web API before a server that keeps the published rules: a message once or doubtful, limits kept, refusals as what to do.

use crate::discord::{next, word};
use crate::faithful::slack::{BOT, CHANNEL, DM, Fault, OWNER, Server};
use crate::slack::channel;
use channels::channel::{Attached, Button, Channel, Chat, Form, Message, Outgoing, Trouble};
use serde_json::{Value, json};
use std::time::Duration;

fn chat() -> Chat {
    Chat { id: DM.into(), thread: None, is_private: true }
}

fn message(text: &str, key: u8) -> Message {
    Message {
        chat: chat(),
        text: text.into(),
        form: Form::SlackMrkdwn,
        buttons: vec![],
        file: None,
        key: format!("{key:02x}{:030}", 0),
    }
}

fn ours(server: &Server, chat: &str) -> Vec<Value> {
    server.state().messages[chat].iter().filter(|message| message["user"] == BOT).cloned().collect()
}

#[tokio::test]
async fn a_message_whose_answer_never_came_is_found_by_its_block_or_doubtful() {
    let server = Server::start().await;
    let channel = channel(&server);
    server.fail("chat.postMessage", Fault::Forgets);
    let sent = channel.send(&message("stands there", 1)).await.unwrap();
    assert_eq!(ours(&server, DM)[0]["ts"], sent.message.as_str());
    server.fail("chat.postMessage", Fault::Status(502));
    assert!(matches!(channel.send(&message("never came", 2)).await, Err(Trouble::Doubtful(_))));
    server.fail("chat.postMessage", Fault::Error(json!({"ok": false, "error": "fatal_error"})));
    assert!(matches!(channel.send(&message("never came", 3)).await, Err(Trouble::Doubtful(_))));
    assert_eq!(ours(&server, DM).len(), 1, "what is doubtful is not sent again");
}

#[tokio::test]
async fn a_message_carries_its_buttons_in_blocks_and_is_changed_whole() {
    let server = Server::start().await;
    let channel = channel(&server);
    let buttons = [("Approve", "y".repeat(2_000)), ("Deny", "n".into())];
    let buttons = buttons.map(|(label, data)| Button { label: label.into(), data }).to_vec();
    let sent = channel.send(&Message { buttons, ..message(&"a".repeat(3_000), 1) }).await.unwrap();
    let said = ours(&server, DM).remove(0);
    assert_eq!(said["blocks"][0]["text"], json!({"type": "mrkdwn", "text": "a".repeat(3_000)}));
    assert_eq!(said["blocks"][1]["elements"][0]["value"], "y".repeat(2_000));
    assert_eq!((&said["unfurl_links"], &said["unfurl_media"]), (&json!("false"), &json!("false")));
    channel.edit(&sent.message, &message("approved", 2)).await.unwrap();
    let said = ours(&server, DM).remove(0);
    assert_eq!((said["text"].as_str(), said["blocks"].as_array().map(Vec::len)), (Some("approved"), Some(1)));
    let plain = Message { form: Form::Plain, ..message("1 < 2 & <!channel>", 3) };
    channel.send(&plain).await.unwrap();
    let said = ours(&server, DM).remove(1);
    assert_eq!(
        (said["text"].as_str(), &said["blocks"][0]["text"]["type"]),
        (Some("1 &lt; 2 &amp; &lt;!channel&gt;"), &json!("plain_text"))
    );
    // One that is too long for a block is its form's fault: as plain text in parts it may do.
    assert!(matches!(channel.send(&message(&"a".repeat(100_000), 4)).await, Err(Trouble::Form(_))));
    assert!(
        matches!(channel.edit("1.1", &message("x", 5)).await, Err(Trouble::Refused(why)) if why.contains("message_not_found"))
    );
    server.assert_kept();
}

#[tokio::test]
async fn answers_go_where_the_word_came_from() {
    let server = Server::start().await;
    let channel = channel(&server);
    channel.send(&message("to you", 1)).await.unwrap();
    let group = Chat { id: CHANNEL.into(), thread: None, is_private: false };
    channel.send(&Message { chat: group.clone(), ..message("beside it", 2) }).await.unwrap();
    let thread = Chat { thread: Some("6.000001".into()), ..group };
    channel.send(&Message { chat: thread.clone(), ..message("in the thread", 3) }).await.unwrap();
    assert_eq!(ours(&server, DM)[0]["thread_ts"], Value::Null);
    let threads: Vec<Value> = ours(&server, CHANNEL).iter().map(|said| said["thread_ts"].clone()).collect();
    assert_eq!(threads, [Value::Null, "6.000001".into()]);
    channel.typing(&chat()).await.unwrap();
    assert_eq!(
        server.state().count("assistant.threads.setStatus"),
        0,
        "there is no such sign beside threads"
    );
    channel.typing(&thread).await.unwrap();
    assert_eq!(server.state().count("assistant.threads.setStatus"), 1);
}

#[tokio::test]
async fn a_429_holds_its_method_for_as_long_as_was_asked() {
    let server = Server::start().await;
    let channel = channel(&server);
    let mut held = 0;
    for key in 0..8 {
        while let Err(trouble) = channel.send(&message("quick", key)).await {
            assert_eq!(trouble, Trouble::Slower(Duration::from_secs(1)));
            let before = server.state().count("chat.postMessage");
            assert!(matches!(channel.send(&message("quick", key)).await, Err(Trouble::Slower(_))));
            assert_eq!(server.state().count("chat.postMessage"), before, "it is not asked meanwhile");
            held += 1;
            tokio::time::sleep(Duration::from_millis(1_100)).await;
        }
    }
    assert!(held >= 1);
    assert_eq!(ours(&server, DM).len(), 8);
}

#[tokio::test]
async fn each_refusal_says_what_the_owner_can_do() {
    let server = Server::start().await;
    let channel = channel(&server);
    let advice = [
        ("messages_tab_disabled", "App Home"),
        ("not_in_channel", "/invite"),
        ("is_archived", "archived"),
        ("restricted_action", "administrator"),
        ("something_new", "something_new"),
    ];
    for (error, wanted) in advice {
        server.fail("chat.postMessage", Fault::Error(json!({"ok": false, "error": error})));
        let trouble = channel.send(&message("x", 1)).await.unwrap_err();
        assert!(matches!(&trouble, Trouble::Refused(why) if why.contains(wanted)), "{error}: {trouble:?}");
    }
    server.fail("chat.postMessage", Fault::Error(json!({"ok": false, "error": "token_revoked"})));
    assert!(
        matches!(channel.send(&message("x", 2)).await, Err(Trouble::Revoked(why)) if why.contains("SLACK_BOT_TOKEN"))
    );
    server.fail("chat.postMessage", Fault::Error(json!({"ok": false, "error": "service_unavailable"})));
    assert!(matches!(channel.send(&message("x", 3)).await, Err(Trouble::Away(_))));
    server.state().scopes = vec!["im:history"];
    assert!(
        matches!(channel.send(&message("x", 4)).await, Err(Trouble::Revoked(why)) if why.contains("chat:write"))
    );
}

#[tokio::test]
async fn files_go_out_and_come_in_bounded_and_the_token_goes_to_slack_alone() {
    let server = Server::start().await;
    let channel = channel(&server);
    channel.connect(None).await.unwrap();
    let file = Some(Outgoing { name: "a b.txt".into(), bytes: vec![b'x'; 5_000].into() });
    channel.send(&Message { file: file.clone(), ..message("here", 1) }).await.unwrap();
    let said = ours(&server, DM).remove(0);
    assert_eq!((said["text"].as_str(), &said["files"][0]["name"]), (Some("here"), &json!("a b.txt")));
    let buttons = vec![Button { label: "Approve".into(), data: "y".into() }];
    channel
        .send(&Message { file: file.clone(), buttons: buttons.clone(), ..message("sure?", 2) })
        .await
        .unwrap();
    assert_eq!(ours(&server, DM).len(), 3, "a file, then its text with the buttons");
    server.fail("chat.postMessage", Fault::Limited(1));
    let half = channel.send(&Message { file: file.clone(), buttons, ..message("sure?", 3) }).await;
    assert!(matches!(half, Err(Trouble::Doubtful(_))), "the file stands there: both again would double it");
    server.state().scopes = vec!["chat:write", "im:history"];
    let refused = channel.send(&Message { file, ..message("here", 4) }).await;
    assert!(matches!(refused, Err(Trouble::Refused(why)) if why.contains("files:write")));

    server.state().files.insert("F1".into(), ("text/plain".into(), b"content".to_vec()));
    let url = format!("{}/files-pri/F1", server.state().base);
    let files = json!([{"id": "F1", "name": "../../x", "size": 7, "mimetype": "text/plain", "url_private_download": url}]);
    server.say_with(DM, OWNER, "", json!({"subtype": "file_share", "files": files}));
    let heard = next(&channel).await.heard;
    let attached = &word(&heard[0]).files[0];
    assert_eq!((attached.name.as_str(), attached.bytes), ("../../x", Some(7)));
    assert!(
        matches!(channel.fetch(attached, 7).await, Err(Trouble::Refused(why)) if why.contains("files:read"))
    );
    server.state().scopes.push("files:read");
    assert_eq!(channel.fetch(attached, 7).await.unwrap(), b"content");
    assert!(matches!(channel.fetch(attached, 6).await, Err(Trouble::Refused(_))));
    let silent = Attached { bytes: None, ..attached.clone() };
    assert!(matches!(channel.fetch(&silent, 6).await, Err(Trouble::Refused(_))));
    // A file that lies elsewhere would get the token.
    let thief = Server::start().await;
    let strange =
        Attached { place: json!({"url": format!("{}/files-pri/F1", thief.state().base)}), ..silent };
    assert!(
        matches!(channel.fetch(&strange, 7).await, Err(Trouble::Refused(why)) if why.contains("does not lie at Slack"))
    );
    server.assert_kept();
}
