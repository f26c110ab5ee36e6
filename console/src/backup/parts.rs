//! Decides by path alone which of a house's files a backup takes and a restore may replace. Pure.

/// Kind of a file for backup and restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Of the moment, made anew by itself, or never to leave the house.
    Leave,
    /// Knowledge and works of the creature: a restore puts them back as they were.
    Knows,
    /// Records of money, asks and lives. A restore never takes a later one back.
    Record,
    /// The owner's keys and tokens: only with `--with-secrets`.
    Secret,
}

const LEFT_FOLDERS: [&str; 8] = [
    ".self/page",
    ".self/guardian/binaries",
    ".self/guardian/kept",
    ".self/guardian/restore",
    ".self/workspace/home",
    ".self/workspace/tmp",
    ".self/workspace/rehearsal",
    ".self/workspace/draft.aside",
];
const LEFT_FILES: [&str; 25] = [
    ".self/heartbeat",
    ".self/typing",
    ".self/guardian.json",
    ".self/settings.json",
    ".self/budget.json",
    ".self/purpose.md",
    ".self/last_good.txt",
    ".self/mind/thinking.txt",
    ".self/mind/request.json",
    ".self/workspace/draft.lock",
    ".self/guardian/lock",
    ".self/guardian/creature.lock",
    ".self/guardian/broker.lock",
    ".self/guardian/order.json",
    ".self/guardian/update.json",
    ".self/broker/tokens.json",
    ".self/broker/page.json",
    ".self/broker/page/lock",
    ".self/broker/page/standing.json",
    ".self/broker/asks.lock",
    ".self/broker/ledger.lock",
    ".self/broker/channels/lock",
    ".self/broker/channels/standing.json",
    // A code, and buttons that say yes, count where they were shown.
    ".self/broker/channels/pairing.json",
    ".self/broker/channels/buttons.json",
];
/// Tokens of MCP servers, and the homes of their programs: a browser keeps its logins there, a wallet its key.
const SIGN_INS: &str = ".self/broker/sign-ins/";
const HOMES: &str = ".self/broker/mcp/";
/// Password, passkeys, sessions and certificate of the page beyond this machine.
const PAGE: &str = ".self/broker/page/";
/// State of the channels: who the owner is there, and so may say yes.
const CHANNELS: &str = ".self/broker/channels/";
pub const KNOWN_FILES: [&str; 2] = [".self/memory.jsonl", ".self/inbox.jsonl"];
pub const KNOWN_FOLDERS: [&str; 3] = [".self/snapshots", ".self/mind", ".self/workspace"];
/// Other folders that every house has.
const FOLDERS: [&str; 4] = [".self/broker", ".self/guardian", ".self/log", ".self/reports"];
/// The owner's skills: put back where there are none of the same path.
pub const SKILLS: &str = "skills/";
/// Files of the root, beside all below `self/`.
const PAPERS: [&str; 2] = ["PURPOSE.md", "owner.toml"];

/// Returns the kind of a path of the house. At the root only papers and keys count.
pub fn part(path: &str) -> Part {
    let below = |folder: &&str| path.strip_prefix(*folder).is_some_and(|rest| rest.starts_with('/'));
    let is_log = path.starts_with(".self/log/") && !path.starts_with(".self/log/life-");
    // Git has the one, the guardian makes the other.
    let is_ignored =
        path.strip_prefix(".self/").is_some_and(|rest| [".gitignore", "broker/.gitignore"].contains(&rest));
    let is_left = LEFT_FILES.contains(&path)
        || is_ignored
        || LEFT_FOLDERS.iter().any(below)
        || LEFT_FOLDERS.contains(&path)
        || is_fetched(path)
        || path.starts_with(".self/mind/index.sqlite")
        || path.ends_with(".aside")
        || path.starts_with(SIGN_INS) && path.ends_with(".lock")
        || is_log;
    match path {
        _ if is_left => Part::Leave,
        _ if [SIGN_INS, HOMES, PAGE, CHANNELS, ".self/broker/oauth2-"]
            .iter()
            .any(|begin| path.starts_with(begin)) =>
        {
            Part::Secret
        }
        _ if is_keys(path) => Part::Secret,
        _ if KNOWN_FILES.contains(&path) || path.starts_with(".self/memory-") => Part::Knows,
        _ if KNOWN_FOLDERS.iter().any(below) => Part::Knows,
        _ if path.starts_with(".self/") => Part::Record,
        _ if PAPERS.contains(&path) || path.starts_with("self/") || path.starts_with(SKILLS) => Part::Knows,
        _ => Part::Leave,
    }
}

/// Whether a path is of what npx and uvx fetched into the home of an MCP server's program: they fetch it anew.
fn is_fetched(path: &str) -> bool {
    let mut steps = path.strip_prefix(HOMES).unwrap_or_default().split('/').skip(1);
    steps.next().is_some_and(|step| [".npm", ".cache"].contains(&step))
}

/// Whether a path is a folder in every house.
pub fn is_folder(path: &str) -> bool {
    KNOWN_FOLDERS.contains(&path) || FOLDERS.contains(&path)
}

/// Whether a file is written by somebody who may live meanwhile, so that all of these are taken as they were at one moment.
pub fn is_of_one_moment(path: &str) -> bool {
    let Some(rest) = path.strip_prefix(".self/") else { return false };
    let on_top = !rest.contains('/') && (rest.ends_with(".json") || rest.ends_with(".jsonl"));
    // Programs of others live there, and may write at any time.
    let is_home = rest.starts_with("broker/mcp/");
    on_top || !is_home && ["mind/", "broker/", "guardian/"].iter().any(|folder| rest.starts_with(folder))
}

/// Whether a file grows by whole lines and is never written over.
pub fn grows(path: &str) -> bool {
    path.starts_with(".self/") && path.ends_with(".jsonl") && !path.starts_with(".self/workspace/")
}

fn is_keys(path: &str) -> bool {
    path.starts_with(".env") && !path.contains('/')
}

/// Whether a path leads nowhere but below the folder it is resolved in, and can be written down in a line.
pub fn is_sound(path: &str) -> bool {
    let is_name = |step: &str| !step.is_empty() && step != "." && step != ".." && step.len() <= 255;
    path.len() <= 4_096 && path.split('/').all(is_name) && !path.chars().any(char::is_control)
}
