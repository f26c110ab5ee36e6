//! The mutation soak: every mutant of the creature's source goes through the whole self-edit protocol; none may brick it.
//!
//! `scripts/trials mutants --soak 200` takes a sample, `--soak all` every mutant, `--seed N` another sample; `--resume` goes on with a stopped run, `--only-kept` tries
//! those again that were kept, against the tests there are now. The results are in `target/survival/mutants.json`.

mod list;
mod results;
mod trial;

use list::Mutant;
use results::{Outcome, Results, Row, Verdict};
use std::ffi::OsString;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trial::{End, Trials};
use trials::clone::{Clone, origin, run};

const SEED: u64 = 20_260_101;

#[derive(Default)]
struct Wanted {
    /// How many; none for no soak at all.
    soak: Option<usize>,
    seed: Option<u64>,
    resume: bool,
    only_kept: bool,
}

fn wanted(words: impl Iterator<Item = OsString>) -> Wanted {
    let mut wanted = Wanted::default();
    let mut words = words.map(|word| word.to_string_lossy().into_owned());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--soak" => {
                let most = words.next().unwrap_or_default();
                let all = most == "all";
                wanted.soak = Some(if all { usize::MAX } else { most.parse().expect("--soak N or all") });
            }
            "--seed" => wanted.seed = words.next().and_then(|word| word.parse().ok()),
            "--resume" => wanted.resume = true,
            "--only-kept" => wanted.only_kept = true,
            other => panic!("mutants: unknown {other}; see scripts/trials --help"),
        }
    }
    wanted
}

pub fn main(words: impl Iterator<Item = OsString>) -> ExitCode {
    let wanted = wanted(words);
    if wanted.soak.is_none() && !wanted.only_kept {
        eprintln!("mutants: say how many, as in --soak 200, or --only-kept; see scripts/trials --help");
        return ExitCode::from(2);
    }
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [libc::SIGINT, libc::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).unwrap();
    }
    let clone = Clone::named("mutants");
    let root = &clone.house.root;
    // Before the first of them, so that its deadline is not spent on what all have in common.
    for words in [&["build"][..], &["test", "--no-run"], &["test", "--no-run", "--workspace"]] {
        let place = ["--manifest-path", "creature/Cargo.toml", "--target-dir", "target/creature"];
        run(&std::env::var("CARGO").unwrap(), &[words, &place].concat(), root);
    }
    let all = list::all(root);
    let mut results = prepare(&wanted, &clone, all.len());
    let tried = |id: &str| results.rows.iter().find(|row| row.id == id);
    let again = |mutant: &Mutant| {
        tried(&mutant.id)
            .is_some_and(|row| row.first.outcome == Outcome::Kept && (row.after.is_none() || !wanted.resume))
    };
    let chosen: Vec<Mutant> = match wanted.only_kept {
        true => all.into_iter().filter(again).collect(),
        false => {
            let sample = list::sample(all, results.sampled, results.seed);
            sample.into_iter().filter(|mutant| tried(&mutant.id).is_none()).collect()
        }
    };
    eprintln!("{} mutants to try, of {}", chosen.len(), results.of);
    let bricked = soak(&clone, &chosen, &mut results, wanted.only_kept, stop);
    eprintln!("{}", results.line());
    eprintln!("written to target/survival/mutants.json");
    ExitCode::from(u8::from(bricked))
}

/// The results to go on with, or new ones.
fn prepare(wanted: &Wanted, clone: &Clone, of: usize) -> Results {
    let creature = clone.house.git(&["rev-parse", "HEAD:creature"]);
    let said = |args: &[&str]| {
        let output = Command::new("git").args(args).current_dir(origin()).output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let edited = if said(&["status", "--porcelain", "creature"]).is_empty() { "" } else { " and edits" };
    let commit = format!("{}{edited}", said(&["rev-parse", "HEAD"]));
    if wanted.only_kept {
        let mut results = Results::load().expect("no results to try again: run with --soak first");
        if !wanted.resume {
            results.rows.iter_mut().for_each(|row| row.after = None);
        }
        results.after = Some((commit, creature));
        return results;
    }
    if wanted.resume {
        let mut results = Results::load().expect("no results to go on with");
        results.rows.retain(|row| row.first.outcome != Outcome::NotPlaced);
        assert_eq!(results.creature, creature, "the stopped run was over another creature");
        return results;
    }
    let sampled = wanted.soak.unwrap_or(0).min(of);
    let seed = wanted.seed.unwrap_or(SEED);
    Results { commit, creature, seed, sampled, of, ..Results::default() }
}

/// Tries them one by one; whether any bricked the house.
fn soak(clone: &Clone, chosen: &[Mutant], results: &mut Results, again: bool, stop: Arc<AtomicBool>) -> bool {
    let ended = |end: End| match end {
        End::Stopped => {
            eprintln!("stopped; --resume goes on");
            false
        }
        End::Bricked(looks) => {
            eprintln!("BRICKED: {looks}");
            true
        }
    };
    let trials = match Trials::begin(clone, stop) {
        Ok(trials) => trials,
        Err(end) => return ended(end),
    };
    match trials.take(&control(), "a control: only a comment") {
        Ok(Verdict { outcome: Outcome::Kept, detail, .. }) if detail == "works" => {}
        Ok(verdict) => panic!("an edit that changes nothing must be kept and work: {verdict:?}"),
        Err(end) => return ended(end),
    }
    let mut bricked = false;
    for (at, mutant) in chosen.iter().enumerate() {
        let verdict = match trials.take(mutant, &format!("mutant {}: {}", at + 1, mutant.name)) {
            Ok(verdict) => verdict,
            Err(End::Bricked(looks)) => {
                note(
                    results,
                    mutant,
                    Verdict { outcome: Outcome::Bricked, detail: looks.clone(), ms: 0 },
                    again,
                );
                return ended(End::Bricked(looks));
            }
            Err(end) => return ended(end) || bricked,
        };
        let place = format!("{}:{} {}", mutant.file, mutant.line, mutant.name);
        let (what, seconds) = (verdict.outcome.words(), verdict.ms as f64 / 1_000.0);
        eprintln!("[{}/{}] {what} ({}) {place} {seconds:.1} s", at + 1, chosen.len(), verdict.detail);
        bricked |= verdict.outcome == Outcome::Bricked;
        note(results, mutant, verdict, again);
    }
    trials.finish();
    bricked
}

fn note(results: &mut Results, mutant: &Mutant, verdict: Verdict, again: bool) {
    match results.rows.iter_mut().find(|row| row.id == mutant.id) {
        Some(row) if again => row.after = Some(verdict),
        _ => {
            let Mutant { id, name, file, line, .. } = mutant.clone();
            results.rows.push(Row { id, name, file, line, first: verdict, after: None });
        }
    }
    results.write();
}

/// An edit that changes nothing: if this is not kept, the rest says nothing.
fn control() -> Mutant {
    let file = "creature/src/pace.rs";
    let first =
        "//! The creature's pace: how long it rests and how often it looks, as constants it rewrites itself.";
    let patch = format!("--- a/{file}\n+++ b/{file}\n@@ -1,1 +1,2 @@\n {first}\n+//! A control.\n");
    Mutant { id: String::new(), name: "control".into(), file: file.into(), line: 1, patch }
}
