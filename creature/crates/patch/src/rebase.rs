//! Rebasing: brings into a draft what changed in the tree that lives since the draft was copied from it.

use crate::draft::{Draft, Texts};
use crate::repository;
use crate::source::{self, diverged};
use git2::{MergeFileInput, Oid};
use ground::fault::Fault;
use ground::paths::House;

/// Brings into the draft what changed meanwhile in the tree that lives; returns the paths. Refused, and nothing is
/// changed, where both changed the same lines.
pub fn rebase(house: &House, draft: &mut Draft, now: &str) -> Result<Vec<String>, Fault> {
    let (ours, living) = (draft.hashes(), source::hashes(house.root()));
    let found = diverged(&draft.state.base, &ours, &living);
    if found.theirs.is_empty() && found.both.is_empty() && found.same.is_empty() {
        return Ok(Vec::new());
    }
    let mut texts = Texts::new();
    for path in &found.theirs {
        let text = living.contains_key(path).then(|| source::text(house.root(), path)).transpose()?;
        texts.insert(path.clone(), text);
    }
    let mut clashing = Vec::new();
    for path in &found.both {
        match merged(house, draft, path) {
            Some(text) => _ = texts.insert(path.clone(), Some(text)),
            None => clashing.push(path.as_str()),
        }
    }
    if !clashing.is_empty() {
        let error = format!(
            "the living tree changed meanwhile where the draft did, and the two do not fit together: {}",
            clashing.join(", ")
        );
        let hint = "repo.diff shows the draft against the living tree: write down what you still want of it, then \
            repo.drop it and edit anew";
        return Err(Fault::new(error, hint));
    }
    for path in found.theirs.iter().chain(&found.both).chain(&found.same) {
        match living.get(path) {
            Some(hash) => _ = draft.state.base.insert(path.clone(), hash.clone()),
            None => _ = draft.state.base.remove(path),
        }
    }
    let brought = found.theirs.iter().chain(&found.both).cloned().collect();
    draft.state.files = found.ours.iter().chain(&found.both).cloned().collect();
    draft.write(texts, now)?;
    Ok(brought)
}

/// Both changes of a file merged; none where they clash, or git no longer has the text they began with.
fn merged(house: &House, draft: &Draft, path: &str) -> Option<String> {
    let base = Oid::from_str(draft.state.base.get(path)?).ok()?;
    let repo = repository::open(house).ok()?;
    let base = repo.find_blob(base).ok()?;
    let (ours, theirs) =
        (source::read(&draft.root().join(path)).ok()?, source::read(&house.root().join(path)).ok()?);
    let [before, left, right] = [base.content(), &ours, &theirs].map(|content| {
        let mut input = MergeFileInput::new();
        input.content(content);
        input
    });
    let merged = git2::merge_file(&before, &left, &right, None).ok()?;
    merged.is_automergeable().then(|| String::from_utf8(merged.content().to_vec()).ok()).flatten()
}
