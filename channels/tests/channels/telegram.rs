//! Telegram before a server that holds to its Bot API: nothing lost or doubled over a cut at each step, and what each refusal means.

use crate::faithful::relay::{Relay, Wire};
use crate::faithful::telegram::Server;
use crate::faithful::telegram::state::{NAME, TOKEN};
use channels::channel::{Batch, Channel, Chat, Form, Heard, Message, Trouble, What, Word};
use channels::door::Door;
use channels::platforms::telegram::Telegram;
use house::settings::channels::Channel as Settings;
use serde_json::{Value, json};
use std::time::Duration;

pub const OWNER: i64 = 1_001;

/// The channel of a bot at this address.
pub fn at(url: &str) -> Telegram {
    let settings =
        Settings { url: url.into(), token_env: "TELEGRAM_BOT_TOKEN".into(), ..Settings::default() };
    Telegram::new(&settings, &|_| Some(TOKEN.into()), Door::new(None).unwrap()).unwrap()
}

/// The channel, connected at now, with where it begins acknowledged; and that.
pub async fn connected(url: &str) -> (Telegram, Value) {
    let channel = at(url);
    assert_eq!(channel.connect(None).await.unwrap().name, format!("@{NAME}"));
    let begin = channel.receive().await.unwrap();
    assert!(begin.heard.is_empty(), "it says where it begins before anything is heard");
    channel.acknowledge(&begin.cursor).await.unwrap();
    (channel, begin.cursor)
}

pub fn word(heard: &Heard) -> &Word {
    match &heard.what {
        What::Word(word) => word,
        other => panic!("no word: {other:?}"),
    }
}

pub fn texts(batch: &Batch) -> Vec<&str> {
    batch.heard.iter().map(|heard| word(heard).text.as_str()).collect()
}

pub fn private(id: i64) -> Chat {
    Chat { id: id.to_string(), thread: None, is_private: true }
}

pub fn message(text: &str) -> Message {
    Message {
        chat: private(OWNER),
        text: text.into(),
        form: Form::TelegramHtml,
        buttons: Vec::new(),
        file: None,
        key: "0".repeat(32),
    }
}

#[tokio::test]
async fn what_was_not_acknowledged_comes_again_with_the_same_id_and_then_no_more() {
    let server = Server::start();
    let (channel, begin) = connected(&server.url()).await;
    server.says(OWNER, "one");
    let first = channel.receive().await.unwrap();
    assert_eq!(texts(&first), ["one"]);
    server.says(OWNER, "two");
    // Killed before either was kept: another process goes on behind the last acknowledged cursor.
    drop(channel);
    let channel = at(&server.url());
    channel.connect(Some(&begin)).await.unwrap();
    let again = channel.receive().await.unwrap();
    assert_eq!(texts(&again), ["one", "two"]);
    assert_eq!(again.heard[0], first.heard[0]);
    channel.acknowledge(&again.cursor).await.unwrap();
    // Killed before the platform was told: the cursor tells it.
    let channel = at(&server.url());
    channel.connect(Some(&again.cursor)).await.unwrap();
    server.says(OWNER, "three");
    assert_eq!(texts(&channel.receive().await.unwrap()), ["three"]);
    let waiting: Vec<String> =
        server.state().queue.iter().map(|(.., update)| update["message"]["text"].to_string()).collect();
    assert_eq!(waiting, ["\"three\""], "the platform was told of the others, and not of this one");
    assert_eq!(server.state().strays, Vec::<String>::new());
}

#[tokio::test]
async fn it_begins_at_now_and_loses_nothing_from_then_on() {
    let server = Server::start();
    server.says(OWNER, "before anybody listened");
    server.says(OWNER, "this too");
    let channel = at(&server.url());
    channel.connect(None).await.unwrap();
    server.says(OWNER, "now");
    let begin = channel.receive().await.unwrap();
    assert!(begin.heard.is_empty());
    // Killed with nothing kept but where it begins.
    let channel = at(&server.url());
    channel.connect(Some(&begin.cursor)).await.unwrap();
    assert_eq!(texts(&channel.receive().await.unwrap()), ["now"]);
}

#[tokio::test]
async fn ten_thousand_at_once_come_in_order_once_each() {
    let server = Server::start();
    let (channel, _) = connected(&server.url()).await;
    for number in 0..10_000 {
        server.says(OWNER, &number.to_string());
    }
    let mut heard: Vec<usize> = Vec::new();
    while heard.len() < 10_000 {
        let batch = channel.receive().await.unwrap();
        heard.extend(texts(&batch).iter().map(|text| text.parse::<usize>().unwrap()));
        channel.acknowledge(&batch.cursor).await.unwrap();
    }
    assert_eq!(heard, (0..10_000).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_poll_waits_at_the_platform_until_there_is_something() {
    let server = Server::start();
    let (channel, _) = connected(&server.url()).await;
    let polls = server.state().poll;
    let saying = server.clone();
    let said = tokio::task::spawn_blocking(move || {
        saying.until("a poll waits", |state| state.poll > polls);
        // Long enough for one that asks again and again to be seen.
        std::thread::sleep(Duration::from_millis(500));
        saying.says(OWNER, "hello");
    });
    assert_eq!(texts(&channel.receive().await.unwrap()), ["hello"]);
    said.await.unwrap();
    assert_eq!(server.state().poll, polls + 1, "one poll was enough");
}

#[tokio::test]
async fn after_a_week_of_silence_numbers_begin_anew_and_are_followed() {
    let server = Server::start();
    let (channel, _) = connected(&server.url()).await;
    let begins_at = |number| server.change(|state| state.next_update = number);
    begins_at(712_500_000);
    for text in ["before", "after a week", "and on"] {
        if text == "after a week" {
            server.change(|state| state.shifted += Duration::from_secs(8 * 24 * 3_600));
            begins_at(3_000_001);
        }
        server.says(OWNER, text);
        let batch = channel.receive().await.unwrap();
        assert_eq!(texts(&batch), [text]);
        channel.acknowledge(&batch.cursor).await.unwrap();
    }
}

#[tokio::test]
async fn a_cut_wire_loses_and_doubles_no_word() {
    let server = Server::start();
    let relay = Relay::to(server.port());
    let (channel, _) = connected(&relay.url()).await;
    for (number, wire) in
        [Wire::Cut, Wire::LosesAnswers, Wire::Cut, Wire::LosesAnswers].into_iter().enumerate()
    {
        relay.set(wire);
        server.says(OWNER, &number.to_string());
        let trouble = channel.receive().await.unwrap_err();
        assert!(matches!(trouble, Trouble::Away(_)), "{trouble:?}");
        relay.set(Wire::Carries);
        let batch = channel.receive().await.unwrap();
        assert_eq!(texts(&batch), [number.to_string()]);
        channel.acknowledge(&batch.cursor).await.unwrap();
    }
}

#[tokio::test]
async fn a_send_whose_answer_is_lost_is_doubtful_and_one_that_never_left_is_not() {
    let server = Server::start();
    let relay = Relay::to(server.port());
    let (channel, _) = connected(&relay.url()).await;
    server.says(OWNER, "hello");
    relay.set(Wire::LosesAnswers);
    let trouble = channel.send(&message("once")).await.unwrap_err();
    assert!(matches!(trouble, Trouble::Doubtful(_)), "{trouble:?}");
    server.until("it arrived", |state| state.sent.len() == 1);
    // Nothing more is sent blindly: it asks first, by what may be asked twice.
    for _ in 0..3 {
        let trouble = channel.send(&message("twice")).await.unwrap_err();
        assert!(matches!(trouble, Trouble::Away(_)), "{trouble:?}");
    }
    assert_eq!(server.texts(), ["once"]);
    relay.set(Wire::Carries);
    channel.send(&message("thrice")).await.unwrap();
    assert_eq!(server.texts(), ["once", "thrice"]);
    // Nobody there at all.
    let closed = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let trouble = at(&format!("http://{closed}")).send(&message("never")).await.unwrap_err();
    assert!(matches!(trouble, Trouble::Away(_)), "{trouble:?}");
}

#[tokio::test]
async fn a_connection_that_died_unseen_leaves_no_send_in_doubt() {
    let server = Server::start();
    let relay = Relay::to(server.port());
    let (channel, _) = connected(&relay.url()).await;
    server.says(OWNER, "hello");
    channel.send(&message("one")).await.unwrap();
    relay.set(Wire::ForgetsTheOld);
    channel.send(&message("two")).await.unwrap();
    assert_eq!(server.texts(), ["one", "two"]);
}

#[tokio::test]
async fn each_refusal_of_a_send_means_one_thing() {
    let server = Server::start();
    let (channel, _) = connected(&server.url()).await;
    server.says(OWNER, "hello");
    let refused = |code, description: &str, parameters| {
        server.refuses("sendMessage", code, description, parameters);
    };
    let sent = async || channel.send(&message("x")).await;
    refused(429, "Too Many Requests: retry after 7", json!({ "retry_after": 7 }));
    assert_eq!(sent().await.unwrap_err(), Trouble::Slower(Duration::from_secs(7)));
    for (code, said) in [(500, "Internal Server Error"), (502, "Bad Gateway"), (504, "Gateway Timeout")] {
        refused(code, said, Value::Null);
        assert!(matches!(sent().await.unwrap_err(), Trouble::Doubtful(why) if why.contains(said)));
    }
    refused(503, "Service Unavailable", Value::Null);
    assert!(matches!(sent().await.unwrap_err(), Trouble::Away(_)));
    for code in [401, 404] {
        refused(code, "Unauthorized", Value::Null);
        let Trouble::Revoked(why) = sent().await.unwrap_err() else { panic!("{code}") };
        assert!(why.contains("@BotFather") && why.contains("TELEGRAM_BOT_TOKEN"), "{why}");
    }
    server.change(|state| state.chats.get_mut(&OWNER).unwrap().is_blocked = true);
    assert!(
        matches!(sent().await.unwrap_err(), Trouble::Refused(why) if why.contains("blocked by the user"))
    );
    server.change(|state| state.chats.get_mut(&OWNER).unwrap().is_blocked = false);
    for text in ["a < b", "<b>not ended", "<b>crossed<i></b></i>", "<script>x</script>", "<a href>x</a>"] {
        let trouble = channel.send(&message(text)).await.unwrap_err();
        assert!(matches!(trouble, Trouble::Form(_)), "{text}: {trouble:?}");
        // As plain text it is taken.
        channel.send(&Message { form: Form::Plain, ..message(text) }).await.unwrap();
        assert_eq!(server.texts().last().unwrap(), text);
    }
    let stranger = Message { chat: private(77), ..message("x") };
    assert!(matches!(channel.send(&stranger).await.unwrap_err(), Trouble::Refused(_)));
}

#[tokio::test]
async fn a_flood_is_told_with_its_time_and_nothing_of_it_is_sent() {
    let server = Server::start();
    let (channel, _) = connected(&server.url()).await;
    server.says(OWNER, "hello");
    let mut sent = 0;
    let trouble = loop {
        match channel.send(&message(&sent.to_string())).await {
            Ok(_) => sent += 1,
            Err(trouble) => break trouble,
        }
    };
    assert_eq!(trouble, Trouble::Slower(Duration::from_secs(1)));
    assert_eq!(server.texts().len(), sent);
    server.change(|state| state.shifted += Duration::from_secs(2));
    channel.send(&message("later")).await.unwrap();
}

#[tokio::test]
async fn another_receiver_and_a_webhook_are_told_apart_and_left_alone() {
    let server = Server::start();
    let (channel, _) = connected(&server.url()).await;
    let polls = server.state().poll;
    let other = at(&server.url());
    let (ours, theirs) = tokio::join!(channel.receive(), async {
        let waiting = server.clone();
        tokio::task::spawn_blocking(move || waiting.until("a poll waits", |state| state.poll > polls))
            .await
            .unwrap();
        other.connect(Some(&json!(0))).await.unwrap();
        let polling = tokio::time::timeout(Duration::from_millis(800), other.receive());
        polling.await
    });
    let Trouble::Elsewhere(why) = ours.unwrap_err() else { panic!("two polls") };
    assert!(why.contains("another program") && why.contains("/revoke"), "{why}");
    assert!(theirs.is_err(), "the other one still waits");
    server.change(|state| state.webhook = true);
    let Trouble::Elsewhere(why) = channel.receive().await.unwrap_err() else { panic!("a webhook") };
    assert!(why.contains("deleteWebhook") && !why.contains(TOKEN), "{why}");
    let trouble = at(&server.url()).connect(None).await.unwrap_err();
    assert!(matches!(trouble, Trouble::Elsewhere(_)), "{trouble:?}");
    assert!(server.state().webhook, "it is not ours to remove");
}

#[tokio::test]
async fn a_token_that_counts_no_more_is_told_and_never_shown() {
    let server = Server::start();
    let (channel, _) = connected(&server.url()).await;
    server.change(|state| state.token = "1:another".into());
    for trouble in [channel.receive().await.unwrap_err(), channel.send(&message("x")).await.unwrap_err()] {
        assert!(matches!(&trouble, Trouble::Revoked(why) if !why.contains(TOKEN)), "{trouble:?}");
    }
    let secret = TOKEN.split_once(':').unwrap().1;
    let closed = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let trouble = at(&format!("http://{closed}")).connect(None).await.unwrap_err();
    assert!(!format!("{trouble:?}").contains(secret), "{trouble:?}");
    let new = |token: Option<&str>| {
        let settings = Settings { token_env: "TELEGRAM_BOT_TOKEN".into(), ..Settings::default() };
        let token = token.map(str::to_owned);
        Telegram::new(&settings, &move |_| token.clone(), Door::new(None).unwrap()).err().unwrap()
    };
    assert!(new(None).contains("@BotFather"));
    for wrong in ["no-token", "12:34/../56", "12:", ":34", "a:34"] {
        assert!(new(Some(wrong)).contains("no token"), "{wrong}");
    }
}
