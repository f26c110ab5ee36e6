//! Packages: what manifests and lock files name that they did not name before. Pure.
//!
//! Invariant: a package, version or source that the last lock does not hold is new, wherever cargo would get it.

use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

/// Tables in which a manifest names packages.
const TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Texts of manifests and lock files by path, as they stand or are to stand.
pub type Manifests = BTreeMap<String, String>;

/// Whether this is a manifest or a lock file, which cargo reads for what it fetches.
pub fn is_manifest(path: &str) -> bool {
    path.ends_with("/Cargo.toml") || path.ends_with("/Cargo.lock")
}

/// Packages that `after` names and `before` does not, each as name, version and source, as far as they are named.
pub fn added(before: &Manifests, after: &Manifests) -> Vec<String> {
    let (locked, wanted) = (named(before, "Cargo.lock", locked), named(before, "Cargo.toml", wanted));
    let versions: BTreeSet<(&str, &str)> = locked.iter().filter_map(|one| one.split_once(' ')).collect();
    let held = |want: &str| {
        let (name, wish) = want.split_once(' ').unwrap_or((want, ""));
        versions.iter().any(|(known, rest)| {
            let (version, source) = rest.split_once(' ').unwrap_or((rest, ""));
            *known == name && source.contains("crates.io") && fits(wish, version)
        })
    };
    let new_locked = named(after, "Cargo.lock", self::locked).into_iter().filter(|one| !locked.contains(one));
    let new_wanted = named(after, "Cargo.toml", self::wanted)
        .into_iter()
        .filter(|one| !wanted.contains(one) && !held(one));
    let mut all: Vec<String> = new_wanted.collect();
    all.extend(new_locked);
    all
}

fn named(manifests: &Manifests, file: &str, of: fn(&Table) -> Vec<String>) -> BTreeSet<String> {
    let read = manifests.iter().filter(|(path, _)| path.ends_with(file));
    // A manifest that cannot be parsed names nothing; cargo refuses it.
    read.filter_map(|(_, text)| text.parse::<Table>().ok()).flat_map(|table| of(&table)).collect()
}

/// Packages of a lock file that come from elsewhere: name, version, source.
fn locked(lock: &Table) -> Vec<String> {
    let packages = lock.get("package").and_then(Value::as_array).into_iter().flatten();
    let text = |package: &Value, key: &str| package.get(key).and_then(Value::as_str).map(str::to_owned);
    let line = |package: &Value| {
        Some(format!("{} {} {}", text(package, "name")?, text(package, "version")?, text(package, "source")?))
    };
    packages.filter_map(line).collect()
}

/// Packages a manifest names that are not source of the house: name, and which version or source is wanted.
fn wanted(manifest: &Table) -> Vec<String> {
    let mut found = Vec::new();
    let mut take = |tables: &Table| {
        for name in TABLES {
            dependencies(tables.get(name), &mut found);
        }
    };
    take(manifest);
    manifest.get("workspace").and_then(Value::as_table).into_iter().for_each(&mut take);
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
    targets.filter_map(|(_, target)| target.as_table()).for_each(take);
    for (_, replaced) in manifest.get("patch").and_then(Value::as_table).into_iter().flatten() {
        dependencies(Some(replaced), &mut found);
    }
    dependencies(manifest.get("replace"), &mut found);
    found
}

fn dependencies(table: Option<&Value>, found: &mut Vec<String>) {
    for (name, wish) in table.and_then(Value::as_table).into_iter().flatten() {
        let Some(wish) = wish.as_table() else {
            found.push(format!("{name} {}", wish.as_str().unwrap_or_default()));
            continue;
        };
        let text = |key: &str| wish.get(key).and_then(Value::as_str);
        // A path that climbs no further than its workspace is source of the house.
        let house =
            text("path").is_some_and(|path| !path.starts_with('/') && path.matches("..").count() <= 2);
        if house && text("git").is_none() || wish.get("workspace") == Some(&Value::Boolean(true)) {
            continue;
        }
        let name = text("package").unwrap_or(name);
        let mut line = format!("{name} {}", text("version").unwrap_or_default());
        for key in ["git", "branch", "tag", "rev", "registry", "registry-index", "path"] {
            line += &text(key).map_or(String::new(), |value| format!(" {key} {value}"));
        }
        found.push(line);
    }
}

/// Whether a version meets a requirement of the form `1.2`, `^1.2` or `=1.2`; none meets one of another form.
fn fits(wish: &str, version: &str) -> bool {
    let numbers =
        |text: &str| text.split('.').map(|part| part.parse::<u64>().ok()).collect::<Option<Vec<u64>>>();
    let exact = wish.strip_prefix('=');
    let plain = exact.unwrap_or(wish).trim().trim_start_matches('^');
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let (Some(wish), Some(found)) = (numbers(plain), numbers(core)) else { return false };
    if exact.is_some() {
        return found.starts_with(&wish);
    }
    // Compatible versions share every number up to the first that is not 0.
    let fixed = wish.iter().position(|number| *number > 0).map_or(wish.len(), |at| at + 1);
    found.get(..fixed) == wish.get(..fixed) && found >= wish
}
