//! Events of Matrix, read and written: what each says, and what it may not.

use channels::channel::{Button, Chat, Form, Message, Outgoing, Word};
use channels::platforms::matrix::events::{BUTTONS, KEYS, Kind, pressed, read};
use channels::platforms::matrix::outgoing::{CONTENT_BYTES, content, plain, replacement};
use channels::platforms::matrix::sync::{Position, filter};
use serde_json::{Value, json};

const ME: &str = "@feral:x";

fn event(kind: &str, content: Value) -> Value {
    json!({ "type": kind, "event_id": "$1", "sender": "@anna:x", "origin_server_ts": 7, "content": content })
}

fn kind(kind: &str, content: Value) -> Option<Kind> {
    read(&event(kind, content), ME).map(|event| event.what)
}

fn word(content: Value) -> Option<Word> {
    match kind("m.room.message", content) {
        Some(Kind::Word { word, .. }) => Some(word),
        _ => None,
    }
}

#[test]
fn words_edits_deletions_and_reactions_are_read() {
    let text = word(json!({ "msgtype": "m.text", "body": "/mind" })).unwrap();
    assert_eq!((text.message.as_str(), text.text.as_str(), text.is_addressed), ("$1", "/mind", false));
    let edit = json!({ "msgtype": "m.text", "body": "* new", "m.new_content": { "msgtype": "m.text", "body": "new" },
        "m.relates_to": { "rel_type": "m.replace", "event_id": "$0" } });
    match kind("m.room.message", edit) {
        Some(Kind::Edited(word)) => assert_eq!((word.message.as_str(), word.text.as_str()), ("$0", "new")),
        other => panic!("{other:?}"),
    }
    assert_eq!(kind("m.room.redaction", json!({ "redacts": "$0" })), Some(Kind::Deleted("$0".into())));
    let mut older = event("m.room.redaction", json!({}));
    older["redacts"] = json!("$0");
    assert_eq!(read(&older, ME).unwrap().what, Kind::Deleted("$0".into()));
    let reaction = json!({ "m.relates_to": { "rel_type": "m.annotation", "event_id": "$0", "key": "👍" } });
    assert_eq!(kind("m.reaction", reaction), Some(Kind::Reaction { message: "$0".into(), key: "👍".into() }));
    assert_eq!(
        kind("m.room.encrypted", json!({ "algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "x" })),
        Some(Kind::Encrypted)
    );
    assert_eq!(
        kind("m.room.encryption", json!({ "algorithm": "m.megolm.v1.aes-sha2" })),
        Some(Kind::Encrypted)
    );
}

#[test]
fn a_program_is_told_by_its_notices_and_what_is_our_own_is_not_heard() {
    let notice = kind("m.room.message", json!({ "msgtype": "m.notice", "body": "x" }));
    assert!(matches!(notice, Some(Kind::Word { is_notice: true, .. })));
    let mut ours = event("m.room.message", json!({ "msgtype": "m.text", "body": "x" }));
    ours["sender"] = json!(ME);
    assert_eq!(read(&ours, ME), None);
}

#[test]
fn who_is_named_is_addressed_and_an_older_answers_quote_is_left_out() {
    let named =
        word(json!({ "msgtype": "m.text", "body": "do it", "m.mentions": { "user_ids": [ME] } })).unwrap();
    assert!(named.is_addressed);
    assert!(word(json!({ "msgtype": "m.text", "body": "@feral:x: do it" })).unwrap().is_addressed);
    let answer = json!({ "msgtype": "m.text", "body": "> <@feral:x> Shall I?\n> really\n\nyes",
        "m.relates_to": { "m.in_reply_to": { "event_id": "$0" } } });
    assert_eq!(word(answer).unwrap().text, "yes");
    let own = json!({ "msgtype": "m.text", "body": "> <a quote of my own>\n\nyes" });
    assert_eq!(word(own).unwrap().text, "> <a quote of my own>\n\nyes");
    let thread = event(
        "m.room.message",
        json!({ "msgtype": "m.text", "body": "x", "m.relates_to": { "rel_type": "m.thread", "event_id": "$root" } }),
    );
    assert_eq!(read(&thread, ME).unwrap().thread.as_deref(), Some("$root"));
}

#[test]
fn files_come_with_names_sizes_and_captions() {
    let file = json!({ "msgtype": "m.image", "body": "what is this?", "filename": "../../x.png", "url": "mxc://x/abc", "info": { "size": 9 } });
    let told = word(file).unwrap();
    assert_eq!(told.text, "what is this?");
    assert_eq!((told.files[0].name.as_str(), told.files[0].bytes), ("../../x.png", Some(9)));
    let bare = word(json!({ "msgtype": "m.file", "body": "notes.txt", "url": "mxc://x/abc" })).unwrap();
    assert_eq!((bare.text.as_str(), bare.files[0].name.as_str()), ("", "notes.txt"));
    let long = word(json!({ "msgtype": "m.file", "body": "ü".repeat(500), "url": "mxc://x/abc" })).unwrap();
    assert!(long.files[0].name.len() <= 255);
}

#[test]
fn what_was_deleted_or_is_odd_says_nothing() {
    for odd in [
        json!({}),
        json!({ "body": "x" }),
        json!({ "msgtype": "m.text" }),
        json!({ "msgtype": 1, "body": [] }),
        Value::Null,
        json!([]),
    ] {
        assert_eq!(kind("m.room.message", odd.clone()), None, "{odd}");
    }
    for odd in [json!({}), json!({ "type": "m.room.message" }), json!("x"), json!({ "type": 5 }), Value::Null]
    {
        assert!(read(&odd, ME).is_none(), "{odd}");
    }
    assert_eq!(
        kind(
            "m.reaction",
            json!({ "m.relates_to": { "rel_type": "m.thread", "event_id": "$0", "key": "x" } })
        ),
        None
    );
}

fn message(text: &str) -> Message {
    let chat = Chat { id: "!r:x".into(), thread: None, is_private: true };
    Message { chat, text: text.into(), form: Form::MatrixHtml, buttons: vec![], file: None, key: "k".into() }
}

fn button(label: &str, data: &str) -> Button {
    Button { label: label.into(), data: data.into() }
}

#[test]
fn a_text_stands_in_html_and_plain_with_its_buttons() {
    let mut asked = message("<p>May I <b>pay</b> 5 &lt; 6?</p>");
    asked.buttons = vec![button("Yes", "one"), button("No & never", "two")];
    let whole = content(&asked, None);
    assert_eq!(whole["body"], format!("May I pay 5 < 6?\n{} Yes\n{} No & never", KEYS[0], KEYS[1]));
    let html = whole["formatted_body"].as_str().unwrap();
    assert!(html.ends_with(&format!("<br>{} No &amp; never", KEYS[1])), "{html}");
    assert_eq!(whole[BUTTONS][1]["data"], "two");
    let simple = content(&Message { form: Form::Plain, ..message("a < b") }, None);
    assert_eq!(simple, json!({ "msgtype": "m.text", "body": "a < b" }));
}

#[test]
fn a_reaction_presses_the_button_of_our_own_message_as_it_reads_now() {
    let mut asked = message("x");
    asked.buttons = vec![button("Yes", "one"), button("No", "two")];
    let mut found = event("m.room.message", content(&asked, None));
    assert_eq!(pressed(&found, ME, KEYS[0]), None, "another's message has no buttons");
    found["sender"] = json!(ME);
    assert_eq!(pressed(&found, ME, KEYS[0]).as_deref(), Some("one"));
    assert_eq!(pressed(&found, ME, "2\u{20e3}").as_deref(), Some("two"), "without its mark of colour");
    assert_eq!(pressed(&found, ME, KEYS[2]), None);
    assert_eq!(pressed(&found, ME, "👍"), None);
    let done = replacement("$1", &message("done"));
    found["unsigned"] = json!({ "m.relations": { "m.replace": { "content": done } } });
    assert_eq!(pressed(&found, ME, KEYS[0]), None, "an edit took them away");
}

#[test]
fn every_text_within_the_limit_fits_an_event() {
    for text in [
        "x".repeat(15_000),
        "\"".repeat(15_000),
        "\u{1}".repeat(15_000),
        "ü".repeat(7_500),
        "😀".repeat(3_750),
        "<b>".repeat(5_000),
    ] {
        for whole in [content(&message(&text), None), replacement("$0", &message(&text))] {
            let bytes = whole.to_string().len();
            // Control characters are six bytes each: what is too long for an edit is sent anew.
            assert!(bytes <= CONTENT_BYTES || text.starts_with('\u{1}'), "{bytes} {}", &text[..4]);
        }
    }
}

#[test]
fn threads_and_files_have_their_relations() {
    let mut answer = message("x");
    answer.chat.thread = Some("$root".into());
    let related = &content(&answer, None)["m.relates_to"];
    assert_eq!(
        (&related["rel_type"], &related["event_id"], &related["m.in_reply_to"]["event_id"]),
        (&json!("m.thread"), &json!("$root"), &json!("$root"))
    );
    let mut file = message("");
    file.file = Some(Outgoing { name: "a.PNG".into(), bytes: "123".into() });
    let whole = content(&file, Some("mxc://x/abc"));
    assert_eq!(
        whole,
        json!({ "msgtype": "m.image", "body": "a.PNG", "filename": "a.PNG", "url": "mxc://x/abc",
        "info": { "size": 3, "mimetype": "image/png" } })
    );
}

#[test]
fn html_is_plain_beside_itself() {
    for (html, text) in [
        ("<p>a</p><p>b</p>", "a\n\nb"),
        ("<ul><li>a</li><li>b</li></ul>c", "- a\n- b\n\nc"),
        ("<pre><code>x &lt; 1 &amp;&amp; y</code></pre>", "x < 1 && y"),
        ("a<br/>b", "a\nb"),
        ("&amp;lt;", "&lt;"),
        ("a < b", "a < b"),
        ("", ""),
    ] {
        assert_eq!(plain(html), text, "{html}");
    }
}

#[test]
fn a_place_is_read_back_as_it_was_written() {
    let mut position = Position::of("s1");
    assert_eq!(json!(position), json!({ "since": "s1" }));
    position.gaps.insert("!r:x".into(), "t1".into());
    assert_eq!(serde_json::from_value::<Position>(json!(position)).unwrap(), position);
    assert!(
        serde_json::from_str::<Value>(&filter()).unwrap()["room"]["timeline"]["lazy_load_members"] == true
    );
}
