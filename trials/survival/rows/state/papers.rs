//! PURPOSE.md in every shape: read by each creature, committed by the guardian as it is.

use super::STATE;
use super::files::{next_life, nobody_died_of_it, patient};
use super::shapes::{Shape, take_away};
use crate::survival::matrix::Row;
use crate::survival::trial::Trial;
use std::fs;
use trials::House;

const INJECTED: &str = "PURPOSE.md missing, empty, binary, 50 MB, a folder, a pipe, a dangling and a looping link, one after the other";

pub const ROWS: &[Row] = &[
    Row::new(STATE, "PURPOSE.md", INJECTED, |trial| {
        trial.shell("think first; blessed; ask commit 'its papers' c; live");
        purposes(trial, true);
    })
    .twice(),
    Row::new(STATE, "PURPOSE.md, real creature", INJECTED, |trial| {
        trial.real();
        trial.limit("probation_s", 0.5);
        purposes(trial, false);
    })
    .real(),
];

type Purpose = (&'static str, fn(&House));

const PURPOSES: [Purpose; 8] = [
    ("missing", |_| {}),
    ("empty", |house| house.write("PURPOSE.md", "")),
    ("binary", |house| fs::write(house.path("PURPOSE.md"), noise(100_000)).unwrap()),
    ("50 MB", |house| fs::write(house.path("PURPOSE.md"), b"Be, and be more. ".repeat(50 << 16)).unwrap()),
    ("a folder", |house| Shape::Folder.put(house, "PURPOSE.md", "")),
    ("a pipe", |house| Shape::Pipe.put(house, "PURPOSE.md", "")),
    ("a dangling link", |house| Shape::Dangling.put(house, "PURPOSE.md", "")),
    ("a looping link", |house| Shape::Looping.put(house, "PURPOSE.md", "")),
];

/// Bytes that are no text, the same each time.
fn noise(count: u32) -> Vec<u8> {
    (0..count).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn purposes(trial: &mut Trial, asks: bool) {
    patient(trial);
    trial.begin();
    trial.inject(|trial| trial.oracle.owner_loses("PURPOSE.md"));
    for (what, put) in PURPOSES {
        let mut there = None;
        next_life(trial, |trial| {
            take_away(trial.house(), &trial.house().path("PURPOSE.md"));
            put(trial.house());
            there = shape_of(trial.house());
        });
        nobody_died_of_it(trial, what);
        if asks {
            let id = format!("{}-c", trial.house().status()["life"]);
            trial.until(&format!("an answer to {id} with PURPOSE.md {what}"), |house| {
                let answers = house.status()["answers"].clone();
                answers
                    .as_array()
                    .is_some_and(|all| all.iter().any(|answer| answer["id"] == id && answer["ok"] == true))
            });
            trial.recovers();
        }
        assert_eq!(shape_of(trial.house()), there, "PURPOSE.md, {what}, is not as the owner left it");
    }
    trial.note(format!("{} shapes, each left as it was", PURPOSES.len()));
}

fn shape_of(house: &House) -> Option<(fs::FileType, u64)> {
    let meta = fs::symlink_metadata(house.path("PURPOSE.md")).ok()?;
    Some((meta.file_type(), if meta.is_file() { meta.len() } else { 0 }))
}
