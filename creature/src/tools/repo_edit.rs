//! `repo.*` that change the creature: edits and patches by the protocol, commits and resets by the guardian.

use super::arguments::Arguments;
use super::{Rebirth, Toolbox, new_packages, permission, repo_look};
use crate::fault::Fault;
use crate::guardian_post::{self, Kind};
use crate::mind::context::shorten;
use crate::self_edit::boundary::Area;
use crate::self_edit::change::{self, Edit, Plan};
use crate::self_edit::packages;
use crate::self_edit::protocol::{self, Proof};
use crate::self_edit::{Failed, Stage};
use serde_json::{Map, Value, json};

/// Characters of an error in a record of its own; that of the action has more.
const MOST_ERROR: usize = 3_000;

pub async fn edit(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let summary = args.summary("summary");
    let plan = change::from_edits(tools.house.root(), &edits(args));
    make(tools, plan, summary, args.flag("hold")).await
}

pub async fn apply_patch(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let (patch, summary) = (args.text("patch"), args.summary("summary"));
    let plan = change::from_patch(tools.house.root(), patch);
    make(tools, plan, summary, args.flag("hold")).await
}

pub async fn commit(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let summary = args.summary("summary");
    let changed = repo_look::changed(&repo_look::open(tools)?, Some("creature"))?;
    if changed.is_empty() {
        let (house, patience) = (&tools.house, tools.patience);
        let answer = guardian_post::ask(house, tools.life, Kind::Commit, &summary, patience).await?;
        return Ok(json!({"commit": answer.commit, "of": "self/ and PURPOSE.md"}));
    }
    let crates = changed.iter().any(|(_, path)| path.starts_with("creature/crates/"));
    let files: Vec<String> = changed.into_iter().map(|(_, path)| path).collect();
    permission::identity(tools, &files).await?;
    let owners = new_packages::judge(tools, &[])?;
    let judge = || new_packages::judge(tools, &[]).map(drop);
    let manifests = files.iter().any(|path| packages::is_paper(path));
    let judge = manifests.then_some(&judge as &dyn Fn() -> Result<(), Fault>);
    match protocol::prove(&tools.house, tools.life, tools.limits, crates, judge).await {
        Ok(proof) => {
            note(tools, owners)?;
            asked(tools, summary, files, json!([]), proof)
        }
        Err(mut failed) => {
            failed.fault.hint.push_str("; the files stay as they are, repo.reset_hard puts them back");
            Err(told(tools, &summary, &files, failed))
        }
    }
}

pub async fn reset_hard(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let reason = match args.value("reason") {
        Some(_) => args.summary("reason"),
        None => "put creature/ back".to_owned(),
    };
    let (house, patience) = (&tools.house, tools.patience);
    let answer = guardian_post::ask(house, tools.life, Kind::Reset, &reason, patience).await?;
    // What was to be born is no longer there.
    tools.rebirth = None;
    Ok(json!({"commit": answer.commit, "note": "what was there is kept under refs/guardian/rescued"}))
}

fn edits(args: &Arguments) -> Vec<Edit> {
    let field =
        |edit: &Value, name: &str| edit.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let edits = args.value("edits").and_then(Value::as_array).into_iter().flatten();
    edits
        .map(|edit| Edit { path: field(edit, "path"), old: field(edit, "old"), new: field(edit, "new") })
        .collect()
}

/// Takes a plan through the protocol and records what came of it.
async fn make(
    tools: &mut Toolbox,
    plan: Result<Plan, Failed>,
    summary: String,
    hold: bool,
) -> Result<Value, Fault> {
    let plan = match plan {
        Ok(plan) => plan,
        Err(failed) => return Err(told(tools, &summary, &[], failed)),
    };
    if tools.broker.is_some() && plan.touches(Area::Purpose) {
        let hint = "use purpose.rewrite: the broker writes it, after your owner where need be";
        let fault = Fault::new("PURPOSE.md is not yours to write as a file", hint);
        return Err(told(tools, &summary, &[], Stage::Boundary.failed(fault)));
    }
    let (files, report) = (plan.files(), plan.report.clone());
    if files.is_empty() {
        return Ok(
            json!({"already": true, "applied": report, "note": "everything is there already; nothing was built"}),
        );
    }
    // What a command left among the prompts would be born with this edit.
    let left = (!hold).then(|| repo_look::changed(&repo_look::open(tools)?, Some("creature/prompts")));
    let left = left.and_then(Result::ok).into_iter().flatten().map(|(_, path)| path);
    let touched: Vec<String> = files.iter().cloned().chain(left).collect();
    if let Err(fault) = permission::identity(tools, &touched).await {
        return Err(told(tools, &summary, &files, Stage::Boundary.failed(fault)));
    }
    let owners = match new_packages::judge(tools, &plan.changes) {
        Ok(owners) => owners,
        Err(fault) => return Err(told(tools, &summary, &files, Stage::Boundary.failed(fault))),
    };
    let mut extra = Map::new();
    if let Some(purpose) = plan.changes.iter().find(|change| change.area == Area::Purpose) {
        let before = purpose.before.as_deref().map(String::from_utf8_lossy);
        extra.insert("previous".to_owned(), json!(before.unwrap_or_default()));
    }
    if hold || !plan.touches(Area::Source) {
        // Recorded first: what PURPOSE.md said must be remembered before it is gone.
        let done = json!({"ok": true, "stage": Stage::Apply.name(), "summary": summary, "files": files, "held": hold});
        tools.record("self_change", with(done, extra))?;
        change::write(tools.house.root(), plan.changes)
            .map_err(|fault| told(tools, &summary, &files, Stage::Apply.failed(fault)))?
            .keep();
        return Ok(json!({"files": files, "applied": report, "held": hold}));
    }
    if !extra.is_empty() {
        let about = json!({"about": "purpose", "text": "a self-edit is about to change PURPOSE.md"});
        tools.record("observation", with(about, extra))?;
    }
    let judge = || new_packages::judge(tools, &[]).map(drop);
    match protocol::try_out(&tools.house, tools.life, tools.limits, plan, &judge).await {
        Ok(proof) => {
            note(tools, owners)?;
            asked(tools, summary, files, report, proof)
        }
        Err(failed) => Err(told(tools, &summary, &files, failed)),
    }
}

/// What the owner asked to be installed is there.
fn note(tools: &mut Toolbox, owners: bool) -> Result<(), Fault> {
    if owners { tools.used(new_packages::TOOL) } else { Ok(()) }
}

/// Records that everything passed and leaves the rebirth to the life.
fn asked(
    tools: &mut Toolbox,
    summary: String,
    files: Vec<String>,
    report: Value,
    proof: Proof,
) -> Result<Value, Fault> {
    let Proof { build_ms, test_ms, rehearsal_ms } = proof;
    let took = json!({"build_ms": build_ms, "test_ms": test_ms, "rehearsal_ms": rehearsal_ms});
    let data =
        json!({"ok": true, "stage": Stage::Asked.name(), "summary": summary, "files": files, "took": took});
    tools.record("self_change", data)?;
    // Two edits that passed before the rebirth are born together and named together.
    let before = tools.rebirth.take().map(|rebirth| rebirth.summary).filter(|before| *before != summary);
    let summary = before.map_or(summary.clone(), |before| format!("{before}; {summary}"));
    tools.rebirth = Some(Rebirth { summary });
    Ok(json!({"stage": Stage::Asked.name(), "files": files, "applied": report, "took": took,
        "note": "built, tested and rehearsed; rebirth follows when this life is blessed"}))
}

/// Records a failure; the fault as the mind is told of it.
fn told(tools: &mut Toolbox, summary: &str, files: &[String], failed: Failed) -> Fault {
    let Failed { stage, fault } = failed;
    let data = json!({"ok": false, "stage": stage.name(), "summary": summary, "files": files,
        "error": shorten(&fault.error, MOST_ERROR), "hint": fault.hint});
    if let Err(worse) = tools.record("self_change", data) {
        tracing::error!("{worse}");
    }
    let (first, rest) = fault.error.split_at(fault.error.find('\n').unwrap_or(fault.error.len()));
    Fault::new(format!("{first} ({} stage){rest}", stage.name()), fault.hint)
}

fn with(data: Value, extra: Map<String, Value>) -> Value {
    match data {
        Value::Object(mut fields) => {
            fields.extend(extra);
            Value::Object(fields)
        }
        other => other,
    }
}
