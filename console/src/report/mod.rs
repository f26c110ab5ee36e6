//! The morning report: what came to pass since a time, from records alone, weightiest first, on one screen.

pub mod facts;
pub mod gather;
pub mod told;

use house::terminal::{self, typed};
use house::{House, moments};

pub fn print(house: &House, since: &str, as_json: bool) {
    let facts = gather::facts(house, since);
    let sections = told::sections(&facts, since);
    if as_json {
        return terminal::json(&told::json(&facts, &sections, since));
    }
    let nothing = if facts.is_nothing() { "nothing happened " } else { "" };
    terminal::line(&format!("{nothing}since {}; now: {}", moments::told(since), facts.note));
    if facts.waits.is_empty() {
        terminal::line("nothing waits for your yes");
    }
    let columns = if terminal::is_one() { terminal::width() } else { usize::MAX };
    told::lines(&sections, columns).iter().for_each(|(name, text)| terminal::field(name, text));
    for name in &facts.cut {
        terminal::line(&format!("of {name} only the newest was read: there is more than a report reads"));
    }
    if !sections.is_empty() {
        terminal::line(&format!(
            "-> a path, git, a word in .self/inbox.jsonl, or typed after `{}`",
            typed("").trim()
        ));
    }
}
