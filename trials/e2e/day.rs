//! An owner's day in a real house: seven requests on three threads, with words in between, a fall, a rebirth and a stop.
//! All seven end, each once.

use super::faithful::{Faithful, Message, Rules, Say, Seen, Shown, Wire};
use super::{LIMITS, memory, start, until};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use trials::House;
use trials::clone::Clone;
use trials::model::asleep;

/// Lines that a task is to write.
const LINES: usize = 3;
const EDIT: &str = "rest 50 s when idle";

fn text(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Shown::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// What it works on, by what it was shown last: words not answered yet, with them; or the request a wake is for.
fn tasks(seen: &Seen) -> (Vec<char>, String) {
    let named = |text: &str| -> Vec<char> {
        let parts = text.split("task ").skip(1);
        parts.filter_map(|part| part.chars().next().filter(|_| part[1..].starts_with(':'))).collect()
    };
    for message in seen.messages.iter().rev().filter(|message| message.role != "assistant") {
        let text = text(message);
        // A life that was killed before it answered left what it was shown: both stand in one message then.
        let said = text.split("# Your owner's words, not yet answered").skip(1);
        let words: String = said.filter_map(|words| words.split("\n# ").next()).collect();
        if !named(&words).is_empty() || words.contains("legs") {
            return (named(&words), words);
        }
        if let Some(line) = text.lines().find(|line| line.contains("This wake is for it.")) {
            return (named(line), line.split(' ').filter(|word| *word == "legs").collect());
        }
    }
    (Vec::new(), String::new())
}

/// Writes the lines of its tasks, one a thought; edits itself and runs a long command where a task says so.
fn worker(seen: &Seen) -> Say {
    let (tasks, new) = tasks(seen);
    if tasks.is_empty() {
        // The question about the dog, or its own work.
        return match (new.is_empty(), seen.body.to_string().contains("Four.")) {
            (true, _) => Say::new().says("Nothing else.").rests(300),
            (false, true) => Say::new().says("As I said."),
            (false, false) => Say::new().says("Four."),
        };
    }
    if tasks.contains(&'S') {
        return Say::new().says("I run it.").calls("repo.run", json!({"command": "sleep 900"}));
    }
    if tasks.contains(&'R') {
        let shown = seen.messages.iter().filter(|message| message.role != "assistant").map(text);
        if shown.collect::<String>().contains(EDIT) {
            return Say::new().says("task R is done.");
        }
        let line = |s: u64| format!("pub const IDLE_REST_S: u64 = {s};");
        let edit = json!({"path": "creature/src/pace.rs", "old": line(40), "new": line(50)});
        let args = json!({"edits": [edit], "summary": EDIT, "hold": null});
        return Say::new().says("I change my pace.").calls("repo.edit", args);
    }
    let look = |say: Say| say.calls("notes.read", json!({"name": "diary"}));
    let results = seen.last_results();
    let Some((name, text)) = results.last() else {
        let say = Say::new().says("I take it up.");
        if new.is_empty() {
            return look(say);
        }
        let tells = |say: Say, text: &str| {
            say.calls("owner.message", json!({"text": text, "done": false, "kind": null}))
        };
        let say = if new.contains("legs") { tells(say, "Four.") } else { say };
        return look(tells(say, &format!("I begin with task {}.", tasks[0])));
    };
    if !name.contains("read") || text.contains("outcome unknown") || text.contains("not run") {
        return look(Say::new().says("How far is it?"));
    }
    let lines = tasks.iter().flat_map(|task| (1..=LINES).map(move |at| format!("<{task}{at}>")));
    match lines.into_iter().find(|line| !text.contains(line.as_str())) {
        Some(line) => Say::new().says("On.").calls("notes.append", json!({"name": "diary", "text": line})),
        None => {
            let done: Vec<String> = tasks.iter().map(|task| format!("task {task} is done.")).collect();
            Say::new().says(&done.join(" "))
        }
    }
}

fn say(house: &House, thread: &str, text: &str) {
    let inbox = File::options().create(true).append(true).open(house.path(".self/inbox.jsonl"));
    writeln!(inbox.unwrap(), "{}", json!({"text": text, "thread": thread})).unwrap();
}

fn diary(house: &House) -> String {
    std::fs::read_to_string(house.path("self/diary.md")).unwrap_or_default()
}

/// What it told the owner, with the thread, in order.
fn told(house: &House) -> Vec<(String, String)> {
    let text = |data: &Value, key: &str| data[key].as_str().unwrap_or_default().to_owned();
    let mine = |record: &&Value| record["kind"] == "message" && record["data"]["from"] == "creature";
    memory(house)
        .iter()
        .filter(mine)
        .map(|record| (text(&record["data"], "thread"), text(&record["data"], "text")))
        .collect()
}

fn written(house: &House, line: &str) {
    until(house, line, || diary(house).contains(line));
}

fn requests(house: &House) -> Vec<Value> {
    let agenda: Value = serde_json::from_str(&house.read(".self/mind/agenda.json")).unwrap_or_default();
    agenda["requests"]["list"].as_array().cloned().unwrap_or_default()
}

/// Each of the seven is answered once, on its thread, and each line of its work written once; the stopped one is not.
fn each_ended_once(house: &House) {
    let is_done = |task: char| {
        let done = format!("task {task} is done.");
        told(house).iter().filter(|(_, text)| text.contains(&done)).count()
    };
    for task in ['A', 'B', 'C', 'D', 'R'] {
        assert_eq!(is_done(task), 1, "task {task}: {:#?}", told(house));
    }
    assert_eq!(is_done('S'), 0, "what was stopped is not done");
    let said = told(house);
    assert_eq!(said.iter().filter(|(_, text)| text == "Four.").count(), 1, "{said:#?}");
    let stopped: Vec<_> = said.iter().filter(|(_, text)| text.to_lowercase().contains("stopped")).collect();
    assert_eq!(stopped.len(), 1, "{said:#?}");
    assert_eq!(stopped[0].0, "main");
    for task in ['A', 'B', 'C', 'D'] {
        for at in 1..=LINES {
            assert_eq!(
                diary(house).matches(&format!("<{task}{at}>")).count(),
                1,
                "<{task}{at}>: {}",
                diary(house)
            );
        }
    }
}

#[test]
fn seven_requests_of_a_day_with_a_fall_a_rebirth_and_a_stop_all_end_each_once() {
    let clone = Clone::new();
    let house = &clone.house;
    let server = Faithful::start(Wire::Anthropic, Rules::default(), worker);
    let (model, address) = (Wire::Anthropic.model(), server.base_url());
    house.write("owner.toml", &format!(
        "{LIMITS}[budget]\ndaily_usd = 20\nweekly_usd = 100\n{}[rest]\nshortest_s = 1\n[model]\nprovider = \
         \"anthropic\"\nmodel = \"{model}\"\nbase_url = \"{address}\"\nkey_env = \"TEST_MODEL_KEY\"\n",
        asleep()
    ));
    let guardian = start(house);
    until(house, "the first blessing", || house.status()["blessed"] == true);
    say(house, "main", "task A: write its lines");
    written(house, "<A1>");
    say(house, "garden", "task B: write its lines");
    written(house, "<B1>");
    say(house, "main", "task C: write its lines");
    say(house, "shop", "how many legs has a dog?");
    written(house, "<C1>");
    // It dies in the middle of its work.
    let (life, pid) = (house.status()["life"].as_u64(), house.status()["creature_pid"].as_i64().unwrap());
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid as i32), nix::sys::signal::Signal::SIGKILL)
        .unwrap();
    say(house, "shop", "task D: write its lines");
    until(house, "another life", || house.status()["life"].as_u64() > life);
    written(house, "<D1>");
    let good = house.read(".self/last_good.txt");
    say(house, "garden", "task R: change your pace");
    until(house, "the rebirth", || house.read(".self/last_good.txt") != good);
    until(house, "the change to be told", || {
        told(house).iter().any(|(_, text)| text.contains("task R is done."))
    });
    say(house, "main", "task S: run the long command");
    until(house, "the command", || {
        house.read(".self/heartbeat").contains("acting")
            && server.seen().iter().any(|seen| tasks(seen).0.contains(&'S'))
    });
    say(house, "main", "stop that");
    until(house, "the end of all seven", || {
        server.assert_no_violations();
        let all = requests(house);
        all.len() == 7 && all.iter().all(|one| !one["ended_at"].is_null())
    });
    // A request ends when the stop is heard; what was stopped is told when it is obeyed.
    until(house, "the word of what was stopped", || {
        told(house).iter().any(|(_, text)| text.to_lowercase().contains("stopped"))
    });
    each_ended_once(house);
    assert!(house.told("broken").is_empty() && house.told("fall").is_empty(), "a sound day breaks nothing");
    assert_eq!(guardian.stop(), 0);
    assert_eq!(house.leftovers(), Vec::<i32>::new());
    println!("{} model calls, {} lives", server.seen().len(), house.told("life").len());
}
