//! `channels add`: writes a channel's lines into `owner.toml` once the owner has said yes to them, and says what else it needs.

use crate::commands::channels::Add;
use crate::mcp::list::not_set;
use crate::mcp::owner::{Owner, decide};
use anyhow::{Result, bail};
use house::House;
use house::settings::channels::{Platform, platform};
use house::settings::{self, Reader, forms};
use house::terminal::{self, typed};
use std::fmt::Write;
use toml_edit::Value;

pub fn add(house: &House, wanted: &Add) -> Result<u8> {
    let name = &wanted.named.name;
    let Some(platform) = platform(name) else { bail!("there is no such channel") };
    let owner = Owner::read(house)?;
    if owner.settings.channels.contains_key(name) {
        let test = typed(&format!("channels test {name}"));
        bail!("[channels.{name}] is in owner.toml already: {test} says how it stands");
    }
    let lines = lines(platform, wanted);
    let missing: Vec<String> = platform
        .needed
        .iter()
        .filter(|key| !lines.contains(&format!("\n{key} = ")))
        .map(|key| format!("--{key}"))
        .collect();
    if !missing.is_empty() {
        bail!(
            "nothing was written: {} needs {} too; {} tells of them",
            platform.title,
            missing.join(", "),
            typed("help channels add")
        );
    }
    let code = decide(house, &owner, &lines, "", wanted.yes)?;
    if code == 0 {
        tell(house, name, &owner.with(&lines), platform);
    }
    Ok(code)
}

/// The exact lines, with what the owner gave.
fn lines(platform: &Platform, wanted: &Add) -> String {
    let mut lines = format!("[channels.{}]\n", platform.name);
    let given = [
        ("url", &wanted.url),
        ("address", &wanted.address),
        ("imap", &wanted.imap),
        ("smtp", &wanted.smtp),
        ("user", &wanted.user),
        ("authserv", &wanted.authserv),
    ];
    for (key, text) in given {
        if let Some(text) = text {
            let _ = writeln!(lines, "{key} = {}", Value::from(text.as_str()));
        }
    }
    if wanted.home {
        lines.push_str("home = true\n");
    }
    lines
}

/// Says which variables it needs, where the owner gets them, and how to pair.
fn tell(house: &House, name: &str, text: &str, platform: &Platform) {
    let read = settings::read(text, Reader::Guardian, forms::check);
    let channel = read.ok().and_then(|mut read| read.settings.channels.remove(name));
    let variables = channel.map(|channel| channel.variables()).unwrap_or_default();
    let missing = not_set(house, variables);
    if !missing.is_empty() {
        terminal::field(
            "next",
            &format!("write {}=… into .env, a line each. {}", missing.join("=… and "), platform.from),
        );
    }
    let pair = typed(&format!("channels pair {name}"));
    terminal::field(
        "then",
        &format!(
            "{pair} shows a code that makes you its owner; the first build of its program takes a minute or two"
        ),
    );
}
