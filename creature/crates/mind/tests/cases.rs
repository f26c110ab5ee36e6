//! Thoughts in JSON as models in the world write them, each a file beside what is right: called, or refused with words.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use mind::thought::{Thought, read};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What is wrong with a reading; nothing where it is right.
fn wrong(right: &Value, reading: &Result<(Thought, String), String>) -> Option<String> {
    let thought = match (reading, right["refused"].as_str()) {
        (Err(why), Some(says)) if why.contains(says) => return None,
        (Err(why), _) => return Some(format!("refused: {why}")),
        (Ok((thought, _)), Some(_)) => return Some(format!("read, not refused: {thought:?}")),
        (Ok((thought, _)), None) => thought,
    };
    let calls = thought.tool_calls.iter().map(|call| json!([call.tool, call.args]));
    let calls: Value = calls.collect();
    if calls != right["calls"] {
        return Some(format!("calls are {calls}, not {}", right["calls"]));
    }
    let due = right["monologue"].as_str().unwrap_or(&thought.monologue);
    (thought.monologue != due).then(|| format!("the monologue is {:?}, not {due:?}", thought.monologue))
}

#[test]
fn thoughts_of_every_known_shape_are_called_with_their_arguments_or_refused_with_words() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/thoughts");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let inputs: Vec<&PathBuf> =
        files.iter().filter(|file| file.extension().is_some_and(|kind| kind == "txt")).collect();
    assert_eq!(files.len(), 2 * inputs.len(), "each input has one right outcome");
    let mut failed = Vec::new();
    for file in inputs {
        let right = file.with_extension("right.json");
        let right = std::fs::read_to_string(&right).unwrap_or_else(|_| panic!("no {}", right.display()));
        let right: Value = serde_json::from_str(&right).unwrap();
        assert!(right["source"].is_string(), "{}: no source", file.display());
        let name = file.file_stem().unwrap().to_string_lossy();
        let wrong = wrong(&right, &read(&std::fs::read_to_string(file).unwrap()));
        failed.extend(wrong.map(|wrong| format!("{name}: {wrong}")));
    }
    assert!(failed.is_empty(), "{} wrong:\n{}", failed.len(), failed.join("\n"));
}
