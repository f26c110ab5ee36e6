//! An ask is told in words: what it would do, to whom, and each field of what it sends.

use console::asks::{title, told};
use serde_json::{Value, json};

fn act(method: &str, content_type: &str, body: &str) -> Value {
    json!({"kind": "service", "service": "x", "method": method, "path": "/2/tweets", "url": "https://api.example/2/tweets",
        "headers": [["accept", "*/*"], ["Content-Type", content_type]], "body": body})
}

fn shown(act: &Value) -> Vec<(String, String)> {
    told(act).into_iter().filter(|(name, _)| !["what", "where", "header"].contains(&name.as_str())).collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn a_body_of_json_is_told_field_by_field() {
    let body = json!({"text": "hello\nworld", "to": "Ann", "reply": {"in_reply_to": 7, "exclude": ["a", "b"]}, "quote": null});
    let act = act("POST", "application/json", &body.to_string());
    assert_eq!(title(&act), "Send to x");
    assert_eq!(told(&act)[0], ("what".to_owned(), "POST https://api.example/2/tweets".to_owned()));
    let expected = [
        ("whom", "to: Ann; reply.in_reply_to: 7"),
        ("text", "hello\nworld"),
        ("to", "Ann"),
        ("reply.in_reply_to", "7"),
        ("reply.exclude", "[\"a\",\"b\"]"),
        ("quote", "null"),
    ];
    assert_eq!(shown(&act), pairs(&expected), "nothing is left out");
}

#[test]
fn a_thread_is_told_part_by_part_with_its_pictures() {
    let picture = json!({"name": "a.png", "alt": "herons", "sha256": "5ad1"});
    let body = json!({"text": "one", "in_reply_to": "12", "thread": [{"text": "two", "pictures": [picture]}, {"text": "three"}]});
    let expected = [
        ("whom", "in_reply_to: 12"),
        ("text", "one"),
        ("in_reply_to", "12"),
        ("thread[0].text", "two"),
        ("thread[0].pictures[0].name", "a.png"),
        ("thread[0].pictures[0].alt", "herons"),
        ("thread[0].pictures[0].sha256", "5ad1"),
        ("thread[1].text", "three"),
    ];
    assert_eq!(shown(&act("POST", "application/json", &body.to_string())), pairs(&expected));
}

#[test]
fn a_form_and_a_plain_text_are_told_too() {
    let form = act("PUT", "application/x-www-form-urlencoded; charset=utf-8", "to=Ann+B&body=caf%C3%A9");
    assert_eq!(shown(&form), pairs(&[("whom", "to: Ann B"), ("to", "Ann B"), ("body", "café")]));
    let plain = act("DELETE", "text/plain", "away with it");
    assert_eq!((title(&plain).as_str(), shown(&plain)), ("Delete at x", pairs(&[("body", "away with it")])));
    assert_eq!(title(&act("GET", "", "")), "Read from x");
    let purpose = json!({"kind": "purpose", "text": "# Live\n"});
    assert_eq!(
        (title(&purpose).as_str(), shown(&purpose)),
        ("Rewrite PURPOSE.md", pairs(&[("text", "# Live\n")]))
    );
}

/// Found: an ask for a package was headed "Send to ", with nothing behind it.
#[test]
fn a_package_is_told_with_all_that_comes_with_it() {
    let act = json!({"kind": "package", "registry": "python", "name": "heron", "version": "1.0", "others": ["egret", "stork"]});
    assert_eq!(title(&act), "Install heron 1.0 and 2 more (python)");
    let told = told(&act);
    assert_eq!(told[0].1, "install heron 1.0 and 2 more (python)");
    assert!(told.contains(&("others".to_owned(), "egret, stork".to_owned())), "{told:?}");
}

#[test]
fn a_body_that_could_be_read_in_two_ways_is_told_as_it_is() {
    for body in [
        "{\"to\": \"Ann\", \"to\": \"Mallory\"}",
        "{\"to\": \"A\\u006en\"}",
        "[1, 2",
        "{\"a\": {\"b\": 1, \"b\": 2}}",
    ] {
        assert_eq!(shown(&act("POST", "application/json", body)), pairs(&[("body", body)]));
    }
    for form in ["to=%41nn", "to", "to=Ann&&x=1", "to=%FF"] {
        let of_form = shown(&act("POST", "application/x-www-form-urlencoded", form));
        assert_eq!(of_form, pairs(&[("body", form)]));
    }
    let spaced = shown(&act("POST", "application/json", "{ \"to\" :\n \"Ann \\\" B\" }"));
    assert_eq!(spaced, pairs(&[("whom", "to: Ann \" B"), ("to", "Ann \" B")]));
}

#[test]
fn odd_bodies_are_told_without_harm() {
    for odd in ["{", "[[[[", "\"text\"", "7", "null", "{\"a\": [[1], {\"b\": {}}]}"] {
        assert!(!told(&act("POST", "application/json", odd)).is_empty());
    }
}
