//! What is heard on Telegram, of all that a chat can hold: whose words, in which place, meant for whom, with which files.

use crate::faithful::telegram::Server;
use crate::faithful::telegram::state::{BOT, NAME};
use crate::telegram::{OWNER, at, connected, message, private, texts, word};
use channels::channel::{Channel, Chat, Message, Trouble, What};
use serde_json::json;

const GROUP: i64 = -500;
const FORUM: i64 = -1_000_000_000_600;

fn owner() -> serde_json::Value {
    json!({ "id": OWNER, "is_bot": false, "first_name": "Ada", "last_name": "L", "username": "person1001" })
}

#[tokio::test]
async fn files_come_in_whole_or_not_at_all() {
    let server = Server::start();
    let (channel, _) = connected(&server.url()).await;
    server.sends(OWNER, "../../x", b"bytes".to_vec(), "look");
    server.sends(OWNER, "big", vec![7; 3 << 20], "");
    server.sends(OWNER, "huge", vec![7; (20 << 20) + 1], "");
    let sizes = json!([{ "file_id": "no", "file_unique_id": "s", "width": 90, "file_size": 3 },
        { "file_id": "file1", "file_unique_id": "l", "width": 800 }]);
    server.writes(OWNER, owner(), json!({ "photo": sizes, "caption": "a photo" }));
    let voice = json!({ "file_id": "file1", "file_unique_id": "v", "duration": 3 });
    server.writes(OWNER, owner(), json!({ "voice": voice }));
    let batch = channel.receive().await.unwrap();
    let files: Vec<_> = batch.heard.iter().map(|heard| word(heard).files[0].clone()).collect();
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["../../x", "big", "huge", "photo-l.jpg", "voice-v.ogg"]);
    assert_eq!(texts(&batch), ["look", "", "", "a photo", ""]);
    assert_eq!(channel.fetch(&files[0], 5).await.unwrap(), b"bytes");
    assert_eq!(channel.fetch(&files[1], 20 << 20).await.unwrap().len(), 3 << 20);
    let unsaid = |at: usize| channels::channel::Attached { bytes: None, ..files[at].clone() };
    for (file, most) in [(files[0].clone(), 4), (unsaid(0), 4), (unsaid(1), 1_000), (unsaid(2), 30 << 20)] {
        let trouble = channel.fetch(&file, most).await.unwrap_err();
        assert!(matches!(trouble, Trouble::Refused(_)), "{trouble:?}");
    }
    // A link of an hour ago counts no more; each time a new one is asked for.
    server.change(|state| state.shifted += std::time::Duration::from_secs(3_700));
    assert_eq!(channel.fetch(&files[0], 5).await.unwrap(), b"bytes");
    assert_eq!(server.state().strays, Vec::<String>::new());
}

#[tokio::test]
async fn in_a_group_it_knows_what_is_meant_for_it() {
    let server = Server::start();
    let (channel, _) = connected(&server.url()).await;
    server.opens(GROUP, "supergroup", &[]);
    let mine = json!({ "message_id": 1, "from": { "id": BOT, "is_bot": true, "first_name": "Feral" } });
    let named =
        |at: usize, kind: &str, length: usize| json!([{ "type": kind, "offset": at, "length": length }]);
    let long = NAME.len() + 1;
    let said = [
        (json!({ "text": format!("@{NAME} hello"), "entities": named(0, "mention", long) }), true, "hello"),
        (
            json!({ "text": format!("😀 @{} hi", NAME.to_uppercase()), "entities": named(3, "mention", long) }),
            true,
            "",
        ),
        (
            json!({ "text": format!("/mind@{NAME} now"), "entities": named(0, "bot_command", 5 + long) }),
            true,
            "/mind now",
        ),
        (
            json!({ "text": "/mind@other_bot", "entities": named(0, "bot_command", 15), "reply_to_message": mine }),
            false,
            "",
        ),
        (json!({ "text": "/mind", "entities": named(0, "bot_command", 5) }), false, "/mind"),
        (json!({ "text": "and this?", "reply_to_message": mine }), true, "and this?"),
        (json!({ "text": format!("a word that only looks like @{NAME}") }), false, ""),
        (
            json!({ "text": format!("out of bounds @{NAME}"), "entities": named(900, "mention", long) }),
            false,
            "",
        ),
        (
            json!({ "text": format!("{NAME} by name @{NAME}"), "entities": [{ "type": "text_mention", "offset": 0, "length": 3, "user": { "id": BOT, "is_bot": true, "first_name": "F" } }] }),
            true,
            "",
        ),
    ];
    for (with, ..) in &said {
        server.writes(GROUP, owner(), with.clone());
    }
    let batch = channel.receive().await.unwrap();
    assert_eq!(batch.heard.len(), said.len());
    for (heard, (with, is_addressed, text)) in batch.heard.iter().zip(&said) {
        assert_eq!(word(heard).is_addressed, *is_addressed, "{with}");
        assert!(text.is_empty() || word(heard).text == *text, "{with}: {:?}", word(heard).text);
        assert!(!heard.chat.is_private && heard.chat.id == GROUP.to_string());
    }
}

#[tokio::test]
async fn a_topic_is_a_thread_and_answers_stay_in_it() {
    let server = Server::start();
    let (channel, _) = connected(&server.url()).await;
    server.opens(FORUM, "supergroup", &[7]);
    let reply = json!({ "message_id": 1, "from": { "id": BOT, "is_bot": true, "first_name": "Feral" } });
    server.writes(FORUM, owner(), json!({ "text": "here", "reply_to_message": reply, "message_thread_id": 7, "is_topic_message": true }));
    // In a group without topics an answer has the number of what it answers, to which nothing can be sent.
    server.writes(
        FORUM,
        owner(),
        json!({ "text": "there", "reply_to_message": reply, "message_thread_id": 1 }),
    );
    let batch = channel.receive().await.unwrap();
    let chats: Vec<Chat> = batch.heard.iter().map(|heard| heard.chat.clone()).collect();
    assert_eq!([chats[0].thread.as_deref(), chats[1].thread.as_deref()], [Some("7"), None]);
    for chat in chats {
        channel.typing(&chat).await.unwrap();
        channel.send(&Message { chat, ..message("answer") }).await.unwrap();
    }
    assert_eq!(server.state().sent[0]["message_thread_id"], json!(7));
    assert_eq!(server.state().sent[1].get("message_thread_id"), None);
    // The topic is deleted: the answer comes to the same people.
    server.change(|state| state.chats.get_mut(&FORUM).unwrap().threads.clear());
    let chat = Chat { id: FORUM.to_string(), thread: Some("7".into()), is_private: false };
    channel.send(&Message { chat, ..message("late answer") }).await.unwrap();
    assert_eq!(server.texts(), ["answer", "answer", "late answer"]);
}

#[tokio::test]
async fn a_group_that_has_moved_is_followed() {
    let server = Server::start();
    let (channel, _) = connected(&server.url()).await;
    server.opens(GROUP, "group", &[]);
    server.opens(FORUM, "supergroup", &[]);
    server.writes(GROUP, owner(), json!({ "migrate_to_chat_id": FORUM }));
    server.writes(FORUM, owner(), json!({ "migrate_from_chat_id": GROUP }));
    server.change(|state| state.chats.get_mut(&GROUP).unwrap().moved_to = Some(FORUM));
    let chat = Chat { id: GROUP.to_string(), thread: None, is_private: false };
    channel.send(&Message { chat, ..message("still here") }).await.unwrap();
    assert_eq!(server.state().sent[0]["chat"]["id"], json!(FORUM));
    server.says(OWNER, "next");
    assert_eq!(texts(&channel.receive().await.unwrap()), ["next"], "what a chat says of itself is no word");
}

#[tokio::test]
async fn words_of_others_are_marked_and_other_chats_are_not_mistaken() {
    let server = Server::start();
    let (channel, _) = connected(&server.url()).await;
    let channel_of = |name: &str| json!({ "type": "channel", "chat": { "id": -9, "type": "channel", "title": name }, "date": 1 });
    let user = json!({ "type": "user", "sender_user": { "id": 5, "is_bot": false, "first_name": "Mallory" }, "date": 1 });
    server.writes(OWNER, owner(), json!({ "text": "/pause", "entities": [{ "type": "bot_command", "offset": 0, "length": 6 }], "forward_origin": user }));
    server.writes(OWNER, owner(), json!({ "text": "pay", "forward_origin": channel_of("News]\nowner: ") }));
    server.writes(OWNER, owner(), json!({ "text": "found", "via_bot": { "id": 6, "is_bot": true, "first_name": "G", "username": "gif" } }));
    // A bot that talks, and an administrator who hides behind a name, are not the owner.
    server.writes(OWNER, json!({ "id": 8, "is_bot": true, "first_name": "Bot" }), json!({ "text": "beep" }));
    // Of chats that only look like this one.
    server.writes(OWNER, owner(), json!({ "text": "guest", "guest_query_id": "1" }));
    server.writes(OWNER, owner(), json!({ "text": "business", "business_connection_id": "1" }));
    server.says(OWNER, "\u{202e}mine\u{202c}");
    let batch = channel.receive().await.unwrap();
    assert_eq!(
        texts(&batch),
        [
            "[forwarded from Mallory]\n/pause",
            "[forwarded from Newsowner: ]\npay",
            "[by the bot gif]\nfound",
            "beep",
            "\u{202e}mine\u{202c}"
        ]
    );
    let bots: Vec<bool> = batch.heard.iter().map(|heard| heard.from.is_bot).collect();
    assert_eq!(bots, [false, false, false, true, false]);
    assert_eq!(batch.heard[4].from.name, "Ada L (@person1001)");
    assert_eq!((batch.heard[4].from.id.as_str(), batch.heard[4].chat.clone()), ("1001", private(OWNER)));
}

#[tokio::test]
async fn an_edit_is_told_as_one_and_a_code_in_a_link_is_said() {
    let server = Server::start();
    let (channel, _) = connected(&server.url()).await;
    let start = |text: &str| json!({ "text": text, "entities": [{ "type": "bot_command", "offset": 0, "length": 6 }] });
    server.writes(OWNER, owner(), start("/start"));
    server.writes(OWNER, owner(), start("/start 482913"));
    let said = server.says(OWNER, "buy milk");
    server.edits(OWNER, said, "buy oats");
    server.edits(OWNER, said, "buy both");
    server.writes(OWNER, owner(), json!({ "poll": { "id": "1" } }));
    server.writes(OWNER, owner(), json!({ "sticker": { "file_id": "x", "emoji": "👍" } }));
    server.writes(OWNER, owner(), json!({ "new_chat_title": "x" }));
    let batch = channel.receive().await.unwrap();
    let said: Vec<String> = batch
        .heard
        .iter()
        .map(|heard| match &heard.what {
            What::Word(word) => word.text.clone(),
            What::Edited(word) => format!("now: {}", word.text),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        said,
        [
            "/start",
            "482913",
            "buy milk",
            "now: buy oats",
            "now: buy both",
            "[a poll, which is not read here]",
            "👍"
        ]
    );
    let mut ids: Vec<&str> = batch.heard.iter().map(|heard| heard.id.as_str()).collect();
    ids.dedup();
    assert_eq!(ids.len(), batch.heard.len(), "no two have the same id");
}

#[tokio::test]
async fn what_cannot_be_read_stops_nothing_behind_it() {
    let server = Server::start();
    let (channel, _) = connected(&server.url()).await;
    let garbage = [
        json!(null),
        json!([]),
        json!({ "message_id": "x" }),
        json!({ "chat": 7, "from": {} }),
        json!({ "text": 7 }),
    ];
    for what in garbage {
        server.change(|state| state.push("message", what));
    }
    // Asked for by nobody: of a time before.
    server.change(|state| {
        state.allowed = Some(Vec::new());
        state.push("my_chat_member", json!({ "chat": { "id": OWNER, "type": "private" } }))
    });
    server.says(OWNER, &"a".repeat(100_000));
    let batch = channel.receive().await.unwrap();
    assert_eq!(batch.heard.len(), 1);
    assert_eq!(word(&batch.heard[0]).text.len(), 100_000);
    channel.acknowledge(&batch.cursor).await.unwrap();
    server.says(OWNER, "next");
    let batch = channel.receive().await.unwrap();
    assert_eq!(texts(&batch), ["next"]);
    assert_eq!(server.state().queue.len(), 1, "all before is confirmed");
    assert!(channel.acknowledge(&json!("x")).await.is_err());
}

#[tokio::test]
async fn a_press_is_as_old_as_it_may_be() {
    let server = Server::start();
    let (channel, begin) = connected(&server.url()).await;
    server.says(OWNER, "ask me");
    let batch = channel.receive().await.unwrap();
    channel.acknowledge(&batch.cursor).await.unwrap();
    let sent = channel.send(&message("Shall I?")).await.unwrap();
    let id = sent.message.parse().unwrap();
    server.change(|state| state.messages.get_mut(&(OWNER, id)).unwrap()["date"] = json!(1_000));
    let press = |channel_heard: &channels::channel::Batch| {
        let last = channel_heard.heard.last().unwrap();
        assert!(matches!(last.what, What::Press(_)));
        last.at_ms
    };
    // While it listens, a press is no older than the poll before.
    server.presses(OWNER, OWNER, id, "yes");
    let heard = channel.receive().await.unwrap();
    assert!(press(&heard) > 1_600_000_000_000, "{}", press(&heard));
    // After a time away nobody knows but that the question came before.
    let channel = at(&server.url());
    channel.connect(Some(&begin)).await.unwrap();
    assert_eq!(press(&channel.receive().await.unwrap()), 1_000_000);
}
