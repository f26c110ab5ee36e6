//! Help texts: each command with what it does and examples, and suggestions for a mistyped one.

use house::settings::words::nearest;
use house::terminal::typed;

/// A command: how it is typed, a short description, and the details.
pub struct Help {
    pub name: &'static str,
    usage: &'static str,
    brief: &'static str,
    more: &'static str,
    examples: &'static [&'static str],
}

const COMMANDS: [Help; 13] = [
    Help {
        name: "status",
        usage: "status [--json]",
        brief: "what is going on; exit status 3 when no guardian runs",
        more: "Life, commit, mind, walls, broker, money, its own time and what it came to, and the last death.",
        examples: &["status", "status --json"],
    },
    Help {
        name: "stop",
        usage: "stop",
        brief: "end the creature and the guardian",
        more: "Waits until both are gone. The next start goes on from there.",
        examples: &["stop"],
    },
    Help {
        name: "pause",
        usage: "pause",
        brief: "end the creature; the guardian waits",
        more: "Nothing lives and nothing is spent until `resume`.",
        examples: &["pause"],
    },
    Help {
        name: "resume",
        usage: "resume",
        brief: "go on",
        more: "Ends a pause, or a rest after deaths.",
        examples: &["resume"],
    },
    Help {
        name: "rollback",
        usage: "rollback [COMMIT]",
        brief: "put creature/ back to the blessed commit before, or to COMMIT",
        more: "What lies in creature/ is kept under refs/guardian/ first; nothing is lost.",
        examples: &["rollback", "rollback 1a2b3c4"],
    },
    Help {
        name: "say",
        usage: "say WORDS|- [--wait S] [--thread NAME] [--json]",
        brief: "a word to the creature; waits for its answer and prints it whole",
        more: "The word is kept in .self/inbox.jsonl first, and stays there whatever becomes of the waiting.\n\
            -              takes the word from the standard input\n\
            --wait S       waits S seconds at most (default 120; 0 not at all)\n\
            --thread NAME  goes on with another talk, and takes what is said there next for the answer; else each\n               \
            word has a thread of its own. main: words said without a thread, and a plain yes to what was asked there\n\
            --json         prints word, answer, at and thread\n\
            Only the answer goes to the standard output. Exit status: 0 answered; 1 nobody lives to hear it; 3 no answer \
            within the time; 130 Ctrl-C.",
        examples: &[
            "say \"what are you up to\"",
            "say --wait 600 --json \"who are you\"",
            "say --thread main yes",
            "say - < letter.txt",
        ],
    },
    Help {
        name: "asks",
        usage: "asks [ID] [--full] [--json]",
        brief: "what waits for your yes or no; with an ID or --full its exact bytes",
        more: "Text that could fool a terminal is spelled out, as \\u{1b}.",
        examples: &["asks", "asks 12", "asks --full"],
    },
    Help {
        name: "approve",
        usage: "approve ID",
        brief: "let it be done, once and exactly as shown",
        more: "Says what came of it; exit status 1 where it failed or the service refused it.",
        examples: &["approve 12"],
    },
    Help {
        name: "deny",
        usage: "deny ID",
        brief: "do not",
        more: "The creature is told.",
        examples: &["deny 12"],
    },
    Help {
        name: "history",
        usage: "history [--since T] [--json]",
        brief: "what happened since T (default 24h): lives, deaths, commits, words, acts, money",
        more: "T is 90m, 12h, 7d, 2w, today, yesterday, a day (2026-01-31), or a time (2026-01-31T08:00); days and times are local.",
        examples: &["history", "history --since 8h", "history --since 2026-01-31"],
    },
    Help {
        name: "report",
        usage: "report [--since T] [--json]",
        brief: "a minute's reading: what came to pass since T (default yesterday), weightiest first",
        more: "What waits for your yes, falls and deaths, self-edits and what came of them, what it made, words, what failed,\n\
               what it cost and what it means to do next. `->` says where more of it stands: a command of the\n\
               guardian's, of git's, or a path. T as for history.",
        examples: &["report", "report --since 8h", "report --since today --json"],
    },
    Help {
        name: "feed",
        usage: "feed [-n N] [--since T] [--json]",
        brief: "follow what it thinks, does and says, until Ctrl-C",
        more: "Shows the last 20 rows first; -n N the last N, --since T all since T (as for history). --json prints the records.",
        examples: &["feed", "feed -n 100", "feed --since 2h | less"],
    },
    Help {
        name: "doctor",
        usage: "doctor [--json]",
        brief: "what is missing or odd, and how to mend it",
        more: "Exit status 1 where something is missing that nothing works without.",
        examples: &["doctor"],
    },
];

/// The help of a command.
pub fn of(name: &str) -> Option<&'static Help> {
    COMMANDS.iter().find(|command| command.name == name)
}

/// The list of all commands.
pub fn all() -> String {
    let commands = COMMANDS.map(|command| format!("  {:<30} {}", command.usage, command.brief));
    let examples = [
        "say \"what are you up to\"",
        "report",
        "history --since 8h",
        "feed -n 50",
        "asks 12",
        "approve 12",
        "rollback 1a2b3c4",
    ];
    let examples = examples.map(|example| format!("  {}", typed(example)));
    format!(
        "Keeps one self-editing creature alive.\n\nUsage: cargo run -p guardian [-- COMMAND]\n\n\
         Without a command it builds the creature, runs it and watches it until Ctrl-C.\n\n\
         Commands:\n{}\n\n\
         Options:\n  -h, --help      this text; after a command, what there is to know of it\n  \
         -V, --version   the version\n\n\
         Examples:\n  cargo run -p guardian\n{}\n\n\
         Environment: RUST_LOG (what is logged), NO_COLOR (plain output), TZ (where your clock stands).\n\
         Exit status: 0 done; 1 failed, or what was approved failed; 2 wrong usage; 3 no guardian runs, or no \
         answer came within the time; \
         100 refused to start.",
        commands.join("\n"),
        examples.join("\n")
    )
}

impl Help {
    pub fn takes(&self, option: &str) -> bool {
        self.usage.split(['[', ']', ' ']).any(|word| word == option)
    }

    pub fn text(&self) -> String {
        let examples: Vec<String> =
            self.examples.iter().map(|example| format!("  {}", typed(example))).collect();
        let usage = typed(self.usage);
        format!(
            "{}: {}.\n{}\n\nUsage: {usage}\n\nExamples:\n{}",
            self.name,
            self.brief,
            self.more,
            examples.join("\n")
        )
    }
}

/// The answer to an unknown command.
pub fn unknown(words: &str) -> String {
    let names = COMMANDS.map(|command| command.name);
    let first = words.split(' ').next().unwrap_or_default();
    if of(first).is_some() {
        return format!(
            "`{words}` is too much for {first}; how it is typed: {}",
            typed(&format!("{first} --help"))
        );
    }
    let meant = match nearest(first, &names) {
        Some(name) => format!("the nearest is {name}"),
        None => format!("there are {}", names.join(", ")),
    };
    format!("`{words}` is no command of the guardian; {meant}")
}
