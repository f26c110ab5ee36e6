//! Faults of the build: source, manifests, dependencies, build scripts, toolchain, locks. Real cargo, the real creature.

use crate::matrix::Row;
use crate::trial::Trial;

const BUILD: &str = "build";

pub const ROWS: &[Row] =
    &[Row::new(BUILD, "syntax error", "a commit with a syntax error in the creature's loop", syntax).real()];

fn syntax(trial: &mut Trial) {
    trial.real();
    trial.begin();
    trial.expect_fall("does_not_build");
    trial.inject(|trial| {
        let source = trial.house().read("creature/src/life.rs");
        trial.commit_creature(&[("creature/src/life.rs", &format!("{source}\nfn {{"))]);
    });
    trial.recovers();
    trial.until_deaths("build_failed", 1);
}
