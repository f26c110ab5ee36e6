//! `update`: fetches new commits upstream, shows them, tries the creature in its sandbox, and merges; forward only.
//!
//! Invariant: the branch moves last and in one step. Until then HEAD and everything uncommitted of the owner's is as it was.

mod again;
mod trial;
mod upstream;

use crate::commands::options;
use again::Ran;
use anyhow::{Context, Result, bail};
use house::House;
use house::sealed::Left;
use house::terminal::{self, typed};
use processes::{alone, machine};
use repo::tree::short;
use repo::{Repo, Version};
use repo::{fit, updating};
use serde_json::{Value, json};
use upstream::{Merged, News, Upstream};

pub fn update(house: &House, wanted: &options::Update) -> Result<u8> {
    let repo = Repo::open(house)?;
    let upstream = upstream::find(&repo)?;
    upstream::fetch(house, &upstream)?;
    let news = upstream::news(&repo, &upstream)?;
    if !wanted.form.json {
        show(&news, &upstream);
    }
    let changed = match &news.merged {
        Merged::Nothing => return Ok(said(wanted, &news, "nothing is new", json!({}))),
        Merged::Conflict(files) => bail!(conflict(files, &upstream)),
        Merged::Tree { changed, .. } => changed,
    };
    unsaved(&repo, changed)?;
    if wanted.dry_run {
        return Ok(said(wanted, &news, "nothing was merged: --dry-run", json!({"dry_run": true})));
    }
    let ran = again::stop(house)?;
    let merged = merge(house, &upstream, !wanted.form.json);
    let goes_on = again::start(house, &ran);
    if let (Ok(told), false) = (&goes_on, wanted.form.json) {
        told.iter().for_each(|told| terminal::field("house", told));
    }
    let merged = merged.map_err(|error| match &goes_on {
        Err(again) => error.context(format!("and the house does not go on ({again:#})")),
        Ok(_) => error,
    })?;
    goes_on.context("it is merged, but the house does not go on")?;
    let commit = short(merged.commit);
    Ok(said(
        wanted,
        &news,
        &format!("{} is merged: this branch is at {commit}", upstream.name),
        json!({"merged": commit, "ran": ran != Ran::Not}),
    ))
}

/// Merges while nobody lives here.
fn merge(house: &House, upstream: &Upstream, tells: bool) -> Result<Version> {
    let [_instance, lock] = alone::alone(house)?;
    updating::settle(house)?;
    let repo = Repo::open(house)?;
    let left = Left::read(house).unwrap_or_else(|_| Left::unsaved(house));
    if let Some(why) = machine::unfit(house).or_else(|| fit::refusal(house, &repo, &left)) {
        bail!(why);
    }
    // What its last life left uncommitted is the creature's: kept, as at every start.
    repo.rescue("an update")?;
    repo.put_back(repo.head()?.commit)?;
    // It may have committed until it ended.
    let news = upstream::news(&repo, upstream)?;
    let (tree, changed, creature) = match &news.merged {
        Merged::Nothing => bail!("nothing is new any more"),
        Merged::Conflict(files) => bail!(conflict(files, upstream)),
        Merged::Tree { tree, changed, creature, .. } => (*tree, changed, *creature),
    };
    unsaved(&repo, changed)?;
    let to = repo.resolve(&upstream::commit(&repo, &news, tree, upstream)?.to_string())?;
    if creature > 0 {
        if tells {
            terminal::field(
                "tests",
                &format!("of creature/, in its sandbox; {} says how they go", trial::log(house).display()),
            );
        }
        updating::begin(house, &repo, to)?;
        if let Err(why) = trial::run(house, lock) {
            updating::settle(house)?;
            return Err(why.context("nothing was merged: creature/ does not pass its tests with it"));
        }
    }
    let checked_out = upstream::check_out(&repo, to.commit, changed);
    if let Err(error) = checked_out {
        updating::settle(house)?;
        return Err(error.context("nothing was merged"));
    }
    advance(&repo, &news, to, &upstream.name)?;
    updating::settle(house)?;
    Ok(to)
}

/// Moves the branch, if it is where it was.
fn advance(repo: &Repo, news: &News, to: Version, name: &str) -> Result<()> {
    let branch = repo.git.head()?.name().map(str::to_owned).context("HEAD names no branch")?;
    repo.git
        .reference_matching(&branch, to.commit, true, news.from, &format!("update: merge {name}"))
        .context("the branch moved meanwhile; nothing was merged")?;
    repo.sync_index(&news.from.to_string())
}

fn unsaved(repo: &Repo, changed: &[std::path::PathBuf]) -> Result<()> {
    let files = upstream::uncommitted(repo, changed)?;
    let Some(first) = files.first() else { return Ok(()) };
    let more = if files.len() > 1 { format!(" and {} more", files.len() - 1) } else { String::new() };
    bail!(
        "nothing was merged: {first}{more} changes upstream, and holds edits of yours that are not committed; \
         git add {first} && git commit -m 'keep', or git stash"
    )
}

fn conflict(files: &[String], upstream: &Upstream) -> String {
    format!(
        "nothing was merged: both sides changed {}; by hand, with the house stopped: git merge {}, or git merge -X ours {} to keep \
         the house's own lines (docs/service.md)",
        files.join(", "),
        upstream.name,
        upstream.name
    )
}

fn show(news: &News, upstream: &Upstream) {
    if news.count == 0 {
        return;
    }
    terminal::field("new", &format!("{} on {}", count(news.count, "commit"), upstream.name));
    news.commits.iter().for_each(|commit| terminal::below(1, commit));
    if news.count > news.commits.len() {
        terminal::below(1, &format!("and {} more", news.count - news.commits.len()));
    }
    if let Merged::Tree { changed, creature, lines: (added, removed), .. } = &news.merged {
        let own = if news.own > 0 {
            format!("; {} of the house's own stay", count(news.own, "commit"))
        } else {
            String::new()
        };
        let tested = if *creature > 0 {
            format!(", {creature} of them in creature/, which is tested first")
        } else {
            String::new()
        };
        terminal::field(
            "changes",
            &format!("{}, +{added} -{removed} lines{tested}{own}", count(changed.len(), "file")),
        );
    }
}

fn count(number: usize, what: &str) -> String {
    crate::life::count(number as u64, what)
}

fn said(wanted: &options::Update, news: &News, told: &str, more: Value) -> u8 {
    if !wanted.form.json {
        terminal::line(told);
        if wanted.dry_run && news.count > 0 {
            terminal::field("next", &typed("update"));
        }
        return 0;
    }
    let mut document = json!({"from": news.from.to_string(), "to": news.to.to_string(), "new": news.count, "own": news.own,
        "commits": news.commits, "told": told});
    if let (Some(fields), Value::Object(more)) = (document.as_object_mut(), more) {
        fields.extend(more);
    }
    terminal::json(&document);
    0
}
