//! Sources: follows feeds and pages named in PURPOSE.md and HEARTBEAT.md, and notes what is new. Pure.

use super::digest;
use super::feeds;
use super::pace::Pace;
use super::state::{Fate, Job, Link, Origin};
use super::task::{self, failed, note};
use super::text::{clip, hash, host, span, word};
use super::turn::Turn;
use ground::checklist::Named;
use serde_json::Value;

/// Longest wait for a source that fails, in seconds.
const A_DAY_S: i64 = 86_400;

/// Reads links found, as many as fit one thought; else looks at the sources due, the longest waiting first.
pub fn drive(turn: &mut Turn) {
    while !turn.is_nearly_full() && !turn.state.queue.is_empty() {
        let link = turn.state.queue.remove(0);
        let (url, title) = (link.url.clone(), clip(&link.title, 100));
        turn.does(format!("read {url}"), format!("I read \"{title}\", found at {}.", host(&link.source)));
        task::look(Origin::Link(link), &url, false, 0, turn);
    }
    if turn.acts() {
        return;
    }
    let longest_s = turn.pace.source_pace_s as i64;
    let mut due = turn.followed();
    due.retain(|source| turn.state.is_due(&source.url, turn.now_s, longest_s));
    due.sort_by_key(|named| turn.state.sources.get(&named.url).map(|known| known.next_s));
    for Named { url, feed } in due {
        if turn.is_nearly_full() {
            break;
        }
        turn.does(format!("look at {url}"), format!("It is time to look at {}.", host(&url)));
        if feed {
            feeds::begin(&url, turn);
        }
        task::look(Origin::Source(url.clone()), &url, feed, 0, turn);
    }
}

/// Takes in a look at a source: new links are queued, a changed page is noted, a failure is paced.
pub fn settled(url: &str, job: &Job, result: &Value, turn: &mut Turn) {
    if let Some(error) = failed(result) {
        let after_s = result.get("after_s").and_then(Value::as_i64).unwrap_or(0);
        return failing(url, &error, after_s, turn);
    }
    let source = turn.state.source(url);
    source.next_s = turn.now_s.saturating_add(turn.pace.source_pace_s as i64);
    let mended = std::mem::take(&mut source.fails) > 0;
    if mended {
        turn.say(format!("{} answers again.", host(url)));
    }
    if job.tool == "feed.read" {
        return feeds::settled(url, result, turn);
    }
    let Some(new) = said_anew(url, word(result, "text"), turn) else { return };
    turn.does("note what a page says now", format!("{} says something new; I note it.", host(url)));
    let title = clip(word(result, "title"), 140);
    let args = note(url, &title, &new, "", turn);
    turn.call("notes.append", args);
    let link = Link { url: url.to_owned(), title, source: url.to_owned(), ..Link::default() };
    digest::found(&link, turn);
    digest::mark_read(url, Fate::Read, turn);
}

/// Returns what a page says that it did not say before; none where it is as it was, clocks and counters aside.
pub fn said_anew(key: &str, text: &str, turn: &mut Turn) -> Option<String> {
    let source = turn.state.source(key);
    let whole = hash(text);
    let same = std::mem::replace(&mut source.text, whole) == whole;
    let new = source.page.news(text);
    // A page of which an earlier self kept the hash alone is no news while that is the same.
    (!same && !new.is_empty()).then(|| new.join("\n\n"))
}

/// Paces a source that failed, and waits as long as it asked for; only the first failure in a row is said.
fn failing(url: &str, error: &str, after_s: i64, turn: &mut Turn) {
    let source = turn.state.source(url);
    source.fails = source.fails.saturating_add(1);
    let (fails, wait_s) = (source.fails, backoff_s(turn.pace, source.fails).max(after_s.min(A_DAY_S)));
    source.next_s = turn.now_s.saturating_add(wait_s);
    let change = &mut turn.state.change;
    if change.failed_looks == 0 {
        change.failing_since_s = turn.now_s;
    }
    change.failed_looks = change.failed_looks.saturating_add(1);
    if fails == 1 {
        let (host, wait) = (host(url), span(wait_s));
        turn.say(format!("{host} failed: {error}. Next look in {wait}, then ever later."));
    }
}

/// Wait after so many failures in a row, in seconds: doubling, up to a day.
pub fn backoff_s(pace: Pace, fails: u32) -> i64 {
    let doubled = 1_i64 << fails.saturating_sub(1).min(20);
    doubled.saturating_mul(pace.source_backoff_s as i64).clamp(1, A_DAY_S)
}

/// Notes a page a feed led to; where it cannot be read, the feed's own words on it.
pub fn settled_link(link: &Link, result: &Value, turn: &mut Turn) {
    let mut remark = format!(" · found at {}", host(&link.source));
    let (mut text, mut fate) = (word(result, "text"), Fate::Read);
    if let Some(error) = failed(result) {
        turn.say(format!("{} could not be read: {error}.", host(&link.url)));
        remark += "; the page could not be read, these are the feed's words";
        (text, fate) = (link.summary.as_str(), Fate::Unreadable);
    }
    if text.is_empty() && fate == Fate::Unreadable {
        return digest::mark_read(&link.url, fate, turn);
    }
    turn.does("note what I read", format!("I note \"{}\".", clip(&link.title, 100)));
    let args = note(&link.url, &link.title, text, &remark, turn);
    turn.call("notes.append", args);
    digest::mark_read(&link.url, fate, turn);
}

/// Seconds until the next source is due, and its host.
pub fn next_due(turn: &Turn) -> Option<(i64, String)> {
    let named = turn.followed();
    let due = named.into_iter().map(|source| {
        let next_s = turn.state.sources.get(&source.url).map_or(0, |known| known.next_s);
        let wait_s = next_s.saturating_sub(turn.now_s).max(0);
        (wait_s, host(&source.url).to_owned())
    });
    due.min()
}
