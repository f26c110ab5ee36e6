//! Commits on request, by the creature or the guardian: what is committed, who is told, and the owner's index updated.

use crate::act::executor::Executor;
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

fn an_hour_ago() -> Millis {
    clock::wall_ms().saturating_sub(60 * 60_000)
}

impl Executor {
    pub fn commit(&mut self) -> Result<()> {
        let request = requests::read(&self.house)?.filter(|request| request.is_rebirth_of(self.state.life));
        let unasked = || Request { summary: "a rebirth without a request".into(), ..Request::default() };
        let asked = request.clone().unwrap_or_else(unasked);
        let before = self.before_commit()?;
        let made = match self.commit_as_self(before, &asked, &["creature", "self", "PURPOSE.md"]) {
            Err(error) if error.is::<Unfit>() => return self.refuse_rebirth(request, &error),
            made => made?,
        };
        let changed = made.filter(|version| version.tree != before.tree);
        self.state.born = changed.map(|_| asked.summary());
        if let Some(version) = changed {
            self.state.unexamined = Some(version.tree.to_string());
            self.state.made_self(version.tree.to_string());
        }
        if let Some(request) = request {
            self.state.tell_answer(request.done(made.map(|version| version.commit.to_string())));
            self.state.request = request.id;
        }
        // The state is saved when the event this action returns is handled, together with the step's completion.
        Ok(())
    }

    /// Answers a rebirth that cannot be committed: the creature's work is kept, HEAD runs again, and the answer says
    /// why.
    fn refuse_rebirth(&mut self, request: Option<Request>, why: &Error) -> Result<()> {
        self.report.warn(&format!("the self-edit was not committed: {why:#}"));
        let before = self.state.rescued.clone();
        self.tidy()?;
        self.state.born = None;
        if let Some(request) = request {
            let kept = self.state.rescued.as_ref().filter(|kept| Some(*kept) != before.as_ref());
            let kept = kept.map_or(String::new(), |kept| format!("; what was made is kept as {kept}"));
            let hint = format!("{UNFIT}{kept}");
            self.state.tell_answer(request.refused(format!("{why:#}"), hint));
            self.state.request = request.id;
        }
        Ok(())
    }

    /// Notes which commit the index matches before HEAD moves, so that an interrupted commit can be completed.
    pub fn before_commit(&mut self) -> Result<Version> {
        self.clear_after_life();
        let head = self.ladder.repo.head()?;
        let behind = self.state.index_behind.get_or_insert_with(|| head.commit.to_string()).clone();
        self.save();
        Ok(self.ladder.repo.resolve(&behind).unwrap_or(head))
    }

    fn commit_as_self(
        &mut self,
        before: Version,
        asked: &Request,
        paths: &[&str],
    ) -> Result<Option<Version>> {
        let message = asked.message("self");
        let made = self
            .ladder
            .repo
            .commit(&message, paths)?
            .or_else(|| self.ladder.repo.made_before(before, &message));
        self.committed("self", before, made, &asked.summary());
        Ok(made)
    }

    /// Records, reports and updates the index after a commit of the guardian's, made now or just before a kill.
    pub fn committed(&mut self, who: &str, before: Version, made: Option<Version>, summary: &str) {
        self.bring_index_along(&before.commit.to_string());
        let Some(version) = made else { return };
        let commit = version.commit.to_string();
        let stat = self
            .ladder
            .repo
            .find(&commit)
            .and_then(|commit| self.ladder.repo.diff_stat(&commit))
            .unwrap_or_default();
        let (files, added, removed) = stat;
        records::tell_once(
            &self.house,
            "commit",
            json!({"by": who, "commit": commit, "summary": summary, "files": files, "added": added, "removed": removed}),
        );
        self.report.commit(who, &short(version.commit), summary, stat);
    }

    pub fn bring_index_along(&mut self, behind: &str) {
        match self.ladder.repo.sync_index(behind) {
            Ok(()) => self.state.index_behind = None,
            Err(error) => {
                let why = open::unread_index(&self.ladder.repo.git).unwrap_or_else(|| format!("{error:#}"));
                tracing::warn!("{why}; git status may show the creature's commits reversed until then")
            }
        }
    }

    /// Carries out a living creature's request, once.
    pub fn answer(&mut self) {
        let request = match requests::read(&self.house) {
            Ok(Some(request)) => request,
            Ok(None) => return,
            Err(error) => return self.report.warn(&format!("{error:#}")),
        };
        // A rebirth is carried out when the life ends; the file of an answered request stays until the next one.
        if request.id == self.state.request || request.life != self.state.life || request.kind == "rebirth" {
            return;
        }
        let answer = match request.kind.as_str() {
            "commit" => self.commit_papers(&request),
            "reset" | "draft" if self.ladder.repo.rescued_since(an_hour_ago()) >= MOST_KEPT_PER_HOUR => {
                let error =
                    format!("{MOST_KEPT_PER_HOUR} refs were made in the last hour to keep what differs");
                Ok(request.refused(error, "ask again in an hour, or put the files back yourself"))
            }
            "reset" => self.tidy().map(|()| request.done(None)),
            "draft" => {
                self.ladder.repo.keep_draft().map(|kept| request.done(kept.map(|commit| commit.to_string())))
            }
            other => {
                Ok(request
                    .refused(format!("no request is called `{other}`"), "commit, reset, draft or rebirth"))
            }
        };
        if let Err(error) = &answer
            && error.is::<Interrupted>()
        {
            // The request is looked at again after the owner's order, if the life still runs then.
            self.living.request_seen = None;
            return;
        }
        let answer = answer.unwrap_or_else(|error| {
            let hint = if error.is::<Unfit>() { UNFIT } else { "ask again later" };
            request.refused(format!("{error:#}"), hint)
        });
        self.state.tell_answer(answer);
        self.state.request = request.id;
        self.save();
        self.publish();
    }

    fn commit_papers(&mut self, request: &Request) -> Result<serde_json::Value> {
        let before = self.before_commit()?;
        let made = self.commit_as_self(before, request, &["self", "PURPOSE.md"])?;
        Ok(request.done(made.map(|version| version.commit.to_string())))
    }
}
