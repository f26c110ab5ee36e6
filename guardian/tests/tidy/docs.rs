//! The docs against the tree: links, anchors, paths, commands, files of state, golden files and words to instinct.

use crate::none;
use crate::owners_pages::commands;
use crate::sources::{Source, root, sources, written_down};
use std::collections::BTreeSet;
use std::path::Path;

/// Lines of a page at most, by the end of its path.
const LONGEST: [(&str, usize); 3] = [("README.md", 120), ("ARCHITECTURE.md", 200), ("AGENTS.md", 40)];

/// Where every file of the state has its row, its writer and its form.
const FORMATS: &str = "docs/formats.md";
/// Where the words stand that work without a model.
const TALK: &str = "docs/talk.md";
const GOLDEN: &str = "guardian/tests/golden/";

/// Pages of ours, not those of a fixture or of the creature's own making.
fn is_page(source: &Source) -> bool {
    source.path.ends_with(".md") && !source.path.contains("/tests/") && !source.path.contains("/prompts/")
}

/// The one file that has this end, wherever it lies.
fn ending<'a>(sources: &'a [Source], end: &str) -> &'a Source {
    let mut found = sources.iter().filter(|source| source.path.ends_with(end));
    let one = found.next().unwrap_or_else(|| panic!("there is no {end}"));
    assert!(found.next().is_none(), "there are two of {end}");
    one
}

/// The text of the page at a path.
fn page<'a>(sources: &'a [Source], path: &str) -> &'a str {
    &sources.iter().find(|source| source.path == path).unwrap_or_else(|| panic!("there is no {path}")).text
}

/// Lines outside of fenced blocks.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((index + 1, line))
    })
}

/// A heading as the end of an address.
fn anchor(heading: &str) -> String {
    let letters = heading.trim().chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    letters.map(|letter| if letter == ' ' { '-' } else { letter.to_ascii_lowercase() }).collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|(_, line)| line.starts_with('#'));
    headings.map(|(_, line)| anchor(line.trim_start_matches('#'))).collect()
}

#[test]
fn pages_stay_short() {
    let mut bad = Vec::new();
    for source in sources().iter().filter(|source| !source.path.starts_with("docs/")) {
        let name = source.path.rsplit('/').next().unwrap_or_default();
        let Some((_, most)) = LONGEST.iter().find(|(page, _)| *page == name) else { continue };
        let (lines, short) = (source.text.lines().count(), *most);
        let of_tests = source.path.contains("/tests/") || (name == "README.md" && source.path != name);
        if lines > short && !of_tests {
            bad.push(format!(
                "{}:{}: at most {short} lines; move what is told in length to docs/",
                source.path,
                short + 1
            ));
        }
    }
    none(bad);
}

#[test]
fn every_link_leads_somewhere() {
    let (root, sources) = (root(), sources());
    let mut bad = Vec::new();
    for source in sources.iter().filter(|source| source.path.ends_with(".md")) {
        let folder = Path::new(&source.path).parent().unwrap();
        for (line, text) in prose(&source.text) {
            for after in text.split("](").skip(1) {
                let target = after.split([')', ' ']).next().unwrap_or_default();
                if target.contains("://") || target.starts_with("mailto:") {
                    continue;
                }
                let (file, heading) = target.split_once('#').unwrap_or((target, ""));
                let path = crate::sources::plain(&folder.join(file));
                let path = if file.is_empty() { source.path.clone() } else { path.display().to_string() };
                if !root.join(&path).exists() {
                    bad.push(format!("{}:{line}: {target} does not exist; mend the link", source.path));
                } else if !heading.is_empty() {
                    let page = sources.iter().find(|page| page.path == path);
                    if !page.is_some_and(|page| anchors(&page.text).contains(heading)) {
                        bad.push(format!(
                            "{}:{line}: {path} has no heading #{heading}; mend the link",
                            source.path
                        ));
                    }
                }
            }
        }
    }
    none(bad);
}

#[test]
fn anchors_are_those_of_headings() {
    let text =
        "# The tests beside a newborn\n```\n# not this\n```\n## guardian.json\n### `[model.quick]`, `x`\n";
    let expected = ["the-tests-beside-a-newborn", "guardianjson", "modelquick-x"];
    assert_eq!(anchors(text), expected.map(str::to_owned).into());
}

/// What stands in backticks and begins with a folder of ours is a path, from the root or from where the page is.
#[test]
fn every_path_that_is_named_exists() {
    const OURS: &str =
        "guardian heart processes repo broker house walls console trials creature scripts docs";
    const WITHIN: &str = "src crates prompts tests";
    let (root, mut bad) = (root(), Vec::new());
    for source in sources().iter().filter(|source| is_page(source) && source.path != "docs/map.md") {
        let here = root.join(&source.path).parent().unwrap().to_owned();
        for (line, text) in prose(&source.text) {
            for named in text.split('`').skip(1).step_by(2) {
                let path = named.split(' ').next().unwrap_or_default();
                let plain = path.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
                let first = path.split('/').next().unwrap_or_default();
                let deep = path.trim_end_matches('/').contains('/');
                let ours = path.contains('/') && OURS.split(' ').any(|folder| folder == first)
                    || deep && WITHIN.split(' ').any(|folder| folder == first);
                if ours && plain && !root.join(path).exists() && !here.join(path).exists() {
                    bad.push(format!("{}:{line}: there is no {path}; say where it is now", source.path));
                }
            }
        }
    }
    none(bad);
}

/// Found when a bench edited a file that had moved: benches and long proofs are run too seldom to say so themselves.
#[test]
fn every_file_of_the_creature_that_the_laboratory_edits_exists() {
    const IN: [&str; 3] = ["trials/bench/", "trials/mutants/", "trials/e2e/"];
    const OF: [&str; 3] = ["creature/src/", "creature/crates/", "creature/tests/"];
    let (root, mut bad, mut found) = (root(), Vec::new(), 0);
    for source in sources().iter().filter(|source| IN.iter().any(|folder| source.path.starts_with(folder))) {
        for (line, text) in source.lines() {
            let quoted = text.split('"').skip(1).step_by(2);
            let ours =
                |path: &&str| OF.iter().any(|folder| path.starts_with(folder)) && path.ends_with(".rs");
            for path in quoted.filter(ours) {
                found += 1;
                if !root.join(path).exists() {
                    bad.push(format!("{}:{line}: there is no {path}; say where it is now", source.path));
                }
            }
        }
    }
    assert!(found > 5, "{found}");
    none(bad);
}

#[test]
fn every_command_that_is_named_exists() {
    let sources = sources();
    let known = commands(&sources);
    assert!(known.contains_key("status") && known.len() > 8, "{known:?}");
    let mut bad = Vec::new();
    for source in sources.iter().filter(|source| is_page(source)) {
        for (line, text) in source.lines() {
            for after in text.split("-p guardian -- ").skip(1) {
                let command = after.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
                if !command.is_empty() && !known.contains_key(command) {
                    bad.push(format!("{}:{line}: the guardian has no command {command}", source.path));
                }
            }
        }
    }
    none(bad);
}

#[test]
fn every_path_of_the_state_is_written_down() {
    let sources = sources();
    let written = written_down(page(&sources, FORMATS));
    assert!(written.len() > 40, "{FORMATS} has only {} paths", written.len());
    let mut bad = Vec::new();
    for source in sources.iter().filter(|source| source.is_production()) {
        for (line, text) in source.lines() {
            for (at, _) in text.match_indices(".self/") {
                let letters =
                    text[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || "._-/".contains(*c));
                let path: String = letters.collect();
                let path = path.trim_end_matches(['.', '/', '-']);
                let stands = |written: &String| {
                    let rest = written.strip_prefix(path);
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '<', '-']))
                };
                if !written.iter().any(stands) {
                    let what_to_do = format!("does not stand in {FORMATS}; add its row, writer and form");
                    bad.push(format!("{}:{line}: {path} {what_to_do}", source.path));
                }
            }
        }
    }
    none(bad);
}

#[test]
fn every_golden_file_is_written_down() {
    let sources = sources();
    let formats = page(&sources, FORMATS);
    let names: Vec<&str> = sources.iter().filter_map(|source| source.path.strip_prefix(GOLDEN)).collect();
    assert!(names.len() > 5, "{names:?}");
    let missing = names.iter().filter(|name| !formats.contains(&format!("`{name}`")));
    none(missing.map(|name| format!("{FORMATS}:1: {GOLDEN}{name} does not stand in it")).collect());
}

/// What the table of abilities shows in the help.
fn shown(table: &str) -> BTreeSet<String> {
    let table: toml::Table = table.parse().expect("the table is TOML");
    let abilities = table["ability"].as_array().expect("a list").iter();
    abilities.filter_map(|ability| ability.get("shown")?.as_str().map(str::to_owned)).collect()
}

/// What stands in the first column of the table of words.
fn told(page: &str) -> BTreeSet<String> {
    let section = page.split_once("| without a model you may say |").expect("the page has the table").1;
    let rows = section.lines().skip(2).take_while(|line| line.starts_with('|'));
    let first = rows.filter_map(|row| row.split('|').nth(1).map(str::to_owned));
    first.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn the_words_that_work_without_a_model_are_written_down() {
    let sources = sources();
    let table = ending(&sources, "/abilities.toml");
    let (shown, told) = (shown(&table.text), told(page(&sources, TALK)));
    assert!(shown.len() > 20, "{shown:?}");
    let missing: Vec<_> = shown.difference(&told).collect();
    let gone: Vec<_> = told.difference(&shown).collect();
    assert!(missing.is_empty(), "in {}, not in the table of {TALK}: {missing:?}", table.path);
    assert!(gone.is_empty(), "in the table of {TALK}, not in {}: {gone:?}", table.path);
}

#[test]
fn the_readme_says_how_to_run_it_and_contributing_how_to_test_it() {
    let sources = sources();
    let manifest: toml::Table = page(&sources, "Cargo.toml").parse().unwrap();
    let of_all = |name: &str| manifest["workspace"]["package"][name].as_str().unwrap().to_owned();
    let said = [
        ("README.md", of_all("rust-version")),
        ("README.md", of_all("version")),
        ("README.md", "git clone ".to_owned()),
        ("README.md", "cargo run -p guardian ".to_owned()),
        ("README.md", "(docs/pictures/window.svg)".to_owned()),
        ("CONTRIBUTING.md", "scripts/check ".to_owned()),
        ("CHANGELOG.md", format!("## {}", of_all("version"))),
    ];
    for (path, needed) in said {
        assert!(page(&sources, path).contains(&needed), "{path} does not say `{needed}`");
    }
}

/// It runs them in rows that it names, so that a new one could be left out of all of them.
#[test]
fn every_test_of_the_stable_workspace_is_named_in_the_check() {
    let sources = sources();
    let check = page(&sources, "scripts/check");
    let is_stable = |path: &str| !path.starts_with("creature/") && !path.starts_with("hands/");
    let named = |path: &str| {
        let (_, file) = path.rsplit_once("/tests/")?;
        let name = file.strip_suffix("/main.rs").or_else(|| file.strip_suffix(".rs"))?;
        (!name.contains('/')).then(|| name.to_owned())
    };
    let mut names: BTreeSet<String> = sources
        .iter()
        .filter(|source| is_stable(&source.path))
        .filter_map(|source| named(&source.path))
        .collect();
    for source in
        sources.iter().filter(|source| is_stable(&source.path) && source.path.ends_with("Cargo.toml"))
    {
        let manifest: toml::Table = source.text.parse().unwrap();
        let tests = manifest.get("test").and_then(toml::Value::as_array).into_iter().flatten();
        // Those that cargo leaves out of a plain `cargo test`, too, take minutes.
        let tests = tests.filter(|test| test.get("test").and_then(toml::Value::as_bool) != Some(false));
        names.extend(tests.map(|test| test["name"].as_str().unwrap().to_owned()));
    }
    assert!(names.contains("guardian") && names.contains("walled"), "{names:?}");
    let words: BTreeSet<&str> =
        check.split(|letter: char| letter.is_whitespace() || ")(".contains(letter)).collect();
    none(
        names
            .iter()
            .filter(|name| !words.contains(name.as_str()))
            .map(|name| format!("scripts/check: --test {name}"))
            .collect(),
    );
}

/// The answers of docs/heart.md name a file and what to look for in it.
#[test]
fn answers_about_the_heart_are_where_they_say() {
    let sources = sources();
    let text = |path: &str| sources.iter().find(|source| source.path == path).map(|source| &source.text);
    let page = text("docs/heart.md").expect("the page of the heart");
    let answers: Vec<&str> = page.lines().filter(|line| line.contains("?**")).collect();
    assert_eq!(answers.len(), 20);
    none(
        answers
            .into_iter()
            .filter_map(|line| {
                let mut named = line.rsplit('`').skip(1).step_by(2);
                let (item, path) = (named.next()?, named.next()?);
                let found = text(path).is_some_and(|text| text.contains(item));
                (!found).then(|| format!("docs/heart.md: no `{item}` in {path}"))
            })
            .collect(),
    );
}
