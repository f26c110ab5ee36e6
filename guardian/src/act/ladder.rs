//! The ladder: git, the rungs with their kept binaries, and the version that the next life runs.

use crate::act::binaries::Binaries;
use crate::act::report::Report;
use crate::act::state::Falling;
use crate::decide::vocabulary::{Cause, Fell, Standing, Subject};
use anyhow::{Context, Result};
use heart::wire;
use house::House;
use repo::open;
use repo::tree::short;
use repo::{Repo, Version, publish_last_good};
use std::path::{Path, PathBuf};

pub struct Ladder {
    pub repo: Repo,
    pub binaries: Binaries,
    /// The version found by the last survey, which the next life runs.
    pub version: Option<Version>,
    /// Whether a life has ended since `clear_planted` was last called.
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

    /// Describes the version at HEAD, which the next life runs; `built`, `unexamined`: whether it was built last, and
    /// whether its tests have not passed yet.
    pub fn subject(
        &mut self,
        head: Version,
        built: impl Fn(&str) -> bool,
        unexamined: impl Fn(&str) -> bool,
    ) -> Result<Subject> {
        self.version = Some(head);
        let (tree, rungs) = (head.tree.to_string(), self.trees()?);
        let standing = match rungs.iter().position(|rung| *rung == tree) {
            // The bottom rung is never fallen: there is no rung below to put the creature back to.
            Some(0) => Standing::Bottom,
            _ if self.repo.is_fallen(head.tree) => Standing::Fallen,
            Some(_) => Standing::Blessed,
            None => Standing::Unproven,
        };
        let kept = self.binaries.get(&tree).is_some();
        let (built, unexamined) = (built(&tree), standing == Standing::Unproven && unexamined(&tree));
        Ok(Subject { tree, standing, rungs, kept, built, unexamined })
    }

    /// Blesses the version that lives, and keeps its binary if it is of the last build; its commit where it is new.
    pub fn bless(&mut self, house: &House, built: Option<PathBuf>) -> Result<Option<Version>> {
        let version = self.version.context("there is nothing to bless")?;
        let kept = built.map(|path| self.binaries.keep(&version.tree.to_string(), &path));
        let is_new = kept.transpose()?.unwrap_or(false) | self.repo.bless(version)?;
        publish_last_good(house, &self.repo.rungs()?)?;
        self.binaries.retain(&self.trees()?);
        Ok(is_new.then_some(version))
    }

    /// The newest rung whose binary is kept, but for a tree: it runs where `creature/` cannot be put back.
    pub fn stand_in(&mut self, but: Option<&str>) -> Option<Subject> {
        let rungs = self.repo.rungs().unwrap_or_default();
        let trees: Vec<String> = rungs.iter().map(|rung| rung.version.tree.to_string()).collect();
        let is_kept =
            |(_, tree): &(usize, &String)| Some(tree.as_str()) != but && self.binaries.get(tree).is_some();
        let (at, tree) = trees.iter().enumerate().rev().find(is_kept)?;
        let standing = if at == 0 { Standing::Bottom } else { Standing::Blessed };
        self.version = rungs.get(at).map(|rung| rung.version);
        let (tree, rungs) = (tree.clone(), trees.clone());
        Some(Subject { tree, standing, rungs, kept: true, built: false, unexamined: false })
    }

    /// Returns the rungs whose binary is kept, and those of them that are fallen, as the heart has them on record.
    pub fn on_record(&self) -> (Vec<wire::Version>, Vec<String>) {
        let rungs: Vec<Version> =
            self.repo.rungs().unwrap_or_default().iter().map(|rung| rung.version).collect();
        let fallen = rungs.iter().filter(|version| self.repo.is_fallen(version.tree));
        let condemned = fallen.map(|version| version.tree.to_string()).collect();
        let kept = rungs.iter().filter_map(|version| {
            let tree = version.tree.to_string();
            let sha256 = self.binaries.hash_of(&tree)?;
            Some(wire::Version { tree, commit: version.commit.to_string(), sha256 })
        });
        (kept.collect(), condemned)
    }

    /// Whether `creature/` is as the version has it; none where there is no version.
    pub fn is_clean(&self) -> Result<Option<bool>> {
        self.version.map(|version| self.repo.is_at(version)).transpose()
    }

    /// The first path of `creature/` that is not as the version has it.
    pub fn first_dirty(&self) -> PathBuf {
        let dirty = self.version.and_then(|version| self.repo.dirty(version).ok()).unwrap_or_default();
        dirty.into_iter().next().unwrap_or_default()
    }

    /// Whether the lock file alone differs: cargo completes it by itself.
    pub fn is_lock_dirty(&self) -> bool {
        let dirty = self.version.and_then(|version| self.repo.dirty(version).ok()).unwrap_or_default();
        dirty.iter().eq([Path::new("Cargo.lock")])
    }

    /// Whether the newest other tree whose binary is kept has the same manifests, lock files and file names.
    pub fn was_built_so(&mut self, tree: &str) -> bool {
        let rungs = self.repo.rungs().unwrap_or_default();
        let mut trees = rungs.iter().rev().map(|rung| rung.version.tree);
        let built =
            trees.find(|other| other.to_string() != tree && self.binaries.get(&other.to_string()).is_some());
        built.is_some_and(|built| self.repo.has_same_recipe(tree, built).unwrap_or(false))
    }

    /// Moves aside what a life planted for the owner's own tools; where that fails now, the next end or start does it.
    pub fn clear_planted(&mut self, report: &mut Report) {
        self.may_be_planted = false;
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
