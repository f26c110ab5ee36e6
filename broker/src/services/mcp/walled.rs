//! Runs the program of an MCP server behind walls: a stage of this binary, which puts them up and becomes the program.
//!
//! Invariant: the program sees the system, its own home and the folders the owner named; never the house's keys, the
//! broker's folder or another home.

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use walls::spec::{Access, Ceilings, Rule, View};
use walls::{Choice, Place, STAGE, Walls, inherit, launch, network};

/// The first argument by which this binary knows that it is to put walls up around a server's program.
pub const WALLED: &str = "walled";
/// Where a program with a proxy sees its folder for temporary files: the path of a Unix socket has 107 bytes at most.
const TEMPORARY: &str = "/run/tmp";
const TEMPORARY_OF: &str = "tmp-";
/// Variables by which programs know their proxy: curl(1), "Environment"; Chromium, `proxy_config_service_linux.cc`.
const PROXIES: [&str; 4] = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"];
const OF_THE_SYSTEM: &str = "bin dev etc nix proc sbin sys usr";
const CEILINGS: Ceilings = Ceilings { processes: 512, memory_mib: 4_096, open_files: 4_096, file_mib: 1_024 };

/// The place of a server's program, as an argument.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Within {
    /// Its own folder: home and working directory.
    pub home: PathBuf,
    pub name: String,
    pub read: Vec<PathBuf>,
    pub write: Vec<PathBuf>,
    /// Never shown, whatever lies around it.
    pub hidden: Vec<PathBuf>,
    /// It reaches what this machine does, else nothing.
    pub open_network: bool,
    /// Where the listener of its own network goes, that its proxy serves on. It may use Unix sockets then, and sees no folder
    /// in which there are some of others.
    pub proxy: Option<RawFd>,
    /// Fails where a wall cannot be put up.
    pub required: bool,
}

impl Place for Within {
    fn root(&self) -> &Path {
        &self.home
    }

    fn name(&self) -> String {
        format!("feral-mcp-{}", self.name)
    }

    fn rules(&self) -> Vec<Rule> {
        let rule = |access| move |path: &PathBuf| Rule { access, path: path.clone() };
        let own = Rule { access: Access::Write, path: self.home.clone() };
        let read = self.read.iter().map(rule(Access::Run));
        let write = self.write.iter().map(rule(Access::Write));
        // Seen elsewhere, it is no longer below its home.
        let temporary = self.proxy.map(|_| Rule { access: Access::Write, path: self.temporary() });
        processes::place::system().chain(read).chain(write).chain([own]).chain(temporary).collect()
    }

    fn view(&self) -> View {
        let shown = std::iter::once(&self.home).chain(&self.read).chain(&self.write);
        let mut view =
            View { hidden: self.hidden.clone(), shown: shown.cloned().collect(), ..View::default() };
        if self.proxy.is_some() {
            view.hidden.splice(0..0, others());
            // A folder before what lies in it.
            view.shown.sort();
            view.placed = vec![(self.temporary(), PathBuf::from(TEMPORARY))];
        }
        view
    }
}

impl Within {
    /// Its folder for temporary files, of this process: the owner may try a server while it runs.
    fn temporary(&self) -> PathBuf {
        self.home.join(format!("{TEMPORARY_OF}{}", std::process::id()))
    }

    /// Makes that folder, and takes those of processes away that have ended.
    fn make_temporary(&self) -> std::io::Result<()> {
        for entry in std::fs::read_dir(&self.home)?.flatten() {
            let name = entry.file_name();
            let process = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY_OF)?.parse::<u32>().ok());
            let is_left =
                |id: u32| id == std::process::id() || !Path::new("/proc").join(id.to_string()).exists();
            if process.is_some_and(is_left) {
                // Of a link that the program put in its place only the link goes.
                std::fs::remove_dir_all(entry.path())?;
            }
        }
        std::fs::create_dir(self.temporary())
    }
}

/// Top folders of this machine but those of the system, which are the same everywhere and hold no sockets.
fn others() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/").into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let is_other = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        !name.starts_with("lib") && !OF_THE_SYSTEM.split(' ').any(|known| known == name)
    };
    folders.map(|entry| entry.path()).filter(is_other).collect()
}

/// Runs the stage that the arguments name, for `main`; none where the first argument names no stage.
pub fn stage(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let first = arguments.next()?;
    if first == STAGE {
        return Some(launch::launch(arguments, |failed| eprintln!("broker: {failed}")));
    }
    (first == WALLED).then(|| {
        let error = match become_program(arguments) {
            Ok(error) => error,
            Err(error) => error,
        };
        eprintln!("broker: {error:#}");
        ExitCode::from(launch::FAILED)
    })
}

/// Returns only if it fails.
fn become_program(mut arguments: impl Iterator<Item = OsString>) -> Result<anyhow::Error> {
    let within = arguments.next().context("no place is named")?;
    let within: Within =
        serde_json::from_slice(within.as_encoded_bytes()).context("the place is not readable")?;
    let program = PathBuf::from(arguments.next().context("no program is named")?);
    let (open_network, required, proxy) = (within.open_network, within.required, within.proxy);
    if let Some(socket) = proxy {
        // Not for what this process starts.
        keep_close(socket)?;
        within.make_temporary().context("failed to make its folder for temporary files")?;
    }
    let mut granted = within.read.iter().chain(&within.write);
    let holds = |folder: &&PathBuf| within.hidden.iter().any(|hidden| hidden.starts_with(folder));
    let holder = granted.find(holds).cloned();
    let launcher = std::env::current_exe().context("this program is not found")?;
    let choice = if required { Choice::Required } else { Choice::On };
    let walls = Walls::find(Box::new(within), choice, CEILINGS, launcher, false)?;
    let mut spec = walls.spec(None);
    if open_network {
        (spec.net, spec.open) = (None, true);
    } else {
        ensure!(
            spec.net.is_some(),
            "this machine gives no network of its own, and network = \"none\" or \"proxy\" asks for one"
        );
    }
    spec.unix = proxy.is_some();
    ensure!(
        proxy.is_none() || spec.view.is_some(),
        "this machine gives no mounts of its own, and network = \"proxy\" needs them"
    );
    // Landlock takes nothing out of a folder that it grants; only the view does.
    if let Some(holder) = holder.filter(|_| spec.view.is_none()) {
        bail!("{} holds the house's keys, and no wall hides them here", holder.display());
    }
    let mut command = walls.command(&spec, Some(&program))?;
    command.args(arguments);
    if let Some(socket) = proxy {
        network::send(socket, &[walls.network.listener.as_raw_fd()])?;
        let address = format!("http://127.0.0.1:{}", walls.network.port);
        command.envs(PROXIES.map(|name| (name, &address))).env("TMPDIR", TEMPORARY);
    }
    inherit(&mut command, walls.descriptors());
    #[allow(clippy::disallowed_methods, reason = "this process becomes the program")]
    let error = command.exec();
    Ok(anyhow::Error::from(error).context(format!("failed to start {}", program.display())))
}

/// Closes an inherited descriptor when another program is executed.
fn keep_close(descriptor: RawFd) -> Result<()> {
    // SAFETY: inherited open, and closed by nobody before this process becomes the program.
    #[allow(unsafe_code)]
    let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
    let closes = nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::FD_CLOEXEC);
    nix::fcntl::fcntl(descriptor, closes).context("failed to keep a descriptor")?;
    Ok(())
}
