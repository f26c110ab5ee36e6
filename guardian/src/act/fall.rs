//! Rollbacks: which rung the creature is put back to, which refs are changed, and what runs if no rung can be restored.

use crate::act::around::Around;
use crate::act::conduct::counted;
use crate::act::ladder::Ladder;
use crate::act::quotas;
use crate::act::state::{Falling, Shortfall};
use crate::decide::vocabulary::{Cause, Event, Standing, Subject};
use anyhow::Result;
use house::bounds::{TOLD_CHARS, brief};
use house::interrupt::Interrupted;
use house::moments::span;
use house::{records, shared};
use repo::shortage;
use repo::tree::short;
use repo::{Version, publish_last_good};
use serde_json::json;
use std::time::Duration;

impl Ladder {
    /// Puts the creature back to a rung: if that fails to the next one, and if all fail a kept binary runs.
    pub fn roll_back(&mut self, around: &mut Around, cause: Cause, to_bottom: bool) -> Result<Event> {
        loop {
            let Some(falling) = self.choose(around, cause, to_bottom)? else {
                if around.state.falling.as_ref().is_some_and(|falling| !falling.failed.is_empty()) {
                    return self.stand_in(around);
                }
                around.report.warn("no rung is left to put the creature back to");
                return Ok(Event::RollbackExhausted);
            };
            if falling.told {
                return Ok(Event::RollbackDone);
            }
            let to = falling.to_commit.clone();
            let Err(error) = self.fall_to(around, falling) else { return Ok(Event::RollbackDone) };
            if error.is::<Interrupted>() {
                return Err(error);
            }
            let named = matches!(cause, Cause::Owner | Cause::Acquitted);
            let next = !named && !is_the_worlds(around, &error);
            let what = if next { "the next rung is tried" } else { "trying again later" };
            let short = to.get(..7).unwrap_or(&to);
            around.report.warn(&format!("the creature cannot be put back to {short}: {error:#}; {what}"));
            let Some(falling) = &mut around.state.falling else { return Err(error) };
            falling.hindrance = brief(&format!("{error:#}"), TOLD_CHARS);
            if !next {
                return self.stand_in(around);
            }
            falling.failed.push(to);
        }
    }

    /// Runs the newest rung whose binary is kept, but for the tree that falls, although `creature/` cannot be put back.
    /// The next try begins with the first rung again.
    fn stand_in(&mut self, around: &mut Around) -> Result<Event> {
        let from = around.state.falling.as_mut().map(|falling| {
            falling.failed.clear();
            falling.from_tree.clone()
        });
        let versions: Vec<Version> = self.repo.rungs()?.iter().map(|rung| rung.version).collect();
        let rungs: Vec<String> = versions.iter().map(|version| version.tree.to_string()).collect();
        let is_kept = |(_, tree): &(&Version, &String)| {
            Some(*tree) != from.as_ref() && self.binaries.get(tree).is_some()
        };
        let Some((version, tree)) = versions.iter().zip(&rungs).rfind(is_kept) else {
            return Ok(Event::Stuck(None));
        };
        let standing = if rungs.first() == Some(tree) { Standing::Bottom } else { Standing::Blessed };
        let tree = tree.clone();
        self.version = Some(*version);
        let commit = self.short();
        around.report.warn(&format!("the kept binary of {commit} runs until creature/ can be put back"));
        Ok(Event::Stuck(Some(Subject { tree, standing, rungs, kept: true, built: false, unexamined: false })))
    }

    fn fall_to(&mut self, around: &mut Around, mut falling: Falling) -> Result<()> {
        around.state.falling = Some(falling.clone());
        let before = self.before_commit(around)?;
        let from = self.repo.resolve(&falling.from_commit)?;
        let target = self.repo.resolve(&falling.to_commit)?;
        let rescued = if self.repo.is_at(target)? { None } else { self.repo.rescue("before a rollback")? };
        if falling.rescued.is_none() {
            falling.rescued = rescued.or_else(|| around.state.rescued.take());
            around.state.falling = Some(falling.clone());
            around.save();
        }
        let lost = falling.deaths == 0 && around.state.lost_tree == falling.from_tree;
        let fallen = self.judge(&falling, (from, target), lost, around.decided.record.fell.as_ref())?;
        self.repo.put_back(target.commit)?;
        let message = format!("guardian: put creature back to {} {}", short(target.commit), falling.why());
        let made = self.repo.commit_put_back(target, &message)?;
        let made = made.or_else(|| self.repo.made_before(before, &message));
        self.committed(around, "guardian", before, made, &message);
        publish_last_good(&around.house, &self.repo.rungs()?)?;
        let mut fall = json!({
            "at": house::clock::stamp(), "life": around.state.life, "from_commit": falling.from_commit,
            "to_commit": falling.to_commit, "deaths": falling.deaths, "cause": falling.cause, "fallen_ref": fallen,
            "rescued_ref": falling.rescued, "told": message,
        });
        if let Some(fields) = fall.as_object_mut().filter(|_| !falling.evidence.is_empty()) {
            fields.insert("evidence".into(), falling.evidence.clone().into());
        }
        records::tell_once(&around.house, "fall", fall.clone());
        let is_asked = falling.cause == Cause::Owner;
        around.report.fall(&message, is_asked, fallen.as_deref(), falling.rescued.as_deref());
        around.state.tell_fall(fall);
        around.state.falling = Some(Falling { told: true, ..falling });
        (around.state.rollback_to, around.state.born, around.state.exam) = (None, None, Shortfall::default());
        around.state.broken.clear();
        Ok(())
    }

    /// The rollback under way, or a new one, usually to the newest rung with another tree than HEAD's.
    fn choose(&mut self, around: &mut Around, cause: Cause, to_bottom: bool) -> Result<Option<Falling>> {
        let under_way = around.state.falling.as_ref().filter(|falling| falling.cause == cause);
        if let Some(falling) = under_way {
            let to = self.repo.resolve(&falling.to_commit).ok();
            let to = to.filter(|_| !falling.failed.contains(&falling.to_commit));
            if falling.told || self.repo.first_whole(to.into_iter())?.is_some() {
                return Ok(Some(falling.clone()));
            }
        }
        let (failed, rescued) =
            under_way.map(|falling| (falling.failed.clone(), falling.rescued.clone())).unwrap_or_default();
        let from = self.repo.head()?;
        let rungs = self.repo.rungs()?;
        let mut others = rungs
            .iter()
            .map(|rung| rung.version)
            .filter(|version| version.tree != from.tree && !failed.contains(&version.commit.to_string()));
        let target = match (&around.state.rollback_to, cause) {
            (Some(name), Cause::Owner) => Some(self.repo.resolve(name)?),
            (_, Cause::LateDeaths) => {
                let lived = around.decided.lived_before(&around.limits);
                let named = |tree: &String| others.clone().rfind(|version| version.tree.to_string() == *tree);
                self.repo.first_whole(lived.iter().filter_map(named))?
            }
            (_, Cause::Acquitted) => {
                let fell = around.decided.record.fell.as_ref().and_then(|fell| self.repo.fallen(&fell.first));
                self.repo.first_whole(fell.into_iter())?
            }
            _ if to_bottom => self.repo.first_whole(&mut others)?,
            _ => self.repo.first_whole(others.rev())?,
        };
        let ends = around.state.ends.iter().rev();
        let ends = ends.take_while(|end| records::text(end, "commit") == from.commit.to_string());
        let shortfall = around.state.exam.clone();
        let (deaths, weighed, evidence) = match (cause, target) {
            (Cause::LateDeaths, Some(target)) => weighed(around, target),
            (Cause::Conduct, _) => (ends.count(), breach_told(around), around.state.broken.clone()),
            (Cause::TestsFailed, _) => (ends.count(), shortfall.told(), shortfall.evidence),
            (Cause::LoopOfLoops, _) => {
                let lives = around.decided.record.lives_unblessed;
                (ends.count(), format!("after {lives} lives in a row that were not blessed"), String::new())
            }
            (Cause::Environment, _) if shortfall != Shortfall::default() => {
                (ends.count(), shortfall.told(), shortfall.evidence)
            }
            _ => (ends.count(), String::new(), String::new()),
        };
        Ok(target.map(|target| Falling {
            cause,
            from_commit: from.commit.to_string(),
            from_tree: from.tree.to_string(),
            to_commit: target.commit.to_string(),
            deaths,
            weighed,
            evidence,
            failed,
            hindrance: String::new(),
            rescued,
            told: false,
        }))
    }
}

/// Whether the failure is one that every other rung would meet as well.
fn is_the_worlds(around: &Around, error: &anyhow::Error) -> bool {
    quotas::tried_mib(&around.house) < around.limits.disk_free_mib || shortage::is_of_shortage(error)
}

/// For a rollback over late deaths: how often the fallen tree died, and a sentence comparing it with its target.
fn weighed(around: &Around, to: Version) -> (usize, String, String) {
    let record = &around.decided.record;
    let fell = record.fell.as_ref().map(|fell| record.lives.of(&fell.first)).unwrap_or_default();
    let lived = record.lives.of(&to.tree.to_string());
    let [life, long] = [&fell, &lived].map(|lived| span(Duration::from_millis(lived.lived_ms)));
    let (died, less, to) = (fell.deaths, lived.deaths, short(to.commit));
    let told = format!("after {died} deaths in {life} of life; {to} lived {long} with {less}");
    (died as usize, told, String::new())
}

/// The end of a sentence about a rollback.
fn breach_told(around: &Around) -> String {
    let breach = around.decided.record.breach;
    let told = breach.map(|(invariant, tally)| counted(invariant, tally)).unwrap_or_default();
    format!("since it broke what the one before it kept: {told}")
}

/// Moves aside the state that lives share. Entries that cannot be moved are told and stay: the next life is judged
/// by how it ends.
pub fn set_aside(around: &mut Around) -> Event {
    let done = shared::set_aside(&around.house);
    let commit: String = around.state.commit.chars().take(7).collect();
    let told = format!("{commit} was trusted and did not come to life: {}", done.told());
    records::tell(&around.house, "state_set_aside", json!({"commit": around.state.commit, "told": told}));
    around.report.warn(&told);
    Event::StateSetAside
}
