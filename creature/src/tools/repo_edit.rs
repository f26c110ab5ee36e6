//! `repo.*` that change the creature: edits gather in a draft, which is proven; the guardian commits and resets.

use super::arguments::Arguments;
use super::repo_run::{edit_context, gist};
use super::tool_context::{ToolContext, with};
use super::{new_packages, permission, repo_look};
use crate::fault::Fault;
use crate::guardian_post::{self, Kind};
use crate::paths::House;
use ground::text::shorten;
use patch::boundary::Area;
use patch::change::{self, Change};
use patch::draft::{self, Draft};
use patch::plan::{self, Edit, Missed, Plan, Roots};
use patch::proof::Known;
use patch::proof::{self, Proof};
use patch::{Failed, Stage, packages, rebase};
use serde_json::{Value, json};

/// Characters of an error in a `self_change` record; the record of the action has more of it.
const MOST_ERROR: usize = 3_000;

pub async fn edit(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let _lock = draft::hold(&tools.store.house)?;
    let draft = Draft::open_unless_live(&tools.store.house)?;
    let edits = edits(args, draft.as_ref()).map_err(|why| args.fault(why))?;
    let plan = plan::from_edits(&roots(&tools.store.house, draft.as_ref()), &edits);
    make(tools, draft, plan, args).await
}

pub async fn apply_patch(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let _lock = draft::hold(&tools.store.house)?;
    let draft = Draft::open_unless_live(&tools.store.house)?;
    let plan = plan::from_patch(&roots(&tools.store.house, draft.as_ref()), args.text("patch"));
    make(tools, draft, plan, args).await
}

pub async fn commit(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let summary = args.summary("summary");
    let _lock = draft::hold(&tools.store.house)?;
    if let Some(draft) = Draft::open_unless_live(&tools.store.house)?
        && !draft.changes(&tools.store.house)?.is_empty()
    {
        return born(tools, draft, Vec::new(), &summary).await;
    }
    let changed = repo_look::changed(&repo_look::open(tools)?, Some("creature"))?;
    if changed.is_empty() {
        let (house, patience) = (&tools.store.house, tools.belt.patience);
        let answer = guardian_post::ask(house, tools.store.life, Kind::Commit, &summary, patience).await?;
        return Ok(json!({"commit": answer.commit, "of": "self/ and PURPOSE.md"}));
    }
    let files: Vec<String> = changed.into_iter().map(|(_, path)| path).collect();
    permission::identity(tools, &files).await?;
    let owners = new_packages::judge(tools, &[])?;
    guardian_post::until_proven(&tools.store.house, tools.store.life).await;
    let judge = || new_packages::judge(tools, &[]).map(drop);
    let manifests = files.iter().any(|path| packages::is_manifest(path));
    let judge = manifests.then_some(&judge as &(dyn Fn() -> Result<(), Fault> + Sync));
    match proof::prove(&edit_context(tools), &files, judge).await {
        Ok(proof) => {
            note(tools, owners)?;
            ask_for_rebirth(tools, &summary, &files, proof)
        }
        Err(mut failed) => {
            failed.fault.hint.push_str("; the files stay as they are, repo.reset_hard puts them back");
            Err(report(tools, &summary, &files, failed))
        }
    }
}

/// Puts the draft aside, or with `back` takes up the one that was put aside last.
pub fn drop_draft(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let _lock = draft::hold(&tools.store.house)?;
    let there = Draft::open(&tools.store.house);
    if args.flag("back") {
        if !matches!(there, Ok(None)) {
            let hint = "drop it without `back`: then it takes the place of the one that was put aside";
            return Err(Fault::new("there is a draft already", hint));
        }
        let draft = Draft::take_up(&tools.store.house)?;
        return Ok(json!({"draft": draft.line(), "files": draft.state.files}));
    }
    let files = there.ok().flatten().map_or(Vec::new(), |draft| draft.state.files);
    match Draft::put_aside(&tools.store.house)? {
        true => Ok(
            json!({"dropped": files, "note": "it is kept aside until the next one goes: repo.drop {back: true} takes it up again"}),
        ),
        false => Ok(json!({"note": "there is no draft"})),
    }
}

pub async fn reset_hard(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let reason = match args.value("reason") {
        Some(_) => args.summary("reason"),
        None => "put creature/ back".to_owned(),
    };
    let (house, patience) = (&tools.store.house, tools.belt.patience);
    let answer = guardian_post::ask(house, tools.store.life, Kind::Reset, &reason, patience).await?;
    Ok(json!({"commit": answer.commit, "note": "what was there is kept under refs/guardian/rescued"}))
}

fn roots<'a>(house: &'a House, draft: Option<&'a Draft>) -> Roots<'a> {
    Roots { source: draft.map_or(house.root(), Draft::root), papers: house.root() }
}

/// The edits of a call; one without `new` takes the `new` of an edit of the same file that missed before.
fn edits(args: &Arguments, draft: Option<&Draft>) -> Result<Vec<Edit>, String> {
    let mut missed = draft.map_or(Vec::new(), |draft| draft.state.missed.clone());
    let field = |edit: &Value, name: &str| edit.get(name).and_then(Value::as_str).map(str::to_owned);
    let given = args.value("edits").and_then(Value::as_array).into_iter().flatten();
    let edit = |edit: &Value| {
        let (path, old) = (field(edit, "path").unwrap_or_default(), field(edit, "old").unwrap_or_default());
        let new = field(edit, "new").or_else(|| {
            let known = missed.iter().position(|known| known.path == path)?;
            Some(missed.remove(known).new)
        });
        let why = || {
            format!(
                "needs `new` for {path}: no edit of it missed whose `new` could be used; empty removes `old`"
            )
        };
        Ok(Edit { new: new.ok_or_else(why)?, path, old })
    };
    given.map(edit).collect()
}

/// Takes a plan into the draft and, unless `hold` is given, through the proof; records what came of it.
async fn make(
    tools: &mut ToolContext<'_>,
    draft: Option<Draft>,
    plan: Result<Plan, Failed>,
    args: &Arguments,
) -> Result<Value, Fault> {
    let (summary, hold) = (args.summary("summary"), args.flag("hold"));
    let plan = match plan {
        Ok(plan) => plan,
        Err(failed) => return Err(report(tools, &summary, &[], failed)),
    };
    let files = plan.files();
    if let Err(failed) = allowed(tools, draft.as_ref(), &plan).await {
        return Err(report(tools, &summary, &files, failed));
    }
    if files.is_empty() && plan.missed.is_empty() {
        let note = match draft {
            None => "everything is there already; nothing was built",
            Some(_) => "everything is in the draft already; nothing was built: repo.commit proves it",
        };
        return Ok(json!({"already": true, "applied": plan.report, "note": note}));
    }
    let refusal = plan.refusal();
    let (source, papers): (Vec<Change>, Vec<Change>) =
        plan.changes.into_iter().partition(|change| change.area == Area::Source);
    let shown: String = source.iter().map(Change::diff).collect();
    let draft = into_draft(tools, draft, source, plan.missed);
    let draft = draft.map_err(|fault| report(tools, &summary, &files, Stage::Apply.failed(fault)))?;
    if let Some(failed) = refusal {
        return Err(report(tools, &summary, &files, failed));
    }
    let changes = Some(&shown).filter(|shown| !shown.is_empty());
    let result = with(json!({"files": files, "applied": plan.report}), json!({"diff": changes}));
    match draft {
        Some(draft) if !hold && !shown.is_empty() => {
            Ok(with(result, born(tools, draft, papers, &summary).await?))
        }
        draft => {
            held(tools, &summary, &files, papers, hold)?;
            let draft = draft.filter(|_| !shown.is_empty()).map(|draft| draft.line());
            Ok(with(result, json!({"held": hold, "draft": draft})))
        }
    }
}

/// Refuses a plan that touches what this caller may not change, or adds packages that nobody allowed.
async fn allowed(tools: &ToolContext<'_>, draft: Option<&Draft>, plan: &Plan) -> Result<(), Failed> {
    let refused = |fault| Stage::Boundary.failed(fault);
    if tools.belt.broker.is_some() && plan.touches(Area::Purpose) {
        let hint = "use purpose.rewrite: the broker writes it, after your owner where need be";
        return Err(refused(Fault::new("PURPOSE.md is not yours to write as a file", hint)));
    }
    permission::identity(tools, &plan.files()).await.map_err(refused)?;
    let mut changes = match draft {
        Some(draft) => draft.changes(&tools.store.house).map_err(refused)?,
        None => Vec::new(),
    };
    changes.extend(plan.changes.iter().cloned());
    new_packages::judge(tools, &changes).map(drop).map_err(refused)
}

/// Writes source into the draft, which begins with its first edit; edits that missed are kept with it.
fn into_draft(
    tools: &ToolContext<'_>,
    draft: Option<Draft>,
    source: Vec<Change>,
    missed: Vec<Missed>,
) -> Result<Option<Draft>, Fault> {
    let now = tools.store.clock.text();
    let missed: Vec<Edit> = missed.into_iter().filter_map(|missed| missed.edit).collect();
    if source.is_empty() && missed.is_empty() {
        return Ok(draft);
    }
    let mut draft = draft.map_or_else(|| Draft::begin(&tools.store.house, &now), Ok)?;
    draft.state.missed = missed;
    draft.write(source.into_iter().map(|change| (change.path, change.after)).collect(), &now)?;
    Ok(Some(draft))
}

/// Writes papers, which take effect at once; source waits in the draft.
fn held(
    tools: &mut ToolContext<'_>,
    summary: &str,
    files: &[String],
    papers: Vec<Change>,
    held: bool,
) -> Result<(), Fault> {
    // The record comes first: the old text of PURPOSE.md must be remembered before it is gone.
    let done =
        json!({"ok": true, "stage": Stage::Apply.name(), "summary": summary, "files": files, "held": held});
    tools.store.record("self_change", with(done, previous(&papers)))?;
    let written = change::write(tools.store.house.root(), papers);
    written.map_err(|fault| report(tools, summary, files, Stage::Apply.failed(fault)))?.keep();
    Ok(())
}

/// The field `previous` with the old text of PURPOSE.md, null where these changes do not touch it.
fn previous(papers: &[Change]) -> Value {
    let purpose = papers.iter().find(|change| change.area == Area::Purpose);
    let before = purpose.map(|change| String::from_utf8_lossy(change.before.as_deref().unwrap_or_default()));
    json!({"previous": before})
}

/// Proves the draft, with these papers, in the tree that lives; a failure leaves the draft as it is.
async fn born(
    tools: &mut ToolContext<'_>,
    mut draft: Draft,
    papers: Vec<Change>,
    summary: &str,
) -> Result<Value, Fault> {
    let proven = proven(tools, &mut draft, papers).await;
    let failure = proven.as_ref().err().map(|(_, failed)| gist(&failed.fault.error));
    let said = draft.came_to("proof", &tools.store.clock.text(), failure);
    match proven {
        Ok((files, brought, proof)) => {
            said?;
            let rebased = (!brought.is_empty()).then_some(brought);
            Ok(with(ask_for_rebirth(tools, summary, &files, proof)?, json!({"rebased": rebased})))
        }
        Err((files, mut failed)) => {
            failed.fault.hint.push_str(
                "; the draft stays as it is and the tree that lives as it was: edit what is wrong alone, then repo.commit",
            );
            Err(report(tools, summary, &files, failed))
        }
    }
}

/// Files of the proven draft, those a rebase brought into it first, and the proof; else its files and the failure.
type Proven = Result<(Vec<String>, Vec<String>, Proof), (Vec<String>, Failed)>;

/// Rebases the draft and proves it in the place of the tree that lives.
async fn proven(tools: &mut ToolContext<'_>, draft: &mut Draft, papers: Vec<Change>) -> Proven {
    let none = |stage: Stage| move |fault| (Vec::new(), stage.failed(fault));
    let brought =
        rebase::rebase(&tools.store.house, draft, &tools.store.clock.text()).map_err(none(Stage::Apply))?;
    let mut changes = draft.changes(&tools.store.house).map_err(none(Stage::Apply))?;
    let extra = previous(&papers);
    changes.extend(papers);
    let files: Vec<String> = changes.iter().map(|change| change.path.clone()).collect();
    let failed = |failed| (files.clone(), failed);
    let refused = |fault| failed(Stage::Boundary.failed(fault));
    // Uncommitted changes of the prompts, made by a command, would be born with this edit.
    let left = repo_look::open(tools).and_then(|repo| repo_look::changed(&repo, Some("creature/prompts")));
    let left = left.into_iter().flatten().map(|(_, path)| path);
    let touched: Vec<String> = files.iter().cloned().chain(left).collect();
    permission::identity(tools, &touched).await.map_err(refused)?;
    let owners = new_packages::judge(tools, &changes).map_err(refused)?;
    if extra != json!({"previous": null}) {
        let about = json!({"about": "purpose", "text": "a self-edit is about to change PURPOSE.md"});
        tools.store.record("observation", with(about, extra)).map_err(refused)?;
    }
    guardian_post::until_proven(&tools.store.house, tools.store.life).await;
    let judge = || new_packages::judge(tools, &[]).map(drop);
    let proof = proof::try_out(&edit_context(tools), changes, &judge).await;
    let proof = proof.map_err(failed)?;
    note(tools, owners).map_err(refused)?;
    Ok((files, brought, proof))
}

/// Notes that the packages are there, where it took the owner's request to add them.
fn note(tools: &mut ToolContext<'_>, owners: bool) -> Result<(), Fault> {
    if owners { tools.used(new_packages::TOOL) } else { Ok(()) }
}

/// Records that everything passed and leaves the rebirth to the life.
fn ask_for_rebirth(
    tools: &mut ToolContext<'_>,
    summary: &str,
    files: &[String],
    proof: Proof,
) -> Result<Value, Fault> {
    let Proof { build_ms, test_ms, rehearsal_ms, passed, flaky } = proof;
    // From here on this tree lives: a test that passed in it and fails later was broken later.
    Known::load(&tools.store.house).green(tools.store.clock.text(), passed).save(&tools.store.house);
    let took = json!({"build_ms": build_ms, "test_ms": test_ms, "rehearsal_ms": rehearsal_ms});
    let flaky = Some(flaky).filter(|flaky| !flaky.is_empty());
    let data =
        json!({"ok": true, "stage": Stage::Asked.name(), "summary": summary, "files": files, "took": took});
    tools.store.record("self_change", with(data, json!({"flaky": flaky})))?;
    tools.belt.left.rebirth = Some(summary.to_owned());
    Ok(json!({"stage": Stage::Asked.name(), "files": files, "took": took, "flaky": flaky,
        "note": "built, tested and rehearsed; rebirth follows when this life is blessed"}))
}

/// Records a failure and returns the fault as the mind is told of it.
fn report(tools: &mut ToolContext<'_>, summary: &str, files: &[String], failed: Failed) -> Fault {
    let Failed { stage, fault } = failed;
    let data = json!({"ok": false, "stage": stage.name(), "summary": summary, "files": files,
        "error": shorten(&fault.error, MOST_ERROR), "hint": fault.hint});
    if let Err(worse) = tools.store.record("self_change", data) {
        tracing::error!("{worse}");
    }
    let (first, rest) = fault.error.split_at(fault.error.find('\n').unwrap_or(fault.error.len()));
    Fault::new(format!("{first} ({} stage){rest}", stage.name()), fault.hint)
}
