//! Hands notices to the owner's program, or to the desktop: without a shell, without keys, within a time limit.
//!
//! Invariant: text of others goes to a program's standard input alone, never on its command line.

use super::state::Sending;
use house::clock::{Anchor, Clock};
use house::settings::notices::{DESKTOP, Notices, Way};
use house::{House, clock, files, printable};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::fs::File;
use std::io::{Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// Environment variables passed to the owner's program: where to find what it uses, and no key.
const PASSED: [&str; 16] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    // By this a later guardian finds what an earlier one left running.
    "FERAL_TREE",
];
/// Most bytes that are written to a program's standard input.
const MOST_BYTES: usize = 60 << 10;
const LOOK: Duration = Duration::from_millis(20);
/// Bytes read from the end of a failed program's output.
const SAID_BYTES: u64 = 200;

/// Hands a sending over and waits for its end; why it failed, if it did.
pub fn send(house: &House, settings: &Notices, way: Way, sending: &Sending) -> Option<String> {
    let place = printable::path(house.root());
    let (mut command, told, input) = match (way, settings.notify.command.split_first()) {
        (Way::Command, Some((program, args))) => {
            let mut command = Command::new(program);
            command.args(args);
            (command, format!("`[notify] command` ({})", printable::flat(program)), json(sending, &place))
        }
        (Way::Desktop, _) => {
            let name = house.root().file_name().unwrap_or_default().to_string_lossy();
            let mut command = Command::new(DESKTOP);
            command.args(["--app-name=feral", "--", &markup(&printable::flat(&name))]);
            command.arg(markup(&sending.text(|notice| &notice.own)));
            (command, DESKTOP.to_owned(), String::new())
        }
        _ => return None,
    };
    let names = PASSED.into_iter().chain(settings.notify.pass_env.iter().map(String::as_str));
    command.env_clear().envs(names.filter_map(|name| Some((name, std::env::var_os(name)?))));
    match run(house, command, &input, settings.notify.limit_s) {
        Ok(Some(status)) if status.success() => None,
        Ok(Some(status)) => Some(format!("{told} {}; {}", ended(status), log(house))),
        Ok(None) => Some(format!("{told} was ended after {} s; {}", settings.notify.limit_s, log(house))),
        Err(error) => Some(format!("{told} cannot be started: {error}")),
    }
}

fn json(sending: &Sending, house: &str) -> String {
    let document = sending.json(&clock::stamp(), house);
    let line = |document: &serde_json::Value| printable::json_line(document);
    format!("{}\n", house::bounds::fitted(document, MOST_BYTES, line))
}

/// A text in which a desktop finds no markup.
fn markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Runs a program to its end or to the end of its time; `None` for the latter.
fn run(
    house: &House,
    mut command: Command,
    input: &str,
    limit_s: u64,
) -> std::io::Result<Option<ExitStatus>> {
    std::fs::create_dir_all(house.logs())?;
    let log = files::create(&house.notices_log())?;
    command.stdin(whole(input)?).stdout(log.try_clone()?).stderr(log).process_group(0);
    #[allow(clippy::disallowed_methods)]
    let mut child = command.spawn()?;
    let clock = Clock::start(Anchor::default());
    let until = clock.now() + limit_s * 1_000;
    let status = wait(&mut child, || clock.now() < until)?;
    // What it started and left behind goes with it.
    let group = Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX));
    let _ = killpg(group, Signal::SIGKILL);
    if status.is_none() {
        child.wait()?;
    }
    Ok(status)
}

/// An input that is there before the program is: killed between the two, this process leaves none with half of it.
fn whole(input: &str) -> std::io::Result<Stdio> {
    let mut file = File::from(memfd_create("notices", MFdFlags::MFD_CLOEXEC)?);
    file.write_all(input.as_bytes())?;
    file.rewind()?;
    Ok(file.into())
}

fn wait(child: &mut Child, go_on: impl Fn() -> bool) -> std::io::Result<Option<ExitStatus>> {
    loop {
        match child.try_wait()? {
            None if go_on() => std::thread::sleep(LOOK),
            status => return Ok(status),
        }
    }
}

fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

/// Says where the program's output stands, and its last line.
fn log(house: &House) -> String {
    let said = files::tail(&house.notices_log(), SAID_BYTES);
    let last = said.trim().lines().last().map(printable::flat).unwrap_or_default();
    let last = if last.is_empty() { String::new() } else { format!("{last}; ") };
    format!("{last}see .self/log/notices.log")
}
