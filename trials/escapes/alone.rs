//! Each attempt once more with one wall taken away: the others must still refuse it, save where the table says it falls.

use crate::escapes::rows::{By, FALLS, KERNEL, NETWORK, PROCESSES, READS, Row, WRITES};
use crate::escapes::{ConcatRows, Suite, attempt, said};
use walls::level;
use walls::spec::Spec;

/// The walls that can be taken away. Without the group that counts processes nothing is tried: `processes` has an attempt
/// of its own among the endless.
pub const WALLS: [&str; 8] = [
    level::TREE,
    level::FILES,
    level::VIEW,
    level::NETWORK,
    level::SIGNALS,
    level::CALLS,
    level::CAPABILITIES,
    level::LIMITS,
];

/// What is read, or everything if `whole`.
pub fn all(suite: &mut Suite, whole: bool) {
    let every = || [WRITES, READS, PROCESSES, NETWORK, KERNEL].concat_rows();
    let rows: Vec<&'static Row> = if whole { every() } else { READS.iter().collect() };
    let root = suite.root;
    for wall in WALLS {
        let spec = without(suite, wall);
        for row in rows.iter().filter(|row| row.by == By::Anyone || root) {
            let name = format!("{} without {wall}", row.name);
            if suite.wants(&name) {
                let complaint = complaint(suite, row, wall, &spec);
                suite.judge_quietly(&name, complaint);
            }
        }
    }
}

/// What a launch is asked for where one wall cannot be had. A plain user has no namespaces without one of users.
fn without(suite: &Suite, wall: &str) -> Spec {
    let mut spec = suite.stage.spec();
    match wall {
        level::TREE => spec.tree = false,
        level::FILES => spec.files = false,
        level::VIEW => spec.view = None,
        level::NETWORK => {
            (spec.net, spec.user) = (None, None);
            if !suite.root {
                (spec.tree, spec.view) = (false, None);
            }
        }
        level::SIGNALS => spec.scopes = false,
        level::CALLS => spec.calls = false,
        level::CAPABILITIES => spec.capabilities = false,
        _ => spec.ceilings = None,
    }
    spec
}

fn complaint(suite: &Suite, row: &Row, wall: &str, spec: &Spec) -> Option<String> {
    let walled = suite.stage.run(Some(spec), &attempt(row));
    let damage = suite.stage.damage();
    suite.stage.lay();
    let works = walled.status.success() || !damage.is_empty();
    let may = FALLS.iter().any(|(of, names)| *of == wall && names.contains(&row.name));
    if said(&walled).contains("guardian wall") {
        Some(format!("was not tried: {}", said(&walled)))
    } else if works && !may {
        Some(format!("WORKS: no other wall holds it {}", damage.join(", ")))
    } else {
        None
    }
}
