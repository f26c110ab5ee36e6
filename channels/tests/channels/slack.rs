//! Slack by Socket Mode before a server that keeps the published rules: nothing acknowledged too early, nothing lost or doubled.

use crate::discord::{hear, next, texts, word};
use crate::faithful::slack::socket::Step;
use crate::faithful::slack::{APP_TOKEN, BOT, BOT_ID, BOT_TOKEN, CHANNEL, DM, Fault, OWNER, Server};
use channels::channel::{Channel, Trouble, Welcome, What};
use channels::door::Door;
use channels::platforms::slack::Slack;
use house::settings::channels::Channel as Settings;
use serde_json::{Value, json};
use std::time::Duration;

fn settings(server: &Server) -> Settings {
    Settings {
        url: server.state().base.clone(),
        token_env: "SLACK_BOT_TOKEN".into(),
        app_token_env: "SLACK_APP_TOKEN".into(),
        ..Settings::default()
    }
}

fn secrets(name: &str) -> Option<String> {
    Some(if name == "SLACK_APP_TOKEN" { APP_TOKEN } else { BOT_TOKEN }.to_owned())
}

pub fn channel(server: &Server) -> Slack {
    let channel = Slack::new(&settings(server), &secrets, Door::new(None).unwrap()).unwrap();
    channel.welcome(&Welcome { owner: Some(OWNER.into()), is_open: false });
    channel
}

async fn talking() -> (Server, Slack, Value) {
    let server = Server::start().await;
    let channel = channel(&server);
    let known = channel.connect(None).await.unwrap();
    assert_eq!((known.id.as_str(), known.name.as_str()), (BOT, "@feral at House"));
    server.say(DM, OWNER, "first");
    let batch = next(&channel).await;
    assert_eq!(texts(&batch.heard), ["first"]);
    (server, channel, batch.cursor)
}

#[tokio::test]
async fn an_envelope_is_acknowledged_when_it_is_asked_for_and_not_before() {
    let (server, channel, _) = talking().await;
    server.until("the first acknowledgement", |state| state.acknowledged.len() == 1).await;
    let said = server.say(DM, OWNER, "a &lt;b&gt; <https://example.org|example.org> \u{202e}x");
    let batch = channel.receive().await.unwrap();
    assert_eq!(word(&batch.heard[0]).text, "a <b> https://example.org \u{202e}x", "read as people see it");
    assert_eq!(batch.heard[0].id, format!("{DM}-{}", said["ts"].as_str().unwrap()));
    assert!(
        batch.heard[0].chat.is_private && batch.heard[0].at_ms.abs_diff(house::clock::wall_ms()) < 60_000
    );
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(server.state().acknowledged.len(), 1, "it was not asked for yet");
    channel.acknowledge(&batch.cursor).await.unwrap();
    server.until("the second acknowledgement", |state| state.acknowledged.len() == 2).await;
    server.assert_kept();
}

#[tokio::test]
async fn what_was_acknowledged_too_late_comes_again_with_the_same_id() {
    let (server, channel, _) = talking().await;
    server.state().patience = Duration::from_millis(300);
    server.say(DM, OWNER, "slow");
    let late = channel.receive().await.unwrap();
    let again = channel.receive().await.unwrap();
    assert_eq!((&late.heard[0].id, &late.heard[0].what), (&again.heard[0].id, &again.heard[0].what));
    channel.acknowledge(&again.cursor).await.unwrap();
    server.until("the acknowledgement of the retry", |state| state.acknowledged.len() == 2).await;
    server.assert_kept();
}

#[tokio::test]
async fn what_nobody_needs_is_acknowledged_at_once() {
    let (server, channel, _) = talking().await;
    server.event(json!({"type": "message", "channel": DM, "user": BOT, "bot_id": BOT_ID, "text": "mine", "ts": "1.000001"}));
    server.event(json!({"type": "reaction_added", "user": OWNER}));
    server.event(
        json!({"type": "message", "subtype": "channel_join", "channel": DM, "user": OWNER, "ts": "1.000002"}),
    );
    server.until("three acknowledgements more", |state| state.acknowledged.len() == 4).await;
    server.say(DM, OWNER, "second");
    assert_eq!(texts(&hear(&channel, 1).await), ["second"]);
}

#[tokio::test]
async fn a_connection_that_is_to_end_has_a_successor_before() {
    let (server, channel, _) = talking().await;
    for reason in ["warning", "refresh_requested"] {
        let before = server.state().connections_ever;
        server.meet(&Step::Disconnect(reason, Duration::from_secs(2)));
        server
            .until("a second connection", |state| {
                state.connections_ever == before + 1 && state.lines.len() == 2
            })
            .await;
        // Each goes to any one of the two.
        for at in 0..10 {
            server.say(DM, OWNER, &format!("{at}"));
        }
        let mut heard = hear(&channel, 10).await;
        heard.sort_by(|a, b| a.id.cmp(&b.id));
        assert_eq!(texts(&heard), ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"], "{reason}");
        server
            .until("one connection", |state| state.lines.iter().filter(|line| !line.is_closed()).count() == 1)
            .await;
    }
    server
        .until("all acknowledged", |state| state.acknowledged.len() == 21 && state.waiting.is_empty())
        .await;
    server.assert_kept();
}

#[tokio::test]
async fn a_connection_that_breaks_is_away_and_nothing_is_lost() {
    let (server, channel, cursor) = talking().await;
    server.state().patience = Duration::from_millis(300);
    // On a busy machine a word may be said twice into the connection that is gone, and then comes after this.
    server.state().minute = Duration::from_secs(1);
    server.meet(&Step::Cut);
    assert!(
        matches!(channel.receive().await, Err(Trouble::Away(_))),
        "so young, the caller makes the pauses"
    );
    server.say(DM, OWNER, "meanwhile");
    channel.connect(Some(&cursor)).await.unwrap();
    let mut heard = hear(&channel, 1).await;
    server.say(DM, OWNER, "after");
    while texts(&heard).last() != Some(&"after") {
        heard.extend(next(&channel).await.heard);
    }
    heard.dedup_by(|a, b| a.id == b.id);
    assert_eq!(texts(&heard), ["meanwhile", "after"]);
    server.assert_kept();
}

#[tokio::test]
async fn after_a_day_away_the_chats_and_threads_are_read_in_order_by_the_same_ids() {
    let (server, channel, _) = talking().await;
    let parent = server.say(DM, OWNER, "a thread begins");
    server.say_with(DM, OWNER, "in it", json!({"thread_ts": parent["ts"]}));
    let (mut cursor, mut heard) = (Value::Null, 0);
    while heard < 2 {
        let batch = next(&channel).await;
        heard += batch.heard.len();
        cursor = batch.cursor;
    }
    drop(channel);
    server
        .until("the connection's end", |state| {
            state.lines.iter().all(tokio::sync::mpsc::UnboundedSender::is_closed)
        })
        .await;
    let mut said = Vec::new();
    for at in 0..450 {
        said.push(server.state().written(DM, OWNER, &format!("word {at}"), json!({})));
        server.state().written(DM, BOT, "mine", json!({"bot_id": BOT_ID}));
    }
    server.state().written(DM, OWNER, "in it again", json!({"thread_ts": parent["ts"]}));
    server.fail("conversations.history", Fault::Limited(1));
    let channel = self::channel(&server);
    channel.connect(Some(&cursor)).await.unwrap();
    let batch = next(&channel).await;
    assert_eq!(batch.heard.len(), 100);
    // Killed with a hundred kept.
    let again = self::channel(&server);
    drop(channel);
    server
        .until("the connection's end", |state| {
            state.lines.iter().all(tokio::sync::mpsc::UnboundedSender::is_closed)
        })
        .await;
    again.connect(Some(&batch.cursor)).await.unwrap();
    let mut heard = batch.heard;
    heard.extend(hear(&again, 351).await);
    let (in_thread, alone): (Vec<_>, Vec<_>) = heard.iter().partition(|heard| heard.chat.thread.is_some());
    assert_eq!(in_thread.iter().map(|heard| word(heard).text.as_str()).collect::<Vec<_>>(), ["in it again"]);
    let wanted: Vec<String> = (0..450).map(|at| format!("word {at}")).collect();
    assert_eq!(alone.iter().map(|heard| word(heard).text.as_str()).collect::<Vec<_>>(), wanted);
    assert_eq!(alone[0].id, format!("{DM}-{}", said[0]["ts"].as_str().unwrap()), "by history as by event");
    server.assert_kept();
}

#[tokio::test]
async fn another_program_with_the_same_app_is_told_for_it_takes_words_away() {
    let (server, channel, cursor) = talking().await;
    server.state().others = 1;
    drop(channel);
    let channel = self::channel(&server);
    for _ in 0..2 {
        assert!(
            matches!(channel.connect(Some(&cursor)).await, Err(Trouble::Away(_))),
            "it may be ours of before"
        );
    }
    let trouble = channel.connect(Some(&cursor)).await.unwrap_err();
    assert!(matches!(&trouble, Trouble::Elsewhere(why) if why.contains("end the other")), "{trouble:?}");
    server.state().others = 0;
    server
        .until("no connection", |state| state.lines.iter().all(tokio::sync::mpsc::UnboundedSender::is_closed))
        .await;
    channel.connect(Some(&cursor)).await.unwrap();
}

#[tokio::test]
async fn mentions_presses_commands_edits_and_deletions_are_told_apart() {
    let (server, channel, _) = talking().await;
    server.say(CHANNEL, OWNER, "not for it");
    server.say_with(CHANNEL, OWNER, &format!("<@{BOT}> /mind"), json!({"thread_ts": "7.000001"}));
    server.press(OWNER, "8.000001", "ask-1");
    server.deliver("slash_commands", json!({
        "command": "/feral", "text": "mind", "user_id": OWNER, "user_name": "o", "channel_id": DM, "trigger_id": "9.9.9",
    }));
    let edited = json!({"user": OWNER, "text": "as it is", "ts": "5.000001", "edited": {"user": OWNER, "ts": "6.000000"}});
    server.event(json!({"type": "message", "subtype": "message_changed", "channel": DM, "ts": "6.000001", "message": edited}));
    // Links that were unfurled change a message without `edited`.
    let unfurled = json!({"user": OWNER, "text": "as it is", "ts": "5.000001"});
    server.event(json!({"type": "message", "subtype": "message_changed", "channel": DM, "ts": "6.000002", "message": unfurled}));
    server.event(json!({
        "type": "message", "subtype": "message_deleted", "channel": DM, "deleted_ts": "5.000001", "event_ts": "6.000003",
        "previous_message": {"user": OWNER, "text": "gone", "ts": "5.000001"},
    }));
    server.event(json!({"type": "message", "channel": DM, "user": "U2", "bot_id": "B2", "text": "beep", "ts": "6.000004"}));
    let heard = hear(&channel, 6).await;
    assert_eq!((word(&heard[0]).text.as_str(), word(&heard[0]).is_addressed), ("/mind", true));
    assert_eq!((heard[0].chat.thread.as_deref(), heard[0].chat.is_private), (Some("7.000001"), false));
    let What::Press(press) = &heard[1].what else { panic!("{:?}", heard[1]) };
    assert_eq!(
        (press.data.as_str(), press.message.as_str(), heard[1].from.id.as_str()),
        ("ask-1", "8.000001", OWNER)
    );
    assert!(heard[1].chat.is_private);
    channel.answer(press, "done <once>").await.unwrap();
    assert_eq!(server.state().replies[0]["text"], "done &lt;once&gt;");
    assert_eq!(word(&heard[2]).text, "/mind");
    assert!(matches!(&heard[3].what, What::Edited(word) if word.text == "as it is"));
    assert!(matches!(&heard[4].what, What::Deleted { message } if message == "5.000001"));
    assert_eq!(heard[4].from.id, OWNER);
    assert!(heard[5].from.is_bot);
    server.assert_kept();
}

/// docs/channels.md#slack: it answers in a thread below the mention.
#[tokio::test]
async fn a_mention_in_a_channel_begins_a_thread_and_those_that_were_missed_begin_theirs() {
    let (server, channel, _) = talking().await;
    let ts = |said: &Value| said["ts"].as_str().unwrap().to_owned();
    let mention = format!("<@{BOT}> count them");
    let first = server.say(CHANNEL, OWNER, &mention);
    let batch = next(&channel).await;
    assert_eq!(batch.heard[0].chat.thread, Some(ts(&first)));
    drop(channel);
    server
        .until("the connection's end", |state| {
            state.lines.iter().all(tokio::sync::mpsc::UnboundedSender::is_closed)
        })
        .await;
    server.state().scopes.push("channels:history");
    let missed = server.state().written(CHANNEL, OWNER, &mention, json!({}));
    let again = self::channel(&server);
    again.connect(Some(&batch.cursor)).await.unwrap();
    let heard = hear(&again, 1).await.remove(0);
    assert_eq!((heard.chat.thread, heard.chat.is_private), (Some(ts(&missed)), false));
    server.assert_kept();
}

#[tokio::test]
async fn garbage_changes_nothing() {
    let (server, channel, _) = talking().await;
    for garbage in [json!(null), json!([1]), json!({"type": "events_api"}), json!({"type": "what"})] {
        server.meet(&Step::Say(garbage));
    }
    server.event(json!({"type": "message", "channel": 7, "user": {"id": 1}, "ts": []}));
    server.deliver("interactive", json!({"type": "block_actions", "actions": "none"}));
    server.deliver("events_api", json!("nothing"));
    server.say(DM, OWNER, "second");
    assert_eq!(texts(&hear(&channel, 1).await), ["second"]);
    server.assert_kept();
}

#[tokio::test]
async fn ten_thousand_at_once_are_heard_once_each() {
    let (server, channel, _) = talking().await;
    server.state().patience = Duration::from_secs(60);
    for at in 0..10_000 {
        server.say(DM, OWNER, &at.to_string());
    }
    let heard = hear(&channel, 10_000).await;
    assert!(texts(&heard).iter().enumerate().all(|(at, text)| *text == at.to_string()));
    server.until("all acknowledged", |state| state.acknowledged.len() == 10_001).await;
}

#[tokio::test]
async fn tokens_and_scopes_that_are_missing_are_told_by_name() {
    let server = Server::start().await;
    let swapped =
        Slack::new(&settings(&server), &|_| Some(APP_TOKEN.into()), Door::new(None).unwrap()).err().unwrap();
    assert!(swapped.contains("SLACK_BOT_TOKEN") && swapped.contains("xoxb-"), "{swapped}");
    let channel = self::channel(&server);
    let told = |result: Result<_, Trouble>, wanted: &str| {
        let trouble = result.map(|_: channels::channel::Known| ()).unwrap_err();
        assert!(matches!(&trouble, Trouble::Revoked(why) if why.contains(wanted)), "{wanted}: {trouble:?}");
    };
    server.state().scopes = vec!["chat:write"];
    told(channel.connect(None).await, "im:history");
    server.state().scopes = vec!["chat:write", "im:history"];
    for error in ["token_revoked", "account_inactive", "invalid_auth"] {
        server.fail("auth.test", Fault::Error(json!({"ok": false, "error": error})));
        told(channel.connect(None).await, "SLACK_BOT_TOKEN");
    }
    server.fail("apps.connections.open", Fault::Error(json!({"ok": false, "error": "invalid_auth"})));
    told(channel.connect(None).await, "SLACK_APP_TOKEN");
    let missing =
        json!({"ok": false, "error": "missing_scope", "needed": "connections:write", "provided": ""});
    server.fail("apps.connections.open", Fault::Error(missing));
    told(channel.connect(None).await, "connections:write");
    channel.connect(None).await.unwrap();
    server.meet(&Step::Say(json!({"type": "disconnect", "reason": "link_disabled"})));
    let trouble = channel.receive().await.unwrap_err();
    assert!(matches!(&trouble, Trouble::Revoked(why) if why.contains("Socket Mode")), "{trouble:?}");
    // The address of a connection holds a ticket, by which anybody could listen.
    server.fail(
        "apps.connections.open",
        Fault::Error(json!({"ok": true, "url": "ftp://a.slack.com/link?ticket=7c8d"})),
    );
    let trouble = channel.connect(None).await.unwrap_err();
    assert!(
        matches!(&trouble, Trouble::Away(why) if why.contains("a.slack.com") && !why.contains("7c8d")),
        "{trouble:?}"
    );
    server.fail("auth.test", Fault::Status(503));
    assert!(matches!(channel.connect(None).await, Err(Trouble::Away(_))));
    server.fail("auth.test", Fault::Limited(7));
    assert_eq!(channel.connect(None).await, Err(Trouble::Slower(Duration::from_secs(7))));
}
