//! The four flows of ARCHITECTURE.md by their stages: no file of one uses a file of a stage before it.
//!
//! What is handed to every stage (`Executor`, `Services`, `Handles`) and what only decides between stages stands in none.

use crate::circles::{Uses, imports};
use crate::none;
use crate::sources::{is_lived_in, root};
use std::collections::BTreeMap;

/// A stage's files: its name, a folder, and files and folders (with `/`) in it. Rows of one name are one stage.
type Row = (&'static str, &'static str, &'static str);

const LIFE: &str = "creature/src/life/";
const ACT: &str = "guardian/src/act/";
const DECIDE: &str = "guardian/src/decide/";
const SERVICES: &str = "broker/src/services/";
/// The last stage of each flow: what the others share, and what uses none of them.
const SHARED: &str = "what they share";

/// The flows as ARCHITECTURE.md names them, each with its stages in their order.
const FLOWS: [(&str, &[Row]); 4] = [
    (
        "A thought.",
        &[
            ("the loop", LIFE, "birth.rs rounds.rs calls.rs meanwhile.rs"),
            ("the owner's words and events", LIFE, "hear.rs hear/"),
            ("a mind", LIFE, "minds.rs"),
            ("a reason", LIFE, "wake.rs wake/"),
            ("what is new", LIFE, "sense.rs"),
            ("the thought", LIFE, "think.rs"),
            ("its calls", LIFE, "act.rs"),
            ("a rest", LIFE, "rest.rs rest/"),
            ("the night", LIFE, "dreaming.rs dreaming/"),
            ("the end", LIFE, "end.rs"),
            (SHARED, "creature/src/", "life.rs life/ mind.rs mind/ senses/ store.rs store/"),
            (SHARED, "creature/src/", "tools/ jobs.rs dream.rs dream/ digest.rs digest/"),
        ],
    ),
    (
        "A self-edit, to a blessing.",
        &[
            ("a draft", "creature/src/tools/", "repo_edit.rs"),
            ("a draft", "creature/crates/patch/src/", "draft.rs plan.rs rebase.rs"),
            ("its proof", "creature/", "crates/patch/src/change.rs crates/patch/src/proof/ src/rehearse.rs"),
            ("a rebirth is asked for", "creature/src/", "life/end.rs guardian_post.rs"),
            ("the commit", ACT, "requests.rs commits.rs"),
            ("the build", ACT, "build.rs controls.rs"),
            ("the build", DECIDE, "messages.rs"),
            ("the start", ACT, "living.rs heartbeat.rs packages.rs tokens.rs"),
            ("tests beside it", ACT, "exam.rs examine.rs"),
            ("a blessing", ACT, "ladder.rs binaries.rs"),
            ("a blessing", DECIDE, "probation.rs"),
            (SHARED, ACT, "around.rs quotas.rs report.rs state.rs walled.rs"),
            (SHARED, DECIDE, "blame.rs vocabulary.rs"),
        ],
    ),
    (
        "A death, to a rung.",
        &[
            ("an exit or silence", ACT, "heartbeat.rs living.rs"),
            ("the end of the tree", ACT, "ends.rs"),
            ("blame", DECIDE, "blame.rs"),
            ("a rest or a fall", DECIDE, "recovery.rs verdict.rs"),
            ("a rung", ACT, "fall.rs ladder.rs binaries.rs"),
            (SHARED, ACT, "around.rs quotas.rs report.rs state.rs walled.rs"),
            (SHARED, DECIDE, "longevity.rs policy.rs vocabulary.rs"),
        ],
    ),
    (
        "A word out, through the broker.",
        &[
            ("it is said", "creature/src/tools/", "service.rs"),
            ("the door", "broker/src/", "door.rs door/ services/routes.rs"),
            ("the canonical form", SERVICES, "call.rs canonical.rs"),
            ("the owner's rules", SERVICES, "carry.rs rules.rs"),
            ("the owner's yes", "broker/src/approvals/", "answers.rs ask.rs asks.rs journal.rs"),
            ("the owner's yes", "broker/src/", "approvals.rs services/approved.rs services/drafts.rs"),
            ("the sending", SERVICES, "sending.rs signed.rs oauth.rs oauth1.rs seal.rs"),
            ("the answer", SERVICES, "upstream.rs"),
            (SHARED, "broker/src/approvals/", "act.rs outcome.rs"),
            (SHARED, "broker/src/", "ground/ ledger.rs ledger/ net.rs net/ policy.rs secrets.rs"),
            (SHARED, SERVICES, "mail.rs recipients.rs"),
        ],
    ),
];

/// The stage of each file, with its place among them, and what the rows name that is no file; the longest name fits.
fn staged<'f>(
    rows: &[Row],
    files: impl Iterator<Item = &'f String> + Clone,
) -> (BTreeMap<&'f str, (usize, &'static str)>, Vec<String>) {
    let (mut named, mut place) = (BTreeMap::new(), 0);
    for (nth, (stage, folder, names)) in rows.iter().enumerate() {
        place += usize::from(nth > 0 && rows[nth - 1].0 != *stage);
        named.extend(names.split(' ').map(|name| (format!("{folder}{name}"), (place, *stage))));
    }
    let fits = |name: &str, file: &str| name == file || name.ends_with('/') && file.starts_with(name);
    let of = |file: &'f String| {
        let fitting = named.iter().filter(|(name, _)| fits(name, file));
        fitting.max_by_key(|(name, _)| name.len()).map(|(_, stage)| (file.as_str(), *stage))
    };
    let is_gone = |name: &&String| !files.clone().any(|file| fits(name, file));
    (files.clone().filter_map(of).collect(), named.keys().filter(is_gone).cloned().collect())
}

/// The uses of a flow that go to a stage before.
fn climbs(rows: &[Row], uses: &Uses) -> Vec<String> {
    let (stages, _) = staged(rows, uses.keys());
    let mut found = Vec::new();
    for (file, (place, stage)) in &stages {
        for to in &uses[*file] {
            if let Some((_, before)) = stages.get(to.as_str()).filter(|(before, _)| before < place) {
                found.push(format!("{file} ({stage}) uses {to} ({before})"));
            }
        }
    }
    found
}

#[test]
fn no_flow_climbs_back_to_a_stage_before() {
    let (uses, is_lived_in) = (imports(), is_lived_in());
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut bad = Vec::new();
    for (flow, rows) in FLOWS {
        if !text.contains(&format!("\n**{flow}** ")) {
            bad.push(format!("ARCHITECTURE.md has no flow **{flow}**, and guardian/tests/tidy/flows.rs has"));
        }
        let gone = staged(rows, uses.keys()).1.into_iter();
        bad.extend(gone.filter(|name| !(is_lived_in && name.starts_with("creature/"))).map(|name| {
            format!("{name} is named in guardian/tests/tidy/flows.rs and is not there: name what does its part of {flow:?} now")
        }));
        bad.extend(climbs(rows, &uses).into_iter().map(|climb| {
            format!("{flow} {climb}, a stage before: move what both need below the stages, or hand it on as a value")
        }));
    }
    none(bad);
}

#[test]
fn a_use_of_a_stage_before_is_found() {
    let rows = [("one", "", "a.rs"), ("two", "", "b/ c.rs"), (SHARED, "", "b/low.rs gone.rs")];
    let uses = [("a.rs", "b/x.rs"), ("b/x.rs", "c.rs"), ("c.rs", "a.rs"), ("b/low.rs", "b/x.rs")];
    let uses: Uses = uses.map(|(file, to)| (file.to_owned(), [to.to_owned()].into())).into();
    let found = ["b/low.rs (what they share) uses b/x.rs (two)", "c.rs (two) uses a.rs (one)"];
    assert_eq!(climbs(&rows, &uses), found);
    assert_eq!(staged(&rows, uses.keys()).1, ["gone.rs"]);
}
