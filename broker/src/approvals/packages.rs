//! Packages the owner said yes to, in this house and for good: a line each in `.self/broker/packages.jsonl`.
//!
//! Invariant: a name is in the file before anything of the package is passed on; a file that cannot be read allows nothing.

use crate::approvals::Approvals;
use crate::approvals::act::Package;
use crate::approvals::outcome::{Outcome, done, not_sent};
use crate::ground::clock::Clock;
use crate::ground::files;
use crate::ledger::{Closed, Entry};
use anyhow::{Context, Result};
use house::House;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

#[derive(Serialize, Deserialize)]
struct Line {
    at: String,
    registry: String,
    name: String,
}

/// All names of a registry's that are allowed.
pub fn allowed(house: &House, registry: &str) -> HashSet<String> {
    let lines: Vec<Line> = files::read_lines(&house.packages()).unwrap_or_else(|error| {
        tracing::error!("no package is allowed: {error:#}");
        Vec::new()
    });
    lines.into_iter().filter(|line| line.registry == registry).map(|line| line.name).collect()
}

/// Carries out an ask that the owner said yes to: the ledger first, then the names.
pub async fn allow(approvals: &Approvals, package: &Package, line: Entry) -> Result<Outcome, Closed> {
    approvals.handles.ledger.append(line).await?;
    Ok(match remember(&approvals.handles.house, &approvals.handles.clock, package) {
        Ok(()) => done("these packages may be installed now: run the same command again"),
        Err(error) => {
            tracing::error!("{error:#}");
            not_sent("the yes could not be written, so nothing is allowed", "is the disk full?")
        }
    })
}

fn remember(house: &House, clock: &Clock, package: &Package) -> Result<()> {
    let line = |name: &str| {
        let (at, registry) = (clock.stamp(), package.registry.clone());
        Line { at, registry, name: name.to_owned() }
    };
    let lines = files::in_lines(package.names().map(line))?;
    files::append_line(&house.packages(), &lines).context("failed to remember a package")
}
