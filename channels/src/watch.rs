//! Waits until files of the house change: memory, asks, what the guardian writes; without looking again and again.

use house::House;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::path::PathBuf;
use std::time::Duration;
use tokio::io::unix::AsyncFd;

/// Longest wait: some of what is told is a matter of time alone.
const LONGEST: Duration = Duration::from_secs(20);
/// Wait where the system gives no watch.
const UNWATCHED: Duration = Duration::from_secs(1);
/// Changes that come within this time are one.
const SETTLED: Duration = Duration::from_millis(50);

struct Watch(Inotify);

impl AsRawFd for Watch {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

/// Files whose lines are followed, and folders in which files are replaced.
pub struct Changes {
    watch: Option<AsyncFd<Watch>>,
    files: Vec<PathBuf>,
}

impl Changes {
    pub fn of(house: &House) -> Self {
        let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC).ok();
        // SAFETY: the watch owns its descriptor, and neither replaces nor closes it before it is dropped.
        #[allow(unsafe_code)]
        let watch = inotify.and_then(|inotify| unsafe { AsyncFd::register(Watch(inotify)) }.ok());
        let files = vec![house.memory(), house.asks(), house.answers(), house.history(), house.deaths()];
        let changes = Self { watch, files };
        changes.look_at(
            &[house.state_folder(), house.reports()],
            AddWatchFlags::IN_CREATE | AddWatchFlags::IN_MOVED_TO,
        );
        changes
    }

    fn look_at(&self, paths: &[PathBuf], flags: AddWatchFlags) {
        for path in paths {
            if let Some(watch) = &self.watch {
                let _ = watch.get_ref().0.add_watch(path, flags);
            }
        }
    }

    /// Waits for the next change, or for a while.
    pub async fn next(&self) {
        // A file that was replaced is another one; a watch that stands already stays.
        self.look_at(&self.files, AddWatchFlags::IN_MODIFY);
        let Some(watch) = &self.watch else { return tokio::time::sleep(UNWATCHED).await };
        if let Ok(Ok(mut ready)) = tokio::time::timeout(LONGEST, watch.readable()).await {
            tokio::time::sleep(SETTLED).await;
            while watch.get_ref().0.read_events().is_ok_and(|events| !events.is_empty()) {}
            ready.clear_ready();
        }
    }
}
