//! Circles of files: what the guardian's files use, by their lines, leads back to few of them.

use crate::none;
use crate::sources::{Source, sources};
use std::collections::{BTreeMap, BTreeSet};

/// Most files of the guardian's that may use one another in a circle.
const MOST: usize = 3;

type Uses = BTreeMap<String, BTreeSet<String>>;

/// A file's module as a path: `act/fall.rs` is `act::fall`, `act/mod.rs` is `act`.
fn module(path: &str) -> String {
    let path = path.trim_start_matches("guardian/src/").trim_end_matches(".rs");
    path.trim_end_matches("/mod").replace('/', "::")
}

/// The paths in a list of `use`, braces resolved: `a::{b, c::{d, e}}` is `a::b`, `a::c::d` and `a::c::e`.
fn resolved(list: &str) -> Vec<String> {
    let Some((head, rest)) = list.split_once('{') else { return vec![list.trim().to_owned()] };
    let (mut depth, mut part, mut found) = (0, String::new(), Vec::new());
    for letter in rest.trim_end().trim_end_matches('}').chars().chain([',']) {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        if letter == ',' && depth == 0 {
            found.extend(resolved(part.trim()).into_iter().map(|path| format!("{}{path}", head.trim())));
            part.clear();
        } else {
            part.push(letter);
        }
    }
    found
}

/// The modules of ours that a file names, by `crate::`.
fn named(text: &str, modules: &BTreeSet<String>) -> BTreeSet<String> {
    let code: String = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .fold(String::new(), |code, line| code + line + "\n");
    let mut paths = Vec::new();
    for part in code.split("crate::").skip(1) {
        let is_use = part.find(';').filter(|end| {
            part[..*end]
                .chars()
                .all(|letter| letter.is_alphanumeric() || letter.is_whitespace() || "_:{},*".contains(letter))
        });
        let end =
            is_use.or_else(|| part.find(|letter: char| !letter.is_alphanumeric() && !"_:".contains(letter)));
        paths.extend(resolved(&part[..end.unwrap_or(part.len())]));
    }
    let longest = |path: String| {
        let parts: Vec<&str> = path.split("::").collect();
        (1..=parts.len()).rev().map(|count| parts[..count].join("::")).find(|of| modules.contains(of))
    };
    paths.into_iter().filter_map(longest).collect()
}

fn uses(sources: &[Source]) -> Uses {
    let modules: BTreeSet<String> = sources.iter().map(|source| module(&source.path)).collect();
    sources.iter().map(|source| (module(&source.path), named(&source.text, &modules))).collect()
}

/// All that a module leads to.
fn reached(from: &str, uses: &Uses) -> BTreeSet<String> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(at) = next.pop() {
        for to in uses.get(&at).into_iter().flatten().filter(|to| **to != at) {
            if reached.insert(to.clone()) {
                next.push(to.clone());
            }
        }
    }
    reached
}

/// The circles of more files than may be, each once.
fn circles(uses: &Uses) -> BTreeSet<BTreeSet<String>> {
    let reach: BTreeMap<&String, BTreeSet<String>> =
        uses.keys().map(|from| (from, reached(from, uses))).collect();
    let circle = |from: &String| -> BTreeSet<String> {
        reach[from].iter().filter(|to| reach[to].contains(from)).cloned().collect()
    };
    uses.keys().map(circle).filter(|circle| circle.len() > MOST).collect()
}

#[test]
fn no_circle_is_of_more_than_three_files_of_the_guardians() {
    let guardians = |source: &Source| source.path.starts_with("guardian/src/") && source.is_rust();
    let sources: Vec<Source> = sources().into_iter().filter(guardians).collect();
    let uses = uses(&sources);
    assert!(uses["run"].contains("act::executor"), "nothing is read: {:?}", uses["run"]);
    let told = |circle: BTreeSet<String>| {
        let names: Vec<String> = circle.into_iter().collect();
        format!(
            "guardian/src:1: {} use one another in a circle; pass on what one needs of the other",
            names.join(", ")
        )
    };
    none(circles(&uses).into_iter().map(told).collect());
}

#[test]
fn circles_are_found() {
    let file = |name: &str, text: &str| Source { path: format!("guardian/src/{name}.rs"), text: text.into() };
    let files = [
        file("a", "use crate::b::{self, B};\n"),
        file("b", "use crate::{\n    c::C,\n    d,\n};\n"),
        file("c", "fn c() { crate::d::D::new(); }\n"),
        file("d", "// use crate::e;\nuse crate::a;\n"),
        file("e", "use crate::a::A;\n"),
    ];
    let names = |names: [&str; 4]| names.map(str::to_owned).into_iter().collect::<BTreeSet<_>>();
    assert_eq!(circles(&uses(&files)), [names(["a", "b", "c", "d"])].into_iter().collect());
    assert!(circles(&uses(&files[..3])).is_empty());
}
