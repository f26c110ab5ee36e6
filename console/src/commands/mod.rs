//! The owner's commands: the table that the command line, its help, completions and the man page are made of. Pure.
//!
//! The guardian's own program carries out `status`, `stop`, `pause`, `resume` and `rollback`; it hands over all other
//! commands, and these where something is wrong with them. `after_help` holds a command's examples, one a line, without the
//! program's name.

pub mod channels;
pub mod list;
pub mod mcp;
pub mod mistakes;
pub mod options;
pub mod page;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, ArgGroup, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use house::moments;
use options::{Answer, Form};

/// The shells there are completions for.
const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// keeps one self-editing creature alive
#[derive(Parser)]
#[command(
    name = "feral",
    version,
    subcommand_value_name = "COMMAND",
    disable_help_flag = true,
    disable_help_subcommand = true
)]
#[command(no_binary_name = true, args_override_self = true, args_conflicts_with_subcommands = true)]
pub struct Typed {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub window: options::Window,
    /// prints this
    #[arg(short, long, global = true, action = ArgAction::HelpShort)]
    help: Option<bool>,
}

#[derive(Subcommand)]
pub enum Command {
    /// talk, watch, approve and steer at this terminal; any number at once
    ///
    /// Plain text is a word to the creature; /help lists what else there is. Ctrl-D or /quit leaves.
    #[command(after_help = "window\nwindow --verbosity normal")]
    Window(options::Window),

    /// the same in a browser of this machine: talk, asks, undo, spend, memory, a life as a picture
    ///
    /// Prints the link that leads in, and serves until Ctrl-C; on this machine alone, for whoever has the link.
    #[command(after_help = "serve\nserve --port 8080\nserve --new-link")]
    Serve(options::Serve),

    /// your page beyond this machine, for a phone: its password, passkeys, who is signed in
    ///
    /// It is open where owner.toml has `[page] listen`. docs/page.md tells of it.
    #[command(after_help = "page password\npage sessions")]
    Page {
        #[command(subcommand)]
        order: page::Page,
    },

    /// a word to the creature; waits for its answer and prints it whole
    ///
    /// The word is kept in .self/inbox.jsonl first, and stays there whatever becomes of the waiting.
    ///
    /// Only the answer goes to the standard output. Exit status: 0 answered; 1 nobody lives to hear it; 3 no answer
    /// within the time; 130 Ctrl-C.
    #[command(
        after_help = "say \"what are you up to\"\nsay --wait 600 --json \"who are you\"\nsay --thread main yes\nsay - < letter.txt"
    )]
    Say {
        /// what to say; - takes it from the standard input
        #[arg(required = true, value_name = "WORDS|-")]
        words: Vec<String>,
        #[command(flatten)]
        wanted: options::Say,
    },

    /// have it remind you: the word `remind me WHEN to WHAT`
    ///
    /// Waits for its answer as say does, with the same options and exit status.
    #[command(after_help = "remind \"in 10 minutes to stretch\"\nremind tomorrow at 9 to call home")]
    Remind {
        /// as in docs/talk.md: in 10 minutes, tomorrow at 9, every monday at 9am
        #[arg(required = true, value_name = "WHEN to WHAT")]
        words: Vec<String>,
        #[command(flatten)]
        wanted: options::Say,
    },

    /// ask which concerns it tends; waits for the answer as say does
    ///
    /// What it looks at again and again by itself, and when next.
    #[command(after_help = "pulse")]
    Pulse(options::Say),

    /// have it merge facts and sum up memory; waits for the answer as say does
    ///
    /// It says when it will; what came of it stands in the feed.
    #[command(after_help = "dream")]
    Dream(options::Say),

    /// have it sum up memory at once, and its work and your talk when they next go on
    ///
    /// The summary is a file in .self/snapshots/; no record is deleted, and the last ten messages stay as they were.
    #[command(after_help = "compact")]
    Compact(options::Say),

    /// what is going on; exit status 3 when no guardian runs
    ///
    /// Life, commit, mind, walls, broker, money, its own time and what it came to, and the last death.
    #[command(after_help = "status\nstatus --json")]
    Status(Form),

    /// how it stands: status, budget, last and next wake, what it means to do, what it did last
    ///
    /// Times are local, with their day where that is another. What cannot be read is named.
    #[command(after_help = "mind\nmind --json")]
    Mind(Form),

    /// what it thought, did and said last; -f goes on until Ctrl-C
    ///
    /// The last 20 rows, unless others are asked for.
    #[command(after_help = "feed\nfeed -f\nfeed -n 100\nfeed --since 2h | less")]
    Feed(options::Feed),

    /// goals with their steps, ways to earn, tasks, orders, reminders; with an ID one whole
    ///
    /// What is open first. `?` waits for your yes. Steps: x done, > under way, ! failed and tried again, - parked.
    /// Exit status 1 where they cannot be read, or none is called so.
    #[command(after_help = "goals\ngoals goal-7\ngoals --json")]
    Goals {
        /// the goal that is shown whole
        #[arg(value_name = "ID")]
        id: Option<String>,
        #[command(flatten)]
        form: Form,
    },

    /// the skills there are: yours in skills/, its own in self/skills/; check judges them and names what they would run
    ///
    /// A skill is a folder with a SKILL.md (agentskills.io). check without a name judges all; exit status 1 where one is not
    /// right in form, or the creature is not shown it.
    #[command(after_help = "skills\nskills check\nskills check pdf\nskills check ~/Downloads/pdf --json")]
    Skills {
        /// judges, instead of listing
        #[arg(value_name = "check", value_parser = ["check"], hide_possible_values = true)]
        check: Option<String>,
        /// the skill that is judged, by its name or as a folder
        #[arg(value_name = "NAME|PATH", requires = "check", value_hint = ValueHint::DirPath)]
        which: Option<String>,
        #[command(flatten)]
        form: Form,
    },

    /// a thought: what woke it, what it saw, said and did, what it cost, where that stands
    ///
    /// Exit status 1 where it is not in memory.
    #[command(after_help = "why\nwhy last-1\nwhy 38 --json")]
    Why {
        /// its number, as in memory and in `mind --json`, or last, last-1 and so on; else the last one
        #[arg(value_name = "THOUGHT")]
        thought: Option<String>,
        #[command(flatten)]
        form: Form,
    },

    /// what it changed in itself: its newest self-edit, a life's or a commit's, and what came of it
    #[command(after_help = "diff\ndiff 7\ndiff 1a2b3c4")]
    Diff {
        /// a life is compared with the one before it, a commit with its parent
        #[arg(value_name = "LIFE|COMMIT")]
        which: Option<String>,
        #[command(flatten)]
        form: Form,
    },

    /// a minute's reading: what came to pass since T (default yesterday), weightiest first
    ///
    /// What waits for your yes, falls and deaths, self-edits and what came of them, what it made, words, what failed,
    /// what it cost and what it means to do next. `->` says where more of it stands: a command of the guardian's, of
    /// git's, or a path.
    #[command(
        after_help = "report\nreport --since 8h\nreport --markdown > week.md\nreport --since today --json"
    )]
    Report {
        /// begins there; T as for history
        #[arg(long, value_name = "T", value_parser = moments::since, allow_hyphen_values = true, default_value = "yesterday")]
        #[arg(default_value_if("markdown", "true", "7d"))]
        since: String,
        /// as a letter to send to others (default T 7d): without keys, paths and addresses of this machine
        #[arg(long, conflicts_with = "json")]
        markdown: bool,
        #[command(flatten)]
        form: Form,
    },

    /// what happened since T (default 24h): lives, deaths, commits, words, acts, money
    #[command(after_help = "history\nhistory --since 8h\nhistory --since 2026-01-31")]
    History {
        /// begins there: 90m, 12h, 7d, 2w, today, yesterday, a day (2026-01-31), or a time (2026-01-31T08:00); days and
        /// times are local
        #[arg(long, value_name = "T", value_parser = moments::since, allow_hyphen_values = true, default_value = "24h")]
        since: String,
        #[command(flatten)]
        form: Form,
    },

    /// what is spent, reserved and left of each cap, at what rate, and by what today
    ///
    /// Days are counted by UTC, as the caps are. By what: whose words, which service and model, from the ledger.
    #[command(after_help = "budget\nbudget --json")]
    Budget(Form),

    /// a life, or all since a time, as one file to show to others; without either all there is
    ///
    /// Goes to the standard output. Keys of .env, what looks like one, and the house's path are struck; words, thoughts
    /// and what the acts were given stand in it: read it before you show it.
    #[command(after_help = "export 7 > life-7.html\nexport --since 7d --trace > week.json")]
    Export {
        /// the life's number, as `history` tells it
        #[arg(value_name = "LIFE", conflicts_with = "since")]
        life: Option<u64>,
        /// one file that needs no other: the picture and all that happened (else this)
        #[arg(long, conflicts_with = "trace")]
        html: bool,
        /// JSON in Chrome's form, which Perfetto opens
        #[arg(long)]
        trace: bool,
        /// all since then; T as for history
        #[arg(long, value_name = "T", value_parser = moments::since, allow_hyphen_values = true)]
        since: Option<String>,
    },

    /// what waits for your yes or no; with an ID what it would do, --full its exact bytes
    ///
    /// What, where, whom, and the body by its fields where these are all of it, else as it is. Text that could fool a
    /// terminal is spelled out, as \u{1b}.
    #[command(after_help = "asks\nasks 12\nasks --full")]
    Asks {
        /// the ask that is shown whole
        #[arg(value_name = "ID")]
        id: Option<String>,
        /// shows exact bytes
        #[arg(long)]
        full: bool,
        #[command(flatten)]
        form: Form,
    },

    /// another name of approve
    ///
    /// Says what came of it; exit status 1 where it failed or the service refused it.
    #[command(after_help = "yes 12")]
    Yes(Answer),

    /// another name of deny
    ///
    /// The creature is told.
    #[command(after_help = "no 12")]
    No(Answer),

    /// let it be done, once and exactly as shown
    ///
    /// Says what came of it; exit status 1 where it failed or the service refused it.
    #[command(after_help = "approve 12")]
    Approve(Answer),

    /// do not
    ///
    /// The creature is told.
    #[command(after_help = "deny 12")]
    Deny(Answer),

    /// put creature/ back to the blessed commit before, or to COMMIT
    ///
    /// What lies in creature/ is kept under refs/guardian/ first; nothing is lost.
    #[command(after_help = "rollback\nrollback 1a2b3c4\nrollback --list\nrollback --dry-run 3")]
    #[command(group = ArgGroup::new("look").args(["dry_run", "list"]))]
    Rollback {
        /// the blessed commit to go back to; RUNG is its number, as --list tells it
        #[arg(value_name = "COMMIT|RUNG", conflicts_with = "list")]
        to: Option<String>,
        /// what that would change: commits undone, files, lines; nothing happens
        #[arg(long)]
        dry_run: bool,
        /// the blessed commits there are to go back to
        #[arg(long)]
        list: bool,
        /// prints JSON, for programs; beside --dry-run or --list
        #[arg(long, requires = "look")]
        json: bool,
    },

    /// end the creature; the guardian waits
    ///
    /// Nothing lives and nothing is spent until `resume`. The word `pause` is less: it begins no work of its own, and
    /// answers you.
    #[command(after_help = "pause")]
    Pause,

    /// go on
    ///
    /// Ends a pause, or a rest after deaths.
    #[command(after_help = "resume")]
    Resume,

    /// end the creature and the guardian
    ///
    /// Waits until both are gone. The next start goes on from there.
    #[command(after_help = "stop")]
    Stop,

    /// the house in one checked file, also while it runs
    ///
    /// Repository, papers, memory and records. Read back and checked once written. Exit status 1 where none was made;
    /// then there is no FILE.
    #[command(after_help = "backup\nbackup /media/disk/feral.tar.gz\nbackup --with-secrets")]
    Backup(options::Backup),

    /// put back what a backup holds; what was spent and answered since stays
    ///
    /// With the house stopped. All of FILE is checked first; what is replaced is kept. Killed in the middle, the next
    /// start or restore, without FILE too, goes on. Into a fresh clone it brings everything.
    ///
    /// Restore only what you made yourself. Exit status 1 where nothing was put in place.
    #[command(after_help = "restore ../house-20260131T080000-000Z.tar.gz")]
    Restore(options::Restore),

    /// fetch what is new upstream, show it, try it and merge it
    ///
    /// Forward only; nothing is pushed, and edits of yours that are not committed are never touched. Stops the house
    /// first; where creature/ changes, its tests must pass in the sandbox; then the house goes on. A conflict or a
    /// failed test leaves everything as it was.
    ///
    /// Exit status: 0 merged, or nothing to merge; 1 nothing was merged, and why.
    #[command(after_help = "update --dry-run\nupdate")]
    Update(options::Update),

    /// MCP servers, whose tools the creature may call by your rules; alone it lists them
    ///
    /// docs/mcp.md tells of them.
    #[command(after_help = "mcp\nmcp test files")]
    Mcp {
        #[command(subcommand)]
        order: Option<mcp::Mcp>,
    },

    /// Telegram, Discord, Slack, Matrix or mail, to talk with it from your own chat; alone it lists them
    ///
    /// docs/channels.md tells of them.
    #[command(after_help = "channels\nchannels add telegram\nchannels pair telegram")]
    Channels {
        #[command(subcommand)]
        order: Option<channels::Channels>,
    },

    /// what is missing or odd, and how to mend it
    ///
    /// Exit status 1 where something is missing that nothing works without.
    #[command(after_help = "doctor")]
    Doctor(Form),

    /// what a shell needs to complete commands and options of `feral`
    ///
    /// Printed, not installed. bash: source it from ~/.bashrc; zsh: from ~/.zshrc, after compinit; fish: keep it as
    /// ~/.config/fish/completions/feral.fish.
    #[command(after_help = "completions bash")]
    Completions {
        /// the shell that reads it
        #[arg(value_name = "SHELL", value_parser = PossibleValuesParser::new(SHELLS).try_map(|name| name.parse::<Shell>()))]
        shell: Shell,
    },

    /// all of this help as a man page, in roff
    ///
    /// Printed, not installed; `feral man | man -l -` shows it.
    #[command(after_help = "man")]
    Man,

    /// the list of commands, or what there is to know of one
    ///
    /// As `--help` behind a command.
    #[command(after_help = "help\nhelp say")]
    Help {
        /// the command that is told of
        #[arg(value_name = "COMMAND", hide_possible_values = true)]
        command: Option<String>,
    },
}
