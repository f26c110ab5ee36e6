//! The morning report by itself: at its hour, slept over or not, once a day, as a file, a row and a notice.

use crate::notices::{STATE, WRITES, die, end, has, kept, notices, notify, program, start};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use trials::{House, SOUND, lines};

#[test]
fn the_day_of_a_morning_report_is_the_last_that_showed_its_hour() {
    let zone = house::moments::Place::named("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    let cases = [
        ("2026-11-24T06:29:59Z", "2026-11-23"),
        ("2026-11-24T06:30:00Z", "2026-11-24"),
        ("2026-11-24T22:59:59Z", "2026-11-24"),
        ("2026-11-24T23:00:00Z", "2026-11-24"),
        ("2026-07-01T05:29:00Z", "2026-06-30"),
        ("2026-07-01T05:30:00Z", "2026-07-01"),
    ];
    for (now, day) in cases {
        assert_eq!(zone.last_day_at("07:30", now.parse().unwrap()).as_deref(), Some(day), "{now}");
    }
    // At half past two on this day the clock goes from two to three, on that one it shows it twice.
    assert_eq!(
        zone.last_day_at("02:30", "2026-03-29T01:29:00Z".parse().unwrap()).as_deref(),
        Some("2026-03-28")
    );
    assert_eq!(
        zone.last_day_at("02:30", "2026-03-29T01:30:00Z".parse().unwrap()).as_deref(),
        Some("2026-03-29")
    );
    assert_eq!(
        zone.last_day_at("02:30", "2026-10-25T00:30:00Z".parse().unwrap()).as_deref(),
        Some("2026-10-25")
    );
    assert_eq!(zone.last_day_at("nonsense", "2026-10-25T00:30:00Z".parse().unwrap()), None);
}

#[test]
fn the_morning_report_slept_over_comes_at_once_and_once() {
    let house = House::new(SOUND);
    let hook = program(&house, "tell", WRITES);
    let report = "[report]\nat = \"00:00\"\n";
    house.settings(&format!("{report}{}", notify(&hook, "")));
    let start = || {
        let mut command = house.command(&[]);
        command.env("TZ", "UTC0");
        house.start_by(command)
    };
    let guardian = start();
    house.until("it waits for its hour", || kept(&house).reported.is_some());
    assert!(!house.path(".self/reports").exists(), "the first is made when the clock shows it next");
    guardian.stop();
    let day = kept(&house).reported.unwrap();
    for old in 0..70 {
        house.write(&format!(".self/reports/2020-{:02}-{:02}.md", old / 28 + 1, old % 28 + 1), "old");
    }
    house.write(".self/reports/notes.txt", "mine");
    house.write(
        ".self/history.jsonl",
        &format!("{}\n", json!({"at": "2020-05-01T00:00:00.000Z", "what": "target_cleared \u{1b}[2J"})),
    );
    house.write(
        STATE,
        &json!({"reported": "2020-04-30", "reported_at": "2020-04-30T00:00:00.000Z"}).to_string(),
    );
    for _ in 0..2 {
        let guardian = start();
        house.until("it is made and told", || has(&hook, "report"));
        house.until("it is shown", || {
            fs::read_to_string(&guardian.log).unwrap().contains("report: since 2020-04-30 00:00:00; now: ")
        });
        guardian.stop();
    }
    let text = house.read(&format!(".self/reports/{day}.md"));
    assert!(
        text.starts_with(&format!("# Report of {day}\n\n```\nsince 2020-04-30 00:00:00; now: ")),
        "{text}"
    );
    assert!(text.contains("all in all") && text.contains("target cleared \\u{1b}[2J 1"), "{text}");
    let names: Vec<String> = fs::read_dir(house.path(".self/reports"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 61, "the newest 60, and what is no report");
    assert!(names.contains(&"notes.txt".to_owned()) && !names.contains(&"2020-01-11.md".to_owned()));
    let told: Vec<Value> = notices(&hook).into_iter().filter(|one| one["what"] == "report").collect();
    assert_eq!(told.len(), 1, "once a day");
    let told = told[0]["text"].as_str().unwrap();
    assert!(
        told.starts_with("since 2020-04-30") && told.ends_with(&format!("\n.self/reports/{day}.md")),
        "{told}"
    );
    let log = fs::read_to_string(house.folder.path().join("guardian.log")).unwrap();
    assert_eq!(log.matches("report: since").count(), 1);
}

#[test]
fn without_a_program_the_report_is_made_and_nothing_gathered() {
    let house = House::new(SOUND);
    house.write(STATE, &json!({"reported": "2020-04-30"}).to_string());
    let mut child = start(&house, "[report]\nat = \"00:00\"\n[notify]\ndesktop = false\n", None);
    let mut said = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
    die(&house, 1, "a");
    end(child);
    assert!(house.path(".self/reports").exists() && kept(&house).reported_at.is_some());
    assert!(said.starts_with("{\"row\":\"report\",\"text\":\""), "{said}");
    assert!(kept(&house).waiting.is_empty());
    assert!(lines(&house.path(".self/deaths.jsonl")).len() == 1);
}
