//! The Telegram server of these tests itself: it refuses what the platform's own would, in its words.

use crate::faithful::telegram::Server;
use crate::faithful::telegram::html::parse;
use crate::faithful::telegram::state::TOKEN;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

async fn asked(url: &str, method: &str, with: Value) -> (u16, Value) {
    let door = channels::door::Door::new(None).unwrap();
    let asked = door.http().post(format!("{url}/bot{TOKEN}/{method}")).json(&with);
    let answer = asked.timeout(Duration::from_secs(20)).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

#[test]
fn texts_are_parsed_as_strictly_as_the_maker_does() {
    for (html, text) in [
        ("a &lt;b&gt; &amp; &quot;c&quot; &#39;d&#x27;", "a <b> & \"c\" 'd'"),
        ("R&D & &nbsp; &bogus;", "R&D & &nbsp; &bogus;"),
        ("<b>b<i>i</i></b> <pre><code class=\"language-rust\">x</code></pre>", "bi x"),
        ("<a href='https://example.org/?a=1&amp;b=2'>link</a>", "link"),
    ] {
        assert_eq!(parse(html).unwrap().text, text);
    }
    for (html, why) in [
        ("a < b", "Unsupported start tag \"\" at byte offset 2"),
        ("a <b", "Unclosed start tag at byte offset 2"),
        ("<div>x</div>", "Unsupported start tag \"div\" at byte offset 0"),
        ("<b>x", "Can't find end tag corresponding to start tag \"b\""),
        ("<b>x</i>", "Unmatched end tag at byte offset 4, expected \"</b>\", found \"</i>\""),
        ("x</b>", "Unexpected end tag at byte offset 1"),
        (
            "<a href>x</a>",
            "Expected equal sign in declaration of an attribute of the tag \"a\" at byte offset 0",
        ),
        ("<a href=https://x>x</a>", "Unexpected end of name token at byte offset 8"),
    ] {
        assert_eq!(parse(html).unwrap_err(), why, "{html}");
    }
}

#[tokio::test]
async fn methods_and_arguments_that_are_none_are_seen() {
    let server = Server::start();
    server.says(1, "hello");
    let (code, answer) = asked(&server.url(), "sendMesage", json!({})).await;
    assert_eq!((code, &answer["description"]), (404, &json!("Not Found: method not found")));
    let with = json!({ "chat_id": 1, "text": "x", "reply_to": 7 });
    assert_eq!(asked(&server.url(), "SENDMESSAGE", with).await.0, 200);
    assert_eq!(server.state().strays, ["sendmessage: reply_to"]);
    let (code, answer) = asked(&server.url(), "sendMessage", json!({ "chat_id": 2, "text": "x" })).await;
    assert_eq!((code, &answer["description"]), (400, &json!("Bad Request: chat not found")));
}

#[tokio::test]
async fn what_it_kept_is_there_after_a_start() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let before = Server::at(0, Some(&journal));
    before.says(1, "one");
    before.says(1, "two");
    let url = before.url();
    let (_, updates) = asked(&url, "getUpdates", json!({})).await;
    let first = updates["result"][0]["update_id"].as_i64().unwrap();
    asked(&url, "sendMessage", json!({ "chat_id": 1, "text": "answer" })).await;
    asked(&url, "getUpdates", json!({ "offset": first + 1 })).await;
    // Killed while it wrote.
    torn(&journal);
    let after = Server::at(0, Some(&journal));
    assert_eq!(after.texts(), ["answer"]);
    let waiting: Vec<Value> =
        after.state().queue.iter().map(|(.., update)| update["message"]["text"].clone()).collect();
    assert_eq!(waiting, ["two"]);
    after.says(1, "three");
    let (_, updates) = asked(&after.url(), "getUpdates", json!({})).await;
    let ids: Vec<i64> = updates["result"]
        .as_array()
        .unwrap()
        .iter()
        .map(|update| update["update_id"].as_i64().unwrap())
        .collect();
    assert!(ids.is_sorted() && ids.len() == 2 && ids[0] > first, "{ids:?}");
}

fn torn(journal: &Path) {
    let mut whole = std::fs::read(journal).unwrap();
    whole.extend_from_slice(b"{\"kept\":\"upd");
    std::fs::write(journal, whole).unwrap();
}
