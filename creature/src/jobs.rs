//! Jobs: calls that run beside the life, as its thoughts, its tools and its loop know them.
//!
//! Invariant: a job ends with the life at the latest, and its end is told once: by the tool `job`, or as news.

use crate::store::caller::Caller;
use crate::tools::CallOutcome;
use crate::tools::tool_context::{failure, with};
use ground::process::Output;
use ground::text::shorten;
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};

/// Commands that run in the background at once.
pub const MOST_RUNNING: usize = 4;

/// Jobs that are over and can still be looked at; of more, the oldest go.
const MOST_KEPT: usize = 8;

/// Characters told of the end of a job.
pub const MOST_END: usize = 1_000;

/// All jobs of a life.
#[derive(Clone, Default)]
pub struct Jobs(Arc<Shared>);

#[derive(Default)]
struct Shared {
    list: Mutex<Vec<Arc<Job>>>,
    begun: AtomicU64,
    ended: Notify,
}

/// Call that runs beside the life.
pub struct Job {
    pub id: String,
    /// The call in a line.
    pub what: String,
    pub caller: Caller,
    /// Output of its command so far.
    pub output: Output,
    began: Instant,
    /// Reason to end before its time; none while there is none.
    stop: watch::Sender<Option<String>>,
    /// It waits for others, and its owner spoke.
    hastened: watch::Sender<bool>,
    over: watch::Sender<bool>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Nobody waits for it: its end is news.
    in_background: bool,
    came: Option<CallOutcome>,
    took: Duration,
    /// The end was told to a thought.
    told: bool,
    /// Things it leaves to the life, until the life takes them over.
    left: Option<Left>,
}

/// Things that a call leaves to the life beside its outcome.
#[derive(Debug, Default, PartialEq)]
pub struct Left {
    /// Summary of a self-edit that passed: the life asks for rebirth and ends politely once it is blessed.
    pub rebirth: Option<String>,
    /// Tools of the owner's request that were used beside the life.
    pub used: Vec<String>,
    /// The wake ends with this thought, whose work is complete.
    pub completed: bool,
}

impl Jobs {
    /// Enters a call of this life that begins now.
    pub fn begin(&self, life: u64, what: String, caller: Caller) -> Arc<Job> {
        let number = self.0.begun.fetch_add(1, Ordering::Relaxed) + 1;
        let job = Arc::new(Job {
            id: format!("job-{life}-{number}"),
            what,
            caller,
            output: Output::default(),
            began: Instant::now(),
            stop: watch::Sender::new(None),
            hastened: watch::Sender::new(false),
            over: watch::Sender::new(false),
            state: Mutex::default(),
        });
        let mut list = self.list();
        list.push(Arc::clone(&job));
        let over = list.iter().filter(|job| job.is_settled()).count().saturating_sub(MOST_KEPT);
        let mut drop = over;
        list.retain(|job| {
            let goes = drop > 0 && job.is_settled();
            drop -= usize::from(goes);
            !goes
        });
        job
    }

    /// Strikes out a call that was waited for to its end.
    pub fn forget(&self, job: &Job) {
        self.list().retain(|known| known.id != job.id);
    }

    /// The job of this id.
    pub fn get(&self, id: &str) -> Option<Arc<Job>> {
        self.list().iter().find(|job| job.id == id).cloned()
    }

    /// All jobs, oldest first.
    pub fn all(&self) -> Vec<Arc<Job>> {
        self.list().clone()
    }

    /// Jobs that run and nobody waits for.
    pub fn in_background(&self) -> Vec<Arc<Job>> {
        let list = self.list();
        list.iter().filter(|job| !job.is_over() && job.state().in_background).cloned().collect()
    }

    /// Jobs in the background that ended since the last call: each, whether its end is still to be told, and what it
    /// leaves to the life.
    pub fn ended(&self) -> Vec<(Arc<Job>, bool, Left)> {
        let list = self.list();
        let ended = list.iter().filter_map(|job| {
            let mut state = job.state();
            if !state.in_background || state.came.is_none() {
                return None;
            }
            let left = state.left.take()?;
            Some((Arc::clone(job), !std::mem::replace(&mut state.told, true), left))
        });
        ended.collect()
    }

    /// Completes once a job in the background has ended.
    pub async fn end(&self) {
        self.0.ended.notified().await;
    }

    fn list(&self) -> MutexGuard<'_, Vec<Arc<Job>>> {
        self.0.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what came of a job, and what it leaves to the life.
    pub fn finish(&self, job: &Job, came: CallOutcome, left: Left) {
        let mut state = job.state();
        (state.came, state.left, state.took) = (Some(came), Some(left), job.began.elapsed());
        let is_news = state.in_background;
        drop(state);
        job.over.send_replace(true);
        if is_news {
            self.0.ended.notify_one();
        }
    }
}

impl Job {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_over(&self) -> bool {
        *self.over.borrow()
    }

    /// Whether it is over and the life has taken over what it left.
    fn is_settled(&self) -> bool {
        self.is_over() && self.state().left.is_none()
    }

    /// Notes that nobody waits for it from now on.
    pub fn goes_on_in_background(&self) {
        self.state().in_background = true;
    }

    /// Asks it to end before its time, and says why.
    pub fn stop(&self, why: &str) {
        self.stop.send_replace(Some(why.to_owned()));
    }

    /// Takes its end for told: nobody needs to hear of it.
    pub fn is_known(&self) {
        self.state().told = true;
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.borrow().is_some()
    }

    /// Completes with the reason once it is asked to end.
    pub async fn stopped(&self) -> String {
        let mut asked = self.stop.subscribe();
        let why = asked.wait_for(Option::is_some).await.ok().and_then(|why| why.clone());
        why.unwrap_or_default()
    }

    /// Asks a job that waits for others to say how things stand.
    pub fn hasten(&self) {
        self.hastened.send_replace(true);
    }

    /// Completes once it is asked to say how things stand.
    pub async fn hastened(&self) {
        let mut asked = self.hastened.subscribe();
        let _ = asked.wait_for(|asked| *asked).await;
    }

    /// Completes once it is over.
    pub async fn done(&self) {
        let mut over = self.over.subscribe();
        // Its sender lives as long as this job.
        let _ = over.wait_for(|over| *over).await;
    }

    /// Returns its outcome, as its caller reads it, and counts it as told.
    pub fn outcome_told(&self) -> Option<CallOutcome> {
        let mut state = self.state();
        state.told |= state.came.is_some();
        state.came.clone()
    }

    /// Takes the outcome of a call that was waited for to its end, and what it leaves.
    pub fn take(&self) -> Option<(CallOutcome, Left)> {
        let mut state = self.state();
        Some((state.came.take()?, state.left.take().unwrap_or_default()))
    }

    /// Returns its result where it was stopped: a failure with its output so far.
    pub fn cut(&self, why: &str) -> Value {
        let hint = "what it did until then stands: look before you do it again";
        with(failure(format!("{} was stopped: {why}", self.tool()), hint), Value::Object(self.said()))
    }

    /// Returns the output of its command so far, by stream; empty where it said nothing.
    pub fn said(&self) -> Map<String, Value> {
        let (stdout, stderr) = self.output.texts();
        let said = [("stdout", stdout), ("stderr", stderr)].into_iter().filter(|(_, text)| !text.is_empty());
        said.map(|(name, text)| (name.to_owned(), json!(text))).collect()
    }

    /// Returns the output of its command so far, as much as is told of the end of a job.
    pub fn said_so_far(&self) -> String {
        let said: String = self.said().values().filter_map(Value::as_str).collect::<Vec<_>>().join("\n");
        shorten(said.trim(), MOST_END)
    }

    /// Returns the name of its tool.
    fn tool(&self) -> &str {
        self.what.split(' ').next().unwrap_or_default()
    }

    /// Returns its state in a line.
    pub fn line(&self) -> String {
        let state = self.state();
        match &state.came {
            None => format!("{} runs for {} s: {}", self.id, self.began.elapsed().as_secs(), self.what),
            Some(came) => {
                let how = if came.result.get("ok") == Some(&Value::Bool(true)) { "done" } else { "failed" };
                format!("{} {how} after {} s: {}", self.id, state.took.as_secs(), self.what)
            }
        }
    }
}
