//! The loop over the calls of a thought: each is run, beside the life where it waits for something outside, and remembered.
//!
//! Invariant: what a call did is taken over when it ends. One for the owner that the owner's word finds running goes on
//! in the background, and the mind is told so; one of the creature's own goes on while the owner is answered in
//! another conversation. A stopped call leaves no process behind and no file half changed.

use crate::fault::Fault;
use crate::heartbeat::Stage;
use crate::jobs::{Job, Left};
use crate::life::act::{self, MOST_ARGS, Turn, args, patience};
use crate::life::passed::{Done, Ends, Reasons, Stop, Then};
use crate::life::{Leaving, Life, own};
use crate::store::caller::Caller;
use crate::store::feed::Event;
use crate::subsessions::Ended;
use crate::tools::marks::{Changes, Mark};
use crate::tools::tool_context::with;
use crate::tools::{CallOutcome, ToolContext, catalogue};
use ground::papers;
use ground::text::shorten;
use mind::thought::ToolCall;
use serde_json::{Value, json};
use std::pin::{Pin, pin};
use std::time::Duration;
use tracing::{Instrument, instrument};

/// Time between looks whether a reminder is due, and for a quick call to end though the owner waits.
const LOOK: Duration = Duration::from_secs(1);

/// The tool that waits for other calls.
const WAITS: &str = "job";

/// Decision about a call that runs beside the life.
enum Goes {
    On,
    /// The life was asked to leave.
    Left,
    /// It is to end, and why.
    Ends(&'static str),
    /// It is to end, for the owner said stop.
    Stops(Stop),
    /// The owner waits for the mind that waits for it.
    Background,
}

impl Life {
    /// Runs the calls of a thought in their order; those that are held back after one of them are told as not run.
    pub(super) async fn calls(
        &mut self,
        calls: &[ToolCall],
        turn: &Turn<'_>,
        leaving: &mut impl Leaving,
    ) -> Result<Done, Fault> {
        let mut all = Done::default();
        for call in calls {
            if let Some((why, hint)) = self.held_back(&all.then) {
                let why = format!("{} was not run: {why}", call.tool);
                self.acted(call, turn, CallOutcome::failed(why, hint))?;
                continue;
            }
            let done = self.call(call, turn, leaving).await?;
            all.progress |= done.progress;
            all.completed |= done.completed;
            all.then = done.then;
            if let Then::Left = all.then {
                break;
            }
        }
        Ok(all)
    }

    /// Says why the next call of a thought is not run, and what to do then.
    fn held_back(&mut self, then: &Then) -> Option<(&'static str, &'static str)> {
        self.settle_jobs();
        if self.acts.rebirth.is_some() {
            // The call could change the tree, which was rehearsed as it is.
            return Some(("a rebirth comes first", "call it in the next life"));
        }
        match then {
            Then::On | Then::Left => None,
            Then::Stopped(_) => {
                Some(("your owner said stop", "do not call it again unless your owner asks for it"))
            }
            Then::Heard => {
                Some(("your owner spoke while a call before it ran", "call it again if it is still wanted"))
            }
        }
    }

    /// Runs one call and remembers what came of it.
    #[instrument(level = "debug", skip_all, fields(tool = call.tool))]
    pub(super) async fn call(
        &mut self,
        call: &ToolCall,
        turn: &Turn<'_>,
        leaving: &mut impl Leaving,
    ) -> Result<Done, Fault> {
        let (caller, house) = (turn.caller, self.told.house.clone());
        self.heart.stage(Stage::Acting, patience(&call.tool));
        // The same answer to another word of the owner's is no repeat.
        let speaks = act::answers(call) && (caller.owner || self.minds.are_instinct());
        let blocked = self.acts.repeats.blocked(&act::key(call), self.told.clock.now());
        if let Some(why) = blocked.filter(|_| !speaks) {
            let why = format!("{} was not run: {why}", call.tool);
            let hint = "do something else; if it matters, note why it does not work";
            self.acted(call, turn, CallOutcome::failed(why, hint))?;
            return Ok(Done::default());
        }
        if let Some(why) = &call.refused {
            self.acted(call, turn, CallOutcome::failed(why, "nothing of it was done"))?;
            return Ok(Done::default());
        }
        if let Some(talk) = self.minds.now.talk() {
            talk.began(&call.id);
        }
        if catalogue::has(&call.tool, Mark::Ends) {
            self.toolbox.rests = self.rest_ends(caller, turn.reasons.beside);
        }
        let shown = [&self.cursors.papers.checklist, &self.papers.checklist];
        let checklist = act::knows_checklist(&house, shown, call);
        let (done, left, then) = match act::is_long(call) {
            true => self.beside(call, turn, leaving).await?,
            false => tokio::select! {
                biased;
                () = leaving.asked() => (left(call), Left::default(), Then::Left),
                (done, left) = self.at_once(call, caller) => (done, left, Then::On),
            },
        };
        let completed = left.completed;
        self.acts.take_over(&mut self.store, caller, left);
        let now = self.told.clock.now();
        act::knew_checklist(&mut self.cursors.papers, checklist, &house, now);
        let is_ok = done.result.get("ok") == Some(&Value::Bool(true));
        if call.tool == "purpose.rewrite" && is_ok {
            // Its own change is no news to it.
            self.cursors.papers.purpose = papers::read(&house.purpose()).mark();
        }
        let done = act::noted(&mut self.acts.repeats, call, done, now);
        self.own.counted(&mut self.store, call, caller, &done.result);
        self.acted(call, turn, done)?;
        Ok(Done { progress: act::works(call) && is_ok, completed, then })
    }

    /// Makes a call that waits for nothing outside; what it leaves to the life is to be taken over.
    pub(crate) async fn at_once(&mut self, call: &ToolCall, caller: &Caller) -> (CallOutcome, Left) {
        let facts = self.facts();
        let (belt, store, caller) = (&mut self.toolbox, &mut self.store, caller.clone());
        let mut tools = ToolContext { belt, store, caller, facts };
        let done = self.watch.own_act(CallOutcome::guarded(&call.tool, tools.call(call))).await;
        (done, std::mem::take(&mut self.toolbox.left))
    }

    /// Runs a call while the life goes on.
    async fn beside(
        &mut self,
        call: &ToolCall,
        turn: &Turn<'_>,
        leaving: &mut impl Leaving,
    ) -> Result<(CallOutcome, Left, Then), Fault> {
        let (caller, known, mut stop) = (turn.caller, self.watch.known(), None::<Stop>);
        let (job, mut running) = act::begin(&self.toolbox, &self.store, self.facts(), call, caller)?;
        loop {
            let mut step = None;
            let due = self.store.agenda.reminders.next_due();
            let waits = caller.owner && self.cursors.owner.is_unseen();
            tokio::select! {
                biased;
                () = leaving.asked() => {
                    // The owner who said stop before is told of it all the same.
                    let then = stop.map_or(Then::Left, |stop| stopped(stop, &job));
                    return Ok((left(call), Left::default(), then));
                }
                () = &mut running => break,
                () = self.watch.word() => {}
                ended = self.steps.ended() => step = Some(ended),
                () = tokio::time::sleep(LOOK), if due.is_some() || waits => {
                    if !waits && due.is_some_and(|due| due > self.told.clock.now()) {
                        continue;
                    }
                }
            }
            if let Some(ended) = step {
                let (taken, over) = both(self.goes_on_apart(ended), running.as_mut()).await;
                taken?;
                match over {
                    Some(()) => break,
                    None => continue,
                }
            }
            // The call runs on while the owner is answered.
            let (goes, ended) = both(self.meantime(turn, stop.is_some(), leaving), running.as_mut()).await;
            match (goes?, ended.is_some()) {
                (Goes::Left, _) => return Ok((left(call), Left::default(), Then::Left)),
                (Goes::Stops(said), is_over) => {
                    stop = Some(said.after(stop));
                    match is_over {
                        true => break,
                        false => job.stop("your owner said stop"),
                    }
                }
                (_, true) => break,
                (Goes::On, false) => self.heart.stage(Stage::Acting, patience(&call.tool)),
                (Goes::Ends(why), false) => job.stop(why),
                (Goes::Background, false) if call.tool == WAITS => job.hasten(),
                (Goes::Background, false) => {
                    job.goes_on_in_background();
                    tokio::spawn(running.in_current_span());
                    let note = "your owner spoke: this call runs on beside you. Answer first; the tool `job` looks at it, \
                        waits for it or ends it, and its end comes as news";
                    let result = json!({"ok": true, "job": job.id, "note": note});
                    let done = self.lend(caller.clone()).came(&call.tool, result);
                    return Ok((done, Left::default(), Then::Heard));
                }
            }
        }
        self.toolbox.jobs.forget(&job);
        let (done, left) = job
            .take()
            .unwrap_or_else(|| (CallOutcome::failed("it ended without a result", ""), Left::default()));
        self.watch.own_since(&known);
        Ok((done, left, stop.map_or(Then::On, |stop| stopped(stop, &job))))
    }

    /// Takes over the step of a sub-session; those that ended are reported.
    async fn goes_on_apart(&mut self, ended: Ended) -> Result<(), Fault> {
        self.step_ended(ended).await?;
        self.report_apart().map(drop)
    }

    /// Does what came due or was said while a call runs, and answers the owner unless the call `is_stopped`; what becomes
    /// of the call.
    async fn meantime(
        &mut self,
        turn: &Turn<'_>,
        is_stopped: bool,
        leaving: &mut impl Leaving,
    ) -> Result<Goes, Fault> {
        let (caller, reasons) = (turn.caller, Reasons { beside: true, ..turn.reasons.clone() });
        self.watch.know_word();
        match self.hear(turn.works_for())? {
            Some(stop) => return Ok(Goes::Stops(stop)),
            None if is_stopped => return Ok(Goes::On),
            None => {}
        }
        if !self.told.safe {
            self.attend_hour()?;
        }
        if self.told_to_pause() && !caller.owner {
            return Ok(Goes::Ends("your owner paused you"));
        }
        // A mind that is down is not asked again at every look: the waiting words are told why they wait.
        let away = self.is_down();
        if self.cursors.owner.words.is_empty() || !(away || self.cursors.owner.is_unseen()) {
            return Ok(Goes::On);
        }
        if caller.owner && !away {
            return Ok(Goes::Background);
        }
        if turn.reasons.beside {
            return Ok(Goes::On);
        }
        tracing::info!("the owner speaks: answered beside the call under way");
        let parked = self.minds.now.talk().and_then(|talk| talk.park());
        let (before, busy) = (self.caller.clone(), self.unfinished.busy.take());
        let ends = match away {
            true => Box::pin(self.meanwhile(false, &reasons, leaving)).await,
            false => Box::pin(self.minded(&reasons, leaving)).await.map(Some),
        };
        (self.unfinished.busy, self.caller) = (busy, before);
        if let Some(talk) = self.minds.now.talk() {
            talk.take_up(parked);
        }
        match ends? {
            Some(Ends::Leave) => Ok(Goes::Left),
            Some(Ends::Rest(_)) | None => Ok(Goes::On),
        }
    }

    /// Remembers what came of a call.
    fn acted(&mut self, call: &ToolCall, turn: &Turn<'_>, done: CallOutcome) -> Result<(), Fault> {
        let Turn { number, caller, .. } = *turn;
        self.heart.stage(Stage::Remembering, Duration::from_secs(60));
        let CallOutcome { result, shown, usage } = done;
        let ok = result.get("ok") == Some(&Value::Bool(true));
        // Instinct in the mind's place answers other words than those that wait for the mind.
        if ok && act::answers(call) && !caller.stands_in {
            // Instinct answers several threads in one thought, and names them.
            let named = call.args.get("data").and_then(|data| data.get("thread")).and_then(Value::as_str);
            self.cursors.owner.answered(named.unwrap_or(&caller.thread));
        }
        if ok && act::changes(call) == Changes::Memory {
            self.cursors.counts.summed_up();
        }
        if !ok {
            let error = result.get("error").and_then(Value::as_str).unwrap_or("no reason given");
            tracing::warn!("{} failed: {}", call.tool, shorten(error, 300));
        }
        self.acts.last = act::summary(call, &result);
        let told = json!({
            "thought": number, "tool": call.tool, "args": args(call, 300), "ok": ok, "summary": self.acts.last,
        });
        self.store.feed.tell(Event::Action, told);
        // An answer is in memory already, as a message.
        if !(ok && act::answers(call)) {
            let record = json!({
                "thought": number, "tool": call.tool, "args": args(call, MOST_ARGS), "result": result,
                "owner": caller.owner,
            });
            let record = with(record, json!({"usage": usage}));
            if usage.is_some() && !caller.owner && !own::is_apart(&self.store) {
                self.own.paid(&record);
            }
            self.store.record("action", record)?;
        }
        if let Some(talk) = self.minds.now.talk() {
            talk.done(&call.id, &shown, !ok);
        }
        Ok(())
    }
}

/// Returns the outcome of a call that the end of the life stopped.
fn left(call: &ToolCall) -> CallOutcome {
    let why = format!("{} was stopped: this life was asked to leave", call.tool);
    CallOutcome::failed(why, "try again in the next life")
}

/// Returns how calls go on after the owner's stop ended this one.
fn stopped(mut stop: Stop, job: &Job) -> Then {
    stop.ended.push(format!("`{}`", shorten(&job.what, 100)));
    Then::Stopped(stop)
}

/// Awaits `first` and goes on with `second` meanwhile; both results, of `second` only if it ended.
async fn both<A, B>(
    first: impl Future<Output = A>,
    mut second: Pin<&mut (impl Future<Output = B> + ?Sized)>,
) -> (A, Option<B>) {
    let (mut first, mut ended) = (pin!(first), None);
    loop {
        tokio::select! {
            biased;
            came = &mut first => return (came, ended),
            came = second.as_mut(), if ended.is_none() => ended = Some(came),
        }
    }
}
