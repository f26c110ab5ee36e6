//! Stop: the owner's word that ends what is under way, and what runs beside the life: what ended, and who is told.
//!
//! Invariant: after it nothing of what was stopped is paid for; what there was is kept, and the owner is told.

use crate::fault::Fault;
use crate::jobs::Job;
use crate::life::Life;
use crate::life::passed::Stop;
use crate::senses::cursors::Waiting;
use crate::store::caller::Caller;
use agenda::Change;
use agenda::directive::{self, DirectiveChange, Wish};
use agenda::items::Item;
use agenda::requests::{Request, RequestChange};
use ground::text::shorten;
use jiff::ToSpan;
use mind::moment::Word;
use serde_json::json;
use std::collections::BTreeSet;

/// Minutes for which it does nothing of its own after its own work was stopped.
const HELD_MIN: i64 = 10;

/// Characters kept of a thought that was cut.
const MOST_CUT: usize = 8_000;

impl Life {
    /// Takes a word for a stop: what waited for an answer before it does no longer. A plain `stop` is a pause where
    /// nothing of the owner's is under way. None for another word.
    pub(super) fn stop_said(&mut self, word: &Word, id: &str, works_for: Option<&str>) -> Option<Stop> {
        if self.told.safe || !directive::stops(&word.text) {
            return None;
        }
        let (now, zone) = (self.told.clock.now(), &self.store.rules.time_zone);
        let is_idle = works_for.is_none() && self.works_apart().is_empty();
        // With nothing under way instinct knows what `cancel that` means: the last thing it made.
        let is_instincts = self.minds.are_instinct()
            && word.text.trim_start().get(..6).is_some_and(|verb| verb.eq_ignore_ascii_case("cancel"));
        if is_idle && (is_instincts || directive::understand(&word.text, now, zone).is_some()) {
            return None;
        }
        let at = self.cursors.owner.words.iter().position(|waiting| waiting.id == id).unwrap_or(0);
        let (mut nth, mut cancelled) = (0, Vec::new());
        self.cursors.owner.words.retain(|waiting| {
            let of = [Some(word.thread.as_str()), works_for].contains(&Some(waiting.word.thread.as_str()));
            nth += 1;
            let stays = nth > at && waiting.id != id || nth <= at && !of;
            cancelled.extend((!stays && waiting.id != id).then(|| waiting.clone()));
            stays
        });
        let (thread, work) = (word.thread.clone(), works_for.map(str::to_owned));
        let mut stop = Stop { thread, work, cancelled, ..Stop::default() };
        // Before it is obeyed: a death until then must not have it taken up again.
        stop.threads = self.give_up(&stop);
        Some(stop)
    }

    /// Keeps what was said of a thought that was cut short, for its records and for its conversation.
    pub(crate) fn keep_cut(&mut self, by_stop: bool, thread: Option<&str>) -> Result<(), Fault> {
        let said = ground::papers::read(&self.told.house.thinking()).text;
        let said = shorten(said.trim(), MOST_CUT);
        let why = if by_stop { "your owner said stop" } else { "your owner spoke" };
        let text = match said.is_empty() {
            true => format!("your last thought was cut before its first word: {why}"),
            false => format!("your last thought was cut: {why}. It had said: {said}"),
        };
        self.store.record("observation", json!({"about": "cut", "text": text}))?;
        let (life, now_s) = (self.told.life, self.told.clock.now().as_second());
        if let (true, Some(talk)) = (by_stop, self.minds.now.talk()) {
            talk.stopped(thread, &text, life, now_s);
        }
        Ok(())
    }

    /// Ends what the owner's word means that says stop, and says what that was. `own`: nothing of the owner's is under way.
    pub(crate) fn obey(&mut self, mut stop: Stop, mut own: bool) -> Result<(), Fault> {
        let unseen = stop.cancelled.iter().filter(|waiting| waiting.seen == 0);
        let unbegun: Vec<String> = unseen
            .map(|waiting| format!("what you asked, \"{}\"", shorten(&waiting.word.text, 80)))
            .collect();
        let mut threads = std::mem::take(&mut stop.threads);
        if stop.ended.is_empty() && unbegun.is_empty() {
            let mut owners = self.stop_jobs(&mut stop.ended)?;
            let (apart, worked_for) = self.cancel_apart()?;
            owners.extend(worked_for);
            stop.ended.extend(apart);
            let mut stopped = self.worked_for(&owners, &stop.ended);
            let goes_on = self.goes_on(&stop.thread, &stopped);
            stop.ended
                .extend(goes_on.iter().map(|one| format!("{} (\"{}\")", one.id, shorten(&one.about, 80))));
            stopped.extend(goes_on);
            owners.extend(stopped.iter().map(|one| one.thread.clone()));
            self.close_stopped(stopped);
            own &= owners.is_empty();
            threads.extend(owners);
        }
        let holds = own && !stop.ended.is_empty();
        stop.ended.extend(unbegun);
        let mut text = match stop.ended.is_empty() {
            true => "Nothing was under way.".to_owned(),
            false => format!("Stopped: {}. What there is of it is kept.", stop.ended.join(", ")),
        };
        if holds {
            let until = self.told.clock.now().checked_add(HELD_MIN.minutes()).ok();
            let set = DirectiveChange::Set { wish: Wish::Pause, text: "stop".to_owned(), until };
            self.store.made(&Caller::owner(&stop.thread), &Change::Directive(set));
            text += &format!(" I do nothing of my own for {HELD_MIN} minutes, unless you say `resume`.");
        }
        let jobs = self.toolbox.jobs.in_background();
        let running = jobs.iter().filter(|job| !job.is_stopped()).map(|job| job_named(job));
        let running: Vec<String> = running.chain(self.works_apart()).collect();
        if !running.is_empty() {
            text += &format!(" In the background still: {}; `stop that` again ends it.", running.join(", "));
        }
        self.store.say("answer", &stop.thread, &text)?;
        threads.retain(|thread| *thread != stop.thread);
        for thread in threads {
            let text =
                format!("Stopped, as you said on thread {}. What there is of it is kept.", stop.thread);
            self.store.say("answer", &thread, &text)?;
        }
        self.unfinished.stopped();
        self.cursors.owner.interrupted = None;
        if let Some(talk) = self.minds.now.talk() {
            talk.rested();
        }
        self.save()
    }

    /// Ends what the owner asked for and the stop ended: it is not taken up again. The threads it was asked on.
    fn give_up(&mut self, stop: &Stop) -> BTreeSet<String> {
        let since = self.wakes.began;
        let open = || self.store.agenda.requests.open();
        let is_cancelled = |one: &Item<Request>| {
            let is_it = |waiting: &Waiting| {
                waiting.word.thread == one.thread && waiting.word.text.trim().starts_with(&one.about)
            };
            one.is_fresh() && stop.cancelled.iter().any(is_it)
        };
        let cancelled = open().filter(|one| is_cancelled(one));
        let worked = stop.work.iter().flat_map(|work| self.store.agenda.requests.under_work(work, since));
        let stopped: Vec<Item<Request>> = cancelled.chain(worked).cloned().collect();
        let mut threads: BTreeSet<String> = stop.work.iter().cloned().collect();
        threads.extend(stop.cancelled.iter().map(|waiting| waiting.word.thread.clone()));
        self.close_stopped(stopped);
        self.unfinished.give_up(|working| *working == stop.thread || threads.contains(working));
        threads
    }

    /// The requests that what was `ended` worked for: those that wait for it by its name, and of these threads of the owner's
    /// those that were worked on last.
    fn worked_for(&self, threads: &BTreeSet<String>, ended: &[String]) -> Vec<Item<Request>> {
        let open = || self.store.agenda.requests.open();
        let last =
            |thread: &str| open().filter(|one| one.thread == thread).filter_map(|one| one.worked_at).max();
        let is_for = |one: &&Item<Request>| match &one.wait {
            Some(wait) => ended.iter().any(|what| wait.is_for(what)),
            None => {
                threads.contains(&one.thread) && one.worked_at.is_some() && one.worked_at == last(&one.thread)
            }
        };
        open().filter(is_for).cloned().collect()
    }

    /// The other requests of a thread that a wake to come would go on with.
    fn goes_on(&self, thread: &str, but: &[Item<Request>]) -> Vec<Item<Request>> {
        let open = self.store.agenda.requests.open();
        let goes_on = |one: &&Item<Request>| one.thread == thread && one.wait.is_none() && !but.contains(one);
        open.filter(goes_on).cloned().collect()
    }

    fn close_stopped(&mut self, stopped: Vec<Item<Request>>) {
        for Item { id, thread, .. } in stopped {
            let close = RequestChange::Close { id, reason: "stopped by your owner".to_owned() };
            self.store.made(&Caller::owner(&thread), &Change::Request(close));
        }
    }

    /// Ends the calls in the background; their ends are no reason to think. The threads of the owner's that they ran for.
    fn stop_jobs(&mut self, ended: &mut Vec<String>) -> Result<BTreeSet<String>, Fault> {
        let mut threads = BTreeSet::new();
        for job in self.toolbox.jobs.in_background() {
            job.stop("your owner said stop");
            job.is_known();
            ended.push(job_named(&job));
            let text = format!("{}; your owner said stop. It had said: {}", job.line(), job.said_so_far());
            self.store.record("observation", json!({"about": "cut", "text": text}))?;
            threads.extend(job.caller.owner.then(|| job.caller.thread.clone()));
        }
        Ok(threads)
    }
}

fn job_named(job: &Job) -> String {
    format!("{} ({})", job.id, shorten(&job.what, 80))
}
