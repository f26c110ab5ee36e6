//! An owner's day: seven requests on three threads, with words in between, a kill, a pause, and a life with another frame.
//! All seven end, each once.

use super::world::{NATIVE, World};
use crate::broker::loopback;
use crate::faithful::{Message, Rules, Say, Seen, Shown, Wire};
use crate::house::wait_for;
use serde_json::{Value, json};

/// Lines that each task is to write.
const LINES: usize = 3;

/// What a mind works on, by what it was shown last: words not answered yet, with them; or the request a wake is for.
fn tasks(seen: &Seen) -> (Vec<char>, String) {
    let text = |message: &Message| {
        let texts = message.parts.iter().filter_map(|part| match part {
            Shown::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    };
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
            // The question needs no work: it is answered as if it had just been said.
            return (named(line), line.split(' ').filter(|word| *word == "legs").collect());
        }
    }
    (Vec::new(), String::new())
}

/// Writes the lines of its tasks, one a thought, each once, and says when a task is done.
fn worker(seen: &Seen) -> Say {
    let (tasks, new) = tasks(seen);
    let look = |say: Say| say.calls("notes.read", json!({"name": "diary"}));
    if tasks.is_empty() {
        // The question about the dog, or its own work.
        return match (new.is_empty(), seen.body.to_string().contains("Four.")) {
            (true, _) => Say::new().rests(300),
            (false, true) => Say::new().says("As I said."),
            (false, false) => Say::new().says("Four."),
        };
    }
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

fn diary(world: &World) -> String {
    std::fs::read_to_string(world.house.path("self/diary.md")).unwrap_or_default()
}

fn say(world: &World, thread: &str, text: &str) {
    let at = jiff::Timestamp::now().to_string();
    world.house.say(&json!({"at": at, "text": text, "thread": thread}).to_string());
}

/// Waits until a line stands in the diary.
fn written(world: &World, line: &str) {
    wait_for(&format!("the line {line}"), || diary(world).contains(line).then_some(()));
    world.server.assert_no_violations();
}

fn said(world: &World) -> Vec<(String, String)> {
    let text = |data: &Value, key: &str| data[key].as_str().unwrap_or_default().to_owned();
    let records = world.house.last_records(10_000).into_iter();
    let answers = records.filter(|record| record.kind == "message" && record.data["kind"] == "answer");
    answers.map(|record| (text(&record.data, "thread"), text(&record.data, "text"))).collect()
}

#[test]
fn seven_requests_of_a_day_on_three_threads_all_end_each_once() {
    loopback!();
    let world = World::new(Wire::Anthropic, Rules::default(), NATIVE, worker);
    say(&world, "main", "task A: write its lines");
    let mut living = world.house.live(1);
    written(&world, "<A1>");
    say(&world, "garden", "task B: write its lines");
    written(&world, "<B1>");
    say(&world, "main", "task C: write its lines");
    say(&world, "shop", "how many legs has a dog?");
    written(&world, "<C1>");
    // It falls in the middle.
    living.child.kill().unwrap();
    living.child.wait().unwrap();
    say(&world, "shop", "task D: write its lines");
    let living = world.house.live(2);
    written(&world, "<D1>");
    say(&world, "garden", "task E: write its lines");
    written(&world, "<E1>");
    say(&world, "main", "pause");
    world.house.record("message", |data| {
        data["kind"] == "answer" && data["text"].as_str().unwrap().contains("pause")
    });
    say(&world, "main", "resume");
    say(&world, "main", "task F: write its lines");
    written(&world, "<F1>");
    // It is born again, and what it was shown so far cannot be gone on with.
    assert!(living.leave().success());
    world.offer(json!({"window": 200_000, "effort": "low"}));
    let living = world.house.live(3);
    wait_for("the end of all seven", || {
        world.server.assert_no_violations();
        let said = said(&world);
        let done = |task: char| said.iter().any(|(_, text)| text.contains(&format!("task {task} is done.")));
        ("ABCDEF".chars().all(done) && said.iter().any(|(_, text)| text == "Four.")).then_some(())
    });
    let ended = || {
        let agenda = std::fs::read(world.house.path(".self/mind/agenda.json")).ok()?;
        let agenda: Value = serde_json::from_slice(&agenda).ok()?;
        let open =
            agenda["requests"]["list"].as_array()?.iter().filter(|one| one["ended_at"].is_null()).count();
        (open == 0).then_some(agenda)
    };
    let agenda = wait_for("no request is open", ended);
    assert!(living.leave().success());
    let (said, diary) = (said(&world), diary(&world));
    for (task, thread) in
        [('A', "main"), ('B', "garden"), ('C', "main"), ('D', "shop"), ('E', "garden"), ('F', "main")]
    {
        let done: Vec<_> =
            said.iter().filter(|(_, text)| text.contains(&format!("task {task} is done."))).collect();
        assert_eq!(done.len(), 1, "task {task}: {said:#?}");
        assert_eq!(done[0].0, thread, "task {task}");
        for at in 1..=LINES {
            assert_eq!(diary.matches(&format!("<{task}{at}>")).count(), 1, "<{task}{at}>: {diary}");
        }
    }
    assert_eq!(said.iter().filter(|(_, text)| text == "Four.").count(), 1, "{said:#?}");
    assert_eq!(agenda["requests"]["list"].as_array().unwrap().len(), 7);
    println!("{} model calls, {} lives", world.server.seen().len(), 3);
}
