//! `channels list`: each channel of `owner.toml`, how it stands by its program's last word, and what it lacks.

use crate::mcp::list::not_set;
use anyhow::Result;
use house::channels::{Pairing, Standing, standing};
use house::settings::channels::{Channel, home};
use house::terminal::{self, typed};
use house::{House, instance, moments, settings};
use serde_json::{Value, json};

/// How a channel is, as far as files tell.
pub struct Row {
    pub name: String,
    pub is_home: bool,
    /// Variables that are not set.
    pub missing: Vec<String>,
    /// Why `.env` cannot be read, where something is missing.
    unread: Option<String>,
    /// None while no program tells of it.
    pub standing: Option<Standing>,
    /// How it stands, in a line.
    line: Option<String>,
    waits: bool,
    /// The word of the guardian on the program, where none runs.
    pub note: String,
}

/// The channels of `owner.toml`.
pub fn rows(house: &House) -> Result<Vec<Row>> {
    let named = settings::whole(house)?.channels;
    let told = instance::running(house).and_then(|pid| instance::published(house, pid));
    let program = told.as_ref().and_then(|told| told.get("channels"));
    let runs = program.and_then(|program| program.get("running")) == Some(&Value::Bool(true));
    let note = match (&told, program.map(|program| house::records::text(program, "note"))) {
        _ if runs => "",
        (None, _) => "the guardian does not run",
        (Some(_), None) => "the guardian has not taken it up yet",
        (Some(_), Some(note)) => note,
    };
    let (mut all, pairing, now) = (standing(house), Pairing::read(house), moments::now());
    let home = home(&named).map(str::to_owned);
    let unread = redact::env_file::read(house).err().map(|error| format!("{error:#}"));
    let row = |(name, channel): (&String, &Channel)| {
        let standing = all.remove(name).filter(|_| runs);
        let missing = not_set(house, channel.variables());
        Row {
            is_home: home.as_ref() == Some(name),
            unread: unread.clone().filter(|_| !missing.is_empty()),
            missing,
            line: standing.as_ref().map(|standing| standing.line(name, &pairing, now)),
            waits: standing.as_ref().map_or_else(
                || pairing.code(name, now).is_some(),
                |standing| pairing.waits(name, now, standing).is_some(),
            ),
            standing,
            note: note.to_owned(),
            name: name.clone(),
        }
    };
    Ok(named.iter().map(row).collect())
}

impl Row {
    /// Tells what is known of it, in a line.
    pub fn told(&self) -> String {
        let mut told = match &self.line {
            _ if !self.missing.is_empty() => vec![self.lacks()],
            Some(line) => vec![line.clone()],
            None if self.note.is_empty() => vec!["starting".to_owned()],
            None => vec![self.note.clone()],
        };
        told.extend(self.is_home.then(|| "home".to_owned()));
        told.join("; ")
    }

    /// Says what it lacks: variables, or a `.env` that can be read.
    pub fn lacks(&self) -> String {
        match &self.unread {
            Some(why) => format!("{why}; until that is mended nothing of it counts"),
            None => format!("{} is not set: put it into .env", self.missing.join(", ")),
        }
    }

    /// Whether the owner is heard by it now.
    pub fn is_well(&self) -> bool {
        self.missing.is_empty() && self.standing.as_ref().is_some_and(Standing::is_well)
    }

    pub fn as_json(&self) -> Value {
        json!({
            "channel": self.name, "home": self.is_home, "missing": self.missing, "standing": self.standing,
            "note": self.note, "waits_for_a_code": self.waits, "heard": self.is_well(),
        })
    }
}

pub fn show(house: &House, as_json: bool) -> Result<u8> {
    let rows = rows(house)?;
    if as_json {
        terminal::json(&json!({"channels": rows.iter().map(Row::as_json).collect::<Vec<_>>()}));
        return Ok(0);
    }
    if rows.is_empty() {
        terminal::line(&format!(
            "no channel is named in owner.toml; {} is the shortest way to one",
            typed("channels add telegram")
        ));
    }
    rows.iter().for_each(|row| terminal::field(&row.name, &row.told()));
    Ok(0)
}
