//! Faults of the world: a model that refuses, babbles, stalls or is gone.
//!
//! The creature is the real one, and so is the broker it asks; the guardian has a stand-in for cargo, and the model is a
//! server on loopback.

mod outage;
mod server;

use crate::survival::matrix::Row;
use crate::survival::trial::Trial;
use outage::{Outage, at_work, move_in, pass};
use server::{Server, Trouble};
use std::time::Duration;

const WORLD: &str = "world";

pub const ROWS: &[Row] = &[
    Row::new(WORLD, "the key is refused", "the model answers 401", |trial| {
        Outage::of(Trouble::Status(401, None))
            .says("the key is refused (401)")
            .rests(3_600)
            .calls(2)
            .latched()
            .lived(trial);
    })
    .twice(),
    Row::new(WORLD, "no money left", "the model answers 402", |trial| {
        Outage::of(Trouble::Status(402, None))
            .says("no money or quota left (402)")
            .rests(3_600)
            .calls(2)
            .latched()
            .lived(trial);
    })
    .twice(),
    Row::new(
        WORLD,
        "too many requests",
        "the model answers 429 and does not say how long to wait",
        |trial| {
            Outage::of(Trouble::Status(429, None))
                .says("too many requests, or a quota is used up (429)")
                .lived(trial);
        },
    )
    .twice(),
    Row::new(
        WORLD,
        "too many requests, wait a little",
        "the model answers 429 with Retry-After: 2",
        |trial| {
            // Rests of 3 and 6 s.
            Outage::of(Trouble::Status(429, Some("2"))).says("(429)").rests(3).tries(3).lived(trial);
        },
    )
    .twice(),
    Row::new(WORLD, "too many requests, wait long", "the model answers 429 with Retry-After: 900", |trial| {
        Outage::of(Trouble::Status(429, Some("900"))).says("(429)").rests(901).calls(1).lived(trial);
    })
    .twice(),
    Row::new(WORLD, "a server error", "the model answers 500", |trial| {
        Outage::of(Trouble::Status(500, None)).says("the server is busy or in trouble (500)").lived(trial);
    })
    .twice(),
    Row::new(
        WORLD,
        "overloaded, and nobody says a word",
        "the model answers 529; the creature's own rest ends the wait",
        |trial| {
            trial.patience = Duration::from_secs(180);
            Outage::of(Trouble::Status(529, None))
                .says("the server is busy or in trouble (529)")
                .unaided()
                .lived(trial);
        },
    )
    .twice(),
    Row::new(WORLD, "garbage", "the model answers 200 with a page of HTML", |trial| {
        Outage::of(Trouble::Body("<html><body>captive portal</body></html>"))
            .garbled("not JSON")
            .lived(trial);
    })
    .twice(),
    Row::new(WORLD, "an empty reply", "the model answers 200 with no body at all", |trial| {
        Outage::of(Trouble::Body("")).garbled("not JSON").lived(trial);
    })
    .twice(),
    Row::new(WORLD, "a reply without a thought", "the model answers in prose", |trial| {
        Outage::of(Trouble::Says("I would rather not.")).garbled("").lived(trial);
    })
    .twice(),
    Row::new(WORLD, "half a reply", "the connection ends in the middle of the body", |trial| {
        Outage::of(Trouble::Half).says("the reply broke off (502)").calls(1).lived(trial);
    })
    .twice(),
    Row::new(WORLD, "half a thought", "a whole reply whose thought ends in the middle of a word", |trial| {
        Outage::of(Trouble::Says("{\"monologue\": \"I was about to")).garbled("").lived(trial);
    })
    .twice(),
    Row::new(WORLD, "a reply of 50 MB", "the model answers 200 with 50 MB", |trial| {
        Outage::of(Trouble::Huge).says("the reply broke off (502)").calls(1).lived(trial);
    })
    .twice(),
    Row::new(WORLD, "a stream that stalls", "the model begins a reply and never goes on", |trial| {
        Outage::of(Trouble::Stall).says("within 5 s").calls(1).lived(trial);
    })
    .twice(),
    Row::new(
        WORLD,
        "a stream that trickles",
        "the model streams comments, and never a word, for ever",
        |trial| {
            Outage::of(Trouble::Trickle).says("within 60 s").calls(1).lived(trial);
        },
    )
    .twice(),
    Row::new(WORLD, "a server that never answers", "the connection is taken and nothing is said", |trial| {
        Outage::of(Trouble::Mute).says("within 5 s").calls(1).lived(trial);
    })
    .twice(),
    Row::new(WORLD, "connections dropped", "the connection is taken and closed at once", |trial| {
        Outage::of(Trouble::Dropped).says("the server is not reached (502)").lived(trial);
    })
    .twice(),
    Row::new(
        WORLD,
        "the web out of reach",
        "the model is well, and asks for a page that nobody serves",
        out_of_reach,
    )
    .twice(),
    Row::new(WORLD, "network down", "nobody listens at the model's address", |trial| {
        Outage::of(Trouble::Down).says("the server is not reached (502)").lived(trial);
    })
    .twice(),
    Row::new(
        WORLD,
        "down from the first start",
        "the model answers 500 before the first thought of all",
        first_start,
    )
    .twice(),
    Row::new(
        WORLD,
        "down after a self-edit",
        "a new commit is born while the model answers 500",
        after_an_edit,
    )
    .twice(),
    Row::new(
        WORLD,
        "down after a self-edit, and restarted",
        "the same, and the owner stops and starts the guardian four times",
        restarted,
    )
    .twice(),
];

/// Nothing is trusted before it has thought, and nothing dies of not being able to.
fn first_start(trial: &mut Trial) {
    let server = move_in(trial);
    server.fall_into(Trouble::Status(500, None));
    trial.inject(|trial| trial.start());
    let outage = Outage::of(Trouble::Status(500, None)).says("(500)");
    outage.told(trial);
    outage.watched(trial);
    let status = trial.house().status();
    assert_eq!(status["blessed"], false, "nothing was thought yet");
    assert!(status["creature_pid"].is_i64(), "it lives: {status:#}");
    outage.over(trial, &server);
    trial.recovers();
    server.close();
}

/// A new commit lives, and the model answers 500.
fn edit_in_an_outage(trial: &mut Trial) -> (Server, Outage, String) {
    let server = move_in(trial);
    at_work(trial);
    trial.inject(|trial| {
        server.fall_into(Trouble::Status(500, None));
        let life = trial.house().read("creature/creature.sh");
        trial.commit_creature(&[("creature/creature.sh", &format!("# as sound as before\n{life}"))]);
    });
    let head = trial.house().git(&["rev-parse", "HEAD"]);
    until_on_probation(trial, &head, 2);
    let outage = Outage::of(Trouble::Status(500, None)).says("(500)");
    outage.told(trial);
    (server, outage, head)
}

fn until_on_probation(trial: &mut Trial, head: &str, life: u64) {
    trial.until("the new commit to be on probation", |house| {
        let status = house.status();
        status["commit"] == head && status["phase"] == "probation" && status["life"].as_u64() >= Some(life)
    });
}

/// A new commit cannot think, through no fault of its own: it is neither trusted nor put back until it can.
fn after_an_edit(trial: &mut Trial) {
    let (server, outage, head) = edit_in_an_outage(trial);
    pass(trial);
    assert_eq!(trial.house().status()["blessed"], false, "nothing was thought yet");
    outage.over(trial, &server);
    trial.recovers();
    assert_eq!(trial.house().read(".self/last_good.txt").trim(), head);
    server.close();
}

/// An owner who stops and starts what seems to do nothing: the new commit has not failed for that.
fn restarted(trial: &mut Trial) {
    let (server, outage, head) = edit_in_an_outage(trial);
    for life in 3..7 {
        assert_eq!(trial.stop(), 0);
        trial.start();
        until_on_probation(trial, &head, life);
    }
    outage.over(trial, &server);
    trial.recovers();
    assert_eq!(trial.house().read(".self/last_good.txt").trim(), head);
    server.close();
}

/// A thought that fetches from where nobody listens.
const FETCHES: &str = r#"{"monologue": "I read", "intent": "read", "tool_calls":
    [{"tool": "web.fetch_text", "args_json": "{\"url\": \"http://127.0.0.1:9/page\"}"}], "sleep_s": 1}"#;

/// A hand that reaches nothing says so to the mind, and the creature goes on.
fn out_of_reach(trial: &mut Trial) {
    let server = move_in(trial);
    let settings = trial.house().read("owner.toml");
    trial.house().write("owner.toml", &format!("{settings}[web]\nallow_private = true\n"));
    at_work(trial);
    trial.inject(|_| server.fall_into(Trouble::Says(FETCHES)));
    trial.until("memory to say what came of it", |house| {
        outage::memory(house).iter().any(|record| {
            let result = &record["data"]["result"];
            record["data"]["tool"] == "web.fetch_text"
                && result["ok"] == false
                && result["error"].as_str().is_some_and(|error| error.contains("127.0.0.1:9"))
                && result["hint"].is_string()
        })
    });
    let before = server.asked();
    pass(trial);
    let asked = server.asked() - before;
    assert!(asked <= 10 * if trial.variant.is_killed() { 2 } else { 1 }, "{asked} thoughts, no rest between");
    assert_eq!(trial.house().deaths().len(), trial.oracle.deaths_before, "it died of the web");
    trial.recovers();
    trial.note(format!("{asked} thoughts while it was watched, a second of rest between"));
    server.close();
}
