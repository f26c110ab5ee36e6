//! The dream: nightly, facts are merged, the pulse is tended and what is long finished forgotten; it can be undone.
//!
//! Invariant: each part stands alone: one that fails or panics is recorded as failed, and the next begins.
//! Invariant: whatever ends the life in the middle, the next life ends the dream; doing a part again does no harm.

mod asked;
mod talked;

use crate::dream::facts::{facts_text, keep_facts, search_paths};
use crate::dream::state::{DreamState, PartResult, UnderWay};
use crate::dream::{undoing, upkeep};
use crate::fault::Fault;
use crate::heartbeat::Stage;
use crate::life::{Leaving, Life};
use crate::panic::caught;
use crate::paths::House;
use crate::store::Store;
use crate::store::caller::Caller;
use crate::store::feed::Event;
use agenda::pulse::PulseChange;
use agenda::{Change, When};
use ground::files;
use jiff::{Timestamp, ToSpan};
use knowledge::facts::{self, Fact};
use mind::conversation;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

/// The parts of a dream in their order: those that change something come before those that read the result.
const PARTS: [&str; 7] = ["facts", "thought", "pulse", "purge", "snapshot", "index", "upkeep"];

/// Parts whose before and after are kept, so that they can be undone.
const KEPT: [&str; 4] = ["facts", "thought", "pulse", "purge"];

/// Hours after which what is finished is forgotten: thirty days.
const FINISHED_H: i64 = 30 * 24;

/// Bytes of memory indexed in one step, about a second's work, and most steps of a dream.
const INDEX_STEP: u64 = 16 << 20;
const INDEX_STEPS: usize = 10;

impl Life {
    /// Returns the time of the next dream; never in safe mode or a rehearsal.
    pub fn next_dream(&self, now: Timestamp) -> Timestamp {
        if self.told.safe || self.told.rehearsal {
            return Timestamp::MAX;
        }
        DreamState::load(&self.told.house).next(&self.settings.dream.at, now)
    }

    /// Dreams if it is time, or ends the dream that was cut off. Asked to leave, it leaves the rest to the next life.
    pub async fn dream_if_due(&mut self, leaving: &mut impl Leaving) -> Result<(), Fault> {
        if self.told.safe || self.told.rehearsal {
            return Ok(());
        }
        let now = self.told.clock.now();
        let mut state = DreamState::load(&self.told.house);
        let due = state.next(&self.settings.dream.at, now) <= now;
        if !due && state.since.is_some() {
            return Ok(());
        }
        state.since = Some(now);
        if due && state.under_way.is_none() {
            let name = now.strftime("%Y%m%dT%H%M%S.%3fZ").to_string();
            state.under_way = Some(UnderWay { name, at: now, ..UnderWay::default() });
            state.wanted = false;
        }
        // A dream whose state cannot be written would come again at each wake.
        if self.keep_dream_state(&state)? && due { self.dream(state, leaving).await } else { Ok(()) }
    }

    /// Writes the state of dreams; whether that worked.
    fn keep_dream_state(&mut self, state: &DreamState) -> Result<bool, Fault> {
        match state.save(&self.told.house) {
            Ok(()) => Ok(true),
            Err(fault) => self.store.observe("dream", &fault.error).map(|()| false),
        }
    }

    async fn dream(&mut self, mut state: DreamState, leaving: &mut impl Leaving) -> Result<(), Fault> {
        let Some(mut under) = state.under_way.take() else { return Ok(()) };
        tracing::info!("dreaming {}", under.name);
        for part in PARTS {
            if !under.begin(part) {
                continue;
            }
            state.under_way = Some(under.clone());
            if !self.keep_dream_state(&state)? {
                return Ok(());
            }
            let came = caught(part, self.part(part, &under.name, &mut state, leaving)).await;
            let (ok, said) = match came.and_then(|came| came) {
                Ok(Some(said)) => (true, said),
                // Asked to leave: this part was not tried.
                Ok(None) => {
                    under.begun.remove(part);
                    state.under_way = Some(under);
                    return self.keep_dream_state(&state).map(|_| ());
                }
                Err(fault) => (false, fault.error),
            };
            if !ok {
                tracing::warn!("dreaming, {part}: {said}");
            }
            under.came.push(PartResult { part: part.to_owned(), ok, said });
        }
        self.heart.stage(Stage::Remembering, Duration::from_secs(60));
        if let Err(fault) = undoing::end(&self.told.house, &under) {
            self.store.observe("dream", &fault.error)?;
        }
        let told = json!({"name": under.name, "parts": under.came});
        self.store.record("dream", told.clone())?;
        let failed = under.came.iter().filter(|came| !came.ok).count();
        let summary = format!("dreamed: {} parts, {failed} of them failed", under.came.len());
        self.store.feed.tell(Event::Action, json!({"dream": told, "summary": summary}));
        state.under_way = None;
        self.keep_dream_state(&state).map(|_| ())
    }

    /// Does one part; none where the life was asked to leave before it was done.
    async fn part(
        &mut self,
        part: &str,
        dream: &str,
        state: &mut DreamState,
        leaving: &mut impl Leaving,
    ) -> Result<Option<String>, Fault> {
        let patience = if part == "index" { 180 } else { 60 };
        self.heart.stage(Stage::Remembering, Duration::from_secs(patience));
        if KEPT.contains(&part) {
            undoing::before(&self.store, dream, part)?;
        }
        let said = match part {
            "facts" => Some(merged(&self.told.house)?),
            "thought" => self.ask_the_model(dream, state, leaving).await?,
            "pulse" => Some(closed(&mut self.store, &self.caller)?),
            "purge" => Some(self.purged()?),
            "snapshot" => {
                let facts = self.facts();
                let (path, _) = self.store.keep_snapshot(&facts, None)?;
                self.cursors.counts.summed_up();
                Some(path)
            }
            "index" => self.indexed(leaving).await?,
            _ => {
                let said = self.kept_up(state);
                self.save()?;
                Some(said)
            }
        };
        if said.is_some() && KEPT.contains(&part) {
            undoing::after(&self.store, dream, part)?;
        }
        Ok(said)
    }

    /// Asks a model about facts and pulse, and does what it says; none where the life was asked to leave meanwhile.
    async fn ask_the_model(
        &mut self,
        dream: &str,
        state: &mut DreamState,
        leaving: &mut impl Leaving,
    ) -> Result<Option<String>, Fault> {
        if !self.minds.can_read() {
            return Ok(Some("no model: instinct dreams without words".to_owned()));
        }
        let question = match asked::question(&self.store, &state.asked)? {
            Ok(question) => question,
            Err(why) => return Ok(Some(why)),
        };
        let dreamer = asked::dreamer(&mut self.minds, &self.settings, &self.told)?;
        let Some((mind, is_other)) = dreamer else { return Ok(None) };
        let (stage, patience) = (self.heart.stages(), mind.patience() + Duration::from_secs(10));
        let alive = move || stage(Stage::Thinking, patience);
        alive();
        let asking = asked::ask((mind, is_other), &self.told, dream, &question, alive);
        // Where the owner speaks the dream goes on at the next wake.
        let Some(outcome) = self.beside_apart(asking, leaving).await? else { return Ok(None) };
        self.heart.stage(Stage::Remembering, Duration::from_secs(60));
        let (said, asked) = asked::answered(&mut self.store, &self.caller, &question, outcome?)?;
        state.asked = asked;
        Ok(Some(said))
    }

    /// Indexes memory from where the index ends, some steps far; none where the life was asked to leave.
    async fn indexed(&mut self, leaving: &mut impl Leaving) -> Result<Option<String>, Fault> {
        let house = &self.told.house;
        let mut unindexed_bytes = 0;
        for _ in 0..INDEX_STEPS {
            unindexed_bytes = knowledge::update(&house.index(), &search_paths(house), INDEX_STEP)
                .map_err(|cause| Fault::caused("tend the index", &cause, "is the disk full?"))?;
            tokio::select! {
                biased;
                () = leaving.asked() => return Ok(None),
                () = std::future::ready(()) => {}
            }
            if unindexed_bytes == 0 {
                break;
            }
        }
        Ok(Some(format!("{} KiB of memory are not indexed yet", unindexed_bytes >> 10)))
    }

    fn purged(&mut self) -> Result<String, Fault> {
        let before = self.told.clock.now().checked_sub(FINISHED_H.hours()).unwrap_or(Timestamp::MIN);
        let talks = self.purge_talks();
        let said = self.purge_agenda(before)?;
        Ok(if talks == 0 { said } else { format!("{said}, {talks} old conversations") })
    }

    /// Removes conversations of which nothing was heard for as long; how many. Its own work, sessions at work and threads
    /// with an open request keep theirs, and memory keeps every word.
    fn purge_talks(&self) -> usize {
        // Files are dated by the system's clock.
        let before = Timestamp::now().checked_sub(FINISHED_H.hours()).unwrap_or(Timestamp::MIN);
        let folder = self.told.house.conversations();
        let sessions = self.store.sessions.all.iter().filter(|session| !session.status.ended());
        let apart = sessions.map(|session| folder.join(format!("apart-{}.jsonl", session.id)));
        let open = self.store.agenda.requests.open();
        let talks = open.map(|one| conversation::file(&folder, Some(&one.thread)));
        let kept: Vec<_> = apart.chain(talks).chain([conversation::file(&folder, None)]).collect();
        let is_old = |file: &fs::DirEntry| {
            let changed = file.metadata().ok().and_then(|found| found.modified().ok());
            changed.and_then(|at| Timestamp::try_from(at).ok()).is_some_and(|at| at < before)
        };
        let old = files::entries(&folder).filter(|file| !kept.contains(&file.path()) && is_old(file));
        old.filter(|file| files::remove(&file.path()).is_ok()).count()
    }

    fn purge_agenda(&mut self, before: Timestamp) -> Result<String, Fault> {
        let now = self.told.clock.now();
        let change = Change::Purge { before };
        // Nothing to forget is no change: memory and the agenda stay as they are.
        let when = When { now, thread: "main", owner: false, rules: &self.store.rules };
        if self
            .store
            .agenda
            .clone()
            .apply(&change, when)
            .is_ok_and(|done| done.get("purged") == Some(&json!(0)))
        {
            return Ok("0 forgotten".to_owned());
        }
        let done = self.change(&change)?;
        Ok(format!("{} forgotten", done.get("purged").unwrap_or(&Value::Null)))
    }

    /// Measures the papers for a thought of its own, which is told what grew too long since; that wakes nobody.
    pub(crate) fn measure(&mut self) {
        if self.told.safe || self.told.rehearsal || !self.minds.can_read() {
            return;
        }
        let mut state = DreamState::load(&self.told.house);
        let before = state.told.clone();
        self.kept_up(&mut state);
        if state.told != before
            && let Err(fault) = state.save(&self.told.house)
        {
            tracing::warn!("failed to {} ({})", fault.error, fault.hint);
        }
    }

    /// Tells a thought which papers grew too long: each once, and again when it is a quarter longer.
    fn kept_up(&mut self, state: &mut DreamState) -> String {
        let mut long = Vec::new();
        for (what, chars, most) in upkeep::lengths(&self.store) {
            if chars <= most {
                state.told.remove(what);
                continue;
            }
            if state.told.get(what).is_none_or(|said| chars > said + said / 4) {
                state.told.insert(what.to_owned(), chars);
                let text = format!("Upkeep: {what} has {chars} characters; condense it to less than {most}.");
                self.cursors.events.tell(text);
            }
            long.push(what);
        }
        if long.is_empty() {
            return "all is short enough".to_owned();
        }
        format!("too long: {}", long.join(", "))
    }

    /// After the wake's own thoughts: the dream, if it is due, and a talk that is over summed up. Whether the dream is due
    /// and could not be had.
    pub(crate) async fn dream_and_sum_up(&mut self, leaving: &mut impl Leaving) -> Result<bool, Fault> {
        let now = self.told.clock.now();
        let mut dreamless = false;
        if !self.told.safe && !self.paused() {
            self.dream_if_due(leaving).await?;
            dreamless = self.next_dream(now) <= now;
        }
        if !self.held(now) {
            self.sum_up_talks(leaving).await?;
        }
        Ok(dreamless)
    }
}

fn merged(house: &House) -> Result<String, Fault> {
    let text = facts_text(house)?;
    let merged = facts::merge(&text);
    let gone = facts::list(&text).len() - facts::list(&merged).len();
    if gone == 0 {
        return Ok("no two facts are the same".to_owned());
    }
    keep_facts(house, &merged)?;
    Ok(format!("{gone} facts merged"))
}

/// Closes concerns that say the same as an older one for the same thread.
fn closed(store: &mut Store, caller: &Caller) -> Result<String, Fault> {
    let open: Vec<_> = store.agenda.pulse.open().cloned().collect();
    let mut first: BTreeMap<(String, Vec<String>), String> = BTreeMap::new();
    let mut closed = 0;
    for concern in open {
        let sense = (concern.thread, Fact::new(&concern.about, "", "").sense());
        let older = first.entry(sense).or_insert_with(|| concern.id.clone());
        if *older != concern.id {
            let why = format!("it says the same as {older}");
            store.change(caller, &Change::Pulse(PulseChange::Close { id: concern.id, why }))?;
            closed += 1;
        }
    }
    Ok(format!("{closed} concerns closed"))
}
