//! Carries out each of the policy's actions; the outcome of each goes back as an event.

use crate::act::build::{self, Build};
use crate::act::conduct::tell_broken;
use crate::act::controls;
use crate::act::ends::bury;
use crate::act::executor::{End, Executor};
use crate::act::{fall, first_fetch};
use crate::decide::vocabulary::{Action, Blame, Event, Phase};
use crate::limits::LOG_TAIL_BYTES;
use anyhow::Result;
use house::files;
use house::interrupt::Interrupted;
use std::io::ErrorKind;

impl Executor {
    pub fn perform(&mut self, action: Action) -> Option<Event> {
        // A life finds published what came before it.
        if self.around.is_news && matches!(action, Action::Spawn { .. }) {
            self.publish();
        }
        let Self { around, ladder, builder, living, daemons, .. } = self;
        let came = |event| move |()| Some(event);
        let outcome = match action {
            Action::Survey { tidy } => ladder.survey(around, tidy).map(Some),
            Action::Build => self.start_build(),
            Action::BuildBeside if builder.build.is_some() => Ok(None),
            Action::BuildBeside => self.begin_build(true),
            Action::StopBuild => {
                if builder.build.as_ref().is_some_and(|build| build.beside) {
                    tracing::warn!(
                        "the build beside the blessed binary overstayed its deadline and is ended"
                    );
                }
                Ok(self.stop_build())
            }
            Action::Spawn { kept, safe } => living.begin(around, ladder, daemons, kept, safe).map(|()| None),
            Action::Examine => Ok(self.examine()),
            Action::StopExam => Ok(self.stop_exam()),
            Action::Terminate => {
                living.life.iter().for_each(|life| life.tree.terminate());
                Ok(None)
            }
            Action::KillTree => {
                living.life.iter().for_each(|life| life.tree.kill());
                Ok(None)
            }
            Action::Bury { death, blame } => {
                bury(around, ladder.version, &self.end, death, blame);
                Ok(None)
            }
            Action::TellBroken { invariant, tally } => {
                tell_broken(around, invariant, tally);
                Ok(None)
            }
            Action::Tidy => ladder.tidy(around).map(came(Event::Tidied)),
            Action::SetAside => Ok(Some(fall::set_aside(around))),
            Action::Commit => ladder.commit(around).map(came(Event::Committed)),
            Action::Answer => {
                if !ladder.answer(around) {
                    living.request_seen = None;
                }
                Ok(None)
            }
            Action::Bless => ladder.bless(around).map(came(Event::Blessed)),
            Action::Rollback { cause, to_bottom } => ladder.roll_back(around, cause, to_bottom).map(Some),
            Action::Leave => Ok(None),
        };
        self.came_of(outcome)
    }

    /// Returns the event for an action's outcome; tells the owner of a failure.
    fn came_of(&mut self, outcome: Result<Option<Event>>) -> Option<Event> {
        outcome.unwrap_or_else(|error| {
            if error.is::<Interrupted>() {
                return Some(Event::Interrupted);
            }
            self.around.report.warn(&format!("{error:#}; trying again later"));
            Some(Event::Failed)
        })
    }

    fn start_build(&mut self) -> Result<Option<Event>> {
        self.stop_build();
        let around = &mut self.around;
        self.builder.bound_target(around);
        let (packages, now) = (build::packages(&around.house), around.now());
        around.report.build_begins(&self.ladder.short(), packages, now);
        if first_fetch::begins(around, &mut self.daemons, &self.ladder) {
            return Ok(None);
        }
        self.begin_build(false)
    }

    /// Begins the build that waited for a fetch, however that ended: the broker fetches the missing packages.
    pub fn build_after_fetch(&mut self) {
        if matches!(self.around.decided.phase, Phase::Building { .. }) && self.builder.build.is_none() {
            let begun = self.begin_build(false);
            let came_of_it = self.came_of(begun);
            self.heard.extend(came_of_it);
        }
    }

    fn begin_build(&mut self, beside: bool) -> Result<Option<Event>> {
        let Some(version) = self.ladder.version else { return Ok(None) };
        let house = &self.around.house;
        let door = self.daemons.door(house, None)?;
        match Build::start(house, &self.living.walled, door, version, beside) {
            Ok(build) => self.builder.build = Some(build),
            Err(error) if beside => tracing::warn!("{error:#}"),
            // Only a missing program is the toolchain's fault; if the system is short of something, try again later.
            Err(error) if kind(&error) == Some(ErrorKind::NotFound) => {
                self.end = End { cause: format!("{error:#}"), ..End::default() };
                return Ok(Some(Event::BuildFailed(Blame::Toolchain)));
            }
            Err(error) => return Err(error),
        }
        Ok(None)
    }

    /// Ends a build at once. For the main build that counts as a failure: it is overdue.
    fn stop_build(&mut self) -> Option<Event> {
        let mut build = self.builder.build.take()?;
        build.overstays(&self.around.house);
        build.failure.same_recipe = self.ladder.was_built_so(&build.of);
        self.end_beside(&build.tree);
        self.around.report.build_over();
        let house = &self.around.house;
        let fault = build.overstayed(house);
        if build.asked.is_some() {
            controls::clear(house);
        }
        let log_tail = files::tail(&house.build_log(), LOG_TAIL_BYTES);
        self.end = End { cause: "the build overstayed its deadline".into(), lived_ms: 0, log_tail };
        (!build.beside).then_some(Event::BuildFailed(fault))
    }
}

fn kind(error: &anyhow::Error) -> Option<ErrorKind> {
    error.downcast_ref::<std::io::Error>().map(std::io::Error::kind)
}
