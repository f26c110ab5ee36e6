//! What is followed: adds lines to the sources in the checklist's text and takes them out. Pure.

use super::sources::{Named, named};
use super::text::{boxed, host, uncommented, urls};

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
