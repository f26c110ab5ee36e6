//! What is shown and looked for: heads in clean lines, HTML as text, names of folders, words of a search.

use mail::folders::Place;
use mail::query::Sought;
use mail::{message, names};

#[test]
fn a_head_is_shown_without_what_steers_a_terminal() {
    let raw = b"From: =?utf-8?q?Ann=1B[31m_=E2=80=AEred?= <ann@example.org>\r\nTo: me@example.org\r\n\
        Subject: =?utf-8?b?R3LDvMOfZQ==?=\r\n folded\r\nReturn-Path: <>\r\n\r\nHello\x07 there\r\n";
    let message = message::parse(raw).unwrap();
    let head = message::head(&message);
    assert!(head.contains("From: Ann [31m red <ann@example.org>\n"), "{head}");
    assert!(head.contains("Subject: Grüße folded\n"), "{head}");
    assert!(head.contains("Automatic: it has no address for returns"), "{head}");
    assert_eq!(message::text(&message), "Hello there");
}

/// Found by the trial: a field that the parser knows by a name of its own was looked for as an unknown one.
#[test]
fn what_no_person_wrote_is_known_by_its_head() {
    for (head, is_automatic) in [
        ("Auto-Submitted: auto-generated", true),
        ("auto-submitted: auto-replied; reason=away", true),
        ("Auto-Submitted: no", false),
        ("Return-Path: <>", true),
        ("Return-Path: <ann@example.org>", false),
        ("Subject: Auto-Submitted: auto-replied", false),
    ] {
        let raw = format!("From: ann@example.org\r\n{head}\r\n\r\nx\r\n");
        let message = message::parse(raw.as_bytes()).unwrap();
        assert_eq!(message::automatic(&message).is_some(), is_automatic, "{head}");
    }
}

#[test]
fn html_is_read_as_text() {
    let raw =
        b"Content-Type: text/html; charset=utf-8\r\n\r\n<p>Dear <b>you</b>,</p><script>steal()</script>\
        <p><a href=\"https://example.org/x\">look</a></p>";
    let text = message::text(&message::parse(raw).unwrap());
    assert!(text.contains("Dear") && text.contains("https://example.org/x"), "{text}");
    assert!(!text.contains("steal"), "{text}");
}

/// HTML of others may be nested without end.
#[test]
fn deep_html_ends_nothing() {
    let html = format!("Content-Type: text/html\r\n\r\nbegin{}", "<div>".repeat(100_000));
    let text = message::text(&message::parse(html.as_bytes()).unwrap());
    assert!(!text.is_empty());
}

#[test]
fn names_of_folders_are_read_as_imap_writes_them() {
    // The example of RFC 3501, 5.1.3.
    for (name, written) in [
        ("~peter/mail/台北/日本語", "~peter/mail/&U,BTFw-/&ZeVnLIqe-"),
        ("Entwürfe", "Entw&APw-rfe"),
        ("A&B", "A&-B"),
        ("INBOX", "INBOX"),
    ] {
        assert_eq!(names::read(written), name);
    }
    for odd in ["&", "&AP", "&A-", "&//8-x"] {
        assert_eq!(names::read(odd), odd, "it is shown as it is");
    }
}

#[test]
fn a_search_says_no_more_than_was_asked() {
    let words = |arguments: serde_json::Value, literals| {
        serde_json::from_value::<Sought>(arguments).unwrap().words(literals)
    };
    let of = serde_json::json!({"from": "ann\" OR ALL", "since": "2026-01-31", "unseen": true});
    assert_eq!(words(of, false).unwrap(), "FROM \"ann\\\" OR ALL\" SINCE 31-Jan-2026 UNSEEN");
    assert_eq!(words(serde_json::json!({}), false).unwrap(), "ALL");
    let of = serde_json::json!({"subject": "Grüße"});
    assert_eq!(words(of.clone(), true).unwrap(), "CHARSET UTF-8 SUBJECT {7+}\r\nGrüße");
    assert!(words(of, false).unwrap_err().contains("only ASCII"));
    for odd in [
        serde_json::json!({"text": "a\r\nLOGOUT"}),
        serde_json::json!({"since": "tomorrow"}),
        serde_json::json!({"before": "2026-13-01"}),
    ] {
        assert!(words(odd.clone(), true).is_err(), "{odd}");
    }
}

#[test]
fn a_place_is_read_as_it_is_written() {
    let place = Place { folder: "a:b/c".into(), validity: 7, uid: 9 };
    assert_eq!(Place::read(&place.to_string()).unwrap(), place);
    for odd in ["", "5", "INBOX:5", "INBOX:x:5", ":1:5"] {
        assert!(Place::read(odd).is_err(), "{odd}");
    }
}
