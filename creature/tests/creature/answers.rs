//! What the owner hears while the mind is away: plain answers at once, instinct for what it knows, the mind's own later.

use crate::broker::{self, Answer, Asked, StandIn, loopback};
use crate::house::{TempHouse, in_chat};
use crate::lived::Lived;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub const AFTERNOON: &str = "2026-03-02T14:02:00Z";

/// How the way to the model is.
#[derive(Clone, Debug)]
pub enum Way {
    Open,
    Shut(u16, &'static str, &'static str, Option<u64>),
    Babble,
}

/// A model that sees: it answers the owner's words that wait in the request, and rests where none do.
pub struct Sighted {
    pub way: Arc<Mutex<Way>>,
    pub broker: StandIn,
}

const WAITING: &str = "# Your owner's words, not yet answered";

impl Sighted {
    pub fn new() -> Self {
        let way = Arc::new(Mutex::new(Way::Open));
        let on = Arc::clone(&way);
        let broker = StandIn::new(move |request: &Asked| match request.path.as_str() {
            "/status" => broker::status(broker::offer("openai"), &[]),
            "/llm/openai/v1/chat/completions" => match on.lock().unwrap().clone() {
                Way::Open => broker::answer(200, &in_chat(&seen(&request.body))),
                Way::Babble => broker::answer(200, &in_chat("<html>sign in</html>")),
                Way::Shut(status, kind, said, wait_s) => shut(status, kind, said, wait_s),
            },
            _ => broker::refusal(404, "not_found", None),
        });
        Self { way, broker }
    }

    pub fn house(&self, settings: &str) -> TempHouse {
        let mut house = TempHouse::new();
        house.broker = Some(self.broker.base());
        house.owner(&format!("[rest]\nshortest_s = 1\n{settings}"));
        house
    }

    pub fn is(&self, way: Way) {
        *self.way.lock().unwrap() = way;
    }

    pub fn tries(&self) -> usize {
        self.broker.heard("/llm/openai/v1/chat/completions").len()
    }
}

fn shut(status: u16, kind: &str, said: &str, wait_s: Option<u64>) -> Answer {
    let error = json!({"type": kind, "message": said, "hint": said});
    let mut headers = vec![("content-type", "application/json".to_owned())];
    if !matches!(kind, "budget_cap" | "stopped_until_owner") {
        headers.push(("x-feral-upstream", "api.example.org".to_owned()));
    }
    headers.extend(wait_s.map(|seconds| ("retry-after", seconds.to_string())));
    Answer::Is(status, headers, json!({"type": "error", "error": error}).to_string())
}

/// The thought that befits what stands in the request.
fn seen(body: &Value) -> String {
    let all = body["messages"].as_array().unwrap();
    let situation = all.last().unwrap()["content"].to_string();
    // A life that ended before its thought had put some of them there already.
    let words: String =
        situation.split(WAITING).skip(1).filter_map(|rest| rest.split("# Now").next()).collect();
    let calls = match words.is_empty() {
        true => json!([]),
        false => {
            let text = format!("the model read: {}", words.replace("\\n", " ").trim());
            json!([{"tool": "owner.message", "args": {"kind": "answer", "text": text}}])
        }
    };
    json!({"monologue": "m", "intent": "as I see it", "tool_calls": calls, "sleep_s": 300}).to_string()
}

/// What the creature told its owner, oldest first.
pub fn told(house: &TempHouse) -> Vec<String> {
    let said = house.records().into_iter().filter(|record| record.kind == "message");
    let said = said.filter(|record| record.data["from"] == "creature");
    said.map(|record| record.data["text"].as_str().unwrap().to_owned()).collect()
}

/// Found by living with it: at the cap, after a refused key and in an outage the owner's words got no word at all.
#[tokio::test]
async fn a_word_the_model_cannot_answer_is_answered_by_plain_code_at_once() {
    loopback!();
    let cases = [
        (
            Way::Shut(
                429,
                "budget_cap",
                "today's $0.30 are spent ($0.44); 0.0000 USD are reserved for calls under way, this call may cost 0.1000; it \
                 resets at 2026-03-03T00:00:00Z",
                Some(35_881),
            ),
            "for the model: today's $0.30 are spent ($0.44); I am back at 2026-03-03 00:00 UTC, or once [budget] in owner.toml \
             is raised.",
        ),
        (
            Way::Shut(401, "authentication_error", "invalid x-api-key", None),
            "the key is refused (api.example.org: 401 Unauthorized: invalid x-api-key): put a right one into .env",
        ),
        (
            Way::Shut(403, "stopped_until_owner", "the key is refused (401): the owner mends .env", None),
            "the key is refused (401): the owner mends .env; I try again at your next word, and at 15:02 UTC.",
        ),
        (
            Way::Shut(402, "billing_error", "your credit balance is too low", None),
            "top up the account; I try again at your next word, and at 15:02 UTC. What waits is answered then.",
        ),
        (
            Way::Shut(503, "overloaded", "come back later", Some(480)),
            "the model has not been reached since 14:02 UTC (upstream: api.example.org: 503 Service Unavailable: come back later); \
             I try again at your next word, and at 14:10 UTC",
        ),
    ];
    for (way, says) in cases {
        let sighted = Sighted::new();
        let house = sighted.house("");
        let mut lived = Lived::born(&house, AFTERNOON, 1).await;
        sighted.is(way.clone());
        house.say("why is the sky blue?");
        lived.wake().await;
        let heard = told(&house);
        assert_eq!(heard.len(), 1, "{way:?}: {heard:?}");
        assert!(heard[0].contains(says), "{way:?}: {heard:?}");
        assert_eq!(lived.life.cursors.owner.words.len(), 1, "it waits for the model");
        // Nothing more is said of the same, however often it is looked at again.
        for _ in 0..4 {
            lived.wake().await;
        }
        assert_eq!(told(&house).len(), 1, "{way:?}: {:?}", told(&house));
        sighted.is(Way::Open);
        lived.pass(Duration::from_secs(40_000));
        lived.wake().await;
        let heard = told(&house);
        assert!(heard[1].starts_with("the model read:") && heard[1].contains("sky blue"), "{heard:?}");
        assert!(lived.life.cursors.owner.words.is_empty());
    }
}

#[tokio::test]
async fn hours_are_those_of_the_owners_zone() {
    loopback!();
    let sighted = Sighted::new();
    let house = sighted.house("[agenda]\ntime_zone = \"Europe/Berlin\"\n");
    let mut lived = Lived::born(&house, AFTERNOON, 1).await;
    sighted.is(Way::Shut(429, "budget_cap", "no room", Some(35_881)));
    house.say("hello");
    lived.wake().await;
    assert!(told(&house)[0].contains("back at 2026-03-03 01:00 CET"), "{:?}", told(&house));
}

/// Several words in a row get a collected answer, later ones of the same outage one of their own; none gets silence.
#[tokio::test]
async fn words_in_a_row_are_told_together_and_none_is_met_with_silence() {
    loopback!();
    let sighted = Sighted::new();
    let house = sighted.house("");
    let mut lived = Lived::born(&house, AFTERNOON, 1).await;
    sighted.is(Way::Shut(503, "overloaded", "come back later", Some(600)));
    house.say("one\ntwo\nthree");
    lived.stay().await;
    assert_eq!(told(&house).len(), 1);
    assert!(told(&house)[0].starts_with("Your 3 words wait for the model"), "{:?}", told(&house));
    let tries = sighted.tries();
    house.say("four");
    lived.stay().await;
    assert_eq!(told(&house).len(), 2, "{:?}", told(&house));
    assert!(told(&house)[1].contains("Your word waits") && told(&house)[1].contains("I try again now"));
    assert!(sighted.tries() > tries, "the owner's word is worth a try");
    // The reason is another now: each word is told once more, together.
    sighted.is(Way::Shut(401, "authentication_error", "no such key", None));
    lived.pass(Duration::from_secs(900));
    lived.wake().await;
    assert_eq!(told(&house).len(), 3, "{:?}", told(&house));
    assert!(
        told(&house)[2].starts_with("Your 4 words wait") && told(&house)[2].contains("the key is refused")
    );
    sighted.is(Way::Open);
    lived.pass(Duration::from_secs(4_000));
    lived.wake().await;
    let last = told(&house).pop().unwrap();
    assert!(["one", "two", "three", "four"].iter().all(|word| last.contains(word)), "{last}");
}

/// The owner's tries out of turn must not make the wait longer for it.
#[tokio::test]
async fn a_word_in_an_outage_does_not_lengthen_it() {
    loopback!();
    let sighted = Sighted::new();
    let house = sighted.house("");
    let mut lived = Lived::born(&house, AFTERNOON, 1).await;
    sighted.is(Way::Shut(503, "overloaded", "come back later", Some(300)));
    let rest = lived.stay().await;
    for word in ["a", "b", "c", "d"] {
        house.say(word);
        lived.pass(Duration::from_secs(10));
        let then = lived.stay().await;
        assert!(then < rest, "{then:?} after {rest:?}");
    }
}

#[tokio::test]
async fn replies_that_cannot_be_read_are_told_of_too() {
    loopback!();
    let sighted = Sighted::new();
    let house = sighted.house("");
    let mut lived = Lived::born(&house, AFTERNOON, 1).await;
    sighted.is(Way::Babble);
    house.say("are you there?");
    for _ in 0..5 {
        lived.wake().await;
    }
    let heard = told(&house);
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert!(heard[0].contains("the model's replies since 14:02 UTC cannot be read"), "{heard:?}");
}

/// Instinct does what it knows by name while the model is away; what it does not know waits, and is not lost with it.
#[tokio::test]
async fn instinct_stands_in_for_what_it_knows_by_name() {
    loopback!();
    let sighted = Sighted::new();
    let house = sighted.house("");
    house.write("self/HEARTBEAT.md", "- [ ] note that this is for the model\n");
    let mut lived = Lived::born(&house, AFTERNOON, 1).await;
    sighted.is(Way::Shut(503, "overloaded", "come back later", Some(3_000)));
    house.say(
        "what do you make of it?\nremind me in 20 min to look at the oven\nnote the oven is hot\nstatus",
    );
    lived.wake().await;
    let heard = told(&house);
    let says = |what: &str| heard.iter().filter(|said| said.contains(what)).count();
    assert_eq!(says("I remind you of \"look at the oven\" today at 14:22"), 1, "{heard:#?}");
    assert_eq!(says("Done: written down in"), 1, "{heard:#?}");
    assert_eq!(
        says("I stand in for the model: the model has not been reached since 14:02 UTC"),
        1,
        "{heard:#?}"
    );
    assert_eq!(says("Your word waits for the model"), 1, "{heard:#?}");
    assert_eq!(heard.len(), 4, "{heard:#?}");
    let scratch = std::fs::read_to_string(house.path("self/scratch.md")).unwrap();
    assert_eq!(scratch.matches("the oven is hot").count(), 1, "{scratch}");
    assert!(!scratch.contains("for the model"), "what nobody said now is not instinct's to do: {scratch}");
    let waiting: Vec<&str> = lived.life.cursors.owner.words.iter().map(|w| w.word.text.as_str()).collect();
    assert_eq!(waiting, ["what do you make of it?"]);
    // The reminder needs no model either.
    lived.pass(Duration::from_secs(1_300));
    lived.wake().await;
    assert!(told(&house).last().unwrap().contains("look at the oven"));
    sighted.is(Way::Open);
    lived.pass(Duration::from_secs(3_000));
    lived.wake().await;
    let last = told(&house).pop().unwrap();
    assert!(last.starts_with("the model read:") && last.contains("what do you make of it?"), "{last}");
    assert!(!last.contains("the oven is hot"), "{last}");
}

/// A word that instinct knows costs no try of a model that is known to be away.
#[tokio::test]
async fn what_instinct_can_do_asks_no_model_that_is_away() {
    loopback!();
    let sighted = Sighted::new();
    let house = sighted.house("");
    let mut lived = Lived::born(&house, AFTERNOON, 1).await;
    sighted.is(Way::Shut(503, "overloaded", "come back later", Some(3_000)));
    lived.stay().await;
    let tries = sighted.tries();
    house.say("note the tea is cold");
    lived.pass(Duration::from_secs(5));
    lived.wake().await;
    assert_eq!(sighted.tries(), tries);
    assert!(told(&house)[0].starts_with("Done: written down"), "{:?}", told(&house));
}

/// Found by living with it: of seven words not understood in a row three got silence.
#[tokio::test]
async fn words_instinct_does_not_understand_are_all_answered() {
    let house = TempHouse::new();
    let mut lived = Lived::born(&house, AFTERNOON, 1).await;
    house.say(&["hm"; 7].join("\n"));
    lived.wake().await;
    assert_eq!(told(&house).join(" ").matches("\"hm\"").count(), 7, "{:?}", told(&house));
    for word in ["oh", "ah", "oh", "ah", "oh"] {
        let before = told(&house).len();
        house.say(word);
        lived.wake().await;
        assert_eq!(told(&house).len(), before + 1, "{word}");
    }
}

pub fn page(house: &TempHouse, since: &str, day: &str) {
    let page = json!({"at": "t", "since": since, "day": day, "caps": [{"span": "day", "spent_usd": 1.0}]});
    house.write(".self/budget.json", page.to_string());
}

/// Found by reckoning: after an hour's rest for one reason, the reset of the day was slept over by another.
#[tokio::test]
async fn a_reset_is_never_slept_over() {
    loopback!();
    let sighted = Sighted::new();
    let house = sighted.house("");
    let mut lived = Lived::born(&house, "2026-03-02T22:50:00Z", 1).await;
    sighted.is(Way::Shut(401, "authentication_error", "invalid", None));
    lived.wake().await;
    sighted.is(Way::Shut(429, "budget_cap", "no room", Some(599)));
    house.say("are you there?");
    let rest = lived.wake().await;
    assert!(rest <= Duration::from_secs(600), "{rest:?}");
    sighted.is(Way::Open);
    lived.wake().await;
    assert!(told(&house).last().unwrap().starts_with("the model read:"), "{:?}", told(&house));
}

/// Found by reading: instinct's answer to one word made the next life take the others of the thread for answered.
#[tokio::test]
async fn what_instinct_answers_loses_no_other_word_of_the_thread() {
    loopback!();
    let sighted = Sighted::new();
    let house = sighted.house("");
    let mut lived = Lived::born(&house, AFTERNOON, 1).await;
    sighted.is(Way::Shut(503, "overloaded", "come back later", Some(3_000)));
    house.say(r#"{"at": "2026-03-02T14:01:00Z", "text": "why is the sky blue?"}"#);
    lived.stay().await;
    // A thought had it before the model went away, and gave no answer.
    lived.life.cursors.owner.words[0].seen = 1;
    house.say("note the tea is cold");
    lived.stay().await;
    assert!(told(&house)[1].starts_with("Done: written down"), "{:?}", told(&house));
    drop(lived);
    let lived = Lived::born(&house, "2026-03-02T14:05:00Z", 2).await;
    assert_eq!(lived.life.cursors.owner.words.len(), 1);
}

/// Found by reading: a word whose call took long was done once more beside that call.
#[tokio::test]
async fn a_word_that_instinct_does_for_the_mind_is_done_once_however_long_its_call_takes() {
    loopback!();
    let broker = StandIn::new(|asked: &Asked| match asked.path.as_str() {
        "/status" => broker::status(broker::offer("openai"), &["search"]),
        _ if asked.body["service"] == "search" => {
            std::thread::sleep(Duration::from_millis(2_500));
            let hit = json!({"title": "Rust 2.0", "url": "https://r.example/2", "content": "It is out."});
            broker::passed(200, &json!({"results": [hit]}))
        }
        _ => shut(503, "overloaded", "come back later", Some(3_000)),
    });
    let mut house = TempHouse::new();
    house.broker = Some(broker.base());
    house.owner("[rest]\nshortest_s = 1\n");
    let mut lived = Lived::born(&house, AFTERNOON, 1).await;
    lived.stay().await;
    house.say("search rust news");
    lived.wake().await;
    lived.wake().await;
    let searches = house.records().into_iter().filter(|record| record.data["tool"] == "web.search").count();
    assert_eq!(searches, 1, "{:?}", told(&house));
    assert_eq!(told(&house).len(), 1, "{:?}", told(&house));
    assert!(told(&house)[0].contains("Rust 2.0") && lived.life.cursors.owner.words.is_empty());
}
