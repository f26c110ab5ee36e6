//! The commands about channels, with their options, help and examples. Pure.

use super::options::Form;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};

/// As `house/src/settings/platforms.rs` has them; a test holds both together.
const NAMES: [&str; 5] = ["telegram", "discord", "slack", "matrix", "mail"];

#[derive(Subcommand)]
pub enum Channels {
    /// which channels there are, how each stands, and what is the matter with it
    #[command(after_help = "channels list\nchannels list --json")]
    List(Form),

    /// puts a channel into owner.toml, and says which variable .env needs and where you get it
    ///
    /// Nothing is written before you have seen the exact lines and said yes; the file as it was is kept.
    #[command(
        after_help = "channels add telegram\nchannels add matrix --url https://matrix.example.org\nchannels add mail --address feral@example.org --imap imap.example.org:993 --smtp smtp.example.org:465 --authserv mx.example.org"
    )]
    Add(Add),

    /// shows a code: whoever sends it on that channel within ten minutes is the owner there
    ///
    /// Send it from your own account. It counts once, for five tries; the one paired before is heard until then.
    #[command(after_help = "channels pair telegram")]
    Pair(Named),

    /// takes a pairing back: nobody is heard on that channel until you pair again
    #[command(after_help = "channels unpair telegram")]
    Unpair(Named),

    /// takes a channel out of owner.toml, its pairing with it
    ///
    /// All else in the file stays as it is, and the file as it was is kept.
    #[command(after_help = "channels remove telegram")]
    Remove(Named),

    /// goes through all that a channel needs, and says what is missing; exit status 1 where it does not work
    #[command(after_help = "channels test telegram\nchannels test telegram --json")]
    Test {
        #[command(flatten)]
        named: Named,
        #[command(flatten)]
        form: Form,
    },
}

#[derive(Args)]
pub struct Named {
    /// the channel's platform
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(NAMES))]
    pub name: String,
}

#[derive(Args)]
pub struct Add {
    #[command(flatten)]
    pub named: Named,
    /// its server, https or on this machine: of Matrix the homeserver; else the platform's own
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// mail: the address that is written to
    #[arg(long, value_name = "ADDRESS")]
    pub address: Option<String>,
    /// mail: the mailbox, like imap.example.org:993
    #[arg(long, value_name = "HOST:PORT")]
    pub imap: Option<String>,
    /// mail: where mail is handed to, like smtp.example.org:465
    #[arg(long, value_name = "HOST:PORT")]
    pub smtp: Option<String>,
    /// mail: who signs in, where that is not the address
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// mail: the name in the Authentication-Results of the server of the mailbox
    #[arg(long, value_name = "NAME")]
    pub authserv: Option<String>,
    /// what belongs to no chat comes here
    #[arg(long)]
    pub home: bool,
    /// says yes to the lines without a question
    #[arg(long)]
    pub yes: bool,
}
