//! Commits on request, by the creature or the guardian: what is committed, who is told, and the owner's index updated.

use crate::act::around::Around;
use crate::act::ladder::Ladder;
use crate::act::requests::{self, Request};
use anyhow::{Error, Result};
use house::clock::Millis;
use house::interrupt::Interrupted;
use house::{clock, records};
use repo::Version;
use repo::keep::Unfit;
use repo::open;
use repo::tree::short;
use serde_json::json;

/// Advice to the creature when a commit is refused.
const UNFIT: &str = "git could not check that out again: change or remove it, then ask again";

/// Most refs an hour that requests may make: each is kept for good.
pub const MOST_KEPT_PER_HOUR: usize = 30;
const HOUR_MS: Millis = 60 * 60_000;

impl Ladder {
    /// Commits what a life left for its next one. What came of it is published before that begins.
    pub fn commit(&mut self, around: &mut Around) -> Result<()> {
        around.is_news = true;
        let request =
            requests::read(&around.house)?.filter(|request| request.is_rebirth_of(around.state.life));
        let unasked = || Request { summary: "a rebirth without a request".into(), ..Request::default() };
        let asked = request.clone().unwrap_or_else(unasked);
        let before = self.before_commit(around)?;
        let made = match self.commit_as_self(around, before, &asked, &["creature", "self", "PURPOSE.md"]) {
            Err(error) if error.is::<Unfit>() => return self.refuse_rebirth(around, request, &error),
            made => made?,
        };
        let changed = made.filter(|version| version.tree != before.tree);
        around.state.born = changed.map(|_| asked.summary());
        if let Some(version) = changed {
            around.state.unexamined = Some(version.tree.to_string());
            around.state.made_self(version.tree.to_string());
        }
        if let Some(request) = request {
            around.state.tell_answer(request.done(made.map(|version| version.commit.to_string())));
            around.state.request = request.id;
        }
        // The state is saved when the event this action returns is handled, together with the step's completion.
        Ok(())
    }

    /// Answers a rebirth that cannot be committed: the creature's work is kept, HEAD runs again, and the answer says
    /// why.
    fn refuse_rebirth(&mut self, around: &mut Around, request: Option<Request>, why: &Error) -> Result<()> {
        around.report.warn(&format!("the self-edit was not committed: {why:#}"));
        let before = around.state.rescued.clone();
        self.tidy(around)?;
        around.state.born = None;
        if let Some(request) = request {
            let kept = around.state.rescued.as_ref().filter(|kept| Some(*kept) != before.as_ref());
            let kept = kept.map_or(String::new(), |kept| format!("; what was made is kept as {kept}"));
            let hint = format!("{UNFIT}{kept}");
            around.state.tell_answer(request.refused(format!("{why:#}"), hint));
            around.state.request = request.id;
        }
        Ok(())
    }

    /// Notes which commit the index matches before HEAD moves, so that an interrupted commit can be completed.
    pub fn before_commit(&mut self, around: &mut Around) -> Result<Version> {
        self.clear_planted(&mut around.report);
        let head = self.repo.head()?;
        let behind = around.state.index_behind.get_or_insert_with(|| head.commit.to_string()).clone();
        around.save();
        Ok(self.repo.resolve(&behind).unwrap_or(head))
    }

    fn commit_as_self(
        &mut self,
        around: &mut Around,
        before: Version,
        asked: &Request,
        paths: &[&str],
    ) -> Result<Option<Version>> {
        let message = asked.message("self");
        let made = self.repo.commit(&message, paths)?.or_else(|| self.repo.made_before(before, &message));
        self.committed(around, "self", before, made, &asked.summary());
        Ok(made)
    }

    /// Records, reports and updates the index after a commit of the guardian's, made now or just before a kill.
    pub fn committed(
        &mut self,
        around: &mut Around,
        who: &str,
        before: Version,
        made: Option<Version>,
        summary: &str,
    ) {
        self.bring_index_along(around, &before.commit.to_string());
        let Some(version) = made else { return };
        let commit = version.commit.to_string();
        let stat = self.repo.find(&commit).and_then(|commit| self.repo.diff_stat(&commit));
        let stat = stat.unwrap_or_default();
        let (files, added, removed) = stat;
        records::tell_once(
            &around.house,
            "commit",
            json!({"by": who, "commit": commit, "summary": summary, "files": files, "added": added, "removed": removed}),
        );
        around.report.commit(who, &short(version.commit), summary, stat);
    }

    pub fn bring_index_along(&mut self, around: &mut Around, behind: &str) {
        match self.repo.sync_index(behind) {
            Ok(()) => around.state.index_behind = None,
            Err(error) => {
                let why = open::unread_index(&self.repo.git).unwrap_or_else(|| format!("{error:#}"));
                tracing::warn!("{why}; git status may show the creature's commits reversed until then")
            }
        }
    }

    /// Carries out a living creature's request, once. False: it gave way to the owner's order, and is looked at again
    /// after that, if the life still runs then.
    pub fn answer(&mut self, around: &mut Around) -> bool {
        let request = requests::read(&around.house);
        let request = request.inspect_err(|error| around.report.warn(&format!("{error:#}")));
        let Ok(Some(request)) = request else { return true };
        // A rebirth is carried out when the life ends; the file of an answered request stays until the next one.
        let state = &around.state;
        if request.id == state.request || request.life != state.life || request.kind == "rebirth" {
            return true;
        }
        let hour_ago = clock::wall_ms().saturating_sub(HOUR_MS);
        let answer = match request.kind.as_str() {
            "commit" => self.commit_papers(around, &request),
            "reset" | "draft" if self.repo.rescued_since(hour_ago) >= MOST_KEPT_PER_HOUR => {
                let error =
                    format!("{MOST_KEPT_PER_HOUR} refs were made in the last hour to keep what differs");
                Ok(request.refused(error, "ask again in an hour, or put the files back yourself"))
            }
            "reset" => self.tidy(around).map(|()| request.done(None)),
            "draft" => self.repo.keep_draft().map(|kept| request.done(kept.map(|commit| commit.to_string()))),
            other => {
                Ok(request
                    .refused(format!("no request is called `{other}`"), "commit, reset, draft or rebirth"))
            }
        };
        if answer.as_ref().is_err_and(|error| error.is::<Interrupted>()) {
            return false;
        }
        let answer = answer.unwrap_or_else(|error| {
            let hint = if error.is::<Unfit>() { UNFIT } else { "ask again later" };
            request.refused(format!("{error:#}"), hint)
        });
        around.state.tell_answer(answer);
        around.state.request = request.id;
        around.save();
        around.is_news = true;
        true
    }

    fn commit_papers(&mut self, around: &mut Around, request: &Request) -> Result<serde_json::Value> {
        let before = self.before_commit(around)?;
        let made = self.commit_as_self(around, before, request, &["self", "PURPOSE.md"])?;
        Ok(request.done(made.map(|version| version.commit.to_string())))
    }
}
