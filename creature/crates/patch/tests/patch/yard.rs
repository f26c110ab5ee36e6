//! A throwaway house, and the context in which its creature is edited.

use ground::paths::House;
use patch::{EditContext, Limits};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// What files hold; of a folder that it is there.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

pub struct Yard {
    dir: TempDir,
    pub context: EditContext,
}

impl Yard {
    pub fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let patience = Duration::from_secs(120);
        let context = EditContext {
            house: House::new(dir.path()),
            cargo: std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
            limits: Limits { build: patience, test: patience, rehearsal: patience },
            life: 7,
            read_paper: |path| std::fs::read_to_string(path).unwrap(),
            is_thought: |data| data["monologue"].is_string(),
        };
        let yard = Self { dir, context };
        yard.put("PURPOSE.md", "Be curious.\n");
        yard.put(".self/memory.jsonl", "");
        yard
    }

    pub fn house(&self) -> &House {
        &self.context.house
    }

    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    pub fn put(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).unwrap()
    }

    /// Every file and folder of `creature/` and `self/`, and `PURPOSE.md`, byte for byte.
    pub fn files(&self) -> Files {
        let mut files = Files::from([("PURPOSE.md".into(), self.text("PURPOSE.md").into_bytes())]);
        let mut folders = vec![self.root().join("creature"), self.root().join("self")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let bytes = if path.is_dir() { Vec::new() } else { std::fs::read(&path).unwrap() };
                folders.extend(path.is_dir().then(|| path.clone()));
                files.insert(path, bytes);
            }
        }
        files
    }
}
