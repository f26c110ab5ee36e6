//! A cargo build of the creature: a step with a deadline and failures of its own.
//!
//! Invariant: the build's output goes to files; nothing here waits for cargo.

use crate::act::walled::Walled;
use crate::act::{controls, quotas};
use crate::decide::blame::{self, Control, Failure, Judgement};
use crate::decide::messages::Told;
use crate::decide::vocabulary::Blame;
use crate::limits::LOG_TAIL_BYTES;
use anyhow::{Context, Result};
use house::lines::{Lines, Next};
use house::openat::Folder;
use house::{House, at_work, files};
use nix::sys::wait::WaitStatus;
use processes::child::{Door, Tree};
use processes::exits::memory_kills;
use processes::hunt;
use processes::made::cargo_args;
use repo::Version;
use repo::tree::short;
use std::fs::{File, TryLockError};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tracing::Span;

/// Longest line that is read as a message of cargo's: the creature's source may cause compiler messages of any
/// length.
const MOST_MESSAGE_BYTES: usize = 1 << 20;
/// Bytes of messages read at one look.
const LOOK_BYTES: u64 = 4 << 20;
/// Most bytes of compiler messages written to a build's log.
const MOST_LOGGED_BYTES: usize = 4 << 20;

pub struct Build {
    /// The process tree of cargo, or of the control run under way.
    pub tree: Tree,
    /// Stands at the lines of the log that are about it.
    pub span: Span,
    /// The creature tree that is being built.
    pub of: String,
    /// Whether it builds beside a running creature, only to see that the source builds.
    pub beside: bool,
    /// The kernel's count of out-of-memory kills when the build began.
    pub memory_kills: u64,
    /// Facts about a failed build.
    pub failure: Failure,
    /// Its errors, for people.
    pub output: String,
    /// The control run under way, if any.
    pub asked: Option<Control>,
    pub told: Told,
    messages: Lines,
    /// The build's log; cargo appends to it as well.
    log: File,
    logged_bytes: usize,
    free_mib: u64,
    /// The target folder, held open so that no other folder can get its inode number.
    folder: Option<File>,
}

impl Build {
    /// Starts cargo; `broker` is its way to the registries.
    pub fn start(
        house: &House,
        walled: &Walled,
        broker: Option<Door>,
        version: Version,
        beside: bool,
    ) -> Result<Self> {
        let create = |path: PathBuf| {
            files::create(&path).with_context(|| format!("failed to create {}", path.display()))
        };
        let stdout = create(house.build_messages())?;
        create(house.build_log())?;
        let log = files::append(&house.build_log())?;
        let messages = files::open(&house.build_messages())?.context("cargo's messages are gone")?;
        let mut args = cargo_args("build");
        args.push("--message-format=json".into());
        mend_temporary(house);
        // If this fails, cargo fails too and says so.
        let _ = std::fs::create_dir_all(house.built());
        let folder = files::open_folder(&house.built()).ok();
        let tree = walled.cargo(house, broker, (args, vec![]), (stdout, log.try_clone()?))?;
        let why = if beside { "to see that it builds" } else { "for a life" };
        let span = tracing::debug_span!("build", commit = short(version.commit), why);
        tracing::debug!(parent: &span, "cargo begins");
        Ok(Self {
            tree,
            span,
            of: version.tree.to_string(),
            beside,
            memory_kills: memory_kills(),
            failure: Failure::default(),
            output: String::new(),
            asked: None,
            told: Told::default(),
            messages: Lines::new(messages, MOST_MESSAGE_BYTES),
            log,
            logged_bytes: 0,
            free_mib: u64::MAX,
            folder,
        })
    }

    /// Whether the target folder was deleted or replaced during the build.
    pub fn folder_gone(&self, house: &House) -> bool {
        let Some(Ok(then)) = self.folder.as_ref().map(File::metadata) else { return false };
        let now = std::fs::metadata(house.built());
        !now.is_ok_and(|now| (now.dev(), now.ino()) == (then.dev(), then.ino()))
    }

    /// Reads a bounded part of cargo's new messages, and notes the free space.
    pub fn follow(&mut self, house: &House) {
        self.read(house, LOOK_BYTES);
    }

    fn read(&mut self, house: &House, most_bytes: u64) {
        self.free_mib = self.free_mib.min(quotas::free_mib(house));
        self.messages.allow(most_bytes);
        loop {
            let text = match self.messages.next_line() {
                Next::Line(line) => self.told.hear(line),
                Next::Long => None,
                Next::End => return,
            };
            if let Some(text) = text {
                self.note(&text);
            }
        }
    }

    /// Appends to the log for people, up to its bound.
    fn note(&mut self, text: &str) {
        if self.logged_bytes < MOST_LOGGED_BYTES {
            self.logged_bytes += text.len();
            let _ = self.log.write_all(text.as_bytes());
        }
    }

    /// Returns the binary a successful build made; else notes the facts about the failure.
    pub fn finish(&mut self, house: &House, status: WaitStatus) -> Option<PathBuf> {
        self.read(house, u64::MAX);
        let well = matches!(status, WaitStatus::Exited(_, 0));
        self.output = match self.told.executable.take().filter(|_| well) {
            // Cargo's output can be forged by the creature's build scripts, and so can this path.
            Some(path) if path.starts_with(house.target()) => return Some(path),
            Some(path) => format!("cargo named a binary outside the build folder: {}", path.display()),
            None if well => "cargo built no binary".into(),
            None if self.told.said.trim().is_empty() => errors(house, status),
            None => std::mem::take(&mut self.told.said),
        };
        self.failure = Failure {
            began: self.told.began || well,
            refused: self.told.refused,
            foreign: self.told.is_foreign(),
            says_full: blame::says_full(&self.output),
            ..Failure::default()
        };
        self.failure.measured.free_mib = self.free_mib.min(quotas::tried_mib(house));
        None
    }

    /// Starts a control run of cargo; its answer is read when it ends.
    pub fn ask(
        &mut self,
        house: &House,
        walled: &Walled,
        broker: Option<Door>,
        control: Control,
    ) -> Result<()> {
        if control == Control::Tools {
            controls::prepare(house)?;
        }
        let called = (controls::args(control), controls::variables(house, control));
        self.tree = walled.cargo(house, broker, called, controls::outputs(house, control)?)?;
        self.asked = Some(control);
        Ok(())
    }

    /// Takes the answer of a control run.
    pub fn answered(&mut self, house: &House, control: Control, status: WaitStatus) {
        let answer = controls::answer(house, control, matches!(status, WaitStatus::Exited(_, 0)));
        self.failure.answers.insert(control, answer);
        let told = format!("\ncontrol: {}: {answer:?}\n{}", control.question(), controls::said(house));
        let _ = self.log.write_all(told.as_bytes());
    }

    /// Notes the facts about a build past its deadline, while it still runs.
    pub fn overstays(&mut self, house: &House) {
        self.follow(house);
        self.failure.measured.overdue = true;
        // The compiler's first message comes after the creature's first crate, so a running rustc counts as well.
        self.failure.began = self.told.began || at_work::works_in("rustc", &house.creature());
        self.failure.connected = is_connected(&self.tree);
    }

    /// Returns the blame for an overdue build, once all its processes have ended.
    pub fn overstayed(&mut self, house: &House) -> Blame {
        self.failure.locked = is_locked(house);
        match (self.asked, blame::build(&self.failure)) {
            (None, Judgement::Blamed(blame)) => blame,
            (Some(Control::Registries), _) => Blame::Network,
            _ => Blame::Toolchain,
        }
    }
}

/// Whether a process of the tree has a socket open.
fn is_connected(tree: &Tree) -> bool {
    let is_socket = |entry: std::fs::DirEntry| {
        std::fs::read_link(entry.path())
            .is_ok_and(|to| to.as_os_str().as_encoded_bytes().starts_with(b"socket:"))
    };
    hunt::all_of(tree.pid).into_iter().any(|pid| {
        let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        open.into_iter().any(is_socket)
    })
}

/// Makes `HOME` and `TMPDIR` anew where they are no folders: without them linking fails, and the toolchain would be
/// blamed.
fn mend_temporary(house: &House) {
    let Ok(workspace) = Folder::open(&house.workspace()) else { return };
    for name in ["home", "tmp"] {
        if workspace.folder(Path::new(name)).is_err() {
            let _ = workspace.remove_all(name);
            let _ = workspace.make(Path::new(name));
        }
    }
}

/// Whether another cargo holds a lock on the build folder.
fn is_locked(house: &House) -> bool {
    let entries = std::fs::read_dir(house.built()).into_iter().flatten().flatten();
    let is_lock = |name: &str| name.starts_with(".cargo") && name.ends_with("lock");
    let locks = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_lock));
    let mut files = locks.filter_map(|entry| files::open(&entry.path()).ok().flatten());
    files.any(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Number of packages in the lock file: the most a build can compile. Of a very long file only the end is read.
pub fn packages(house: &House) -> usize {
    files::tail(&house.creature().join("Cargo.lock"), 2 << 20).matches("[[package]]").count()
}

fn errors(house: &House, status: WaitStatus) -> String {
    let text = files::tail(&house.build_log(), 64 * 1024);
    // The first error matters; cargo's own summary comes last, and crates have names like `thiserror`.
    let from = if text.starts_with("error") { Some(0) } else { text.find("\nerror").map(|at| at + 1) };
    let from =
        from.unwrap_or_else(|| text.floor_char_boundary(text.len().saturating_sub(LOG_TAIL_BYTES as usize)));
    let text = text.get(from..).unwrap_or_default();
    if text.trim().is_empty() { format!("cargo ended without a word: {status:?}") } else { text.to_owned() }
}
