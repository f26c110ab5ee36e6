//! The creature's own terms in the owner's words: reasons of a wake, items of its agenda, how a version stands. Pure.

use house::bounds::short;
use house::records::text;
use house::records::view::field;
use serde_json::Value;

/// Kinds of items by how their ids begin, and what each is to the owner.
const KINDS: [(&str, &str); 10] = [
    ("request", "your request"),
    ("directive", "your order"),
    ("goal", "a goal"),
    ("task", "a task"),
    ("reminder", "a reminder"),
    ("opportunity", "an opportunity"),
    ("gap", "something it lacks"),
    ("presence", "its presence"),
    ("item", "the checklist"),
    ("own", "an idea of its own"),
];

/// Reasons that are a sentence of their own.
const REASONS: [(&str, &str); 8] = [
    ("your owner's word waits", "your message"),
    ("a word of the owner's", "your message"),
    ("an event waits", "something new"),
    ("the last wake ended before its work did", "work it had not finished"),
    ("the first thought of this life", "its first thought after a start"),
    ("PURPOSE.md changed", "PURPOSE.md was changed"),
    ("the checklist changed", "the checklist was changed"),
    ("instinct looks around", "a look around"),
];

/// Names the kind of an item by its id: `your order` for `directive-6`; none where the kind is not known.
pub fn kind(id: &str) -> Option<&'static str> {
    let (kind, number) = id.split_once('-')?;
    let is_id = !number.is_empty() && (kind == "own" || number.bytes().all(|byte| byte.is_ascii_digit()));
    KINDS.iter().find(|(name, _)| is_id && *name == kind).map(|(_, told)| *told)
}

/// Puts the reason of a wake as its owner would say it.
pub fn reason(why: &str) -> String {
    if let Some((_, told)) = REASONS.iter().find(|(reason, _)| *reason == why) {
        return (*told).to_owned();
    }
    let counted = why.split_once(' ').and_then(|(count, what)| Some((count.parse::<u64>().ok()?, what)));
    match counted {
        Some((count, "words of your owner's wait")) => return format!("{count} messages of yours"),
        Some((count, "events wait")) => return format!("{count} new events"),
        _ => {}
    }
    match why.split_once(": ") {
        Some(("ready", line)) => match line.split_once(' ') {
            Some((id, title)) => kind(id).map_or_else(|| line.to_owned(), |kind| format!("{kind}: {title}")),
            None => kind(line).unwrap_or(line).to_owned(),
        },
        Some(("your owner asked", request)) => format!("your request: {request}"),
        Some(("due on the checklist", items)) => format!("the checklist: {items}"),
        Some(("unfinished", draft)) => format!("a self-edit it has begun: {draft}"),
        _ => words(why),
    }
}

/// Several reasons as one.
pub fn reasons(why: &[&str]) -> String {
    why.iter().map(|why| reason(why)).collect::<Vec<_>>().join("; ")
}

/// A text in which the creature's ids and set phrases stand as the owner would say them.
pub fn words(text: &str) -> String {
    let mut told = text.to_owned();
    for (reason, plain) in REASONS {
        if told.contains(reason) {
            told = told.replace(reason, plain);
        }
    }
    let mut out = String::with_capacity(told.len());
    for (number, word) in told.split(' ').enumerate() {
        if number > 0 {
            out.push(' ');
        }
        let bare = word.trim_end_matches([',', '.', ';', ':', ')']);
        match kind(bare) {
            Some(kind) => {
                out.push_str(kind);
                out.push_str(word.strip_prefix(bare).unwrap_or_default());
            }
            None => out.push_str(word),
        }
    }
    out
}

/// Puts the guardian's words on a version into plain ones.
pub fn fate(told: &str) -> String {
    let told = told.replace("stands on the ladder as rung ", "kept to go back to, no. ");
    match told.strip_prefix("blessed at ") {
        Some(at) => format!("proved itself at {at}"),
        None => match told.strip_prefix("blessed ") {
            Some(commit) => format!("{commit} has proved itself"),
            None => told.replace("counts as fallen", "fell, and is not tried again by itself"),
        },
    }
}

/// Describes the running version: `version 0c0470f, on probation · sandbox on`; none where no guardian tells.
pub fn version(told: &Value) -> Option<String> {
    let commit = short(text(told, "commit"));
    if commit.is_empty() {
        return None;
    }
    let trust = match field(told, "safe") {
        Some(true) => ", in safe mode",
        _ if text(told, "phase") == "probation" => ", on probation",
        _ => "",
    };
    let sandbox = match text(told, "walls") {
        "" => "",
        "full" => " · sandbox on",
        walls if walls.starts_with("none") || walls.starts_with("off") => " · sandbox off",
        _ => " · sandbox on in part",
    };
    Some(format!("version {commit}{trust}{sandbox}"))
}
