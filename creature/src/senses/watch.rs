//! Watches what may cut a rest short: inbox, typing, PURPOSE.md, checklist, outcomes of asks, news, settings, the budget file.
//!
//! Invariant: the stat is the truth and is taken every second; the kernel's events are only a hint to
//! look sooner. Parent folders are watched: a watch on a file goes deaf when the file is replaced.

use super::budget;
use crate::paths::House;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use std::cell::RefCell;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// Time between stats while resting.
const LOOK: Duration = Duration::from_secs(1);

/// How long files must not change before they are read; longer than the inbox waits for the end of
/// a line, or a last line without a newline would wait for the next wake.
const STILL: Duration = Duration::from_millis(300);

/// The metadata of a file by which a change is seen; zeros for a missing file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Stamp {
    inode: u64,
    size: u64,
    modified_s: i64,
    modified_ns: i64,
}

impl Stamp {
    fn of(path: &Path) -> Self {
        std::fs::metadata(path).map_or(Self::default(), |found| Self {
            inode: found.ino(),
            size: found.len(),
            modified_s: found.mtime(),
            modified_ns: found.mtime_nsec(),
        })
    }
}

/// The broker's budget file, which changes with every call; only a change of its `budget::mark` counts.
struct Money {
    path: PathBuf,
    /// The file and its mark when it was last read.
    seen: RefCell<(Stamp, String)>,
    /// The mark as the last wake knew it.
    known: String,
}

impl Money {
    fn mark(&self) -> String {
        let stamp = Stamp::of(&self.path);
        let mut seen = self.seen.borrow_mut();
        if seen.0 != stamp {
            let mark = budget::mark(&self.path);
            // A missing or half written file is no change.
            *seen = (stamp, if mark.is_empty() { seen.1.clone() } else { mark });
        }
        seen.1.clone()
    }
}

/// The watched files as the last thought knew them.
pub struct Watch {
    files: Vec<(PathBuf, Stamp)>,
    money: Money,
    hint: Arc<Notify>,
    /// Events stop when this is dropped; none where the kernel has no watches left.
    _watcher: Option<RecommendedWatcher>,
}

impl Watch {
    /// Starts watching; nothing is known yet, so that every file there is counts as changed.
    pub fn start(house: &House) -> Self {
        let hint = Arc::new(Notify::new());
        let files = [
            house.inbox(),
            house.typing(),
            house.purpose(),
            house.checklist(),
            house.asks(),
            house.news(),
            house.settings(),
        ];
        let names = [files.as_slice(), &[house.budget()]].concat();
        let watcher = watcher(&names, Arc::clone(&hint))
            .inspect_err(|error| tracing::warn!("failed to watch for changes: {error}"))
            .ok();
        let files = files.map(|path| (path, Stamp::default())).into();
        let money = Money { path: house.budget(), seen: RefCell::default(), known: String::new() };
        Self { files, money, hint, _watcher: watcher }
    }

    /// Takes the files as they are now for known. Called before they are read, so that what is written
    /// after the reading counts as new.
    pub fn know(&mut self) {
        for (path, stamp) in &mut self.files {
            *stamp = Stamp::of(path);
        }
    }

    /// Takes the inbox as it is now for known, and no other file.
    pub fn know_word(&mut self) {
        for (path, stamp) in self.files.iter_mut().filter(|(path, _)| path.ends_with("inbox.jsonl")) {
            *stamp = Stamp::of(path);
        }
    }

    /// Takes the mark of the budget file as it is now for known, and returns it.
    pub fn know_budget(&mut self) -> String {
        self.money.known = self.money.mark();
        self.money.known.clone()
    }

    /// Awaits `act`, an act of the creature's own: files that were as known before it are known as they are after.
    pub async fn own_act<T>(&mut self, act: impl Future<Output = T>) -> T {
        let known = self.known();
        let done = act.await;
        self.own_since(&known);
        done
    }

    /// Says which files are unchanged since they were known, in the order of `files`.
    pub fn known(&self) -> Vec<bool> {
        self.files.iter().map(|(path, stamp)| Stamp::of(path) == *stamp).collect()
    }

    /// Takes the files that were `known` before an act of the creature's own for known as they are now.
    pub fn own_since(&mut self, known: &[bool]) {
        for ((path, stamp), known) in self.files.iter_mut().zip(known) {
            // A change of the inbox is never the creature's own.
            if *known && !path.ends_with("inbox.jsonl") {
                *stamp = Stamp::of(path);
            }
        }
    }

    /// The name of a file that is not as it was known.
    pub fn changed(&self) -> Option<String> {
        self.files
            .iter()
            .find(|(path, stamp)| Stamp::of(path) != *stamp)
            .map(|(path, _)| path)
            .or_else(|| (self.money.mark() != self.money.known).then_some(&self.money.path))
            .map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned())
    }

    /// Rests until `rest` is over or something changed; says what did.
    pub async fn rest(&self, rest: Duration) -> Option<String> {
        let end = Instant::now() + rest;
        loop {
            if let Some(name) = self.changed() {
                self.settle().await;
                return Some(name);
            }
            let now = Instant::now();
            if now >= end {
                return None;
            }
            tokio::select! {
                () = sleep_until(end.min(now + LOOK)) => {}
                () = self.hint.notified() => {}
            }
        }
    }

    /// Completes once `rest` is over or something changed; without a time once the owner spoke.
    pub async fn cut(&self, rest: Option<Duration>) {
        match rest {
            None => self.word().await,
            Some(rest) => {
                if let Some(name) = self.rest(rest).await {
                    tracing::info!("rest cut short: {name} changed");
                }
            }
        }
    }

    /// Completes once the inbox is not as it was known, and holds still.
    pub async fn word(&self) {
        let spoken =
            |(path, stamp): &&(PathBuf, Stamp)| path.ends_with("inbox.jsonl") && Stamp::of(path) != *stamp;
        while !self.files.iter().any(|file| spoken(&file)) {
            tokio::select! {
                () = tokio::time::sleep(STILL) => {}
                () = self.hint.notified() => {}
            }
        }
        self.settle().await;
    }

    /// Waits until the files hold still, about a second at most: editors empty a file before they fill it.
    async fn settle(&self) {
        let stamps = || -> Vec<Stamp> { self.files.iter().map(|(path, _)| Stamp::of(path)).collect() };
        let mut before = stamps();
        for _ in 0..4 {
            tokio::time::sleep(STILL).await;
            let after = stamps();
            if after == before {
                return;
            }
            before = after;
        }
    }
}

fn watcher(files: &[PathBuf], hint: Arc<Notify>) -> notify::Result<RecommendedWatcher> {
    let names: Vec<_> = files.iter().filter_map(|path| path.file_name().map(ToOwned::to_owned)).collect();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // The folder of the inbox is also that of the heartbeat: only the watched names are worth waking for.
        let ours = |path: &PathBuf| path.file_name().is_some_and(|name| names.iter().any(|n| n == name));
        if event.is_ok_and(|event| !event.kind.is_access() && event.paths.iter().any(ours)) {
            hint.notify_one();
        }
    })?;
    for folder in files.iter().filter_map(|path| path.parent()).filter(|folder| folder.is_dir()) {
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
    }
    Ok(watcher)
}
