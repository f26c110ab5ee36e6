//! The broker's command line: checks the settings, takes over the guardian's listener, and serves.

use anyhow::{Context, Result, bail};
use broker::broker::Broker;
use broker::forward::Names;
use broker::ground::clock::Clock;
use broker::ground::hosts::Resolver;
use broker::ledger::opening;
use broker::llm::offers::Providers;
use broker::llm::{choice, nearby};
use broker::net::outward::Outward;
use broker::policy::Policy;
use broker::secrets::keys::Keys;
use broker::services::mcp::sign_in::{leave, stage};
use broker::services::mcp::{tried, walled};
use house::{House, hidden};
use std::io::Read;
use std::net::{IpAddr, TcpListener};
use std::os::fd::FromRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

const HELP: &str = "\
broker: holds keys, budget and permission for the creature, on loopback

usage: broker [--house DIR] [--check | --accept-ledger | --mcp-tools NAME | --sign-in NAME [--port N] | --sign-out NAME]
              [--piped] [--know NAME=ADDRESS]…

  --house DIR      the repository root (default: the working directory)
  --check          read owner.toml and .env, say what is wrong with it, else which mind that makes; serve nothing
  --accept-ledger  where the ledger is closed: set it aside and begin a new one, which counts all that the caps allow
                   by now as spent; with the guardian stopped
  --mcp-tools NAME starts or reaches this MCP server, behind its walls, and prints as JSON what it has; calls no tool
  --sign-in NAME   sign the owner in at the MCP server of that name, by a browser that comes back to this machine at
                   port N; the guardian may run
  --sign-out NAME  give the tokens of that sign-in back where they are taken (RFC 7009), and remove them; the guardian may run
  --piped          takes the settings from the standard input in place of owner.toml
  --know NAME=ADDRESS
                   for tests: the proxy of MCP servers' programs takes this name for this address, on this machine too
  --help, --version

The guardian starts it and hands it a listener as descriptor FERAL_BROKER_FD; started by hand it listens on a port of
its own and prints it. Keys are read once, from the environment or .env.
Exit status: 0 left as asked; 1 failed; 2 wrong usage or a broken owner.toml.

examples:
  broker --check
  broker --house ~/feral
";

/// Words of the command line, read.
#[derive(Default)]
struct Asked {
    house: PathBuf,
    check: bool,
    accept: bool,
    /// The MCP server that is to be tried.
    tools: Option<String>,
    /// The MCP server that the owner signs in at, and the port that the browser comes back to.
    sign_in: Option<String>,
    port: u16,
    /// The MCP server that the owner signs out of.
    sign_out: Option<String>,
    /// The settings come by the standard input.
    piped: bool,
    /// Names for the proxy of MCP servers' programs.
    names: Names,
}

/// Reads the command line; an error is the exit status, after what there was to say.
fn asked() -> Result<Asked, ExitCode> {
    let mut asked = Asked { house: PathBuf::from("."), ..Asked::default() };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match (arg.as_str(), args.len()) {
            ("--help" | "-h", _) => {
                print!("{HELP}");
                return Err(ExitCode::SUCCESS);
            }
            ("--version" | "-V", _) => {
                println!("broker {}", env!("CARGO_PKG_VERSION"));
                return Err(ExitCode::SUCCESS);
            }
            ("--check", _) => asked.check = true,
            ("--accept-ledger", _) => asked.accept = true,
            ("--piped", _) => asked.piped = true,
            ("--house", 1..) => asked.house = args.next().unwrap_or_default().into(),
            ("--mcp-tools", 1..) => asked.tools = args.next(),
            ("--sign-in", 1..) => asked.sign_in = args.next(),
            ("--sign-out", 1..) => asked.sign_out = args.next(),
            // A word that is no number is a port that nobody may listen on.
            ("--port", 1..) => asked.port = args.next().and_then(|port| port.parse().ok()).unwrap_or(1),
            ("--know", 1..) => match known(&args.next().unwrap_or_default()) {
                Some((name, address)) => drop(asked.names.insert(name, address)),
                None => {
                    eprintln!("broker: --know takes NAME=ADDRESS, like garden.test=127.0.0.1");
                    return Err(ExitCode::from(2));
                }
            },
            (other, _) => {
                eprintln!("broker: cannot understand {other:?}\n\n{HELP}");
                return Err(ExitCode::from(2));
            }
        }
    }
    Ok(asked)
}

/// The settings that are judged: the owner's file, or what comes by the standard input.
fn policy(house: &House, piped: bool) -> Result<Policy> {
    if !piped {
        return Policy::load(house);
    }
    let mut text = String::new();
    std::io::stdin().lock().take(house::files::SMALL_FILE_BYTES).read_to_string(&mut text)?;
    Policy::read(&text).map_err(|mistakes| anyhow::anyhow!("{mistakes}"))
}

fn main() -> ExitCode {
    if let Some(code) = walled::stage(std::env::args_os().skip(1)) {
        return code;
    }
    house::files::close_to_others();
    let Asked { house, check, accept, tools, sign_in, port, sign_out, piped, names } = match asked() {
        Ok(asked) => asked,
        Err(code) => return code,
    };
    // Programs are told of folders in it, and work in others.
    let house = House::new(std::path::absolute(&house).unwrap_or(house));
    // The same exit status with and without --check, so that the guardian knows that starting again would not help.
    let judged = policy(&house, piped).and_then(|policy| {
        let keys = if accept { Keys::default() } else { Keys::load(&house, &policy.key_names())? };
        Ok((choice::of_house(&policy, &keys), policy, keys))
    });
    let done = match judged {
        Err(error) => {
            eprintln!("{error:#}");
            return ExitCode::from(2);
        }
        // On the owner's order, after the old one was closed.
        Ok((_, policy, _)) if accept => opening::accept(&house, &Clock::default(), &policy.budget)
            .map(|done| println!("{done}"))
            .context("failed to begin a new ledger"),
        Ok((_, policy, keys)) if tools.is_some() => {
            try_server(house, &policy, keys, &tools.unwrap_or_default())
        }
        Ok((chosen, ..)) if check => {
            println!("{}", chosen.told());
            nearby(&chosen).iter().for_each(|told| println!("{told}"));
            Ok(())
        }
        Ok((_, policy, keys)) => match (sign_in, sign_out) {
            (Some(name), _) => by_the_owner(&house, stage::run(&house, &policy, keys, &name, port)),
            (None, Some(name)) => by_the_owner(&house, leave::run(&house, &policy, keys, &name)),
            (None, None) => run(house, &names),
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("broker: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Prints what an MCP server has, as JSON; its program ends with this process, whatever ends it.
fn try_server(house: House, policy: &Policy, keys: Keys, name: &str) -> Result<()> {
    hidden::hide()?;
    make_folder_private(&house)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        tokio::select! {
            told = tried::tried(house, policy, keys, name) => println!("{}", told?),
            () = told_to_end()? => bail!("told to end"),
        }
        Ok(())
    })
}

/// Returns sentences about the model servers on this machine; none where they cannot be asked.
fn nearby(chosen: &choice::Chosen) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let (Ok(runtime), Ok(outward)) = (runtime, Outward::new(Resolver::default())) else { return Vec::new() };
    runtime.block_on(async {
        let providers = Providers::new(chosen.clone(), outward.clone(), Clock::default());
        let mut told = nearby::narrow(&providers, chosen).await;
        told.extend(nearby::offered(&outward, chosen, nearby::usual(&chosen.makers)).await);
        told
    })
}

/// Runs a stage at the owner's terminal.
fn by_the_owner(house: &House, stage: impl Future<Output = Result<()>>) -> Result<()> {
    hidden::hide()?;
    make_folder_private(house)?;
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(stage)
}

fn known(text: &str) -> Option<(String, IpAddr)> {
    let (name, address) = text.split_once('=')?;
    Some((name.to_ascii_lowercase(), address.parse().ok()?))
}

fn run(house: House, names: &Names) -> Result<()> {
    hidden::hide()?;
    keep_descriptors();
    make_folder_private(&house)?;
    let told = std::env::var("RUST_LOG").ok().filter(|text| !text.is_empty());
    // What an MCP server says of itself is no news.
    let usual = Targets::new().with_default(LevelFilter::INFO).with_target("rmcp", LevelFilter::WARN);
    let filter: Targets = told.and_then(|text| text.parse().ok()).unwrap_or(usual);
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(std::io::stderr);
    tracing_subscriber::registry().with(filter).with(lines).init();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = match handed("FERAL_BROKER_FD")? {
            Some(listener) => listener,
            None => TcpListener::bind("127.0.0.1:0").context("failed to listen on loopback")?,
        };
        let listener = served(listener)?;
        let of_channels = handed("FERAL_CHANNELS_FD")?.map(served).transpose()?;
        let broker = Broker::open(house, Clock::default())?;
        broker.services.mcp.know(names);
        broker.cargo.note_fetched(&std::env::var("FERAL_FETCHED").unwrap_or_default());
        tracing::info!("serving on {}", listener.local_addr()?);
        broker.serve_until(listener, of_channels, told_to_end()?).await?;
        tracing::info!("left as told");
        Ok(())
    })
}

/// Ends on SIGTERM or SIGINT.
fn told_to_end() -> Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate()).context("failed to hear SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("failed to hear SIGINT")?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Makes the broker's folder private to this user.
fn make_folder_private(house: &House) -> Result<()> {
    let folder = house.broker();
    std::fs::create_dir_all(&folder).with_context(|| format!("failed to make {}", folder.display()))?;
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700))
        .with_context(|| format!("failed to close {}", folder.display()))
}

/// Keeps inherited descriptors from programs started here, such as MCP servers.
fn keep_descriptors() {
    for descriptor in 3..=5 {
        let closes = nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::FD_CLOEXEC);
        // Fails for a descriptor that is not open, which needs no closing.
        let _ = nix::fcntl::fcntl(unsafe_borrow(descriptor), closes);
    }
}

/// The listener that the guardian handed over as the descriptor in this variable.
fn handed(variable: &str) -> Result<Option<TcpListener>> {
    let Ok(descriptor) = std::env::var(variable) else { return Ok(None) };
    let descriptor: i32 = descriptor.parse().with_context(|| format!("{variable} is not a number"))?;
    if nix::fcntl::fcntl(unsafe_borrow(descriptor), nix::fcntl::FcntlArg::F_GETFD).is_err() {
        bail!("{variable} = {descriptor} is not an open descriptor");
    }
    // SAFETY: the guardian opened it for this process, and nothing else here uses it.
    #[allow(unsafe_code)]
    Ok(Some(unsafe { TcpListener::from_raw_fd(descriptor) }))
}

fn served(listener: TcpListener) -> Result<tokio::net::TcpListener> {
    listener.set_nonblocking(true)?;
    tokio::net::TcpListener::from_std(listener).context("failed to serve on the listener")
}

fn unsafe_borrow(descriptor: i32) -> std::os::fd::BorrowedFd<'static> {
    // SAFETY: the descriptor is only checked for being open.
    #[allow(unsafe_code)]
    unsafe {
        std::os::fd::BorrowedFd::borrow_raw(descriptor)
    }
}
