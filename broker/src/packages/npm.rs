//! npm's registry, pure: what it tells of a package, with every archive behind this door in place of its own address.
//!
//! Source: "Package metadata" in the documentation of the npm registry (github.com/npm/registry, docs/responses), its
//! abbreviated form included; of names, `package.json` in npm's documentation.

use super::{Files, Found};
use serde_json::Value;

/// `accept` header as npm sends it: the short metadata, where the registry has it.
pub const ACCEPT: &str = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*";
/// Longest name of a package.
const LONGEST_NAME: usize = 214;

/// Whether this is a package's name, its scope included.
pub fn is_name(name: &str) -> bool {
    let part = |part: &str| {
        let letters = part.chars().all(|c| c.is_ascii_alphanumeric() || "-._~".contains(c));
        letters && !part.is_empty() && !part.starts_with('.')
    };
    let whole = match name.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').is_some_and(|(scope, name)| part(scope) && part(name)),
        None => part(name),
    };
    whole && name.len() <= LONGEST_NAME
}

/// A name as one segment of a path.
pub fn segment(name: &str) -> String {
    name.replace('/', "%2f")
}

/// Whether this is a name of an archive.
pub fn is_archive(file: &str) -> bool {
    let letters = file.chars().all(|c| c.is_ascii_alphanumeric() || "-._~+".contains(c));
    file.ends_with(".tgz") && letters && !file.starts_with('.')
}

/// The archives of all versions, and the document with their addresses below `here`; none where it is no such document.
pub fn document(bytes: &[u8], name: &str, here: &str) -> Option<(Vec<u8>, Files)> {
    let mut document: Value = serde_json::from_slice(bytes).ok()?;
    let mut files = Files::new();
    for (version, about) in document.get_mut("versions")?.as_object_mut()? {
        let Some(tarball) = about.pointer_mut("/dist/tarball") else { continue };
        let Some(url) = tarball.as_str().map(str::to_owned) else { continue };
        let file = url.split(['?', '#']).next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
        if !is_archive(file) {
            continue;
        }
        *tarball = format!("{here}/{name}/-/{file}").into();
        files.insert(file.to_owned(), Found { url, version: version.clone() });
    }
    Some((serde_json::to_vec(&document).ok()?, files))
}
