//! The world behind the stand-in broker: a model, a feed and a mailbox, each over real HTTP, and what they saw.

use crate::broker::{self, Answer, Asked, StandIn};
use crate::clock::Time;
use crate::house::in_chat;
use crate::purse::Purse;
use crate::script;
use crate::world::offered;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard};

/// One request to the model, and what it answered.
#[derive(Clone, Debug)]
pub struct Ask {
    pub at: Timestamp,
    pub system: String,
    /// All that was said to it in this conversation, and of that what it has not answered yet.
    pub text: String,
    pub new: String,
    pub autonomous: bool,
    pub reply: Value,
}

impl Ask {
    /// What was last said under a heading; empty where there is none that begins so.
    pub fn section(&self, title: &str) -> &str {
        section(&self.text, title)
    }

    /// The same, where it was said just now.
    pub fn fresh(&self, title: &str) -> &str {
        section(&self.new, title)
    }

    /// The owner's words it is about; none where it acts by itself.
    pub fn words(&self) -> &str {
        script::words(&self.text)
    }

    /// A thought of the loop's own, no sub-session's and no dream's.
    pub fn is_thought(&self) -> bool {
        script::is_thought(&self.text) && !script::is_handover(&self.new)
    }
}

/// What stands under the last heading that begins so, up to the next known one.
pub fn section<'a>(text: &'a str, title: &str) -> &'a str {
    let starts = |rest: &str| TITLES.iter().any(|title| rest.starts_with(title));
    let headings = text
        .match_indices("# ")
        .filter(|(at, _)| text[..*at].trim().is_empty() || text[..*at].ends_with("\n\n"));
    let headings: Vec<usize> = headings.map(|(at, _)| at).collect();
    let last = headings.iter().rposition(|at| text[at + 2..].starts_with(title));
    let Some(last) = last else { return "" };
    let at = headings[last];
    let body = text[at..].find('\n').map_or(text.len(), |line| at + line);
    let end = headings[last + 1..].iter().find(|at| starts(&text[*at + 2..]));
    text[body..end.copied().unwrap_or(text.len())].trim()
}

const TITLES: [&str; 19] = [
    "Time of your own",
    "PURPOSE.md",
    "Checklist (",
    "What you remember",
    "Scratch (",
    "Goals",
    "Latest records",
    "What this life was born with",
    "Where you stand",
    "What there is to do",
    "Events",
    "Your owner's words",
    "Now",
    "Your objective",
    "Answers you build on",
    "What came of your calls",
    "Handover",
    "How your last conversation",
    "This conversation has grown too long",
];

#[derive(Default)]
pub struct Seen {
    pub asks: Vec<Ask>,
    items: Vec<&'static str>,
    letters: Vec<&'static str>,
    /// The owner took the model away.
    pub bare: bool,
    /// What it may spend of its own; none where nobody counts.
    pub purse: Option<Purse>,
}

/// What a model says to a conversation, of which it has not answered the second part.
pub type Model = fn(&str, &str) -> Value;

pub struct Outside {
    pub broker: StandIn,
    seen: Arc<Mutex<Seen>>,
}

pub const FEED: &str = "http://news.example/feed.xml";

impl Outside {
    pub fn new(time: Arc<Time>, model: Model) -> Self {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let answering = Arc::clone(&seen);
        let broker = StandIn::new(move |asked| answer(asked, &mut answering.lock().unwrap(), &time, model));
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

fn answer(asked: &Asked, seen: &mut Seen, time: &Time, model: Model) -> Answer {
    match asked.path.as_str() {
        "/status" => {
            let offer = seen.purse.as_ref().map_or_else(offered, Purse::offer);
            broker::status(if seen.bare { Value::Null } else { offer }, &["mail"])
        }
        "/llm/openai/v1/chat/completions" => {
            let messages = asked.body["messages"].as_array().unwrap().as_slice();
            let said = |role: &str, messages: &[Value]| {
                let mine = messages.iter().filter(|one| one["role"] == role);
                mine.filter_map(|one| one["content"].as_str()).collect::<Vec<_>>().join("\n\n")
            };
            let spoke = messages.iter().rposition(|one| one["role"] == "assistant").map_or(0, |at| at + 1);
            let (system, text) = (said("system", messages), said("user", messages));
            let (new, at) = (said("user", &messages[spoke..]), time.now());
            let autonomous = asked.class.as_deref() == Some("autonomous");
            let name = asked.body["model"].as_str().unwrap_or_default();
            if let Some(wait_s) =
                seen.purse.as_ref().filter(|_| autonomous).and_then(|own| own.wait_s(name, at))
            {
                return broker::refusal(429, "rate", Some(wait_s));
            }
            let reply = model(&text, &new);
            let answer = reply.as_str().map_or_else(|| reply.to_string(), str::to_owned);
            let mut answered = in_chat(&answer);
            let (read, said) = (asked.body.to_string().len() / 4, answer.len() / 4);
            (answered["usage"]["prompt_tokens"], answered["usage"]["completion_tokens"]) =
                (json!(read), json!(said));
            if let Some(purse) = seen.purse.as_mut() {
                purse.settle(name, read, said, autonomous, at);
            }
            seen.asks.push(Ask { at, system, text, new, autonomous, reply });
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
