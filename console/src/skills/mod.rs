//! `skills`: the skills there are, the owner's and the creature's own; and `skills check`: whether each keeps to the form.

mod check;
mod form;
mod front;
mod place;
mod runs;

pub use check::check;

use check::{Checked, checked};
use house::House;
use house::terminal::{self, typed};
use place::Of;
use serde_json::{Value, json};

/// Lists all skills; what each is for, and which of them the creature is not shown.
pub fn list(house: &House, as_json: bool) {
    let all: Vec<Checked> = place::all(house).iter().map(checked).collect();
    if as_json {
        let skills: Vec<Value> = all.iter().map(Checked::head).collect();
        return terminal::json(&json!({"skills": skills}));
    }
    if all.is_empty() {
        terminal::line("there are no skills: a folder skills/NAME with a SKILL.md makes one");
    }
    for one in &all {
        terminal::line(&format!(
            "{}{}",
            one.place.shown,
            if one.place.of == Of::Own { "  (its own)" } else { "" }
        ));
        match one.why_unused() {
            None => terminal::below(2, &one.about),
            Some(why) => terminal::below(2, &format!("not shown to the creature: {why}")),
        }
    }
    if all.iter().any(|one| !one.is_good()) {
        terminal::line(&format!("some are not as they should be: {}", typed("skills check")));
    }
}
