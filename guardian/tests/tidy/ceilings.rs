//! Ceilings of folders: growth is a decision, made in the commit that needs it.

use crate::none;
use crate::sources::sources;
use std::collections::BTreeMap;

/// Lines of source in a folder, without the folders in it: a tenth above what was there when the row was last set. A
/// commit that raises one says why; after a cut it comes down.
const CEILINGS: [(&str, usize); 34] = [
    ("broker/src", 9_480),
    ("broker/src/budget", 470),
    ("broker/src/ledger", 770),
    ("broker/src/llm", 2_610),
    ("broker/src/policy", 810),
    ("console/src", 1_870),
    ("creature/crates/agenda/src", 4_540),
    ("creature/crates/agenda/src/directive", 330),
    ("creature/crates/agenda/src/own", 100),
    ("creature/crates/agenda/src/reminder", 190),
    ("creature/crates/agenda/src/sessions", 610),
    ("creature/crates/agenda/src/standing", 560),
    ("creature/crates/hands/src", 1_380),
    ("creature/crates/knowledge/src", 1_150),
    ("creature/crates/memory/src", 860),
    ("creature/crates/model/src", 2_880),
    ("creature/src", 7_040),
    ("creature/src/digest", 180),
    ("creature/src/dream", 680),
    ("creature/src/examine", 1_190),
    ("creature/src/mind", 3_210),
    ("creature/src/mind/instinct", 3_670),
    ("creature/src/self_edit", 3_010),
    ("creature/src/senses", 1_340),
    ("creature/src/subsessions", 260),
    ("creature/src/tools", 4_470),
    ("creature/src/tools/catalogue", 750),
    ("guardian/src", 1_460),
    ("guardian/src/act", 3_590),
    ("guardian/src/decide", 1_890),
    ("guardian/src/git", 1_660),
    ("guardian/src/processes", 970),
    ("house/src", 2_400),
    ("walls/src", 1_990),
];

#[test]
fn growth_is_a_decision() {
    let sources = sources();
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.is_production() && source.path.contains("/src/")) {
        let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        *lines.entry(folder).or_default() += source.text.lines().count();
    }
    let mut bad = Vec::new();
    for (folder, lines) in &lines {
        let (row, ceiling) =
            ((lines * 11).div_ceil(100) * 10, CEILINGS.iter().find(|(known, _)| known == folder));
        println!("{folder}: {lines} lines");
        match ceiling {
            None => bad.push(format!("{folder} has no ceiling: put (\"{folder}\", {row}) into `CEILINGS`")),
            Some((_, ceiling)) if lines > ceiling => bad.push(format!(
                "{folder} has {lines} lines, its ceiling is {ceiling}: cut as much, or raise it to {row} and say why in the commit"
            )),
            Some(_) => {}
        }
    }
    let gone = CEILINGS.iter().filter(|(folder, _)| !lines.contains_key(folder));
    bad.extend(gone.map(|(folder, _)| {
        format!("{folder} is no folder of source any more: take its row out of `CEILINGS`")
    }));
    none(bad);
}
