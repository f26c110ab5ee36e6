//! The world behind the stand-in broker: a model, a feed and a mailbox, each over real HTTP, and what they saw.

use super::clock::Time;
use super::script;
use super::world::offered;
use crate::broker::{self, Answer, Asked, StandIn};
use crate::house::in_chat;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard};

/// One request to the model, and what it answered.
#[derive(Clone, Debug)]
pub struct Ask {
    pub at: Timestamp,
    pub system: String,
    pub text: String,
    pub autonomous: bool,
    pub reply: Value,
}

impl Ask {
    /// What stands under a heading; empty where there is none that begins so.
    pub fn section(&self, title: &str) -> &str {
        section(&self.text, title)
    }

    /// The owner's words in it.
    pub fn words(&self) -> &str {
        self.section("Your owner's words")
    }

    /// A thought of the loop's own, no sub-session's and no dream's.
    pub fn is_thought(&self) -> bool {
        script::is_thought(&self.text)
    }
}

/// What stands under the first heading that begins so, up to the next known one.
pub fn section<'a>(text: &'a str, title: &str) -> &'a str {
    let starts = |rest: &str| TITLES.iter().any(|title| rest.starts_with(title));
    let mut headings = text.match_indices("# ").filter(|(at, _)| *at == 0 || text[..*at].ends_with("\n\n"));
    let Some((at, _)) = headings.find(|(at, _)| text[at + 2..].starts_with(title)) else { return "" };
    let body = text[at..].find('\n').map_or(text.len(), |line| at + line);
    let end = headings.find(|(at, _)| starts(&text[at + 2..])).map_or(text.len(), |(at, _)| at);
    // The last line of a situation asks for the answer.
    text[body..end].trim().trim_end_matches(ANSWER).trim()
}

const TITLES: [&str; 14] = [
    "PURPOSE.md",
    "Checklist (",
    "What you remember",
    "Scratch (",
    "Goals",
    "Latest records",
    "Where you stand",
    "What there is to do",
    "Events",
    "Your owner's words",
    "Now",
    "Your objective",
    "Answers you build on",
    "Your history",
];
const ANSWER: &str = "Answer with the one JSON object.";

#[derive(Default)]
pub struct Seen {
    pub asks: Vec<Ask>,
    items: Vec<&'static str>,
    letters: Vec<&'static str>,
    /// The owner took the model away.
    pub bare: bool,
}

pub struct Outside {
    pub broker: StandIn,
    seen: Arc<Mutex<Seen>>,
}

pub const FEED: &str = "http://news.example/feed.xml";

impl Outside {
    pub fn new(time: Arc<Time>) -> Self {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let answering = Arc::clone(&seen);
        let broker = StandIn::new(move |asked| answer(asked, &mut answering.lock().unwrap(), &time));
        Self { broker, seen }
    }

    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap()
    }

    pub fn publish(&self, title: &'static str) {
        self.seen().items.push(title);
    }

    pub fn mail(&self, text: &'static str) {
        self.seen().letters.push(text);
    }
}

fn answer(asked: &Asked, seen: &mut Seen, time: &Time) -> Answer {
    match asked.path.as_str() {
        "/status" => broker::status(if seen.bare { Value::Null } else { offered() }, &["mail"]),
        "/llm/openai/v1/chat/completions" => {
            let said = |role: &str| -> String {
                let messages = asked.body["messages"].as_array().unwrap().iter();
                messages.filter(|m| m["role"] == role).filter_map(|m| m["content"].as_str()).collect()
            };
            let (system, text, at) = (said("system"), said("user"), time.now());
            let reply = script::reply(&system, &text);
            let answered = in_chat(&reply.to_string());
            seen.asks.push(Ask {
                at,
                system,
                text,
                autonomous: asked.class.as_deref() == Some("autonomous"),
                reply,
            });
            broker::answer(200, &answered)
        }
        "/web" if asked.query.get("url").is_some_and(|url| url == FEED) => {
            let item = |(at, title): (usize, &&str)| {
                format!("<item><title>{title}</title><link>http://news.example/{at}</link></item>")
            };
            let items: String = seen.items.iter().enumerate().rev().map(item).collect();
            let feed = format!("<rss version=\"2.0\"><channel><title>News</title>{items}</channel></rss>");
            Answer::Is(200, vec![("content-type", "application/rss+xml".to_owned())], feed)
        }
        "/web" => {
            let page = "<html><title>A page</title><body><p>A page that says little.</p></body></html>";
            Answer::Is(200, vec![("content-type", "text/html".to_owned())], page.to_owned())
        }
        "/service" => broker::passed(200, &json!({"letters": seen.letters})),
        _ => broker::refusal(404, "not_found", None),
    }
}
