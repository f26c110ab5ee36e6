//! The matrix: rows, their variants, and the workers that run them.

use crate::survival::arguments::Arguments;
use crate::survival::outcome::{Outcome, Verdict};
use crate::survival::trial::Trial;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// One fault: what is injected into which house, and what must come of it.
#[derive(Clone, Copy)]
pub struct Row {
    pub family: &'static str,
    pub name: &'static str,
    /// What is injected, as a reader of SURVIVAL.md should know it.
    pub injected: &'static str,
    pub run: fn(&mut Trial),
    /// Part of `scripts/check`.
    pub quick: bool,
    /// Run once more with the guardian killed in the middle.
    pub twice: bool,
    /// Over real cargo builds of the real creature, or with many houses of its own: two at a time.
    pub alone: bool,
    pub real: bool,
}

impl Row {
    pub const fn new(
        family: &'static str,
        name: &'static str,
        injected: &'static str,
        run: fn(&mut Trial),
    ) -> Self {
        Self { family, name, injected, run, quick: false, twice: false, alone: false, real: false }
    }

    pub const fn quick(mut self) -> Self {
        self.quick = true;
        self
    }

    pub const fn twice(mut self) -> Self {
        self.twice = true;
        self
    }

    pub const fn alone(mut self) -> Self {
        self.alone = true;
        self
    }

    pub const fn real(mut self) -> Self {
        self.real = true;
        self.alone()
    }
}

/// Process that is killed in the middle of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Killed {
    Nobody,
    /// The guardian, which is started again.
    Guardian,
    /// Its steward alone.
    Steward,
}

#[derive(Clone, Copy)]
pub struct Variant {
    pub row: Row,
    /// Whoever is killed in the middle.
    pub killed: Killed,
    /// A row that tries many things tries some of them: one of the quick rows, for `scripts/check`.
    pub is_sample: bool,
}

impl Variant {
    pub fn title(&self) -> String {
        let killed = match self.killed {
            Killed::Nobody => "",
            Killed::Guardian => ", guardian killed",
            Killed::Steward => ", steward killed",
        };
        format!("{}: {}{killed}", self.row.family, self.row.name)
    }

    pub fn is_killed(&self) -> bool {
        self.killed != Killed::Nobody
    }
}

pub fn variants(row: Row) -> Vec<Variant> {
    let mut variants = vec![Variant { row, killed: Killed::Nobody, is_sample: false }];
    if row.twice {
        variants.push(Variant { row, killed: Killed::Guardian, is_sample: false });
    }
    variants
}

pub fn list(variants: &[Variant]) {
    for variant in variants {
        println!("{}", variant.title());
    }
    println!("{} rows", variants.len());
}

/// Runs them all: shell creatures side by side, real builds one after the other beside them.
pub fn run(variants: Vec<Variant>, arguments: &Arguments) -> Vec<Outcome> {
    std::panic::set_hook(Box::new(|_| {}));
    let rows = variants.len();
    let order: Vec<String> = variants.iter().map(Variant::title).collect();
    let (alone, shell): (Vec<Variant>, Vec<Variant>) =
        variants.into_iter().partition(|variant| variant.row.alone);
    let (alone, shell) = (Mutex::new(alone.into_iter()), Mutex::new(shell.into_iter()));
    let outcomes = Mutex::new(Vec::new());
    let work = |queue: &Mutex<std::vec::IntoIter<Variant>>| {
        loop {
            let next = queue.lock().unwrap().next();
            let Some(variant) = next else { return };
            let outcome = one(variant);
            let mut outcomes = outcomes.lock().unwrap();
            eprintln!("{}/{rows} {}", outcomes.len() + 1, outcome.line());
            outcomes.push(outcome);
        }
    };
    std::thread::scope(|scope| {
        let work = &work;
        // Two at a time: clones wait for each other, rows with many houses share the machine.
        (0..2).for_each(|_| _ = scope.spawn(|| work(&alone)));
        (0..arguments.jobs.unwrap_or(6)).for_each(|_| _ = scope.spawn(|| work(&shell)));
    });
    let mut outcomes = outcomes.into_inner().unwrap();
    outcomes.sort_by_key(|outcome| order.iter().position(|title| *title == outcome.title));
    outcomes
}

/// One row, whatever it does: a panic in it is a row that failed.
pub fn one(variant: Variant) -> Outcome {
    let mut trial = Trial::new(variant);
    let ran = catch_unwind(AssertUnwindSafe(|| {
        (variant.row.run)(&mut trial);
        trial.close();
    }));
    let verdict = match ran {
        Ok(()) => Verdict::Survived,
        Err(panic) => match panic.downcast::<NotRun>() {
            Ok(reason) => Verdict::NotRun(reason.0),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or(panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                Verdict::Failed(text.unwrap_or_else(|| "it panicked".into()))
            }
        },
    };
    trial.into_outcome(verdict)
}

/// Why a row cannot be run here.
pub struct NotRun(pub String);
