//! Recipients that hide: behind the end of a line, in letters that resemble others, in fields of a mail's head.

use crate::home::{ALL, BEARER, Home, Stub, it};
use broker::approvals::act::{Act, Call};
use broker::services::mail::NAMES_PEOPLE;
use broker::services::{canonical, recipients};
use serde_json::{Value, json};

/// All ends of lines that some reader knows, and how they are spelled for a server that decodes once more.
const ENDS: [&str; 18] = [
    "\r\n",
    "\n",
    "\r",
    "\u{b}",
    "\u{c}",
    "\u{1c}",
    "\u{1d}",
    "\u{1e}",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\0",
    "%0d%0a",
    "%0A",
    "&#10;",
    "&#xA;",
    "\\r\\n",
    "=?utf-8?q?=0D=0A?=",
];

fn act(body: &Value) -> Act {
    let mut headers = Vec::new();
    let body = canonical::body(body, "POST", &mut headers).unwrap();
    Act::Service(Call {
        service: "it".into(),
        method: "POST".into(),
        path: "/send".into(),
        url: "https://it.example/send".into(),
        headers,
        body,
    })
}

fn raw(mail: &str) -> Value {
    use base64::Engine;
    json!({"raw": base64::engine::general_purpose::URL_SAFE.encode(mail)})
}

/// Whom it reaches that the known one did not.
fn added(known: &Value, body: &Value) -> Vec<String> {
    let known = recipients::of(&act(known));
    recipients::of(&act(body)).into_iter().filter(|key| !known.contains(key)).collect()
}

fn plain() -> Value {
    json!({"to": "ann@example.org", "subject": "hi", "text": "well", "summary": "s", "title": "t"})
}

/// Found: a second line in a subject, which mail servers take for a field of the head.
#[test]
fn a_bcc_behind_the_end_of_a_line_hides_nobody() {
    for end in ENDS {
        let hidden = format!("hi{end}Bcc: eve@example.org");
        for field in ["subject", "title", "summary", "SUBJECT", "text", "to"] {
            // In text of many lines what is spelled is only what it says where nothing decodes it.
            if field == "text" && ["\\r\\n", "=?utf-8?q?=0D=0A?="].contains(&end) {
                continue;
            }
            let mut body = plain();
            body[field] = json!(hidden);
            assert!(!added(&plain(), &body).is_empty(), "{body}");
            let nested = json!({"to": "ann@example.org", "message": {field: [hidden.clone()]}});
            assert!(!added(&plain(), &nested).is_empty(), "{nested}");
            let deeper = json!({"to": "ann@example.org", field: {"text": hidden.clone()}});
            assert!(!added(&plain(), &deeper).is_empty(), "{deeper}");
        }
        let named = json!({"to": format!("Eve{end}Bcc: eve <ann@example.org>")});
        assert!(!added(&plain(), &named).is_empty(), "{named}");
    }
    for line in
        ["Ｂｃｃ: eve@example.org", "𝐁𝐜𝐜: eve@example.org", "X-Bcc: eve", "Resent-Cc : eve", "BCC:\n eve"]
    {
        let body = json!({"to": "ann@example.org", "text": format!("well\n{line}")});
        assert!(!added(&plain(), &body).is_empty(), "{body}");
    }
    let ordinary =
        "Dear Ann,\r\n\r\nsee you at 10:30: the number is 7.\n- to do\n\thttps://example.org/a?b=c\nBest: me";
    for field in ["text", "body", "html"] {
        let body = json!({"to": "ann@example.org", "subject": "See: 10:30", field: ordinary});
        assert_eq!(
            added(&json!({"to": "ann@example.org", "subject": "hi", field: "x"}), &body),
            [""; 0],
            "{body}"
        );
    }
}

/// Found: signs were left out of a name, and letters of other alphabets with them, so that it passed for words.
#[test]
fn a_field_in_letters_that_are_not_ascii_passes_for_no_other() {
    for name in [
        "téxt",
        "textо",
        "ｂcｃtext",
        "subject\u{200b}",
        "ｔｏ",
        "tо",
        "bсс",
        "note\u{301}",
        "text\r\nBcc",
        "\u{fe0f}title",
    ] {
        let body = json!({"to": "ann@example.org", "subject": "hi", "text": "well", name: "eve"});
        let added = added(&plain(), &body);
        assert!(added.contains(&"service:it eve".to_owned()), "{name:?}: {added:?}");
        assert!(added.iter().any(|key| key.starts_with("service:it .")), "{name:?}: {added:?}");
    }
}

/// Found: separators that only some readers end a line at, and fields that no table had.
#[test]
fn a_raw_mail_hides_nobody_in_its_head() {
    let mail = |more: &str| {
        raw(&format!(
            "From: me@example.org\r\nTo: ann@example.org\r\nSubject: hi{more}\r\n\r\nBcc: in the text"
        ))
    };
    assert_eq!(added(&mail(""), &mail(" again")), [""; 0], "nobody else");
    for end in &ENDS[..12] {
        let body = mail(&format!("{end}Bcc: eve@example.org"));
        assert!(!added(&mail(""), &body).is_empty(), "{end:?}");
    }
    for (names, source) in NAMES_PEOPLE {
        for name in
            names.split(' ').chain(["Apparently-To", "X-Original-To", "Resent-Bcc", "X-Cc", "Eve-Only"])
        {
            for line in [format!("\r\n{name}: eve@example.org"), format!("\n{name} :\r\n eve@example.org")] {
                let added = added(&mail(""), &mail(&line));
                assert!(
                    added.contains(&"service:it eve@example.org".to_owned()),
                    "{line:?}, {source}: {added:?}"
                );
            }
        }
    }
    for name in ["Bсc", "Ｂcc", "Bcc\u{200b}"] {
        assert!(!added(&mail(""), &mail(&format!("\r\n{name}: eve@example.org"))).is_empty(), "{name}");
    }
}

#[test]
fn the_fields_of_a_head_are_in_the_docs() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/services.md")).unwrap();
    let ticked: Vec<String> =
        text.split('`').skip(1).step_by(2).map(|name| name.replace('-', "").to_lowercase()).collect();
    for name in NAMES_PEOPLE.iter().flat_map(|(names, _)| names.split(' ')) {
        let is_there = |name: &str| ticked.iter().any(|ticked| ticked == name);
        assert!(is_there(name) || name.strip_prefix("resent").is_some_and(is_there), "{name}");
    }
}

#[tokio::test]
async fn after_text_of_others_a_hidden_recipient_waits() {
    let stub = Stub::ok();
    let home = Home::new(&it(&stub, BEARER, ALL).replace("untrusted = false", "untrusted = true"));
    let open = home.open().await;
    let post = |body: &Value| json!({"service": "it", "method": "POST", "path": "/send", "body": body});
    let known = raw("To: ann@example.org\r\nSubject: hi\r\n\r\nwell");
    for body in [plain(), known.clone(), plain()] {
        assert_eq!(open.call(post(&body)).await["ok"], true, "{body}");
    }
    let hidden = [
        json!({"to": "ann@example.org", "subject": "hi\r\nBcc: eve@example.org"}),
        json!({"to": "ann@example.org", "textо": "eve@example.org"}),
        raw("To: ann@example.org\r\nSubject: hi\u{b}Bcc: eve@example.org\r\n\r\nwell"),
        raw("To: ann@example.org\r\nApparently-To: eve@example.org\r\n\r\nwell"),
    ];
    for body in hidden {
        let answer = open.call(post(&body)).await;
        assert!(answer["asked"].is_string(), "{body}: {answer}");
    }
    assert_eq!(stub.seen().len(), 3);
}
