//! `repo.*` that run commands: cargo and the shell, each with a deadline, its whole process tree ended after it.

use super::arguments::Arguments;
use super::tool_context::ToolContext;
use super::{new_packages, repo_look};
use crate::config::SelfEditSettings;
use crate::fault::Fault;
use crate::process::{self, Job};
use ground::papers;
use ground::text::shorten;
use mind::thought::Thought;
use patch::draft::{self, Draft};
use patch::proof::{self, Tested, Tree};
use patch::{EditContext, Limits};
use serde_json::{Value, json};
use std::time::Duration;

/// Characters of the line that says why a draft fails.
const MOST_LINE: usize = 160;

impl From<&SelfEditSettings> for Limits {
    fn from(owner: &SelfEditSettings) -> Self {
        Self {
            build: Duration::from_secs(owner.build_s),
            test: Duration::from_secs(owner.test_s),
            rehearsal: Duration::from_secs(owner.rehearsal_s),
        }
    }
}

/// What the crate `patch` has to know to edit and prove this creature's source.
pub(super) fn edit_context(tools: &ToolContext<'_>) -> EditContext {
    EditContext {
        house: tools.store.house.clone(),
        cargo: std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
        limits: tools.belt.limits,
        life: tools.store.life,
        read_paper: |path| papers::read(path).text,
        is_thought: |data| serde_json::from_value::<Thought>(data).is_ok(),
    }
}

/// `cargo check` of all source and tests: of the draft where there is one.
pub async fn check(tools: &mut ToolContext<'_>, _: &Arguments) -> Result<Value, Fault> {
    let _lock = draft::hold(&tools.store.house)?;
    let (tree, draft) = tree(tools)?;
    let passed = tree.check().await.map(|took| json!({"took_ms": millis(took)}));
    came_to(tools, draft, "check", passed)
}

/// Tests of the draft where there is one: first those of the packages that it touches, then the rest.
pub async fn test(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let filter = args.maybe_text("filter").map(str::trim).filter(|filter| !filter.is_empty());
    if filter.is_some_and(|filter| filter.starts_with('-')) {
        return Err(args.fault("takes part of a test's name as `filter`, not an option"));
    }
    let _lock = draft::hold(&tools.store.house)?;
    let (tree, draft) = tree(tools)?;
    let paths: Vec<String> = match &draft {
        Some(draft) if filter.is_none() => {
            draft.changes(&tools.store.house)?.into_iter().map(|change| change.path).collect()
        }
        _ => Vec::new(),
    };
    let now = tools.store.clock.text();
    let unchanged = draft.is_none().then_some(now.as_str());
    let passed =
        proof::test(&tree, &paths, filter, unchanged).await.map(|Tested { results, flaky, took, .. }| {
            let flaky = Some(flaky).filter(|flaky| !flaky.is_empty());
            json!({"results": results, "flaky": flaky, "took_ms": millis(took)})
        });
    let step = filter.map_or("test".to_owned(), |filter| format!("test {filter}"));
    came_to(tools, draft, &step, passed)
}

/// The tree that cargo works on, with the draft where it is that; refused where it adds packages nobody allowed.
fn tree(tools: &ToolContext<'_>) -> Result<(Tree, Option<Draft>), Fault> {
    let draft = Draft::open_unless_live(&tools.store.house)?;
    let changes = draft.as_ref().map_or(Ok(Vec::new()), |draft| draft.changes(&tools.store.house))?;
    new_packages::judge(tools, &changes)?;
    let context = edit_context(tools);
    let tree = if draft.is_some() { Tree::draft(&context) } else { Tree::living(&context) };
    Ok((tree, draft))
}

/// Notes with the draft what came of a step; the answer says that it is about the draft.
fn came_to(
    tools: &ToolContext<'_>,
    draft: Option<Draft>,
    step: &str,
    came: Result<Value, Fault>,
) -> Result<Value, Fault> {
    let Some(mut draft) = draft else { return came };
    let failure = came.as_ref().err().map(|fault| gist(&fault.error));
    draft.came_to(step, &tools.store.clock.text(), failure)?;
    came.map(|came| repo_look::of_tree(came, Some(draft.line())))
}

pub async fn install_deps(tools: &mut ToolContext<'_>, _: &Arguments) -> Result<Value, Fault> {
    let took = Tree::living(&edit_context(tools)).fetch().await?;
    Ok(json!({"took_ms": millis(took)}))
}

pub async fn run(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (command, seconds) = (args.text("command"), args.number("deadline_s").unwrap_or(60));
    let job = Job::new("sh", tools.store.house.root(), Duration::from_secs(seconds as u64));
    let ended = process::run(job.args(["-c", command])).await?;
    let mut result = json!({
        "ok": ended.ok(),
        "status": ended.status,
        "stdout": ended.stdout.text(),
        "stderr": ended.stderr.text(),
        "took_ms": millis(ended.took),
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

fn millis(took: Duration) -> u64 {
    took.as_millis().try_into().unwrap_or(u64::MAX)
}

/// Where and why a step failed, in a line: the first error or failing test, else the first line.
pub(super) fn gist(error: &str) -> String {
    let told =
        |line: &&str| line.starts_with("error[") || line.starts_with("error:") || line.starts_with("- ");
    let line = error.lines().find(told).or_else(|| error.lines().next()).unwrap_or_default();
    let place = error.lines().find_map(|line| line.trim_start().strip_prefix("--> "));
    let at = place.map_or(String::new(), |place| format!("at {place}: "));
    shorten(&format!("{at}{}", line.trim_start_matches("- ")), MOST_LINE)
}
