//! The doctor's findings about the broker: keys, budget, ledger, and secrets in places where they should not be.
//!
//! Invariant: the value of a secret is never shown, only where it is.

use super::finding::{Finding, Grade};
use crate::audit;
use crate::channels::list;
use crate::mcp::list::not_set;
use house::records::text;
use house::settings::{self, Reader, forms};
use house::terminal::typed;
use house::{House, instance, makers, minds, moments, own_time, servers, standing};
use processes::made::beside;
use processes::trusted;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

pub fn findings(house: &House) -> Vec<Finding> {
    let mut findings = vec![broker(house), keys(house)];
    findings.extend(judged(house));
    findings.extend(open_secrets(house));
    findings.extend(addresses(house));
    findings.extend(budget(house));
    findings.extend(variables(house));
    findings.extend(channels(house));
    findings.push(ledger(house));
    findings
}

/// Each channel of the owner's: what it lacks, or how it stands.
fn channels(house: &House) -> Vec<Finding> {
    let finding = |row: list::Row| {
        let mend = format!("{} goes through what it needs", typed(&format!("channels test {}", row.name)));
        let is_idle = instance::running(house).is_none() && row.missing.is_empty();
        let grade = if is_idle || row.is_well() { Grade::Good } else { Grade::Odd };
        Finding::new(grade, "channel", format!("{}: {}", row.name, row.told()), mend)
    };
    list::rows(house).unwrap_or_default().into_iter().map(finding).collect()
}

/// Variables that MCP servers get and that are not set.
fn variables(house: &House) -> Vec<Finding> {
    let named = settings::whole(house).map(|settings| settings.mcp).unwrap_or_default();
    let finding = |(name, server): (&String, &settings::mcp::Mcp)| {
        let missing = not_set(house, server.variables());
        let found = format!("{name}: {} is not set", missing.join(", "));
        (!missing.is_empty()).then(|| Finding::new(Grade::Odd, "mcp", found, "put it into .env"))
    };
    named.iter().filter_map(finding).collect()
}

fn broker(house: &House) -> Finding {
    let mend = "cargo build -p broker, or start the guardian with `cargo run -p guardian`, which builds it";
    let there = beside("broker").is_some_and(|program| program.is_file());
    match (there, instance::running(house).is_some(), instance::broker_runs(house)) {
        (_, _, true) => Finding::new(Grade::Good, "broker", "running", mend),
        (_, true, false) => {
            let mend = "see .self/log/broker.log and .self/log/broker-build.log";
            let found = "the guardian runs without it: the creature has no way out";
            Finding::new(Grade::Odd, "broker", found, mend)
        }
        (true, false, _) => Finding::new(Grade::Good, "broker", "built, not running", mend),
        (false, false, _) => Finding::new(Grade::Odd, "broker", "not built yet", mend),
    }
}

/// The broker's mistakes in its sections of `owner.toml`, else the model they and the keys select, and what else runs
/// on this machine.
fn judged(house: &House) -> Vec<Finding> {
    let program = beside("broker").filter(|program| program.is_file());
    let asked = program.zip(house.root().to_str());
    let output =
        asked.and_then(|(program, root)| trusted::output(&program, &["--check", "--house", root]).ok());
    let Some(output) = output else { return Vec::new() };
    let last = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().last().unwrap_or_default().to_owned();
    if output.status.code() == Some(2) {
        let mend =
            "mend the line; until then the guardian does not start, or goes on with what was valid before";
        return vec![Finding::new(Grade::Bad, "owner.toml", last(&output.stderr), mend)];
    }
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let mend = "put a key into .env, or mend what it says: without a model it lives on instinct";
    let grade = |said: &str| if minds::is_none(said) { Grade::Bad } else { Grade::Good };
    let mind = said.lines().take(1).map(|said| Finding::new(grade(said), "mind", said, mend));
    let nearby = said.lines().skip(1).map(|said| match said.strip_prefix("window: ") {
        Some(narrow) => Finding::new(Grade::Odd, "window", narrow, "then it is asked again by itself"),
        None => Finding::new(Grade::Good, "offered", said, ""),
    });
    mind.chain(nearby).collect()
}

fn keys(house: &House) -> Finding {
    // What keeps it from being read is told by the broker's own check.
    let file = redact::env_file::read(house).unwrap_or_default();
    let in_file = |name: &str| file.iter().any(|(key, _)| key == name);
    let own = settings::load(house, |text| settings::read(text, Reader::Broker, forms::check));
    let own = own.map(|read| read.settings.makers).unwrap_or_default();
    let own = own.into_values().flat_map(|maker| maker.keys.unwrap_or_default());
    let mut names: Vec<String> = makers::keys().map(str::to_owned).collect();
    own.for_each(|name| {
        if !names.contains(&name) {
            names.push(name)
        }
    });
    let found: Vec<String> = names
        .iter()
        .filter_map(|name| {
            let set = std::env::var_os(name).is_some_and(|key| !key.is_empty());
            let place = set.then_some("environment").or(in_file(name).then_some(".env"))?;
            Some(format!("{name} ({place})"))
        })
        .collect();
    let found = match found.is_empty() {
        true => "no model key of the usual names in the environment or .env: it may live on instinct".into(),
        false => found.join(", "),
    };
    Finding::new(Grade::Good, "keys", found, "")
}

fn open_secrets(house: &House) -> Option<Finding> {
    let mode = std::fs::metadata(house.secrets()).ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then(|| {
        let found = format!(".env can be read by others (mode {mode:o})");
        Finding::new(Grade::Odd, ".env", found, "chmod 600 .env")
    })
}

/// Entries of `.git/config` that hold credentials: the creature can read `.git`.
fn addresses(house: &House) -> Vec<Finding> {
    let Ok(config) = git2::Config::open(&house.root().join(".git/config")) else { return vec![] };
    let mut found = Vec::new();
    let listed = config.entries(None).map(|entries| {
        entries.for_each(|entry| {
            let (Ok(name), Ok(value)) = (entry.name(), entry.value()) else { return };
            let authority =
                value.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or_default());
            let user = authority.and_then(|authority| authority.rsplit_once('@')).map(|(user, _)| user);
            let alone = user.is_some_and(|user| !user.is_empty() && user != "git");
            if alone || name.ends_with("extraheader") || name.ends_with(".helper") && value.contains("store")
            {
                found.push(name.to_owned());
            }
        })
    });
    let mend = "take the secret out of .git/config (git remote set-url, a credential helper outside the house): the creature can read it";
    let _ = listed;
    found
        .into_iter()
        .map(|name| Finding::new(Grade::Odd, ".git/config", format!("{name} holds credentials"), mend))
        .collect()
}

fn budget(house: &House) -> Vec<Finding> {
    let Some(budget) = standing::small(&house.budget()) else { return vec![] };
    let mut findings = Vec::new();
    if instance::broker_runs(house) {
        let mend = "nothing, if its server comes back: it is asked again by itself; else the key, the address or the model in owner.toml";
        let down = minds::down(&budget).into_iter();
        findings.extend(down.map(|told| Finding::new(Grade::Bad, "model", told, mend)));
        let troubles = servers::troubles(&budget).into_iter();
        findings.extend(troubles.map(|told| {
            let name = told.split(':').next().unwrap_or_default();
            let mend =
                format!("{} tries it now, and says what is missing", typed(&format!("mcp test {name}")));
            Finding::new(Grade::Odd, "mcp", &told, mend)
        }));
    }
    let closed = text(&budget, "closed");
    if !closed.is_empty() {
        let mend = "the broker lets nothing out until its ledger can be read; see .self/log/broker.log";
        findings.push(Finding::new(Grade::Bad, "budget", format!("closed: {closed}"), mend));
    }
    let price = text(&budget, "price");
    if !price.is_empty() {
        let mend = "give the model its price in owner.toml";
        findings.push(Finding::new(Grade::Odd, "price", price, mend));
    }
    if let Some(told) = own_time::line(&budget, moments::now()).filter(|_| instance::broker_runs(house)) {
        let never = own_time::never(&budget);
        let mend =
            "give it more in owner.toml, [autonomy] or [budget], or a cheaper model there, [model.quick]";
        findings.push(Finding::new(if never { Grade::Odd } else { Grade::Good }, "own time", told, mend));
    }
    if let Some(stopped) = budget.get("stopped").filter(|stopped| stopped.is_object()) {
        let status = stopped.get("status").map(Value::to_string).unwrap_or_default();
        let found = format!("{} answered {status}; {}", text(stopped, "provider"), text(stopped, "hint"));
        let mend = "mend the key or the account, then save .env or owner.toml, or start the guardian anew";
        findings.push(Finding::new(Grade::Bad, "budget", found, mend));
    }
    findings
}

fn ledger(house: &House) -> Finding {
    // No line is that late, so only the chain is checked.
    let broken = audit::read(house, "9999").broken;
    let mend = "somebody changed .self/ledger.jsonl: look what (git does not have it), then move it aside with .self/broker/anchor.json";
    match broken {
        Some(why) => Finding::new(Grade::Bad, "ledger", format!("its chain is broken: {why}"), mend),
        None if house.ledger().exists() => Finding::new(Grade::Good, "ledger", "whole", mend),
        None => Finding::new(Grade::Good, "ledger", "nothing went out yet", mend),
    }
}
