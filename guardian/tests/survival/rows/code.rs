//! Faults of the code: lives that crash, hang, lie, fork, spew and will not go.

use crate::matrix::Row;
use crate::trial::Trial;

const CODE: &str = "code";

pub const ROWS: &[Row] = &[
    Row::new(CODE, "panic at boot", "a self-edit that exits with 101 before its first beat", |trial| {
        falls_before_blessing(trial, "exit 101", "stillborn");
    })
    .quick()
    .twice(),
    Row::new(CODE, "exit 0 at once", "a self-edit that ends with status 0 and asks for nothing", |trial| {
        falls_before_blessing(trial, "exit 0", "stillborn");
    })
    .twice(),
];

/// A self-edit whose new life never earns its blessing: three deaths, and it is put back.
fn falls_before_blessing(trial: &mut Trial, life: &str, ended: &str) {
    trial.shell_becomes(life);
    trial.begin();
    trial.expect_fall("tries_spent");
    trial.inject(|_| {});
    trial.recovers();
    trial.until_deaths(ended, 3);
}
