//! A life as a process: born, thinking, interrupted by its owner, leaving when asked.

use crate::broker::loopback;
use crate::house::{Line, Living, Script, TempHouse, thought, wait_for};
use creature::config::Told;
use creature::life::birth::birth;
use creature::life::passed::Reasons;
use creature::paths::House;
use serde_json::{Value, json};

#[test]
fn a_life_is_born_thinks_and_leaves_when_asked() {
    let house = TempHouse::new();
    let living = house.live(7);
    let birth = house.record("observation", |data| data["about"] == "birth");
    assert_eq!(birth.life, 7);
    assert_eq!(birth.data["mind"], "instinct");
    assert!(birth.data["commit"].as_str().unwrap().starts_with("0123456"));
    house.record("heartbeat", |data| data["wake"] == 1);
    let thought = house.record("thought", |data| data["thought"] == 1);
    for key in ["mind", "wake", "round", "monologue", "intent", "tool_calls", "sleep_s", "usage"] {
        assert!(thought.data.get(key).is_some(), "{key} is missing in {}", thought.data);
    }
    let beat: Value = wait_for("a beat after the first thought", || {
        let text = std::fs::read_to_string(house.path(".self/heartbeat")).ok()?;
        serde_json::from_str(&text).ok().filter(|beat: &Value| beat["thoughts"].as_u64() >= Some(1))
    });
    assert_eq!(beat["life"], 7);
    assert_eq!(beat["mind"], "instinct");
    let status = living.leave();
    assert!(status.success(), "{status}\n{}", house.log());
    let last = house.records().pop().unwrap();
    assert_eq!(last.data["about"], "leave");
    let beat = std::fs::read_to_string(house.path(".self/heartbeat")).unwrap();
    assert!(beat.contains("leaving"), "{beat}");
}

#[test]
fn counts_go_on_in_the_next_life_even_without_cursors() {
    let house = TempHouse::new();
    let living = house.live(1);
    house.record("thought", |data| data["thought"] == 1);
    living.leave();
    let last = house.records().iter().filter_map(|r| r.data["thought"].as_u64()).max().unwrap();
    std::fs::remove_file(house.path(".self/mind/cursors.json")).unwrap();
    let living = house.live(2);
    let next = wait_for("a thought of the second life", || {
        house.records().into_iter().find(|r| r.kind == "thought" && r.life == 2)
    });
    assert_eq!(next.data["thought"], last + 1);
    living.leave();
}

#[test]
fn a_saved_purpose_cuts_the_rest_short_and_is_in_the_next_thought() {
    loopback!();
    let script = Script::new(vec![thought("rest long", json!([]), 300)]);
    let house = TempHouse::with_model("openai", &script, 300);
    let living = house.live(1);
    assert!(script.situation(0).contains("Be curious about small things"));
    house.record("thought", |data| data["thought"] == 1);
    house.write("PURPOSE.md", "# Purpose\n\nCount the sparrows.\n");
    let asked = script.situation(1);
    assert!(asked.contains("Count the sparrows") && asked.contains("PURPOSE.md changed"), "{asked}");
    house.record("observation", |data| data["about"] == "purpose");
    house.record("thought", |data| data["thought"] == 2);
    // Replaced by rename, as many editors do.
    house.write("PURPOSE.md.new", "# Purpose\n\nCount the swifts.\n");
    std::fs::rename(house.path("PURPOSE.md.new"), house.path("PURPOSE.md")).unwrap();
    assert!(script.situation(2).contains("Count the swifts"));
    living.leave();
}

#[test]
fn the_owners_words_cut_the_rest_short_and_wait_until_answered() {
    loopback!();
    let say = json!([{"tool": "memory.append", "args": {"kind": "message",
        "data": {"from": "creature", "text": "hello yourself"}}}]);
    let script = Script::new(vec![
        thought("rest", json!([]), 300),
        thought("think about it", json!([]), 300),
        thought("answer", say, 300),
        thought("rest", json!([]), 300),
    ]);
    let house = TempHouse::with_model("openai", &script, 300);
    let living = house.live(1);
    house.record("thought", |data| data["thought"] == 1);
    house.say("hello there");
    const WAITS: &str = "not yet answered";
    assert!(!script.situation(0).contains(WAITS));
    let asked = script.situation(1);
    assert!(asked.contains("hello there") && asked.contains(WAITS), "{asked}");
    house.record("message", |data| data["from"] == "owner" && data["text"] == "hello there");
    house.record("thought", |data| data["thought"] == 2);
    house.say(r#"{"at":"2026-01-01T00:00:00.000Z","text":"are you there?"}"#);
    let asked = script.situation(2);
    assert!(asked.contains("hello there") && asked.contains("are you there?"), "{asked}");
    house.record("message", |data| data["text"] == "hello yourself");
    house.write("PURPOSE.md", "wake up");
    assert!(!script.situation(3).contains(WAITS));
    living.leave();
    assert_eq!(house.records().iter().filter(|r| r.data["from"] == "owner").count(), 2);
}

#[test]
fn asked_to_leave_while_the_model_thinks_it_leaves_at_once() {
    loopback!();
    let script = Script::new(vec![Line::Hangs]);
    let house = TempHouse::with_model("openai", &script, 300);
    let living = house.live(1);
    script.request(0);
    assert!(living.leave().success());
    assert_eq!(house.records().pop().unwrap().data["about"], "leave");
    assert!(
        !house.records().iter().any(|r| r.data["about"] == "model"),
        "the model's deadline was waited for"
    );
}

#[test]
fn eight_rounds_are_a_wake() {
    loopback!();
    let dig = json!([{"tool": "notes.append", "args": {"name": "diary", "text": "dug"}}]);
    let script = Script::new(vec![thought("again", dig, 0)]);
    let house = TempHouse::with_model("openai", &script, 300);
    let living = house.live(1);
    house.record("heartbeat", |data| data["wake"] == 2);
    living.leave();
    let records = house.all_records();
    let second = records.iter().position(|r| r.kind == "heartbeat" && r.data["wake"] == 2).unwrap();
    let rounds: Vec<u64> = records[..second].iter().filter_map(|r| r.data["round"].as_u64()).collect();
    assert_eq!(rounds, [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn deaths_and_falls_are_told_once_and_until_thought_of() {
    loopback!();
    let script = Script::new(vec![Line::Fails(401), thought("mourn", json!([]), 300)]);
    let house = TempHouse::with_model("openai", &script, 300);
    let standing = json!({
        "version": 1, "life": 9, "commit": "cafe", "blessed": false, "guardian_pid": 0, "of_tomorrow": [1],
        "born": {"summary": "try a shorter pace"},
        "ends": [{"life": 8, "at": "2026-01-01T00:00:00.000Z", "ended": "crashed", "cause": "exit status 101",
            "blame": "code", "commit": "deadbeefcafe", "log_tail": "panicked at src/life.rs"}],
        "falls": [{"life": 8, "at": "2026-01-01T00:00:01.000Z", "from_commit": "deadbeefcafe",
            "to_commit": "feedc0de", "deaths": 3, "cause": "crash loop",
            "fallen_ref": "refs/guardian/fallen/1", "rescued_ref": null},
            {"life": 8, "at": "2026-01-01T00:00:02.000Z", "from_commit": "beefdead", "to_commit": "feedc0de",
            "deaths": 0, "cause": "tests_failed", "evidence": "panicked at tests/a.rs:3",
            "told": "guardian: put creature back to feedc0d since its tests failed: probation::a::b"}],
    });
    house.write(".self/guardian.json", standing.to_string());
    let living = house.live(9);
    house.record("self_change", |data| data["stage"] == "born" && data["summary"] == "try a shorter pace");
    house
        .record("death", |data| data["ended"] == "crashed" && data["told"].as_str().unwrap().contains("101"));
    let fall = house.record("death", |data| data["deaths"] == 3);
    assert!(fall.data["told"].as_str().unwrap().contains("refs/guardian/fallen/1"));
    let fall = house.record("death", |data| data["cause"] == "tests_failed");
    let told = "put creature/ back from commit beefdea to feedc0d, since the tests beside its first life failed: probation::a::b";
    assert!(fall.data["told"].as_str().unwrap().contains(told), "{fall:?}");
    house.record("observation", |data| data["about"] == "model");
    living.leave();
    // The first life had no thought of it, so the second still hears; no record is written twice.
    let living = house.live(10);
    house.record("thought", |data| data["intent"] == "mourn");
    let asked = script.situation(1);
    assert!(asked.contains("crashed") && asked.contains("crash loop"), "{asked}");
    house.write("PURPOSE.md", "wake up");
    assert!(!script.situation(2).contains("# News"));
    living.leave();
    assert_eq!(house.records().iter().filter(|r| r.kind == "death").count(), 3);
}

#[test]
fn a_snapshot_is_kept_every_fifty_thoughts() {
    loopback!();
    let count = json!([{"tool": "notes.append", "args": {"name": "scratch", "text": "a sparrow"}}]);
    let script = Script::new(vec![thought("count the sparrows", count, 0)]);
    let house = TempHouse::with_model("openai", &script, 300);
    house.write(".self/mind/cursors.json", json!({"thoughts": 48, "wakes": 3, "of_tomorrow": 5}).to_string());
    let living = house.live(1);
    let kept = house.record("snapshot", |data| data["thoughts"] == 50);
    let text = std::fs::read_to_string(house.path(kept.data["path"].as_str().unwrap())).unwrap();
    assert!(text.contains("## How I changed myself") && text.contains("after 50 thoughts"), "{text}");
    // It is shown where a conversation begins, and not said into one that goes on.
    let shows = |request: &Value| request["messages"].to_string().contains("after 50 thoughts");
    house.say("how many are there?");
    let asked = wait_for("the snapshot at the begin of a conversation", || {
        let asked = script.asked.lock().unwrap().clone();
        asked.iter().any(shows).then_some(asked)
    });
    let first = asked.iter().position(shows).unwrap();
    assert!(asked[first]["messages"].to_string().contains("how many are there?"));
    assert!(script.news(first).contains("What you remember (last snapshot)"));
    living.leave();
    let cursors = std::fs::read_to_string(house.path(".self/mind/cursors.json")).unwrap();
    assert!(cursors.contains("of_tomorrow"), "what a newer self keeps is lost: {cursors}");
}

#[test]
fn asked_to_leave_while_a_tool_runs_it_ends_the_tools_whole_tree() {
    loopback!();
    let run = json!([{"tool": "repo.run", "args": {"command": "echo $$ > shell.pid; setsid sleep 300 & sleep 300"}}]);
    let script = Script::new(vec![thought("sleep", run, 300)]);
    let house = TempHouse::with_model("openai", &script, 300);
    let living = house.live(1);
    let shell: i32 = wait_for("the tool's shell", || {
        std::fs::read_to_string(house.path("shell.pid")).ok()?.trim().parse().ok()
    });
    assert!(living.leave().success());
    let stopped = house.record("action", |data| data["tool"] == "repo.run");
    assert!(stopped.data["result"]["error"].as_str().unwrap().contains("asked to leave"));
    assert_eq!(house.records().pop().unwrap().data["about"], "leave");
    // Dead and not yet reaped is dead: run by a creature, which is a reaper too, the body waits for that one's command to end.
    let alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{shell}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with('Z'))
    };
    wait_for("the end of the shell", || (!alive()).then_some(()));
}

#[tokio::test]
async fn what_is_odd_is_told_when_it_begins_and_when_it_changes() {
    let house = TempHouse::new();
    let told = Told {
        house: House::new(house.path("")),
        life: 4,
        commit: String::new(),
        safe: false,
        rehearsal: true,
        broker: None,
        lifeline: creature::lifeline::Lifeline::default(),
        clock: creature::clock::Clock::default(),
    };
    let mut life = birth(told).await.unwrap();
    let said = || house.records().iter().filter(|r| r.data["about"] == "checklist").count();
    for (text, times) in
        [("fine\n", 0), ("\0", 1), ("\0", 1), ("\0\0", 2), ("fine\n", 2), ("\0\0", 3), ("\0\0", 3)]
    {
        house.write("self/HEARTBEAT.md", text);
        let moment = life.sense(0, &Reasons::default()).unwrap().moment;
        assert_eq!(moment.checklist, if text.starts_with('\0') { "" } else { text });
        assert_eq!(said(), times, "{text:?}");
    }
}

/// Found by reading: a line of the log did not say for which wake and thought it was written.
#[test]
fn a_line_of_the_log_says_in_which_life_wake_thought_and_call_it_was_written_where_that_is_asked_for() {
    loopback!();
    let said = json!([{"tool": "files.read", "args": {"path": "nowhere.txt"}}]);
    for (filter, begins) in [("debug", true), ("info", false)] {
        let script = Script::new(vec![thought("look", said.clone(), 0), thought("rest", json!([]), 300)]);
        let house = TempHouse::with_model("openai", &script, 300);
        let mut command = house.command(7);
        let living = Living { child: command.env("RUST_LOG", filter).spawn().unwrap() };
        house.record("action", |data| data["tool"] == "files.read");
        assert!(living.leave().success(), "{}", house.log());
        let log = house.log();
        let line = log.lines().find(|line| line.contains("files.read failed")).unwrap();
        let within = "life{life=7}:wake{wake=1}:thought{thought=1}:call{tool=\"files.read\"}: ";
        assert_eq!(line.contains(within), begins, "{filter}: {line}");
        assert_eq!(line.contains("life="), begins, "{filter}: {line}");
    }
}
