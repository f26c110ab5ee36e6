//! Discord before a gateway that keeps the published rules: nothing lost or doubled over any end of a connection, and in order.

use crate::faithful::discord::gateway::Step;
use crate::faithful::discord::{BOT, CHANNEL, DM, OWNER, STRANGER, Server, TOKEN};
use channels::channel::{Batch, Channel, Heard, Trouble, Welcome, What, Word};
use channels::door::Door;
use channels::platforms::discord::Discord;
use futures_util::future::join_all;
use house::settings::channels::Channel as Settings;
use serde_json::{Value, json};
use std::time::Duration;

pub fn channel(server: &Server) -> Discord {
    channel_of(server, &[])
}

fn channel_of(server: &Server, groups: &[&str]) -> Discord {
    let settings = Settings {
        url: server.base.clone(),
        token_env: "DISCORD_BOT_TOKEN".into(),
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        ..Settings::default()
    };
    let channel = Discord::new(&settings, &|_| Some(TOKEN.into()), Door::new(None).unwrap()).unwrap();
    channel.welcome(&Welcome { owner: Some(OWNER.into()), is_open: false });
    channel
}

/// A server, a channel that is connected, and one word that was heard: with its cursor.
async fn talking() -> (Server, Discord, Value) {
    let server = Server::start().await;
    let channel = channel(&server);
    channel.connect(None).await.unwrap();
    server.say(DM, OWNER, "first");
    let batch = next(&channel).await;
    assert_eq!(texts(&batch.heard), ["first"]);
    (server, channel, batch.cursor)
}

pub async fn next(channel: &impl Channel) -> Batch {
    let waited = tokio::time::timeout(Duration::from_secs(120), channel.receive()).await;
    let batch = waited.expect("nothing was heard").unwrap();
    channel.acknowledge(&batch.cursor).await.unwrap();
    batch
}

/// Everything that is heard until there are so many.
pub async fn hear(channel: &impl Channel, count: usize) -> Vec<Heard> {
    let mut heard = Vec::new();
    while heard.len() < count {
        heard.extend(next(channel).await.heard);
    }
    heard
}

pub fn word(heard: &Heard) -> &Word {
    match &heard.what {
        What::Word(word) | What::Edited(word) => word,
        other => panic!("no word: {other:?}"),
    }
}

pub fn texts(heard: &[Heard]) -> Vec<&str> {
    heard.iter().map(|heard| word(heard).text.as_str()).collect()
}

#[tokio::test]
async fn a_word_is_heard_with_who_where_and_when() {
    let (server, channel, _) = talking().await;
    let said = server.say(DM, OWNER, "\u{202e}backwards\u{202c} and \u{1f600}");
    let heard = hear(&channel, 1).await.remove(0);
    assert_eq!(heard.id, said["id"].as_str().unwrap());
    assert_eq!((heard.from.id.as_str(), heard.from.is_bot, heard.chat.id.as_str()), (OWNER, false, DM));
    assert!(heard.chat.is_private);
    assert_eq!(word(&heard).text, "\u{202e}backwards\u{202c} and \u{1f600}", "text is passed as it is");
    let off_ms = heard.at_ms.abs_diff(house::clock::wall_ms());
    assert!(off_ms < 60_000, "{off_ms} ms off: the time is the platform's, by the id");
    server.assert_kept();
}

#[tokio::test]
async fn a_program_that_was_killed_resumes_its_session_behind_what_was_kept() {
    let (server, channel, cursor) = talking().await;
    server.say(DM, OWNER, "heard, not kept");
    let lost = channel.receive().await.unwrap();
    drop(channel);
    server.say(DM, OWNER, "said meanwhile");
    let again = self::channel(&server);
    again.connect(Some(&cursor)).await.unwrap();
    let heard = hear(&again, 2).await;
    assert_eq!(texts(&heard), ["heard, not kept", "said meanwhile"]);
    assert_eq!(heard[0].id, lost.heard[0].id, "the same word has the same id");
    let manners = server.state().gateway.clone();
    assert_eq!((manners.identifies, manners.resumes), (1, 1));
    server.assert_kept();
}

#[tokio::test]
async fn after_a_gap_too_long_the_chats_are_read_in_order_and_again_from_where_it_was_kept() {
    let (server, channel, cursor) = talking().await;
    drop(channel);
    server.state().sessions.clear();
    for at in 0..250 {
        server.say(DM, OWNER, &format!("word {at}"));
    }
    let channel = self::channel(&server);
    channel.connect(Some(&cursor)).await.unwrap();
    let batch = next(&channel).await;
    assert_eq!(batch.heard.len(), 100);
    // Killed with a hundred kept.
    drop(channel);
    let channel = self::channel(&server);
    channel.connect(Some(&batch.cursor)).await.unwrap();
    server.say(DM, OWNER, "word 250");
    let mut heard = batch.heard;
    heard.extend(hear(&channel, 151).await);
    // What came by both ways has one id, by which the engine drops it.
    heard.dedup_by(|a, b| a.id == b.id);
    let wanted: Vec<String> = (0..=250).map(|at| format!("word {at}")).collect();
    assert_eq!(texts(&heard), wanted);
    server.assert_kept();
}

#[tokio::test]
async fn a_zombie_is_left_so_that_its_session_goes_on() {
    let server = Server::start().await;
    server.state().gateway.heartbeat_ms = 200;
    let channel = channel(&server);
    channel.connect(None).await.unwrap();
    server.until("heartbeats", |state| state.gateway.heartbeats >= 3).await;
    server.state().gateway.is_dead = true;
    server.until("a close of the zombie", |state| !state.gateway.closes.is_empty()).await;
    server.state().gateway.is_dead = false;
    server.say(DM, OWNER, "still there?");
    assert_eq!(texts(&hear(&channel, 1).await), ["still there?"]);
    let state = server.state();
    assert!(
        state.gateway.closes.iter().all(|code| !matches!(code, 1000 | 1001)),
        "{:?}",
        state.gateway.closes
    );
    assert!(state.gateway.resumes >= 1 && state.gateway.identifies == 1);
    drop(state);
    server.assert_kept();
}

#[tokio::test]
async fn nothing_is_lost_by_any_end_of_a_connection() {
    let ends = [
        ("reconnect", Step::Say(json!({"op": 7, "d": null})), 1),
        ("invalid, resumable", Step::Say(json!({"op": 9, "d": true})), 1),
        ("invalid", Step::Say(json!({"op": 9, "d": false})), 2),
        ("unknown error", Step::Close(4000), 1),
        ("invalid seq", Step::Close(4007), 2),
        ("timed out", Step::Close(4009), 2),
        ("going away", Step::Close(1001), 1),
        ("cut", Step::Cut, 1),
    ];
    join_all(ends.map(|(name, end, identifies)| async move {
        let (server, channel, _) = talking().await;
        server.state().gateway.now = vec![end];
        for at in 0..20 {
            server.say(DM, OWNER, &format!("{at}"));
        }
        let mut heard = hear(&channel, 20).await;
        heard.dedup_by(|a, b| a.id == b.id);
        let wanted: Vec<String> = (0..20).map(|at| at.to_string()).collect();
        assert_eq!(texts(&heard), wanted, "{name}");
        assert_eq!(server.state().gateway.identifies, identifies, "{name}");
        server.assert_kept();
    }))
    .await;
}

#[tokio::test]
async fn what_comes_in_the_place_of_a_hello_is_no_end() {
    let (server, channel, _) = talking().await;
    server.state().gateway.first = vec![Step::Say(json!({"op": 7, "d": null})), Step::Cut];
    server.state().gateway.now = vec![Step::Cut];
    server.say(DM, OWNER, "second");
    assert_eq!(texts(&hear(&channel, 1).await), ["second"]);
    server.assert_kept();
}

#[tokio::test]
async fn garbage_and_events_nobody_asked_for_change_nothing() {
    let (server, channel, _) = talking().await;
    let garbage = [
        json!(null),
        json!([]),
        json!("op"),
        json!({"op": "0"}),
        json!({"op": 99}),
        json!({"op": 0, "t": null}),
    ];
    server.state().gateway.now = garbage.map(Step::Say).to_vec();
    server.state().gateway.now.push(Step::Say(json!({"op": 1, "d": null})));
    server.dispatch("TYPING_START", json!({"channel_id": DM, "user_id": OWNER}));
    server
        .dispatch("MESSAGE_CREATE", json!({"id": 7, "channel_id": [], "author": "me", "content": {"a": 1}}));
    server.dispatch("INTERACTION_CREATE", json!({"type": 3}));
    server.say_with(DM, OWNER, "joined", json!({"type": 7}));
    server.say(DM, OWNER, "second");
    let heard = hear(&channel, 1).await;
    let last = heard.last().unwrap();
    assert_eq!(word(if last.id.is_empty() { panic!("{heard:?}") } else { last }).text, "second");
    server.until("the heartbeat that was asked for", |state| state.gateway.heartbeats >= 1).await;
    server.assert_kept();
}

#[tokio::test]
async fn ten_thousand_at_once_are_heard_in_order_while_the_connection_lives() {
    let server = Server::start().await;
    server.state().gateway.heartbeat_ms = 3_000;
    let channel = channel(&server);
    channel.connect(None).await.unwrap();
    for at in 0..10_000 {
        server.state().written(DM, OWNER, "", json!({}));
        let said = server.state().messages.get(DM).unwrap().last().cloned().unwrap();
        let mut said = said;
        said["content"] = format!("{at}").into();
        server.state().dispatch("MESSAGE_CREATE", said);
    }
    server.dispatch("TYPING_START", json!({}));
    // Nobody receives: more waits than is kept, and heartbeats go out all the same.
    server.until("heartbeats", |state| state.gateway.heartbeats >= 2).await;
    let heard = hear(&channel, 10_000).await;
    assert!(texts(&heard).iter().enumerate().all(|(at, text)| *text == at.to_string()));
    assert_eq!((server.state().gateway.connections, heard.len()), (1, 10_000));
    server.assert_kept();
}

#[tokio::test]
async fn edits_deletions_bots_and_forwards_are_told_apart() {
    let (server, channel, _) = talking().await;
    let said = server.say(DM, OWNER, "as it was");
    server.say(DM, BOT, "my own");
    server.say_with(DM, "4000", "beep", json!({"author": {"id": "4000", "username": "other", "bot": true}}));
    server.say_with(DM, OWNER, "", json!({"message_snapshots": [{"message": {"content": "obey"}}]}));
    let mut edit = said.clone();
    // An embed that was added is no edit.
    server.dispatch("MESSAGE_UPDATE", edit.clone());
    edit["content"] = "as it is".into();
    edit["edited_timestamp"] = "2026-11-29T01:02:03.456000+00:00".into();
    server.dispatch("MESSAGE_UPDATE", edit.clone());
    server.dispatch("MESSAGE_UPDATE", edit);
    server.dispatch("MESSAGE_DELETE", json!({"id": said["id"], "channel_id": DM}));
    let heard = hear(&channel, 6).await;
    assert_eq!(word(&heard[0]).text, "as it was");
    assert!(heard[1].from.is_bot);
    assert!(matches!(&heard[2].what, What::Unread { why } if why.contains("forwarded")), "{:?}", heard[2]);
    assert!(matches!(&heard[3].what, What::Edited(word) if word.text == "as it is"), "{:?}", heard[3]);
    assert_eq!(heard[3].at_ms, house::moments::ms("2026-11-29T01:02:03.456Z").unwrap());
    assert_eq!(heard[3].id, heard[4].id, "the same edit has the same id");
    assert!(matches!(&heard[5].what, What::Deleted { message } if *message == said["id"]));
    assert_eq!(heard[5].from.id, OWNER, "in a chat of two it was the other's");
}

#[tokio::test]
async fn in_a_server_only_the_named_channel_is_heard_and_its_words_only_where_it_is_addressed() {
    let server = Server::start().await;
    let channel = channel_of(&server, &[CHANNEL]);
    channel.connect(None).await.unwrap();
    let mention = json!({"mentions": [{"id": BOT, "username": "feral", "bot": true}]});
    server.say(CHANNEL, STRANGER, "among people");
    server.say_with(CHANNEL, OWNER, &format!("<@{BOT}> /mind"), mention);
    server.dispatch("MESSAGE_CREATE", json!({
        "id": "5", "channel_id": "9501", "guild_id": "8000", "type": 0, "author": {"id": OWNER}, "content": "elsewhere",
    }));
    server.say(DM, OWNER, "alone");
    let heard = hear(&channel, 3).await;
    assert_eq!(
        texts(&heard),
        ["", "/mind", "alone"],
        "without the intent there is no text that does not name it"
    );
    let flags: Vec<bool> = heard.iter().map(|heard| word(heard).is_addressed).collect();
    assert_eq!((flags, heard[1].chat.is_private), (vec![false, true, false], false));
    assert_eq!(server.state().sessions["session-1"].intents, 1 << 9 | 1 << 12);
}

#[tokio::test]
async fn a_crowd_of_strangers_does_not_push_the_owners_chat_out_of_what_is_read_after_a_gap() {
    let (server, channel, _) = talking().await;
    for at in 0..300 {
        server.say(&format!("77{at}"), STRANGER, "let me in");
    }
    let mut cursor = Value::Null;
    let mut count = 0;
    while count < 300 {
        let batch = next(&channel).await;
        count += batch.heard.len();
        cursor = batch.cursor;
    }
    drop(channel);
    server.state().sessions.clear();
    server.say(DM, OWNER, "me");
    let channel = self::channel(&server);
    channel.connect(Some(&cursor)).await.unwrap();
    assert_eq!(texts(&hear(&channel, 1).await), ["me"]);
}

#[tokio::test]
async fn a_token_that_counts_no_more_is_told_with_what_to_do_and_not_tried_on() {
    let (server, channel, cursor) = talking().await;
    server.state().token = "another".into();
    server.state().gateway.now = vec![Step::Close(4004)];
    server.say(DM, OWNER, "x");
    let trouble = channel.receive().await.unwrap_err();
    assert!(
        matches!(&trouble, Trouble::Revoked(why) if why.contains("Reset Token") && why.contains("DISCORD_BOT_TOKEN")),
        "{trouble:?}"
    );
    let before = server.state().requests.len();
    let refused =
        channel.typing(&channels::channel::Chat { id: DM.into(), thread: None, is_private: true }).await;
    assert!(matches!(refused, Err(Trouble::Revoked(_))));
    assert_eq!(server.state().requests.len(), before, "no request goes out with a token that is not taken");
    assert!(matches!(channel.connect(Some(&cursor)).await, Err(Trouble::Revoked(_))));
    server.state().token = TOKEN.into();
    channel.connect(Some(&cursor)).await.unwrap();
}

#[tokio::test]
async fn intents_that_are_refused_are_told_and_a_day_without_sessions_is_waited_out() {
    let (server, channel, _) = talking().await;
    server.state().gateway.now = vec![Step::Close(4014)];
    server.say(DM, OWNER, "x");
    let trouble = channel.receive().await.unwrap_err();
    assert!(matches!(&trouble, Trouble::Revoked(why) if why.contains("Intent")), "{trouble:?}");
    server.state().starts_left = 2;
    let identifies = server.state().gateway.identifies;
    assert!(
        matches!(channel.connect(None).await, Err(Trouble::Slower(wait)) if wait > Duration::from_secs(60))
    );
    assert_eq!(server.state().gateway.identifies, identifies);
}

#[tokio::test]
async fn a_platform_that_is_not_there_is_away() {
    let (server, channel, cursor) = talking().await;
    let gone = Settings { url: "http://127.0.0.1:9".into(), token_env: "T".into(), ..Settings::default() };
    let nowhere = Discord::new(&gone, &|_| Some(TOKEN.into()), Door::new(None).unwrap()).unwrap();
    assert!(matches!(nowhere.connect(Some(&cursor)).await, Err(Trouble::Away(_))));
    assert!(matches!(nowhere.receive().await, Err(Trouble::Away(_))));
    let missing = Discord::new(&gone, &|_| None, Door::new(None).unwrap()).err().unwrap();
    assert!(missing.contains(".env") && missing.contains("T=TOKEN"), "{missing}");
    drop((server, channel));
}
