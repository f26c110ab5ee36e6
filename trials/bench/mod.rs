//! What survival costs, side by side with bare system calls, cargo, runit and s6. Run by `scripts/bench`, which has help.

mod fall;
mod idle;
mod machine;
mod page;
mod reaction;
mod restart;
mod rewrite;
mod row;
mod silence;
mod stand_in;
mod supervisors;
mod window;

use lexopt::prelude::*;
use row::Row;
use serde_json::{Value, json};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::ffi::OsString;
use std::fs;
use std::io::IsTerminal;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

type Measure = fn(&Plan) -> Table;

/// Name, title and how it is measured, in the order of the page.
const MEASURES: [(&str, &str, Measure); 13] = [
    ("restart", "Exit → next exec", restart::measure),
    ("silence", "Silence → killed", silence::measure),
    ("fall", "Crash loop → living creature", fall::measure),
    ("idle", "Idle", idle::measure),
    ("flat", "After thousands of restarts", idle::flat),
    ("memory", "Memory: append, and what a thought reads", memory),
    ("mind", "A thought, beside its model", mind),
    ("cost", "An job, in tokens and dollars", cost),
    ("first", "Start → first model request", first),
    ("broker", "A model call through the broker", broker),
    ("window", "The owner's window", window::measure),
    ("reaction", "The real creature: edit → reborn", reaction::measure),
    ("rewrite", "The real creature: crash loop", rewrite::measure),
];

/// What is measured, and how thoroughly.
pub struct Plan {
    pub quick: bool,
    only: Option<String>,
    json: bool,
    /// What was measured takes its place on the page that stands.
    renew: bool,
    /// The guardian built with --release.
    pub release: PathBuf,
    /// The creature's benches.
    memory: PathBuf,
    mind: PathBuf,
    cost: PathBuf,
    /// Built with --release, as the creature it starts.
    first: PathBuf,
    /// The broker's bench.
    broker: PathBuf,
    measure: &'static str,
    begun: Instant,
}

impl Plan {
    /// Rounds of a whole run, or of a quick one.
    pub fn scaled<T>(&self, whole: T, quick: T) -> T {
        if self.quick { quick } else { whole }
    }

    pub fn say(&self, what: &str) {
        eprintln!("bench: {:>3} s: {}: {what}", self.begun.elapsed().as_secs(), self.measure);
    }

    /// A line that is written over at a terminal; elsewhere only a measure's beginning and end are told.
    pub fn progress(&self, done: usize, of: usize) {
        if std::io::stderr().is_terminal() {
            eprint!("\r\x1b[Kbench: {}: {done} of {of}\r", self.measure);
        }
    }
}

/// The rows of one measure, and what is to be said of them.
#[derive(Default)]
pub struct Table {
    title: &'static str,
    rows: Vec<Row>,
    notes: Vec<String>,
}

impl Table {
    pub fn new(rows: Vec<Row>) -> Self {
        Self { rows, ..Self::default() }
    }

    pub fn note(mut self, note: String) -> Self {
        self.notes.push(note);
        self
    }
}

pub fn main(words: impl Iterator<Item = OsString>) -> ExitCode {
    let mut plan = match arguments(words) {
        Ok(Some(plan)) => plan,
        Ok(None) => {
            println!("nothing measured: this is for scripts/bench");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("bench: {error}; see scripts/bench --help");
            return ExitCode::from(2);
        }
    };
    end_children_when_asked_to();
    let facts = machine::facts();
    let (mut tables, mut failed) = (Vec::new(), Vec::new());
    for (name, title, measure) in MEASURES {
        if !name.contains(plan.only.as_deref().unwrap_or_default()) {
            continue;
        }
        plan.measure = name;
        plan.say("begins");
        match catch_unwind(AssertUnwindSafe(|| measure(&plan))) {
            Ok(table) => tables.push(Table { title, ..table }),
            Err(_) => failed.push(name),
        }
    }
    write(&plan, facts, &tables, failed.is_empty());
    eprintln!("bench: {} tables in {} s", tables.len(), plan.begun.elapsed().as_secs());
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("bench: FAILED: {}", failed.join(", "));
    ExitCode::FAILURE
}

fn arguments(words: impl Iterator<Item = OsString>) -> Result<Option<Plan>, lexopt::Error> {
    let mut plan = Plan {
        quick: false,
        only: None,
        json: false,
        renew: false,
        release: PathBuf::new(),
        memory: PathBuf::new(),
        mind: PathBuf::new(),
        cost: PathBuf::new(),
        first: PathBuf::new(),
        broker: PathBuf::new(),
        measure: "",
        begun: Instant::now(),
    };
    let mut parser = lexopt::Parser::from_args(words);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("quick") => plan.quick = true,
            Long("json") => plan.json = true,
            Long("renew") => plan.renew = true,
            Long("only") => plan.only = Some(parser.value()?.string()?),
            Long("release-guardian") => plan.release = parser.value()?.into(),
            Long("memory-bench") => plan.memory = parser.value()?.into(),
            Long("mind-bench") => plan.mind = parser.value()?.into(),
            Long("cost-bench") => plan.cost = parser.value()?.into(),
            Long("first-bench") => plan.first = parser.value()?.into(),
            Long("broker-bench") => plan.broker = parser.value()?.into(),
            other => return Err(other.unexpected()),
        }
    }
    if let Some(only) = &plan.only
        && !MEASURES.iter().any(|(name, ..)| name.contains(only.as_str()))
    {
        return Err(format!("no measure has {only:?} in its name").into());
    }
    let needs = [&plan.release, &plan.memory, &plan.mind, &plan.cost, &plan.first, &plan.broker];
    let is_whole = needs.into_iter().all(|file| file.is_file());
    Ok(is_whole.then_some(plan))
}

/// The figures for programs always; the page, if it is whole, for the repository.
fn write(plan: &Plan, facts: Value, tables: &[Table], sound: bool) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let figures = |table: &Table| {
        let rows: Vec<Value> = table.rows.iter().map(Row::figures).collect();
        json!({"title": table.title, "rows": rows, "notes": table.notes})
    };
    let all: Vec<Value> = tables.iter().map(figures).collect();
    let all = json!({"machine": facts, "quick": plan.quick, "tables": all});
    let all = serde_json::to_string_pretty(&all).unwrap() + "\n";
    let folder = root.join("target/survival");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("bench.json"), &all).unwrap();
    let page = page::page(&facts, tables, plan.quick);
    print!("{}", if plan.json { &all } else { &page });
    let file = root.join("trials/BENCH.md");
    let page = match (&plan.only, plan.renew) {
        (None, _) => page,
        (Some(_), false) => return,
        (Some(_), true) => {
            let order: Vec<&str> = MEASURES.iter().map(|(_, title, _)| *title).collect();
            page::renewed(&fs::read_to_string(&file).unwrap(), &facts, tables, &order)
        }
    };
    if sound && !plan.quick {
        fs::write(file, page).unwrap();
        eprintln!("bench: wrote BENCH.md");
    }
}

/// What the creature's own benches measure.
fn memory(plan: &Plan) -> Table {
    told_by(&plan.memory, plan)
}

fn mind(plan: &Plan) -> Table {
    told_by(&plan.mind, plan)
}

fn cost(plan: &Plan) -> Table {
    told_by(&plan.cost, plan)
}

fn first(plan: &Plan) -> Table {
    told_by(&plan.first, plan)
}

/// What the broker's own bench measures.
fn broker(plan: &Plan) -> Table {
    told_by(&plan.broker, plan)
}

/// What another crate's bench prints: a line a row.
fn told_by(bench: &Path, plan: &Plan) -> Table {
    let mut command = Command::new(bench);
    command.arg("--bench").args(plan.quick.then_some("--quick"));
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "{} failed", bench.display());
    let lines = String::from_utf8(output.stdout).unwrap();
    let (rows, notes): (Vec<&str>, Vec<&str>) = lines.lines().partition(|line| line.starts_with('{'));
    let table = Table::new(rows.into_iter().map(|line| serde_json::from_str(line).unwrap()).collect());
    notes.into_iter().fold(table, |table, note| table.note(note.to_owned()))
}

/// A bench that is told to end takes along what it started: guardians leave in order, and take their creatures.
fn end_children_when_asked_to() {
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]).unwrap();
    std::thread::spawn(move || {
        let Some(signal) = signals.forever().next() else { return };
        eprintln!("\nbench: interrupted; ending what was started");
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(15) {
            let left = children();
            if left.is_empty() {
                break;
            }
            for pid in left {
                let _ = Command::new("kill").args(["-TERM", &pid]).status();
            }
            std::thread::sleep(Duration::from_millis(300));
        }
        std::process::exit(128 + signal);
    });
}

/// Children that still run.
fn children() -> Vec<String> {
    let me = std::process::id().to_string();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_ours = |pid: &String| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let mut fields = stat.rsplit_once(") ").unwrap_or_default().1.split(' ');
        fields.next().is_some_and(|state| state != "Z") && fields.next() == Some(&me)
    };
    names.filter(|name| name.parse::<u32>().is_ok()).filter(is_ours).collect()
}
