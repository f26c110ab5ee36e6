//! The senses: papers of any size, an inbox of any history, cursors and guardian.json of any shape.

use creature::paths::House;
use creature::senses::cursors::{Counts, Cursors};
use creature::senses::guardian::Standing;
use creature::senses::inbox::InboxCursor;
use creature::senses::watch::Watch;
use creature::senses::{asks, budget, news, packages};
use ground::papers;
use serde_json::json;
use std::path::PathBuf;
use tempfile::TempDir;

fn file(dir: &TempDir, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = dir.path().join("file");
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn papers_of_any_kind_are_read_within_bounds() {
    let dir = TempDir::new().unwrap();
    assert_eq!(papers::read(&dir.path().join("missing")), papers::Paper::default());
    assert_eq!(papers::read(&file(&dir, "be curious")).text, "be curious");
    let long = papers::read(&file(&dir, "ü".repeat(4_000_000)));
    assert!(
        long.text.len() <= 64 * 1024 && !long.text.contains('\u{fffd}') && long.problem.contains("8000000")
    );
    let binary = papers::read(&file(&dir, [1, 0, 2]));
    assert!(binary.text.is_empty() && binary.problem.contains("not text"));
    // Found: a purpose that an editor saved in UTF-16 was an empty one.
    std::fs::create_dir(dir.path().join(".self")).unwrap();
    std::fs::write(dir.path().join(".self/file"), "be curious").unwrap();
    let wide = papers::read(&file(&dir, [1, 0, 2]));
    assert!(wide.text == "be curious" && wide.problem.contains("not text"), "{wide:?}");
    assert!(papers::read(dir.path()).problem.contains("not a regular file"));
    assert_ne!(papers::read(&file(&dir, "a")).mark(), papers::read(&file(&dir, "b")).mark());
}

/// Older creatures read this file: the parts it has in memory are not seen in it.
#[test]
fn cursors_are_kept_flat() {
    let kept = serde_json::to_value(Cursors::default()).unwrap();
    let keys: Vec<&str> = kept.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys.join(" "),
        "wakes thoughts snapshot_at inbox words interrupted asks servers told news gathered money_told purpose checklist items"
    );
}

#[test]
fn cursors_survive_garbage_and_newer_selves() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("cursors.json");
    assert_eq!(Cursors::load(&path), (Cursors::default(), None));
    std::fs::write(&path, "{\"thoughts\": 7, \"of_tomorrow\": [1]}").unwrap();
    let (mut cursors, said) = Cursors::load(&path);
    assert_eq!((cursors.counts.thoughts, said), (7, None));
    assert!(
        cursors.events.first_telling("end 1".to_owned()) && !cursors.events.first_telling("end 1".to_owned())
    );
    for n in 0..1_000 {
        cursors.events.first_telling(format!("end {n} again"));
    }
    assert!(cursors.events.told.len() <= 64);
    // Many deaths that no thought has had yet, each with the end of its log.
    cursors.events.news = (0..64).map(|n| format!("Life {n} ended. {}", "x".repeat(4_096))).collect();
    cursors.save(&path).unwrap();
    assert_eq!(Cursors::load(&path), (cursors.clone(), None));
    let (back, _) = Cursors::load(&path);
    assert_eq!(back.newer["of_tomorrow"], json!([1]));
    for garbage in ["", "[]", "{\"thoughts\": -1}", "\u{0}", "{\"inbox\": \"x\"}"] {
        std::fs::write(&path, garbage).unwrap();
        let (cursors, said) = Cursors::load(&path);
        assert_eq!(cursors, Cursors::default());
        assert!(said.unwrap().contains("cursors.json"), "{garbage:?}");
    }
}

#[test]
fn counts_are_corrected_from_memory() {
    let record = |kind: &str, data| memory::Record::new(1, kind, data);
    let counts = Counts { thoughts: 3, wakes: 9, snapshot_at: 0 };
    let mut cursors = Cursors { counts, ..Cursors::default() };
    cursors.counts.correct(&[
        record("heartbeat", json!({"wake": 5, "thoughts": 11})),
        record("thought", json!({"wake": 6, "thought": 12})),
        record("thought", json!({"thought": 99, "garbled": true})),
        record("snapshot", json!({"thoughts": 10})),
        record("thought", json!("garbage")),
    ]);
    assert_eq!((cursors.counts.thoughts, cursors.counts.wakes, cursors.counts.snapshot_at), (12, 9, 10));
}

#[test]
fn the_guardian_is_believed_as_far_as_it_is_there() {
    let dir = TempDir::new().unwrap();
    assert!(Standing::read(&dir.path().join("missing")).unwrap().is_none());
    let path = file(&dir, json!({"life": 3, "blessed": true, "guardian_pid": 7, "new": {}}).to_string());
    let standing = Standing::read(&path).unwrap().unwrap();
    assert!(standing.life == 3 && standing.blessed);
    assert!(Standing::read(&file(&dir, "{\"life\": \"three\"}")).unwrap_err().contains("guardian.json"));
}

/// Found by stopping and starting: such a file was garbage, the model counted as absent, and instinct took the owner's words.
#[test]
fn what_an_orderly_stop_leaves_in_guardian_json_is_no_garbage() {
    let dir = TempDir::new().unwrap();
    let left = json!({"guardian_pid": null, "creature_pid": null, "life": 3, "commit": null, "blessed": null, "born": null, "falls": null});
    let standing = Standing::read(&file(&dir, left.to_string())).unwrap().unwrap();
    assert!(standing.life == 3 && !standing.blessed && standing.falls.is_empty());
}

#[tokio::test]
async fn its_own_changes_are_known_and_nobody_elses() {
    let dir = TempDir::new().unwrap();
    let house = House::new(dir.path());
    for path in [house.inbox(), house.purpose(), house.checklist(), house.asks()] {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "as it was").unwrap();
    }
    let mut watch = Watch::start(&house);
    let changed = |watch: &Watch| watch.changed().unwrap_or_default();
    assert_eq!(changed(&watch), "inbox.jsonl", "nothing is known before the first look");
    watch.know();
    assert_eq!(changed(&watch), "");
    watch.own_act(async { std::fs::write(house.purpose(), "rewritten").unwrap() }).await;
    assert_eq!(changed(&watch), "", "what it wrote itself");
    std::fs::write(house.checklist(), "- [ ] from the owner").unwrap();
    watch.own_act(async { std::fs::write(house.checklist(), "ticked off").unwrap() }).await;
    assert_eq!(changed(&watch), "HEARTBEAT.md", "the owner was there first");
    watch.know();
    watch.own_act(async { std::fs::write(house.inbox(), "a word meanwhile").unwrap() }).await;
    assert_eq!(changed(&watch), "inbox.jsonl", "the inbox is never its own");
    std::fs::write(house.inbox(), "as it was").unwrap();
    watch.know();
    std::fs::remove_file(house.purpose()).unwrap();
    assert_eq!(changed(&watch), "PURPOSE.md", "what is gone has changed");
}

/// Found by waiting: what mended the mind woke nobody. The page of the budget changes with each call, and wakes nobody by that.
#[test]
fn of_the_budget_only_what_opens_the_way_to_a_model_is_a_change() {
    let dir = TempDir::new().unwrap();
    let house = House::new(dir.path());
    std::fs::create_dir_all(house.budget().parent().unwrap()).unwrap();
    let page = |since: &str, day: &str, spent: f64| {
        let page = json!({"at": "t", "since": since, "day": day, "caps": [{"span": "day", "spent_usd": spent}], "stopped": null});
        std::fs::write(house.budget(), page.to_string()).unwrap();
    };
    let mut watch = Watch::start(&house);
    page("noon", "2026-11-25", 0.5);
    watch.know_budget();
    page("noon", "2026-11-25", 4.75);
    assert_eq!(watch.changed(), None, "a call was paid for");
    std::fs::write(house.budget(), "{\"since\": \"no").unwrap();
    assert_eq!(watch.changed(), None, "half a page");
    std::fs::remove_file(house.budget()).unwrap();
    assert_eq!(watch.changed(), None, "no page");
    page("noon", "2026-11-26", 0.0);
    assert_eq!(watch.changed().as_deref(), Some("budget.json"), "another day's money");
    watch.know_budget();
    page("one o'clock", "2026-11-26", 0.0);
    assert_eq!(watch.changed().as_deref(), Some("budget.json"), "a broker with what the owner saved");
    watch.know_budget();
    assert_eq!(watch.changed(), None);
}

/// Its own share comes as a rate, and was a reason to do nothing of its own from every Saturday on.
#[test]
fn a_share_that_is_used_up_is_no_want_of_money_and_a_cap_of_the_owners_is() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("budget.json");
    let said = |poor: bool| json!({"warning": "spent: 93 % of what there is", "poor": poor}).to_string();
    for poor in [false, true] {
        std::fs::write(&path, said(poor)).unwrap();
        assert_eq!(budget::read_money(&path).poor, poor);
    }
    std::fs::write(&path, json!({"closed": "the ledger is closed"}).to_string()).unwrap();
    assert!(budget::read_money(&path).poor);
}

#[test]
fn money_is_a_line_and_its_alarms_another() {
    let dir = TempDir::new().unwrap();
    assert_eq!(budget::read_money(&dir.path().join("missing")), budget::Money::default());
    let day = json!({"span": "day", "spent_usd": 1.234, "cap_usd": 5, "autonomous_usd": 0.1, "autonomous_cap_usd": 0.75});
    let week = json!({"span": "week", "spent_usd": 3, "cap_usd": 20.0});
    let text = json!({"caps": [day, week], "warning": null, "closed": null, "stopped": null});
    let calm = budget::read_money(&file(&dir, text.to_string()));
    let line =
        "Money: $1.23 of $5.00 spent today, $0.10 of $0.75 without being asked, $3.00 of $20.00 this week.";
    assert_eq!((calm.line.as_str(), calm.alarm.as_str()), (line, ""));
    let mut under_way = text.clone();
    under_way["reserved_usd"] = json!(0.18);
    let line_under_way = line.replace("this week.", "this week, $0.18 reserved for calls under way.");
    assert_eq!(budget::read_money(&file(&dir, under_way.to_string())).line, line_under_way);
    let mut alarming = text;
    alarming["warning"] = json!("80 % of today's money is spent");
    alarming["stopped"] = json!({"provider": "anthropic", "status": 402, "hint": "top up"});
    let alarmed = budget::read_money(&file(&dir, alarming.to_string()));
    let alarm = "80 % of today's money is spent; model calls are stopped: anthropic answered 402; top up";
    assert_eq!((alarmed.alarm.as_str(), alarmed.line), (alarm, format!("{line} {alarm}")));
    assert_eq!(alarmed.warning, "80 % of today's money is spent");
    for garbage in ["", "[]", "{\"warning\"", "\u{0}"] {
        assert!(budget::read_money(&file(&dir, garbage)).alarm.contains("cannot be read"));
    }
    let long = budget::read_money(&file(
        &dir,
        json!({"warning": "w".repeat(9_000), "caps": [{"cap_usd": "x", "span": "y".repeat(9_000)}, 3]})
            .to_string(),
    ));
    assert!(long.line.len() < 700, "{}", long.line);
}

mod probation {
    use super::*;

    #[test]
    fn news_of_servers_are_heard_once_and_within_bounds() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("news.jsonl");
        let mut cursor = InboxCursor::default();
        assert_eq!(news::read_news(&path, &mut cursor), (Vec::new(), String::new()));
        let changed = json!({"at": "1", "server": "mail", "event": "changed", "resources": ["mail://inbox"], "more": 0});
        let late = json!({"at": "2", "server": "big", "event": "progress", "tool": "count", "for_s": 30,
            "text": "x\u{1b}[2J".repeat(900)});
        let odd = "[]\n{broken\n{\"server\":3}\n{\"event\":\"changed\"}\n{\"server\":\"a\",\"event\":\"of tomorrow\"}";
        std::fs::write(&path, format!("{odd}\n{changed}\n{late}\n")).unwrap();
        let (heard, odd) = news::read_news(&path, &mut cursor);
        assert_eq!((heard.len(), odd.as_str()), (2, ""), "{heard:?}");
        let [(first, mail), (second, big)] = heard.as_slice() else { panic!("{heard:?}") };
        assert_eq!((first.as_str(), second.as_str()), ("news 1 mail changed", "news 2 big progress"));
        assert!(mail.starts_with("News of the server mail: not as it was"), "{mail}");
        assert!(mail.contains("text of others") && mail.contains("mail://inbox"), "{mail}");
        assert!(big.chars().count() <= 700 && !big.contains(char::is_control), "{big}");
        assert!(news::read_news(&path, &mut cursor).0.is_empty());
        std::fs::write(&path, format!("{changed}\n").repeat(500)).unwrap();
        assert!(news::read_news(&path, &mut cursor).0.len() <= 16);
    }

    #[test]
    fn outcomes_of_asks_are_heard_once_and_within_bounds() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("asks.jsonl");
        let mut cursor = InboxCursor::default();
        assert_eq!(asks::read_outcomes(&path, &mut cursor), (Vec::new(), String::new()));
        let line = |id: serde_json::Value, event: &str| {
            json!({"id": id, "event": event, "method": "POST", "path": "/p", "service": "s", "summary": "a\nb",
            "status": 201, "result": "x\u{0}".repeat(9_000), "of_tomorrow": []})
        .to_string()
        };
        let odd = ["[]", "\u{0}", "{\"event\":\"denied\"}", "{\"id\":{},\"event\":3}", "{broken", ""];
        let mut text = odd.join("\n");
        for (id, event) in
            [(json!("1"), "asked"), (json!("1"), "approved"), (json!("1"), "executed"), (json!(2), "denied")]
        {
            text += &format!("\n{}", line(id, event));
        }
        std::fs::write(&path, format!("{text}\n")).unwrap();
        let (heard, said) = asks::read_outcomes(&path, &mut cursor);
        let keys: Vec<&str> = heard.iter().map(|outcome| outcome.key.as_str()).collect();
        assert_eq!((keys.as_slice(), said.as_str()), (["ask 1 executed", "ask 2 denied"].as_slice(), ""));
        let told = &heard[0].told;
        assert!(told.starts_with(
            "Ask 1: your owner approved it and it was carried out: POST /p at s (a b); status 201"
        ));
        assert!(told.chars().count() <= 900 && !told.contains(char::is_control), "{told}");
        assert!(asks::read_outcomes(&path, &mut cursor).0.is_empty());
        std::fs::write(&path, (0..500).map(|n| line(json!(n), "failed") + "\n").collect::<String>()).unwrap();
        let (heard, said) = asks::read_outcomes(&path, &mut cursor);
        assert!(heard.len() <= 32 && said.contains("skipped"), "{} {said}", heard.len());
        let records: Vec<_> = heard
            .iter()
            .map(|outcome| memory::Record::new(1, "observation", outcome.record.clone()))
            .collect();
        let remembered: Vec<String> = asks::remembered(&records).collect();
        assert_eq!(remembered, heard.iter().map(|outcome| outcome.key.clone()).collect::<Vec<_>>());
    }
}

#[test]
fn packages_are_told_of_where_pip_and_npm_lead_to_the_broker() {
    let told = |python: &str, npm: &str| {
        packages::how_to_install(|name| match name {
            "PIP_INDEX_URL" => Some(python.to_owned()),
            "NPM_CONFIG_REGISTRY" => Some(npm.to_owned()),
            _ => None,
        })
    };
    let [python, npm] =
        ["python/simple/", "npm/"].map(|path| format!("http://life:t@127.0.0.1:9/packages/{path}"));
    assert!(told(&python, "").contains("pip install") && !told(&python, "").contains("npm"));
    assert!(told(&python, &npm).contains("npm install") && told(&python, &npm).contains("asks your owner"));
    assert_eq!(told("https://index.example.org/simple", "https://registry.example.org/"), "");
    assert_eq!(packages::how_to_install(|_| None), "");
}
