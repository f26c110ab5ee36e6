//! The creature's entry point: reads what the guardian told it, then lives or rehearses.

use creature::config::Told;
use creature::fault::Fault;
use creature::life::Leaving;
use creature::life::birth::birth;
use creature::{panic, process, rehearse};
use nix::sys::signal::{SigHandler, SigSet, Signal, signal};
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;
use tokio::signal::unix::{self, SignalKind};
use tracing::Instrument;
use tracing_subscriber::EnvFilter;

const HELP: &str = "\
usage: creature            lives in the house FERAL_HOUSE (default: here); the guardian starts it
       creature rehearse   lives one canned thought in a copy of a house, then exits
       creature --help | --version

environment: FERAL_HOUSE, FERAL_LIFE, FERAL_COMMIT, FERAL_SAFE=1, FERAL_REHEARSAL=1,
             FERAL_LIFELINE, FERAL_BROKER, FERAL_BROKER_TOKEN, RUST_LOG";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rehearsal = match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => false,
        ["rehearse"] => true,
        ["--help" | "-h"] => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        ["--version" | "-V"] => {
            println!("creature {}", env!("CARGO_PKG_VERSION"));
            return ExitCode::SUCCESS;
        }
        other => {
            eprintln!("creature: cannot understand {other:?}\n{HELP}");
            return ExitCode::from(2);
        }
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    // The guardian keeps what is printed in a file: no colours.
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(Quiet::of_this_life)
        .init();
    panic::install();
    match run(rehearsal) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            tracing::error!("failed to {} ({})", fault.error, fault.hint);
            ExitCode::FAILURE
        }
    }
}

fn run(rehearsal: bool) -> Result<(), Fault> {
    default_signals();
    if let Err(fault) = process::become_reaper() {
        tracing::warn!("failed to {} ({})", fault.error, fault.hint);
    }
    let told = Told::from_env().map_err(|why| Fault::new(format!("begin: {why}"), "see creature --help"))?;
    // One thread, the main one: a child's parent-death signal is sent when the thread that spawned the child ends.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|cause| Fault::caused("start the runtime", &cause, "are there too many open files?"))?;
    let lived = runtime.block_on(async {
        if rehearsal || told.rehearsal {
            return rehearse::rehearse(told).await;
        }
        let mut signals = Signals::listen()?;
        let span = tracing::debug_span!("life", life = told.life);
        async { birth(told).await?.live(&mut signals).await }.instrument(span).await
    });
    // A tool's blocking part may be stuck; the guardian's patience is short.
    runtime.shutdown_timeout(Duration::from_millis(200));
    lived
}

/// Standard error, with the broker's token replaced by `[hidden]`.
struct Quiet {
    token: String,
}

impl Quiet {
    fn of_this_life() -> Self {
        Self { token: std::env::var("FERAL_BROKER_TOKEN").unwrap_or_default() }
    }
}

impl Write for Quiet {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        match self.token.len() {
            ..16 => io::stderr().write_all(line)?,
            _ => io::stderr().write_all(text.replace(&self.token, "[hidden]").as_bytes())?,
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Undoes inherited signal handling: a shell's `&` ignores SIGINT, a wrapper may block or ignore the rest.
fn default_signals() {
    for known in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGCHLD] {
        // Sound: the default disposition runs no code of ours.
        if let Err(error) = unsafe { signal(known, SigHandler::SigDfl) } {
            tracing::warn!("failed to reset {known}: {error}");
        }
    }
    if let Err(error) = SigSet::all().thread_unblock() {
        tracing::warn!("failed to unblock signals: {error}");
    }
}

/// SIGTERM and SIGINT: the wish that this life ends.
struct Signals {
    terminate: unix::Signal,
    interrupt: unix::Signal,
    came: bool,
}

impl Signals {
    fn listen() -> Result<Self, Fault> {
        let listen =
            |kind| unix::signal(kind).map_err(|cause| Fault::caused("listen for signals", &cause, ""));
        let terminate = listen(SignalKind::terminate())?;
        Ok(Self { terminate, interrupt: listen(SignalKind::interrupt())?, came: false })
    }
}

impl Leaving for Signals {
    async fn asked(&mut self) {
        if self.came {
            return;
        }
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
        self.came = true;
    }
}
