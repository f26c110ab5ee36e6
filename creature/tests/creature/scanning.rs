//! Sources that the purpose names: code looks at them, and a mind hears only of what is new.

use crate::broker::{self, Answer, Asked, StandIn, loopback};
use crate::house::TempHouse;
use crate::lived::Lived;
use serde_json::json;
use std::sync::{Arc, Mutex};

const MORNING: &str = "2026-05-28T06:00:00Z";

mod probation {
    use super::*;

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
