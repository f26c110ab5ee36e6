//! Work that thoughts of this life left unfinished: its own, the owner's threads, ends of jobs. Lost with the life.

/// Unfinished work a wake goes on with; losing it costs no more than a thought.
#[derive(Debug, Default)]
pub(crate) struct Unfinished {
    /// Next step an autonomous thought intended, while it wants another round.
    pub busy: Option<String>,
    /// Wakes in a row that ended before their work did: out of rounds, or by a mind that failed.
    overran: u32,
    /// The owner's threads that want another round, the one under way first.
    threads: Vec<String>,
    /// Ends of jobs that were begun for the owner, by thread, until a thought on it has them.
    ended_jobs: Vec<(String, String)>,
}

impl Unfinished {
    pub fn any(&self) -> bool {
        self.overran > 0 || !self.threads.is_empty() || !self.ended_jobs.is_empty()
    }

    /// The owner's thread that a wake goes on with.
    pub fn thread(&self) -> Option<String> {
        self.threads.first().or(self.ended_jobs.first().map(|(thread, _)| thread)).cloned()
    }

    /// Whether this thread of the owner's wants another round, and the last wake ended with none cut off.
    pub fn is_amid(&self, thread: &String) -> bool {
        self.overran == 0 && self.threads.contains(thread)
    }

    /// Takes up what an earlier life left: a thread of the owner's, or its own work.
    pub fn take_up(&mut self, thread: Option<String>) {
        match thread {
            Some(thread) => self.threads.push(thread),
            None => self.overran = self.overran.max(1),
        }
    }

    /// Notes whether a thread of the owner's wants another round; it goes on before any other.
    pub fn goes_on(&mut self, thread: &str, again: bool) {
        self.threads.retain(|known| known != thread);
        self.threads.splice(0..0, again.then(|| thread.to_owned()));
    }

    /// Gives up the threads that fit.
    pub fn give_up(&mut self, fits: impl Fn(&String) -> bool) {
        self.threads.retain(|thread| !fits(thread));
    }

    /// Notes that a wake ended by a mind that failed.
    pub fn failed(&mut self) {
        self.overran = 1;
    }

    /// Notes that a wake ended with its work.
    pub fn rested(&mut self) {
        self.overran = 0;
    }

    /// Notes that a wake is out of rounds; whether the one before it was not.
    pub fn overrun(&mut self) -> bool {
        self.overran += 1;
        self.overran == 1
    }

    /// Forgets what it was about to do of its own.
    pub fn stopped(&mut self) {
        (self.busy, self.overran) = (None, 0);
    }

    pub fn job_ended(&mut self, thread: &str, text: String) {
        self.ended_jobs.push((thread.to_owned(), text));
    }

    /// Ends of jobs that were begun for the owner on this thread.
    pub fn jobs_of(&self, thread: &str) -> Vec<String> {
        let ended = self.ended_jobs.iter().filter(|(of, _)| of == thread);
        ended.map(|(_, text)| text.clone()).collect()
    }

    /// Forgets the ends of jobs that a thought on this thread had.
    pub fn had_jobs(&mut self, thread: &str) {
        self.ended_jobs.retain(|(of, _)| of != thread);
    }

    /// Takes all ends of jobs that no thought had.
    pub fn take_jobs(&mut self) -> Vec<String> {
        std::mem::take(&mut self.ended_jobs).into_iter().map(|(_, text)| text).collect()
    }
}
