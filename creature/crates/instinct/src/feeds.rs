//! Items of a followed feed: which are new, by item and not by place, and what is done with them. Pure.
//!
//! Invariant: each item is told once, however the publisher sorts them and however many are new at once.

use super::digest;
use super::state::{Fate, Link, Origin};
use super::task::{self, note};
use super::text::{clip, hash, host, list, urls, word};
use super::turn::Turn;
use ground::text::keep_last;
use serde_json::Value;
use std::collections::BTreeSet;

/// New items of a feed that are read at one look; the others are told by title, or a first look would be a flood.
const MOST_READ: u32 = 3;

/// Calls at one look.
const MOST_CALLS: u32 = 7;

/// Items remembered that a feed no longer lists; they may come back.
const MOST_GONE: usize = 200;

/// Takes in what a call showed: new items are told and a few of them read; what it did not show is asked for next.
pub fn settled(url: &str, result: &Value, turn: &mut Turn) {
    let items = list(result, "items");
    let listed = keys(result, items);
    let source = turn.state.source(url);
    // Of a source that was followed by an earlier self only the links are known.
    let (first, known) = (source.items.is_empty(), std::mem::take(&mut source.items));
    let mut seen: BTreeSet<u32> = known.iter().copied().collect();
    for item in items {
        if seen.insert(mark(item)) {
            new_item(url, item, first, turn);
        }
    }
    // What was there before the first look is no news.
    seen.extend(listed.iter().filter(|_| first));
    let left = listed.iter().enumerate().filter(|(_, key)| !seen.contains(key)).map(|(at, _)| at);
    let left: Vec<usize> = left.collect();
    let source = turn.state.source(url);
    source.items = remembered(known, &listed, |key| seen.contains(key));
    source.calls = source.calls.saturating_add(1);
    let (calls, new) = (source.calls, source.new);
    if let (Some(next), true) = (left.first(), calls < MOST_CALLS) {
        return task::look(Origin::Source(url.to_owned()), url, true, *next, turn);
    }
    // A look that brings nothing is not worth a word.
    if new > 0 {
        let more = match left.len() {
            0 => String::new(),
            more => format!(", and {more} more wait for the next look"),
        };
        turn.say(format!("{} lists {new} new items{more}; I read {}.", host(url), new.min(MOST_READ)));
    }
}

/// The shown items that were not seen before, and how many there are that are not shown; all count as seen from now on.
pub fn unseen<'a>(
    name: &str,
    shown: &'a [Value],
    result: &Value,
    turn: &mut Turn,
) -> (Vec<&'a Value>, usize) {
    let source = turn.state.source(name);
    source.next_s = turn.now_s;
    let (first, known) = (source.items.is_empty(), std::mem::take(&mut source.items));
    let new: Vec<&Value> = shown.iter().filter(|item| !known.contains(&mark(item))).collect();
    let listed = keys(result, shown);
    let more = listed.iter().filter(|key| !known.contains(key)).count().saturating_sub(new.len());
    source.items = remembered(known, &listed, |_| true);
    (new, if first { 0 } else { more })
}

/// Keys of items that the feed no longer lists, and of those it lists that were seen.
fn remembered(mut known: Vec<u32>, listed: &[u32], seen: impl Fn(&u32) -> bool) -> Vec<u32> {
    known.retain(|key| !listed.contains(key));
    keep_last(&mut known, MOST_GONE);
    known.extend(listed.iter().copied().filter(seen));
    known
}

/// The keys of all items of a feed, or of the shown ones where the result has no more.
fn keys(result: &Value, shown: &[Value]) -> Vec<u32> {
    let told = word(result, "keys").split_whitespace();
    let told: Vec<u32> = told.filter_map(|key| u32::from_str_radix(key, 16).ok()).collect();
    if told.is_empty() { shown.iter().map(mark).collect() } else { told }
}

/// Begins a look.
pub fn begin(url: &str, turn: &mut Turn) {
    let source = turn.state.source(url);
    (source.calls, source.new) = (0, 0);
}

/// The key of an item: as the tool gives it, else of its id, its link or its own words.
fn mark(item: &Value) -> u32 {
    let given = u32::from_str_radix(word(item, "key"), 16).ok();
    let id =
        || ["id", "url", "title", "summary"].into_iter().map(|key| word(item, key)).find(|id| !id.is_empty());
    given.unwrap_or_else(|| key(id().unwrap_or_default()))
}

/// The key of an id.
pub fn key(id: &str) -> u32 {
    hash(id) as u32
}

fn new_item(feed: &str, item: &Value, first: bool, turn: &mut Turn) {
    // An item's `url` may hold other text, or no link.
    let link = urls(word(item, "url")).into_iter().next().unwrap_or_default();
    let (title, summary) = (clip(word(item, "title"), 140), clip(word(item, "summary"), 600));
    // The same item in another feed, or under a new id.
    let twin = hash(&format!("{link}\n{title}"));
    let before = first && !link.is_empty() && turn.state.seen.contains(&hash(&link));
    if before || turn.state.seen.contains(&twin) {
        return;
    }
    turn.state.seen.push(twin);
    let source = turn.state.source(feed);
    source.new = source.new.saturating_add(1);
    let read = source.new <= MOST_READ;
    let link = Link { url: link, title, summary, source: feed.to_owned() };
    digest::found(&link, turn);
    let page = !link.url.is_empty() && word(item, "kind") != "enclosure";
    if read && page {
        turn.state.queue.push(link);
    } else if read && !link.summary.is_empty() {
        let remark = format!(" · found at {}; these are the feed's words", host(feed));
        let place = if link.url.is_empty() { feed } else { &link.url };
        let args = note(place, &link.title, &link.summary, &remark, turn);
        turn.intend("note what a feed says");
        turn.call("notes.append", args);
        digest::mark_read(&link.url, Fate::Read, turn);
    }
}
