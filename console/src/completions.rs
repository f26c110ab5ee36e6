//! Completions for shells: commands, their options and fixed words, all made of the help table. Pure.

use crate::help::COMMANDS;

/// The shells there are completions for.
pub const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// Returns the script by which a shell completes `feral`; none for a shell that is not known.
pub fn of(shell: &str) -> Option<String> {
    match shell {
        "bash" => Some(bash()),
        "zsh" => Some(zsh()),
        "fish" => Some(fish()),
        _ => None,
    }
}

fn names() -> String {
    COMMANDS.iter().map(|command| command.name).collect::<Vec<_>>().join(" ")
}

/// The options and words of each command, with `--help`, which all take.
fn choices() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    COMMANDS.iter().map(|command| {
        let names =
            if command.name == "help" { COMMANDS.iter().map(|one| one.name).collect() } else { vec![] };
        (command.name, [command.choices(), names, vec!["--help"]].concat())
    })
}

fn bash() -> String {
    let rows = choices().map(|(name, words)| format!("        {name}) words='{}' ;;\n", words.join(" ")));
    format!(
        "# Completions of feral for bash: source this file.\n\
         _feral() {{\n    local words=''\n    if [ \"$COMP_CWORD\" -le 1 ]; then\n        words='{} --help --version'\n    \
         else\n        case \"${{COMP_WORDS[1]}}\" in\n{}        esac\n    fi\n    \
         COMPREPLY=($(compgen -W \"$words\" -- \"${{COMP_WORDS[COMP_CWORD]}}\"))\n}}\n\
         complete -F _feral feral ./feral\n",
        names(),
        rows.collect::<String>()
    )
}

fn zsh() -> String {
    let described = COMMANDS.iter().map(|command| {
        format!("        '{}:{}'\n", command.name, command.brief.replace('\'', "'\\''").replace(':', "\\:"))
    });
    let rows = choices().map(|(name, words)| format!("        {name}) compadd -- {} ;;\n", words.join(" ")));
    format!(
        "#compdef feral\n# Completions of feral for zsh: source this file after compinit, or keep it as _feral in fpath.\n\
         _feral() {{\n    local -a commands\n    commands=(\n{}    )\n    if (( CURRENT == 2 )); then\n        \
         _describe command commands\n    else\n        case $words[2] in\n{}        esac\n    fi\n}}\n\
         if [ \"$funcstack[1]\" = _feral ]; then _feral \"$@\"; else compdef _feral feral; fi\n",
        described.collect::<String>(),
        rows.collect::<String>()
    )
}

fn fish() -> String {
    let mut text = String::from(
        "# Completions of feral for fish: keep this as completions/feral.fish.\ncomplete -c feral -f\n",
    );
    for command in &COMMANDS {
        let brief = command.brief.replace('\\', "\\\\").replace('\'', "\\'");
        text += &format!("complete -c feral -n __fish_use_subcommand -a {} -d '{brief}'\n", command.name);
    }
    for (name, words) in choices() {
        let of = format!("complete -c feral -n '__fish_seen_subcommand_from {name}'");
        for word in words {
            text += &match (word.strip_prefix("--"), word.strip_prefix('-')) {
                (Some(long), _) => format!("{of} -l {long}\n"),
                (_, Some(short)) => format!("{of} -s {short}\n"),
                _ => format!("{of} -a {word}\n"),
            };
        }
    }
    text
}
