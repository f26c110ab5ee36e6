//! Runs any command behind walls: `cargo run -p walls --example walled -- FOLDER PROGRAM [ARGUMENT…]`.
//!
//! The program reads the system, writes FOLDER alone, has no network but a loopback of its own, and ends as a whole.

use anyhow::{Context, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use walls::spec::{Access, Ceilings, Rule, View};
use walls::{Choice, Place, STAGE, Walls, inherit, launch};

/// A folder to write in, and the system to read and run from.
struct Folder(PathBuf);

impl Place for Folder {
    fn root(&self) -> &Path {
        &self.0
    }

    fn name(&self) -> String {
        format!("walled-{}", std::process::id())
    }

    fn rules(&self) -> Vec<Rule> {
        let rule = |access, path: &str| Rule { access, path: PathBuf::from(path) };
        let run = ["/usr", "/lib", "/lib64", "/bin", "/sbin"].map(|path| rule(Access::Run, path));
        let read = ["/etc", "/proc"].map(|path| rule(Access::Read, path));
        let fill = ["/dev/null", "/dev/zero", "/dev/urandom"].map(|path| rule(Access::Fill, path));
        let write = rule(Access::Write, &self.0.to_string_lossy());
        run.into_iter().chain(read).chain(fill).chain([write]).collect()
    }

    fn view(&self) -> View {
        View::default()
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next();
    // The same program, started again to put the walls up around itself.
    if first.as_deref().is_some_and(|first| first == STAGE) {
        return launch::launch(arguments, |failed| eprintln!("walled {failed}"));
    }
    match run(first, arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("walled: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(folder: Option<OsString>, mut arguments: impl Iterator<Item = OsString>) -> Result<ExitCode> {
    let usage = "usage: walled FOLDER PROGRAM [ARGUMENT…]";
    let (folder, program) = (folder.context(usage)?, arguments.next().context(usage)?);
    let folder = Path::new(&folder).canonicalize().context("no such folder")?;
    let ceilings = Ceilings { processes: 64, memory_mib: 1_024, open_files: 256, file_mib: 64 };
    let walls = Walls::find(Box::new(Folder(folder)), Choice::On, ceilings, "/proc/self/exe".into(), false)?;
    eprintln!("walls: {}", walls.level.told());
    let mut command = walls.command(&walls.spec(None), Some(Path::new(&program)))?;
    command.args(arguments);
    inherit(&mut command, walls.descriptors());
    // One child, waited for: nothing else runs here.
    #[allow(clippy::disallowed_methods)]
    let status = command.status().context("failed to start the launcher")?;
    Ok(ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)))
}
