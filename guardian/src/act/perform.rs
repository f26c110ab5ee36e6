//! Carries out each of the policy's actions; the outcome of each goes back as an event.

use crate::act::build::{self, Build};
use crate::act::conduct::{Watched, counted};
use crate::act::controls;
use crate::act::ends;
use crate::act::executor::{End, Executor};
use crate::act::living::Life;
use crate::act::packages;
use crate::act::quotas;
use crate::decide::conduct::{Invariant, Tally};
use crate::decide::vocabulary::{Action, Blame, Death, Event};
use crate::limits::LOG_TAIL_BYTES;
use anyhow::{Context, Result};
use house::interrupt::Interrupted;
use house::{files, records, repair, risky};
use processes::child::{self, Occupant, Start};
use processes::exits::memory_kills;
use processes::granted::Granted;
use processes::made;
use repo::fit;
use repo::tree::short;
use serde_json::json;
use std::io::ErrorKind;

impl Executor {
    pub fn perform(&mut self, action: Action) -> Option<Event> {
        let outcome = match action {
            Action::Survey { tidy } => self.survey(tidy).map(Some),
            Action::Build => Ok(self.start_build(false)),
            Action::BuildBeside => {
                Ok(if self.builder.build.is_none() { self.start_build(true) } else { None })
            }
            Action::StopBuild => {
                if self.builder.build.as_ref().is_some_and(|build| build.beside) {
                    tracing::warn!(
                        "the build beside the blessed binary overstayed its deadline and is ended"
                    );
                }
                Ok(self.stop_build())
            }
            Action::Spawn { kept, safe } => self.spawn(kept, safe).map(|()| None),
            Action::Examine => Ok(self.examine()),
            Action::StopExam => Ok(self.stop_exam()),
            Action::Terminate => {
                self.living.life.iter().for_each(|life| life.tree.terminate());
                Ok(None)
            }
            Action::KillTree => {
                self.living.life.iter().for_each(|life| life.tree.kill());
                Ok(None)
            }
            Action::Bury { death, blame } => {
                self.bury(death, blame);
                Ok(None)
            }
            Action::TellBroken { invariant, tally } => {
                self.tell_broken(invariant, tally);
                Ok(None)
            }
            Action::Tidy => self.tidy().map(|()| Some(Event::Tidied)),
            Action::SetAside => Ok(Some(self.set_aside())),
            Action::Commit => self.commit().map(|()| Some(Event::Committed)),
            Action::Answer => {
                self.answer();
                Ok(None)
            }
            Action::Bless => self.bless().map(|()| Some(Event::Blessed)),
            Action::Rollback { cause, to_bottom } => self.roll_back(cause, to_bottom).map(Some),
            Action::Leave => Ok(None),
        };
        outcome.unwrap_or_else(|error| {
            if error.is::<Interrupted>() {
                return Some(Event::Interrupted);
            }
            self.report.warn(&format!("{error:#}; trying again later"));
            Some(Event::Failed)
        })
    }

    fn survey(&mut self, tidy: bool) -> Result<Event> {
        self.report.edits_told.clear();
        repair::clear(&self.house).iter().for_each(|told| self.report.warn(told));
        if let Some(what) = self.ladder.repo.under_way() {
            anyhow::bail!("a {what} is under way in the repository: finish or abort it");
        }
        if let Some(behind) = self.state.index_behind.clone() {
            self.bring_index_along(&behind);
        }
        if tidy {
            self.tidy()?;
        }
        let head = self.ladder.repo.head()?;
        let dirty = self.ladder.repo.dirty(head)?;
        if let Some(told) = fit::told_edits(&self.ladder.repo.edits(&dirty)) {
            self.report.once(&told);
            self.report.edits_told = told;
            self.publish();
            return Ok(Event::OwnerEdits);
        }
        // The remaining differences are nobody's edits: empty folders, and files as the owner's git checks them out.
        if !dirty.is_empty() {
            self.tidy()?;
        }
        let (builder, state) = (&self.builder, &self.state);
        let unexamined = |tree: &str| state.unexamined.as_deref() == Some(tree);
        let subject = self.ladder.subject(head, |tree| builder.built(tree).is_some(), unexamined)?;
        Ok(Event::Surveyed(subject))
    }

    fn start_build(&mut self, beside: bool) -> Option<Event> {
        self.stop_build();
        let version = self.ladder.version?;
        if !beside {
            let now = self.clock.now();
            self.builder.bound_target(&self.house, &self.limits, &mut self.report, now);
            self.report.build_begins(&short(version.commit), build::packages(&self.house), self.clock.now());
            if self.fetches_first() {
                return None;
            }
        }
        self.begin_build(beside)
    }

    pub(super) fn begin_build(&mut self, beside: bool) -> Option<Event> {
        let version = self.ladder.version?;
        let (tree, now) = (version.tree.to_string(), self.clock.now());
        let door = match self.daemons.door(&self.house, None) {
            Ok(door) => door,
            Err(error) => {
                self.report.warn(&format!("{error:#}; trying again later"));
                return (!beside).then_some(Event::Failed);
            }
        };
        match Build::start(&self.house, &self.living, door, tree, beside, now) {
            Ok(build) => {
                self.builder.build = Some(build);
                None
            }
            Err(error) if beside => {
                tracing::warn!("{error:#}");
                None
            }
            // Only a missing program is the toolchain's fault; if the system is short of something, try again later.
            Err(error) if kind(&error).is_some_and(|kind| kind == ErrorKind::NotFound) => {
                self.end = End { cause: format!("{error:#}"), ..End::default() };
                Some(Event::BuildFailed(Blame::Toolchain))
            }
            Err(error) => {
                self.report.warn(&format!("{error:#}; trying again later"));
                Some(Event::Failed)
            }
        }
    }

    /// Ends a build at once. For the main build that counts as a failure: it is overdue.
    fn stop_build(&mut self) -> Option<Event> {
        let mut build = self.builder.build.take()?;
        build.overstays(&self.house);
        build.failure.same_recipe = self.ladder.was_built_so(&build.of);
        self.end_beside(&build.tree);
        self.report.build_over();
        let log_tail = files::tail(&self.house.build_log(), LOG_TAIL_BYTES);
        let fault = build.overstayed(&self.house);
        if build.asked.is_some() {
            controls::clear(&self.house);
        }
        self.end = End { cause: "the build overstayed its deadline".into(), lived_ms: 0, log_tail };
        (!build.beside).then_some(Event::BuildFailed(fault))
    }

    fn spawn(&mut self, kept: bool, safe: bool) -> Result<()> {
        let version = self.ladder.version.context("there is nothing to run")?;
        let tree = version.tree.to_string();
        self.state.life += 1;
        (self.state.commit, self.state.tree) = (version.commit.to_string(), tree.clone());
        self.save();
        self.hand_over();
        quotas::rotate(&self.house, &self.limits, self.state.life, &mut self.report);
        let log = files::append(&self.house.life_log(self.state.life))?;
        let (program, args) = if kept {
            (self.ladder.binaries.get(&tree).context("the kept binary is gone")?, vec![])
        } else {
            let mut args = made::cargo_args("run");
            args.push("--quiet".into());
            (made::cargo(), args)
        };
        let mut extra = child::of_life(&self.house, self.state.life, &version.commit.to_string(), safe);
        self.daemons.own.broker.tokens.unproven = self.state.unexamined.as_ref() == Some(&tree);
        let broker = self.daemons.door(&self.house, Some(self.state.life))?;
        if !safe {
            extra.extend(broker.iter().flat_map(|door| packages::variables(&self.settings.packages, door)));
        }
        self.living.heart.reset();
        self.living.request_seen = files::mark(&self.house.request());
        let granted = self.granted(safe);
        let (occupant, walls, stdout) = (Occupant::Life, &self.living.walls, log.try_clone()?);
        let start = Start { occupant, program, args, extra, walls, granted, broker, stdout, stderr: log };
        let tree = child::start(&self.house, &self.living.bond, start)?;
        let (began, memory_kills) = (self.clock.now(), memory_kills());
        self.living.life = Some(Life {
            tree,
            began,
            memory_kills,
            exited: None,
            bereft: None,
            thought: false,
            turned: ([None, None], 0),
            watched: Watched::of(&self.house, self.state.life, self.state.born.is_some()),
        });
        records::tell(
            &self.house,
            "life",
            json!({"life": self.state.life, "commit": self.state.commit, "safe": safe, "kept_binary": kept}),
        );
        self.report.lives(self.state.life, &short(version.commit), kept, safe);
        Ok(())
    }

    /// Returns the owner's grants to the next life; tells of a refusal.
    fn granted(&mut self, safe: bool) -> Granted {
        let named = self.settings.risky.as_deref().filter(|_| !safe);
        match Granted::risky(&self.living.walls, named, |named| risky::granted(&self.house, named)) {
            Ok(granted) => {
                granted.told().iter().for_each(|told| self.report.say(told));
                granted
            }
            Err(why) => {
                self.report.warn(&why);
                Granted::default()
            }
        }
    }

    fn bury(&mut self, death: Death, blame: Blame) {
        let life = if death == Death::BuildFailed { self.state.life + 1 } else { self.state.life };
        let commit = self.ladder.version.map(|version| version.commit.to_string()).unwrap_or_default();
        let end = ends::end(life, &commit, json!(death), json!(blame), &self.end);
        records::bury(&self.house, &end);
        self.report.death(&end);
        if blame == Blame::Disk {
            self.report.warn(&quotas::full_disk(quotas::tried_mib(&self.house), self.limits.disk_free_mib));
        }
        self.state.tell_end(end);
        self.save();
    }

    pub fn tidy(&mut self) -> Result<()> {
        let head = self.ladder.repo.head()?;
        if self.ladder.repo.is_at(head)? {
            return Ok(());
        }
        self.clear_after_life();
        let rescued = self.ladder.repo.rescue(&format!("what life {} left in creature/", self.state.life))?;
        if let Some(name) = rescued {
            self.report.say(&format!("unfinished edits in creature/ are kept as {name}"));
            self.state.rescued = Some(name.clone());
            self.save();
            records::tell_once(&self.house, "rescued", json!({"ref": name, "life": self.state.life}));
        }
        self.ladder.repo.put_back(head.commit)
    }

    fn bless(&mut self) -> Result<()> {
        let tree = self.ladder.version.map(|version| version.tree.to_string()).unwrap_or_default();
        let built = self.builder.built.as_ref().filter(|(of, _)| *of == tree).map(|(_, path)| path.clone());
        if let Some(version) = self.ladder.bless(&self.house, built)? {
            let (commit, life) = (version.commit.to_string(), self.state.life);
            records::tell(&self.house, "blessed", json!({"commit": commit, "life": life}));
            self.report.say(&format!("blessed {}: it is last_good now", self.ladder.short()));
        }
        Ok(())
    }

    /// Tells the owner of an invariant that is broken, and that no rollback would mend.
    pub fn tell_broken(&mut self, invariant: Invariant, tally: Tally) {
        let told = format!("this creature breaks an invariant: {}", counted(invariant, tally));
        self.report.warn(&format!(
            "{told}; nothing is put back for it, since what was before is not known to keep it"
        ));
        let data = json!({"life": self.state.life, "commit": self.state.commit, "invariant": invariant, "told": told,
            "evidence": self.state.broken});
        records::tell(&self.house, "broken", data);
    }
}

fn kind(error: &anyhow::Error) -> Option<ErrorKind> {
    error.downcast_ref::<std::io::Error>().map(std::io::Error::kind)
}
