//! `docs/map.md`: every folder and file with its first line, made from the tree; stale is a complaint.

use crate::RENEW;
use crate::sources::{Source, is_lived_in, root, sources};
use std::collections::BTreeMap;
use std::fs;

const MAP: &str = "docs/map.md";

/// What one file is for, in its own words.
fn first_line(source: &Source) -> Option<String> {
    let mut lines = source.text.lines().skip_while(|line| line.starts_with("#!")).peekable();
    if let Some(said) = lines.peek()?.strip_prefix("//! ") {
        return Some(said.to_owned());
    }
    if source.path.ends_with(".md") {
        return Some(lines.next()?.strip_prefix("# ")?.to_owned());
    }
    // Comments of manifests and scripts are wrapped: the first sentence of the first of them.
    let comment: Vec<&str> = lines.map_while(|line| line.strip_prefix("# ")).collect();
    let comment = comment.join(" ");
    let sentence = comment.split_once(". ").map_or(comment.as_str(), |(sentence, _)| sentence);
    (!sentence.is_empty()).then(|| format!("{}.", sentence.trim_end_matches('.')))
}

/// What a folder is for: the first line of the file that stands for it.
fn speaks_for(name: &str) -> bool {
    matches!(name, "lib.rs" | "mod.rs" | "main.rs")
}

fn made() -> String {
    let sources = sources();
    let mut folders: BTreeMap<&str, Vec<(&str, &Source)>> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.path != MAP) {
        let (folder, name) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
        folders.entry(folder).or_default().push((name, source));
    }
    let mut map = format!(
        "# Map\n\nEvery folder and file with its first line. Made from the tree, not written: `{RENEW}`\n\
         makes it anew, and the test `tidy` says when it is stale. Where to change what stands in\n\
         [ARCHITECTURE.md](../ARCHITECTURE.md#where-to-change-what).\n"
    );
    for (folder, files) in folders {
        let heading = if folder.is_empty() { "The root".to_owned() } else { format!("{folder}/") };
        map.push_str(&format!("\n## {heading}\n\n"));
        let (spoken, mut silent) =
            (files.iter().filter(|(_, source)| first_line(source).is_some()), Vec::new());
        let mut spoken: Vec<_> = spoken.collect();
        spoken.sort_by_key(|(name, _)| (!speaks_for(name), *name));
        for (name, source) in spoken {
            map.push_str(&format!("- `{name}` {}\n", first_line(source).unwrap_or_default()));
        }
        for (name, _) in files.iter().filter(|(_, source)| first_line(source).is_none()) {
            silent.push(format!("`{name}`"));
        }
        if !silent.is_empty() {
            map.push_str(&format!("- {}\n", silent.join(", ")));
        }
    }
    map
}

/// A map without the creature's folders.
fn stable(map: &str) -> String {
    let parts = map.split_inclusive("\n\n## ");
    let mut kept = String::new();
    let mut is_creatures = false;
    for part in parts {
        is_creatures = part.starts_with("creature/");
        if !is_creatures {
            kept.push_str(part);
        }
    }
    if is_creatures { kept.trim_end_matches("\n\n## ").to_owned() } else { kept }
}

#[test]
fn the_creatures_folders_can_be_left_out() {
    let map =
        "# Map\n\n## broker/\n\n- a\n\n## creature/\n\n- b\n\n## creature/src/\n\n- c\n\n## docs/\n\n- d\n";
    assert_eq!(stable(map), "# Map\n\n## broker/\n\n- a\n\n## docs/\n\n- d\n");
}

#[test]
fn the_map_is_the_tree() {
    let mut made = made();
    let mut kept = fs::read_to_string(root().join(MAP)).unwrap_or_default();
    if is_lived_in() {
        (made, kept) = (stable(&made), stable(&kept));
    }
    if let Some((line, (is, ought))) = kept
        .lines()
        .chain([""])
        .zip(made.lines().chain([""]))
        .enumerate()
        .find(|(_, (is, ought))| is != ought)
    {
        panic!("{MAP}:{}: is stale: {is:?} ought to be {ought:?}; renew it: {RENEW}", line + 1);
    }
    assert_eq!(kept, made, "{MAP} is stale; renew it: {RENEW}");
}

/// Not a test: writes the map.
#[test]
#[ignore = "writes docs/map.md"]
fn renew() {
    fs::write(root().join(MAP), made()).unwrap();
}
