//! Tasks that owner, agenda or checklist can give instinct: how each begins, and what came of it. Pure.

use super::state::{Job, Origin};
use super::table::text;
use super::task::{Task, failed, filled_in, note, paper};
use super::text::{clip, host, list, number, word};
use super::turn::Turn;
use super::{drafts, feeds, found, lists, offer, reminders, sources};
use serde_json::{Value, json};

/// Items of a feed that are listed in a note.
const LISTED: usize = 5;

/// Prefix of what a `reminder.list` is about that looks for a reminder to cancel.
const FORGET: &str = "cancel ";

/// Does what needs no call, or makes the first call of a task; an error says why there is none.
pub fn begin(task: &Task, origin: Origin, turn: &mut Turn) -> Result<(), String> {
    match task.ability.call.as_str() {
        "follow" => offer::follow(vec![task.arg.clone()], turn),
        "unfollow" => offer::unfollow(&task.arg, turn),
        "follow_offered" => offer::follow_offered(turn),
        "take_back" => {
            let last =
                lists::last_made(turn).ok_or("nothing that I made for you can be taken back just now")?;
            return begin(&last, origin, turn);
        }
        _ => {
            let (tool, args, about) = call(task, turn)?;
            turn.ask(origin, &tool, args, &about);
        }
    }
    Ok(())
}

/// The call of a task: its tool, its arguments, and what it is about.
fn call(task: &Task, turn: &Turn) -> Result<(String, Value, String), String> {
    let (ability, arg) = (task.ability, task.arg.clone());
    let own = |tool: &str, args: Value, about: String| Ok((tool.to_owned(), args, about));
    match ability.call.as_str() {
        "drop" if arg.starts_with("reminder-") => own("reminder.list", json!({}), format!("{FORGET}{arg}")),
        "drop" if arg.starts_with("directive-") => own("directive.end", json!({"id": arg}), arg),
        "drop" => {
            let args = json!({"id": arg, "reason": "its owner no longer wants it", "outcome": "dropped"});
            own("agenda.close", args, arg)
        }
        "draft_about" => {
            let topic = clip(&arg, 80);
            let post = drafts::about(&topic, turn).ok_or_else(|| {
                format!("no note of mine and no line of PURPOSE.md shares a word with \"{topic}\"")
            })?;
            own("x.post", json!({"text": post}), topic)
        }
        "patch" => {
            let file = arg.lines().find_map(|line| line.strip_prefix("+++ "));
            let file = clip(file.unwrap_or("my source").trim_start_matches("b/"), 80);
            let summary = format!("the owner's patch to {file}");
            own("repo.apply_patch", json!({"patch": arg, "summary": summary}), file)
        }
        _ => Ok(filled_in(task, turn)),
    }
}

/// Tells what came of a task's call; none where another call of the same task follows it.
pub fn finish(job: &Job, result: &Value, turn: &mut Turn) -> Option<Result<String, String>> {
    if let Some(error) = failed(result) {
        return Some(Err(error));
    }
    if let Some(outcome) = outcome_of(job, result, turn) {
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
                Ok((id, _)) => Task::of("drop", id)
                    .and_then(|task| begin(&task, job.origin.clone(), turn).err())
                    .map(Err),
            };
        }
        "notes.read" => return lists::struck(job, result, turn),
        "web.fetch_text" => match anew(job, about, word(result, "text"), turn) {
            Some(text) => note(about, word(result, "title"), &text, "", turn),
            None => return Some(Ok(format!("{} is unchanged", host(about)))),
        },
        "web.search" => {
            let found = found::web(about, result);
            let text = format!("\n## {}\n\n{}\n\n- {found}\n", clip(about, 100), turn.date);
            if anew(job, &format!("search {about}"), &found, turn).is_none() {
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
            let (files, map) = (number(result, "files"), clip(word(result, "text"), 500));
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
fn outcome_of(job: &Job, result: &Value, turn: &Turn) -> Option<String> {
    let about = job.about.as_str();
    // What looks for a line is about more than the paper.
    if job.tool == "notes.read" && !about.contains(' ') {
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
        "x.post" if result.get("asked").is_some() => {
            format!("it waits for your yes as ask {}", word(result, "asked"))
        }
        "x.post" if result.get("id").is_none() => format!("drafted: {place}"),
        "x.post" => format!("posted: {place}"),
        "reminder.list" if about.starts_with(FORGET) => return None,
        "reminder.list" => reminders::name_all(result),
        "pulse.list" => reminders::concerns(result, turn),
        "repo.apply_patch" => edited(about, turn),
        tool => text(tool, &[("about", &about), ("place", &place), ("said", &word(result, "said"))]),
    })
}

/// Tells what became of a patch: this life may be the one it was born in, or the one after it was put back.
fn edited(about: &str, turn: &Turn) -> String {
    let moment = turn.moment;
    let mut here = moment.records.iter().filter(|record| record.life == moment.life);
    let fate = here.find_map(|record| match (record.kind.as_str(), word(&record.data, "stage")) {
        ("self_change", "born") => Some("I run it now"),
        ("death", _) if word(&record.data, "ended") == "put back" => {
            Some("but its lives died: the guardian put me back, and I run without it")
        }
        _ => None,
    });
    let fate = fate.unwrap_or("my next life runs it");
    let join = if fate.starts_with("but") { "," } else { ";" };
    format!("{about} passed its rehearsal{join} {fate}")
}

/// Returns the sentences of a note, on one line.
fn gist(note: &str) -> String {
    let lines = note.lines().filter_map(|line| line.strip_prefix("- "));
    clip(&lines.collect::<Vec<_>>().join("; "), 600).trim_end_matches('.').to_owned()
}

/// Keeps what was made for the owner, so that `cancel that` takes it back.
fn remember(job: &Job, result: &Value, turn: &mut Turn) {
    let path = word(result, "path");
    let (kind, what) = match job.tool.as_str() {
        "reminder.add" => ("reminder", word(result, "id")),
        "notes.append" if path.ends_with("notes/todo.md") => ("todo", job.about.as_str()),
        "notes.append" if path.ends_with("scratch.md") => ("note", job.about.as_str()),
        _ => return,
    };
    if job.origin == Origin::Owner {
        turn.made(kind, what);
    }
}

/// Returns the part of a page that is new to a line of the stack, which looks again and again; else all of it.
fn anew(job: &Job, url: &str, text: &str, turn: &mut Turn) -> Option<String> {
    match job.origin {
        Origin::Line(_) => sources::said_anew(url, text, turn),
        _ => Some(text.to_owned()),
    }
}

/// A line for each of the newest items of a feed; to a line of the stack, which looks again and again, for those that
/// are new, and none where none is.
fn items(job: &Job, result: &Value, turn: &mut Turn) -> Option<String> {
    let all = list(result, "items");
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
