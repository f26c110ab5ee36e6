//! A sighted mind that works on what an owner asked for as `task A: …`: three lines each in the diary, a line a thought, each once.

use crate::faithful::{Message, Say, Seen, Shown};
use serde_json::json;

/// Lines that each task is to write.
pub const LINES: usize = 3;

pub fn text(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Shown::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// What it is to work on, by what it was shown last: words not answered yet (true), or the request a wake is for.
/// A question without a task, on the legs of a dog, is new whenever it is asked.
pub fn tasks(seen: &Seen) -> (Vec<char>, bool) {
    let named = |text: &str| -> Vec<char> {
        let parts = text.split("task ").skip(1);
        parts.filter_map(|part| part.chars().next().filter(|_| part[1..].starts_with(':'))).collect()
    };
    for message in seen.messages.iter().rev().filter(|message| message.role != "assistant") {
        let text = text(message);
        if let Some((_, words)) = text.split_once("# Your owner's words, not yet answered") {
            let words = words.split("\n# ").next().unwrap();
            if !named(words).is_empty() || words.contains("legs") {
                return (named(words), true);
            }
        }
        if let Some(line) = text.lines().find(|line| line.contains("This wake is for it.")) {
            return (named(line), line.contains("legs"));
        }
    }
    (Vec::new(), false)
}

/// Its next step: it says that it begins, looks how far the diary is, writes the next line, or says which tasks are done.
pub fn works(seen: &Seen, tasks: &[char], is_new: bool) -> Say {
    let look = |say: Say| say.calls("notes.read", json!({"name": "diary"}));
    let results = seen.last_results();
    let Some((name, text)) = results.last() else {
        let say = Say::new().says("I take it up.");
        let begun = format!("I begin with task {}.", tasks[0]);
        let begins = json!({"text": begun, "done": false});
        return look(if is_new { say.calls("owner.message", begins) } else { say });
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
