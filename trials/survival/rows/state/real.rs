//! The real creature over the files it reads itself, in every shape: all of them at once, and each alone.

use super::STATE;
use super::files::{DOCUMENT, File, RECORD, file, next_life, nobody_died_of_it, patient, put};
use super::shapes::Shape;
use crate::survival::matrix::Row;
use crate::survival::trial::Trial;

const FILES: [File; 9] = [
    file(".self/memory.jsonl", true, RECORD),
    file(".self/heartbeat", false, DOCUMENT),
    file(".self/mind/cursors.json", true, DOCUMENT),
    file(".self/mind/instinct.json", true, DOCUMENT),
    file(".self/mind/request.json", false, DOCUMENT),
    file(".self/inbox.jsonl", true, RECORD),
    file(".self/guardian.json", false, DOCUMENT),
    file(".self/snapshots/29990101T000000.000Z.md", true, "MARK\n"),
    file(".self/workspace/results/1.txt", true, "MARK\n"),
];

const EVERY: &str =
    "memory, heartbeat, cursors, instinct, request, inbox, guardian.json, a snapshot and a result";

pub const ROWS: &[Row] = &[
    Row::new(
        STATE,
        "all files at once, bad bytes, real creature",
        "all that it reads is missing, empty, garbage, truncated, from the future, unreadable, in turn",
        |trial| {
            at_once(
                trial,
                &[
                    Shape::Missing,
                    Shape::Empty,
                    Shape::Garbage,
                    Shape::Truncated,
                    Shape::Future,
                    Shape::Unreadable,
                ],
            );
        },
    )
    .real(),
    Row::new(
        STATE,
        "all files at once, no files, real creature",
        "all that it reads is a folder, a pipe, a socket, a dangling link, a looping link, in turn",
        |trial| {
            at_once(trial, &[Shape::Folder, Shape::Pipe, Shape::Socket, Shape::Dangling, Shape::Looping]);
        },
    )
    .real(),
    Row::new(STATE, "each file alone a pipe, real creature", EVERY, each).real(),
];

fn begin(trial: &mut Trial) {
    trial.real();
    patient(trial);
    trial.limit("probation_s", 0.5);
    trial.begin();
    trial.inject(|_| {});
}

/// Nobody but the life itself reads these two, and it does so without stumbling: they may stay as they are.
fn is_left_alone(file: &File) -> bool {
    file.name.contains("/snapshots/") || file.name.contains("/workspace/")
}

fn judge(trial: &Trial, file: &File, shape: Shape) {
    let wrong = shape.judge(trial.house(), file.name, file.keeps_bytes);
    assert!(wrong.is_empty() || is_left_alone(file), "{wrong}");
}

fn at_once(trial: &mut Trial, shapes: &[Shape]) {
    begin(trial);
    for shape in shapes {
        next_life(trial, |trial| FILES.iter().for_each(|file| put(trial, file, *shape)));
        nobody_died_of_it(trial, &format!("all files {shape:?}"));
        FILES.iter().for_each(|file| judge(trial, file, *shape));
    }
    trial.note(format!("{} files in {} shapes, a trusted life after each", FILES.len(), shapes.len()));
}

fn each(trial: &mut Trial) {
    let shape = Shape::Pipe;
    begin(trial);
    for file in &FILES {
        next_life(trial, |trial| put(trial, file, shape));
        nobody_died_of_it(trial, &format!("{} {shape:?}", file.name));
        judge(trial, file, shape);
    }
    trial.note(format!("{} files, a trusted life after each", FILES.len()));
}
