//! What instinct can be told to do, by the owner's words or the checklist: read, begin, finish. Pure.

use super::drafts;
use super::state::{Job, Note, Origin};
use super::text::{clip, host, slug, urls, word};
use super::turn::Turn;
use crate::examine;
use agenda::reminder::Schedule;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

/// Items of a feed that are listed in a note.
const LISTED: usize = 5;

/// Sentences of a note, and the characters of each.
const SENTENCES: usize = 3;
const LONGEST_SENTENCE: usize = 300;

/// A thing it knows how to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    Read(String),
    Feed(String),
    DraftAbout(String),
    Post(String),
    Note(String),
    Snapshot,
    Map,
    /// What it did, failed at and spent, in the span of these words.
    Examine(String),
    /// When, and of what.
    Remind(String, String),
    /// A unified diff of its own source.
    Patch(String),
}

/// Reads a task from words; none where they are not one of the few it knows.
pub fn parse(words: &str) -> Option<Task> {
    if let Some(patch) = fenced_patch(words) {
        return Some(Task::Patch(patch));
    }
    let words = words.trim();
    let (verb, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let rest = rest.trim();
    let link = |text: &str| urls(text).into_iter().next();
    let some = |text: &str| (!text.trim().is_empty()).then(|| text.trim().to_owned());
    match verb.to_lowercase().trim_end_matches(':') {
        "read" => link(rest).map(Task::Read),
        "feed" => link(rest).map(Task::Feed),
        "note" => some(rest).map(Task::Note),
        "draft" => match rest.strip_prefix("about ") {
            Some(topic) => some(topic).map(Task::DraftAbout),
            None => some(rest).map(Task::Post),
        },
        "remind" => reminder(rest),
        "snapshot" if rest.is_empty() => Some(Task::Snapshot),
        "map" if rest.is_empty() => Some(Task::Map),
        _ => {
            let asked = || examine::span_asked(words).map(Task::Examine);
            link(verb).filter(|url| url == words).map(Task::Read).or_else(asked)
        }
    }
}

impl Task {
    /// Whether nothing of the owner's words is left over that a mind which reads would make more of.
    pub fn is_all_of(&self, said: &str) -> bool {
        match self {
            Task::Read(_) | Task::Feed(_) => said.split_whitespace().count() <= 2,
            Task::Post(_) | Task::DraftAbout(_) | Task::Patch(_) => false,
            _ => true,
        }
    }
}

/// `me in 20 min to look`, `me tomorrow 9am: the mail`, `me to look in 20 min`: when, and of what.
fn reminder(words: &str) -> Option<Task> {
    let words: Vec<&str> = words.strip_prefix("me ")?.split_whitespace().collect();
    // Which words are a time does not hang on the hour it is.
    let is_time = |words: &str| Schedule::read(words, Timestamp::UNIX_EPOCH, &TimeZone::UTC).is_some();
    let splits = || (1..words.len()).rev().filter_map(|at| words.split_at_checked(at));
    let joined = |words: &[&str]| words.join(" ").trim_end_matches([':', ',', '.']).to_owned();
    let (when, what) =
        splits().map(|(first, last)| (joined(first), last)).find(|(when, _)| is_time(when)).or_else(
            || splits().rev().map(|(first, last)| (joined(last), first)).find(|(when, _)| is_time(when)),
        )?;
    let what = match what {
        ["to" | "that" | "of" | "about", what @ ..] => what,
        what => what,
    };
    (!what.is_empty()).then(|| Task::Remind(when, joined(what)))
}

/// What stands between ```` ```diff ```` or ```` ```patch ```` and the closing fence, spaces and all.
fn fenced_patch(words: &str) -> Option<String> {
    let opens = |line: &str| matches!(line.trim(), "```diff" | "```patch");
    let mut lines = words.lines().skip_while(|line| !opens(line));
    lines.next()?;
    let lines = lines.take_while(|line| line.trim_end() != "```");
    let patch: String = lines.map(|line| format!("{line}\n")).collect();
    (!patch.trim().is_empty()).then_some(patch)
}

/// Makes the first call of a task; an error says why there is none.
pub fn begin(task: Task, origin: Origin, turn: &mut Turn) -> Result<(), String> {
    let (tool, args, about) = match task {
        Task::Read(url) => ("web.fetch_text", page(&url), url),
        Task::Feed(url) => ("feed.read", feed(&url), url),
        Task::Post(text) => ("x.post", json!({"text": text}), "a draft".to_owned()),
        Task::Snapshot => ("memory.snapshot", json!({}), "memory".to_owned()),
        Task::Map => ("repo.map", json!({}), "the house".to_owned()),
        Task::Examine(since) => ("self.examine", json!({"since": since}), since),
        Task::Remind(when, text) => ("reminder.add", json!({"text": text, "when": when}), text),
        Task::DraftAbout(topic) => {
            let topic = clip(&topic, 80);
            let post = drafts::about(&topic, turn).ok_or_else(|| {
                format!("no note of mine and no line of PURPOSE.md shares a word with \"{topic}\"")
            })?;
            ("x.post", json!({"text": post}), topic)
        }
        Task::Note(text) => {
            let text = format!("- {}: {}\n", turn.date, clip(&text, 2000));
            let args = json!({"name": "scratch", "text": text});
            ("notes.append", args, "scratch".to_owned())
        }
        Task::Patch(patch) => {
            let file = patch.lines().find_map(|line| line.strip_prefix("+++ "));
            let file = clip(file.unwrap_or("my source").trim_start_matches("b/"), 80);
            let summary = format!("the owner's patch to {file}");
            let args = json!({"patch": patch, "summary": summary});
            ("repo.apply_patch", args, file)
        }
    };
    turn.ask(origin, tool, args, &about);
    Ok(())
}

/// Arguments that fetch a page, no longer than a result holds whole.
pub fn page(url: &str) -> Value {
    json!({"url": url, "most_chars": 4000})
}

/// Arguments that read a feed, no longer than a result holds whole.
pub fn feed(url: &str) -> Value {
    json!({"url": url, "most": 6})
}

/// What came of a task's call; none where another call of the same task follows it.
pub fn finish(job: &Job, result: &Value, turn: &mut Turn) -> Option<Result<String, String>> {
    if let Some(error) = failed(result) {
        return Some(Err(error));
    }
    let about = job.about.as_str();
    let place = ["path", "id"].map(|key| word(result, key));
    let place = place.into_iter().find(|place| !place.is_empty());
    let place = clip(place.unwrap_or(about), 200);
    let args = match job.tool.as_str() {
        "web.fetch_text" => note(about, word(result, "title"), word(result, "text"), "", turn),
        "feed.read" => json!({"name": paper(turn, about), "text": listed(about, result, turn)}),
        "repo.map" => {
            let files = result.get("files").and_then(Value::as_u64).unwrap_or(0);
            let map = clip(word(result, "map"), 500);
            let text = format!("- {}: {files} files in this house; its map begins: {map}\n", turn.date);
            json!({"name": "scratch", "text": text})
        }
        "notes.append" => return Some(Ok(format!("written down in {place}"))),
        "x.post" if result.get("asked").is_some() => {
            return Some(Ok(format!("it waits for your yes as ask {}", word(result, "asked"))));
        }
        "x.post" if result.get("id").is_none() => return Some(Ok(format!("drafted: {place}"))),
        "x.post" => return Some(Ok(format!("posted: {place}"))),
        "reminder.add" => {
            return Some(Ok(format!("I remind you of \"{about}\" at {}", word(result, "next"))));
        }
        "self.examine" => return Some(Ok(word(result, "for_the_owner").to_owned())),
        "memory.snapshot" => return Some(Ok(format!("snapshot taken: {place}"))),
        _ => {
            return Some(Ok(format!("{about} passed its rehearsal; my next life runs it")));
        }
    };
    let name = word(&args, "name").to_owned();
    turn.say(format!("I have {about} and write it down."));
    turn.ask(job.origin.clone(), "notes.append", args, &name);
    None
}

/// Why a result is a failure; none if it is not.
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
    let mut sentences = hands::summarise(text, SENTENCES);
    sentences.truncate(SENTENCES);
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
fn paper(turn: &Turn, url: &str) -> String {
    let month = turn.date.get(..7).unwrap_or("undated");
    format!("notes/{month}-{}", slug(host(url)))
}

fn listed(url: &str, result: &Value, turn: &Turn) -> String {
    let title = clip(word(result, "title"), 100);
    let mut text = format!("\n## {title}\n\n{} · {url}\n\n", turn.date);
    let items = result.get("items").and_then(Value::as_array);
    for item in items.into_iter().flatten().take(LISTED) {
        let (title, url) = (clip(word(item, "title"), 140), clip(word(item, "url"), 500));
        text += &format!("- {title} {url}\n");
    }
    text
}
