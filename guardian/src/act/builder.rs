//! Cargo over the creature: the build under way, and the tests beside a first life.

use crate::act::around::Around;
use crate::act::build::Build;
use crate::act::exam::Exam;
use crate::act::quotas;
use crate::limits::TARGET_LOOK_MS;
use house::clock::Millis;
use nix::unistd::Pid;

#[derive(Default)]
pub struct Builder {
    pub build: Option<Build>,
    /// The tests beside a first life.
    pub exam: Option<Exam>,
    /// When the size of the build folder is measured next.
    target_look: Millis,
}

impl Builder {
    /// The first processes of a build and of tests, which run beside a life.
    pub fn running(&self) -> impl Iterator<Item = Pid> {
        let tests = self.exam.iter().map(|exam| exam.tree.pid);
        self.build.iter().map(|build| build.tree.pid).chain(tests)
    }

    /// Reads cargo's output, notes the free space, and shows the progress of a build that a life waits for.
    pub fn follow(&mut self, around: &mut Around) {
        let (house, now) = (&around.house, around.now());
        if let Some(build) = &mut self.build {
            build.follow(house);
            if !build.beside {
                around.report.building(build.told.crates, &build.told.last, now);
            }
        }
        self.exam.iter_mut().for_each(|exam| exam.follow(house));
    }

    /// Keeps the build folder within its quota, measured now and then.
    pub fn bound_target(&mut self, around: &mut Around) {
        let now = around.now();
        if now >= self.target_look {
            self.target_look = now + TARGET_LOOK_MS;
            quotas::bound_target(&around.house, &around.limits, &mut around.report);
        }
    }
}
