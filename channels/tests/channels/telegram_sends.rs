//! What is sent on Telegram: texts as long as it takes them, buttons that carry their bytes, files, pictures and edits.

use crate::faithful::telegram::Server;
use crate::telegram::{OWNER, connected, message, private};
use channels::channel::{Button, Channel, Message, Outgoing, Trouble, What};
use serde_json::json;

#[tokio::test]
async fn texts_are_as_long_as_the_platform_takes_them() {
    let server = Server::start();
    let (channel, _) = connected(&server.url()).await;
    server.says(OWNER, "hello");
    let most = channel.limits().text;
    for text in ["x".repeat(most), "😀".repeat(most / 2), format!("<b>{}</b>", "&lt;".repeat(most))] {
        channel.send(&message(&text)).await.unwrap();
    }
    for text in ["x".repeat(most + 1), "😀".repeat(most / 2 + 1), "x".repeat(100_000), String::new()] {
        let trouble = channel.send(&message(&text)).await.unwrap_err();
        assert!(matches!(trouble, Trouble::Refused(_)), "{trouble:?}");
    }
    for text in ["😀😀😀", "\u{202e}gnp.exe\u{202c}"] {
        channel.send(&message(text)).await.unwrap();
        assert_eq!(server.texts().last().unwrap(), text);
    }
    assert_eq!(server.state().sent[0]["link_preview_options"], json!({ "is_disabled": true }));
}

#[tokio::test]
async fn buttons_carry_their_bytes_there_and_back() {
    let server = Server::start();
    let (channel, _) = connected(&server.url()).await;
    server.says(OWNER, "pay 5");
    let data = "x".repeat(64);
    let button = |data: &str| Button { label: "Yes".into(), data: data.into() };
    let ask = Message { buttons: vec![button(&data), button("no")], ..message("Shall I?") };
    let sent = channel.send(&ask).await.unwrap();
    let long = Message { buttons: vec![button(&format!("{data}x"))], ..message("x") };
    assert!(matches!(channel.send(&long).await.unwrap_err(), Trouble::Refused(_)));
    server.presses(OWNER, OWNER, sent.message.parse().unwrap(), &data);
    let batch = channel.receive().await.unwrap();
    let (_, pressed) = batch.heard.split_last().map(|(pressed, before)| (before, pressed)).unwrap();
    let What::Press(press) = &pressed.what else { panic!("{pressed:?}") };
    assert_eq!((press.data.as_str(), press.message.as_str()), (data.as_str(), sent.message.as_str()));
    assert_eq!((pressed.from.id.as_str(), pressed.chat.id.as_str()), ("1001", "1001"));
    channel.answer(press, &"done ".repeat(100)).await.unwrap();
    // Nobody waits for a second answer, and none is an error.
    channel.answer(press, "again").await.unwrap();
    assert_eq!(server.state().done.len(), 1);
    // Edited: without buttons they go; the same once more is no error.
    for _ in 0..2 {
        channel.edit(&sent.message, &message("Done.")).await.unwrap();
    }
    let id = sent.message.parse().unwrap();
    let edited = server.state().messages[&(OWNER, id)].clone();
    assert_eq!((edited["text"].as_str(), edited.get("reply_markup")), (Some("Done."), None));
    channel.typing(&private(OWNER)).await.unwrap();
    assert_eq!(server.state().done.last().unwrap().0, "sendchataction");
    assert_eq!(server.state().strays, Vec::<String>::new());
}

#[tokio::test]
async fn files_go_out_as_pictures_where_they_are_and_their_text_is_never_cut() {
    let server = Server::start();
    let (channel, _) = connected(&server.url()).await;
    server.says(OWNER, "hello");
    let png =
        |wide: u32| [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], &wide.to_be_bytes(), &[0, 0, 1, 0]].concat();
    let with = |name: &str, bytes: Vec<u8>, text: &str| Message {
        file: Some(Outgoing { name: name.into(), bytes: bytes.into() }),
        ..message(text)
    };
    let long = "<i>long</i> ".repeat(200);
    for (name, bytes, text) in [
        ("report.txt", b"text".to_vec(), "<b>the report</b>"),
        ("cat.png", png(256), ""),
        ("wide.png", png(20_000), "a wide one"),
        ("no.png", b"no picture".to_vec(), "named so"),
        ("long.txt", b"x".to_vec(), long.as_str()),
    ] {
        channel.send(&with(name, bytes, text)).await.unwrap();
    }
    let sent = server.state().sent.clone();
    let kinds = sent.iter().map(|message| {
        let kind = ["text", "document", "photo"].into_iter().find(|kind| message.get(*kind).is_some());
        format!("{} {}", kind.unwrap(), message["caption"].as_str().unwrap_or_default())
    });
    let expected =
        ["document the report", "photo ", "document a wide one", "document named so", "text ", "document "];
    assert_eq!(kinds.collect::<Vec<_>>(), expected);
    assert_eq!(sent[2]["document"]["file_name"], json!("wide.png"));
    let file = sent[0]["document"]["file_id"].as_str().unwrap();
    assert_eq!(server.state().files[file], b"text");
    let id = sent[0]["message_id"].to_string();
    // What stands under a file is edited too.
    channel.edit(&id, &message("read")).await.unwrap();
    assert_eq!(server.state().messages[&(OWNER, id.parse().unwrap())]["caption"], json!("read"));
    assert_eq!(server.state().strays, Vec::<String>::new());
}
