//! The man page: every command with its help, in roff, made of the table of commands. Pure.

use crate::commands::list::{ENVIRONMENT, EXIT_STATUS, table, usage};
use anyhow::Result;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

const DESCRIPTION: &str = "A launcher of the guardian's and the console's commands, without waiting for a build. The \
    creature itself is started by `cargo run -p guardian`, until Ctrl-C. Without a command it attaches: the owner's console.";

/// Defines how roff shows an apostrophe.
const APOSTROPHE: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";

/// The page, for `man -l`.
pub fn page() -> Result<String> {
    let table = table("feral").long_about(DESCRIPTION);
    let (mut page, whole) = (Vec::new(), Man::new(table.clone()).title("FERAL").manual("Feral"));
    whole.render_title(&mut page)?;
    whole.render_name_section(&mut page)?;
    whole.render_synopsis_section(&mut page)?;
    whole.render_description_section(&mut page)?;
    let all = table.get_subcommands().flat_map(|command| {
        let below = command.get_subcommands().map(|below| (format!("{} ", command.get_name()), below));
        std::iter::once((String::new(), command)).chain(below)
    });
    for (above, command) in all {
        let of_one = Man::new(command.clone().mut_arg("help", |help| help.hide(true)));
        let heading = format!("feral {above}{}", usage(command));
        Roff::new().control("SH", [heading.as_str()]).to_writer(&mut page)?;
        let mut part = Vec::new();
        of_one.render_description_section(&mut part)?;
        of_one.render_options_section(&mut part)?;
        of_one.render_extra_section(&mut part)?;
        let part = String::from_utf8(part)?.replace(".SH EXTRA\nExamples:", ".SH EXAMPLES");
        page.extend(part.replace(".SH ", ".SS ").into_bytes());
    }
    for (heading, text) in [("ENVIRONMENT", ENVIRONMENT), ("EXIT STATUS", EXIT_STATUS)] {
        Roff::new().control("SH", [heading]).text([roman(text)]).to_writer(&mut page)?;
    }
    // What clap writes before each of these stands once before them all.
    Ok(format!("{APOSTROPHE}{}", String::from_utf8(page)?.replace(APOSTROPHE, "")))
}
