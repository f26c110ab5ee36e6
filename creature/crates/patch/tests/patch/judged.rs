//! Random patches, judged by git: what `git apply` makes of one is made here too, and of a damaged one what was meant.

use crate::yard::Yard;
use patch::change;
use patch::plan::{self, Roots};
use patch::text::unified;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

type Files = BTreeMap<String, String>;

/// A small generator of the same numbers every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides.max(1) as u64) as usize
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.roll(of.len())]
    }
}

/// Lines that look like parts of a patch, of Markdown, of a mail.
const LINES: [&str; 22] = [
    "",
    "    ",
    "fn one() {",
    "}",
    "```",
    "```sh",
    "-- ",
    "-- sql",
    "--",
    "++ more",
    "@@ -1,2 +1,2 @@",
    "--- a/creature/x",
    "+++ b/creature/x",
    "diff --git a/x b/x",
    "\\begin{x}",
    "\\ No newline at end of file",
    "*** End Patch",
    "*** Update File: creature/x",
    "- a list",
    "+ a sum",
    "é\tö",
    "2.47.3",
];

fn text(dice: &mut Dice) -> String {
    let lines = dice.roll(30);
    let numbered = dice.roll(3) > 0;
    let mut lines: Vec<String> = (0..lines).map(|at| line(dice, numbered.then_some(at))).collect();
    let end = if dice.roll(4) == 0 { "" } else { "\n" };
    if dice.roll(5) == 0 {
        let ended = lines.len().saturating_sub(usize::from(end.is_empty()));
        lines.iter_mut().take(ended).for_each(|line| line.push('\r'));
    }
    if lines.is_empty() { String::new() } else { lines.join("\n") + end }
}

fn line(dice: &mut Dice, number: Option<usize>) -> String {
    match number {
        Some(at) if dice.roll(2) == 0 => format!("line {at} {}", dice.roll(9)),
        _ => dice.one(&LINES).to_owned(),
    }
}

/// The text with a few lines changed, added or removed; sometimes with another end.
fn edited(text: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for _ in 0..=dice.roll(4) {
        let (at, new) = (dice.roll(lines.len()), line(dice, Some(90)));
        match dice.roll(3) {
            0 => lines[at] = new,
            1 => lines.insert(at, new),
            _ if lines.len() > 1 => _ = lines.remove(at),
            _ => {}
        }
    }
    let end = if lines.last().is_some_and(|last| last.ends_with('\r')) { "\n" } else { "" };
    lines.join("\n") + end
}

const NAMES: [&str; 7] = [
    "creature/a.rs",
    "creature/b b.md",
    "creature/caf\u{e9}.md",
    "creature/q\"x.txt",
    "creature/deep/er/c.toml",
    "self/d.md",
    "creature/e",
];

/// Files before and after.
fn trees(dice: &mut Dice) -> (Files, Files) {
    let (mut before, mut after) = (Files::new(), Files::new());
    for name in NAMES {
        let old = text(dice);
        match dice.roll(8) {
            0 => _ = after.insert(name.to_owned(), old),
            1 => _ = before.insert(name.to_owned(), old),
            2 => {
                before.insert(name.to_owned(), old.clone());
                after.insert(format!("creature/moved/{}", name.replace('/', "-")), old);
            }
            3 | 4 => {
                after.insert(name.to_owned(), edited(&old, dice));
                before.insert(name.to_owned(), old);
            }
            _ => {}
        }
    }
    (before, after)
}

fn git(at: &Path, args: &[&str]) -> Option<Vec<u8>> {
    let nothing = Path::new("/dev/null");
    // In a house the temporary folder lies inside the owner's repository, below which `git apply` takes paths otherwise.
    let above = at.parent().unwrap_or(at);
    let quiet = [
        ("GIT_CONFIG_GLOBAL", nothing),
        ("GIT_CONFIG_SYSTEM", nothing),
        ("HOME", Path::new("/nonexistent")),
        ("GIT_CEILING_DIRECTORIES", above),
    ];
    let name = ["-c", "user.name=t", "-c", "user.email=t@t.example", "-c", "core.autocrlf=false"];
    let done = Command::new("git").current_dir(at).envs(quiet).args(name).args(args).output().unwrap();
    done.status.success().then_some(done.stdout)
}

/// Whether there is a judge here; walls may leave a test without one.
fn judge_is_in() -> bool {
    let there = Command::new("git").arg("--version").output().is_ok_and(|done| done.status.success());
    if !there {
        println!("skipped: git cannot be run here");
    }
    there
}

fn put(root: &Path, files: &Files) {
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn found(root: &Path) -> Files {
    let (mut files, mut folders) = (Files::new(), vec![root.join("creature"), root.join("self")]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                files.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    files
}

/// What `git diff` writes between two trees.
fn written(before: &Files, after: &Files, options: &[&str]) -> String {
    let yard = tempfile::TempDir::new().unwrap();
    let root = yard.path();
    git(root, &["init", "-q"]).unwrap();
    put(root, before);
    git(root, &["add", "-A"]).unwrap();
    git(root, &["commit", "-q", "--allow-empty", "-m", "before"]).unwrap();
    before.keys().for_each(|path| std::fs::remove_file(root.join(path)).unwrap());
    put(root, after);
    git(root, &["add", "-A"]).unwrap();
    let diff = git(root, &[&["diff", "--cached", "--no-ext-diff"], options].concat()).unwrap();
    String::from_utf8(diff).unwrap()
}

/// What `git apply` makes of the files; none where it refuses.
fn by_git(before: &Files, patch: &str, level: &str) -> Option<Files> {
    let yard = tempfile::TempDir::new().unwrap();
    put(yard.path(), before);
    std::fs::write(yard.path().join("p"), patch).unwrap();
    git(yard.path(), &["apply", level, "--whitespace=nowarn", "p"])?;
    Some(found(yard.path()))
}

/// The files that are not as they were meant.
fn differing(made: &Files, meant: &Files) -> String {
    let paths: BTreeSet<&String> = made.keys().chain(meant.keys()).collect();
    let wrong = paths.into_iter().filter(|path| made.get(*path) != meant.get(*path));
    wrong.map(|path| format!("{path}: made {:?}\nmeant {:?}\n", made.get(path), meant.get(path))).collect()
}

/// What is made of the files here; an error says why nothing is.
fn here(before: &Files, patch: &str) -> Result<Files, String> {
    let yard = Yard::new();
    put(yard.root(), before);
    let roots = Roots { source: yard.root(), papers: yard.root() };
    let plan = plan::from_patch(&roots, patch).map_err(|failed| failed.fault.error)?;
    let refusal = plan.refusal();
    change::write(yard.root(), plan.changes).unwrap().keep();
    let now = found(yard.root());
    match refusal {
        Some(failed) => {
            assert_eq!(&now, before, "refused, and yet half of it is there\n{patch}");
            Err(failed.fault.error)
        }
        None => Ok(now),
    }
}

#[test]
fn what_git_diff_writes_is_applied_as_git_apply_does() {
    if !judge_is_in() {
        return;
    }
    let mut dice = Dice(31);
    let (mut applied, mut refused) = (0, Vec::new());
    for round in 0..30 {
        let (before, after) = trees(&mut dice);
        let lines = format!("-U{}", 1 + dice.roll(5));
        let mut options = vec![lines.as_str(), dice.one(&["-M", "--no-renames", "-C", "--patience"])];
        options.push(dice.one(&["--full-index", "--no-prefix", "--text", "--src-prefix=i/"]));
        if options[2] == "--src-prefix=i/" {
            options.push("--dst-prefix=w/");
        }
        let patch = written(&before, &after, &options);
        if patch.is_empty() {
            continue;
        }
        let level = if options.contains(&"--no-prefix") { "-p0" } else { "-p1" };
        let git = by_git(&before, &patch, level);
        assert_eq!(git.as_ref(), Some(&after), "git itself, round {round}\n{patch}");
        match here(&before, &patch) {
            Ok(files) => {
                assert!(files == after, "round {round}\n{patch}\n{}", differing(&files, &after));
                applied += 1;
            }
            Err(why) => refused.push(why),
        }
    }
    // Of equal places without any other sign a hunk is refused that git places by its number alone.
    assert!(applied >= 20 && refused.len() <= 2, "{applied} applied, refused: {refused:#?}");
}

#[test]
fn a_diff_written_here_is_taken_by_git_and_makes_what_it_was_written_of() {
    if !judge_is_in() {
        return;
    }
    let mut dice = Dice(53);
    for round in 0..60 {
        let (before, after) = trees(&mut dice);
        let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let side = |files: &Files, path: &String| files.get(path).map(|text| text.clone().into_bytes());
        let sides = paths.into_iter().map(|path| (path, side(&before, path), side(&after, path)));
        let written = sides
            .filter(|(_, old, new)| old != new)
            .map(|(path, old, new)| unified::write(path, old.as_deref(), new.as_deref()));
        let patch: String = written.collect();
        let made = if patch.is_empty() {
            before.clone()
        } else {
            by_git(&before, &patch, "-p1").unwrap_or_default()
        };
        assert!(made == after, "round {round}\n{patch}\n{}", differing(&made, &after));
    }
}

/// The patch as it may arrive: signs lost, counts wrong, lines lost, added or cut off.
fn damaged(patch: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<String> = patch.split('\n').map(str::to_owned).collect();
    let at = dice.roll(lines.len());
    let headers: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].starts_with("@@ -")).collect();
    match (dice.roll(9), headers.get(dice.roll(headers.len())).copied()) {
        (0, _) if lines[at].starts_with(' ') => _ = lines[at].remove(0),
        (1, Some(header)) => lines[header] = "@@".to_owned(),
        (2, Some(header)) => lines[header] = format!("@@ -{0},{1} +{0},{1} @@", dice.roll(30), dice.roll(9)),
        (3, _) => lines.insert(at, "```".to_owned()),
        (4, _) => lines.extend(["Some words.", "", "- a list", "and more"].map(str::to_owned)),
        (5, _) => lines.insert(0, "```diff".to_owned()),
        (6, _) => lines.extend(["-- ", "2.47.3", ""].map(str::to_owned)),
        (7, _) => lines.truncate(at),
        (_, _) => lines.extend(["", "These are words."].map(str::to_owned)),
    }
    lines.join("\n")
}

#[test]
fn what_is_damaged_is_applied_as_meant_or_not_at_all() {
    if !judge_is_in() {
        return;
    }
    let mut dice = Dice(47);
    let (mut applied, mut refused, mut wrong) = (0, 0, Vec::new());
    for _ in 0..20 {
        let (before, after) = trees(&mut dice);
        let patch = written(&before, &after, &["-U3"]);
        for _ in 0..12 {
            let damaged = damaged(&patch, &mut dice);
            // Nobody can miss what is cut off between two hunks or files.
            let whole_files = |files: &Files| {
                let known =
                    |path: &String| files.get(path) == before.get(path) || files.get(path) == after.get(path);
                files.keys().chain(before.keys()).chain(after.keys()).all(known)
            };
            let cut = |files: &Files| {
                let git = || by_git(&before, &format!("{damaged}\n"), "-p1");
                patch.starts_with(&damaged) && (whole_files(files) || git().as_ref() == Some(files))
            };
            match here(&before, &damaged) {
                Ok(files) if files == after || cut(&files) => applied += 1,
                Ok(files) => wrong.push(format!("{damaged}\n{}", differing(&files, &after))),
                Err(_) => refused += 1,
            }
        }
    }
    assert!(applied > 100 && refused > 30, "{applied} applied, {refused} refused");
    assert!(
        wrong.is_empty(),
        "{} wrong, {applied} applied, {refused} refused\n{}",
        wrong.len(),
        wrong.iter().take(6).map(String::as_str).collect::<Vec<_>>().join("\n=====\n")
    );
}
