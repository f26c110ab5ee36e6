//! What an owner might say to a house without a model: each word has one answer, and the answer is true of that house.

use crate::answers::{AFTERNOON, Sighted, Way, page, told};
use crate::broker::{self, Asked, StandIn, loopback};
use crate::house::TempHouse;
use crate::lived::Lived;
use serde_json::{Value, json};
use std::time::Duration;

/// A house in Berlin that has read and been told something, two minutes past three there; and its broker without a model.
fn house(services: &'static [&'static str]) -> (TempHouse, StandIn) {
    let broker = StandIn::new(move |asked: &Asked| match asked.path.as_str() {
        "/status" => broker::status(Value::Null, services),
        _ if asked.body["service"] == "search" => {
            let hit = json!({"title": "Rust 2.0", "url": "https://r.example/2", "content": "It is out."});
            let asked_for_rust = asked.body["query"]["q"] == "rust news";
            broker::passed(200, &json!({"results": if asked_for_rust { vec![hit] } else { Vec::new() }}))
        }
        _ => broker::refusal(404, "not_found", None),
    });
    let mut house = TempHouse::new();
    house.broker = Some(broker.base());
    house.owner("[rest]\nshortest_s = 1\n[agenda]\ntime_zone = \"Europe/Berlin\"\n");
    house.write(
        "self/notes/2026-02-a-example.md",
        "\n## On swifts\n\n2026-02-20 10:00 · https://a.example/swifts\n\n- Swifts sleep in the air. They nest in walls.\n",
    );
    house.write("self/facts.md", "- The library opens at ten on Saturdays [my owner, 2026-02-11]\n");
    page(&house, "a", "2026-03-02");
    (house, broker)
}

/// Says a word; its answer, which is the only one.
async fn answer(lived: &mut Lived, house: &TempHouse, word: &str) -> String {
    let before = told(house).len();
    house.say(word);
    for _ in 0..2 {
        lived.stay().await;
        lived.pass(Duration::from_secs(1));
    }
    let after = told(house);
    assert_eq!(after.len(), before + 1, "{word}: {:?}", &after[before..]);
    after[before].clone()
}

/// The words of an ordinary day, and what of the answer is true of this house and of no other.
const EVERYDAY: [(&str, &[&str]); 43] = [
    ("hello", &["without a model", "`help`"]),
    ("who are you?", &["Feral", "life 1 on commit c0ffee", "Be curious about small things."]),
    ("help", &["\nReminders: `remind me tomorrow at 9 to call Ann`", "`help all`", ".env"]),
    ("help all", &["`search static site generators`", "`cancel that` (the last thing I made for you)"]),
    ("first map the house, then note what is missing in it", &["as a goal"]),
    ("goals", &["1 goal: goal-", "first map the house"]),
    ("What are your goals?", &["1 goal: goal-"]),
    ("tasks", &["no task"]),
    (
        "What are you up to?",
        &["Last, ", "nothing else that I could do", "For a mind that reads waits: first map the house"],
    ),
    ("how much did you spend?", &["I call no model", "$1.00"]),
    ("what waits for me?", &["No act waits for your yes"]),
    (
        "what do you know about swifts?",
        &["\"On swifts: Swifts sleep in the air.\" (self/notes/2026-02-a-example.md, 2026-02-20)"],
    ),
    ("when does the library open on saturdays", &["opens at ten on Saturdays", "self/facts.md, 2026-02-11"]),
    ("what do you know about unicorns?", &["There is nothing in my notes about unicorns."]),
    ("note the cellar key hangs behind the door", &["Done: written down in self/scratch.md"]),
    (
        "where does the cellar key hang?",
        &["the cellar key hangs behind the door\" (self/scratch.md, 2026-03-02)"],
    ),
    ("remind me at 18:00 to call mum", &["\"call mum\" today at 18:00."]),
    ("remind me every weekday at 8 to stand up", &["\"stand up\" every weekday at 08:00, first tomorrow"]),
    ("cancel that", &["I no longer remind you of \"stand up\""]),
    ("please remind me in 90 seconds to turn the eggs", &["\"turn the eggs\" today at 15:"]),
    ("remind me to buy bread", &["I see no time in that", "remind me in 20 min"]),
    (
        "when is my next reminder?",
        &["2 reminders: \"turn the eggs\" today at 15:", "\"call mum\" today at 18:00"],
    ),
    ("cancel the reminder about eggs", &["Done: I no longer remind you of \"turn the eggs\"."]),
    ("reminders", &["One reminder: \"call mum\" today at 18:00 (reminder-"]),
    ("search rust news", &["I have no search", "`[search]`"]),
    ("dream", &["Done: I dream"]),
    (
        "check my mail every 10 minutes",
        &["Noted: \"check my mail\" every 10 min", "I cannot do \"check my mail\"", "waits for a model"],
    ),
    ("tasks", &["1 task: task-", "check my mail"]),
    ("cancel the goal", &["I did not do it: no reminder, order or goal of mine is meant"]),
    ("cancel goal-2", &["Done: goal-2 is off my agenda."]),
    ("what time is it?", &["It is 2026-03-02 15:0", "CET"]),
    ("orders", &["1 order: directive-", "check my mail every 10 minutes"]),
    ("don't message me unless it's urgent", &["Noted: I message you only about urgent"]),
    ("be quiet", &["Noted: I send you no messages", "`resume` ends it"]),
    ("you can talk again", &["Noted: I message you again"]),
    ("be quiet", &["Noted: I send you no messages"]),
    ("resume", &["Noted: I go on with my work"]),
    ("go on", &["Nothing holds me"]),
    ("change your purpose to: be a lighthouse", &["it is yours", "I keep it as request-", "drops it"]),
    ("yes", &["I asked nothing just now", "`follow them` does that"]),
    ("follow them", &["I follow https://blog.rust-lang.org/feed.xml"]),
    ("no", &["I asked nothing that a yes or a no answers"]),
    ("thank you!", &["You are welcome."]),
];

/// Found by living with it: of seven words not understood in a row three got silence.
#[tokio::test]
async fn seven_words_in_a_row_that_are_not_understood_are_answered_one_by_one() {
    let house = TempHouse::new();
    let mut lived = Lived::born(&house, AFTERNOON, 1).await;
    lived.wake().await;
    for nth in 0..7 {
        let word = ["hm", "bla bla", "paint the fence", "hm", "hm", "hm", "hm"][nth];
        let said = answer(&mut lived, &house, word).await;
        assert!(said.starts_with(&format!("I do not understand \"{word}\"")), "{said}");
        assert!(said.contains("`help`") && said.contains(".env"), "{said}");
    }
}

#[tokio::test]
async fn a_search_is_answered_with_what_was_found() {
    loopback!();
    let (house, _broker) = house(&["search"]);
    let mut lived = Lived::born(&house, AFTERNOON, 1).await;
    lived.wake().await;
    let said = answer(&mut lived, &house, "could you search for rust news?").await;
    assert_eq!(said, "The search for rust news found: Rust 2.0: It is out. https://r.example/2.");
    let said = answer(&mut lived, &house, "search rust olds").await;
    assert_eq!(said, "The search found nothing about rust olds.");
}

/// Found by reading: words of two threads that did not fit into one thought were answered on one of them.
#[tokio::test]
async fn many_words_are_answered_on_the_thread_each_belongs_to() {
    let house = TempHouse::new();
    let mut lived = Lived::born(&house, AFTERNOON, 1).await;
    lived.wake().await;
    let says = |thread: &str, text: &str| house.say(&json!({"thread": thread, "text": text}).to_string());
    (0..9).for_each(|n| says("shop", &format!("note shop {n}")));
    (0..9).for_each(|n| says("home", &format!("note home {n}")));
    says("shop", "paint the fence");
    for _ in 0..4 {
        lived.wake().await;
    }
    let answers = house.records().into_iter().filter(|record| record.kind == "message");
    let answers: Vec<Value> = answers
        .map(|record| record.data)
        .filter(|data| data["from"] == "creature" && data["kind"] != "greeting")
        .collect();
    let on = |thread: &str| answers.iter().filter(|data| data["thread"] == thread).count();
    assert_eq!((on("shop"), on("home"), answers.len()), (10, 9, 19), "{answers:#?}");
}

/// Found by living with it: silence had to be asked for in a sentence it knew, and messages came through a pause.
#[tokio::test]
async fn one_word_silences_it_until_resume() {
    use agenda::Change;
    use agenda::outbox::{Kind, OutboxChange};
    for word in ["quiet", "Silence!", "hush", "stop", "pause"] {
        let house = TempHouse::new();
        let mut lived = Lived::born(&house, AFTERNOON, 1).await;
        lived.wake().await;
        let said = answer(&mut lived, &house, word).await;
        assert!(said.starts_with("Noted: I pause") && said.contains("`resume`"), "{said}");
        house.write("self/HEARTBEAT.md", "- [ ] note that I worked\n");
        let say = OutboxChange::Say { kind: Kind::Milestone, text: "the book is done".to_owned() };
        lived.life.change(&Change::Outbox(say)).unwrap();
        house.write(".self/budget.json", r#"{"warning": "spent: 81 % of today's 5.00 USD", "poor": true}"#);
        let (messages, thoughts) = (told(&house).len(), lived.life.cursors.counts.thoughts);
        for _ in 0..20 {
            lived.wake().await;
        }
        assert_eq!((told(&house).len(), lived.life.cursors.counts.thoughts), (messages, thoughts), "{word}");
        let said = answer(&mut lived, &house, "what are you up to?").await;
        assert!(said.contains("I am paused by your word"), "{said}");
        house.say("resume");
        lived.wake().await;
        lived.wake().await;
        let told = told(&house);
        assert!(told.iter().any(|told| told == "the book is done"), "what was held back comes: {told:?}");
        assert!(told.iter().any(|told| told.starts_with("spent: 81 %")), "{told:?}");
        assert!(std::fs::read_to_string(house.path("self/HEARTBEAT.md")).unwrap().contains("[x]"), "{word}");
    }
}

/// Orders it can follow are followed, each when it is due, and what says the same again is not written down again.
#[tokio::test]
async fn a_standing_order_is_followed_when_it_is_due() {
    loopback!();
    let (house, broker) = house(&["search"]);
    let mut lived = Lived::born(&house, AFTERNOON, 1).await;
    lived.wake().await;
    let said = answer(&mut lived, &house, "search rust news every hour").await;
    assert_eq!(said, "Noted: \"search rust news\" every 1 h, until you say otherwise.");
    let searches = || broker.heard("/service").len();
    assert_eq!(searches(), 1, "at once");
    let end = lived.life.told.clock.now() + jiff::SignedDuration::from_mins(190);
    while lived.life.told.clock.now() < end {
        lived.wake().await;
    }
    assert_eq!(searches(), 4, "and each hour");
    let noted = std::fs::read_to_string(house.path("self/notes/2026-03-search.md")).unwrap();
    assert_eq!(noted.matches("Rust 2.0").count(), 1, "{noted}");
    let id = lived.life.store.agenda.directives.list[0].id.clone();
    let said = answer(&mut lived, &house, &format!("cancel {id}")).await;
    assert_eq!(said, format!("Done: {id} holds no longer."));
}

/// A model that is down: instinct takes the word in its stead and says so; what it half understands is told when it is asked.
#[tokio::test]
async fn in_the_models_place_it_says_so() {
    loopback!();
    let sighted = Sighted::new();
    let house = sighted.house("");
    house.write("self/facts.md", "- Swifts sleep in the air [a book, 2026-02-11]\n");
    let mut lived = Lived::born(&house, AFTERNOON, 1).await;
    sighted.is(Way::Shut(503, "overloaded", "come back later", Some(3_000)));
    lived.stay().await;
    for (word, parts) in [
        (
            "note the tea is cold",
            ["Done: written down", "in the model's place: the model has not been reached since 14:02 UTC"],
        ),
        ("what do you know about swifts?", ["Swifts sleep in the air", "in the model's place"]),
        ("what are you up to?", ["Nothing waits", "in the model's place"]),
        // Found: "put the key of one into the file .env", where the key is there and its model is down.
        ("tell me about tides", ["nothing in my notes about tides", "is set up. I answer on instinct"]),
        (
            "read https://a.example/ and tell me whether it is any good",
            ["Your word waits for the model", "I try again now, and at 14:52 UTC"],
        ),
        ("yes", ["Your word waits for the model", "I try again now, and at 14:52 UTC"]),
        ("tell me a story", ["Your word waits for the model", "I try again now, and at 14:52 UTC"]),
    ] {
        let before = told(&house).len();
        house.say(word);
        lived.pass(Duration::from_secs(5));
        lived.stay().await;
        let after = told(&house);
        assert_eq!(after.len(), before + 1, "{word}: {:?}", &after[before..]);
        assert!(parts.iter().all(|part| after[before].contains(part)), "{word}: {}", after[before]);
    }
    assert_eq!(lived.life.cursors.owner.words.len(), 3, "what it did not understand waits for the model");
}

/// Tests that take long, which run beside a newborn.
mod probation {
    use super::*;

    /// Found by living with it: it knew neither dream nor search nor its reminders, and answered no question from its notes.
    #[tokio::test]
    async fn everyday_words_have_one_true_answer_each() {
        loopback!();
        let (house, _broker) = house(&[]);
        let mut lived = Lived::born(&house, AFTERNOON, 1).await;
        lived.wake().await;
        for (word, parts) in EVERYDAY {
            let said = answer(&mut lived, &house, word).await;
            for part in parts {
                assert!(said.contains(part), "{word}: {said}\nlacks {part}");
            }
        }
        assert_eq!(lived.life.store.agenda.reminders.open().count(), 1);
    }
}
