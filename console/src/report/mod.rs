//! The morning report: events since a time, from records alone, weightiest first, on one screen.

pub mod facts;
pub mod gather;
pub mod kept;
pub mod letter;
pub mod told;

use facts::Facts;
use house::terminal::{self, typed};
use house::{House, moments};
use told::Section;

pub fn print(house: &House, since: &str, as_json: bool) {
    let (facts, sections) = read(house, since);
    if as_json {
        return terminal::json(&told::json(&facts, &sections, since));
    }
    let columns = if terminal::is_one() { terminal::width() } else { usize::MAX };
    for (name, text) in fitted(&facts, &sections, since, columns) {
        match name {
            Some(name) => terminal::field(name, &text),
            None => terminal::line(&text),
        }
    }
}

/// A report as lines for so many columns: the name of a row's section, and text; what has no name stands by itself.
pub fn lines(house: &House, since: &str, columns: usize) -> Vec<(Option<&'static str>, String)> {
    let (facts, sections) = read(house, since);
    fitted(&facts, &sections, since, columns)
}

/// Gathers the facts of a report, and its sections with every row that is held.
pub fn read(house: &House, since: &str) -> (Facts, Vec<Section>) {
    let facts = gather::facts(house, since);
    let sections = told::sections(&facts, since);
    (facts, sections)
}

fn fitted(
    facts: &Facts,
    sections: &[Section],
    since: &str,
    columns: usize,
) -> Vec<(Option<&'static str>, String)> {
    let nothing = if facts.is_nothing() { "nothing happened " } else { "" };
    let mut lines = vec![(None, format!("{nothing}since {}; now: {}", moments::told(since), facts.note))];
    if facts.waits.is_empty() {
        lines.push((None, "nothing waits for your yes".into()));
    }
    lines.extend(told::lines(sections, columns).into_iter().map(|(name, text)| (Some(name), text)));
    let cut = facts.cut.iter();
    lines.extend(cut.map(|name| {
        (None, format!("of {name} only the newest was read: there is more than a report reads"))
    }));
    if !sections.is_empty() {
        lines.push((
            None,
            format!("-> a path, git, a word in .self/inbox.jsonl, or typed after `{}`", typed("").trim()),
        ));
    }
    lines
}
