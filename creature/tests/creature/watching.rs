//! Watches: a page that changes, returns, breaks, moves and lies is told once for each change, and no model is asked.

use crate::broker::{self, Answer, Asked, StandIn, loopback};
use crate::house::{Script, TempHouse, thought};
use crate::lived::Lived;
use creature::watches::{Condition, Looked, Seen, Verdict, judge, number};
use regex::Regex;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A server of one page, which the test writes: status line and headers, then the body.
struct Server {
    address: String,
    page: Arc<Mutex<(String, String)>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let page = Arc::new(Mutex::new(("200 OK".to_owned(), String::new())));
        let shown = Arc::clone(&page);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut stream = stream;
                let mut request = [0; 2_048];
                let read = stream.read(&mut request).unwrap_or(0);
                let moved = String::from_utf8_lossy(&request[..read]).starts_with("GET /moved");
                let (head, body) = shown.lock().unwrap().clone();
                // What moved answers at its new place.
                let head = if moved { "200 OK".to_owned() } else { head };
                let answer = format!(
                    "HTTP/1.1 {head}\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                );
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Self { address, page }
    }

    fn shows(&self, head: &str, body: &str) {
        *self.page.lock().unwrap() = (head.to_owned(), body.to_owned());
    }
}

/// Gets a page as the broker does: over the network, redirects followed.
fn get(address: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    match head.lines().find_map(|line| line.strip_prefix("location: ")) {
        Some(to) => get(address, to),
        None => (status, body.to_owned()),
    }
}

/// A broker that fetches pages from this server and passes a model's answers on.
fn broker_of(server: &Server, asked: Arc<Mutex<usize>>) -> StandIn {
    let address = server.address.clone();
    StandIn::new(move |request: &Asked| match request.path.as_str() {
        "/status" => broker::status(broker::offer("openai"), &[]),
        "/web" => {
            let kind = vec![("content-type", "text/html".to_owned())];
            match get(&address, "/") {
                (200, body) => Answer::Is(200, kind, body),
                (status, _) => broker::answer(
                    502,
                    &json!({"error": {"type": "upstream", "message": format!("answered {status}")}}),
                ),
            }
        }
        _ => {
            *asked.lock().unwrap() += 1;
            let rest = json!({"monologue": "I rest.", "intent": "rest", "tool_calls": [], "sleep_s": 300});
            broker::answer(200, &crate::house::in_chat(&rest.to_string()))
        }
    })
}

/// What watches told the owner.
fn told(house: &TempHouse) -> Vec<String> {
    let records = house.records().into_iter();
    let asked_for = records.filter(|record| record.kind == "message" && record.data["kind"] == "asked_for");
    asked_for.map(|record| record.data["text"].as_str().unwrap().to_owned()).collect()
}

/// Lets a quarter of a minute go by, and waits until what is due was looked at.
async fn quarter(lived: &Lived, house: &TempHouse) {
    lived.pass(Duration::from_secs(15));
    lived.life.toolbox.watches.changed.notify_one();
    for _ in 0..6_000 {
        let kept = std::fs::read(house.path(".self/mind/watches.json")).unwrap_or_default();
        let kept: Value = serde_json::from_slice(&kept).unwrap_or_default();
        let now = *lived.hand().lock().unwrap();
        let is_done = |watch: &Value| {
            watch["next"].as_str().is_some_and(|next| next.parse::<jiff::Timestamp>().unwrap() > now)
        };
        if kept["list"].as_array().is_some_and(|list| list.iter().all(is_done)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("nobody looks");
}

async fn minute(lived: &Lived, house: &TempHouse) {
    for _ in 0..4 {
        quarter(lived, house).await;
    }
}

/// Makes a watch as a thought for the owner does.
async fn made(lived: &mut Lived, args: Value) -> Value {
    let Value::Object(args) = args else { panic!("no object") };
    let call = mind::thought::ToolCall { tool: "watch".to_owned(), args, ..Default::default() };
    let owner = creature::store::caller::Caller::owner("main");
    lived.life.lend(owner).call(&call).await.result
}

#[test]
fn in_a_real_life_a_file_is_told_within_a_minute_and_a_thought_that_takes_long_does_not_hold_it_up() {
    loopback!();
    let call = json!([{"tool": "watch", "args": {
        "file": ".self/workspace/build.log", "find": "BUILD (OK|FAILED)", "when": "appears", "every_s": 15, "say": "The build is over",
    }}]);
    let script = Script::sighted(move |shown| match shown.contains("tell me when the build is over") {
        // It thinks on and on, and the watch is told meanwhile.
        true if shown.contains("\"id\": \"watch-1\"") || shown.contains("watch-1") => {
            crate::house::Line::Hangs
        }
        true => thought("watch it", call.clone(), 0),
        false => thought("rest", json!([]), 300),
    });
    let house = TempHouse::with_model("openai", &script, 300);
    house.write(".self/workspace/build.log", "compiling\n");
    house.say(r#"{"text": "tell me when the build is over"}"#);
    let living = house.live(1);
    house.record("action", |data| data["tool"] == "watch" && data["result"]["ok"] == true);
    house.write(".self/workspace/build.log", "compiling\nBUILD FAILED\n");
    let said = house.record("message", |data| data["kind"] == "asked_for");
    // Whether the first look was before the end or after it.
    let text = said.data["text"].as_str().unwrap();
    assert!(
        text.starts_with("The build is over: ") && text.ends_with("FAILED (.self/workspace/build.log)"),
        "{text}"
    );
    assert!(living.leave().success());
}

#[test]
fn numbers_are_read_as_people_write_them() {
    for (text, found) in [
        ("Price: 49.90 EUR", 49.9),
        ("1.299,00 €", 1_299.0),
        ("$1,299.50", 1_299.5),
        ("1,299", 1_299.0),
        ("3,5 °C", 3.5),
        ("1.234.567", 1_234_567.0),
        ("-4.2", -4.2),
        ("it is 7.", 7.0),
        ("CHF 1'250.00", 1_250.0),
    ] {
        assert_eq!(number(text), Some(found), "{text}");
    }
    assert_eq!(number("none"), None);
}

/// Looks at texts one after another; what each told.
fn looks(when: &str, find: Option<&str>, texts: &[&str]) -> Vec<String> {
    let (when, find) = (Condition::read(when).unwrap(), find.map(|find| Regex::new(find).unwrap()));
    let mut seen = Seen::default();
    let mut look = |text: &&str| match judge(&when, find.as_ref(), text, &mut seen, true) {
        Verdict::Nothing => "-".to_owned(),
        Verdict::Unsure => "?".to_owned(),
        Verdict::Unreadable(_) => "!".to_owned(),
        Verdict::Tell { old, new } => format!("{old}>{new}"),
    };
    texts.iter().map(&mut look).collect()
}

#[test]
fn a_condition_is_told_when_it_begins_and_again_after_it_had_ended() {
    let price = Some(r"(\d+) EUR");
    let texts = ["50 EUR", "39 EUR", "35 EUR", "", "41 EUR", "38 EUR"];
    assert_eq!(looks("below 40", price, &texts), ["-", "50>39", "-", "!", "-", "41>38"]);
    assert_eq!(looks("number below 40", price, &["12 EUR"]), [">12"], "it holds already");
    let texts = ["soon", "TICKETS now", "TICKETS now", "soon", "TICKETS again"];
    assert_eq!(
        looks("appears", Some("TICKETS"), &texts),
        ["-", "nothing>TICKETS", "-", "-", "nothing>TICKETS"]
    );
    let texts = ["in stock", "sold out", "sold out", "in stock", "an error", "in stock"];
    assert_eq!(looks("disappears", Some("in stock"), &texts), ["-", "?", "in stock>nothing", "-", "?", "-"]);
    let texts = ["a\nb", "a\nc", "a\nb", "a\nd", "a\nd"];
    assert_eq!(
        looks("changed", None, &texts),
        ["-", "?", "-", "?", "b>d"],
        "a page that flickers is no news"
    );
}

#[test]
fn what_comes_too_often_is_told_together() {
    let mut watch: creature::watches::Watch = serde_json::from_value(json!({
        "id": "watch-1", "source": {"url": "http://a.example/"}, "every_s": 15, "find": r"(\d+)", "when": "changed",
        "say": "It is", "thread": "main", "owner": true, "at_most_every_s": 600,
        "made_at": "2026-05-28T12:00:00Z", "next": "2026-05-28T12:00:00Z",
    }))
    .unwrap();
    let mut told = Vec::new();
    for (minute, text) in [(0, "1"), (1, "2"), (2, "3"), (5, "4"), (12, "5")] {
        let now = format!("2026-05-28T12:{minute:02}:00Z").parse().unwrap();
        let said = creature::watches::task::judged(&mut watch, Ok(Looked::Text(text.to_owned())), now);
        if said.is_some() {
            watch.told_at = Some(now);
        }
        told.extend(said);
    }
    assert_eq!(told, ["It is: 1 → 2 (http://a.example/)", "It is: 2 → 5 (http://a.example/)"]);
}

#[test]
fn a_value_is_kept_within_bounds_and_a_feed_that_was_empty_tells_its_first_item() {
    let (all, mut seen) = (Regex::new("(?s).*").unwrap(), Seen::default());
    judge(&Condition::Changed, Some(&all), &"a heron ".repeat(20_000), &mut seen, true);
    assert!(seen.value.unwrap().len() <= 8_000);
    let mut seen = Seen::default();
    let look = |items: &[(&str, &str)], seen: &mut Seen| {
        let items: Vec<(String, String)> =
            items.iter().map(|(key, words)| ((*key).to_owned(), (*words).to_owned())).collect();
        creature::watches::items(None, &items, seen, true)
    };
    assert_eq!(look(&[], &mut seen), Verdict::Nothing);
    let Verdict::Tell { new, .. } = look(&[("1", "a heron came")], &mut seen) else { panic!("not told") };
    assert_eq!(new, "a heron came");
}

/// Tests that take long, which run beside a newborn.
mod probation {
    use super::*;

    #[tokio::test]
    async fn a_page_that_changes_returns_breaks_moves_and_lies_is_told_once_for_each_change_without_a_model()
    {
        loopback!();
        let (server, asked) = (Server::start(), Arc::new(Mutex::new(0)));
        let page = |price: &str| {
            format!(
                "<html><title>Kettle</title><p>Free delivery in 3 days</p><p>Price: {price} EUR</p></html>"
            )
        };
        server.shows("200 OK", &page("49.90"));
        let stand_in = broker_of(&server, Arc::clone(&asked));
        let mut house = TempHouse::new();
        house.broker = Some(stand_in.base());
        let mut lived = Lived::born(&house, "2026-05-28T12:00:00Z", 1).await;
        lived.wake().await;
        let call = json!({
            "url": "http://shop.example/kettle", "every_s": 15, "find": r"Price: ([\d.,]+)", "say": "The kettle's price"
        });
        let made = made(&mut lived, call).await;
        assert_eq!(made["ok"], true, "{made}");
        let before = *asked.lock().unwrap();
        let mut expected: Vec<&str> = Vec::new();
        let arrow =
            |from: &str, to: &str| format!("The kettle's price: {from} → {to} (http://shop.example/kettle)");
        minute(&lived, &house).await;
        assert_eq!(told(&house), expected, "the first look is what it was");
        // It changes, and returns.
        server.shows("200 OK", &page("39.90"));
        minute(&lived, &house).await;
        let fell = arrow("49.90", "39.90");
        expected.push(&fell);
        assert_eq!(told(&house), expected);
        server.shows("200 OK", &page("49.90"));
        minute(&lived, &house).await;
        let rose = arrow("39.90", "49.90");
        expected.push(&rose);
        assert_eq!(told(&house), expected, "a page that returns is news");
        // It lies: a page without the price, with status 200; then nothing at all. For a moment that is nobody's news.
        server.shows("200 OK", "<html><p>Are you a human?</p></html>");
        quarter(&lived, &house).await;
        server.shows("200 OK", &page("49.90"));
        minute(&lived, &house).await;
        assert_eq!(told(&house), expected, "a lie is no change");
        // It breaks, and stays so; then it moves, with the same price.
        server.shows("500 Internal Server Error", "sorry");
        minute(&lived, &house).await;
        minute(&lived, &house).await;
        let now = told(&house);
        assert_eq!(now.len(), 3, "told once that it is broken: {now:?}");
        assert!(now[2].starts_with("I cannot look at http://shop.example/kettle"), "{}", now[2]);
        server.shows("301 Moved Permanently\r\nlocation: /moved", &page("49.90"));
        minute(&lived, &house).await;
        let now = told(&house);
        assert_eq!(now.len(), 4, "{now:?}");
        assert!(now[3].contains("can be looked at again"), "{}", now[3]);
        server.shows("301 Moved Permanently\r\nlocation: /moved", &page("19,00"));
        minute(&lived, &house).await;
        assert_eq!(told(&house).last().unwrap(), &arrow("49.90", "19,00"));
        assert_eq!(*asked.lock().unwrap(), before, "no model was asked");
        // What was seen outlives the life: the next tells nothing again.
        drop(lived);
        let lived = Lived::born(&house, "2026-05-28T13:00:00Z", 2).await;
        minute(&lived, &house).await;
        assert_eq!(told(&house).len(), 5);
    }

    #[tokio::test]
    async fn what_a_watch_of_its_own_told_is_heard_by_the_next_life_where_this_one_ends_before_a_thought() {
        loopback!();
        let script = Script::sighted(|_| thought("rest", json!([]), 300));
        let house = TempHouse::with_model("openai", &script, 300);
        house.write(".self/workspace/tide.txt", "low\n");
        let mut lived = Lived::born(&house, "2026-05-28T12:00:00Z", 1).await;
        lived.wake().await;
        let Value::Object(args) =
            json!({"file": ".self/workspace/tide.txt", "every_s": 15, "find": "low|high", "say": "The tide"})
        else {
            panic!("no object")
        };
        let call = mind::thought::ToolCall { tool: "watch".to_owned(), args, ..Default::default() };
        let made = lived.life.lend(creature::store::caller::Caller::own()).call(&call).await.result;
        assert_eq!(made["ok"], true, "{made}");
        minute(&lived, &house).await;
        house.write(".self/workspace/tide.txt", "high\n");
        minute(&lived, &house).await;
        drop(lived);
        let mut lived = Lived::born(&house, "2026-05-28T13:00:00Z", 2).await;
        for _ in 0..3 {
            lived.wake().await;
        }
        let asked = script.asked.lock().unwrap().clone();
        let heard =
            asked.iter().any(|asked| asked.to_string().contains("watch-1 tells: The tide: low → high"));
        assert!(heard, "the news was lost with the life");
        let kept = std::fs::read_to_string(house.path(".self/mind/watches.json")).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&kept).unwrap()["news"], json!([]), "it is told again");
    }

    #[tokio::test]
    async fn a_clock_that_is_set_back_does_not_keep_a_watch_from_looking() {
        loopback!();
        let script = Script::sighted(|_| thought("rest", json!([]), 300));
        let house = TempHouse::with_model("openai", &script, 300);
        house.write(".self/workspace/tide.txt", "low\n");
        let mut lived = Lived::born(&house, "2026-05-28T12:00:00Z", 1).await;
        lived.wake().await;
        let call =
            json!({"file": ".self/workspace/tide.txt", "every_s": 15, "find": "low|high", "say": "The tide"});
        assert_eq!(made(&mut lived, call).await["ok"], true);
        minute(&lived, &house).await;
        *lived.hand().lock().unwrap() = "2026-05-28T06:00:00Z".parse().unwrap();
        house.write(".self/workspace/tide.txt", "high\n");
        let mut looks = 0;
        while told(&house).is_empty() {
            looks += 1;
            assert!(looks < 6_000, "nobody looks");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(told(&house)[0].starts_with("The tide: low → high"), "{:?}", told(&house));
    }
}
