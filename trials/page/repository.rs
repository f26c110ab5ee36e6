//! Commits at times of the past, and the guardian's refs to them, by `git fast-import`: hundreds in a moment.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// A commit to be: what it says, when, by whom, and the files it changes.
pub struct Commit {
    pub message: String,
    pub at_s: i64,
    pub by: &'static str,
    pub files: Vec<(String, String)>,
}

/// Puts the commits on `main`, one upon the other, and returns their hashes.
pub fn commit(root: &Path, commits: &[Commit]) -> Vec<String> {
    let marks = root.join(".git/marks-of-the-trial");
    let mut text = String::new();
    for (at, commit) in commits.iter().enumerate() {
        writeln!(text, "commit refs/heads/main\nmark :{}", at + 1).unwrap();
        writeln!(text, "committer {} <{}@house.invalid> {} +0000", commit.by, commit.by, commit.at_s)
            .unwrap();
        writeln!(text, "data {}\n{}", commit.message.len(), commit.message).unwrap();
        if at == 0 {
            text.push_str("from refs/heads/main^0\n");
        }
        for (path, content) in &commit.files {
            writeln!(text, "M 100644 inline {path}\ndata {}\n{content}", content.len()).unwrap();
        }
    }
    let mut import = Command::new("git");
    import
        .args(["fast-import", "--quiet"])
        .arg(format!("--export-marks={}", marks.display()))
        .current_dir(root);
    let mut import = import.stdin(Stdio::piped()).spawn().unwrap();
    import.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(import.wait().unwrap().success(), "git fast-import failed");
    git(root, &["reset", "-q", "--hard"]);
    let marks = std::fs::read_to_string(marks).unwrap();
    let mut hashes = vec![String::new(); commits.len()];
    for line in marks.lines() {
        let (mark, hash) = line.trim_start_matches(':').split_once(' ').unwrap();
        hashes[mark.parse::<usize>().unwrap() - 1] = hash.to_owned();
    }
    hashes
}

pub fn git(root: &Path, args: &[&str]) -> String {
    let output = Command::new("git").args(args).current_dir(root).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A rung of the ladder: `refs/guardian/good/000007`.
pub fn rung(root: &Path, number: u64, commit: &str) {
    git(root, &["update-ref", &format!("refs/guardian/good/{number:06}"), commit]);
}

/// Marks a commit's creature as fallen, by its tree.
pub fn fallen(root: &Path, commit: &str) -> String {
    let tree = git(root, &["rev-parse", &format!("{commit}:creature")]);
    let name = format!("refs/guardian/fallen/{tree}");
    git(root, &["update-ref", &name, commit]);
    name
}
