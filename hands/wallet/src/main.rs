//! The wallet's command line: makes or takes in a key, says its address, and serves MCP on its standard streams.

use anyhow::{Context, Result, bail};
use nix::fcntl::{Flock, FlockArg};
use rmcp::ServiceExt;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use wallet::files;
use wallet::journal::Journal;
use wallet::key::{self, Key};
use wallet::server::Server;
use wallet::settings::{self, Settings};
use wallet::wallet::Wallet;

const HELP: &str = "\
feral-wallet: a wallet as an MCP server; sends coin and tokens of one chain, within what its owner's rules allow

usage: feral-wallet [serve] [--home DIR]
       feral-wallet new     [--home DIR] --chain N --node URL
       feral-wallet import  [--home DIR] --chain N --node URL < KEY
       feral-wallet address [--home DIR]

  serve      speaks MCP on standard streams; this is what the broker starts
  new        makes a key and wallet.toml, and prints the address
  import     the same with a key from standard input: 64 hexadecimal digits, or a key file (version 3) of the same password
  address    prints the address of the key
  --home DIR folder of key.json, wallet.toml and sent.jsonl (default: the working directory)
  --help, --version

The password of the key stands in the variable FERAL_WALLET_PASSWORD.
Exit status: 0 done; 1 failed; 2 wrong usage.

examples:
  feral-wallet new --home purse --chain 11155111 --node https://your-node.example
  feral-wallet address --home purse
";
/// Longest wait for a former wallet of the same home to end.
const PATIENCE: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    nix::sys::stat::umask(nix::sys::stat::Mode::from_bits_truncate(0o077));
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    if words.iter().any(|word| word == "--version" || word == "-V") {
        println!("feral-wallet {}", env!("CARGO_PKG_VERSION"));
        return ExitCode::SUCCESS;
    }
    let Some(told) = told(&words) else {
        eprintln!("feral-wallet: cannot understand {words:?}\n\n{HELP}");
        return ExitCode::from(2);
    };
    match run(told) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("feral-wallet: {error:#}");
            ExitCode::FAILURE
        }
    }
}

enum Told {
    Serve(PathBuf),
    /// With a key from standard input, or a new one.
    Key {
        home: PathBuf,
        given: bool,
        chain: u64,
        node: String,
    },
    Address(PathBuf),
}

fn told(words: &[String]) -> Option<Told> {
    let mut words = words.iter().peekable();
    let command = words.next_if(|word| !word.starts_with('-')).map_or("serve", String::as_str);
    let (mut home, mut chain, mut node) = (PathBuf::from("."), None, None);
    while let Some(word) = words.next() {
        let value = words.next()?;
        match word.as_str() {
            "--home" => home = value.into(),
            "--chain" => chain = Some(value.parse().ok()?),
            "--node" => node = Some(value.clone()),
            // Folders that the walls show, as the broker tells every hand: none is needed.
            "--read" | "--write" => {}
            _ => return None,
        }
    }
    match (command, chain, node) {
        ("serve", None, None) => Some(Told::Serve(home)),
        ("address", None, None) => Some(Told::Address(home)),
        ("new" | "import", Some(chain), Some(node)) => {
            Some(Told::Key { home, given: command == "import", chain, node })
        }
        _ => None,
    }
}

fn run(told: Told) -> Result<()> {
    hide_this_process()?;
    match told {
        Told::Serve(home) => serve(&home),
        Told::Address(home) => {
            println!("{}", Key::open(&home, &key::password()?)?.address());
            Ok(())
        }
        Told::Key { home, given, chain, node } => make(&home, given, chain, &node),
    }
}

fn make(home: &Path, given: bool, chain: u64, node: &str) -> Result<()> {
    let password = key::password()?;
    let text = format!(
        "# What this wallet may be used with; it is read when the wallet starts.\nnode = {node:?}\nchain = {chain}\n\
         # native = \"ETH\"\n\n# A token: contract and decimals from its own page.\n# [tokens.USDC]\n\
         # contract = \"0x…\"\n# decimals = 6\n"
    );
    Settings::read(&text)?;
    files::folder(home)?;
    let key = if given {
        let mut key = zeroize::Zeroizing::new(String::new());
        std::io::stdin().take(1 << 16).read_to_string(&mut key).context("no key can be read")?;
        Key::import(home, &key, &password)?
    } else {
        Key::make(home, &password)?
    };
    let path = home.join(settings::FILE);
    if std::fs::symlink_metadata(&path).is_err() {
        files::replace(&path, &text, true)?;
    }
    println!("{}", key.address());
    eprintln!(
        "the key is in {}; keep a copy of that file and of the password elsewhere",
        home.join(key::FILE).display()
    );
    Ok(())
}

fn serve(home: &Path) -> Result<()> {
    let _alone = alone(home)?;
    let wallet =
        Wallet::new(Settings::load(home)?, Key::open(home, &key::password()?)?, Journal::open(home)?);
    let wallet = Arc::new(wallet);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let caught = wallet.clone();
        // What a kill left behind does not wait for the next call.
        tokio::task::spawn_blocking(move || caught.catch_up());
        let service = Server::new(wallet).serve(rmcp::transport::stdio()).await?;
        service.waiting().await?;
        Ok(())
    })
}

/// Waits until no other wallet works in this home.
fn alone(home: &Path) -> Result<Flock<File>> {
    let path = home.join("wallet.lock");
    let mut file = files::open_by(OpenOptions::new().create(true).truncate(false).write(true), &path)
        .with_context(|| format!("{} cannot be opened", path.display()))?;
    let step = Duration::from_millis(50);
    let mut waited = Duration::ZERO;
    loop {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Ok(lock),
            Err((back, _)) if waited < PATIENCE => file = back,
            Err(_) => bail!("another wallet works in {}: end that one first", home.display()),
        }
        std::thread::sleep(step);
        waited += step;
    }
}

/// Keeps other processes of this user from reading the key in this one's memory, and disables core files.
fn hide_this_process() -> Result<()> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_dumpable(false).context("failed to become unreadable to other processes")?;
    nix::sys::resource::setrlimit(nix::sys::resource::Resource::RLIMIT_CORE, 0, 0)
        .context("failed to forbid core files")
}
