//! Carries out each of the policy's actions; what comes of one goes back as an event.

use crate::act::build::{self, Build};
use crate::act::conduct::Watched;
use crate::act::controls;
use crate::act::ends;
use crate::act::executor::{End, Executor, Life};
use crate::act::quotas;
use crate::decide::vocabulary::{Action, Blame, Death, Event, Standing, Subject};
use crate::git::repo::publish_last_good;
use crate::git::tree::short;
use crate::limits::LOG_TAIL_BYTES;
use crate::processes::child::{self, Occupant, Start};
use crate::processes::exits::memory_kills;
use crate::processes::granted::Granted;
use crate::processes::packages;
use crate::start;
use anyhow::{Context, Result};
use house::interrupt::Interrupted;
use house::{files, records, repair};
use serde_json::json;
use std::io::ErrorKind;

impl Executor {
    pub fn perform(&mut self, action: Action) -> Option<Event> {
        let outcome = match action {
            Action::Survey { tidy } => self.survey(tidy).map(Some),
            Action::Build => Ok(self.start_build(false)),
            Action::BuildBeside => Ok(if self.build.is_none() { self.start_build(true) } else { None }),
            Action::StopBuild => {
                if self.build.as_ref().is_some_and(|build| build.beside) {
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
                self.life.iter().for_each(|life| life.tree.terminate());
                Ok(None)
            }
            Action::KillTree => {
                self.life.iter().for_each(|life| life.tree.kill());
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
        self.edits_told.clear();
        repair::clear(&self.house).iter().for_each(|told| self.report.warn(told));
        if let Some(what) = self.repo.under_way() {
            anyhow::bail!("a {what} is under way in the repository: finish or abort it");
        }
        if let Some(behind) = self.state.index_behind.clone() {
            self.bring_index_along(&behind);
        }
        if tidy {
            self.tidy()?;
        }
        let head = self.repo.head()?;
        let dirty = self.repo.dirty(head)?;
        if let Some(told) = start::told_edits(&self.repo.edits(&dirty)) {
            self.report.once(&told);
            self.edits_told = told;
            self.publish();
            return Ok(Event::OwnerEdits);
        }
        // The remaining differences are nobody's edits: empty folders, and files as the owner's git checks them out.
        if !dirty.is_empty() {
            self.tidy()?;
        }
        self.version = Some(head);
        let tree = head.tree.to_string();
        let rungs: Vec<String> =
            self.repo.rungs()?.iter().map(|rung| rung.version.tree.to_string()).collect();
        let standing = match rungs.iter().position(|rung| *rung == tree) {
            // The bottom rung is never fallen: there is no rung below to put the creature back to.
            Some(0) => Standing::Bottom,
            _ if self.repo.is_fallen(head.tree) => Standing::Fallen,
            Some(_) => Standing::Blessed,
            None => Standing::Unproven,
        };
        let kept = self.binaries.get(&tree).is_some();
        let built = self.built.as_ref().is_some_and(|(of, path)| *of == tree && path.is_file());
        let unexamined = standing == Standing::Unproven && self.state.unexamined.as_ref() == Some(&tree);
        Ok(Event::Surveyed(Subject { tree, standing, rungs, kept, built, unexamined }))
    }

    fn start_build(&mut self, beside: bool) -> Option<Event> {
        self.stop_build();
        let version = self.version?;
        if !beside {
            self.bound_target();
            self.report.build_begins(&short(version.commit), build::packages(&self.house), self.clock.now());
            if self.fetches_first() {
                return None;
            }
        }
        self.begin_build(beside)
    }

    pub(super) fn begin_build(&mut self, beside: bool) -> Option<Event> {
        let version = self.version?;
        let (tree, now) = (version.tree.to_string(), self.clock.now());
        let door = match self.daemons.door(&self.house, None) {
            Ok(door) => door,
            Err(error) => {
                self.report.warn(&format!("{error:#}; trying again later"));
                return (!beside).then_some(Event::Failed);
            }
        };
        match Build::start(&self.house, &self.bond, &self.walls, door, tree, beside, now) {
            Ok(build) => {
                self.build = Some(build);
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
        let mut build = self.build.take()?;
        build.overstays(&self.house);
        build.failure.same_recipe = self.was_built_so(&build.of);
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
        let version = self.version.context("there is nothing to run")?;
        let tree = version.tree.to_string();
        self.state.life += 1;
        (self.state.commit, self.state.tree) = (version.commit.to_string(), tree.clone());
        self.save();
        self.hand_over();
        self.rotate();
        let log = files::append(&self.house.life_log(self.state.life))?;
        let (program, args) = if kept {
            (self.binaries.get(&tree).context("the kept binary is gone")?, vec![])
        } else {
            let mut args = build::cargo_args("run");
            args.push("--quiet".into());
            (build::cargo(), args)
        };
        let mut extra = vec![
            ("FERAL_HOUSE", self.house.root().display().to_string()),
            ("FERAL_LIFE", self.state.life.to_string()),
            ("FERAL_COMMIT", version.commit.to_string()),
        ];
        self.daemons.own.broker.tokens.unproven = self.state.unexamined.as_ref() == Some(&tree);
        let broker = self.daemons.door(&self.house, Some(self.state.life))?;
        match safe {
            true => extra.push(("FERAL_SAFE", "1".into())),
            false => extra
                .extend(broker.iter().flat_map(|door| packages::variables(&self.settings.packages, door))),
        }
        self.heart.reset();
        self.request_seen = files::mark(&self.house.request());
        let granted = self.granted(safe);
        let (occupant, walls, stdout) = (Occupant::Life, &self.walls, log.try_clone()?);
        let start = Start { occupant, program, args, extra, walls, granted, broker, stdout, stderr: log };
        let tree = child::start(&self.house, &self.bond, start)?;
        let (began, memory_kills) = (self.clock.now(), memory_kills());
        self.life = Some(Life {
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

    /// What the owner grants the next life; what is refused is told.
    fn granted(&mut self, safe: bool) -> Granted {
        let named = self.settings.risky.as_deref().filter(|_| !safe);
        match Granted::risky(&self.house, &self.walls, named) {
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
        let commit = self.version.map(|version| version.commit.to_string()).unwrap_or_default();
        let end = ends::end(life, &commit, json!(death), json!(blame), &self.end);
        records::bury(&self.house, &end);
        self.report.death(&end);
        if blame == Blame::Disk {
            self.report.warn(&quotas::full_disk(self.free_mib(), self.limits.disk_free_mib));
        }
        self.state.tell_end(end);
        self.save();
    }

    pub fn tidy(&mut self) -> Result<()> {
        let head = self.repo.head()?;
        if self.repo.is_at(head)? {
            return Ok(());
        }
        self.clear_after_life();
        let rescued = self.repo.rescue(&format!("what life {} left in creature/", self.state.life))?;
        if let Some(name) = rescued {
            self.report.say(&format!("unfinished edits in creature/ are kept as {name}"));
            self.state.rescued = Some(name.clone());
            self.save();
            records::tell_once(&self.house, "rescued", json!({"ref": name, "life": self.state.life}));
        }
        self.repo.put_back(head.commit)
    }

    fn bless(&mut self) -> Result<()> {
        let version = self.version.context("there is nothing to bless")?;
        let tree = version.tree.to_string();
        let mut fresh = false;
        if let Some((built, path)) = self.built.clone()
            && built == tree
        {
            fresh = self.binaries.keep(&tree, &path)?;
        }
        fresh |= self.repo.bless(version)?;
        let rungs = self.repo.rungs()?;
        publish_last_good(&self.house, &rungs)?;
        self.binaries.retain(&rungs.iter().map(|rung| rung.version.tree.to_string()).collect::<Vec<_>>());
        if fresh {
            records::tell(
                &self.house,
                "blessed",
                json!({"commit": version.commit.to_string(), "life": self.state.life}),
            );
            self.report.say(&format!("blessed {}: it is last_good now", short(version.commit)));
        }
        Ok(())
    }
}

fn kind(error: &anyhow::Error) -> Option<ErrorKind> {
    error.downcast_ref::<std::io::Error>().map(std::io::Error::kind)
}
