//! Reports of sub-sessions: one for all that a thought began, at every depth, once none of them is at work.
//!
//! Invariant: one that waits for its hour withholds nothing; it is told when it has ended, by itself.

use super::{MOST_KEPT, clip};
use super::{NO_ACTION, NOTHING, Origin, Session, Sessions, Status};
use jiff::Timestamp;
use std::collections::BTreeSet;

/// Characters of a report as a thought is told of it, and as its owner reads it.
const MOST_NEWS: usize = 1_100;
const MOST_MESSAGE: usize = 4_000;

/// Characters of an answer in a report of several, at least; those that have no room are only counted.
const LEAST: usize = 40;

/// Characters of a line beside the answer: ids, how it ended, where the whole of it is.
const LINE: usize = 72;

/// Sessions with a line each; of more some are only named, in `NAME` characters.
const FEW: usize = 8;
const NAME: usize = 13;

/// The report of sub-sessions that belong together and have ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Ids of the sessions it tells of: first those that did not end as done.
    pub ids: Vec<String>,
    pub thread: String,
    /// Origin of the first of them.
    pub origin: Origin,
    /// Whether they worked on the owner's own request.
    pub owner: bool,
    /// Outcome of the sessions, in few words for a thought.
    pub text: String,
    /// Outcome in words for the owner.
    pub message: String,
    /// Whether they found nothing to say: then nobody is told.
    pub silent: bool,
    /// Whether each was cancelled; the canceller knows that already.
    pub cancelled: bool,
}

impl Session {
    /// The id of the parent whose children belong together; the session's own id where no tool spawned it.
    pub fn family(&self) -> &str {
        match &self.origin {
            Origin::Tool { parent } => parent,
            _ => &self.id,
        }
    }

    /// Identifies the session over ends of lives: its id and when it was spawned.
    pub fn key(&self) -> String {
        format!("{}@{}", self.id, self.spawned_at)
    }

    /// Whether it looked and found nothing to say.
    pub fn silent(&self) -> bool {
        let said = self.answer.trim_start();
        let quiet = match self.origin {
            Origin::Tool { .. } => false,
            Origin::Own(_) => is_nothing(said) || said.starts_with(NO_ACTION),
            _ => said.starts_with(NO_ACTION),
        };
        quiet && self.status == Status::Done
    }

    /// Tells the outcome in `most` characters of the answer; a thought is told where the whole answer is.
    fn told(&self, most: usize, to_thought: bool) -> String {
        let is_cut = to_thought && self.answer.chars().count() > most;
        let whole = if is_cut { format!(" (whole: sessions.list {})", self.id) } else { String::new() };
        let of = if self.depth > 1 { format!(" (of {})", self.family()) } else { String::new() };
        format!("{}{of} {}: {}{whole}", self.id, self.status.name(), clip(&self.answer, most))
    }
}

/// Whether an answer begins with the word `NOTHING`, after any marks; a longer word does not count.
fn is_nothing(said: &str) -> bool {
    let rest = said.trim_start_matches(|letter: char| !letter.is_alphanumeric()).strip_prefix(NOTHING);
    rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

impl Sessions {
    /// Reports of the sessions that have ended and are not reported yet, of those that belong together once none of
    /// them is at work; in the order they ended.
    pub fn reports(&self, now: Timestamp) -> Vec<Report> {
        let mut ended: Vec<&Session> = self.unreported().collect();
        ended.sort_by_key(|session| session.ended_at.unwrap_or(Timestamp::MIN));
        let mut roots: Vec<&str> = Vec::new();
        for session in &ended {
            let root = self.root(session);
            if !roots.contains(&root) {
                roots.push(root);
            }
        }
        let at_work = |root: &str| {
            let mut kin =
                self.all.iter().filter(|session| !session.status.ended() && self.root(session) == root);
            kin.any(|session| !self.waits_for_hour(session, now, &mut BTreeSet::new()))
        };
        let of = |root: &str| ended.iter().copied().filter(|session| self.root(session) == root).collect();
        roots.into_iter().filter(|root| !at_work(root)).filter_map(|root| self.report(of(root))).collect()
    }

    fn report(&self, mut ended: Vec<&Session>) -> Option<Report> {
        let first = ended.iter().min_by_key(|session| session.depth).copied()?;
        ended.sort_by_key(|session| session.status == Status::Done);
        Some(Report {
            ids: ended.iter().map(|session| session.id.clone()).collect(),
            thread: first.thread.clone(),
            origin: first.origin.clone(),
            owner: first.owner,
            text: text(&ended, MOST_NEWS, true),
            message: text(&ended, MOST_MESSAGE, false),
            silent: ended.iter().all(|session| session.silent()),
            cancelled: ended.iter().all(|session| session.status == Status::Cancelled),
        })
    }

    /// Finds the root of a session: the thought that began its family, or the session that no tool spawned.
    fn root<'a>(&'a self, session: &'a Session) -> &'a str {
        let mut session = session;
        // A parent is older than its child; the bound is for a file that somebody wrote.
        for _ in 0..=super::MOST_DEPTH {
            match self.get(session.family()) {
                Some(parent) if parent.id != session.id => session = parent,
                _ => break,
            }
        }
        session.family()
    }

    /// Whether a session does nothing now because of its hour, or of that of one it depends on.
    fn waits_for_hour<'a>(
        &'a self,
        session: &'a Session,
        now: Timestamp,
        seen: &mut BTreeSet<&'a str>,
    ) -> bool {
        let is_new = seen.insert(&session.id);
        if !is_new || session.status != Status::Waiting {
            return false;
        }
        session.not_before.is_some_and(|at| at > now)
            || session
                .depends_on
                .iter()
                .any(|on| self.get(on).is_some_and(|on| self.waits_for_hour(on, now, seen)))
    }

    /// The sessions that have ended and are not reported yet.
    pub(super) fn unreported(&self) -> impl Iterator<Item = &Session> {
        self.all.iter().filter(|session| session.status.ended() && !session.reported)
    }

    /// The keys and ids of the sessions that have ended and are not reported yet.
    pub fn untold(&self) -> Vec<(String, String)> {
        self.unreported().map(|session| (session.key(), session.id.clone())).collect()
    }

    /// Marks an ended session as reported; forgets the oldest above `MOST_KEPT` that no waiting one depends on.
    pub fn reported(&mut self, id: &str) {
        for session in self.all.iter_mut().filter(|session| session.id == id) {
            session.reported = session.status.ended();
        }
        let kept = self.all.iter().filter(|session| session.reported).count();
        let mut over = kept.saturating_sub(MOST_KEPT);
        let waiting = self.all.iter().filter(|session| session.status == Status::Waiting);
        let mut needed: Vec<String> = waiting.flat_map(|session| session.depends_on.clone()).collect();
        // By its parent it is known what an untold one belongs to.
        let untold = self.all.iter().filter(|session| !session.reported);
        needed.extend(untold.map(|session| session.family().to_owned()));
        self.all.retain(|session| {
            let goes = over > 0 && session.reported && !needed.contains(&session.id);
            over -= usize::from(goes);
            !goes
        });
    }
}

/// Tells the outcome of sessions within `most` characters: one by itself, several under a line that counts them.
fn text(ended: &[&Session], most: usize, to_thought: bool) -> String {
    if let [one] = ended {
        return one.told(most.saturating_sub(LINE), to_thought);
    }
    let is_done = |session: &&&Session| session.status == Status::Done;
    let lost: Vec<&str> =
        ended.iter().filter(|session| !is_done(session)).map(|session| session.id.as_str()).collect();
    let but = match lost.is_empty() {
        true => String::new(),
        false => format!(", but not {}", clip(&lost.join(", "), most / 8)),
    };
    let (all, done) = (ended.len(), ended.len() - lost.len());
    let what = if to_thought { "" } else { " sub-sessions" };
    let mut text = format!("{all}{what} have ended, {done} done{but}:");
    // Those without a line of their own are named: a request may wait for one of them.
    let room = most.saturating_sub(text.chars().count() + if all > FEW { all * NAME } else { 0 });
    let (line, most) = ((LEAST + LINE).max(room / all), text.chars().count() + room);
    for (at, session) in ended.iter().enumerate() {
        if text.chars().count() + line > most {
            let more: Vec<&str> = ended.iter().skip(at).map(|session| session.id.as_str()).collect();
            text += &format!("\n- and {}", more.join(", "));
            break;
        }
        text += &format!("\n- {}", session.told(line - LINE, to_thought));
    }
    text
}
