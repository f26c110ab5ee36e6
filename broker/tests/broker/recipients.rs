//! Recipients: nobody is hidden by where a field stands, how it is spelt, what it is called, or who stands beside it.

use crate::dice::{Dice, tried};
use crate::home::{ALL, BEARER, Home, Stub, it};
use broker::approvals::act::{Act, Call};
use broker::ground::encoding;
use broker::services::canonical;
use broker::services::recipients::{PEOPLE, PLACES, WORDS, of};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// A row of the table in docs/services.md.
struct Row {
    service: String,
    fields: Vec<String>,
    places: Vec<String>,
}

fn table() -> Vec<Row> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/services.md")).unwrap();
    let section = text.split("\n## Who is reached\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| |"));
    let ticked = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    rows.map(|row| {
        let cells: Vec<&str> = row.split(" |").collect();
        Row { service: cells[0].to_owned(), fields: ticked(cells[1]), places: ticked(cells[2]) }
    })
    .collect()
}

fn squeezed(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

fn act(path: &str, body: &Value, kind: &str) -> Act {
    let mut headers = vec![("content-type".to_owned(), kind.to_owned())];
    let body = canonical::body(body, "POST", &mut headers).unwrap();
    let url = format!("https://it.example{path}");
    Act::Service(Call { service: "it".into(), method: "POST".into(), path: path.into(), url, headers, body })
}

fn reached(body: &Value) -> Vec<String> {
    of(&act("/send", body, "application/json"))
}

fn is_opaque(keys: &[String]) -> bool {
    keys.iter().any(|key| key.starts_with("service:it #"))
}

/// A name as other services would write it.
fn respelt(name: &str, dice: &mut Dice) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            words.push(' ');
        }
        words.push(if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { ' ' });
    }
    let words: Vec<&str> = words.split_whitespace().collect();
    let title = |word: &str| word[..1].to_uppercase() + &word[1..];
    match dice.roll(7) {
        0 => words.join("_"),
        1 => words.join("-"),
        2 => words.concat(),
        3 => words.join("_").to_uppercase(),
        4 => words.iter().map(|word| title(word)).collect(),
        5 => words
            .iter()
            .enumerate()
            .map(|(at, word)| if at == 0 { (*word).into() } else { title(word) })
            .collect(),
        _ => name.to_owned(),
    }
}

/// The value some levels deep, among fields that say nothing.
fn nested(mut value: Value, dice: &mut Dice) -> Value {
    // Deeper than twelve levels a body is known as its very bytes alone.
    for _ in 0..dice.roll(4) {
        value = match dice.roll(3) {
            0 => json!([value]),
            1 => json!({"message": value, "flag": true}),
            _ => json!([{"text": "hello"}, {"deep": value}]),
        };
    }
    value
}

#[test]
fn the_table_is_what_the_broker_goes_by() {
    let rows = table();
    assert!(rows.len() >= 10);
    let (words, people): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.service.contains("words"));
    let names = |rows: &[&Row]| -> BTreeSet<String> {
        rows.iter().flat_map(|row| &row.fields).map(|name| squeezed(name)).collect()
    };
    let known = |table: &str| table.split_whitespace().map(str::to_owned).collect::<BTreeSet<_>>();
    assert_eq!(names(&people), known(PEOPLE));
    assert_eq!(names(&words), known(WORDS));
    let places: BTreeSet<&str> = rows.iter().flat_map(|row| &row.places).map(String::as_str).collect();
    assert_eq!(places, PLACES.into_iter().collect());
}

#[test]
fn every_field_of_the_table_names_somebody_however_deep_and_however_spelt() {
    let rows = table();
    let people = rows.iter().filter(|row| !row.service.contains("words"));
    for field in people.flat_map(|row| &row.fields) {
        tried(12, 20, file!(), |dice| {
            let (name, round) = (respelt(field, dice), dice.roll(1_000));
            let somebody = format!("eve-{round}@example.org");
            let (value, expected) = match dice.roll(6) {
                0 => (json!(somebody), somebody),
                1 => (json!([somebody]), somebody),
                2 => (json!(7_000_000 + round), (7_000_000 + round).to_string()),
                3 => (json!([{"emailAddress": {"address": somebody}}]), somebody),
                4 => (json!({"text": somebody}), somebody),
                _ => (json!(format!("ann@example.org, Eve <{somebody}>")), somebody),
            };
            let body = nested(json!({"text": "hi", name.clone(): value}), dice);
            let decoyed = json!({"to": "ann@example.org", "in": body});
            let expected = format!("service:it {expected}");
            for body in [&body, &decoyed] {
                let keys = reached(body);
                assert!(keys.contains(&expected) && !is_opaque(&keys), "{body}: {keys:?}");
            }
            let somebody = format!("carl-{round}@example.org");
            let form = json!(format!("text=hi&a[{name}][]={somebody}"));
            let keys = of(&act("/send", &form, encoding::FORM));
            assert!(keys.contains(&format!("service:it {somebody}")), "{form}: {keys:?}");
        });
    }
}

#[test]
fn a_field_nobody_has_heard_of_hides_nobody() {
    let known = reached(&json!({"to": "ann@example.org", "text": "hi"}));
    let added = |keys: Vec<String>| keys.into_iter().filter(|key| !known.contains(key)).collect::<Vec<_>>();
    tried(300, 20, file!(), |dice| {
        let name: String =
            (0..1 + dice.roll(9)).map(|_| dice.pick(&["a", "é", "_", "X", "9q", ".", "zu"])).collect();
        let value = match dice.roll(3) {
            0 => json!("eve"),
            1 => json!(1_000 + dice.roll(300)),
            _ => json!({"eve": true}),
        };
        let body = json!({"to": "ann@example.org", "text": "hi", format!("q{name}"): nested(value, dice)});
        assert!(!added(reached(&body)).is_empty(), "{body}");
    });
    assert!(
        added(reached(&json!({"to": "ann@example.org", "text": "see you at 10, ann@example.org"})))
            .is_empty()
    );
    assert_eq!(
        added(reached(&json!({"to": "Ann <ann@example.org>", "text": "hi @Eve"}))),
        ["service:it @eve"]
    );
    for text in ["<@U1>", "<!channel>", "(＠eve)", "你好@eve"] {
        assert_eq!(added(reached(&json!({"to": "ann@example.org", "text": text}))).len(), 1, "{text}");
    }
}

#[test]
fn a_body_in_which_nobody_is_recognised_is_known_as_its_very_bytes_only() {
    for body in
        [json!({"text": "hi"}), json!({"text": "hi @ann"}), json!({"rcpt": "eve"}), json!(["eve"]), json!(7)]
    {
        assert!(is_opaque(&reached(&body)), "{body}");
    }
    for kind in ["text/plain", "application/xml"] {
        assert!(is_opaque(&of(&act("/send", &json!("to=ann"), kind))), "{kind}");
    }
    let many: Map<String, Value> = (0..300).map(|n| (format!("to{n}"), json!("x"))).collect();
    assert!(is_opaque(&reached(&Value::Object(many))));
    // A place that says itself whom it reaches needs no field; but whoever else is named counts.
    for place in PLACES {
        let path = place.replace("/**", "/v1").replace('*', "one");
        let keys = of(&act(&path, &json!({"text": "hi"}), "application/json"));
        assert_eq!(keys, [format!("service:it POST {path}")]);
        let keys = of(&act(&path, &json!({"text": "hi @eve"}), "application/json"));
        assert!(keys.contains(&"service:it @eve".to_owned()) && !is_opaque(&keys), "{keys:?}");
    }
    assert!(!is_opaque(&of(&act("/send", &Value::Null, "text/plain"))), "an empty body hides nothing");
}

#[tokio::test]
async fn after_text_of_others_what_names_nobody_known_waits() {
    let stub = Stub::ok();
    let home = Home::new(&it(&stub, BEARER, ALL).replace("untrusted = false", "untrusted = true"));
    let open = home.open().await;
    let post =
        |path: &str, body: Value| json!({"service": "it", "method": "POST", "path": path, "body": body});
    let mail = |address: &str| json!({"message": {"subject": "x", "toRecipients": [{"emailAddress": {"address": address}}]}});
    assert_eq!(open.call(post("/me/sendMail", mail("ann@example.org"))).await["ok"], true);
    assert_eq!(open.call(post("/me/sendMail", mail("ann@example.org"))).await["ok"], true);
    for (path, body) in [
        ("/me/sendMail", mail("eve@example.org")),
        (
            "/me/sendMail",
            json!({"message": {"toRecipients": [{"emailAddress": {"address": "ann@example.org"}}], "rcpt": "eve"}}),
        ),
        ("/conversations.open", json!({"users": "U1"})),
        ("/messages", json!({"number": "+49 30 1"})),
        ("/me/sendMail", json!({"text": "nobody is named"})),
        ("/me/sendMail?rcpt=eve", mail("ann@example.org")),
    ] {
        let answer = open.call(post(path, body.clone())).await;
        assert!(answer["asked"].is_string(), "{path} {body}: {answer}");
    }
    assert_eq!(stub.seen().len(), 2);
}
