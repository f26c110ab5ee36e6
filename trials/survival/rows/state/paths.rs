//! Every path of the formats in every shape that a creature could give it, or hold it in: the house goes on and answers.
//!
//! A path that stands in `docs/formats.md` and not here fails a test of the laboratory's.

use super::STATE;
use super::files::{next_life, nobody_died_of_it, patient};
use super::shapes::Shape;
use crate::survival::matrix::Row;
use crate::survival::trial::Trial;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time in which `status`, `say` and `stop` must be over.
const ANSWERED: Duration = Duration::from_secs(75);

/// Who can put something else in its place.
#[derive(Clone, Copy, PartialEq)]
pub enum By {
    /// The creature can: it makes what lies there.
    Creature,
    /// The creature can only hold what is there, where no walls stand.
    Others,
}

/// As `docs/formats.md` names it, and by whom it may be replaced.
pub const PATHS: &[(&str, By)] = &[
    (".self/memory.jsonl", By::Others),
    (".self/memory-<time>.jsonl", By::Others),
    (".self/snapshots/<time>.md", By::Creature),
    (".self/heartbeat", By::Others),
    (".self/mind/cursors.json", By::Creature),
    (".self/mind/instinct.json", By::Creature),
    (".self/mind/conversations/*.jsonl", By::Creature),
    (".self/mind/thinking.txt", By::Creature),
    (".self/mind/servers.json", By::Creature),
    (".self/mind/cursors-<time>.json", By::Creature),
    (".self/mind/instinct-<time>.json", By::Creature),
    (".self/mind/agenda.json", By::Creature),
    (".self/mind/bookkeeping.jsonl", By::Creature),
    (".self/mind/bookkeeping.before.jsonl", By::Creature),
    (".self/mind/sessions.json", By::Creature),
    (".self/mind/talks.json", By::Creature),
    (".self/mind/feed.jsonl", By::Creature),
    (".self/mind/feed.before.jsonl", By::Creature),
    (".self/mind/scanned.json", By::Creature),
    (".self/mind/watches.json", By::Creature),
    (".self/mind/looked.json", By::Creature),
    (".self/mind/index.sqlite", By::Creature),
    (".self/mind/dream.json", By::Creature),
    (".self/mind/dreams/<time>/", By::Creature),
    (".self/mind/tests.json", By::Creature),
    (".self/mind/request.json", By::Creature),
    (".self/purpose.md", By::Others),
    (".self/workspace/", By::Others),
    (".self/workspace/draft/", By::Creature),
    (".self/workspace/draft.aside/", By::Creature),
    (".self/workspace/draft.lock", By::Creature),
    (".self/workspace/home", By::Creature),
    (".self/workspace/tmp", By::Creature),
    (".self/typing", By::Others),
    (".self/inbox.jsonl", By::Others),
    (".self/guardian.json", By::Others),
    (".self/heart.json", By::Others),
    (".self/settings.json", By::Others),
    (".self/last_good.txt", By::Others),
    (".self/deaths.jsonl", By::Others),
    (".self/history.jsonl", By::Others),
    (".self/log/life-<n>.log", By::Others),
    (".self/log/build.log", By::Others),
    (".self/log/build.jsonl", By::Others),
    (".self/log/exam.log", By::Others),
    (".self/log/broker.log", By::Others),
    (".self/log/broker-build.log", By::Others),
    (".self/log/fetch.log", By::Others),
    (".self/log/broker-check.log", By::Others),
    (".self/log/console-build.log", By::Others),
    (".self/log/channels-build.log", By::Others),
    (".self/log/channels.log", By::Others),
    (".self/log/hand-<name>-build.log", By::Others),
    (".self/log/phone-page.log", By::Others),
    (".self/log/phone-page-build.log", By::Others),
    (".self/log/update.log", By::Others),
    (".self/log/git.log", By::Others),
    (".self/log/notices.log", By::Others),
    (".self/notices.json", By::Others),
    (".self/page/index", By::Others),
    (".self/page/index-wal", By::Others),
    (".self/page/index-shm", By::Others),
    (".self/reports/<day>.md", By::Others),
    (".self/asks.jsonl", By::Others),
    (".self/news.jsonl", By::Others),
    (".self/budget.json", By::Others),
    (".self/ledger.jsonl", By::Others),
    (".self/ledger-<time>.jsonl", By::Others),
    (".self/ledger-<time>-closed.jsonl", By::Others),
    (".self/broker", By::Others),
    (".self/broker/tokens.json", By::Others),
    (".self/broker/answers.jsonl", By::Others),
    (".self/broker/asks/<id>.json", By::Others),
    (".self/broker/asks.lock", By::Others),
    (".self/broker/anchor.json", By::Others),
    (".self/broker/anchor-<time>.json", By::Others),
    (".self/broker/ledger.lock", By::Others),
    (".self/broker/torn-<time>.txt", By::Others),
    (".self/broker/taint.json", By::Others),
    (".self/broker/recipients.jsonl", By::Others),
    (".self/broker/packages.jsonl", By::Others),
    (".self/broker/hours.jsonl", By::Others),
    (".self/broker/spent.jsonl", By::Others),
    (".self/broker/mcp.json", By::Others),
    (".self/broker/mcp/<name>/", By::Others),
    (".self/broker/sign-ins/<name>.json", By::Others),
    (".self/broker/sign-ins/<name>.lock", By::Others),
    (".self/broker/posts/<digest>.json", By::Others),
    (".self/broker/posts/<sha256>.picture", By::Others),
    (".self/broker/oauth2-<service>.json", By::Others),
    (".self/broker/owner-before.toml", By::Others),
    (".self/broker/channels/buttons.json", By::Others),
    (".self/broker/channels/lock", By::Others),
    (".self/broker/channels/pairing.json", By::Others),
    (".self/broker/channels/standing.json", By::Others),
    (".self/broker/channels/<channel>.json", By::Others),
    (".self/broker/channels/out.jsonl", By::Others),
    (".self/broker/channels/buttons.json", By::Others),
    (".self/broker/channels/talk.json", By::Others),
    (".self/broker/channels/notices.json", By::Others),
    (".self/broker/channels/lock", By::Others),
    (".self/received/<channel>/", By::Others),
    (".self/broker/page.json", By::Others),
    (".self/broker/page/sessions.json", By::Others),
    (".self/broker/page/password.json", By::Others),
    (".self/broker/page/passkeys.json", By::Others),
    (".self/broker/page/guesses.json", By::Others),
    (".self/broker/page/invitation.json", By::Others),
    (".self/broker/page/standing.json", By::Others),
    (".self/broker/page/certificate.pem", By::Others),
    (".self/broker/page/key.pem", By::Others),
    (".self/broker/page/lock", By::Others),
    (".self/guardian/", By::Others),
    ("creature-<time>/", By::Others),
];

pub const ROWS: &[Row] = &[
    Row::new(
        STATE,
        "every path that the creature can make, in every shape",
        "pipe, full pipe, socket, folder, links to /dev/zero, nowhere and itself, 512 MiB of nothing, mode 000, one that grows: all at once, one after the other",
        made,
    )
    .twice(),
    Row::new(
        STATE,
        "every path held",
        "leased for reading, leased for writing, locked by another process, all paths at once, walls off",
        held,
    ),
];

/// The path as it lies in a house.
fn place(name: &str) -> String {
    let name = name.trim_end_matches('/');
    ["<time>", "<n>", "<day>", "<id>", "<service>", "*"]
        .iter()
        .fold(name.to_owned(), |name, part| name.replace(part, "7"))
}

fn begin(trial: &mut Trial) {
    trial.shell("think first; live");
    patient(trial);
    trial.begin();
    trial.inject(|_| {});
}

/// The house answers its owner in time. Returns the commands that were refused, each of which says why.
fn answers(trial: &Trial, doing: &str) -> Vec<String> {
    let mut refused = Vec::new();
    for words in [&["status"][..], &["say", "--wait", "0", doing]] {
        let begun = Instant::now();
        let mut command = trial.house().command(words);
        let told = tempfile::tempfile().unwrap();
        let mut child = command.stdout(Stdio::null()).stderr(told.try_clone().unwrap()).spawn().unwrap();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > ANSWERED {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("{doing}: `{}` does not end", words[0]);
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        if !status.success() {
            let length = told.metadata().unwrap().len();
            assert!(length > 0, "{doing}: `{}` ends with {status}, without a word", words[0]);
            refused.push(words[0].to_owned());
        }
    }
    refused
}

fn stops(trial: &mut Trial, doing: &str) {
    let begun = Instant::now();
    assert_eq!(trial.stop(), 0, "{doing}");
    assert!(begun.elapsed() < ANSWERED, "{doing}: `stop` took {} s", begun.elapsed().as_secs());
    trial.start();
}

fn made(trial: &mut Trial) {
    begin(trial);
    let names: Vec<String> =
        PATHS.iter().filter(|(_, by)| *by == By::Creature).map(|(name, _)| place(name)).collect();
    let shapes = [
        Shape::Pipe,
        Shape::FullPipe,
        Shape::Socket,
        Shape::Folder,
        Shape::Endless,
        Shape::Dangling,
        Shape::Looping,
        Shape::Huge,
        Shape::Unreadable,
    ];
    for shape in shapes {
        next_life(trial, |trial| names.iter().for_each(|name| shape.put(trial.house(), name, "")));
        let doing = format!("all {shape:?}");
        nobody_died_of_it(trial, &doing);
        assert_eq!(answers(trial, &doing), Vec::<String>::new(), "{doing}");
        stops(trial, &doing);
        trial.recovers();
    }
    let over = AtomicBool::new(false);
    let paths: Vec<_> = names.iter().map(|name| trial.house().path(name)).collect();
    names.iter().for_each(|name| Shape::Empty.put(trial.house(), name, ""));
    std::thread::scope(|scope| {
        scope.spawn(|| grow(&paths, &over));
        // Ends the growing whatever comes of it, or the scope would never end.
        let _ends = Ends(&over);
        next_life(trial, |_| {});
        assert_eq!(answers(trial, "all grow"), Vec::<String>::new());
        stops(trial, "all grow");
        trial.recovers();
    });
    trial.note(format!(
        "{} paths in {} shapes, answered and stopped in time after each",
        names.len(),
        shapes.len() + 1
    ));
}

struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Each file grows as fast as this machine can, up to a bound.
fn grow(paths: &[std::path::PathBuf], over: &AtomicBool) {
    let block = vec![b'x'; 64 << 10];
    let open =
        |path| File::options().append(true).custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW).open(path);
    while !over.load(Ordering::Relaxed) {
        for mut file in paths.iter().filter_map(|path| open(path).ok()) {
            if file.metadata().is_ok_and(|meta| meta.len() < 16 << 20) {
                let _ = file.write_all(&block);
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn held(trial: &mut Trial) {
    trial.shell("think first; live");
    patient(trial);
    trial.without_walls();
    trial.begin();
    trial.inject(|_| {});
    let house = trial.house();
    // The house's own places, and what of the owner's and of git's is opened as well.
    let more = [
        "owner.toml",
        "PURPOSE.md",
        ".git/HEAD",
        ".git/logs/HEAD",
        ".git/config",
        ".git/index",
        "creature/creature.sh",
    ];
    // What its own life writes to is left to it: a creature that holds that holds up itself.
    let own = [".self/memory.jsonl", ".self/heartbeat"];
    let others = PATHS.iter().filter(|(name, _)| !own.contains(name)).map(|(name, _)| place(name));
    let paths: Vec<_> = others.chain(more.map(str::to_owned)).collect();
    let paths: Vec<_> = paths.iter().map(|name| house.path(name)).collect();
    let mut told = Vec::new();
    for (kind, hold) in
        [("leased for reading", Hold::Read), ("leased for writing", Hold::Write), ("locked", Hold::Lock)]
    {
        let over = Arc::new(AtomicBool::new(false));
        let holder = {
            let (paths, over) = (paths.clone(), over.clone());
            std::thread::spawn(move || hold.all(&paths, &over))
        };
        let ends = Ends(&over);
        trial.kill_creature();
        let begun = Instant::now();
        // Where no walls stand a leased file may not be opened at all for a while: that is said, at once.
        let refused = answers(trial, kind);
        trial.recovers();
        stops(trial, kind);
        drop(ends);
        told.push(format!(
            "{kind} {} times, {} ms, refused: {}",
            holder.join().unwrap(),
            begun.elapsed().as_millis(),
            if refused.is_empty() { "nothing".to_owned() } else { refused.join(", ") }
        ));
        trial.recovers();
    }
    trial.note(format!("{} paths; {}", paths.len(), told.join("; ")));
}

#[derive(Clone, Copy)]
enum Hold {
    Read,
    Write,
    Lock,
}

impl Hold {
    /// Holds whatever is there, and again where it was taken away; returns how often that succeeded.
    fn all(self, paths: &[std::path::PathBuf], over: &AtomicBool) -> usize {
        // A lease that is broken sends a signal, which ends a process that does not know of it.
        let ignored = nix::sys::signal::SigHandler::SigIgn;
        #[allow(unsafe_code)]
        // SAFETY: ignoring a signal runs no code.
        unsafe {
            nix::sys::signal::signal(nix::sys::signal::Signal::SIGIO, ignored).unwrap();
        }
        let (mut kept, mut times) = (Vec::new(), 0);
        while !over.load(Ordering::Relaxed) {
            for path in paths {
                let flags = libc::O_NONBLOCK | libc::O_NOFOLLOW;
                let Ok(file) = File::options().read(true).custom_flags(flags).open(path) else { continue };
                if self.take(&file) {
                    (times, _) = (times + 1, kept.push(file));
                }
            }
            // The oldest are let go: a house has many files in an hour, a process only so many descriptors.
            kept.drain(..kept.len().saturating_sub(300));
            std::thread::sleep(Duration::from_millis(5));
        }
        times
    }

    fn take(self, file: &File) -> bool {
        let descriptor = file.as_raw_fd();
        #[allow(unsafe_code)]
        // SAFETY: calls on a descriptor that is open.
        let done = unsafe {
            match self {
                Self::Read => libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_RDLCK),
                Self::Write => libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_WRLCK),
                Self::Lock => libc::flock(descriptor, libc::LOCK_EX | libc::LOCK_NB),
            }
        };
        done == 0
    }
}
