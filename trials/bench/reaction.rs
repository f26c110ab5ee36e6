//! How long the real creature takes from an edit to the self that was built from it, step by step, and to its blessing.

use crate::bench::rewrite::{first_beat, life, settled_clone, until_settled, wall};
use crate::bench::row::Row;
use crate::bench::{Plan, Table};
use serde_json::Value;
use trials::{House, lines};

/// What is edited, in a word, and the constant of it that is given another value.
const EDITS: [(&str, &str, &str); 3] = [
    ("the loop", "creature/src/life/think.rs", "MOST_MONOLOGUE"),
    ("a crate", "creature/crates/hands/src/tags.rs", "MOST_ENTITIES"),
    ("a test alone", "creature/tests/creature/probation/sight/storm.rs", "EVENTS"),
];

/// Seconds of the steps of one kind of edit.
#[derive(Default)]
struct Samples {
    whole: Vec<f64>,
    build: Vec<f64>,
    tests: Vec<f64>,
    rehearsal: Vec<f64>,
    rebirth: Vec<f64>,
    blessing: Vec<f64>,
}

pub fn measure(plan: &Plan) -> Table {
    plan.say("a clone of this repository, warmed with what is built already");
    let (clone, guardian) = settled_clone("reaction");
    let house = &clone.house;
    let mut samples: [Samples; 3] = Default::default();
    // What a house's first edit of a kind builds for the first time is not what the second one waits for.
    for round in 0..=plan.scaled(3, 1) {
        for (at, (what, file, name)) in EDITS.into_iter().enumerate() {
            plan.say(&format!("round {round}: an edit of {what}"));
            let taken = &mut samples[at];
            self_edit(house, file, name, taken);
            if round == 0 {
                *taken = Samples::default();
            }
        }
    }
    assert_eq!(guardian.stop(), 0);
    let mut rows = Vec::new();
    for ((what, file, _), taken) in EDITS.into_iter().zip(&samples) {
        let method = format!(
            "A patch of one constant in `{file}`, handed to the real creature as a word of the owner's, to the first beat \
             of the life that was built from it; every house's first edit of a kind is left out."
        );
        rows.push(Row::new(&format!("{what}: edit → reborn"), "s", &taken.whole, &method).aim("10 s"));
        let method = "Steps as the creature's record of the self-edit has them; rebirth is from its last record to the next \
            life's first beat, and the blessing from there, with the tests that run beside the newborn.";
        for (step, took) in [
            ("build, tests compiled", &taken.build),
            ("tests", &taken.tests),
            ("rehearsal", &taken.rehearsal),
            ("rebirth", &taken.rebirth),
            ("first beat → blessed", &taken.blessing),
        ] {
            rows.push(Row::new(&format!("{what}, of it: {step}"), "s", took, method));
        }
    }
    Table::new(rows)
}

/// Hands the creature a patch, as an owner would, and waits for the life that was built from it, and for its blessing.
fn self_edit(house: &House, file: &str, name: &str, samples: &mut Samples) {
    let old = life(house);
    let begun = wall();
    let patch = patch(file, &house.read(file), name);
    let word = serde_json::json!({"at": "", "text": format!("Please.\n```diff\n{patch}```")});
    house.write(".self/inbox.jsonl", &format!("{}{word}\n", house.read(".self/inbox.jsonl")));
    let beats = first_beat(house, old);
    let records = lines(&house.path(".self/memory.jsonl"));
    let of = |kind: &str, key: &str, value: &str| -> Value {
        let found = records.iter().rfind(|record| record["kind"] == kind && record["data"][key] == value);
        found.unwrap_or_else(|| panic!("no {kind} with {key} {value} in memory")).clone()
    };
    let took = &of("self_change", "stage", "asked")["data"]["took"];
    let step = |name: &str| took[name].as_f64().unwrap() / 1e3;
    samples.build.push(step("build_ms"));
    samples.tests.push(step("test_ms"));
    samples.rehearsal.push(step("rehearsal_ms"));
    let left: jiff::Timestamp =
        of("observation", "about", "rebirth")["at"].as_str().unwrap().parse().unwrap();
    samples.rebirth.push((beats - left.as_millisecond() as f64) / 1e3);
    samples.whole.push((beats - begun) / 1e3);
    until_settled(house, old);
    samples.blessing.push((wall() - beats) / 1e3);
}

/// A diff that adds one to a constant.
fn patch(file: &str, text: &str, name: &str) -> String {
    let all: Vec<&str> = text.lines().collect();
    let found = all.iter().enumerate().find_map(|(at, line)| {
        let (left, value) = line.split_once(" = ")?;
        let value: u64 = value.trim_end_matches(';').replace('_', "").parse().ok()?;
        left.contains(&format!("const {name}:")).then_some((at, left, value))
    });
    let (at, left, value) = found.unwrap_or_else(|| panic!("no {name} in {file}"));
    format!(
        "--- a/{file}\n+++ b/{file}\n@@ -{at},3 +{at},3 @@\n {}\n-{}\n+{left} = {};\n {}\n",
        all[at - 1],
        all[at],
        value + 1,
        all[at + 1]
    )
}
