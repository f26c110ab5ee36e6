//! Reports of sub-sessions: one for each that ended; the last of those spawned together says that it is the last.

use super::{MOST_KEPT, clip};
use super::{NO_ACTION, NOTHING, Origin, Session, Sessions, Status};
use jiff::Timestamp;

/// Characters of all that is reported at once, and bounds for one report: they stand among a thought's news.
const MOST_REPORTS: usize = 1_600;
const REPORT: std::ops::RangeInclusive<usize> = 160..=900;

/// Characters of the list of sessions that did not end as done.
const MOST_NAMES: usize = 160;

/// The report of one session that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Identifies the report: the session's id and when it was spawned.
    pub key: String,
    pub id: String,
    pub thread: String,
    pub origin: Origin,
    /// What became of it, and where it was the last of its family, that too.
    pub text: String,
    /// The session found nothing to say: nobody is told.
    pub silent: bool,
}

impl Session {
    /// The id of the parent whose children belong together; the session's own id where no tool spawned it.
    pub fn family(&self) -> &str {
        match &self.origin {
            Origin::Tool { parent } => parent,
            _ => &self.id,
        }
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

    fn told(&self, most: usize) -> String {
        let whole = if self.answer.chars().count() > most {
            format!(" (whole: sessions.list {})", self.id)
        } else {
            String::new()
        };
        format!("{} {}: {}{whole}", self.id, self.status.name(), clip(&self.answer, most))
    }
}

/// Whether an answer begins with the word `NOTHING`, after any marks; a longer word does not count.
fn is_nothing(said: &str) -> bool {
    let rest = said.trim_start_matches(|letter: char| !letter.is_alphanumeric()).strip_prefix(NOTHING);
    rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

impl Sessions {
    /// Reports of the sessions that have ended and are not reported yet, in the order they ended.
    pub fn reports(&self) -> Vec<Report> {
        let mut ended: Vec<&Session> = self.unreported().collect();
        ended.sort_by_key(|session| session.ended_at.unwrap_or(Timestamp::MIN));
        let share = MOST_REPORTS / ended.iter().filter(|session| !session.silent()).count().max(1);
        let share = share.clamp(*REPORT.start(), *REPORT.end());
        let told = |(at, session): (usize, &&Session)| {
            let before: Vec<&str> = ended.iter().take(at + 1).map(|session| session.id.as_str()).collect();
            let (family, own) = (session.family(), session.id.as_str());
            let families = [Some(family), Some(own).filter(|own| *own != family)];
            let closed = families.into_iter().flatten().filter_map(|family| self.closed(family, &before));
            Report {
                key: format!("{}@{}", session.id, session.spawned_at),
                id: session.id.clone(),
                thread: session.thread.clone(),
                origin: session.origin.clone(),
                text: closed.fold(session.told(share), |text, closed| text + &closed),
                silent: session.silent(),
            }
        };
        ended.iter().enumerate().map(told).collect()
    }

    /// The sessions that have ended and are not reported yet.
    pub(super) fn unreported(&self) -> impl Iterator<Item = &Session> {
        self.all.iter().filter(|session| session.status.ended() && !session.reported)
    }

    /// The sentence that all of a family are reported with those in `told`, and which did not end as done. None
    /// where one is left, where a parent that goes on could spawn another, or where the family is one session.
    fn closed(&self, family: &str, told: &[&str]) -> Option<String> {
        let is_told = |session: &Session| session.reported || told.contains(&session.id.as_str());
        let kin: Vec<&Session> = self.all.iter().filter(|session| session.family() == family).collect();
        let all_told = kin.iter().all(|session| is_told(session)) && self.get(family).is_none_or(is_told);
        if kin.len() < 2 || !all_told {
            return None;
        }
        let lost = kin.iter().filter(|session| session.status != Status::Done);
        let lost: Vec<&str> = lost.map(|session| session.id.as_str()).collect();
        let but = match lost.is_empty() {
            true => String::new(),
            false => format!(", but for {}", clip(&lost.join(", "), MOST_NAMES)),
        };
        Some(format!(" (That was the last: all that {family} spawned are done{but}.)"))
    }

    /// Marks an ended session as reported; forgets the oldest above `MOST_KEPT` that no waiting one depends on.
    pub fn reported(&mut self, id: &str) {
        for session in self.all.iter_mut().filter(|session| session.id == id) {
            session.reported = session.status.ended();
        }
        let kept = self.all.iter().filter(|session| session.reported).count();
        let mut over = kept.saturating_sub(MOST_KEPT);
        let waiting = self.all.iter().filter(|session| session.status == Status::Waiting);
        let needed: Vec<String> = waiting.flat_map(|session| session.depends_on.clone()).collect();
        self.all.retain(|session| {
            let goes = over > 0 && session.reported && !needed.contains(&session.id);
            over -= usize::from(goes);
            !goes
        });
    }
}
