//! Items of the checklist and sources to follow, as the owner's papers name them; and replacing of their lines. Pure.

use crate::text::{host, urls};

/// Sources that are followed.
pub const MOST_SOURCES: usize = 16;

/// Beginning of the remark that instinct puts on an item it gave up.
pub const REMARK: &str = "(instinct:";

/// An open item.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The line as it stands, without its end.
    pub line: String,
    /// Text behind the box and the interval: the work to do.
    pub text: String,
    /// Seconds between two times, for an item that recurs.
    pub every_s: Option<i64>,
    /// Whether instinct gave it up.
    pub left: bool,
}

/// Open items in order; those in comments and those instinct gave up are left out.
pub fn items(checklist: &str) -> Vec<Item> {
    open(checklist, false)
}

/// Open items in order; where a mind `reads`, also those instinct gave up, which were left for it.
pub fn open(checklist: &str, reads: bool) -> Vec<Item> {
    let bare = uncommented(checklist);
    let lines = checklist.lines().zip(bare.lines());
    let lines = lines.filter(|(line, bare)| line == bare);
    lines.filter_map(|(line, _)| item(line)).filter(|item| reads || !item.left).collect()
}

/// Reads a line as an open item; none where it is something else.
pub fn item(line: &str) -> Option<Item> {
    let text = line.trim_start().trim_start_matches(['-', '*']);
    let text = text.strip_prefix(" [ ] ")?.trim();
    if text.is_empty() {
        return None;
    }
    let left = text.contains(REMARK);
    let recurring = text.strip_prefix("every ").and_then(|rest| {
        let (every, what) = rest.split_once(':')?;
        Some((seconds(every.trim())?, what.trim()))
    });
    Some(Item {
        line: line.trim_end().to_owned(),
        text: recurring.map_or(text, |(_, what)| what).to_owned(),
        every_s: recurring.map(|(every_s, _)| every_s),
        left,
    })
}

/// `30m`, `6h`, `2d` as seconds; at least a minute, at most a month.
fn seconds(every: &str) -> Option<i64> {
    let units = [('m', 60), ('h', 3600), ('d', 86_400)];
    let (count, each) = units.iter().find_map(|(unit, each)| Some((every.strip_suffix(*unit)?, each)))?;
    let count: i64 = count.trim().parse().ok()?;
    Some(count.saturating_mul(*each).clamp(60, 31 * 86_400))
}

/// A source to follow.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    pub url: String,
    pub feed: bool,
}

/// The sources two papers name: `feed: <url>`, `page: <url>`, and links under a heading of sources or follow.
pub fn named(purpose: &str, checklist: &str) -> Vec<Named> {
    let mut all: Vec<Named> = Vec::new();
    for paper in [purpose, checklist] {
        let mut listed = false;
        for line in uncommented(paper).lines() {
            let start = line.trim_start_matches(['-', '*', '`', ' ']).to_lowercase();
            if start.starts_with('#') {
                listed = start.contains("source") || start.contains("follow");
            }
            let (feed, page) = (start.starts_with("feed:"), start.starts_with("page:"));
            // A link in a checklist item is there to do something with it, not to be followed.
            if boxed(line).0.is_some() || !(feed || page || listed) {
                continue;
            }
            for url in urls(line) {
                let feed = feed || (!page && looks_like_feed(&url));
                if all.len() < MOST_SOURCES && !all.iter().any(|old| old.url == url) {
                    all.push(Named { url, feed });
                }
            }
        }
    }
    all
}

pub fn looks_like_feed(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or("").to_lowercase();
    let path = path.split_once("://").map_or("", |(_, path)| path).trim_end_matches('/');
    let ends = [".xml", ".rss", ".atom"].iter().any(|end| path.ends_with(end));
    ends || path.split('/').skip(1).any(|part| matches!(part, "feed" | "feeds" | "rss" | "atom"))
}

/// The checklist with these sources at the end of its section of sources, which is made where there is none.
pub fn with(checklist: &str, new: &[Named]) -> String {
    let bare = uncommented(checklist);
    let heading = |line: &str| line.trim_start().starts_with('#');
    let is_sources = |line: &str| heading(line) && line.to_lowercase().contains("source");
    let mut lines: Vec<String> = checklist.lines().map(str::to_owned).collect();
    let bare: Vec<&str> = bare.lines().collect();
    let at = match bare.iter().position(|line| is_sources(line)) {
        Some(begin) => {
            let section = bare.iter().skip(begin + 1).take_while(|line| !heading(line)).count();
            let last = lines.iter().take(begin + 1 + section).rposition(|line| !line.trim().is_empty());
            last.map_or(begin + 1, |last| last + 1)
        }
        None => {
            lines.extend(["".to_owned(), "## Sources".to_owned(), "".to_owned()]);
            lines.len()
        }
    };
    let kind = |named: &Named| if named.feed { "feed" } else { "page" };
    let new = new.iter().map(|named| format!("{}: {}", kind(named), named.url));
    lines.splice(at..at, new);
    lines.join("\n") + "\n"
}

/// Links of the checklist's sources that are called so: by link, by host, or by a part of the host.
pub fn called(checklist: &str, name: &str) -> Vec<String> {
    let name = name.trim().trim_end_matches(['/', '.']).to_lowercase();
    let is = |url: &str| {
        let url = url.trim_end_matches('/').to_lowercase();
        url == name || host(&url) == name || (name.chars().count() > 2 && host(&url).contains(&name))
    };
    named("", checklist).into_iter().map(|named| named.url).filter(|url| is(url)).collect()
}

/// The checklist without the lines that name only these sources; items and comments stay as they are.
pub fn without(checklist: &str, gone: &[String]) -> String {
    let bare = uncommented(checklist);
    let goes = |line: &str, bare: &str| {
        let links = urls(line);
        line == bare
            && boxed(line).0.is_none()
            && !links.is_empty()
            && links.iter().all(|url| gone.contains(url))
    };
    let kept = checklist.lines().zip(bare.lines()).filter(|(line, bare)| !goes(line, bare));
    kept.map(|(line, _)| format!("{line}\n")).collect()
}

/// Whether a line of a list has a box and that is open, and what the line says behind its mark and box.
pub fn boxed(line: &str) -> (Option<bool>, &str) {
    let bare = line.trim().trim_start_matches(['-', '*', ' ']);
    let boxes = [("[ ]", true), ("[x]", false), ("[X]", false)];
    let found = boxes.iter().find_map(|(mark, open)| Some((Some(*open), bare.strip_prefix(mark)?.trim())));
    found.unwrap_or((None, bare))
}

/// Replaces the first line that equals `line` by `new`, or removes it; none where no line does.
pub fn relined(text: &str, line: &str, new: Option<&str>) -> Option<String> {
    let lines = || text.split_inclusive('\n');
    let at = lines().position(|old| old.trim_end() == line)?;
    let replaced = |(nth, old): (usize, &str)| match new {
        _ if nth != at => old.to_owned(),
        Some(new) => new.to_owned() + old.get(old.trim_end().len()..).unwrap_or_default(),
        None => String::new(),
    };
    Some(lines().enumerate().map(replaced).collect())
}

/// `text` with the inside of `<!-- … -->` blanked line by line: examples are not taken for orders.
pub fn uncommented(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        kept.push_str(before);
        let (comment, tail) = after.split_once("-->").unwrap_or((after, ""));
        kept.extend(comment.chars().filter(|c| *c == '\n'));
        rest = tail;
    }
    kept + rest
}
