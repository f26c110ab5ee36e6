//! Paths outside the house in the owner's cargo settings: programs that builds run, and folders that crates come from.
//!
//! Paths are read as cargo reads them: a program without a slash is looked for on `PATH`, any other path is seen from the
//! folder that holds the settings' own (The Cargo Book, Configuration, Executable paths, Config-relative paths).

use crate::cargo_home::{above, home_settings, owners, read};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// A program or folder, and where it is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub key: String,
    pub settings: PathBuf,
    pub path: PathBuf,
}

/// Programs and folders named in all settings that count for a house.
#[derive(Clone, Debug, Default)]
pub struct Outside {
    /// Linkers and compilers that are named.
    pub programs: Vec<Named>,
    /// Vendored sources, local registries and packages in place of others.
    pub folders: Vec<Named>,
}

impl Outside {
    /// Reads the settings of the owner's cargo, those above the house included.
    pub fn of(house: &Path) -> Self {
        let mut found = Self::default();
        for settings in home_settings(&owners()).into_iter().chain(above(house)) {
            let table = read(&settings).ok().and_then(|text| toml::from_str::<Table>(&text).ok());
            if let Some(table) = table {
                found.add(&table, &settings);
            }
        }
        found
    }

    fn add(&mut self, table: &Table, settings: &Path) {
        let folder = settings.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
        let named = |key: String, path: &str| Named {
            key,
            settings: settings.to_owned(),
            path: if path.contains('/') { folder.join(path.trim_start_matches("./")) } else { path.into() },
        };
        for (section, key) in [("target", "linker"), ("build", "rustc"), ("build", "rustdoc")] {
            for (within, inner) in sections(table, section) {
                let value = inner.get(key).and_then(Value::as_str);
                self.programs.extend(value.map(|path| named(format!("{within}.{key}"), path)));
            }
        }
        for key in ["directory", "local-registry"] {
            for (within, inner) in sections(table, "source") {
                let value = inner.get(key).and_then(Value::as_str);
                self.folders.extend(value.map(|path| named(format!("{within}.{key}"), &format!("./{path}"))));
            }
        }
        let paths = table.get("paths").and_then(Value::as_array).into_iter().flatten();
        let paths = paths.filter_map(Value::as_str);
        self.folders.extend(paths.map(|path| named("paths".to_owned(), &format!("./{path}"))));
    }
}

/// Returns a section itself, or its inner sections where each of them names something.
fn sections<'a>(table: &'a Table, name: &str) -> Vec<(String, &'a Table)> {
    let Some(section) = table.get(name).and_then(Value::as_table) else { return vec![] };
    if name == "build" {
        return vec![(name.to_owned(), section)];
    }
    let inner = section.iter().filter_map(|(key, inner)| Some((format!("{name}.{key}"), inner.as_table()?)));
    inner.collect()
}
