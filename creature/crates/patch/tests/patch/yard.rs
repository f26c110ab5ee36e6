//! A throwaway house, and the workshop in which its creature is edited.

use ground::paths::House;
use patch::Workshop;
use patch::proof::cargo::Limits;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

pub struct Yard {
    dir: TempDir,
    pub workshop: Workshop,
}

impl Yard {
    pub fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let patience = Duration::from_secs(120);
        let workshop = Workshop {
            house: House::new(dir.path()),
            cargo: std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
            limits: Limits { build: patience, test: patience, rehearsal: patience },
            life: 7,
            read_paper: |path| std::fs::read_to_string(path).unwrap(),
            is_thought: |data| data["monologue"].is_string(),
        };
        let yard = Self { dir, workshop };
        yard.put("PURPOSE.md", "Be curious.\n");
        yard.put(".self/memory.jsonl", "");
        yard
    }

    pub fn house(&self) -> &House {
        &self.workshop.house
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
}
