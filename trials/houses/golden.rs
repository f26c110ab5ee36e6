//! Golden files between guardian and creature: where they lie, and a folder that is a house as far as they go.

use crate::clone::origin;
use house::{House, records};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Path of a golden file.
pub fn golden(name: &str) -> PathBuf {
    origin().join("guardian/tests/golden").join(name)
}

/// Records of a file, and how many of its lines are none.
pub fn records_of(path: &Path) -> (Vec<Value>, usize) {
    let mut records = records::of(path);
    (records.by_ref().collect(), records.bad)
}

/// A folder that is a house as far as files go, with golden files put in their places.
pub fn house(files: &[(&str, &str)]) -> (TempDir, House) {
    let folder = TempDir::new().unwrap();
    for (name, place) in files {
        let place = folder.path().join(place);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::copy(golden(name), place).unwrap();
    }
    let house = House::new(folder.path());
    (folder, house)
}
