//! Hostile patches: they make of files within the boundary what they say, all of it or nothing.

#[path = "../../../../tests/hostile/mod.rs"]
mod withstand;

use crate::yard::Yard;
use patch::boundary::judge;
use patch::plan::{Roots, from_patch};
use patch::text::diff::parse;
use patch::text::hunks::apply;
use patch::text::unified;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestCaseError;
use std::time::Duration;

const PIECES: [&str; 20] = [
    "--- a/creature/src/a.rs\n",
    "+++ b/creature/src/a.rs\n",
    "+++ b/../../etc/passwd\n",
    "+++ b/.git/config\n",
    "+++ b/creature/./x//y.rs\n",
    "--- /dev/null\n",
    "+++ /dev/null\n",
    "@@ -1,3 +1,3 @@\n",
    "@@ -18446744073709551615,1 +0,0 @@\n",
    "@@",
    "*** Begin Patch\n",
    "*** Update File: creature/src/a.rs\n",
    "*** Add File: self/x.md\n",
    "*** Move to: PURPOSE.md\n",
    "*** End Patch\n",
    "rename from creature/src/a.rs\n",
    "\\ No newline at end of file\n",
    "-",
    "+",
    " ",
];

#[derive(serde::Deserialize)]
struct Case {
    #[serde(default)]
    before: std::collections::BTreeMap<String, String>,
}

#[test]
fn hostile_patches_change_files_within_the_boundary_all_or_nothing() {
    let yard = Yard::new();
    for seed in withstand::seeds("patches", &["toml"]) {
        let case: Case = toml::from_str(std::str::from_utf8(&seed).unwrap()).unwrap();
        let fit = |path: &str| judge(path).is_ok() && !yard.root().join(path).exists();
        case.before.iter().filter(|(path, _)| fit(path)).for_each(|(path, text)| yard.put(path, text));
    }
    let before = yard.files();
    let roots = Roots { source: yard.root(), papers: yard.root() };
    let seeds = withstand::seeds("patches", &["patch"]);
    withstand::withstands(seeds, &PIECES, 1_000, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let plan = from_patch(&roots, &text);
        let Ok(plan) = plan else { return Ok(()) };
        prop_assert!(plan.missed.is_empty() || plan.changes.is_empty(), "half: {plan:?}");
        for change in &plan.changes {
            let allowed = judge(&change.path);
            prop_assert!(
                allowed.is_ok_and(|it| it.path == change.path && it.area == change.area),
                "{}",
                change.path
            );
            let there = std::fs::read(yard.root().join(&change.path)).ok();
            prop_assert_eq!(&change.before, &there);
        }
        let mut paths = plan.files();
        paths.sort();
        prop_assert!(paths.windows(2).all(|pair| pair[0] != pair[1]), "twice: {paths:?}");
        Ok(())
    });
    assert_eq!(yard.files(), before, "a plan writes nothing");
}

#[test]
fn a_change_of_any_text_is_applied_as_its_diff_says() {
    let mut seeds = withstand::seeds("patches", &["patch"]);
    let crlf = |seed: &Vec<u8>| String::from_utf8_lossy(seed).replace('\n', "\r\n").into_bytes();
    seeds.extend(seeds.iter().map(crlf).collect::<Vec<_>>());
    withstand::withstands_changes(seeds, &PIECES, 300, |before, after| {
        applied_as_its_diff_says(&String::from_utf8_lossy(before), &String::from_utf8_lossy(after))
    });
}

/// Lines that are often the same, or the same but for their ends.
const TWINS: [&str; 6] = ["a\n", "a\n", "b\n", "\n", "a\r\n", "\r\n"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_change_among_twins_is_applied_as_its_diff_says(
        mut lines in prop::collection::vec(prop::sample::select(&TWINS), 0..50),
        last in prop::sample::select(vec!["", "a", "\r"]),
        edits in prop::collection::vec((any::<Index>(), prop::option::of(prop::sample::select(&TWINS))), 1..4),
    ) {
        lines.push(last);
        let before = lines.concat();
        for (at, new) in edits {
            let at = at.index(lines.len());
            lines.splice(at..at + usize::from(new.is_none()), new);
            lines.push("");
        }
        applied_as_its_diff_says(&before, &lines.concat())?;
    }
}

fn applied_as_its_diff_says(before: &str, after: &str) -> Result<(), TestCaseError> {
    // git takes a text with a NUL for binary, and shows no lines of it.
    if before.contains('\0') || after.contains('\0') || after == before {
        return Ok(());
    }
    let written = unified::write("creature/src/a.rs", Some(before.as_bytes()), Some(after.as_bytes()));
    let files = parse(&written);
    prop_assert!(files.as_ref().is_ok_and(|files| files.len() == 1), "{files:?}\n{written}");
    let applied = apply(&files.unwrap()[0], Some(before));
    prop_assert_eq!(
        applied.map(|applied| applied.text.unwrap_or_default()),
        Ok(after.to_owned()),
        "{}",
        written
    );
    Ok(())
}

/// Found: lines that are all the same were compared with each other in every place.
#[test]
fn a_block_of_one_line_said_often_is_placed_soon() {
    let (begun, lines) = (withstand::taken::taken(), 20_000);
    let head = format!("--- a/creature/x.rs\n+++ b/creature/x.rs\n@@ -1,{lines} +1,{} @@\n", lines + 1);
    let files = parse(&format!("{head}{}+b\n", " a\n".repeat(lines))).unwrap();
    let applied = apply(&files[0], Some(&"a\n".repeat(lines * 2))).unwrap();
    assert_eq!(applied.text.unwrap(), "a\n".repeat(lines) + "b\n" + &"a\n".repeat(lines));
    let took = withstand::taken::taken() - begun;
    assert!(took < Duration::from_secs(5), "{took:?} of the processor");
}
