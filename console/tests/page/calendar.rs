//! The calendar of a life: a square a day, falls notched, and no word of anybody's in it.

use console::life::Life;
use console::life::picture::days::{days, svg, told};
use house::House;
use house::moments::Place;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const SECRET: &str = "sk-live-0123456789 <script>";

fn write(root: &Path, name: &str, records: &[Value]) {
    let path = root.join(".self").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, records.iter().map(|record| format!("{record}\n")).collect::<String>()).unwrap();
}

/// Three days: one for the owner, one on which nothing was, one with an edit and a fall.
fn lived(root: &Path) -> Life {
    let thought = |at: &str, number: u64, wake: u64, owner: bool| json!({"at": at, "life": 1, "kind": "thought", "data": {"thought": number, "wake": wake, "owner": owner, "monologue": SECRET}});
    write(
        root,
        "memory.jsonl",
        &[
            json!({"at": "2026-01-02T10:00:00.000Z", "life": 1, "kind": "message", "data": {"from": "owner", "text": SECRET}}),
            thought("2026-01-02T10:00:05.000Z", 1, 1, true),
            thought("2026-01-04T10:00:05.000Z", 2, 2, false),
        ],
    );
    write(
        root,
        "history.jsonl",
        &[
            json!({"at": "2026-01-02T09:00:00.000Z", "what": "life", "life": 1, "commit": "a"}),
            json!({"at": "2026-01-04T11:00:00.000Z", "what": "commit", "by": "self", "commit": "b", "summary": SECRET}),
            json!({"at": "2026-01-04T12:00:00.000Z", "what": "fall", "life": 1, "from_commit": "b", "to_commit": "a", "told": SECRET}),
        ],
    );
    write(
        root,
        "ledger.jsonl",
        &[
            json!({"at": "2026-01-02T10:00:04.000Z", "event": "settle", "class": "owner", "cost_micro_usd": 1_250_000}),
        ],
    );
    let mut life = Life::open(&House::new(root));
    while life.look().more {}
    life
}

fn folder() -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("feral-calendar-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn each_day_has_its_square_and_the_whole_its_sum() {
    let root = folder();
    let (life, place) = (lived(&root), Place::named("UTC0").unwrap());
    let days = days(&life, &place);
    assert_eq!(told(&days), "3 days, 2 thoughts, 1 self-edit, 1 fall, $1.25");
    let shown = svg(&days, &place, false);
    assert_eq!(shown.matches(" href=\"/life?from=").count(), 3, "{shown}");
    assert!(
        shown.contains("aria-label=\"3 Jan 2026: 0 thoughts, 0 acts, 0 self-edits, 0 falls, $0.00\""),
        "{shown}"
    );
    assert!(shown.contains("class=\"why-owner\" x=") && shown.contains("class=\"why-none\""), "{shown}");
    // One notch of the day and one of the legend.
    assert_eq!((shown.matches("class=\"fell\"").count(), shown.matches("class=\"edited\"").count()), (2, 1));
    let alone = svg(&days, &place, true);
    assert!(
        !alone.contains("<a ") && !alone.contains("href") && alone.contains("3 days, 2 thoughts"),
        "{alone}"
    );
    for drawn in [&shown, &alone] {
        assert!(
            !drawn.contains("sk-live") && !drawn.contains("script") && !drawn.contains(" style="),
            "{drawn}"
        );
    }
    // By the owner's clock: twelve hours west the first of these was still the day before.
    let west = Place::named("XYZ12").unwrap();
    assert!(
        console::life::picture::days::days(&life, &west).keys().next().unwrap().to_string() == "2026-01-01"
    );
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn no_life_has_no_calendar() {
    let life = Life::open(&House::new("/nonexistent"));
    let place = Place::named("UTC0").unwrap();
    assert_eq!(svg(&days(&life, &place), &place, true), "");
}
