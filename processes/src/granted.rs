//! The owner's grants to a life beside the house: the folder of risky mode, but for what stays as it is in it.

use crate::place::is_keys;
use std::path::{Path, PathBuf};
use walls::Walls;
use walls::level::{FILES, VIEW};
use walls::spec::{Access, Rule, Spec};

/// Rules beside those of the house, and what they hide.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Granted {
    rules: Vec<Rule>,
    hidden: Vec<PathBuf>,
}

impl Granted {
    /// Returns the grant of the folder of risky mode, or why nothing of it is granted: `find` says which folder has this
    /// name, and what in it stays as it is. Found at each launch of a life: then nothing runs that could change it.
    pub fn risky(
        walls: &Walls,
        named: Option<&str>,
        find: impl FnOnce(&str) -> Result<(PathBuf, Vec<PathBuf>), String>,
    ) -> Result<Self, String> {
        let Some(named) = named.filter(|_| walls.stand()) else { return Ok(Self::default()) };
        let refused = |why: String| format!("nothing is granted of [files] risky_root = {named:?}: {why}");
        let (folder, kept) = find(named).map_err(refused)?;
        if !kept.is_empty() && walls.level.has(FILES) && !walls.level.has(VIEW) {
            let first = kept.first().map_or_else(String::new, |path| path.display().to_string());
            return Err(refused(format!(
                "{first} must stay as it is, and without the wall `view` nothing holds that"
            )));
        }
        let hidden = kept.iter().filter(|path| is_keys(path)).cloned().collect();
        let rule = |access, path: &Path| Rule { access, path: path.to_path_buf() };
        let kept = kept.iter().map(|path| rule(Access::Keep, path));
        let rules = std::iter::once(rule(Access::Write, &folder)).chain(kept).collect();
        Ok(Self { rules, hidden })
    }

    /// Returns the line in the log that tells the owner of the grant; `None` where nothing is granted.
    pub fn told(&self) -> Option<String> {
        let folder = self.rules.first()?.path.display();
        Some(format!("risky mode: this life may write in {folder}, as owner.toml says"))
    }

    /// Adds it to the walls of one launch.
    pub fn add_to(self, spec: &mut Spec) {
        spec.rules.extend(self.rules);
        spec.view.iter_mut().for_each(|view| view.hidden.extend(self.hidden.iter().cloned()));
    }
}
