//! The commands about the page beyond this machine, with their help and examples. Pure.

use clap::Subcommand;
use clap::builder::PossibleValuesParser;

#[derive(Subcommand)]
pub enum Page {
    /// sets the password of the page, asked for twice and not shown; every session ends
    ///
    /// Twelve letters at least. Waits after wrong tries are forgotten.
    #[command(after_help = "page password")]
    Password,

    /// prints a link that signs in once, within ten minutes, to add a passkey
    ///
    /// Whoever opens it is signed in. Needs `host` under [page] in owner.toml.
    #[command(after_help = "page passkey")]
    Passkey,

    /// sessions and passkeys; end ID ends one, end-all every session
    #[command(after_help = "page sessions\npage sessions end 1a2b3c4d\npage sessions end-all")]
    Sessions {
        /// ends, instead of listing
        #[arg(value_name = "end|end-all", value_parser = PossibleValuesParser::new(["end", "end-all"]), hide_possible_values = true)]
        order: Option<String>,
        /// the session or passkey that ends, as it is listed
        #[arg(value_name = "ID", requires = "order", required_if_eq("order", "end"))]
        id: Option<String>,
    },
}

impl Page {
    /// The words that the program of the page takes.
    pub fn words(&self) -> Vec<&str> {
        match self {
            Self::Password => vec!["password"],
            Self::Passkey => vec!["passkey"],
            Self::Sessions { order, id } => {
                ["sessions"].into_iter().chain(order.as_deref()).chain(id.as_deref()).collect()
            }
        }
    }
}
