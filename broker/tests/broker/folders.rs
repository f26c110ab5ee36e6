//! Who may stand on whom: each folder of the broker's source, and the folders its lines may name; none of them in a circle.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// From the ground up: each stands only on folders of earlier rows. What assembles them all is named by none.
const FOLDERS: [(&str, &str); 18] = [
    ("ground", ""),
    ("makers", ""),
    ("policy", "ground makers"),
    ("secrets", ""),
    ("net", "ground"),
    ("ledger", "ground policy"),
    ("health", "ground ledger"),
    ("money", "ground makers policy ledger health"),
    ("door", "ground ledger"),
    ("handles", "ground secrets net ledger money door"),
    ("web", "ground policy net ledger door handles"),
    ("cargo", "ground net ledger door handles"),
    ("channels", "ground policy net ledger door handles"),
    ("forward", "ground policy net ledger handles web"),
    ("llm", "ground makers policy secrets net health ledger money door handles"),
    ("approvals", "ground policy ledger door handles"),
    ("services", "ground policy secrets net ledger money door handles approvals forward"),
    ("packages", "ground policy net ledger door approvals"),
];
const ASSEMBLES: &str = "broker";

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            files(&entry, found);
        } else if entry.extension().is_some_and(|end| end == "rs") {
            found.push(entry);
        }
    }
}

/// The folders that a text names, once each.
fn named(text: &str) -> Vec<&str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut found: Vec<&str> = code
        .flat_map(|line| line.split("crate::").skip(1))
        .map(|rest| rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap())
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[test]
fn folders_stand_only_on_those_below_them() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut all, mut seen) = (Vec::new(), BTreeMap::new());
    files(&source, &mut all);
    for file in &all {
        let path = file.strip_prefix(&source).unwrap();
        let folder = path.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs");
        if [ASSEMBLES, "lib", "main"].contains(&folder) {
            continue;
        }
        let row = FOLDERS.iter().find(|(name, _)| *name == folder);
        let (_, may) = row.unwrap_or_else(|| panic!("{folder} is not in `FOLDERS`"));
        let text = std::fs::read_to_string(file).unwrap();
        for other in named(&text).into_iter().filter(|other| *other != folder) {
            assert!(
                may.split(' ').any(|may| may == other),
                "{}: {folder} may not name {other}",
                path.display()
            );
            seen.entry(folder.to_owned()).or_insert_with(Vec::new).push(other.to_owned());
        }
    }
    for (index, (folder, may)) in FOLDERS.iter().enumerate() {
        for other in may.split(' ').filter(|other| !other.is_empty()) {
            let below = FOLDERS.iter().take(index).any(|(name, _)| *name == other);
            assert!(below, "{folder} stands on {other}, which is not below it");
            let used = seen.get(*folder).is_some_and(|seen| seen.iter().any(|seen| seen == other));
            assert!(used, "{folder} does not need {other} any more");
        }
    }
}
