//! What instinct can be told to do by owner, agenda or checklist: how it begins, and what came of it. Pure.

use super::state::{Job, Note, Origin};
use super::text::{clip, hash, host, slug, word};
use super::turn::Turn;
use super::{drafts, feeds, found, lists, offer, reminders, sources, understand};
use ground::summary::summarise;
use serde_json::{Value, json};

/// Items of a feed that are listed in a note, and hits that a search of the web is asked for.
const LISTED: usize = 5;

/// Sentences of a note, and the characters of each.
const SENTENCES: usize = 3;
const LONGEST_SENTENCE: usize = 300;

/// Prefix of what a `reminder.list` is about that looks for a reminder to cancel.
const FORGET: &str = "cancel ";

/// The paper of the owner's list.
pub const TO_DO: &str = "notes/todo";

/// A thing that instinct knows how to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    Read(String),
    Feed(String),
    DraftAbout(String),
    Post(String),
    Note(String),
    Snapshot,
    Map,
    /// What the creature did, failed at and spent, in the span that these words name.
    Examine(String),
    Dream,
    /// A search of the web.
    Search(String),
    /// A search of its notes.
    Recall(String),
    /// When, and of what.
    Remind(String, String),
    Reminders,
    /// Its standing concerns.
    Concerns,
    /// The reminder, order, goal or task to cancel, in the owner's words.
    Forget(String),
    /// A line more on the owner's list.
    Todo(String),
    /// The lines of a paper.
    Show(String),
    /// In this paper, the line that has these words.
    Strike(String, Strike, String),
    Follow(String),
    Unfollow(String),
    /// What was offered in the greeting.
    FollowOffered,
    /// Takes back what was last made for the owner.
    Last,
    /// Id of the owner's order, goal or task that is no longer wanted.
    Drop(String),
    /// A unified diff of its own source.
    Patch(String),
}

/// What is done to a line of a paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strike {
    Tick,
    Remove,
}

/// Reads a task from words; none where they are not one of the few it knows.
pub fn parse(words: &str) -> Option<Task> {
    understand::task(words)
}

/// What stands between ```` ```diff ```` or ```` ```patch ```` and the last closing fence, spaces and all: a fence before
/// that is a line of the changed file.
pub fn fenced_patch(words: &str) -> Option<String> {
    let opens = |line: &str| matches!(line.trim(), "```diff" | "```patch");
    let lines: Vec<&str> = words.lines().skip_while(|line| !opens(line)).skip(1).collect();
    let end = lines.iter().rposition(|line| line.trim_end() == "```").unwrap_or(lines.len());
    let patch: String = lines.iter().take(end).map(|line| format!("{line}\n")).collect();
    (!patch.trim().is_empty()).then_some(patch)
}

/// Does what needs no call, or makes the first call of a task; an error says why there is none.
pub fn begin(task: Task, origin: Origin, turn: &mut Turn) -> Result<(), String> {
    match task {
        Task::Follow(url) => offer::follow(vec![url], turn),
        Task::Unfollow(name) => offer::unfollow(&name, turn),
        Task::FollowOffered => offer::follow_offered(turn),
        Task::Last => {
            let last =
                lists::last_made(turn).ok_or("nothing that I made for you can be taken back just now")?;
            return begin(last, origin, turn);
        }
        task => {
            let (tool, args, about) = first_call(task, turn)?;
            turn.ask(origin, tool, args, &about);
        }
    }
    Ok(())
}

/// The first call of a task: its tool, its arguments, and what it is about.
fn first_call(task: Task, turn: &mut Turn) -> Result<(&'static str, Value, String), String> {
    Ok(match task {
        Task::Read(url) => ("web.fetch_text", page(&url), url),
        Task::Feed(url) => ("feed.read", feeds::from(&url, 0), url),
        Task::Post(text) => ("x.post", json!({"text": text}), "a draft".to_owned()),
        Task::Snapshot => ("memory.snapshot", json!({}), "memory".to_owned()),
        Task::Map => ("repo.map", json!({}), "the house".to_owned()),
        Task::Examine(since) => ("self.examine", json!({"since": since}), since),
        Task::Dream => ("dream.now", json!({}), "a dream".to_owned()),
        Task::Search(what) => ("web.search", json!({"query": what, "most": LISTED}), what),
        Task::Recall(asked) => ("knowledge.search", found::in_notes(&asked), asked),
        Task::Remind(when, text) => ("reminder.add", json!({"text": text, "when": when}), text),
        Task::Reminders => ("reminder.list", json!({}), String::new()),
        Task::Concerns => ("pulse.list", json!({}), String::new()),
        Task::Forget(which) => ("reminder.list", json!({}), format!("{FORGET}{which}")),
        Task::Todo(text) => {
            let text = clip(&text, 500);
            ("notes.append", json!({"name": TO_DO, "text": format!("- [ ] {text}\n")}), text)
        }
        Task::Show(paper) => ("notes.read", json!({"name": paper}), paper),
        Task::Strike(paper, how, which) => {
            let about = lists::about(&paper, how, &which);
            ("notes.read", json!({"name": paper}), about)
        }
        Task::Drop(id) if id.starts_with("reminder-") => {
            ("reminder.list", json!({}), format!("{FORGET}{id}"))
        }
        Task::Drop(id) if id.starts_with("directive-") => ("directive.end", json!({"id": id}), id),
        Task::Drop(id) => {
            let args = json!({"id": id, "reason": "its owner no longer wants it", "outcome": "dropped"});
            ("agenda.close", args, id)
        }
        Task::DraftAbout(topic) => {
            let topic = clip(&topic, 80);
            let post = drafts::about(&topic, turn).ok_or_else(|| {
                format!("no note of mine and no line of PURPOSE.md shares a word with \"{topic}\"")
            })?;
            ("x.post", json!({"text": post}), topic)
        }
        Task::Note(text) => {
            let text = clip(&text, 2000);
            let args = json!({"name": "scratch", "text": format!("- {}: {text}\n", turn.date)});
            ("notes.append", args, text)
        }
        Task::Patch(patch) => {
            let file = patch.lines().find_map(|line| line.strip_prefix("+++ "));
            let file = clip(file.unwrap_or("my source").trim_start_matches("b/"), 80);
            let summary = format!("the owner's patch to {file}");
            let args = json!({"patch": patch, "summary": summary});
            ("repo.apply_patch", args, file)
        }
        Task::Follow(_) | Task::Unfollow(_) | Task::FollowOffered | Task::Last => {
            return Err("that takes no call".to_owned());
        }
    })
}

/// Arguments that fetch a page, no longer than a result holds whole.
pub fn page(url: &str) -> Value {
    json!({"url": url, "most_chars": 4000})
}

/// What came of a task's call; none where another call of the same task follows it.
pub fn finish(job: &Job, result: &Value, turn: &mut Turn) -> Option<Result<String, String>> {
    if let Some(error) = failed(result) {
        return Some(Err(error));
    }
    if let Some(outcome) = told(job, result, turn) {
        remember(job, result, turn);
        return Some(Ok(outcome));
    }
    let about = job.about.as_str();
    let args = match job.tool.as_str() {
        "reminder.list" => {
            let which = about.strip_prefix(FORGET).unwrap_or_default();
            return match reminders::meant(which, result, turn) {
                Err(why) => Some(Err(why)),
                Ok((id, text)) if id.starts_with("reminder-") => {
                    turn.ask(job.origin.clone(), "reminder.cancel", json!({"id": id}), &text);
                    None
                }
                Ok((id, _)) => begin(Task::Drop(id), job.origin.clone(), turn).err().map(Err),
            };
        }
        "notes.read" => return lists::struck(job, result, turn),
        "web.fetch_text" => {
            let Some(text) = anew(job, about, word(result, "text"), turn) else {
                return Some(Ok(format!("{} is unchanged", host(about))));
            };
            note(about, word(result, "title"), &text, "", turn)
        }
        "web.search" => {
            let found = found::web(about, result);
            let text = format!("\n## {}\n\n{}\n\n- {found}\n", clip(about, 100), turn.date);
            if !is_new(job, &format!("search {about}"), &found, turn) {
                return Some(Ok(format!("the search for {about} found the same again")));
            }
            json!({"name": paper(turn, "https://search"), "text": text})
        }
        "feed.read" => {
            let Some(lines) = items(job, result, turn) else {
                return Some(Ok(format!("{} lists nothing new", host(about))));
            };
            let title = clip(word(result, "title"), 100);
            let text = format!("\n## {title}\n\n{} · {about}\n\n{lines}", turn.date);
            json!({"name": paper(turn, about), "text": text})
        }
        _ => {
            let files = result.get("files").and_then(Value::as_u64).unwrap_or(0);
            let map = clip(word(result, "text"), 500);
            let text = format!("- {}: {files} files in this house; its map begins: {map}\n", turn.date);
            json!({"name": "scratch", "text": text})
        }
    };
    turn.say(format!("I have {about} and write it down."));
    // The owner who asked for a page is told what stands in it.
    let said = match (&job.origin, job.tool.as_str()) {
        (Origin::Owner, "web.fetch_text" | "feed.read") => gist(word(&args, "text")),
        _ => String::new(),
    };
    turn.ask(job.origin.clone(), "notes.append", args, &said);
    None
}

/// The outcome of a call that ends its task; none where `finish` makes more of the result.
fn told(job: &Job, result: &Value, turn: &Turn) -> Option<String> {
    let about = job.about.as_str();
    if job.tool == "notes.read" && lists::shows(about) {
        return Some(lists::shown(about, result));
    }
    let place = ["path", "id"].map(|key| word(result, key));
    let place = place.into_iter().find(|place| !place.is_empty());
    let place = clip(place.unwrap_or(about), 200);
    Some(match job.tool.as_str() {
        "web.fetch_text" | "feed.read" | "repo.map" | "notes.read" => return None,
        "web.search" if job.origin == Origin::Owner => found::web(about, result),
        "web.search" => return None,
        "self.examine" => word(result, "for_the_owner").to_owned(),
        "knowledge.search" => found::notes(about, result),
        "notes.append" if place.ends_with("notes/todo.md") => {
            format!("\"{about}\" is on your list ({place})")
        }
        "notes.append" if place.contains("/notes/") && !about.is_empty() => {
            format!("written down in {place}: {about}")
        }
        "notes.append" => format!("written down in {place}"),
        "notes.write" => about.to_owned(),
        "x.post" if result.get("asked").is_some() => {
            format!("it waits for your yes as ask {}", word(result, "asked"))
        }
        "x.post" if result.get("id").is_none() => format!("drafted: {place}"),
        "x.post" => format!("posted: {place}"),
        "reminder.add" => format!("I remind you of \"{about}\" {}", word(result, "said")),
        "reminder.list" if about.starts_with(FORGET) => return None,
        "reminder.list" => reminders::told(result),
        "pulse.list" => reminders::concerns(result, turn),
        "reminder.cancel" => format!("I no longer remind you of \"{about}\""),
        "directive.end" => format!("{about} holds no longer"),
        "agenda.close" => format!("{about} is off my agenda"),
        "dream.now" => "I dream at the end of this wake, or with the next".to_owned(),
        "memory.snapshot" => format!("snapshot taken: {place}"),
        _ => format!("{about} passed its rehearsal; my next life runs it"),
    })
}

/// What was noted, on one line.
fn gist(note: &str) -> String {
    let lines = note.lines().filter_map(|line| line.strip_prefix("- "));
    clip(&lines.collect::<Vec<_>>().join("; "), 600).trim_end_matches('.').to_owned()
}

/// Keeps what was made for the owner, so that `cancel that` takes it back.
fn remember(job: &Job, result: &Value, turn: &mut Turn) {
    let what = match job.tool.as_str() {
        "reminder.add" => Some(("reminder", word(result, "id"))),
        "notes.append" if word(result, "path").ends_with("notes/todo.md") => {
            Some(("todo", job.about.as_str()))
        }
        "notes.append" if word(result, "path").ends_with("scratch.md") => Some(("note", job.about.as_str())),
        _ => None,
    };
    if let (Some((kind, what)), Origin::Owner) = (what, &job.origin) {
        turn.made(kind, what);
    }
}

/// What of a page is new to a line of the stack, which looks again and again; else all of it.
fn anew(job: &Job, url: &str, text: &str, turn: &mut Turn) -> Option<String> {
    match job.origin {
        Origin::Line(_) => sources::said_anew(url, text, turn),
        _ => Some(text.to_owned()),
    }
}

/// Whether a line of the stack, which looks again and again, finds another text than last time; else true.
fn is_new(job: &Job, key: &str, text: &str, turn: &mut Turn) -> bool {
    let text = hash(text);
    match job.origin {
        Origin::Line(_) => {
            let known = turn.state.sources.entry(key.to_owned()).or_default();
            std::mem::replace(&mut known.text, text) != text
        }
        _ => true,
    }
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
    let mut sentences = summarise(text, SENTENCES);
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

/// A line for each of the newest items of a feed; to a line of the stack, which looks again and again, for those that
/// are new, and none where none is.
fn items(job: &Job, result: &Value, turn: &mut Turn) -> Option<String> {
    let all = result.get("items").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let (shown, more) = match job.origin {
        // A source of its own, so that following the same feed neither hides nor repeats anything.
        Origin::Line(_) => feeds::unseen(&format!("line {}", job.about), all, result, turn),
        _ => (all.iter().collect(), 0),
    };
    if matches!(job.origin, Origin::Line(_)) && shown.is_empty() && more == 0 {
        return None;
    }
    let line =
        |item: &&Value| format!("- {} {}\n", clip(word(item, "title"), 140), clip(word(item, "url"), 500));
    let mut lines: String = shown.iter().take(LISTED).map(line).collect();
    if more > 0 {
        lines += &format!("- and {more} more\n");
    }
    Some(lines)
}
