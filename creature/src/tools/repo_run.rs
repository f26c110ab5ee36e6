//! `repo.*` that run commands: cargo and the shell, each with a deadline, its whole process tree ended after it.

use super::arguments::Arguments;
use super::tool_context::{CallOutcome, ToolContext, failure, with};
use super::{hide, new_packages, repo_look};
use crate::config::SelfEditSettings;
use crate::fault::Fault;
use crate::jobs::{Left, MOST_RUNNING};
use crate::process::{self, Ended, Job};
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

/// Gathers what the crate `patch` has to know to edit and prove this creature's source.
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

/// Runs `cargo check` on all source and tests: of the draft where there is one.
pub async fn check(tools: &mut ToolContext<'_>, _: &Arguments) -> Result<Value, Fault> {
    let _lock = draft::hold(&tools.store.house)?;
    let (tree, draft) = tree(tools)?;
    let passed = tree.check().await.map(|took| json!({"took_ms": millis(took)}));
    came_to(tools, draft, "check", passed)
}

/// Tests of the draft where there is one: first those of the packages that it touches, then the rest.
pub async fn test(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let filter = args.said("filter");
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

/// Longest a command that is waited for may take, and the usual and the longest time of one in the background.
const MOST_S: usize = 600;
const BACKGROUND_S: usize = 3_600;

pub async fn run(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let command = args.text("command");
    let (given, background) = (args.number("deadline_s"), args.flag("background"));
    if !background && given.is_some_and(|given| given > MOST_S) {
        return Err(args.fault(format!("waits {MOST_S} s at most; background:true runs for longer")));
    }
    let seconds = given.unwrap_or(if background { BACKGROUND_S } else { 60 });
    let job = Job::new("sh", tools.store.house.root(), Duration::from_secs(seconds as u64));
    let job = job.args(["-c", command]);
    if background {
        return in_background(tools, command, job);
    }
    let output = tools.belt.job.as_ref().map(|job| job.output.clone()).unwrap_or_default();
    Ok(result_of(&process::run_into(job, &output).await?))
}

/// Begins a command that nobody waits for.
fn in_background(tools: &ToolContext<'_>, command: &str, command_job: Job) -> Result<Value, Fault> {
    let jobs = tools.belt.jobs.clone();
    let running = jobs.in_background();
    if tools.caller.session.is_some() {
        let hint = "without `background` it is waited for: a sub-session runs apart already";
        return Err(Fault::new("a sub-session has no commands in the background", hint));
    }
    if running.len() >= MOST_RUNNING {
        let lines: Vec<String> = running.iter().map(|job| job.line()).collect();
        let hint = format!("end one with `job`, or wait: {}", lines.join("; "));
        return Err(Fault::new(format!("{MOST_RUNNING} commands run in the background already"), hint));
    }
    let job =
        jobs.begin(tools.store.life, format!("repo.run {}", shorten(command, 200)), tools.caller.clone());
    job.goes_on_in_background();
    let id = job.id.clone();
    let token = tools.belt.broker.as_ref().map(|broker| broker.token().to_owned()).unwrap_or_default();
    tokio::spawn(async move {
        let result = tokio::select! {
            why = job.stopped() => job.cut(&why),
            ended = process::run_into(command_job, &job.output) => match ended {
                Ok(ended) => result_of(&ended),
                Err(fault) => failure(fault.error, fault.hint),
            },
        };
        jobs.finish(&job, CallOutcome::of(hide(result, &token)), Left::default());
    });
    Ok(
        json!({"job": id, "note": "it runs on; its end comes as news, and `job` looks at it, waits for it or ends it"}),
    )
}

/// A command that ended, as a result.
fn result_of(ended: &Ended) -> Value {
    let result = json!({
        "ok": ended.ok(),
        "status": ended.status,
        "stdout": ended.stdout.text(),
        "stderr": ended.stderr.text(),
        "took_ms": millis(ended.took),
        "strays_ended": ended.strays,
    });
    let hint = match ended.timed_out {
        _ if ended.ok() => return result,
        true => "give a longer deadline_s, or do less",
        false => "stdout and stderr say why",
    };
    with(result, json!({"error": format!("the command ended: {}", ended.how()), "hint": hint}))
}

fn millis(took: Duration) -> u64 {
    took.as_millis().try_into().unwrap_or(u64::MAX)
}

/// Says where and why a step failed, in a line: the first error or failing test, else the first line.
pub(super) fn gist(error: &str) -> String {
    let told =
        |line: &&str| line.starts_with("error[") || line.starts_with("error:") || line.starts_with("- ");
    let line = error.lines().find(told).or_else(|| error.lines().next()).unwrap_or_default();
    let place = error.lines().find_map(|line| line.trim_start().strip_prefix("--> "));
    let at = place.map_or(String::new(), |place| format!("at {place}: "));
    shorten(&format!("{at}{}", line.trim_start_matches("- ")), MOST_LINE)
}
