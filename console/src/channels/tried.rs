//! `channels test`: goes through all that a channel needs, in order, and says what is missing first.

use super::list::{self, Row};
use super::named;
use anyhow::{Context, Result};
use house::settings::channels::platform;
use house::terminal::{self, typed};
use house::{House, printable};
use processes::made::beside;
use serde_json::json;

/// A thing that a channel needs: what it is, how it is, and what to do where it is not right.
struct Step {
    about: &'static str,
    is_well: bool,
    found: String,
    mend: String,
}

pub fn test(house: &House, name: &str, as_json: bool) -> Result<u8> {
    named(house, name)?;
    let row = list::rows(house)?.into_iter().find(|row| row.name == name);
    let row = row.context("owner.toml was changed meanwhile: try again")?;
    let steps = steps(&row);
    let is_well = row.is_well();
    if as_json {
        let steps: Vec<_> = steps
            .iter()
            .map(|step| json!({"about": step.about, "ok": step.is_well, "found": step.found, "mend": step.mend}))
            .collect();
        terminal::json(&json!({"channel": name, "ok": is_well, "steps": steps}));
        return Ok(u8::from(!is_well));
    }
    for step in &steps {
        terminal::field(step.about, &step.found);
        if !step.is_well {
            terminal::line(&step.mend);
            // What comes after needs this.
            break;
        }
    }
    if is_well {
        terminal::line("A word there reaches the creature, and its answer comes back there.");
    }
    Ok(u8::from(!is_well))
}

fn steps(row: &Row) -> Vec<Step> {
    let step = |about, is_well, found: String, mend: String| Step { about, is_well, found, mend };
    let name = row.name.as_str();
    let has_all = row.missing.is_empty();
    let secrets = if has_all { "set".to_owned() } else { row.lacks() };
    let is_built = beside("channels").is_some_and(|program| program.is_file());
    let built = if is_built { "built" } else { "not built yet" };
    let standing = row.standing.clone().unwrap_or_default();
    let runs = row.standing.is_some();
    let program = match (runs, row.note.is_empty()) {
        (true, _) => "runs".to_owned(),
        (false, true) => "starting".to_owned(),
        (false, false) => row.note.clone(),
    };
    let is_connected = standing.state == "connected";
    let reached = match (is_connected, standing.trouble.is_empty()) {
        (true, _) => format!("connected as {}", printable::spelled(&standing.name)),
        (false, true) => standing.state.clone(),
        (false, false) => format!("{}: {}", standing.state, printable::spelled(&standing.trouble)),
    };
    let (is_paired, pair) = (!standing.paired.is_empty(), typed(&format!("channels pair {name}")));
    let paired = if is_paired { printable::spelled(&standing.paired) } else { "nobody".to_owned() };
    let get = platform(name).map_or("", |platform| platform.from);
    vec![
        step(
            "variables",
            has_all,
            secrets,
            format!(
                "A line each in .env, like {}=…, with no space. {get}",
                row.missing.first().map_or("NAME", String::as_str)
            ),
        ),
        step(
            "program",
            runs,
            if runs { program } else { format!("{built}; {program}") },
            "The guardian builds and starts it: see .self/log/channels-build.log and .self/log/channels.log."
                .to_owned(),
        ),
        step(
            "platform",
            is_connected,
            reached,
            format!("Mend what it says; it tries again by itself. {get}"),
        ),
        step("paired", is_paired, paired, format!("{pair} shows a code; send it from your own account.")),
    ]
}
