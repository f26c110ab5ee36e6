//! Cargo over the creature: the build under way, the tests beside a first life, and the last build.

use crate::act::build::Build;
use crate::act::exam::Exam;
use crate::act::quotas;
use crate::act::report::Report;
use crate::limits::{Limits, TARGET_LOOK_MS};
use house::House;
use house::clock::Millis;
use nix::unistd::Pid;
use std::path::PathBuf;

#[derive(Default)]
pub struct Builder {
    pub build: Option<Build>,
    /// The tests beside a first life.
    pub exam: Option<Exam>,
    /// Creature tree and binary of the last successful build.
    pub built: Option<(String, PathBuf)>,
    /// When the size of the build folder is measured next.
    target_look: Millis,
}

impl Builder {
    /// The first processes of a build and of tests, which run beside a life.
    pub fn running(&self) -> impl Iterator<Item = Pid> {
        let tests = self.exam.iter().map(|exam| exam.tree.pid);
        self.build.iter().map(|build| build.tree.pid).chain(tests)
    }

    /// The binary of the last build, if that was of this tree.
    pub fn built(&self, tree: &str) -> Option<&PathBuf> {
        self.built.as_ref().filter(|(of, path)| of == tree && path.is_file()).map(|(_, path)| path)
    }

    /// Reads cargo's output, notes the free space, and shows the progress of a build that a life waits for.
    pub fn follow(&mut self, house: &House, report: &mut Report, now: Millis) {
        if let Some(build) = &mut self.build {
            build.follow(house);
            if !build.beside {
                report.building(build.told.crates, &build.told.last, now);
            }
        }
        self.exam.iter_mut().for_each(|exam| exam.follow(house));
    }

    /// Keeps the build folder within its quota, measured now and then.
    pub fn bound_target(&mut self, house: &House, limits: &Limits, report: &mut Report, now: Millis) {
        if now >= self.target_look {
            self.target_look = now + TARGET_LOOK_MS;
            quotas::bound_target(house, limits, report);
        }
    }
}
