//! Packages of the creature's workspace: which of them a change can have touched, as their manifests say.

use ground::files;
use std::collections::BTreeSet;
use std::path::Path;

/// Bytes of a manifest that is read.
const MOST_MANIFEST: u64 = 1 << 20;

/// A package: its folder from the repository root, with a `/` at its end, and the packages it depends on.
struct Member {
    name: String,
    folder: String,
    stands_on: BTreeSet<String>,
}

/// Packages whose files are among these paths, and those that depend on them, the creature's own first. All
/// packages where a manifest or the lock is among the paths. `root` holds `creature/`.
pub fn touched(root: &Path, paths: &[String]) -> Vec<String> {
    let members = members(root);
    let of = |path: &String| members.iter().rfind(|member| path.starts_with(&member.folder));
    let every = paths.iter().any(|path| crate::packages::is_manifest(path));
    let mut names: BTreeSet<&str> = match every {
        true => members.iter().map(|member| member.name.as_str()).collect(),
        false => paths.iter().filter_map(of).map(|member| member.name.as_str()).collect(),
    };
    loop {
        let stands = |member: &&Member| member.stands_on.iter().any(|name| names.contains(name.as_str()));
        let more: BTreeSet<&str> = members.iter().filter(stands).map(|member| member.name.as_str()).collect();
        if more.is_subset(&names) {
            break;
        }
        names.extend(more);
    }
    members.iter().map(|member| &member.name).filter(|name| names.contains(name.as_str())).cloned().collect()
}

/// The names of all packages.
pub fn names(root: &Path) -> Vec<String> {
    members(root).into_iter().map(|member| member.name).collect()
}

/// All packages, the creature's own first.
fn members(root: &Path) -> Vec<Member> {
    let crates = files::entries(&root.join("creature/crates"));
    let mut folders: Vec<String> =
        crates.map(|entry| format!("creature/crates/{}/", entry.file_name().to_string_lossy())).collect();
    folders.sort();
    folders.insert(0, "creature/".to_owned());
    folders.into_iter().filter_map(|folder| member(root, folder)).collect()
}

fn member(root: &Path, folder: String) -> Option<Member> {
    let text = files::text(&root.join(&folder).join("Cargo.toml"), MOST_MANIFEST).ok()?;
    let manifest: toml::Table = text.parse().ok()?;
    let name = manifest.get("package")?.get("name")?.as_str()?.to_owned();
    let tables = ["dependencies", "dev-dependencies", "build-dependencies"];
    let named = tables.iter().filter_map(|table| manifest.get(*table)?.as_table());
    let stands_on = named.flat_map(|table| table.keys().cloned()).collect();
    Some(Member { name, folder, stands_on })
}
