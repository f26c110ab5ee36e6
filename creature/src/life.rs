//! The one loop: hear, wake, sense, think, act, rest, dream; a file and a folder below for each.
//!
//! Invariant: a mind that is down, a garbled reply and a failing tool cost a record and a rest, never the
//! life. What ends a life: the guardian's wish, a rebirth, a memory that cannot be written, a panic.

pub mod birth;
pub mod carried;
pub mod passed;

// What every stage may ask or note: how things stand, own time, the owner's requests, calls beside the life.

pub(crate) mod jobs;
mod own;
mod requests;
mod situation;

// The loop within a wake: over its thoughts, over the calls of one, and while the mind is away.

mod calls;
mod meanwhile;
mod rounds;

// The stages, in their order: what was said, which mind there is, why to think, what is known, the thought, its calls,
// the rest, the night, the end. None calls one before it.

mod hear;

mod minds;

pub mod wake;

pub mod sense;

mod think;

pub mod act;

mod rest;

mod dreaming;

pub mod end;

use crate::config::{Handed, Settings, Told};
use crate::digest::Facts;
use crate::dream;
use crate::fault::Fault;
use crate::heartbeat::{Heart, Stage};
use crate::life::carried::newborn::Newborn;
use crate::life::carried::scanned::Scanned;
use crate::life::carried::unfinished::Unfinished;
use crate::life::carried::{Acts, Papers, Resting, Wakes};
use crate::life::own::OwnTime;
use crate::life::passed::{Ends, Reasons};
use crate::mind::Mind;
use crate::mind::access::Access;
use crate::mind::offered::Minds;
use crate::senses::cursors::{Cursors, Heard};
use crate::senses::watch::Watch;
use crate::store::Store;
use crate::store::caller::Caller;
use crate::subsessions::Steps;
use crate::tools::catalogue::LIST;
use crate::tools::{ToolContext, Toolbox};
use crate::watches::task::Watching;
use agenda::Change;
use agenda::own::OwnChange;
use agenda::reasons::ReasonChange;
use agenda::waking;
use mind::conversation::Conversation;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use tracing::instrument;

/// A life from birth to end.
pub struct Life {
    pub told: Told,
    pub cursors: Cursors,
    pub store: Store,
    pub toolbox: Toolbox,
    /// Caller in whose name the thought under way acts.
    pub caller: Caller,
    pub(crate) heart: Heart,
    pub(crate) settings: Settings,
    pub(crate) watch: Watch,
    /// The owner's words that memory holds already: read again from the inbox, they are not remembered twice.
    pub(crate) heard: Vec<Heard>,
    pub(crate) minds: Minds,
    pub(crate) wakes: Wakes,
    pub(crate) papers: Papers,
    pub(crate) unfinished: Unfinished,
    pub(crate) acts: Acts,
    pub(crate) resting: Resting,
    pub(crate) own: OwnTime,
    pub(crate) born: Newborn,
    pub(crate) handed: Handed,
    /// Steps of sub-sessions under way.
    pub(crate) steps: Steps,
    /// Conversations of sub-sessions, by the ids of these.
    pub(crate) talks: BTreeMap<String, Conversation>,
    pub(crate) access: Access,
    pub(crate) scanned: Scanned,
    /// Looks at what is watched, beside all else.
    pub(crate) watching: Option<Watching>,
}

pub use passed::Next;

/// The guardian's wish that this life ends.
pub trait Leaving {
    /// Completes once it is wished; safe to drop and call again.
    fn asked(&mut self) -> impl Future<Output = ()>;
}

impl Life {
    #[allow(clippy::too_many_arguments)] // Called once, by birth.
    pub(crate) fn new(
        told: Told,
        settings: Settings,
        (store, toolbox): (Store, Toolbox),
        mind: Mind,
        heart: Heart,
        cursors: Cursors,
        watch: Watch,
        heard: Vec<Heard>,
    ) -> Self {
        let scanned = Scanned::load(&told.house.scanned());
        Self {
            told,
            minds: Minds::new(mind),
            cursors,
            store,
            toolbox,
            caller: Caller::own(),
            heart,
            settings,
            watch,
            heard,
            wakes: Wakes::default(),
            papers: Papers::default(),
            unfinished: Unfinished::default(),
            acts: Acts::default(),
            resting: Resting::default(),
            own: OwnTime::default(),
            born: Newborn::default(),
            handed: None,
            steps: Steps::default(),
            talks: BTreeMap::new(),
            access: Access::default(),
            scanned,
            watching: None,
        }
    }

    /// Lends the toolbox and the store for a call in the name of `caller`.
    pub fn lend(&mut self, caller: Caller) -> ToolContext<'_> {
        let facts = self.facts();
        ToolContext { belt: &mut self.toolbox, store: &mut self.store, caller, facts }
    }

    /// Returns the facts of this life that a snapshot tells beside its records.
    pub(crate) fn facts(&self) -> Facts {
        Facts {
            life: self.told.life,
            commit: self.told.commit.clone(),
            thoughts: self.cursors.counts.thoughts,
            mind: self.minds.now.name(),
            tools: &LIST,
            ..Facts::default()
        }
    }

    /// Writes the cursors.
    pub fn save(&mut self) -> Result<(), Fault> {
        self.store.keep_cursors(&self.cursors)
    }

    /// Makes a change of the agenda.
    pub fn change(&mut self, change: &Change) -> Result<Value, Fault> {
        self.store.change(&self.caller, change)
    }

    /// Ends the look under way with the rest that the thought chose, if any.
    pub(crate) fn end_look(&mut self, rest_s: Option<u64>) {
        let allowed = rest_s.is_some() && self.has_own_time();
        let told = self.own.ended(&mut self.store, rest_s, allowed);
        self.heart.own(&told);
    }

    /// Takes over what calls in the background came to.
    pub(crate) fn settle_jobs(&mut self) {
        let events = &mut self.cursors.events;
        jobs::settle(&self.toolbox.jobs, &mut self.acts, &mut self.store, &mut self.unfinished, events);
    }

    /// Lives until it is asked to leave or is to be born again; the exit status is 0 for both.
    pub async fn live(mut self, leaving: &mut impl Leaving) -> Result<(), Fault> {
        let mut next = self.wake(leaving).await?;
        loop {
            next = match next {
                Next::Leave => return self.leave(),
                Next::Rest(rest) => match self.rest(Some(rest), leaving).await? {
                    Some(end) => end,
                    None => self.wake(leaving).await?,
                },
                Next::Reborn(summary) => match self.reborn(&summary, leaving).await? {
                    true => return Ok(()),
                    false => Next::Rest(self.clamped(0)),
                },
            };
        }
    }

    /// Does what came due, then, where there is a reason, has thoughts with no rest between.
    #[instrument(level = "debug", skip_all, fields(wake = self.cursors.counts.wakes.saturating_add(1)))]
    pub async fn wake(&mut self, leaving: &mut impl Leaving) -> Result<Next, Fault> {
        self.cursors.counts.wakes = self.cursors.counts.wakes.saturating_add(1);
        self.minds.quick_is_away = false;
        self.heart.stage(Stage::Sensing, Duration::from_secs(30));
        tokio::select! {
            biased;
            () = leaving.asked() => return Ok(Next::Leave),
            looked = self.look_out() => looked?,
        }
        tokio::select! {
            biased;
            () = leaving.asked() => return Ok(Next::Leave),
            ticked = self.tick() => ticked?,
        }
        self.settle_jobs();
        if let Some(summary) = self.acts.rebirth.take() {
            return Ok(Next::Reborn(summary));
        }
        let reasons = self.woken()?;
        // A quick look is a sub-session, at work in the rest after this wake.
        let ends = match reasons.why.is_empty() || self.quick_look(&reasons) {
            true => Ends::Rest(self.chosen(None)),
            false => self.minded(&reasons, leaving).await?,
        };
        self.heart.turn();
        self.save()?;
        let Ends::Rest(rest) = ends else { return Ok(Next::Leave) };
        if let Some(summary) = self.acts.rebirth.take() {
            return Ok(Next::Reborn(summary));
        }
        let dreamless = self.dream_and_sum_up(leaving).await?;
        Ok(Next::Rest(self.resting(rest, &reasons, dreamless, self.next_look())))
    }

    /// Takes what was said and does what came due; none of it needs a mind.
    async fn tick(&mut self) -> Result<(), Fault> {
        self.caller = Caller::own();
        self.own.ask = None;
        self.wakes.began = self.told.clock.now();
        if let Some(stop) = self.take_notice(None)? {
            self.obey(stop, true)?;
        }
        if self.told.safe {
            return Ok(());
        }
        let allowance = self.allowance();
        own::settle_in(&mut self.store, self.cursors.counts.thoughts, allowance.as_ref());
        self.attend_hour()?;
        let draft = self.draft();
        wake::draft::put_old_away(&mut self.store, draft, self.toolbox.patience).await?;
        self.papers.changed = dream::changed(&self.told.house);
        requests::end_waits(&mut self.store, &mut self.cursors, &self.toolbox.watches);
        self.scan().await
    }

    /// Begins a look as a sub-session of the quick model; whether it began. Without one the mind itself looks.
    fn quick_look(&mut self, reasons: &Reasons) -> bool {
        let Some(kind) = self.only_look(reasons).filter(|_| self.minds.quick().is_some()) else {
            return false;
        };
        let request = own::look(&self.store, kind, &self.scanned.news);
        let begun = self.store.made(&self.caller, &Change::Own(OwnChange::Began { look: kind })) && {
            let spawned = self.spawn_session(request);
            spawned.inspect_err(|fault| tracing::warn!("failed to {} ({})", fault.error, fault.hint)).is_ok()
        };
        if begun {
            self.scanned.given(kind, &self.told.house.scanned());
            let reason = waking::OWN.to_owned();
            self.store.made(&self.caller, &Change::Reason(ReasonChange::Asked { reason }));
        }
        begun
    }
}
