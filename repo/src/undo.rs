//! Target of a rollback, and the commits it undoes; nothing here changes anything.

use crate::tree::short;
use crate::{Repo, Rung, Version};
use anyhow::{Context, Result, anyhow};
use git2::{Commit, Oid};

/// Commits walked from HEAD at most.
const MOST_WALKED: usize = 20_000;

impl Repo {
    /// The commit or else the rung that is named, or the newest rung below HEAD's; always one that can be put back.
    pub fn rollback_target(&self, name: Option<&str>) -> Result<Version> {
        let rungs = self.rungs()?;
        if let Some(name) = name {
            let to = match (self.resolve(name), rung_called(&rungs, name)) {
                (Err(_), Some(rung)) => rung.version,
                (found, _) => found
                    .map_err(|why| anyhow!("{why:#}; `rollback --list` has all there is to go back to"))?,
            };
            anyhow::ensure!(
                self.is_whole(to)?,
                "{name} cannot be put back: some of what it has in creature/ is damaged"
            );
            return Ok(to);
        }
        let head = self.head()?;
        let at = rungs.iter().rposition(|rung| rung.version.tree == head.tree).unwrap_or(rungs.len());
        let below = rungs.iter().take(at).rev().map(|rung| rung.version);
        let to = self.first_whole(below.filter(|below| below.tree != head.tree))?;
        to.with_context(|| {
            format!(
                "there is nothing to go back to: no version before {} has proved itself; `rollback COMMIT` goes to any that you \
                 name",
                short(head.commit)
            )
        })
    }

    /// The commits reachable from one commit and not from another that changed `creature/`, newest first.
    pub fn changes_between(&self, from: Oid, not_from: Oid) -> Result<Vec<Commit<'_>>> {
        let mut walk = self.git.revwalk()?;
        walk.push(from)?;
        walk.hide(not_from)?;
        walk.set_sorting(git2::Sort::TOPOLOGICAL)?;
        let commits = walk.take(MOST_WALKED).filter_map(|id| self.git.find_commit(id.ok()?).ok());
        Ok(commits.filter(changes_creature).collect())
    }

    /// The creature's newest self-edit on this branch, if there is one.
    pub fn newest_edit(&self) -> Result<Option<Commit<'_>>> {
        let mut walk = self.git.revwalk()?;
        walk.push_head()?;
        let mut commits = walk.take(MOST_WALKED).filter_map(|id| self.git.find_commit(id.ok()?).ok());
        let is_own = |commit: &Commit| {
            commit.message().is_ok_and(|message| message.starts_with("self:")) && changes_creature(commit)
        };
        Ok(commits.find(is_own))
    }
}

fn rung_called<'a>(rungs: &'a [Rung], name: &str) -> Option<&'a Rung> {
    let number: u64 = name.parse().ok()?;
    rungs.iter().find(|rung| rung.number() == number)
}

fn changes_creature(commit: &Commit) -> bool {
    let creature = |commit: &Commit| {
        let tree = commit.tree().ok()?;
        tree.get_name("creature").map(|entry| entry.id())
    };
    creature(commit) != commit.parent(0).ok().and_then(|parent| creature(&parent))
}
