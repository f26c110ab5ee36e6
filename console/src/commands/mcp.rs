//! The commands about MCP servers, with their options, help and examples. Pure.

use super::options::Form;
use clap::{Args, Subcommand, ValueHint};

#[derive(Subcommand)]
pub enum Mcp {
    /// which servers there are, whether they are up, and what is the matter with them
    #[command(after_help = "mcp list\nmcp list --json")]
    List(Form),

    /// puts a server into owner.toml, a known one by its name or one of yours; alone it lists the known ones
    ///
    /// Checks what it needs, starts or reaches it behind its walls, shows its tools, and proposes rules: what says that it
    /// only reads is allowed, all else asks. Where an address wants a sign-in, it offers that first. Nothing is written
    /// before you have seen the exact lines and said yes; the file as it was is kept.
    #[command(
        after_help = "mcp add\nmcp add files /srv/notes\nmcp add tickets --url https://tickets.example.org/mcp --token-env TICKETS_TOKEN\nmcp add mine --read /srv/data -- /opt/mine/server --fast"
    )]
    Add(Box<Add>),

    /// signs you in at a server that wants it, by a browser
    ///
    /// Prints the address to open; the browser comes back to this machine by itself. Ctrl-C leaves with nothing changed.
    #[command(name = "sign-in", after_help = "mcp sign-in tickets\nmcp sign-in tickets --port 8765")]
    SignIn {
        /// its name in owner.toml
        #[arg(value_name = "NAME")]
        name: String,
        /// the browser comes back to this port; else to any
        #[arg(long, value_name = "N")]
        port: Option<u16>,
    },

    /// signs you out of a server: gives its tokens back, and removes them here
    ///
    /// They are removed whatever came of giving them back, which is told. A guardian that runs takes it up by itself.
    #[command(name = "sign-out", after_help = "mcp sign-out tickets")]
    SignOut {
        /// its name in owner.toml
        #[arg(value_name = "NAME")]
        name: String,
    },

    /// takes a server and its rules out of owner.toml
    ///
    /// All else in it stays as it is. What its program kept stays too, and is told of.
    #[command(after_help = "mcp remove files")]
    Remove {
        /// its name in owner.toml
        #[arg(value_name = "NAME")]
        name: String,
    },

    /// starts or reaches a server now, behind its walls, and shows its tools and what your rules do with each
    ///
    /// Calls no tool, and changes nothing. Exit status 1 where it did not answer.
    #[command(after_help = "mcp test files\nmcp test files --json")]
    Test(Named),
}

#[derive(Args)]
pub struct Named {
    /// its name in owner.toml
    #[arg(value_name = "NAME")]
    pub name: String,
    #[command(flatten)]
    pub form: Form,
}

#[derive(Args)]
pub struct Add {
    /// a known server, or the name of one of yours
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// what a known server wants, as the list says
    #[arg(value_name = "WORD")]
    pub words: Vec<String>,
    /// a known server under a name of yours
    #[arg(long, value_name = "KNOWN", conflicts_with_all = ["url", "command"])]
    pub like: Option<String>,
    /// an address that speaks MCP, https or on this machine
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub url: Option<String>,
    /// the variable of .env with the token that the address wants
    #[arg(long, value_name = "VAR")]
    pub token_env: Option<String>,
    /// a variable of .env that its program gets; may be said again
    #[arg(long, value_name = "VAR")]
    pub env: Vec<String>,
    /// a variable that is no secret, with its value, which its program gets; may be said again
    #[arg(long, value_name = "VAR=VALUE")]
    pub set: Vec<String>,
    /// a folder that its program may read; may be said again
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub read: Vec<String>,
    /// a folder that its program may change; may be said again
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub write: Vec<String>,
    /// lets its program reach all that this machine does, else nothing
    #[arg(long)]
    pub open: bool,
    /// writes it although it was not tried
    #[arg(long)]
    pub untried: bool,
    /// says yes to the lines without a question; opens no browser
    #[arg(long)]
    pub yes: bool,
    /// a program that speaks MCP on its standard streams, with its arguments
    #[arg(value_name = "COMMAND", last = true)]
    pub command: Vec<String>,
}
