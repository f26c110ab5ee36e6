//! Completions for shells: commands, options and their values, made of the table of commands. Pure.

use crate::commands::list::table;
use clap_complete::{Shell, generate};

/// The script by which a shell completes `feral`.
pub fn of(shell: Shell) -> String {
    let (mut table, mut script) = (table("feral"), Vec::new());
    generate(shell, &mut table, "feral", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    // Words that stand behind a command as they are: clap leaves them out for fish alone.
    for command in table.get_subcommands().filter(|_| shell == Shell::Fish) {
        let words = command.get_positionals().flat_map(|word| word.get_possible_values());
        let words: Vec<String> = words.map(|word| word.get_name().to_owned()).collect();
        if let (name, false) = (command.get_name(), words.is_empty()) {
            let words = words.join(" ");
            script += &format!("complete -c feral -n '__fish_seen_subcommand_from {name}' -f -a '{words}'\n");
        }
    }
    script
}
