//! `restore`: the house as a backup has it, but for events since: money, answers and lives are never taken back.
//!
//! Invariant: until all of the backup was checked and lies on the disk nothing of the house is touched; then one file decides,
//! and `repo::restoring` carries out.

use super::ledgers::{self, Relation};
use super::parts::{self, Part};
use super::{about, archive, bundle, from_here, history};
use crate::commands::options;
use anyhow::{Context, Result, bail, ensure};
use git2::Oid;
use house::records::text;
use house::terminal::{self, typed};
use house::{House, clock, files, instance, moments, space};
use processes::alone;
use repo::Repo;
use repo::fit;
use repo::planted;
use repo::restoring::{self, Plan};
use repo::tree::short;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Space that is left free, in MiB, and most bytes of the small files of an archive.
const SPARE_MIB: u64 = 256;
const MOST_SMALL_BYTES: u64 = 64 << 10;

/// Decisions of a restore, for the owner.
struct Told {
    of: String,
    from: String,
    commit: String,
    relation: Relation,
    records: bool,
    asks: usize,
    branch: Option<String>,
    kept_settings: bool,
    secrets: usize,
}

/// Restores a backup, or finishes a restore that was cut off.
pub fn restore(house: &House, wanted: &options::Restore) -> Result<u8> {
    if let Some(pid) = instance::running(house) {
        bail!(
            "a guardian runs here (process {pid}), and nothing is restored under it; stop it first: {}",
            typed("stop")
        );
    }
    let _alone = alone::alone(house)?;
    no_broker(house)?;
    if let Some(kept) = restoring::finish(house)? {
        let kept =
            format!("a restore that was cut off is finished; what it replaced is kept in {}", kept.display());
        if wanted.form.json {
            terminal::json(&json!({"finished": true}))
        } else {
            terminal::line(&kept)
        }
        if wanted.file.is_none() {
            return Ok(0);
        }
    }
    let Some(file) = &wanted.file else { bail!("restore which backup? {}", typed("restore FILE")) };
    let path = from_here(file)?;
    let told = prepare(house, &path, wanted.with_secrets).inspect_err(|_| _ = restoring::clear(house))?;
    let kept = restoring::finish(house)?.context("the restore was not decided")?;
    say(&told, &kept, wanted.form.json);
    Ok(0)
}

/// The broker of a guardian that was killed leaves by itself, within seconds.
fn no_broker(house: &House) -> Result<()> {
    let Some(lock) = files::open(&house.broker_lock())? else { return Ok(()) };
    for _ in 0..100 {
        if fs2::FileExt::try_lock_exclusive(&lock).is_ok() {
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    bail!("a broker still runs here: `fuser -v {}` says which", house.broker_lock().display())
}

/// Checks the backup, unpacks it beside the state, and decides what is put in place.
fn prepare(house: &House, path: &Path, with_secrets: bool) -> Result<Told> {
    let mut file = files::open_owners(path).with_context(|| format!("failed to open {}", path.display()))?;
    let named = || format!("{} cannot be restored, and nothing of it was put in place", path.display());
    let room = space::free_mib(&house.own()).unwrap_or(u64::MAX >> 20).saturating_sub(SPARE_MIB) << 20;
    archive::read(&mut file, room, |_, _, _| Ok(())).with_context(named)?;
    restoring::clear(house)?;
    fs::create_dir_all(restoring::new(house))?;
    let repo = Repo::open(house)?;
    if let Some(why) = fit::unfit(&repo) {
        bail!(why);
    }
    let mut unpacked = Unpacked {
        repo: &repo,
        to: restoring::new(house),
        with_secrets,
        paths: BTreeSet::new(),
        about: None,
        refs: vec![],
    };
    archive::read(&mut file, room, |path, runs, from| unpacked.take(path, runs, from)).with_context(named)?;
    let Unpacked { about, refs, paths, .. } = unpacked;
    let about = about.context("it does not say what it is of").with_context(named)?;
    decide(house, &repo, &about, &refs, paths).with_context(named)
}

struct Unpacked<'a> {
    repo: &'a Repo,
    to: PathBuf,
    with_secrets: bool,
    paths: BTreeSet<String>,
    about: Option<Value>,
    refs: Vec<(Oid, String)>,
}

impl Unpacked<'_> {
    fn take(&mut self, path: &str, runs: bool, mut from: &mut dyn Read) -> Result<()> {
        match path {
            archive::ABOUT => {
                let mut bytes = Vec::new();
                from.take(MOST_SMALL_BYTES).read_to_end(&mut bytes)?;
                self.about = Some(about(&bytes)?);
            }
            archive::BUNDLE => self.refs = bundle::take_in(&self.repo.git, &mut from)?,
            _ if parts::part(path) == Part::Secret && !self.with_secrets => {}
            _ => {
                let to = self.to.join(path);
                fs::create_dir_all(to.parent().context("no folder")?)?;
                let mode = if runs { 0o700 } else { 0o600 };
                let mut file = files::open_by(File::options().write(true).create_new(true).mode(mode), &to)
                    .with_context(|| format!("{path} is in the way of another of its paths"))?;
                std::io::copy(from, &mut file)?;
                self.paths.insert(path.to_owned());
            }
        }
        Ok(())
    }
}

fn decide(
    house: &House,
    repo: &Repo,
    about: &Value,
    refs: &[(Oid, String)],
    paths: BTreeSet<String>,
) -> Result<Told> {
    let (of, new) = (text(about, "at").to_owned(), restoring::new(house));
    let tip = Oid::from_str(text(about, "commit")).context("it does not say which commit it was at")?;
    ensure!(refs.iter().any(|(id, _)| *id == tip), "its repository lacks the commit it was at");
    // What is not in the backup was not there: it is replaced by nothing.
    for folder in parts::KNOWN_FOLDERS {
        fs::create_dir_all(new.join(folder))?;
    }
    for file in parts::KNOWN_FILES.iter().filter(|file| !paths.contains(**file)) {
        files::create(&new.join(file))?;
    }
    let relation = ledgers::compare(house, &new.join(".self"))?;
    ensure!(
        relation != Relation::Apart,
        "this house and the backup's each spent money that the other does not know of; restore it in a fresh clone"
    );
    let records = relation == Relation::BackupIsLater;
    let asks = if records { close_asks(&new.join(".self/broker"))? } else { 0 };
    // What the papers are now stays in the history.
    let before = repo.head()?.commit.to_string();
    if repo.commit("guardian: papers as they were before a restore", &["self", "PURPOSE.md"])?.is_some() {
        repo.sync_index(&before)?;
    }
    let head = repo.head()?;
    let name = repo.git.head()?.name().map(str::to_owned).context("HEAD names no branch")?;
    ensure!(name.starts_with("refs/heads/"), "HEAD names no branch; check one out first: git switch main");
    let target = history::target(repo, tip, &new, &of)?;
    let branch = if target.leaves_changes { Some(keep_branch(repo, tip)?) } else { None };
    if records {
        bring_refs(repo, refs)?;
    }
    let kept_settings = paths.contains("owner.toml") && house.owner_settings().exists();
    let chosen = chosen(house, &paths, records);
    let secrets = chosen.iter().filter(|path| parts::part(path) == Part::Secret).count();
    restoring::decide(
        house,
        &Plan {
            of: of.clone(),
            decided: clock::stamp(),
            paths: chosen,
            branch: name,
            from: head.commit.to_string(),
            commit: target.commit.to_string(),
        },
    )?;
    let (from, commit) = (short(head.commit), short(target.commit));
    Ok(Told { of, from, commit, relation, records, asks, branch, kept_settings, secrets })
}

/// Chooses the paths to put in place: the creature's knowledge always, records only where the backup's are later; the
/// owner's own files only where there are none.
fn chosen(house: &House, paths: &BTreeSet<String>, records: bool) -> Vec<String> {
    let known = parts::KNOWN_FOLDERS.iter().chain(&parts::KNOWN_FILES);
    let mut chosen: BTreeSet<String> = known.map(|path| (*path).to_owned()).collect();
    for path in paths {
        let is_folders = parts::KNOWN_FOLDERS.iter().any(|folder| path.starts_with(&format!("{folder}/")));
        let of_owner = !path.starts_with(".self/");
        let takes = match parts::part(path) {
            _ if path.starts_with("self/") || path == "PURPOSE.md" => false,
            Part::Leave => false,
            _ if path.starts_with(parts::SKILLS) && planted::reader(Path::new(path)).is_some() => false,
            Part::Secret if of_owner => !house.root().join(path).exists(),
            Part::Secret => records,
            Part::Record => records,
            Part::Knows if of_owner => !house.root().join(path).exists(),
            Part::Knows => !is_folders,
        };
        if takes {
            chosen.insert(path.clone());
        }
    }
    chosen.into_iter().collect()
}

/// Keeps what was approved or answered from being done by a house that cannot know whether it was done: the owner is asked anew.
fn close_asks(broker: &Path) -> Result<usize> {
    let answers = fs::metadata(broker.join("answers.jsonl")).map_or(0, |meta| meta.len());
    let mut closed = 0;
    for entry in fs::read_dir(broker.join("asks")).into_iter().flatten() {
        let path = entry?.path();
        let Some(mut ask) =
            files::read_small(&path)?.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok())
        else {
            continue;
        };
        let state = text(&ask, "state").to_owned();
        let Some(fields) = ask.as_object_mut() else { continue };
        if ["asked", "failed", "approved", "executing"].contains(&state.as_str()) {
            fields.insert("answers_from".into(), answers.into());
        }
        if state == "approved" || state == "executing" {
            closed += 1;
            fields.insert("state".into(), "failed".into());
            fields.insert("may_have_happened".into(), true.into());
            let result = "it may have happened: the house was restored from a backup that was made before it was done; look there, \
                          then approve it anew or deny it";
            fields.insert("result".into(), result.into());
        }
        files::replace_secret(&path, &serde_json::to_vec_pretty(&ask)?)?;
    }
    Ok(closed)
}

/// A branch for what the backup's branch has and the house's has not.
fn keep_branch(repo: &Repo, tip: Oid) -> Result<String> {
    let name = format!("restored-{}", short(tip));
    repo.git.reference(&format!("refs/heads/{name}"), tip, true, "restore: the backup's branch")?;
    Ok(name)
}

/// The refs of a house that has none of its own yet; none that is there is moved.
fn bring_refs(repo: &Repo, refs: &[(Oid, String)]) -> Result<()> {
    for (id, name) in refs.iter().filter(|(_, name)| name.starts_with("refs/")) {
        if repo.git.find_reference(name).is_err() && repo.git.find_object(*id, None).is_ok() {
            repo.git
                .reference(name, *id, false, "restore: from a backup")
                .with_context(|| format!("failed to write {name}"))?;
        }
    }
    Ok(())
}

fn say(told: &Told, kept: &Path, as_json: bool) {
    let Told { of, from, commit, records, asks, branch, .. } = told;
    if as_json {
        return terminal::json(
            &json!({"of": of, "from_commit": from, "commit": commit, "records_restored": records,
            "asks_closed": asks, "branch": branch, "kept": kept, "settings_kept": told.kept_settings, "secrets": told.secrets}),
        );
    }
    terminal::field(
        "restored",
        &format!(
            "what it knew and made, creature/ and papers as of {}; {from} -> {commit} on this branch",
            moments::told(of)
        ),
    );
    match told.relation {
        Relation::HereIsLater | Relation::Apart => {
            terminal::field("kept", "what happened since: ledger, money spent, asks and their answers, lives")
        }
        Relation::BackupIsLater => terminal::field(
            "also",
            "ledger, asks and lives, which this house did not have; what was spent after the backup is not known here",
        ),
    }
    if *asks > 0 {
        terminal::field(
            "asks",
            &format!("{asks} approved and perhaps done since: each waits for your yes again"),
        );
    }
    if told.kept_settings {
        terminal::field("settings", "owner.toml stays as it is here");
    }
    if let Some(branch) = branch {
        terminal::field(
            "branch",
            &format!("your own commits beside creature/ are on {branch}: git merge {branch}"),
        );
    }
    terminal::field(
        "before",
        &format!("what was replaced is kept in {}; remove it once all is well", kept.display()),
    );
    terminal::field("next", "start it as ever: cargo run -p guardian");
}
