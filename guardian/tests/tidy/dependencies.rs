//! Who may depend on whom: crates by their manifests, folders by what stands in their lines.

use crate::manners::lines_with;
use crate::none;
use crate::sources::{Source, dependencies, plain, root, sources};
use std::path::Path;

/// Our crates, and which of ours each may stand on: only downward. Tests may use `trials`, which nothing that runs does.
const CRATES: [(&str, &str); 28] = [
    ("workspace-hack", ""),
    ("async-hack", ""),
    // Of either workspace, and neither knows the other's.
    ("ground", "workspace-hack"),
    ("house", "ground"),
    ("redact", "house"),
    ("walls", "ground"),
    ("processes", "ground walls"),
    ("heart", "ground"),
    ("stand-in", "ground walls processes heart"),
    ("broker", "house redact processes walls async-hack"),
    ("channels", "house redact processes console async-hack"),
    ("repo", "house"),
    ("console", "house redact processes repo async-hack"),
    ("phone-page", "house console async-hack"),
    ("guardian", "house walls processes repo heart stand-in"),
    ("trials", "house walls processes repo"),
    // Of the workspace `hands/`: another agent may use it as it is.
    ("mail", ""),
    ("wallet", ""),
    ("agenda", ""),
    ("memory", "ground"),
    ("knowledge", "ground"),
    ("hands", ""),
    ("model", ""),
    ("patch", "ground memory"),
    ("week", "agenda creature hands memory"),
    ("mind", "ground agenda memory model"),
    ("instinct", "ground agenda memory mind"),
    ("creature", "ground agenda memory knowledge hands model patch mind instinct"),
];

/// All that the guardian may stand on, by itself or by `house` and `walls`: no async, no network, no model.
const GUARDIAN_NEEDS: &str = "anyhow fs2 git2 jiff libc libgit2-sys nix serde serde_json sha2 signal-hook \
    strsim toml tracing tracing-subscriber unicode-width landlock seccompiler";
/// Packages that `workspace-hack` names for their features alone: the guardian needs each of them by another one.
const FEATURES: &str = "bitflags cc indexmap memchr proc-macro2 quote serde_core serde_spanned syn-2 syn-3 toml_datetime \
    toml_parser toml_writer typenum winnow";
/// Of ours `trials` alone: what is tried with the console is among the console's tests.
const GUARDIAN_TESTS_NEED: &str = "foldhash git2 libc nix sha2 tempfile tiny_http trials";
const GUARDIAN_AND_BELOW: [&str; 9] = [
    "ground/Cargo.toml",
    "guardian/Cargo.toml",
    "heart/Cargo.toml",
    "heart/stand-in/Cargo.toml",
    "house/Cargo.toml",
    "processes/Cargo.toml",
    "repo/Cargo.toml",
    "walls/Cargo.toml",
    "workspace-hack/Cargo.toml",
];

/// Folders of the workspaces beside the stable one.
const OTHERS: [&str; 2] = ["creature", "hands"];

/// Stands in for the providers of models, knows nothing of the creature, and so serves the tests of the whole too.
const FAITHFUL: &str = "creature/tests/faithful/mod.rs";

/// Text of the creature's must not come to a terminal as it is: all that these print passes one door.
const PRINTING: [&str; 9] = [
    "ground/src/",
    "guardian/src/",
    "heart/",
    "house/src/",
    "processes/src/",
    "repo/src/",
    "walls/src/",
    "console/src/",
    "console/phone-page/src/",
];

/// What must not stand in the source of whom, and what to do instead.
type Rule = (fn(&str) -> bool, &'static [&'static str], &'static str);

const RULES: [Rule; 6] = [
    (
        |path| path.starts_with("guardian/src/"),
        &["async fn", "async move", ".await", "tokio", "TcpStream", "UdpSocket", "reqwest"],
        "the guardian has no async and calls nobody; let the broker or the console do it",
    ),
    (
        |path| path.starts_with("guardian/src/decide/"),
        &[
            "crate::act",
            "processes::",
            "crate::run",
            "crate::start",
            "console",
            "house::files",
            "house::terminal",
            "house::repair",
            "house::openat",
            "ground::",
            "std::fs",
            "std::process",
            "std::thread",
            "std::env",
            "std::net",
            "repo::",
            "git2",
            "nix::",
            "Instant",
            "SystemTime",
            "println!",
            "tracing::",
        ],
        "what decides neither acts, prints nor looks at a clock; be told it, and say what is to be done",
    ),
    (
        |path| path.starts_with("heart/"),
        &["git2", "toml::", "thread::spawn", "thread::Builder", "jiff", "Timestamp", "wall_ms", "TcpStream"],
        "the heart knows no git, settings, network, thread or wall clock; let the steward do it",
    ),
    (
        |path| {
            PRINTING.iter().any(|of| path.starts_with(of))
                && !["house/src/terminal.rs", "ground/src/terminal.rs", "ground/src/outlet.rs"]
                    .contains(&path)
        },
        &["println!", "print!(", "eprint!(", "dbg!(", "::stdout(", "::stderr", "/dev/tty"],
        "print it by `terminal`, which takes out what steers one",
    ),
    (
        |path| {
            ["ground/src/", "house/src/", "walls/src/", "processes/src/", "repo/src/"]
                .iter()
                .any(|of| path.starts_with(of))
        },
        &["tokio", "TcpStream", "reqwest", "async fn"],
        "the guardian stands on it: no async, no network",
    ),
    (
        |path| path.starts_with("creature/crates/agenda/src/"),
        &[
            "std::fs",
            "std::process",
            "std::net",
            "std::env",
            "Timestamp::now",
            "Zoned::now",
            "SystemTime::now",
        ],
        "the agenda is pure: time is told, nothing is read or written",
    ),
];

#[test]
fn folders_keep_to_what_is_theirs() {
    let mut bad = Vec::new();
    for (of, marks, what_to_do) in RULES {
        bad.extend(lines_with(|source| source.is_production() && of(&source.path), marks, what_to_do));
    }
    none(bad);
}

#[test]
fn what_says_that_it_is_pure_acts_on_nothing() {
    let says_so = |source: &Source| {
        let first = source.text.lines().next().unwrap_or_default();
        source.is_production() && (first.ends_with("Pure.") || first.ends_with("; pure."))
    };
    assert!(sources().iter().filter(|source| says_so(source)).count() > 20, "nothing says that it is pure");
    let marks = [
        "std::fs",
        "std::process",
        "std::net",
        "std::env",
        "tokio::",
        "reqwest",
        "Instant::now",
        "SystemTime::now",
        "Timestamp::now",
        "Zoned::now",
    ];
    none(lines_with(says_so, &marks, "its first line says that it is pure; act elsewhere, or do not say so"));
}

#[test]
fn crates_depend_only_downward() {
    let mut bad = Vec::new();
    let ours: Vec<&str> = CRATES.iter().map(|(name, _)| *name).collect();
    for source in sources().iter().filter(|source| source.path.ends_with("/Cargo.toml")) {
        let name = Path::new(&source.path).parent().unwrap().file_name().unwrap().to_str().unwrap();
        let Some((_, below)) = CRATES.iter().find(|(known, _)| *known == name) else {
            bad.push(format!(
                "{}:1: {name} is not in `CRATES`; say what of ours it may stand on",
                source.path
            ));
            continue;
        };
        for (other, table) in dependencies(source) {
            let allowed = below.split_whitespace().any(|allowed| allowed == other);
            let tested = table == "dev-dependencies" && other == "trials";
            if ours.contains(&other.as_str()) && !allowed && !tested {
                let may = if below.is_empty() { "none of ours" } else { below };
                bad.push(format!("{}:1: {name} depends on {other}; it may stand on {may}", source.path));
            }
        }
    }
    none(bad);
}

#[test]
fn no_workspace_reaches_into_the_other() {
    let mut bad = Vec::new();
    for source in sources() {
        let folder = Path::new(&source.path).parent().unwrap().to_owned();
        let workspace = |path: &Path| OTHERS.into_iter().find(|other| path.starts_with(other));
        let ours = workspace(Path::new(&source.path));
        let names: &[&str] = if source.path.ends_with("Cargo.toml") {
            &["path"]
        } else if source.is_rust() {
            &["#[path", "include!(", "include_str!(", "include_bytes!("]
        } else {
            continue;
        };
        for (line, text) in source.lines() {
            let Some(at) = names.iter().find_map(|name| Some(text.find(name)? + name.len())) else {
                continue;
            };
            let Some(target) = text[at..].split('"').nth(1) else { continue };
            let target = plain(&folder.join(target));
            let in_a_test = !source.is_production() && source.is_rust();
            if target == Path::new(FAITHFUL) && in_a_test && ours.is_none() {
                continue;
            }
            if target.starts_with("..") || workspace(&target) != ours {
                bad.push(format!(
                    "{}:{line}: {} is another workspace's; share a file format, not a path",
                    source.path,
                    target.display()
                ));
            }
        }
    }
    none(bad);
}

#[test]
fn the_guardian_stands_on_little() {
    let mut bad = Vec::new();
    let ours: Vec<&str> = CRATES.iter().map(|(name, _)| *name).collect();
    let manifests = sources().into_iter().filter(|source| GUARDIAN_AND_BELOW.contains(&source.path.as_str()));
    for source in manifests {
        for (name, table) in dependencies(&source) {
            let tests = table == "dev-dependencies";
            let allowed = if tests { GUARDIAN_TESTS_NEED } else { GUARDIAN_NEEDS };
            let known = allowed.split_whitespace().any(|allowed| allowed == name);
            let features =
                source.path.starts_with("workspace-hack/") && FEATURES.split(' ').any(|known| known == name);
            let of_ours = !tests && ours.contains(&name.as_str());
            if of_ours || features || (known && table != "build-dependencies") {
                continue;
            }
            let line = source.lines().find(|(_, text)| text.starts_with(&name)).map_or(1, |(line, _)| line);
            bad.push(format!("{}:{line}: `{name}` under {table} is not on the list; do without it, or add it to the list in tidy/dependencies.rs with the reason in docs/decisions.md", source.path));
        }
    }
    none(bad);
}

/// Found missing: lists of the house's parts, which a new crate must stand in to be guarded, built anew or called stale.
#[test]
fn every_crate_of_the_house_is_in_each_list_of_its_parts() {
    const LISTS: [&str; 4] =
        ["creature/src/tools/files.rs", "house/src/risky.rs", "trials/houses/programs.rs", "scripts/demo"];
    let read = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let manifest = read("Cargo.toml");
    let members =
        manifest.split("members = [").nth(1).and_then(|rest| rest.split(']').next()).unwrap().split('"');
    let parts: Vec<&str> = members.skip(1).step_by(2).filter(|part| *part != "trials").collect();
    assert!(parts.len() > 6, "{parts:?}");
    let words = |text: &str| -> Vec<String> {
        let ends = |c: char| c.is_whitespace() || "\"\\,".contains(c);
        text.split(ends).map(|word| word.trim_end_matches("/src").to_owned()).collect()
    };
    none(
        LISTS
            .into_iter()
            .flat_map(|list| {
                let listed = words(&read(list));
                let is_listed = move |part: &str| {
                    listed.iter().any(|word| word == part || part.split('/').next() == Some(word))
                };
                parts
                    .clone()
                    .into_iter()
                    .filter(move |part| !is_listed(part))
                    .map(move |part| format!("{list}: no {part}"))
            })
            .collect(),
    );
}
