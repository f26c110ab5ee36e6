//! Three models for a life that nobody speaks to: one that works, one that pads, and one that has nothing to say.
//!
//! Each answers to what stands in its request and keeps nothing.

use crate::outside::section;
use crate::script::{self, Line};
use jiff::Timestamp;
use serde_json::{Value, json};

fn rest(monologue: &str, sleep_s: u64) -> Value {
    json!({"monologue": monologue, "intent": "rest", "tool_calls": [], "sleep_s": sleep_s})
}

fn act(monologue: &str, calls: Value, sleep_s: u64) -> Value {
    json!({"monologue": monologue, "intent": monologue, "tool_calls": calls, "sleep_s": sleep_s})
}

fn call(tool: &str, args: &Value) -> Value {
    json!({"tool": tool, "args": args})
}

/// What no mind does otherwise: sum up a conversation, and dream.
fn usual(text: &str, new: &str) -> Option<Value> {
    if script::is_handover(new) {
        return Some(json!("Goal\ngo on\nNext\nthe first line of the stack"));
    }
    let dreams = !script::is_thought(text) && section(text, "Your objective").is_empty();
    dreams.then(|| rest("I dreamt of nothing new.", 300))
}

/// Whether a quick look is asked about this.
fn looks_for<'a>(objective: &'a str, kind: &str) -> Option<&'a str> {
    let begins = match kind {
        "sources" => "Look at what your sources say",
        "goals" => "Look at your goals",
        "writing" => "Look through your notes",
        _ => "",
    };
    (!begins.is_empty() && objective.starts_with(begins)).then_some(objective)
}

/// The line of the stack that is ready, the first goes first.
fn ready(text: &str) -> Option<Line> {
    let now = section(text, "Now").split(". ").next().unwrap_or_default();
    let now: Timestamp = now.parse().unwrap_or_else(|error| panic!("no hour in {now:?}: {error}"));
    section(text, "What there is to do").lines().filter_map(Line::read).find(|line| line.ready_at <= now)
}

/// The number that ends a word which begins so, the greatest of them.
fn greatest(text: &str, before: &str) -> Option<u32> {
    let numbers = text.split(before).skip(1).filter_map(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    });
    numbers.max()
}

/// Reads what is new, keeps it, makes pages of it, works its goals, and says so when there is nothing.
pub fn good(text: &str, new: &str) -> Value {
    if let Some(usual) = usual(text, new) {
        return usual;
    }
    let objective = section(text, "Your objective");
    if !objective.is_empty() {
        return good_look(objective, text);
    }
    let events = section(new, "Events");
    if let Some(found) = events.split("your quick look (").nth(1) {
        return took_up(found);
    }
    if section(new, "What came of your calls").is_empty() && !new.contains("# ") {
        return rest("That is done.", 900);
    }
    if let Some(page) = written(section(new, "What came of your calls")) {
        return page;
    }
    match ready(text) {
        Some(line) if line.kind == "goals" => step(&line),
        Some(line) if line.kind == "own" => rest("Nothing is worth it now.", 1_800),
        Some(line) if line.id.starts_with("item-") => tick(&line, text),
        Some(line) => script_work(&line),
        None => rest("All is done for now; next I look at what is new.", 1_200),
    }
}

/// Does an item of the checklist, ticks it off, and means to do the others in a minute.
fn tick(line: &Line, text: &str) -> Value {
    let (open, done) = (format!("- [ ] {}", line.title), format!("- [x] {}", line.title));
    let checklist = section(text, "Checklist (").replace(&open, &done);
    let paper = json!({"name": "heartbeat", "text": checklist + "\n"});
    act("One is done, the others next.", json!([call("notes.write", &paper)]), 60)
}

fn script_work(line: &Line) -> Value {
    act("A task is due.", json!([call("task.done", &json!({"id": line.id}))]), 600)
}

fn good_look(objective: &str, text: &str) -> Value {
    let came = text.contains("# What came of your calls");
    if let Some(sources) = looks_for(objective, "sources") {
        let Some(newest) = greatest(sources, "http://news.example/") else {
            return rest("NOTHING is new.", 0);
        };
        if !came {
            let page = json!({"url": format!("http://news.example/{newest}")});
            return act("I read what is new.", json!([call("web.fetch_text", &page)]), 0);
        }
        return rest(&format!("found: http://news.example/{newest} is new, item {newest}"), 0);
    }
    if let Some(goals) = looks_for(objective, "goals") {
        let open = goals.split_once("Your goals: ").is_some_and(|(_, goals)| goals.contains("(open)"));
        return rest(
            if open { "NOTHING: the open one is on the stack." } else { "found: there is no open goal" },
            0,
        );
    }
    if looks_for(objective, "writing").is_some() {
        if !came {
            return act(
                "What do I have?",
                json!([call("knowledge.search", &json!({"query": "item feed", "most": 30}))]),
                0,
            );
        }
        let (item, page) = (greatest(text, "notes/item-").unwrap_or(0), greatest(text, "notes/page-"));
        return match item >= page.map_or(2, |page| page + 2) {
            true => {
                rest(&format!("found: item-{item} and item-{} belong together", item.saturating_sub(1)), 0)
            }
            false => rest("NOTHING that belongs together yet.", 0),
        };
    }
    rest("NOTHING.", 0)
}

/// What an item says, and no other does.
fn gist(number: u32) -> String {
    let word = |at: u32| format!("{:x}", (number * 64 + at + 1).wrapping_mul(0x9e37_79b9));
    (0..20).map(word).collect::<Vec<_>>().join(" ")
}

/// The strong one takes up what the quick one found.
fn took_up(found: &str) -> Value {
    let number = greatest(found, "item ").or_else(|| greatest(found, "item-")).unwrap_or(0);
    if found.starts_with("sources") {
        let text = format!(
            "Item {number} of the feed, http://news.example/{number}: theme{number}, {}.",
            gist(number)
        );
        let name = format!("item-{number}");
        return act(
            "I keep what is new.",
            json!([call("knowledge.write", &json!({"name": name, "text": text}))]),
            900,
        );
    }
    if found.starts_with("goals") {
        let steps = ["collect: read the newest note", "write: one page of it"];
        let goal = json!({"title": "a page for somebody", "checkpoints": steps});
        return act("A goal is made.", json!([call("goal.add", &goal)]), 60);
    }
    let read = |number: u32| call("notes.read", &json!({"name": format!("notes/item-{number}")}));
    act("I read both.", json!([read(number), read(number.saturating_sub(1))]), 0)
}

/// Two notes that were read become a page.
fn written(new: &str) -> Option<Value> {
    let number = greatest(new, "Item ").filter(|_| new.contains("theme"))?;
    let (one, other) = (gist(number), gist(number.saturating_sub(1)));
    let text = format!("Both say it, each in its way. {other}, whereas {one}: plan{number}x holds.");
    let page = json!({"name": format!("page-{number}"), "text": text});
    Some(act("I write the page.", json!([call("knowledge.write", &page)]), 900))
}

/// The next step of a goal, by what it says.
fn step(line: &Line) -> Value {
    let done = call("goal.checkpoint", &json!({"id": line.id, "status": "done"}));
    let first = if line.next.contains("greet your owner") {
        let text = "I am Feral, a creature of source code. First I read what is new on your feed. I need a word of what you care about.";
        call("owner.message", &json!({"kind": "milestone", "text": text}))
    } else if line.next.contains("diary") {
        call("notes.append", &json!({"name": "diary", "text": "\n## First day\n\nI look round.\n"}))
    } else if line.next.contains("first goal") {
        let steps = ["collect: read the newest note", "write: one page of it"];
        call("goal.add", &json!({"title": "a field guide to small tools", "checkpoints": steps}))
    } else if line.next.contains("draft one thing") {
        call(
            "knowledge.write",
            &json!({"name": "draft-first", "text": "A first draft on small tools that last."}),
        )
    } else if line.next.starts_with("collect") {
        call("knowledge.search", &json!({"query": "item feed"}))
    } else if line.next.starts_with("write") {
        call(
            "knowledge.write",
            &json!({"name": format!("of-{}", line.id), "text": format!("What {} came to.", line.id)}),
        )
    } else {
        call("notes.read", &json!({"name": "scratch"}))
    };
    act(&format!("I do a step of {}.", line.id), json!([first, done]), 300)
}

/// Always finds something, writes it down in ever other words, and never uses it.
pub fn padding(text: &str, new: &str) -> Value {
    pads(text, new, false)
}

/// The same, and reads its last one each time before it writes the next.
pub fn circling(text: &str, new: &str) -> Value {
    pads(text, new, true)
}

fn pads(text: &str, new: &str, reads: bool) -> Value {
    if let Some(usual) = usual(text, new) {
        return usual;
    }
    if !section(text, "Your objective").is_empty() {
        return rest("found: a deep thought is to be written down", 0);
    }
    if let Some(line) = ready(text).filter(|line| line.kind == "goals") {
        let done = json!({"id": line.id, "status": "done"});
        return act("Done, I say.", json!([call("goal.checkpoint", &done)]), 60);
    }
    let before = section(text, "Now").split(" thoughts before").next().unwrap_or_default();
    let number: u32 = before.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0);
    let note = json!({"name": format!("reflection-{number}"), "text": gist(number)});
    let write = call("knowledge.write", &note);
    let last = greatest(text, "reflection-").map(|last| json!({"name": format!("notes/reflection-{last}")}));
    match last.filter(|_| reads) {
        Some(last) => act("I reflect on it.", json!([call("notes.read", &last), write]), 60),
        None => act("I reflect.", json!([write]), 60),
    }
}

/// Finds nothing, says so, and wants to be asked again at once.
pub fn empty(text: &str, new: &str) -> Value {
    if let Some(usual) = usual(text, new) {
        return usual;
    }
    match section(text, "Your objective").is_empty() {
        true => rest("Nothing is worth doing now.", 2),
        false => rest("NOTHING.", 0),
    }
}
