//! Options of commands that have several, or that several have, with their help and defaults, the page's port among them. Pure.

use clap::{Args, ValueHint};
use house::moments;
use house::settings::notices::VERBOSITIES;

/// Port of the page, unless another is asked for.
pub const PORT: u16 = 7717;

/// Options of a command that only shows something.
#[derive(Args)]
pub struct Form {
    /// prints JSON, for programs
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Answer {
    /// which ask, as `asks` lists them
    #[arg(value_name = "ID")]
    pub id: String,
}

#[derive(Args, Default)]
pub struct Window {
    /// minimal (words, asks, deaths, falls, self-edits, a dim line each act: the usual), normal (a line each act and
    /// thought), or verbose (with their details); without it as owner.toml says
    #[arg(long, value_name = "V", value_parser = VERBOSITIES.to_vec(), hide_possible_values = true)]
    pub verbosity: Option<String>,
    /// The guardian's own window: begins at this position of memory, and is handed the guardian's rows.
    #[arg(skip)]
    pub live: Option<u64>,
}

#[derive(Args)]
pub struct Serve {
    /// listens there; 0: any that is free
    #[arg(long, value_name = "N", default_value_t = PORT)]
    pub port: u16,
    /// makes the link anew, also of a server that runs: what was open by the old one is out
    #[arg(long)]
    pub new_link: bool,
}

/// Options of all commands that are a word to the creature.
#[derive(Args)]
pub struct Say {
    /// waits S seconds at most; 0 not at all
    #[arg(long = "wait", value_name = "S", default_value_t = 120)]
    pub wait_s: u64,
    /// goes on with another talk, and takes what is said there next for the answer; else each word has a thread of its
    /// own. main: words said without a thread, and a plain yes to what was asked there
    #[arg(long, value_name = "NAME")]
    pub thread: Option<String>,
    /// prints word, answer, at and thread
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Default)]
pub struct Feed {
    /// goes on until Ctrl-C
    #[arg(short, long)]
    pub follow: bool,
    /// the last N rows
    #[arg(short = 'n', value_name = "N")]
    pub last: Option<usize>,
    /// all since then; T as for history
    #[arg(long, value_name = "T", value_parser = moments::since, allow_hyphen_values = true)]
    pub since: Option<String>,
    /// prints the records
    #[arg(long)]
    pub json: bool,
    /// The guardian's own feed: begins at this position and skips what it falls far behind with.
    #[arg(skip)]
    pub live: Option<u64>,
}

#[derive(Args)]
pub struct Backup {
    /// the file to make; else it goes beside the house
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: Option<String>,
    /// takes .env, tokens and what programs of MCP servers keep along, which are left out else
    #[arg(long)]
    pub with_secrets: bool,
    #[command(flatten)]
    pub form: Form,
}

#[derive(Args)]
pub struct Restore {
    /// the backup; none goes on with a restore that was cut short
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: Option<String>,
    /// puts .env and tokens back too, where the backup has them and the house has none
    #[arg(long)]
    pub with_secrets: bool,
    #[command(flatten)]
    pub form: Form,
}

#[derive(Args)]
pub struct Update {
    /// only fetches and shows
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub form: Form,
}
