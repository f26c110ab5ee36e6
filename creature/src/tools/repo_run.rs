//! `repo.*` that run commands: cargo, and the shell, each with a deadline and its whole tree ended after it.

use super::arguments::Arguments;
use super::{Toolbox, new_packages};
use crate::fault::Fault;
use crate::process::{self, Ended, Job};
use crate::self_edit::cargo;
use serde_json::{Value, json};
use std::time::Duration;

pub async fn build(tools: &mut Toolbox) -> Result<Value, Fault> {
    new_packages::judge(tools, &[])?;
    let ended = cargo::build(&tools.house, tools.limits.build).await?;
    passed("cargo build", &ended)?;
    Ok(json!({"took_ms": took(&ended)}))
}

pub async fn test(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let filter = args.maybe_text("filter").map(str::trim).filter(|filter| !filter.is_empty());
    if filter.is_some_and(|filter| filter.starts_with('-')) {
        return Err(args.fault("takes part of a test's name as `filter`, not an option"));
    }
    new_packages::judge(tools, &[])?;
    let ended = cargo::test(&tools.house, true, filter, tools.limits.test).await?;
    passed("cargo test", &ended)?;
    let said = ended.stdout.text();
    let results: Vec<&str> = said.lines().filter(|line| line.starts_with("test result:")).collect();
    Ok(json!({"results": results, "took_ms": took(&ended)}))
}

pub async fn install_deps(tools: &mut Toolbox) -> Result<Value, Fault> {
    let ended = cargo::fetch(&tools.house, tools.limits.test).await?;
    passed("cargo fetch", &ended)?;
    Ok(json!({"took_ms": took(&ended)}))
}

pub async fn run(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let (command, seconds) = (args.text("command"), args.number("deadline_s").unwrap_or(60));
    let job = Job::new("sh", tools.house.root(), Duration::from_secs(seconds as u64));
    let ended = process::run(job.args(["-c", command])).await?;
    let mut result = json!({
        "ok": ended.ok(),
        "status": ended.status,
        "stdout": ended.stdout.text(),
        "stderr": ended.stderr.text(),
        "took_ms": took(&ended),
        "strays_ended": ended.strays,
    });
    if let (false, Value::Object(fields)) = (ended.ok(), &mut result) {
        let hint = match ended.timed_out {
            true => "give a longer deadline_s, or do less",
            false => "stdout and stderr say why",
        };
        fields.insert("error".to_owned(), json!(format!("the command ended: {}", ended.how())));
        fields.insert("hint".to_owned(), json!(hint));
    }
    Ok(result)
}

fn passed(step: &str, ended: &Ended) -> Result<(), Fault> {
    if ended.ok() { Ok(()) } else { Err(cargo::fault(step, ended)) }
}

fn took(ended: &Ended) -> u64 {
    ended.took.as_millis().try_into().unwrap_or(u64::MAX)
}
