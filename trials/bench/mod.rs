//! What survival costs, side by side with bare system calls, cargo, runit and s6. Run by `scripts/bench`, which has help.

mod estimate;
mod fall;
pub mod idle;
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

/// Name, title, how it is measured, and whether a quick run measures it, in the order of the page. What needs builds of
/// the real creature, or houses of gigabytes, is measured in few rounds where it is asked for by name.
const MEASURES: [(&str, &str, Measure, bool); 13] = [
    ("restart", "Exit → next exec", restart::measure, true),
    ("silence", "Silence → killed", silence::measure, true),
    ("fall", "Crash loop → living creature", fall::measure, true),
    ("idle", "Idle", idle::measure, true),
    ("flat", "After thousands of restarts", idle::flat, true),
    ("memory", "Memory: append, and what a thought reads", memory, false),
    ("mind", "A thought, beside its model", mind, false),
    ("cost", "A job, in tokens and dollars", cost, false),
    ("first", "Start → first model request", first, false),
    ("broker", "A model call through the broker", broker, false),
    ("window", "The owner's window", window::measure, false),
    ("reaction", "The real creature: edit → reborn", reaction::measure, false),
    ("rewrite", "The real creature: crash loop", rewrite::measure, false),
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

    /// Whether a measure is part of this run.
    fn wants(&self, name: &str, is_quick: bool) -> bool {
        self.only.as_ref().map_or(is_quick || !self.quick, |only| name.contains(only.as_str()))
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
    let chosen: Vec<_> = MEASURES.into_iter().filter(|measure| plan.wants(measure.0, measure.3)).collect();
    let names: Vec<&str> = chosen.iter().map(|measure| measure.0).collect();
    let mut estimate = estimate::Estimate::of(&plan);
    if !plan.json {
        print!("{}", page::page(&facts, &[], plan.quick));
    }
    for (at, (name, title, measure, _)) in chosen.into_iter().enumerate() {
        plan.measure = name;
        plan.say(&format!("begins; {}", estimate.left(&names[at..])));
        let begun = Instant::now();
        match catch_unwind(AssertUnwindSafe(|| measure(&plan))) {
            Ok(table) => {
                tables.push(Table { title, ..table });
                estimate.took(name, begun.elapsed());
                // As it comes: a run that is ended early has told what it measured.
                keep(&plan, &facts, &tables);
            }
            Err(_) => failed.push(name),
        }
    }
    write(&plan, &facts, &tables, failed.is_empty());
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
        && !MEASURES.iter().any(|measure| measure.0.contains(only.as_str()))
    {
        return Err(format!("no measure has {only:?} in its name").into());
    }
    Ok(plan.release.is_file().then_some(plan))
}

/// The table measured last to standard output, and all there are so far, for people and for programs, under target/.
fn keep(plan: &Plan, facts: &Value, tables: &[Table]) {
    let folder = results();
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("bench.json"), figures(plan, facts, tables)).unwrap();
    fs::write(folder.join("bench.md"), page::page(facts, tables, plan.quick)).unwrap();
    if let Some(table) = tables.last().filter(|_| !plan.json) {
        print!("{}", page::section(table));
    }
}

/// Where figures lie, those of a run that was ended early too.
pub fn results() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("target/survival")
}

fn figures(plan: &Plan, facts: &Value, tables: &[Table]) -> String {
    let figures = |table: &Table| {
        let rows: Vec<Value> = table.rows.iter().map(Row::figures).collect();
        json!({"title": table.title, "rows": rows, "notes": table.notes})
    };
    let all: Vec<Value> = tables.iter().map(figures).collect();
    let all = json!({"machine": facts, "quick": plan.quick, "tables": all});
    serde_json::to_string_pretty(&all).unwrap() + "\n"
}

/// The page, if it is whole, for the repository.
fn write(plan: &Plan, facts: &Value, tables: &[Table], sound: bool) {
    if plan.json {
        print!("{}", figures(plan, facts, tables));
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("BENCH.md");
    let page = match (&plan.only, plan.renew) {
        (None, _) => page::page(facts, tables, plan.quick),
        (Some(_), false) => return,
        (Some(_), true) => {
            let order: Vec<&str> = MEASURES.iter().map(|measure| measure.1).collect();
            page::renewed(&fs::read_to_string(&file).unwrap(), facts, tables, &order)
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
        eprintln!(
            "\nbench: interrupted; ending what was started. What was measured stands in target/survival/bench.md"
        );
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
