//! A week of life in seconds: a virtual clock, a scripted model over real HTTP, an owner, a feed and a mailbox.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

#[allow(dead_code, reason = "the week needs a part of it")]
#[path = "../../tests/creature/broker.rs"]
mod broker;
mod checks;
#[path = "../../tests/creature/clock.rs"]
mod clock;
mod crash;
#[allow(dead_code, reason = "the week needs a part of it")]
#[path = "../../tests/creature/house.rs"]
mod house;
mod minds;
mod outside;
mod owner;
mod purse;
mod script;
mod will;
mod world;

use crate::broker::loopback;
use clock::Chance;
use jiff::{SignedDuration, Timestamp};
use memory::Record;
use outside::Ask;
use serde_json::json;
use std::time::Instant;
use world::{Event, SETTINGS, World, time};

/// Tokens of one day, at a fourth of the characters.
const TOKENS: usize = 900_000;

const MINUTE: SignedDuration = SignedDuration::from_mins(1);

/// Of `FERAL_SEED`, a number; or always the same.
fn chance() -> Chance {
    let seed = std::env::var("FERAL_SEED").ok().map(|seed| seed.parse().unwrap()).unwrap_or(20_261_020);
    println!("to have the same again: FERAL_SEED={seed}");
    Chance::of(seed)
}

fn seen(world: &World) -> (Vec<Record>, Vec<Ask>) {
    if let Ok(to) = std::env::var("FERAL_WEEK_KEEP") {
        std::fs::copy(world.house.path(".self/memory.jsonl"), to).unwrap();
    }
    (world.house.all_records(), world.outside.seen().asks.clone())
}

#[test]
fn a_week_of_life() {
    loopback!();
    let began = Instant::now();
    let mut world = World::new(owner::FROM, SETTINGS, owner::week());
    world.live("2026-10-20T14:00:00Z", None);
    sessions_ended_rightly(&world);
    world.live(owner::TO, None);
    let (records, asks) = seen(&world);
    println!("{} wakes, {} requests in {:?}", world.wakes.len(), asks.len(), began.elapsed());
    checks::context_within_caps(&asks);
    checks::nothing_without_reason(&asks, &records, 0);
    checks::tokens_within(&asks, TOKENS);
    checks::messages_within(&records, 5);
    checks::owner_answered(&records, MINUTE);
    checks::dreamt(
        &world.house,
        &["20261021", "20261022", "20261023", "20261024", "20261025", "20261026", "20261027"],
    );
    let slept = (time(owner::SUSPENDED.0), time(owner::SUSPENDED.1));
    checks::reminded(&records, &owner::reminded(), |due| match due > slept.0 && due < slept.1 {
        true => (slept.1 + SignedDuration::from_mins(30)).duration_since(due),
        false => SignedDuration::ZERO,
    });
    listed_and_looked_at(&world, &records, &asks);
    reached_by_rank(&world, &records);
    nothing_starved(&world, &records);
    paused_and_resumed(&asks);
    told_of_everything(&asks, &records);
}

/// The graph of the first morning: fed, failed with what it hung on, and late where it was to be.
fn sessions_ended_rightly(world: &World) {
    for (objective, end) in [
        ("look for makers", "done"),
        ("count the tools", "done"),
        ("compare the two", "done"),
        ("do the impossible", "failed"),
        ("build on the impossible result", "failed"),
        ("look again later", "done"),
    ] {
        assert_eq!(checks::ended(&world.house, objective), [end], "{objective}");
    }
    let asks = world.outside.seen().asks.clone();
    let of = |objective: &str| {
        asks.iter().filter(|ask| ask.section("Your objective") == objective).collect::<Vec<_>>()
    };
    assert_eq!(of("compare the two")[0].section("Answers you build on").matches("answer to").count(), 2);
    assert!(of("build on the impossible result").is_empty(), "it hung on what failed");
    assert!(of("look again later")[0].at >= time("2026-10-20T12:00:00Z"));
    let told: Vec<(Timestamp, &str)> = asks.iter().map(|ask| (ask.at, ask.fresh("Events"))).collect();
    let times = |what: &str| told.iter().map(|(_, events)| events.matches(what).count()).sum::<usize>();
    assert_eq!(times("5 have ended, 3 done, but not session-"), 1, "they are told once, together");
    assert_eq!(times("done: answer to look again later"), 1, "the late one is told by itself");
    let first = told.iter().find(|(_, events)| events.contains("5 have ended")).unwrap().0;
    assert!(first < time("2026-10-20T12:00:00Z"), "what was done waited for the late one");
}

/// However often it was killed: all ended, what hung on a failure failed, and what was fed has its answer.
fn sessions_ended_honestly(world: &World) {
    let sessions = checks::kept(&world.house, "sessions")["all"].as_array().unwrap().clone();
    let status = |id: &str| sessions.iter().find(|one| one["id"] == id).map(|one| one["status"].clone());
    for session in sessions.iter().filter(|one| one["origin"].to_string().contains("tool")) {
        let on = session["depends_on"].as_array().unwrap().iter();
        let fed = on.clone().all(|on| status(on.as_str().unwrap()) == Some(json!("done")));
        let cut = session["cuts"].as_u64().unwrap() > 0;
        let hopeless = session["objective"].as_str().unwrap().contains("do the impossible");
        match session["status"].as_str().unwrap() {
            "done" => assert!(fed && !hopeless, "{session}"),
            "failed" => assert!(!fed || hopeless || cut, "{session}"),
            _ => panic!("it has not ended: {session}"),
        }
    }
    assert!(
        sessions.iter().any(|one| one["objective"] == "compare the two"),
        "the graph is lost: {sessions:?}"
    );
}

/// In order of rank; the owner's word on revenue puts what earns before the goal that is older than a day by then.
fn reached_by_rank(world: &World, records: &[Record]) {
    let reached = checks::goals_reached(records);
    let expected =
        ["a field guide to small tools", "a page on flat files", "a list of makers", "a letter home"];
    assert_eq!(reached, expected);
    let goals = checks::kept(&world.house, "agenda")["goals"]["list"].as_array().unwrap().clone();
    let parked = goals.iter().find(|goal| goal["title"] == "a bridge to nowhere").unwrap();
    let step = &parked["checkpoints"][0];
    assert_eq!((&step["status"], &step["attempts"]), (&json!("blocked"), &json!(3)), "{parked}");
    assert!(step["reason"].as_str().unwrap().contains("broken"), "{parked}");
    let when = |what: &str, with: &str| {
        let mut all = checks::of(records, "action");
        let found = all.find(|record| record.data["tool"] == what && record.data.to_string().contains(with));
        time(&found.unwrap_or_else(|| panic!("no {what} with {with}")).at)
    };
    let earned = when("owner.message", "a workshop");
    let written = when("notes.append", "write it\\n\"},\"result\"");
    let home = records.iter().rfind(|record| record.data["done"]["goal"] == "done").unwrap();
    assert!(written < earned && earned < time(&home.at), "revenue was to go first: {earned}, {}", home.at);
}

/// Whatever ranks low had its turns all the same.
fn nothing_starved(world: &World, records: &[Record]) {
    let did = |tool: &str, with: &str| {
        let all = checks::of(records, "action");
        let mine = all.filter(|record| record.data["tool"] == tool && record.data["result"]["ok"] == true);
        mine.filter(|record| record.data.to_string().contains(with)).count()
    };
    assert!(did("task.done", "task-") >= 20, "tasks: {}", did("task.done", "task-"));
    assert!(did("presence.note", "worth reading") >= 5);
    assert_eq!(did("agenda.close", "gap-"), 1);
    assert!(
        (8..=13).contains(&did("service.execute", "letters")),
        "mail: {}",
        did("service.execute", "letters")
    );
    let agenda = checks::kept(&world.house, "agenda");
    let large = agenda["opportunities"]["list"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["title"] == "a large contract");
    assert_eq!(large.unwrap()["stage"], "propose", "above the threshold it waits for the owner");
    let asked =
        checks::messages(records).iter().filter(|(_, text, _)| text.contains("a large contract")).count();
    assert!((1..=7).contains(&asked), "asked {asked} times");
}

/// The checklist is looked at every five minutes, and thought about when it changes; what happens stands in the feed.
fn listed_and_looked_at(world: &World, records: &[Record], asks: &[Ask]) {
    let (from, to) = (time(owner::LISTED.0), time(owner::LISTED.1));
    let looks = world.wakes.iter().filter(|(at, _)| *at > from && *at < to).count();
    assert!((23..=60).contains(&looks), "{looks} wakes in two hours");
    let beats = checks::of(records, "heartbeat")
        .filter(|record| record.data["why"].to_string().contains("checklist"));
    assert_eq!(beats.count(), 2, "once when it was written, once when it was ticked off");
    let states = asks.iter().filter(|ask| !ask.section("Where you stand").is_empty()).count();
    assert!(states > asks.len() / 10, "{states} of {} requests show the autonomous state", asks.len());
    let feed = std::fs::read_to_string(world.house.path(".self/mind/feed.jsonl")).unwrap();
    for event in ["wakeup", "action", "sleep", "paused", "resumed", "revenue"] {
        assert!(feed.contains(&format!(r#""event":"{event}""#)), "no {event} in the feed");
    }
}

/// Nothing of its own while it is paused, the owner's words even then; what was published meanwhile is told after.
fn paused_and_resumed(asks: &[Ask]) {
    let (from, to) = (time(owner::PAUSED.0), time(owner::PAUSED.1));
    let mut held = asks.iter().filter(|ask| ask.at > from && ask.at < to);
    assert!(
        held.clone().count() > 0 && held.all(|ask| !ask.words().is_empty()),
        "it worked while it was paused"
    );
}

/// Every event reached a thought, chatter and what the owner did not want to hear reached nobody.
fn told_of_everything(asks: &[Ask], records: &[Record]) {
    for title in ["Small tools that last", "Flat files, again", "Something for later"] {
        let told = asks.iter().filter(|ask| ask.fresh("Events").contains(title)).count();
        assert_eq!(told, 1, "{title}");
    }
    let quiet = (time("2026-10-23T12:01:00Z"), time("2026-10-24T20:00:00Z"));
    let mut sent = checks::messages(records).into_iter().filter(|(at, _, _)| *at > quiet.0 && *at < quiet.1);
    let unwanted = sent.find(|(_, _, kind)| kind == "milestone");
    assert!(unwanted.is_none(), "the owner wanted to hear of money only: {unwanted:?}");
    let weekly =
        checks::messages(records).into_iter().filter(|(_, _, kind)| kind == "weekly_summary").count();
    assert_eq!(weekly, 1);
}

#[test]
fn an_idle_day_asks_nobody() {
    loopback!();
    let mut world = World::new(owner::FROM, SETTINGS, Vec::new());
    world.live("2026-10-20T07:00:00Z", None);
    let before = (seen(&world).1.len(), world.wakes.len());
    world.live("2026-10-21T07:00:00Z", None);
    let (records, asks) = seen(&world);
    let thoughts = asks.iter().skip(before.0).filter(|ask| ask.is_thought()).count();
    assert_eq!(thoughts, 0, "{:?}", asks.last().map(|ask| ask.section("Now")));
    assert!(asks.len() <= before.0 + 1, "only the dream may ask");
    checks::dreamt(&world.house, &["20261021"]);
    let wakes = world.wakes.len() - before.1;
    assert!(wakes <= 110, "{wakes} wakes of a day with nothing to do: {:?}", world.wakes);
    assert!(checks::messages(&records).is_empty(), "and says nothing");
}

#[test]
fn a_budget_nearly_gone_makes_the_rests_long() {
    loopback!();
    let plan = owner::goals().into_iter().map(|goal| ("2026-10-20T06:01:00Z", goal)).collect();
    let mut world = World::new(owner::FROM, SETTINGS, plan);
    world.house.write(".self/budget.json", json!({"warning": "90 % of today's budget is spent"}).to_string());
    world.live("2026-10-20T14:00:00Z", None);
    let asks = seen(&world).1;
    let own = asks.iter().filter(|ask| ask.words().is_empty()).count();
    assert!((6..=12).contains(&own), "{own} thoughts of its own in eight hours, one an hour is meant");
}

#[test]
fn instinct_works_the_same_agenda() {
    loopback!();
    let goal = |title: &str, steps: [&str; 2]| {
        owner::wish("goal.add", &json!({"title": title, "checkpoints": steps}))
    };
    let plan = vec![
        ("2026-10-20T06:01:00Z", goal("a diary of tools", ["note the first tool", "note the second tool"])),
        ("2026-10-20T06:01:00Z", goal("a memory kept", ["snapshot", "note that it is kept"])),
        (
            "2026-10-20T06:01:00Z",
            owner::wish("reminder.add", &json!({"text": "stretch", "when": "daily 08:30"})),
        ),
        ("2026-10-20T09:00:00Z", Event::Says("pause until 14:00".to_owned())),
    ];
    let mut world = World::new(owner::FROM, SETTINGS, plan);
    // The model that noted the goals is taken away before it can work them.
    world.live("2026-10-20T06:01:00Z", None);
    world.live("2026-10-20T06:01:01Z", None);
    world.outside.seen().bare = true;
    let before = seen(&world).1.len();
    world.live("2026-10-20T18:00:00Z", None);
    let (records, asks) = seen(&world);
    assert_eq!(asks.len(), before, "nobody is asked");
    assert_eq!(checks::goals_reached(&records), ["a diary of tools", "a memory kept"]);
    checks::reminded(&records, &[("stretch".to_owned(), time("2026-10-20T06:30:00Z"))], |_| {
        SignedDuration::ZERO
    });
    let paused = checks::messages(&records).into_iter().any(|(_, text, _)| text.contains("I pause"));
    assert!(paused, "the owner's plain words are understood without a model");
}

#[test]
fn killed_anywhere_it_goes_on() {
    loopback!();
    let mut chance = chance();
    let until = "2026-10-21T16:00:00Z";
    let plan = owner::week().into_iter().filter(|(at, _)| time(at) < time(until));
    let mut world = World::new(owner::FROM, SETTINGS, plan.collect());
    world.live("2026-10-20T14:00:00Z", Some(&mut chance));
    sessions_ended_honestly(&world);
    world.live(until, Some(&mut chance));
    let (records, asks) = seen(&world);
    println!("{} deaths, {} wakes, {} requests", world.deaths(), world.wakes.len(), asks.len());
    assert!(world.deaths() > 20);
    checks::context_within_caps(&asks);
    checks::nothing_without_reason(&asks, &records, world.deaths());
    checks::owner_answered(&records, MINUTE * 5);
    let expected: Vec<_> = owner::reminded().into_iter().filter(|(_, at)| *at < time(until)).collect();
    checks::reminded(&records, &expected, |_| MINUTE);
    checks::dreamt(&world.house, &["20261021"]);
}

#[test]
fn killed_for_real_it_goes_on() {
    loopback!();
    let mut chance = chance();
    let world = World::new(owner::FROM, SETTINGS, Vec::new());
    let words = owner::goals().into_iter().chain(owner::standing());
    for (at, word) in words.enumerate() {
        let Event::Says(text) = word else { panic!("only words can be said at once") };
        world.house.say(&json!({"at": format!("2026-10-20T05:00:{at:02}.000Z"), "text": text}).to_string());
    }
    let lives = crash::live_and_die(&world, "2026-10-21T06:00:00Z", &mut chance);
    let (records, asks) = seen(&world);
    println!("{lives} lives, {} requests", asks.len());
    checks::context_within_caps(&asks);
    let expected: Vec<_> =
        owner::reminded().into_iter().filter(|(_, at)| *at < time("2026-10-21T06:00:00Z")).collect();
    checks::reminded(&records, &expected, |_| MINUTE * 5);
    // A line that was looked at goes behind, so a death in its thought may change who is first.
    let mut reached = checks::goals_reached(&records);
    reached.sort();
    assert_eq!(reached, ["a field guide to small tools", "a list of makers", "a page on flat files"]);
}
