//! `repo.*` that run commands: cargo, and the shell, each with a deadline and its whole tree ended after it.

use super::arguments::Arguments;
use super::{Toolbox, new_packages, repo_edit, repo_look};
use crate::fault::Fault;
use crate::process::{self, Job};
use crate::self_edit::cargo::{self, Scope, Tree};
use crate::self_edit::draft::{self, Draft};
use crate::self_edit::members;
use crate::self_edit::testing::{self, Tested};
use serde_json::{Value, json};
use std::time::Duration;

/// `cargo check` of all source and tests: of the draft where there is one.
pub async fn check(tools: &mut Toolbox, _: &Arguments) -> Result<Value, Fault> {
    let _alone = draft::hold(&tools.house)?;
    let (tree, draft) = tree(tools)?;
    let ended = cargo::check(&tree, tools.limits.build).await?;
    let passed = match ended.ok() {
        true => Ok(json!({"took_ms": took(ended.took)})),
        false => Err(cargo::fault("cargo check", &ended, &|_| String::new())),
    };
    came_to(tools, draft, "check", passed)
}

/// Tests of the draft where there is one: first those of the packages that it touches, then the rest. What takes long
/// has to be asked for by name.
pub async fn test(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let filter = args.maybe_text("filter").map(str::trim).filter(|filter| !filter.is_empty());
    if filter.is_some_and(|filter| filter.starts_with('-')) {
        return Err(args.fault("takes part of a test's name as `filter`, not an option"));
    }
    let _alone = draft::hold(&tools.house)?;
    let (tree, draft) = tree(tools)?;
    let all = members::names(tree.root());
    let changed = match &draft {
        Some(draft) if filter.is_none() => {
            let paths = draft.changes(&tools.house)?.into_iter().map(|change| change.path);
            members::touched(tree.root(), &paths.collect::<Vec<_>>())
        }
        _ => Vec::new(),
    };
    let (first, rest): (Vec<&str>, Vec<&str>) =
        all.iter().map(String::as_str).partition(|name| changed.iter().any(|changed| changed == name));
    let scopes = [first, rest].into_iter().filter(|names| !names.is_empty());
    let now = tools.clock.text();
    let unchanged = draft.is_none().then_some(now.as_str());
    let (mut all, mut failure) = (Tested::default(), None);
    for scope in scopes {
        match testing::run(&tools.house, &tree, Scope(&scope), filter, tools.limits, unchanged).await {
            Ok(tested) => {
                all.results.extend(tested.results);
                all.flaky.extend(tested.flaky);
                all.took += tested.took;
            }
            Err(fault) => {
                failure = Some(fault);
                break;
            }
        }
    }
    let flaky = Some(all.flaky).filter(|flaky| !flaky.is_empty());
    let passed = json!({"results": all.results, "flaky": flaky, "took_ms": took(all.took)});
    let step = filter.map_or("test".to_owned(), |filter| format!("test {filter}"));
    came_to(tools, draft, &step, failure.map_or(Ok(passed), Err))
}

/// What cargo is to look at.
fn tree(tools: &Toolbox) -> Result<(Tree, Option<Draft>), Fault> {
    let draft = Draft::unborn(&tools.house)?;
    let changes = draft.as_ref().map_or(Ok(Vec::new()), |draft| draft.changes(&tools.house))?;
    new_packages::judge(tools, &changes)?;
    let tree = if draft.is_some() { Tree::draft(&tools.house) } else { Tree::living(&tools.house) };
    Ok((tree, draft))
}

/// Notes with the draft what came of a step, and says what was looked at.
fn came_to(
    tools: &Toolbox,
    draft: Option<Draft>,
    step: &str,
    came: Result<Value, Fault>,
) -> Result<Value, Fault> {
    let Some(mut draft) = draft else { return came };
    let failure = came.as_ref().err().map(|fault| repo_edit::gist(&fault.error));
    draft.came_to(step, &tools.clock.text(), failure)?;
    came.map(|came| repo_look::of_tree(came, Some(draft.line())))
}

pub async fn install_deps(tools: &mut Toolbox, _: &Arguments) -> Result<Value, Fault> {
    let ended = cargo::fetch(&Tree::living(&tools.house), tools.limits.test).await?;
    match ended.ok() {
        true => Ok(json!({"took_ms": took(ended.took)})),
        false => Err(cargo::fault("cargo fetch", &ended, &|_| String::new())),
    }
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
        "took_ms": took(ended.took),
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

fn took(took: Duration) -> u64 {
    took.as_millis().try_into().unwrap_or(u64::MAX)
}
