//! The ladder: git, the rungs with their kept binaries, and the version that the next life runs.

use crate::act::around::Around;
use crate::act::binaries::Binaries;
use crate::act::report::Report;
use crate::act::state::Falling;
use crate::decide::vocabulary::{Cause, Event, Fell, Standing, Subject};
use anyhow::{Context, Result};
use heart::wire;
use house::{House, interrupt, records, repair};
use repo::tree::short;
use repo::{Repo, Version, fit, open, publish_last_good};
use serde_json::json;
use std::path::PathBuf;

pub struct Ladder {
    pub repo: Repo,
    pub binaries: Binaries,
    /// The version found by the last survey, which the next life runs.
    pub version: Option<Version>,
    /// Whether the last life has ended since `clear_planted` was last called.
    pub may_be_planted: bool,
}

impl Ladder {
    pub fn new(house: &House, repo: Repo) -> Self {
        Self { repo, binaries: Binaries::new(house), version: None, may_be_planted: false }
    }

    /// The rungs' creature trees, bottom first.
    fn trees(&self) -> Result<Vec<String>> {
        Ok(self.repo.rungs()?.iter().map(|rung| rung.version.tree.to_string()).collect())
    }

    /// Finds out what HEAD would run, after tidying if asked.
    pub fn survey(&mut self, around: &mut Around, tidy: bool) -> Result<Event> {
        around.report.edits_told.clear();
        repair::clear(&around.house).iter().for_each(|told| around.report.warn(told));
        if let Some(what) = self.repo.under_way() {
            anyhow::bail!("a {what} is under way in the repository: finish or abort it");
        }
        if let Some(behind) = around.state.index_behind.clone() {
            self.bring_index_along(around, &behind);
        }
        if tidy {
            self.tidy(around)?;
        }
        let head = self.repo.head()?;
        let dirty = self.repo.dirty(head)?;
        if let Some(told) = fit::told_edits(&self.repo.edits(&dirty)) {
            around.report.once(&told);
            around.report.edits_told = told;
            around.is_news = true;
            return Ok(Event::OwnerEdits);
        }
        // The remaining differences are nobody's edits: empty folders, and files as the owner's git checks them out.
        if !dirty.is_empty() {
            self.tidy(around)?;
        }
        self.version = Some(head);
        let (tree, rungs) = (head.tree.to_string(), self.trees()?);
        let standing = match rungs.iter().position(|rung| *rung == tree) {
            // The bottom rung is never fallen: there is no rung below to put the creature back to.
            Some(0) => Standing::Bottom,
            _ if self.repo.is_fallen(head.tree) => Standing::Fallen,
            Some(_) => Standing::Blessed,
            None => Standing::Unproven,
        };
        let (kept, built) = (self.binaries.get(&tree).is_some(), self.binaries.built(&tree).is_some());
        let unexamined = standing == Standing::Unproven && around.state.unexamined.as_ref() == Some(&tree);
        Ok(Event::Surveyed(Subject { tree, standing, rungs, kept, built, unexamined }))
    }

    /// Keeps under a ref what a life left in `creature/`, and restores HEAD's tree.
    pub fn tidy(&mut self, around: &mut Around) -> Result<()> {
        let head = self.repo.head()?;
        if self.repo.is_at(head)? {
            return Ok(());
        }
        self.clear_planted(&mut around.report);
        let life = around.state.life;
        if let Some(name) = self.repo.rescue(&format!("what life {life} left in creature/"))? {
            around.report.say(&format!("unfinished edits in creature/ are kept as {name}"));
            around.state.rescued = Some(name.clone());
            around.save();
            records::tell_once(&around.house, "rescued", json!({"ref": name, "life": life}));
        }
        self.repo.put_back(head.commit)
    }

    /// Blesses the version that lives, and keeps its binary if it is of the last build.
    pub fn bless(&mut self, around: &mut Around) -> Result<()> {
        let version = self.version.context("there is nothing to bless")?;
        let is_new = self.binaries.keep(&version.tree.to_string())? | self.repo.bless(version)?;
        publish_last_good(&around.house, &self.repo.rungs()?)?;
        self.binaries.retain(&self.trees()?);
        if is_new {
            let data = json!({"commit": version.commit.to_string(), "life": around.state.life});
            records::tell(&around.house, "blessed", data);
            around.report.say(&format!("blessed {}: it is last_good now", self.short()));
        }
        Ok(())
    }

    /// Returns the newest rung's commit, and the rungs that can run by their kept binary alone, as the heart has them on record.
    pub fn on_record(&self) -> (Option<String>, Vec<wire::Version>) {
        let rungs = self.repo.rungs().unwrap_or_default();
        let standing = rungs.iter().filter(|rung| !self.repo.is_fallen(rung.version.tree));
        let kept = standing.filter_map(|rung| {
            let (tree, commit) = (rung.version.tree.to_string(), rung.version.commit.to_string());
            Some(wire::Version { sha256: self.binaries.hash_of(&tree)?, tree, commit })
        });
        (rungs.last().map(|rung| rung.version.commit.to_string()), kept.collect())
    }

    /// Paths of `creature/` that are not as the version has them, an empty one where that cannot be told. Fails only when
    /// interrupted.
    pub fn dirty(&self) -> Result<Vec<PathBuf>> {
        let dirty = self.version.and_then(|version| self.repo.dirty(version).ok());
        interrupt::check()?;
        Ok(dirty.unwrap_or_else(|| vec![PathBuf::new()]))
    }

    /// Whether the newest other tree whose binary is kept has the same manifests, lock files and file names.
    pub fn was_built_so(&mut self, tree: &str) -> bool {
        let rungs = self.repo.rungs().unwrap_or_default();
        let mut trees = rungs.iter().rev().map(|rung| rung.version.tree);
        let built =
            trees.find(|other| other.to_string() != tree && self.binaries.get(&other.to_string()).is_some());
        built.is_some_and(|built| self.repo.has_same_recipe(tree, built).unwrap_or(false))
    }

    /// Moves aside what the last life planted for the owner's own tools, once it has ended: before a rest, and before
    /// anything it left is committed or put back. Not between two lives without a rest: the next could plant it again
    /// at once. Where it fails now, the next end or start does it.
    pub fn clear_planted(&mut self, report: &mut Report) {
        if !std::mem::take(&mut self.may_be_planted) {
            return;
        }
        let mut told = Vec::new();
        let cleared = self.repo.clear_planted(&mut told);
        told.iter().for_each(|told| report.warn(told));
        if let Err(error) = cleared {
            let why = open::unread_index(&self.repo.git).unwrap_or_else(|| format!("{error:#}"));
            tracing::warn!("{why}; what the creature planted is moved aside later");
        }
    }

    /// Marks in refs which trees fell and which stand; returns the ref of the fallen tree. `lost`: its tries were lost
    /// because the guardian was killed, so that they do not condemn it: it may come back and be tried again.
    pub fn judge(
        &self,
        falling: &Falling,
        (from, target): (Version, Version),
        lost: bool,
        fell: Option<&Fell>,
    ) -> Result<Option<String>> {
        let mut fallen = None;
        if matches!(falling.cause, Cause::TestsFailed | Cause::Conduct) || falling.cause.condemns() && !lost {
            fallen = Some(self.repo.condemn(from)?);
            self.repo.strike(from.tree)?;
        }
        match falling.cause {
            // The rungs in between died as often.
            Cause::LateDeaths => self.repo.strike_above(target)?,
            Cause::Owner => {
                self.repo.forgive(target.tree)?;
                self.repo.strike_above(target)?;
            }
            Cause::Acquitted => {
                self.repo.forgive(target.tree)?;
                for tree in fell.iter().flat_map(|fell| &fell.others) {
                    self.repo.forgive(tree)?;
                }
                self.repo.bless(target)?;
            }
            Cause::TriesSpent | Cause::CrashLoop | Cause::DoesNotBuild => {}
            Cause::TestsFailed | Cause::Conduct => {}
            Cause::KnownBad | Cause::LoopOfLoops | Cause::Environment => {}
        }
        Ok(fallen)
    }

    /// The commit of the version in short, for people.
    pub fn short(&self) -> String {
        self.version.map(|version| short(version.commit)).unwrap_or_default()
    }
}
