//! Sources that the purpose names: code looks at them, and a mind hears only of what is new.

use crate::broker::{self, Answer, Asked, StandIn, loopback};
use crate::house::TempHouse;
use crate::lived::Lived;
use serde_json::json;
use std::sync::{Arc, Mutex};

const MORNING: &str = "2026-05-28T06:00:00Z";

mod probation {
    use super::*;

    /// A feed whose oldest item stands first, and a page with a clock; each look at the feed finds one item more.
    #[tokio::test]
    async fn a_life_on_instinct_tells_each_item_and_each_sentence_once() {
        loopback!();
        let looks = Arc::new(Mutex::new(0_usize));
        let counted = Arc::clone(&looks);
        let stand_in = StandIn::new(move |asked: &Asked| {
            if asked.path != "/web" {
                return broker::status(json!(null), &[]);
            }
            let mut looks = counted.lock().unwrap();
            let kind = |kind: &str| vec![("content-type", kind.to_owned())];
            match asked.query["url"].as_str() {
                "https://t.example/feed" => {
                    *looks += 1;
                    let item = |n: usize| {
                        format!(
                            "<item><title>Item {n}.</title><guid>https://t.example/{n}</guid>\
                            <pubDate>{:02} May 2026 10:00:{:02} GMT</pubDate></item>",
                            1 + n / 60,
                            n % 60
                        )
                    };
                    let items: String = (1..=20 + *looks).map(item).collect();
                    let body = format!(
                        "<rss version=\"2.0\"><channel><title>Fish & chips</title>{items}</channel></rss>"
                    );
                    Answer::Is(200, kind("application/rss+xml"), body)
                }
                "https://t.example/clock" => {
                    let body = format!(
                        "<p>It says the same to all who come here.</p><p>Rendered at 10:15:{:02} in 0.{} s.</p>",
                        *looks % 60,
                        *looks
                    );
                    Answer::Is(200, kind("text/html"), body)
                }
                _ => Answer::Is(200, kind("text/html"), "<p>A page with words on it.</p>".to_owned()),
            }
        });
        let mut house = TempHouse::new();
        house.broker = Some(stand_in.base());
        house.write(
            "PURPOSE.md",
            "# Purpose\n\nfeed: https://t.example/feed\npage: https://t.example/clock\n",
        );
        let mut lived = Lived::born(&house, MORNING, 1).await;
        while *looks.lock().unwrap() < 4 {
            lived.wake().await;
        }
        drop(lived);
        let mut lived = Lived::born(&house, "2026-05-28T09:00:00Z", 2).await;
        while *looks.lock().unwrap() < 9 {
            lived.wake().await;
        }
        let read: Vec<String> =
            stand_in.heard("/web").iter().map(|asked| asked.query["url"].clone()).collect();
        let of = |n: usize| read.iter().filter(|url| **url == format!("https://t.example/{n}")).count();
        // The three newest at first, and each that came after.
        let newest = *looks.lock().unwrap() + 20;
        assert_eq!((1..=18).map(of).sum::<usize>(), 0, "{read:?}");
        assert_eq!((19..newest).map(of).collect::<Vec<_>>(), vec![1; newest - 19], "{read:?}");
        let notes = std::fs::read_to_string(house.path("self/notes/2026-05-t-example.md")).unwrap();
        assert_eq!(notes.matches("It says the same to all").count(), 1, "{notes}");
    }

    #[tokio::test]
    async fn sources_are_looked_at_by_code_and_only_what_is_new_is_an_event() {
        loopback!();
        let titles = Arc::new(Mutex::new(vec!["First"]));
        let (serving, seen) = (Arc::clone(&titles), Arc::new(Mutex::new(Vec::new())));
        let noting = Arc::clone(&seen);
        let stand_in = StandIn::new(move |asked: &Asked| match asked.path.as_str() {
            "/status" => broker::status(broker::offer("openai"), &[]),
            "/web" => {
                let item = |title: &&str| {
                    format!("<item><title>{title}</title><link>http://t.example/{title}</link></item>")
                };
                let items: String = serving.lock().unwrap().iter().map(item).collect();
                let body = format!(
                    "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>T</title>{items}</channel></rss>"
                );
                Answer::Is(200, vec![("content-type", "application/rss+xml".to_owned())], body)
            }
            _ => {
                noting.lock().unwrap().push(asked.body["messages"].to_string());
                let said =
                    json!({"monologue": "m", "intent": "rest", "tool_calls": [], "sleep_s": 300}).to_string();
                broker::answer(
                    200,
                    &json!({"model": "s", "choices": [{"finish_reason": "stop",
                "message": {"role": "assistant", "content": said}}], "usage": {}}),
                )
            }
        });
        let mut house = TempHouse::new();
        house.broker = Some(stand_in.base());
        house.write("PURPOSE.md", "# Purpose\n\nfeed: https://t.example/feed\n");
        let mut lived = Lived::born(&house, MORNING, 1).await;
        for _ in 0..40 {
            lived.wake().await;
        }
        let looks = stand_in.heard("/web").len();
        assert!(looks > 5, "{looks} looks");
        assert_eq!(seen.lock().unwrap().len(), 1, "what was there from the first is no news");
        assert!(seen.lock().unwrap()[0].contains("First"));
        titles.lock().unwrap().insert(0, "Second");
        for _ in 0..4 {
            lived.wake().await;
        }
        let said = seen.lock().unwrap().clone();
        assert_eq!(said.len(), 2);
        assert!(said[1].contains("Second") && said[1].contains("has news"), "{}", said[1]);
    }
}

/// Found: nothing scanned platforms: there was no switch, no interval and no list of them.
#[tokio::test]
async fn platforms_of_the_owners_are_looked_at_at_their_interval() {
    loopback!();
    let stand_in = StandIn::new(|asked: &Asked| match asked.path.as_str() {
        "/status" => broker::status(broker::offer("openai"), &["jobs", "asks-first"]),
        "/web" => Answer::Is(
            200,
            vec![("content-type", "text/html".to_owned())],
            "<p>A logo is wanted by a bakery.</p>".to_owned(),
        ),
        "/service" if asked.body["service"] == "jobs" => {
            broker::passed(200, &json!([{"title": "translate a letter from German"}]))
        }
        "/service" => broker::waiting("7"),
        _ => {
            let said =
                json!({"monologue": "m", "intent": "rest", "tool_calls": [], "sleep_s": 300}).to_string();
            broker::answer(200, &crate::house::in_chat(&said))
        }
    });
    let handed = |enabled: bool| {
        let platforms = ["https://gigs.example/new", "jobs/open", "asks-first"];
        let revenue = json!({"enabled": enabled, "scan_interval_minutes": 60, "platforms": platforms});
        let rest = json!({"shortest_s": 1, "longest_s": 300, "quiet_s": 1_800});
        json!({"life": 1, "told": [], "settings": {"rest": rest, "revenue": revenue}}).to_string()
    };
    let mut house = TempHouse::new();
    house.broker = Some(stand_in.base());
    house.write(".self/settings.json", handed(true));
    let mut lived = Lived::born(&house, MORNING, 1).await;
    let ends = lived.life.store.clock.now().checked_add(jiff::SignedDuration::from_mins(179)).unwrap();
    while lived.life.store.clock.now() < ends {
        lived.wake().await;
    }
    let gets = |name: &str| {
        let of = stand_in.heard("/service");
        of.iter().filter(|asked| asked.body["service"] == name && asked.body["method"] == "GET").count()
    };
    assert!((3..=4).contains(&gets("jobs")), "{} looks in three hours", gets("jobs"));
    assert!((3..=4).contains(&stand_in.heard("/web").len()), "{} looks", stand_in.heard("/web").len());
    assert_eq!(stand_in.heard("/service")[0].body["path"], "/open");
    assert_eq!(gets("asks-first"), 1, "what would ask the owner each time is left alone for a day");
    let told = |part: &str| {
        house.records().iter().any(|one| one.data["text"].as_str().is_some_and(|text| text.contains(part)))
    };
    assert!(told("gigs.example says") && told("A logo is wanted by a bakery"));
    assert!(told("jobs says") && told("translate a letter") && told("becomes an opportunity"));
    // Switched off, nothing is looked at any more.
    house.write(".self/settings.json", handed(false));
    let before = (gets("jobs"), stand_in.heard("/web").len());
    for _ in 0..12 {
        lived.wake().await;
    }
    assert_eq!((gets("jobs"), stand_in.heard("/web").len()), before);
}
