//! Help texts: the table of commands, each with a description and examples.

mod list;

pub use list::{groups, print_all, unknown, unknown_option};

use house::terminal::typed;

/// A command: how it is typed, a short description, and the details.
pub struct Help {
    pub name: &'static str,
    pub usage: &'static str,
    pub brief: &'static str,
    pub more: &'static str,
    pub examples: &'static [&'static str],
}

/// Every command; completions and the man page are made of this table too.
pub static COMMANDS: [Help; 33] = [
    Help {
        name: "window",
        usage: "window [--verbosity V]",
        brief: "talk, watch, approve and steer at this terminal; any number at once",
        more: "Plain text is a word to the creature; /help lists what else there is. Ctrl-D or /quit leaves.\n\
            --verbosity V  minimal (words, asks, deaths, falls, self-edits, a dim line each act: the usual), normal (a\n               \
            line each act and thought), or verbose (with their details)",
        examples: &["window", "window --verbosity normal"],
    },
    Help {
        name: "serve",
        usage: "serve [--port N] [--new-link]",
        brief: "the same in a browser of this machine: talk, asks, undo, spend, memory, a life as a picture",
        more: "Prints the link that leads in, and serves until Ctrl-C; on this machine alone, for whoever has the link.\n\
            --port N    listens there (default 7717; 0: any that is free)\n\
            --new-link  makes the link anew, also of a server that runs: what was open by the old one is out",
        examples: &["serve", "serve --port 8080", "serve --new-link"],
    },
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
        more: "Nothing lives and nothing is spent until `resume`. The word `pause` is less: it begins no work of its own, and\n\
               answers you.",
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
        usage: "rollback [COMMIT|RUNG] [--dry-run|--list] [--json]",
        brief: "put creature/ back to the blessed commit before, or to COMMIT",
        more: "What lies in creature/ is kept under refs/guardian/ first; nothing is lost.\n\
            RUNG is the number of a blessed commit, as --list tells them.\n\
            --dry-run      what that would change: commits undone, files, lines; nothing happens\n\
            --list         the blessed commits there are to go back to",
        examples: &["rollback", "rollback 1a2b3c4", "rollback --list", "rollback --dry-run 3"],
    },
    Help {
        name: "mind",
        usage: "mind [--json]",
        brief: "how it stands: status, budget, last and next wake, what it means to do, what it did last",
        more: "Times are local, with their day where that is another. What cannot be read is named.",
        examples: &["mind", "mind --json"],
    },
    Help {
        name: "goals",
        usage: "goals [ID] [--json]",
        brief: "goals with their steps, ways to earn, tasks, orders, reminders; with an ID one whole",
        more: "What is open first. `?` waits for your yes. Steps: x done, > under way, ! failed and tried again, - parked.\n\
               Exit status 1 where they cannot be read, or none is called so.",
        examples: &["goals", "goals goal-7", "goals --json"],
    },
    Help {
        name: "budget",
        usage: "budget [--json]",
        brief: "what is spent, reserved and left of each cap, at what rate, and by what today",
        more: "Days are counted by UTC, as the caps are. By what: whose words, which service and model, from the ledger.",
        examples: &["budget", "budget --json"],
    },
    Help {
        name: "why",
        usage: "why [THOUGHT] [--json]",
        brief: "a thought: what woke it, what it saw, said and did, what it cost, where that stands",
        more: "THOUGHT is its number, as in memory and in `mind --json`, or last, last-1 …; else the last one.\n\
               Exit status 1 where it is not in memory.",
        examples: &["why", "why last-1", "why 38 --json"],
    },
    Help {
        name: "diff",
        usage: "diff [LIFE|COMMIT] [--json]",
        brief: "what it changed in itself: its newest self-edit, a life's or a commit's, and what came of it",
        more: "A life is compared with the one before it, a commit with its parent.",
        examples: &["diff", "diff 7", "diff 1a2b3c4"],
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
        name: "remind",
        usage: "remind WHEN to WHAT [--wait S] [--thread NAME] [--json]",
        brief: "have it remind you: the word `remind me WHEN to WHAT`",
        more: "WHEN as in docs/talk.md: in 10 minutes, tomorrow at 9, every monday at 9am. Waits for its answer as say does,\n\
               with the same options and exit status.",
        examples: &["remind \"in 10 minutes to stretch\"", "remind tomorrow at 9 to call home"],
    },
    Help {
        name: "pulse",
        usage: "pulse [--wait S] [--thread NAME] [--json]",
        brief: "ask which concerns it tends; waits for the answer as say does",
        more: "What it looks at again and again by itself, and when next.",
        examples: &["pulse"],
    },
    Help {
        name: "dream",
        usage: "dream [--wait S] [--thread NAME] [--json]",
        brief: "have it merge facts and sum up memory; waits for the answer as say does",
        more: "It says when it will; what came of it stands in the feed.",
        examples: &["dream"],
    },
    Help {
        name: "compact",
        usage: "compact [--wait S] [--thread NAME] [--json]",
        brief: "have it sum up memory at once, and its work and your talk when they next go on",
        more: "The summary is a file in .self/snapshots/; no record is deleted, and the last ten messages stay as they were.",
        examples: &["compact"],
    },
    Help {
        name: "asks",
        usage: "asks [ID] [--full] [--json]",
        brief: "what waits for your yes or no; with an ID what it would do, --full its exact bytes",
        more: "What, where, whom, and the body by its fields where these are all of it, else as it is. Text that could fool a\n\
               terminal is spelled out, as \\u{1b}.",
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
        name: "yes",
        usage: "yes ID",
        brief: "another name of approve",
        more: "Says what came of it; exit status 1 where it failed or the service refused it.",
        examples: &["yes 12"],
    },
    Help {
        name: "no",
        usage: "no ID",
        brief: "another name of deny",
        more: "The creature is told.",
        examples: &["no 12"],
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
        usage: "report [--since T] [--markdown] [--json]",
        brief: "a minute's reading: what came to pass since T (default yesterday), weightiest first",
        more: "What waits for your yes, falls and deaths, self-edits and what came of them, what it made, words, what failed,\n\
               what it cost and what it means to do next. `->` says where more of it stands: a command of the\n\
               guardian's, of git's, or a path. T as for history.\n\
            --markdown  as a letter to send to others (default T 7d): without keys, paths and addresses of this machine",
        examples: &[
            "report",
            "report --since 8h",
            "report --markdown > week.md",
            "report --since today --json",
        ],
    },
    Help {
        name: "feed",
        usage: "feed [-f|--follow] [-n N] [--since T] [--json]",
        brief: "what it thought, did and said last; -f goes on until Ctrl-C",
        more: "The last 20 rows; -n N the last N, --since T all since T (as for history). --json prints the records.",
        examples: &["feed", "feed -f", "feed -n 100", "feed --since 2h | less"],
    },
    Help {
        name: "backup",
        usage: "backup [FILE] [--with-secrets] [--json]",
        brief: "the house in one checked file, also while it runs",
        more: "Repository, papers, memory and records; without FILE it goes beside the house. Read back and checked once written.\n\
            --with-secrets  takes .env and tokens along, which are left out else\n\
            Exit status 1 where none was made; then there is no FILE.",
        examples: &["backup", "backup /media/disk/feral.tar.gz", "backup --with-secrets"],
    },
    Help {
        name: "restore",
        usage: "restore FILE [--with-secrets] [--json]",
        brief: "put back what a backup holds; what was spent and answered since stays",
        more: "With the house stopped. All of FILE is checked first; what is replaced is kept. Killed in the middle, the next start\n\
            or restore, without FILE too, goes on. Into a fresh clone it brings everything.\n\
            --with-secrets  puts .env and tokens back too, where the backup has them and the house has none\n\
            Restore only what you made yourself. Exit status 1 where nothing was put in place.",
        examples: &["restore ../house-20260131T080000-000Z.tar.gz"],
    },
    Help {
        name: "update",
        usage: "update [--dry-run] [--json]",
        brief: "fetch what is new upstream, show it, try it and merge it",
        more: "Forward only; nothing is pushed, and edits of yours that are not committed are never touched. Stops the house first;\n\
            where creature/ changes, its tests must pass in the sandbox; then the house goes on. A conflict or a failed test leaves\n\
            everything as it was.\n\
            --dry-run  only fetches and shows\n\
            Exit status: 0 merged, or nothing to merge; 1 nothing was merged, and why.",
        examples: &["update --dry-run", "update"],
    },
    Help {
        name: "doctor",
        usage: "doctor [--json]",
        brief: "what is missing or odd, and how to mend it",
        more: "Exit status 1 where something is missing that nothing works without.",
        examples: &["doctor"],
    },
    Help {
        name: "completions",
        usage: "completions bash|zsh|fish",
        brief: "what a shell needs to complete commands and options of `feral`",
        more: "Printed, not installed. bash: source it from ~/.bashrc; zsh: from ~/.zshrc, after compinit; fish: keep it as\n\
               ~/.config/fish/completions/feral.fish.",
        examples: &["completions bash"],
    },
    Help {
        name: "export",
        usage: "export [LIFE] [--html|--trace] [--since T]",
        brief: "a life, or all since a time, as one file to show to others; without either all there is",
        more: "Goes to the standard output. Keys of .env, what looks like one, and the house's path are struck; words, thoughts\n\
            and what the acts were given stand in it: read it before you show it.\n\
            --html         one file that needs no other: the picture and all that happened (else this)\n\
            --trace        JSON in Chrome's form, which Perfetto opens",
        examples: &["export 7 > life-7.html", "export --since 7d --trace > week.json"],
    },
    Help {
        name: "man",
        usage: "man",
        brief: "all of this help as a man page, in roff",
        more: "Printed, not installed; `feral man | man -l -` shows it.",
        examples: &["man"],
    },
    Help {
        name: "help",
        usage: "help [COMMAND]",
        brief: "the list of commands, or what there is to know of one",
        more: "As `--help` behind a command.",
        examples: &["help", "help say"],
    },
];

pub const ENVIRONMENT: &str =
    "RUST_LOG (what is logged), NO_COLOR (plain output), TZ (where your clock stands).";
pub const EXIT_STATUS: &str = "0 done; 1 failed, or what was approved failed; 2 wrong usage; 3 no guardian runs, or no \
                               answer came within the time; 100 refused to start.";

/// The help of a command.
pub fn of(name: &str) -> Option<&'static Help> {
    COMMANDS.iter().find(|command| command.name == name)
}

impl Help {
    pub fn takes(&self, option: &str) -> bool {
        self.words().any(|word| word == option)
    }

    /// The options of a command, and the words that may stand behind it as they are.
    pub fn choices(&self) -> Vec<&'static str> {
        let is_fixed = |word: &&str| {
            let name = word.trim_start_matches('-');
            // `to` is no choice, it is how a sentence goes on.
            *word != "to"
                && !name.is_empty()
                && name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-')
        };
        self.words().skip(1).filter(is_fixed).collect()
    }

    /// The usage word by word, without what groups them.
    fn words(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.usage.split(['[', ']', ' ', '|']).filter(|word| !word.is_empty())
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
