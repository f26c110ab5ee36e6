//! A task, an ability with what it is to be done with: its call where the table has that whole, a look at a link, a note. Pure.

use super::likeness::content;
use super::state::{Note, Origin};
use super::table::{Ability, TABLE, filled};
use super::text::{clip, host, slug, word};
use super::turn::Turn;
use ground::summary::summarise;
use serde_json::{Value, json};

/// Sentences of a note, and the characters of each.
const SENTENCES: usize = 3;
const LONGEST_SENTENCE: usize = 300;

/// The paper of the owner's list.
pub const TO_DO: &str = "notes/todo";

/// An ability that is asked for: to do, where it has a call, else to answer.
#[derive(Clone, Debug)]
pub struct Task {
    pub ability: &'static Ability,
    /// Thing that it is to be done with: a text, a link, a span of the past, a name.
    pub arg: String,
    /// The time of a reminder.
    pub when: String,
    /// The words stand in the table as they are.
    pub exact: bool,
}

impl Task {
    /// The ability of this name, which the table has, with what it is to be done with.
    pub fn of(name: &str, arg: impl Into<String>) -> Option<Task> {
        let ability = TABLE.named(name)?;
        Some(Task { ability, arg: arg.into(), when: String::new(), exact: true })
    }

    /// Whether there is something to do, beside answering.
    pub fn does(&self) -> bool {
        !self.ability.call.is_empty()
    }
}

/// Returns the text between ```` ```diff ```` or ```` ```patch ```` and the last closing fence, spaces and all: a fence
/// before that is a line of the changed file.
pub fn fenced_patch(words: &str) -> Option<String> {
    let opens = |line: &str| matches!(line.trim(), "```diff" | "```patch");
    let lines: Vec<&str> = words.lines().skip_while(|line| !opens(line)).skip(1).collect();
    let end = lines.iter().rposition(|line| line.trim_end() == "```").unwrap_or(lines.len());
    let patch: String = lines.iter().take(end).map(|line| format!("{line}\n")).collect();
    (!patch.trim().is_empty()).then_some(patch)
}

/// The call that the table has of a task, its places filled: the tool, its arguments, and what it is about.
pub fn filled_in(task: &Task, turn: &Turn) -> (String, Value, String) {
    let (ability, arg) = (task.ability, task.arg.as_str());
    let arg = if ability.most > 0 { clip(arg, ability.most) } else { arg.to_owned() };
    let fact = |place: &str| match place {
        "date" => turn.date.clone(),
        "when" => task.when.clone(),
        "terms" => content(&arg).join(" "),
        _ => arg.clone(),
    };
    let mut args = ability.args.clone();
    for value in args.values_mut() {
        *value = value.as_str().map(|text| filled(text, fact)).map_or(value.take(), Value::from);
    }
    (ability.call.clone(), args.into(), filled(ability.about.as_deref().unwrap_or("{}"), fact))
}

/// Looks at a feed, from its item of this number on, or at a page.
pub fn look(origin: Origin, url: &str, feed: bool, skip: usize, turn: &mut Turn) {
    let task = Task::of(if feed { "feed" } else { "read" }, url);
    let Some((tool, mut args, about)) = task.map(|task| filled_in(&task, turn)) else { return };
    if let (1.., Some(args)) = (skip, args.as_object_mut()) {
        args.insert("skip".to_owned(), json!(skip));
    }
    turn.ask(origin, &tool, args, &about);
}

/// Says why a result is a failure; none if it is not.
pub fn failed(result: &Value) -> Option<String> {
    if result.get("ok").and_then(Value::as_bool) == Some(true) {
        return None;
    }
    let error = match word(result, "error") {
        "" => "the result says neither ok nor error",
        error => error,
    };
    Some(clip(error, 240))
}

/// Arguments of the `notes.append` that keeps what was read: its source, its date, and the sentences
/// that say most of it. The note then waits to be used in a post.
pub fn note(url: &str, title: &str, text: &str, remark: &str, turn: &mut Turn) -> Value {
    let title = clip(if title.trim().is_empty() { url } else { title }, 140);
    let mut sentences = summarise(text, SENTENCES);
    if sentences.is_empty() {
        sentences.push(text.to_owned());
    }
    let mut written = format!("\n## {title}\n\n{} · {url}{remark}\n\n", turn.date);
    for sentence in &mut sentences {
        *sentence = clip(sentence, LONGEST_SENTENCE);
        written += &format!("- {sentence}\n");
    }
    let sentence = sentences.swap_remove(0);
    let url = url.to_owned();
    let args = json!({"name": paper(turn, &url), "text": written});
    turn.state.fresh.push(Note { title, url, sentence });
    turn.state.notes = turn.state.notes.saturating_add(1);
    args
}

/// The paper notes about a link go to: one a host and month, so that none grows for ever.
pub fn paper(turn: &Turn, url: &str) -> String {
    let month = turn.date.get(..7).unwrap_or("undated");
    format!("notes/{month}-{}", slug(host(url)))
}
