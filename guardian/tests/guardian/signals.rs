//! Signals in the middle of long steps: the guardian leaves at once, nothing is half done, and the next start goes on.

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use std::fs::File;
use std::path::Path;
use trials::{House, becomes};

/// Long steps are made of these: sparse, they cost no disk, but seconds to read, hash and write.
const LARGE: usize = 6;
const LARGE_BYTES: u64 = 32 << 20;

fn large(number: usize) -> String {
    format!("large-{number:02}")
}

fn write_large(folder: &Path) {
    for number in 0..LARGE {
        File::create(folder.join(large(number))).unwrap().set_len(LARGE_BYTES).unwrap();
    }
}

fn count_large(folder: &Path) -> usize {
    let at = |number: &usize| folder.join(large(*number)).metadata();
    (0..LARGE).filter(|number| at(number).is_ok_and(|meta| meta.len() == LARGE_BYTES)).count()
}

/// What happens to files in a folder.
struct Watch(Inotify);

impl Watch {
    fn of(folder: &Path, what: AddWatchFlags) -> Self {
        let watch = Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK).unwrap();
        watch.add_watch(folder, what).unwrap();
        Self(watch)
    }

    /// Waits until it happens to a large file.
    fn until_large(&self, house: &House) {
        house.until("the step", || {
            let events = self.0.read_events().unwrap_or_default();
            let names = events.into_iter().filter_map(|event| event.name);
            names.map(|name| name.to_string_lossy().into_owned()).any(|name| name.starts_with("large-"))
        });
    }
}

/// Found: a commit of many papers was finished before a signal was heard, for minutes.
#[test]
fn in_a_commit() {
    let asks = "until test -e .self/go; do beat; sleep 0.05; done; ask commit papers c";
    let house = House::new(&format!("think alive; {asks}; live"));
    write_large(&house.path("self"));
    let guardian = house.start();
    house.until("a thought", || !house.thoughts().is_empty());
    let head = house.git(&["rev-parse", "HEAD"]);
    let watch = Watch::of(&house.path("self"), AddWatchFlags::IN_ACCESS);
    house.write(".self/go", "");
    watch.until_large(&house);
    assert_eq!(guardian.stop(), 0);
    assert_eq!(house.git(&["rev-parse", "HEAD"]), head, "the rest of the papers was not waited for");
    assert_eq!(count_large(&house.path("self")), LARGE);
    assert_eq!(house.leftovers(), Vec::<i32>::new());

    let guardian = house.start();
    house.until("the commit", || house.git(&["rev-parse", "HEAD"]) != head);
    guardian.stop();
    assert_eq!(house.git(&["ls-tree", "--name-only", "HEAD", "self/"]).matches("large-").count(), LARGE);
    assert_eq!(house.git(&["fsck", "--strict"]), "");
}

/// What a life left is kept under a ref before anything else: by the next guardian, if this one is called away.
#[test]
fn in_a_rescue() {
    let mess = format!(
        "for n in 0 1 2 3 4 5; do truncate -s {LARGE_BYTES} creature/large-0$n; done; touch .self/workspace/died; exit 7"
    );
    let house =
        House::new(&format!("think alive; test -e .self/workspace/died || {{ blessed; {mess}; }}; live"));
    let watch = Watch::of(&house.path("creature"), AddWatchFlags::IN_ACCESS);
    let guardian = house.start();
    watch.until_large(&house);
    assert_eq!(guardian.stop(), 0);
    assert!(house.told("rescued").is_empty(), "{:?}", house.told("rescued"));
    assert_eq!(count_large(&house.path("creature")), LARGE);

    let guardian = house.start();
    house.until("a life", || house.status()["blessed"] == true);
    guardian.stop();
    let [rescued] = house.told("rescued").try_into().unwrap();
    let kept = house.git(&["ls-tree", "--name-only", rescued["ref"].as_str().unwrap(), "creature/"]);
    assert_eq!(kept.matches("large-").count(), LARGE);
    assert_eq!(count_large(&house.path("creature")), 0);
}

#[test]
fn in_a_rollback() {
    let reborn = becomes("exit 7");
    let house = House::new(&format!(
        "test ! -e .self/workspace/died || {{ think again; live; }}; touch .self/workspace/died; rm creature/large-*; {reborn}"
    ));
    write_large(&house.path("creature"));
    let first = house.commit("with large files");
    let guardian = house.start();
    house.until("the first death", || !house.deaths().is_empty());
    let watch = Watch::of(&house.path("creature"), AddWatchFlags::IN_MOVED_TO);
    watch.until_large(&house);
    assert_eq!(guardian.stop(), 0);
    assert!(house.told("fall").is_empty(), "the rest was not waited for");
    let there = count_large(&house.path("creature"));
    assert!((1..LARGE).contains(&there), "{there} of {LARGE} are put back");

    let guardian = house.start();
    house.until("the first again", || house.status()["blessed"] == true);
    guardian.stop();
    let [fall] = house.told("fall").try_into().unwrap();
    assert_eq!(fall["to_commit"], first);
    assert_eq!(count_large(&house.path("creature")), LARGE);
}
