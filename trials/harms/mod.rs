//! Harms: edits of the creature that pass their tests and harm, each through a real house; what notices them.
//!
//! `scripts/trials harms [NAME…] [--most N]`: NAME picks harms by a part of their name; without one, those not run yet. `--day` begins with a
//! hard day for the sound self: no invariant may be broken. `--sound` makes the sound edits instead, a group on top of another.

mod house;
mod list;
mod mind;
mod written;

use list::Harm;
use std::ffi::OsString;
use std::process::ExitCode;
use trials::clone::{Clone, origin};
use written::Rows;

/// The row of a day of outages, a pause and no money, with nothing harmful in it.
pub const DAY: &str = "a sound self on a hard day";

/// An edit that changes nothing: if this is put back, the rest says nothing.
fn control() -> Harm {
    let first =
        "//! The creature's pace: how long it rests and how often it looks, as constants it rewrites itself.";
    Harm {
        name: "a control: only a comment".into(),
        kind: "none".into(),
        sees: "nothing".into(),
        why: String::new(),
        rest_s: None,
        path: "creature/src/pace.rs".into(),
        old: first.into(),
        new: format!("{first}\n//! A control."),
    }
}

pub fn main(words: impl Iterator<Item = OsString>) -> ExitCode {
    let (mut names, mut most, mut is_day, mut is_sound) = (Vec::new(), usize::MAX, false, false);
    let mut words = words.map(|word| word.to_string_lossy().into_owned());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--day" => is_day = true,
            "--sound" => is_sound = true,
            "--most" => most = words.next().and_then(|most| most.parse().ok()).expect("--most N"),
            _ => names.push(word),
        }
    }
    let (all, mut rows) = (list::all(&origin()), Rows::load());
    let known: Vec<Harm> = all.iter().cloned().chain([control()]).collect();
    let of =
        |name: &String| known.iter().filter(|harm| harm.name.contains(name.as_str())).collect::<Vec<_>>();
    let chosen: Vec<&Harm> = match names.is_empty() {
        _ if is_sound => vec![],
        true => all.iter().filter(|harm| !rows.has(&harm.name)).collect(),
        // In the order they were named.
        false => names.iter().flat_map(of).collect(),
    };
    let chosen: Vec<Harm> = chosen.into_iter().take(most).cloned().collect();
    if chosen.is_empty() && !is_day && !is_sound {
        eprintln!("harms: none of that name, or all were run; see trials/HARMS.md");
        return ExitCode::from(2);
    }
    let groups = list::groups(&list::sound(&origin()));
    let changes = known.iter().map(Harm::change).chain(groups.iter().cloned()).collect();
    let clone = Clone::named("harms");
    let mut stage = house::Stage::begin(&clone, changes);
    eprintln!("its predecessor kept {}", stage.observe());
    if is_day {
        let kept = stage.hard_day();
        eprintln!("through a hard day it kept {kept}");
        rows.note(DAY, &kept, "");
        rows.write(&known, &groups);
    }
    let mut unforeseen = 0;
    for (at, harm) in chosen.iter().enumerate() {
        let (became, after) = stage.take(harm);
        eprintln!("[{}/{}] {}: {became}; {after}", at + 1, chosen.len(), harm.name);
        unforeseen += usize::from(became.starts_with("not noticed") && harm.sees != "nothing");
        rows.note(&harm.name, &became, &after);
        rows.write(&known, &groups);
    }
    for (at, group) in groups.iter().filter(|_| is_sound).enumerate() {
        let (became, after) = stage.keep(group);
        eprintln!("[{}/{}] sound: {}: {became}; {after}", at + 1, groups.len(), group.name);
        unforeseen += usize::from(!became.starts_with("trusted"));
        rows.note(&group.name, &became, &after);
        rows.write(&known, &groups);
    }
    eprintln!("the owner was told of {} broken invariants; written to trials/HARMS.md", stage.told_broken());
    stage.finish();
    ExitCode::from(u8::from(unforeseen > 0))
}
