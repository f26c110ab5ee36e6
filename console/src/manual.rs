//! The man page: every command with its help, in roff, made of the help table. Pure.

use crate::help::{COMMANDS, ENVIRONMENT, EXIT_STATUS};

/// The page, for `man -l`.
pub fn page() -> String {
    let mut page = String::from(
        ".TH FERAL 1 \"\" \"Feral\" \"Feral\"\n.SH NAME\nferal \\- keeps one self\\-editing creature alive\n\
         .SH SYNOPSIS\n.B feral\n[\\fICOMMAND\\fR]\n.SH DESCRIPTION\n",
    );
    page += &text(
        "A launcher of the guardian's and the console's commands, without waiting for a build. The creature itself is \
         started by `cargo run -p guardian`, until Ctrl-C. Without a command it attaches: the owner's console.",
    );
    page += ".SH COMMANDS\n";
    for command in &COMMANDS {
        page += &format!(".SS \"feral {}\"\n", escaped(command.usage));
        page += &text(&format!("{}.", command.brief));
        for line in command.more.lines() {
            page += ".br\n";
            page += &text(line);
        }
        for example in command.examples {
            page += &format!(".RS\n.EX\nferal {}\n.EE\n.RE\n", escaped(example));
        }
    }
    page + ".SH ENVIRONMENT\n" + &text(ENVIRONMENT) + ".SH EXIT STATUS\n" + &text(EXIT_STATUS)
}

/// A line of text that no word of makes an order to roff.
fn text(line: &str) -> String {
    format!("{}\n", escaped(line.trim_start()))
}

fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('"', "\\(dq").replace('…', "...");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}
