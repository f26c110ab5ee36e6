//! An ask is told in words: what it would do, to whom, and each field of what it sends.

use console::page::preview::of;
use serde_json::{Value, json};

fn act(method: &str, content_type: &str, body: &str) -> Value {
    json!({"kind": "service", "service": "x", "method": method, "path": "/2/tweets", "url": "https://api.example/2/tweets",
        "headers": [["accept", "*/*"], ["Content-Type", content_type]], "body": body})
}

fn fields(act: &Value) -> Vec<(String, String)> {
    of(act).fields
}

#[test]
fn a_body_of_json_is_told_field_by_field() {
    let body = json!({"text": "hello\nworld", "reply": {"in_reply_to": 7, "exclude": ["a", "b"]}, "quote": null, "for": [{"name": "Ann"}]});
    let told = of(&act("POST", "application/json", &body.to_string()));
    assert_eq!(told.title, "Send to x");
    let pairs: Vec<(&str, &str)> =
        told.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(
        pairs,
        [
            ("Where", "POST https://api.example/2/tweets"),
            ("Text", "hello\nworld"),
            ("Reply in reply to", "7"),
            ("Reply exclude", "a, b"),
            ("For 1 name", "Ann"),
        ]
    );
    assert!(!told.is_cut);
}

#[test]
fn a_form_and_a_plain_text_are_told_too() {
    let form =
        fields(&act("PUT", "application/x-www-form-urlencoded; charset=utf-8", "to=Ann+B&body=caf%C3%A9"));
    assert_eq!(form[1..], [("To".into(), "Ann B".into()), ("Body".into(), "café".into())]);
    let plain = of(&act("DELETE", "text/plain", "away with it"));
    assert_eq!((plain.title.as_str(), &plain.fields[1].1[..]), ("Delete at x", "away with it"));
    let read = of(&act("GET", "", ""));
    assert_eq!((read.title.as_str(), read.fields.len()), ("Read from x", 1));
    let purpose = of(&json!({"kind": "purpose", "text": "# Live\n"}));
    assert_eq!(purpose.title, "Rewrite PURPOSE.md");
    assert_eq!(purpose.fields, [("New text".to_owned(), "# Live".to_owned())]);
}

#[test]
fn a_body_that_could_be_read_in_two_ways_is_told_as_it_is() {
    for body in [
        "{\"to\": \"Ann\", \"to\": \"Mallory\"}",
        "{\"to\": \"A\\u006en\"}",
        "[1, 2",
        "{\"a\": {\"b\": 1, \"b\": 2}}",
    ] {
        let told = fields(&act("POST", "application/json", body));
        assert_eq!(told[1..], [("Text".to_owned(), body.to_owned())]);
    }
    let spaced = fields(&act("POST", "application/json", "{ \"to\" :\n \"Ann \\\" B\" }"));
    assert_eq!(spaced[1..], [("To".to_owned(), "Ann \" B".to_owned())]);
}

#[test]
fn what_is_left_out_is_said_to_be() {
    let long = of(&act("POST", "text/plain", &"a".repeat(5_000)));
    assert!(long.is_cut && long.fields[1].1.len() < 1_300);
    let many: Value = (0..40)
        .map(|number| (format!("field{number}"), json!(number)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let many = of(&act("POST", "application/json", &many.to_string()));
    assert!(many.is_cut && many.fields.len() == 12, "{many:?}");
    for odd in ["{", "[[[[", "\"text\"", "7", "null", "{\"a\": [[1], {\"b\": {}}]}"] {
        let _ = of(&act("POST", "application/json", odd));
    }
}
