//! The heartbeat: beats while the loop keeps its deadlines, and stops when a stage is overstayed.
//!
//! Invariant: every stage is entered with an `until`, and no beat is written past it. A loop that
//! hangs therefore falls silent; this thread alone never keeps a dead mind looking alive.

use ground::files;
use serde::Serialize;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time between beats. The guardian takes a life for hung after 30 s of silence, so five may go missing.
const BEAT: Duration = Duration::from_secs(5);

/// Least time between writes, however fast the stages change, to spare the disk.
const SHORTEST: Duration = Duration::from_secs(1);

/// Most characters of `mind`, `odd` and `own`: of a heartbeat over 8,192 bytes the guardian understands nothing.
const MOST_NAME: usize = 200;

/// Stage of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Waking,
    Sensing,
    Thinking,
    Acting,
    Remembering,
    Resting,
    Waiting,
    Leaving,
}

/// The beating thread and what it is told.
pub struct Heart {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    pulse: Mutex<Pulse>,
    changed: Condvar,
    path: PathBuf,
    life: u64,
}

struct Pulse {
    stage: Stage,
    until: Instant,
    until_at: String,
    turns: u64,
    thoughts: u64,
    mind: String,
    odd: String,
    /// Result of the creature's own time.
    own: String,
    /// Time at which a mind that is away is asked again.
    next_try: Option<String>,
    /// The mind is away because the creature's own money is spent.
    spent: bool,
    /// Something changed since the last write.
    fresh: bool,
    stopped: bool,
}

impl Heart {
    /// Starts beating in stage `waking`; the first beat is written at once.
    pub fn start(path: &Path, life: u64, most: Duration) -> io::Result<Self> {
        let pulse = Pulse {
            stage: Stage::Waking,
            until: Instant::now() + most,
            until_at: from_now(most),
            turns: 0,
            thoughts: 0,
            mind: String::new(),
            own: String::new(),
            odd: String::new(),
            next_try: None,
            spent: false,
            fresh: true,
            stopped: false,
        };
        let shared = Arc::new(Shared {
            pulse: Mutex::new(pulse),
            changed: Condvar::new(),
            path: path.to_path_buf(),
            life,
        });
        let beating = Arc::clone(&shared);
        let thread =
            std::thread::Builder::new().name("heartbeat".to_owned()).spawn(move || beating.beat())?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Enters a stage that may last `most`; longer, and the beat stops.
    pub fn stage(&self, stage: Stage, most: Duration) {
        self.shared.stage(stage, most);
    }

    /// Enters stages of this heart for who does not hold it.
    pub fn stages(&self) -> impl Fn(Stage, Duration) + Send + Sync + use<> {
        let shared = Arc::clone(&self.shared);
        move |stage, most| shared.stage(stage, most)
    }

    /// Enters the stage it is in once more, when it is called, for as long as that may last.
    pub fn again(&self) -> impl Fn() + use<> {
        let (shared, pulse) = (Arc::clone(&self.shared), self.shared.lock());
        let (stage, until) = (pulse.stage, pulse.until);
        drop(pulse);
        move || shared.stage(stage, until.saturating_duration_since(Instant::now()))
    }

    /// Counts a finished turn of the loop, whatever came of it.
    pub fn turn(&self) {
        self.shared.lock().turns += 1;
    }

    /// Counts a readable thought, once it stands in memory.
    pub fn thought(&self) {
        self.shared.lock().thoughts += 1;
    }

    /// Names the mind in use.
    pub fn mind(&self, name: &str) {
        self.shared.lock().mind = name.chars().take(MOST_NAME).collect();
    }

    /// Says what of the owner's settings is not followed, for the guardian's status.
    pub fn odd(&self, said: &str) {
        self.shared.lock().odd = said.chars().take(MOST_NAME).collect();
    }

    /// Says what came of the creature's own time, for the guardian's status.
    pub fn own(&self, said: &str) {
        self.shared.lock().own = said.chars().take(MOST_NAME).collect();
    }

    /// Sets the time at which a mind that is away is asked again; none while it answers.
    pub fn next_try(&self, at: Option<String>) {
        let mut pulse = self.shared.lock();
        (pulse.next_try, pulse.spent) = (at, false);
    }

    /// Notes that the creature's own money is spent: its mind is asked for work of its own again at `at`.
    pub fn spent(&self, at: String) {
        let mut pulse = self.shared.lock();
        (pulse.next_try, pulse.spent) = (Some(at), true);
    }
}

impl Drop for Heart {
    /// Has a last beat written and waits for the thread to end.
    fn drop(&mut self) {
        self.shared.lock().stopped = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of that thread has ended the process already.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn stage(&self, stage: Stage, most: Duration) {
        let mut pulse = self.lock();
        pulse.stage = stage;
        pulse.until = Instant::now() + most;
        pulse.until_at = from_now(most);
        pulse.fresh = true;
        self.changed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Pulse> {
        self.pulse.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn beat(&self) {
        let mut written: Option<Instant> = None;
        let mut failing = false;
        let mut pulse = self.lock();
        loop {
            let since = written.map(|at| at.elapsed());
            let wait = match since {
                _ if pulse.stopped => Duration::ZERO,
                None => Duration::ZERO,
                Some(since) if pulse.fresh => SHORTEST.saturating_sub(since),
                Some(since) => BEAT.saturating_sub(since),
            };
            if !wait.is_zero() {
                pulse = self.changed.wait_timeout(pulse, wait).unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            // Silence past `until` counts as a write here, or this loop would spin.
            written = Some(Instant::now());
            if Instant::now() < pulse.until {
                let line = self.line(&pulse);
                let stopped = pulse.stopped;
                pulse.fresh = false;
                // The lock is let go: the disk may be slow, and the loop must not wait to change its stage.
                drop(pulse);
                let result = write_in_place(&self.path, &line);
                self.tell_of_write(&result, &mut failing);
                if stopped {
                    return;
                }
                pulse = self.lock();
            } else {
                pulse.fresh = false;
                if pulse.stopped {
                    return;
                }
            }
        }
    }

    fn line(&self, pulse: &Pulse) -> String {
        let mut beat = json!({
            "life": self.life,
            "pid": std::process::id(),
            "turns": pulse.turns,
            "thoughts": pulse.thoughts,
            "stage": pulse.stage,
            "until": pulse.until_at,
            "mind": pulse.mind,
        });
        if let (Value::Object(fields), false) = (&mut beat, pulse.odd.is_empty()) {
            fields.insert("odd".to_owned(), json!(pulse.odd));
        }
        if let (Value::Object(fields), false) = (&mut beat, pulse.own.is_empty()) {
            fields.insert("own".to_owned(), json!(pulse.own));
        }
        if let (Value::Object(fields), Some(at)) = (&mut beat, &pulse.next_try) {
            fields.insert("next_try".to_owned(), json!(at));
            if pulse.spent {
                fields.insert("spent".to_owned(), json!(true));
            }
        }
        format!("{beat}\n")
    }

    /// Says once that writing fails, and once that it works again.
    fn tell_of_write(&self, result: &io::Result<()>, failing: &mut bool) {
        match result {
            Err(error) if !*failing => {
                tracing::warn!("failed to write {}: {error}", self.path.display());
                *failing = true;
            }
            Ok(()) if *failing => {
                tracing::info!("{} can be written again", self.path.display());
                *failing = false;
            }
            _ => {}
        }
    }
}

/// Writes over the old line, then cuts off the rest. Opens the file anew each time: if it was replaced, an
/// open descriptor would go on writing where nobody looks.
fn write_in_place(path: &Path, line: &str) -> io::Result<()> {
    let open = || files::open_with(OpenOptions::new().write(true).create(true).truncate(false), path);
    let file = match open() {
        // The guardian reads a regular file under this name, and nothing else.
        Err(error) if files::is_in_the_way(&error) => memory::set_aside(path).and_then(|()| open())?,
        file => file?,
    };
    file.write_all_at(line.as_bytes(), 0)?;
    file.set_len(line.len() as u64)
}

fn from_now(most: Duration) -> String {
    let at = jiff::Timestamp::now();
    let span = jiff::SignedDuration::try_from(most).unwrap_or(jiff::SignedDuration::ZERO);
    format!("{:.3}", at.checked_add(span).unwrap_or(at))
}
