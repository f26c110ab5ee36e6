//! Odd replies on every wire: each has a clear record, the next request is taken, and nothing is done twice.

use super::world::{AUTO, JSON, NATIVE, World};
use crate::broker::loopback;
use crate::faithful::{Rules, Say, Seen, Wire};
use crate::lived::Lived;
use serde_json::{Value, json};
use std::time::Duration;

const NOON: &str = "2026-03-02T12:00:00Z";
const WORD: &str = "do the odd thing";

fn ways() -> [(Wire, Rules, &'static str); 5] {
    [
        (Wire::Anthropic, Rules::default(), NATIVE),
        (Wire::Responses, Rules::default(), NATIVE),
        (Wire::Chat, Rules::local(), NATIVE),
        (Wire::Chat, Rules::odd(), NATIVE),
        (Wire::Anthropic, Rules::default(), JSON),
    ]
}

fn line(at: usize) -> Value {
    json!({"name": "diary", "text": format!("line <{at}>")})
}

/// What came of one odd reply, and of the plain one after it.
struct Course {
    /// Records of memory, each as text.
    records: Vec<String>,
    diary: String,
    /// What stood in the request after the odd reply.
    next: String,
    json: bool,
}

impl Course {
    fn wrote(&self, at: usize) -> usize {
        self.diary.matches(&format!("<{at}>")).count()
    }

    fn recorded(&self, parts: &[&str]) -> bool {
        self.records.iter().any(|record| parts.iter().all(|part| record.contains(part)))
    }
}

/// The owner asks; the mind's first thought is odd, and whatever it came to, the second answers the owner.
async fn lived(way: (Wire, Rules, &str), odd: impl Fn() -> Say + Send + 'static) -> Course {
    let (wire, rules, form) = way;
    let mut said = false;
    let world = World::new(wire, rules, form, move |seen: &Seen| {
        let answered = seen.last_results().iter().any(|(name, _)| name.contains("owner"));
        if seen.autonomous || !seen.all_text().contains(WORD) || answered {
            return Say::new().rests(300);
        }
        match std::mem::replace(&mut said, true) {
            false => odd(),
            true => Say::new().says("So be it.").calls("owner.message", json!({"text": "it was odd"})),
        }
    });
    world.house.say(&json!({"at": NOON, "text": WORD}).to_string());
    let mut life = Lived::born(&world.house, NOON, 1).await;
    let answered = || {
        world
            .house
            .records()
            .iter()
            .any(|record| record.kind == "message" && record.data["text"] == "it was odd")
    };
    for _ in 0..12 {
        life.wake().await;
        if answered() {
            break;
        }
        // A reply in plain words ends a talk: the owner asks again.
        let again = json!({"at": "2026-03-02T12:30:00Z", "text": format!("again: {WORD}")});
        life.pass(Duration::from_secs(60));
        world.house.say(&again.to_string());
    }
    assert!(answered(), "{wire:?} {form}: {:#?}", world.house.records());
    world.server.assert_no_violations();
    let owners: Vec<Seen> = world.server.seen().into_iter().filter(|seen| !seen.autonomous).collect();
    Course {
        records: world
            .house
            .records()
            .iter()
            .map(|record| format!("{} {}", record.kind, record.data))
            .collect(),
        diary: std::fs::read_to_string(world.house.path("self/diary.md")).unwrap_or_default(),
        next: owners[1].all_text(),
        json: form == JSON,
    }
}

#[tokio::test]
async fn half_a_surrogate_pair_is_remembered_as_what_no_text_can_hold() {
    loopback!();
    for way in ways() {
        let name = format!("{:?} {}", way.0, way.2);
        let course = lived(way, || Say::new().calls("notes.append", line(0)).lone_surrogate()).await;
        assert!(
            course.recorded(&["thought", "half a smile: \u{fffd} is all there is"]),
            "{name}: {:#?}",
            course.records
        );
        assert_eq!(course.wrote(0), 1, "{name}");
    }
}

#[tokio::test]
async fn calls_with_one_id_or_none_are_each_run_once_and_each_answered() {
    loopback!();
    for way in ways() {
        for same in [true, false] {
            let name = format!("{:?} {} same: {same}", way.0, way.2);
            let course = lived(way.clone(), move || {
                let say = Say::new().calls("notes.append", line(0)).calls("notes.append", line(1));
                if same { say.duplicate_ids() } else { say.no_ids() }
            })
            .await;
            assert_eq!((course.wrote(0), course.wrote(1)), (1, 1), "{name}: {}", course.diary);
            assert!(course.recorded(&["action", "line <0>", "\"ok\":true"]), "{name}");
            assert!(course.recorded(&["action", "line <1>", "\"ok\":true"]), "{name}");
        }
    }
}

#[tokio::test]
async fn arguments_that_are_no_object_are_not_run_and_the_mind_is_told_why() {
    loopback!();
    for way in ways() {
        let name = format!("{:?} {}", way.0, way.2);
        let course = lived(way, || {
            Say::new()
                .calls("notes.append", line(0))
                .broken_arguments("notes.append", "{\"name\": \"diary\", \"text\": \"line <1")
        })
        .await;
        assert_eq!(course.wrote(1), 0, "{name}: {}", course.diary);
        assert!(course.wrote(0) <= 1, "{name}: {}", course.diary);
        let why = if course.json { "args" } else { "its arguments are no JSON object" };
        assert!(course.recorded(&[why]), "{name}: {:#?}", course.records);
        assert!(course.next.contains(why), "{name}: the mind is not told: {}", course.next);
    }
}

#[tokio::test]
async fn arguments_that_came_as_an_object_are_run() {
    loopback!();
    let rules = Rules { object_arguments: true, ..Rules::local() };
    let course = lived((Wire::Chat, rules, NATIVE), || Say::new().calls("notes.append", line(0))).await;
    assert_eq!(course.wrote(0), 1, "{:#?}", course.records);
}

#[tokio::test]
async fn a_call_of_a_tool_that_there_is_not_fails_and_says_so() {
    loopback!();
    for way in ways() {
        let name = format!("{:?} {}", way.0, way.2);
        let course = lived(way, || {
            Say::new().calls("notes.burn", json!({"name": "diary"})).calls("notes.append", line(0))
        })
        .await;
        assert!(course.recorded(&["action", "burn", "\"ok\":false"]), "{name}: {:#?}", course.records);
        assert!(course.next.contains("burn") && course.next.contains("failed:"), "{name}: {}", course.next);
        assert_eq!(course.wrote(0), 1, "{name}: the call after it is run");
    }
}

#[tokio::test]
async fn an_empty_reply_is_remembered_and_the_mind_asked_again() {
    loopback!();
    for way in ways() {
        let name = format!("{:?} {}", way.0, way.2);
        let course = lived(way, || Say::new().plainly("")).await;
        assert!(course.recorded(&["thought"]), "{name}: {:#?}", course.records);
        assert_eq!(course.diary, "", "{name}");
    }
}

#[tokio::test]
async fn a_refusal_is_remembered_as_one() {
    loopback!();
    for way in ways() {
        for words in ["", "I cannot help with that"] {
            let name = format!("{:?} {} {words}", way.0, way.2);
            // One without words is not told from an empty reply by every wire.
            let said = if words.is_empty() && way.0 == Wire::Responses { "empty" } else { "refus" };
            let course = lived(way.clone(), move || Say::new().plainly(words).stop("refusal")).await;
            assert!(course.recorded(&["thought", said]), "{name}: {:#?}", course.records);
        }
    }
}

#[tokio::test]
async fn of_twenty_calls_sixteen_are_run_and_the_others_named() {
    loopback!();
    for way in ways() {
        let name = format!("{:?} {}", way.0, way.2);
        let course = lived(way, || {
            (0..20).fold(Say::new().says("All at once."), |say, at| say.calls("notes.append", line(at)))
        })
        .await;
        for at in 0..20 {
            assert_eq!(course.wrote(at), usize::from(at < 16), "{name}: line {at}: {}", course.diary);
        }
        assert!(
            course.recorded(&["observation", "not run: 4 more than the 16"]),
            "{name}: {:#?}",
            course.records
        );
        assert!(course.next.contains("not run"), "{name}: {}", course.next);
    }
}

/// A server that took tools when it was asked, and now gives its model none of them.
#[tokio::test]
async fn a_server_that_drops_the_tools_is_found_out_or_answers_in_words() {
    loopback!();
    let rules = || Rules { drops_tools: true, ..Rules::local() };
    let world = World::new(Wire::Chat, rules(), NATIVE, |_| Say::new().says("I have no tools."));
    world.house.say(&json!({"at": NOON, "text": WORD}).to_string());
    let mut life = Lived::born(&world.house, NOON, 1).await;
    life.wake().await;
    let said = |record: &memory::Record| {
        record.data["from"] == "creature" && record.data["text"] == "I have no tools."
    };
    assert!(world.house.records().iter().any(said), "{:#?}", world.house.records());
    world.server.assert_no_violations();
    let course =
        lived((Wire::Chat, rules(), AUTO), || Say::new().says("I write.").calls("notes.append", line(0)))
            .await;
    assert_eq!(course.wrote(0), 1, "{:#?}", course.records);
}

#[tokio::test]
async fn a_window_smaller_than_the_system_prompt_is_said_once_and_costs_nothing() {
    loopback!();
    for (wire, rules, form) in ways() {
        let world = World::new(wire, Rules { window: 2_000, ..rules }, form, |_| Say::new().says("What?"));
        world.offer(json!({"window": 2_000}));
        world.house.say(&json!({"at": NOON, "text": WORD}).to_string());
        let mut life = Lived::born(&world.house, NOON, 1).await;
        for _ in 0..4 {
            life.wake().await;
        }
        let records = world.house.records();
        let told = |record: &&memory::Record| record.data.to_string().contains("fit into the window");
        let told: Vec<_> =
            records.iter().filter(told).filter(|record| record.kind == "observation").collect();
        assert_eq!(told.len(), 1, "{wire:?} {form}: {records:#?}");
        assert!(told[0].data.to_string().contains("context_tokens"), "{:#?}", told[0]);
        assert!(world.server.ledger().is_empty(), "{wire:?} {form}: it was asked all the same");
    }
}
