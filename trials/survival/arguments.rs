//! The command line of the matrix.

use crate::survival::matrix::Variant;
use std::ffi::OsString;
use std::path::PathBuf;

pub const HELP: &str = "\
usage: survival [--quick | --full] [--only PATTERN] [--stewards] [--list] [--jobs N] [--json FILE]
       survival --soak HOURS [--seed N] [--json FILE]
       survival --hostile MINUTES [--open] [--seed N] [--json FILE [--resume]]
       survival --restarts N [--json FILE]
       survival --write FILE

Runs the fault matrix: each row starts a guardian over a repository of its own, injects one fault and waits
for a living creature; nothing outside temporary folders and target/ is touched.

  --quick         the rows marked quick (the default); of the kills at each step every fourth
  --full          every row, and where it makes sense once more with the guardian killed in the middle
  --only PATTERN  rows whose family or name contains PATTERN, of the full matrix
  --stewards      each of the rows once, with the guardian's steward alone killed in the middle
  --list          names the rows and runs none
  --jobs N        houses of shell creatures at once (6)
  --json FILE     writes what was seen to FILE
  --soak HOURS    faults at random, one after another, on one house; memory, processes and disk measured
  --seed N        what the soak draws its faults from (1)
  --hostile MINUTES
                  guardian, broker and life killed at random over a creature that plants, leases, locks and pipes, beside
                  two owners' words; faults are written as they come, figures after every look at the whole house
  --open          that without walls, so that leases are really taken
  --resume        figures in FILE are added to
  --restarts N    a creature that dies at once, restarted N times; the guardian's memory measured
  --write FILE    writes SURVIVAL.md from what earlier runs left in target/survival/

Exit status: 0 everything survived; 1 a row failed; 2 wrong usage.
";

#[derive(Default)]
pub struct Arguments {
    pub full: bool,
    pub only: Option<String>,
    pub stewards: bool,
    pub list: bool,
    pub jobs: Option<usize>,
    pub json: Option<PathBuf>,
    pub soak_hours: Option<f64>,
    pub hostile_minutes: Option<f64>,
    pub open: bool,
    pub resume: bool,
    pub seed: Option<u64>,
    pub restarts: Option<usize>,
    pub write: Option<PathBuf>,
}

impl Arguments {
    /// `None` when help is asked for.
    pub fn read(given: impl Iterator<Item = OsString>) -> Result<Option<Self>, String> {
        use lexopt::prelude::*;
        let mut arguments = Self::default();
        let mut parser = lexopt::Parser::from_args(given);
        let wrong = |error: lexopt::Error| error.to_string();
        while let Some(argument) = parser.next().map_err(wrong)? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("quick") => arguments.full = false,
                Long("full") => arguments.full = true,
                Long("stewards") => arguments.stewards = true,
                Long("list") => arguments.list = true,
                Long("only") => {
                    let pattern = parser.value().map_err(wrong)?;
                    arguments.only = Some(pattern.to_string_lossy().to_lowercase());
                }
                Long("jobs") => {
                    arguments.jobs = Some(parser.value().and_then(|value| value.parse()).map_err(wrong)?)
                }
                Long("json") => arguments.json = Some(parser.value().map_err(wrong)?.into()),
                Long("soak") => {
                    arguments.soak_hours =
                        Some(parser.value().and_then(|value| value.parse()).map_err(wrong)?);
                }
                Long("hostile") => {
                    arguments.hostile_minutes =
                        Some(parser.value().and_then(|value| value.parse()).map_err(wrong)?);
                }
                Long("open") => arguments.open = true,
                Long("resume") => arguments.resume = true,
                Long("seed") => {
                    arguments.seed = Some(parser.value().and_then(|value| value.parse()).map_err(wrong)?)
                }
                Long("restarts") => {
                    arguments.restarts = Some(parser.value().and_then(|value| value.parse()).map_err(wrong)?);
                }
                Long("write") => arguments.write = Some(parser.value().map_err(wrong)?.into()),
                other => return Err(other.unexpected().to_string()),
            }
        }
        Ok(Some(arguments))
    }

    /// Whether a row tries only some of what it has.
    pub fn samples(&self) -> bool {
        !self.full && self.only.is_none()
    }

    pub fn wants(&self, variant: &Variant) -> bool {
        match &self.only {
            Some(pattern) => variant.title().to_lowercase().contains(pattern),
            None => self.full || (variant.row.quick && !variant.is_killed()),
        }
    }
}
