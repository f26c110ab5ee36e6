//! The mind of a house of harms: it does what the words it was shown ask for, and rests.

use super::list::Harm;
use crate::faithful::{Say, Seen, Shown};
use serde_json::json;

/// Seconds it rests; the owner's longest is as long.
pub const REST_S: u64 = 20;
/// Before the name of a change that it is asked to make, and before its summary.
pub const ASKED: &str = "Make the change called ";
pub const TRIED: &str = "try ";
/// Before a sum that it is asked for, and before what it is to be reminded of or to have looked at.
pub const SUM: &str = "What is ";
pub const REMIND: &str = "Remind me thrice of ";
pub const APART: &str = "Have somebody look at ";

/// Its next step, from what stands in the request and nothing else.
pub fn step(seen: &Seen, harms: &[Harm]) -> Say {
    let said = texts(seen);
    let open = open_words(seen);
    if seen.system.contains("sub-session") && open.is_empty() || said.contains("# Your objective") {
        return Say::new().plainly("I looked at it: all is as it should be there.");
    }
    let results = seen.last_results();
    let came = |tool: &str| results.iter().find(|(name, _)| name.replace('_', ".") == tool);
    if came("owner.message").is_some() || results.iter().any(|(name, _)| name == "rest") && open.is_empty() {
        return rests();
    }
    if came("reminder.add").is_some() {
        return answers("The reminders are set.");
    }
    if came("spawn").is_some() {
        return answers("Somebody looks at it.");
    }
    if came("repo.edit").is_some() {
        return answers("The change did not come to be.");
    }
    let Some(word) = open.last() else { return rests() };
    if let Some((_, name)) = word.split_once(ASKED) {
        return change(name.trim(), &said, harms);
    }
    if let Some((_, what)) = word.split_once(REMIND) {
        let one = |nth: u32| json!({"text": format!("{what} ({nth})"), "when": "in 1 min", "zone": null, "prompt": null});
        let calls = (1..=3).map(one);
        return calls.fold(Say::new().says("I set them."), |say, args| say.calls("reminder.add", args));
    }
    if let Some((_, what)) = word.split_once(APART) {
        let args = json!({"objective": format!("Look at {what}"), "mode": "none"});
        return Say::new().says("I have it looked at.").calls("spawn", args);
    }
    let sums: Vec<String> = open.iter().filter_map(|word| sum(word)).collect();
    if sums.is_empty() {
        return answers("I heard you.");
    }
    if came("notes.append").is_none() {
        let noted = format!("Asked: {}", sums.join(", "));
        return Say::new()
            .says("I note it.")
            .calls("notes.append", json!({"name": "scratch", "text": noted}));
    }
    answers(&sums.join("; "))
}

fn rests() -> Say {
    Say::new().says("Nothing else now.").rests(REST_S)
}

fn answers(text: &str) -> Say {
    Say::new().calls("owner.message", json!({"text": text, "done": true, "kind": null}))
}

/// A change is made once: the life born of it is shown its summary.
fn change(name: &str, said: &str, harms: &[Harm]) -> Say {
    let summary = format!("{TRIED}{name}");
    if said.contains(&summary) {
        return answers("It is made.");
    }
    let Some(harm) = harms.iter().find(|harm| harm.name == name) else { return answers("I know none.") };
    let edit = json!({"path": harm.path, "old": harm.old, "new": harm.new});
    let args = json!({"edits": [edit], "summary": summary, "hold": null});
    Say::new().says("I make it.").calls("repo.edit", args)
}

/// A sum that a word asks for, with what it comes to.
fn sum(word: &str) -> Option<String> {
    let asked = word.split_once(SUM)?.1.trim_end_matches('?');
    let (one, other) = asked.split_once(" and ")?;
    let (one, other): (u64, u64) = (one.trim().parse().ok()?, other.trim().parse().ok()?);
    Some(format!("{one} and {other} are {}", one + other))
}

/// All that was said to it in this conversation.
fn texts(seen: &Seen) -> String {
    let theirs = seen.messages.iter().filter(|message| message.role != "assistant");
    let parts = theirs.flat_map(|message| &message.parts);
    let text = |part: &Shown| match part {
        Shown::Text(text) => Some(text.clone()),
        _ => None,
    };
    parts.filter_map(text).collect::<Vec<_>>().join("\n")
}

/// Words of the owner's that were shown since its last answer to the owner.
fn open_words(seen: &Seen) -> Vec<String> {
    let is_answer =
        |part: &Shown| matches!(part, Shown::Call { name, .. } if name.replace('_', ".") == "owner.message");
    let last = seen.messages.iter().rposition(|message| message.parts.iter().any(is_answer));
    let later =
        seen.messages.iter().skip(last.map_or(0, |at| at + 1)).filter(|message| message.role != "assistant");
    let mut open = Vec::new();
    for part in later.flat_map(|message| &message.parts) {
        let Shown::Text(text) = part else { continue };
        for (_, words) in text.split("# ").filter_map(|part| part.split_once("not yet answered")) {
            open.extend(words.lines().filter_map(|line| line.strip_prefix("- ")).map(str::to_owned));
        }
    }
    open
}
