//! State of things, for every stage to read: the stack, the checklist, pauses, money, the draft, requests.
//!
//! Invariant: nothing here changes anything.

use crate::life::Life;
use crate::life::passed::Reasons;
use crate::mind::outage::Outage;
use crate::senses::cursors::Waiting;
use crate::senses::{budget, typing};
use crate::store::Store;
use agenda::items::Item;
use agenda::own::{Allowance, Kind};
use agenda::requests::Request;
use agenda::stack::{self, Around, Category, Line};
use agenda::waking::{self, Found};
use ground::checklist;
use ground::papers::{self, Paper};
use ground::text;
use jiff::Timestamp;
use patch::draft::Draft;

/// Causes of an outage of which one word is told.
pub(super) const MOST_TOLD: usize = 3;

impl Life {
    /// The checklist; empty where the owner wants it left alone.
    pub(crate) fn checklist(&self) -> Paper {
        match self.settings.agenda.checklist {
            true => papers::read(&self.told.house.checklist()),
            false => Paper::default(),
        }
    }

    /// The owner's words that were not told of this outage.
    pub(crate) fn untold(&self) -> usize {
        let mark = self.access.outage().map(Outage::mark);
        let untold =
            |told: &[String]| told.len() < MOST_TOLD && mark.as_ref().is_none_or(|mark| !told.contains(mark));
        self.cursors.owner.words.iter().filter(|waiting| untold(&waiting.told)).count()
    }

    /// Returns how things stand, for the decision whether to think.
    pub(crate) fn found(&self, now: Timestamp) -> Found {
        let paper = self.checklist();
        let rests = self.resting.chosen(now).is_some();
        Found {
            newborn: !self.born.is_proven(),
            words: match self.is_down() {
                // A word whose owner was told why it waits is no reason until the next try.
                true => self.untold(),
                false => self.cursors.owner.words.iter().filter(|waiting| !self.is_put_off(waiting)).count(),
            },
            events: self.cursors.events.news.len() + usize::from(self.cursors.owner.interrupted.is_some()),
            purpose_changed: self.papers.purpose_changed,
            checklist_changed: self.settings.agenda.checklist
                && paper.mark() != self.cursors.papers.checklist
                && !(paper.text.trim().is_empty() && self.cursors.papers.checklist.is_empty()),
            items_due: self.items_due(&paper.text, now),
            request: self.ready_request().map(|line| line_named(&line)),
            line: self.first_line(now).map(|line| line_named(&line)),
            draft: self.draft_due().filter(|(at, _)| *at <= now && !rests).map(|(_, line)| line),
            unfinished: self.unfinished.any(),
            paused: self.paused(),
            down: self.is_down(),
            spent: self.access.spent_until(now).is_some(),
        }
    }

    /// The first line of its own work that is worth a thought; in a rest that a thought chose, only one that is new.
    pub(crate) fn first_line(&self, now: Timestamp) -> Option<Line> {
        let rest = self.resting.chosen(now);
        let is_new = |line: &Line| rest.is_none_or(|rest| line.changed_at > rest.began);
        let lines = self.stack().into_iter();
        lines
            .filter(|line| line.ready_at <= now && line.category != Category::Requests)
            .find(|line| is_new(line))
    }

    /// Recurring items of the checklist whose time has come.
    fn items_due(&self, checklist: &str, now: Timestamp) -> Vec<String> {
        let due =
            |line: &str| self.cursors.papers.items.get(line).is_none_or(|next_s| *next_s <= now.as_second());
        let items = checklist::open(checklist, self.minds.can_read())
            .into_iter()
            .filter(|item| item.every_s.is_some());
        items.filter(|item| due(&item.line)).map(|item| text::shorten(&item.text, 160)).collect()
    }

    /// Whether the owner paused the creature by a word.
    pub(crate) fn told_to_pause(&self) -> bool {
        self.store.agenda.directives.paused(self.told.clock.now()).is_some()
    }

    /// Returns the time until which it waits for a word that the owner is typing.
    pub fn typing_until(&self) -> Option<Timestamp> {
        typing::until(&self.told.house.typing(), self.told.clock.now())
    }

    /// Whether the owner paused the creature, by a word or by typing one.
    pub(crate) fn paused(&self) -> bool {
        self.told_to_pause() || self.typing_until().is_some()
    }

    /// The priority stack as it is now; empty in safe mode.
    pub(crate) fn stack(&self) -> Vec<Line> {
        if self.told.safe {
            return Vec::new();
        }
        let Store { agenda, rules, .. } = &self.store;
        stack::stack(agenda, rules, &self.around(), self.told.clock.now())
    }

    /// Whether nothing is done now that nobody asked for: where nothing is done at all, and while its own money is spent.
    pub(crate) fn held(&self, now: Timestamp) -> bool {
        self.is_stopped() || self.access.spent_until(now).is_some()
    }

    /// Whether no work is done now, the owner's included: in safe mode, while paused, and while the mind is down.
    pub(crate) fn is_stopped(&self) -> bool {
        self.told.safe || self.paused() || self.is_down()
    }

    /// Whether the mind is down, and not asked just now.
    pub(crate) fn is_down(&self) -> bool {
        self.access.is_down(self.told.clock.now())
    }

    /// Returns what asks for a thought beside the agenda: changed papers, open items of the checklist, own time.
    pub(crate) fn around(&self) -> Around {
        let items = match self.minds.are_instinct() {
            true => Vec::new(),
            false => checklist::items(&self.checklist().text),
        };
        let open = items.into_iter().filter(|item| item.every_s.is_none());
        let waiting = || self.cursors.owner.words.iter().map(|waiting| waiting.word.thread.clone()).collect();
        Around {
            changed: self.papers.changed.clone(),
            items: open.map(|item| item.text).collect(),
            own: self.allowance(),
            talks: self.minds.can_read().then(waiting),
        }
    }

    /// Whether the creature has time of its own at all.
    pub(crate) fn has_own_time(&self) -> bool {
        self.allowance().is_some()
    }

    /// Returns what owner and money allow for own time; none for instinct, while money is short, and where nobody said.
    pub(crate) fn allowance(&self) -> Option<Allowance> {
        if self.told.safe || self.told.rehearsal || self.access.poor || !self.minds.can_read() {
            return None;
        }
        let mut allowance = budget::allowance(&self.told.house.budget())?;
        let is_there = |kind: &Kind| match kind {
            Kind::Sources => !self.scanned.news.is_empty(),
            Kind::Opportunities => self.settings.revenue.enabled,
            Kind::Mentions => !self.store.agenda.presence.places.is_empty(),
            _ => true,
        };
        allowance.news = self.scanned.news.len();
        allowance.kinds = Kind::ALL.into_iter().filter(is_there).collect();
        Some(allowance)
    }

    /// The kind of look that is the only reason for this wake.
    pub(crate) fn only_look(&self, reasons: &Reasons) -> Option<Kind> {
        let first = self.first_line(self.told.clock.now())?;
        let alone = first.category == Category::Own && reasons.why.len() == 1;
        Kind::of_line(&first.id).filter(|_| alone && self.born.is_proven())
    }

    pub(crate) fn draft(&self) -> Option<Draft> {
        if self.told.safe || self.told.rehearsal {
            return None;
        }
        let draft = Draft::open(&self.told.house).inspect_err(|fault| tracing::warn!("{fault}"));
        draft.ok().flatten().filter(|draft| !draft.state.files.is_empty() || !draft.state.missed.is_empty())
    }

    /// Returns the time at which to look at the draft again, and its state in a line.
    pub(crate) fn draft_due(&self) -> Option<(Timestamp, String)> {
        let draft = self.draft()?;
        let touched = draft.state.touched.parse().ok()?;
        Some((waking::draft_due(touched, self.papers.draft_seen), draft.line()))
    }

    /// The first request of the owner's that a wake may be for now.
    pub(crate) fn ready_request(&self) -> Option<Line> {
        let now = self.told.clock.now();
        if self.is_stopped() || !self.minds.can_read() {
            return None;
        }
        self.stack().into_iter().find(|line| line.category == Category::Requests && line.ready_at <= now)
    }

    /// Whether a thought that saw this word chose a rest that is not over.
    pub(crate) fn is_put_off(&self, waiting: &Waiting) -> bool {
        let now = self.told.clock.now();
        let mut open = self.store.agenda.requests.open();
        let rests = |one: &Item<Request>| one.is_fresh() && one.not_before.is_some_and(|at| now < at);
        waiting.seen > 0 && open.any(|one| one.thread == waiting.word.thread && rests(one))
    }
}

/// A line of the stack as a reason names it.
fn line_named(line: &Line) -> String {
    format!("{} {}", line.id, text::shorten(&line.title, 100))
}
