//! Paths spelt by an adversary: whatever reaches a server is what was judged, however generously it is read.

use crate::dice::{Dice, tried};
use crate::home::{BEARER, Home, Stub, it};
use broker::ground::globs;
use broker::policy::{Policy, Rule, Verdict};
use broker::services::{canonical, rules};
use reqwest::Url;
use serde_json::json;
use std::cell::Cell;

const RULES: &str = r#"{ method = "*", path = "/open/secret/**", do = "deny" }, { method = "GET", path = "/open/**", do = "allow" }"#;

/// What a path is made of: names that matter, and every trick to spell them otherwise.
const PARTS: [&str; 42] = [
    "open",
    "secret",
    "admin",
    "x",
    "OPEN",
    "Secret",
    "/",
    "/",
    "/",
    "/",
    "//",
    "/./",
    "/../",
    "..",
    ".",
    "%2e",
    "%2E%2e",
    "%2f",
    "%2F",
    "%5c",
    "\\",
    "%252e%252e",
    "%252f",
    ";",
    ";a=b",
    "%3b",
    "%00",
    "%0a",
    "\t",
    " ",
    "%20",
    "%c0%ae",
    "%ef%bc%8f",
    "\u{ff0f}",
    "\u{2024}",
    "?",
    "#",
    "@",
    "http://",
    "%73ecret",
    "%2573ecret",
    "se%63ret",
];

fn adversarial(dice: &mut Dice) -> String {
    let mut path = dice.pick(&["/open/", "/", "", "/open/x/", "/OPEN/"]).to_owned();
    for _ in 0..=dice.roll(7) {
        path.push_str(dice.pick(&PARTS));
    }
    path
}

/// Everything a server may take a path for: decoded until nothing changes, in one case, its dots walked.
fn as_read_by_anybody(path: &str) -> Vec<String> {
    let mut text = path.split(['?', '#']).next().unwrap().to_owned();
    for _ in 0..5 {
        let mut bytes = Vec::new();
        let raw = text.as_bytes();
        let mut at = 0;
        while at < raw.len() {
            let digits = raw.get(at + 1..at + 3).and_then(|two| std::str::from_utf8(two).ok());
            match digits.and_then(|two| u8::from_str_radix(two, 16).ok()).filter(|_| raw[at] == b'%') {
                Some(byte) => {
                    bytes.push(byte);
                    at += 3;
                }
                None => {
                    bytes.push(raw[at]);
                    at += 1;
                }
            }
        }
        // An overlong dot is a dot to those who do not look.
        let mut lossy = Vec::new();
        let mut rest = bytes.as_slice();
        while let Some((&first, tail)) = rest.split_first() {
            let overlong = first == 0xc0 && tail.first() == Some(&0xae);
            lossy.push(if overlong { b'.' } else { first });
            rest = if overlong { &tail[1..] } else { tail };
        }
        text = String::from_utf8_lossy(&lossy).into_owned();
    }
    let text = text.replace(['\\', '\u{ff0f}'], "/").replace('\u{2024}', ".").to_lowercase();
    let mut walked: Vec<String> = Vec::new();
    for segment in text.split('/') {
        let bare: String =
            segment.split(';').next().unwrap().chars().filter(|letter| !letter.is_control()).collect();
        match bare.trim() {
            "" | "." => {}
            ".." => drop(walked.pop()),
            name => walked.push(name.to_owned()),
        }
    }
    walked
}

fn is_forbidden(path: &str) -> bool {
    let read = as_read_by_anybody(path);
    read.first().is_none_or(|first| first != "open") || read.get(1).is_some_and(|second| second == "secret")
}

fn parsed() -> Vec<Rule> {
    let text = format!("[services.it]\nbase_url = \"https://a.example\"\nrules = [{RULES}]\n");
    Policy::read(&text).unwrap().services["it"].rules.clone()
}

fn allowed(rules: &[Rule], path: &str) -> bool {
    rules::judge(rules, "GET", path).is_some_and(|rule| rule.verdict == Verdict::Allow)
}

#[test]
fn no_path_that_is_allowed_can_be_read_as_one_that_is_not() {
    let rules = parsed();
    let (passed, refused, fooled) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let count = |of: &Cell<u32>| of.set(of.get() + 1);
    tried(50_000, 10, file!(), |dice| {
        let given = adversarial(dice);
        // The twin: a broker that judges what it is given and lets the URL parser do the rest.
        let naive = Url::parse("http://a").unwrap().join(given.trim()).map(|url| url.path().to_owned());
        if allowed(&rules, &given) && naive.as_deref().is_ok_and(is_forbidden) {
            count(&fooled);
        }
        match canonical::path(&given) {
            Ok((path, _)) if allowed(&rules, &path) => {
                count(&passed);
                assert!(!is_forbidden(&path), "{given:?} was let through as {path:?}");
                assert_eq!(canonical::path(&path).unwrap().0, path, "not one spelling of {given:?}");
                let url = broker::services::upstream::address("http://a", &path, &[]).unwrap();
                assert_eq!(url.path(), path, "{given:?} is sent differently");
            }
            _ => count(&refused),
        }
    });
    let [passed, refused, fooled] = [passed, refused, fooled].map(Cell::into_inner);
    println!("{passed} passed, {refused} refused, {fooled} would have fooled a naive broker");
    assert!(passed > 250 && refused > 2_500 && fooled > 250, "{passed} {refused} {fooled}");
}

#[tokio::test]
async fn a_thousand_adversarial_paths_over_the_wire() {
    let stub = Stub::ok();
    let home = Home::new(&it(&stub, BEARER, RULES));
    let open = home.open().await;
    let (mut dice, mut sent) = (Dice::fixed(10_000), 0);
    for _ in 0..1_000 {
        let given = adversarial(&mut dice);
        let before = stub.seen().len();
        let answer = open.call(json!({"service": "it", "method": "GET", "path": given})).await;
        let seen = stub.seen();
        if answer["ok"] == true {
            sent += 1;
            assert_eq!(seen.len(), before + 1);
            let path = seen.last().unwrap().path().to_owned();
            assert_eq!(path, canonical::path(&given).unwrap().0, "{given:?}: judged and sent differ");
            assert!(!is_forbidden(&path), "{given:?} reached {path:?}");
        } else {
            assert_eq!(seen.len(), before, "{given:?} was refused and sent: {answer}");
        }
    }
    println!("{sent} of 1000 sent");
    assert!(sent > 5, "{sent}");
}

#[test]
fn one_spelling() {
    let same = |given: &str| canonical::path(given).map(|(path, _)| path).map_err(|unfit| unfit.error);
    assert_eq!(same("/%41%2d%7E/b"), Ok("/A-~/b".to_owned()));
    assert_eq!(same("/a b/@me/x:y"), Ok("/a%20b/@me/x:y".to_owned()));
    assert_eq!(same("/a/"), Ok("/a/".to_owned()));
    assert_eq!(same("/%40me"), Ok("/@me".to_owned()));
    for bad in [
        "",
        "a",
        "//a",
        "/a//b",
        "/a/./b",
        "/a/..",
        "/%2e%2E/a",
        "/a%2fb",
        "/a%5cb",
        "/a\\b",
        "/%25",
        "/%zz",
        "/a;b",
        "/\u{e9}",
        "/%c3%a9",
        "/a\n",
        "/...",
        "/a%20",
        "/ a",
        "/a.",
        "/a#b",
    ] {
        assert!(same(bad).is_err(), "{bad:?}");
    }
    assert_eq!(canonical::path("/a?b=c").unwrap().1, Some("b=c"));
}

#[test]
fn patterns_fit_whole_paths() {
    for (pattern, path, fits) in [
        ("/2/users/*", "/2/users/me", true),
        ("/2/users/*", "/2/users/", false),
        ("/2/users/*", "/2/users/me/x", false),
        ("/2/**", "/2", true),
        ("/2/**", "/2/a/b/", true),
        ("/**", "/", true),
        ("/**/x", "/a/b/x", true),
        ("/**/x", "/a/b/y", false),
        ("/a/*:mute", "/a/7:mute", true),
        ("/a/*:mute", "/a/7:mutes", false),
        ("/a/v*/b*c", "/a/v1/bxxc", true),
        ("/a", "/a/", false),
        ("/%61", "/a", true),
    ] {
        assert_eq!(globs::matches(pattern, path), fits, "{pattern} {path}");
    }
}
