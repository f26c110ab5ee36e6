//! Mistakes at the command line, in words: what is wrong with it, what was probably meant, and what to do next. Pure.

use super::list::{TABLE, choices, names};
use clap::error::{ContextKind, ErrorKind};
use clap::{Command, Error};
use house::settings::words::nearest;
use house::terminal::{hinted, typed};
use house::{bounds, printable};
use std::num::ParseIntError;

/// Says what is wrong with the words behind a command, or behind none.
pub fn told(error: &Error, command: Option<&Command>) -> String {
    let whose = command.map_or("the guardian", called);
    let part = |kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    let (argument, value) = (part(ContextKind::InvalidArg), part(ContextKind::InvalidValue));
    let (argument, value) = (shown(&argument), shown(&value));
    let mut known = command.into_iter().flat_map(Command::get_arguments);
    let known = known.find(|known| known.to_string() == argument).and_then(|known| known.get_help());
    let about = known.map(|help| format!(": {help}")).unwrap_or_default();
    // Another maker's kinds: those without words here are told in clap's.
    #[allow(clippy::wildcard_enum_match_arm)]
    let what = match error.kind() {
        ErrorKind::InvalidSubcommand => unknown(&shown(&part(ContextKind::InvalidSubcommand)), command),
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            let all = command.map_or_else(|| TABLE.get_subcommands().collect(), |command| vec![command]);
            let options: Vec<String> = all.into_iter().flat_map(choices).collect();
            // The dashes are no likeness.
            let names: Vec<&str> = options.iter().filter_map(|option| option.strip_prefix("--")).collect();
            let near = nearest(argument.trim_start_matches('-'), &names);
            let near = near.map(|near| format!("--{near}")).filter(|near| *near != argument);
            let meant = near.map(|near| format!("; did you mean {near}?"));
            let is_of_one = command.is_none() && options.contains(&argument);
            let meant = meant.or_else(|| is_of_one.then(|| "; it stands behind a command".to_owned()));
            format!("{whose} takes no {argument}{}", meant.unwrap_or_default())
        }
        ErrorKind::UnknownArgument => format!("`{argument}` is too much for {whose}"),
        ErrorKind::InvalidValue if value.is_empty() => format!("{argument} wants a value{about}"),
        ErrorKind::InvalidValue if whose == "help" => unknown(&value, None),
        ErrorKind::InvalidValue => {
            let all = part(ContextKind::ValidValue);
            let near = nearest(&value, &all.split(", ").collect::<Vec<_>>());
            let meant = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            format!("{argument} is one of {all}, not `{value}`{meant}")
        }
        ErrorKind::ValueValidation => match std::error::Error::source(error) {
            Some(why) if why.is::<ParseIntError>() => {
                format!("{argument} wants a whole number, not `{value}`{about}")
            }
            Some(why) if why.to_string().starts_with('-') => why.to_string(),
            why => {
                let why = why.map(ToString::to_string).unwrap_or_default();
                format!("{argument} cannot be `{value}` ({why}){about}")
            }
        },
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let below = command.into_iter().flat_map(Command::get_subcommands).map(Command::get_name);
            format!("{whose} wants one of {}", below.collect::<Vec<_>>().join(", "))
        }
        ErrorKind::MissingRequiredArgument => {
            let examples = command.and_then(Command::get_after_help).map(ToString::to_string);
            let example = examples.unwrap_or_default().lines().nth(1).map(hinted).filter(|_| known.is_some());
            let example = example.map(|example| format!("; as in `{}`", example.trim()));
            format!("{whose} wants {argument}{about}{}", example.unwrap_or_default())
        }
        ErrorKind::ArgumentConflict => {
            format!("{whose} takes {argument} or {}, not both", shown(&part(ContextKind::PriorArg)))
        }
        _ => error.to_string().lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned(),
    };
    let command = command.filter(|command| command.get_name() != "help");
    let how = command.map_or_else(|| typed("help"), |command| typed(&format!("{} --help", called(command))));
    format!("{what}; see `{how}`")
}

/// The name of a command with the one above it.
fn called(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn shown(text: &str) -> String {
    printable::flat(&bounds::brief(text, bounds::NAME_CHARS))
}

/// Says what a word that is no command was meant to be, of the guardian's, or of those below a command.
fn unknown(word: &str, above: Option<&Command>) -> String {
    let names: Vec<&str> = match above {
        Some(above) => above.get_subcommands().map(Command::get_name).collect(),
        None => names().collect(),
    };
    let meant = match nearest(word, &names) {
        Some(name) => format!("the nearest is {name}"),
        None => format!("there are {}", names.join(", ")),
    };
    format!("`{word}` is no command of {}; {meant}", above.map_or("the guardian", Command::get_name))
}
