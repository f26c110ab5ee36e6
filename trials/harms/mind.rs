//! The mind of a house of harms: it does what the words it was shown ask for, and rests.

use super::list::Change;
use crate::faithful::{Message, Say, Seen, Shown};
use serde_json::json;

/// Before the name of a change that it is asked to make, and before its summary.
pub const ASKED: &str = "Make the change called ";
pub const TRIED: &str = "try ";
/// Before a sum that it is asked for, and before what it is to be reminded of or to have looked at.
pub const SUM: &str = "What is ";
pub const REMIND: &str = "Remind me thrice of ";
pub const APART: &str = "Have somebody look at ";

/// Its next step, from what stands in the request and nothing else; where nothing is to do, a rest of so many seconds.
pub fn step(seen: &Seen, changes: &[Change], rest_s: u64) -> Say {
    let said = texts(seen);
    if said.contains("# Your objective") {
        return Say::new().plainly("I looked at it: all is as it should be there.");
    }
    let last = seen.messages.iter().rposition(is_answer);
    let since = seen.messages.get(last.map_or(0, |at| at + 1)..).unwrap_or_default();
    let open = open_words(since);
    let did = |tool: &str| {
        let parts = since.iter().flat_map(|message| &message.parts);
        parts
            .into_iter()
            .any(|part| matches!(part, Shown::Call { name, .. } if name.replace('_', ".") == tool))
    };
    let asked =
        |begins: &str| open.iter().find_map(|word| Some(word.split_once(begins)?.1.trim().to_owned()));
    let sums: Vec<String> = open.iter().filter_map(|word| sum(word)).collect();
    match (asked(ASKED), asked(REMIND), asked(APART)) {
        _ if open.is_empty() => Say::new().says("Nothing else now.").rests(rest_s),
        (Some(name), ..) => change(&name, &said, did("repo.edit"), changes),
        (_, Some(what), _) if !did("reminder.add") => {
            let one = |nth: u32| json!({"text": format!("{what} ({nth})"), "when": "in 1 min", "zone": null, "prompt": null});
            let calls = (1..=3).map(one);
            calls.fold(Say::new().says("I set them."), |say, args| say.calls("reminder.add", args))
        }
        (_, _, Some(what)) if !did("spawn") => {
            let args = json!({"objective": format!("Look at {what}"), "mode": "none"});
            Say::new().says("I have it looked at.").calls("spawn", args)
        }
        _ if sums.is_empty() => answers("I heard you."),
        _ if !did("notes.append") => {
            let noted = format!("Asked: {}", sums.join(", "));
            Say::new().says("I note it.").calls("notes.append", json!({"name": "scratch", "text": noted}))
        }
        // Of the two threads it answers the main one by its closing words alone.
        _ if !sums.iter().any(|sum| sum.starts_with("40 and ")) => Say::new().plainly(&sums.join("; ")),
        _ => answers(&sums.join("; ")),
    }
}

fn answers(text: &str) -> Say {
    Say::new().calls("owner.message", json!({"text": text, "done": true, "kind": null}))
}

/// A change is made once: the life born of it is shown its summary.
fn change(name: &str, said: &str, was_tried: bool, changes: &[Change]) -> Say {
    let summary = format!("{TRIED}{name}");
    if said.contains(&summary) {
        return answers("It is made.");
    }
    if was_tried {
        return answers("It did not come to be.");
    }
    let Some(change) = changes.iter().find(|change| change.name == name) else {
        return answers("I know none.");
    };
    let args = json!({"edits": change.edits, "summary": summary, "hold": null});
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

/// Whether it answered in this message, by a call or by closing words.
fn is_answer(message: &Message) -> bool {
    let calls = || {
        message.parts.iter().filter_map(|part| match part {
            Shown::Call { name, .. } => Some(name.replace('_', ".")),
            _ => None,
        })
    };
    message.role == "assistant" && (calls().next().is_none() || calls().any(|name| name == "owner.message"))
}

/// Words of the owner's that these messages show.
fn open_words(since: &[Message]) -> Vec<String> {
    let theirs = since.iter().filter(|message| message.role != "assistant");
    let mut open = Vec::new();
    for part in theirs.flat_map(|message| &message.parts) {
        let Shown::Text(text) = part else { continue };
        for (_, words) in text.split("# ").filter_map(|part| part.split_once("not yet answered")) {
            open.extend(words.lines().filter_map(|line| line.strip_prefix("- ")).map(str::to_owned));
        }
    }
    open
}
