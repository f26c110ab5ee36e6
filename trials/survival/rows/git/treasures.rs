//! What lies about uncommitted while the creature falls: treasures under `creature/`, the owner's edits and staged changes.

use super::GIT;
use crate::survival::matrix::Row;
use crate::survival::trial::Trial;
use nix::sys::stat::{Mode, SFlag, mknod};
use std::fs;
use trials::House;

pub const ROWS: &[Row] = &[
    Row::new(
        GIT,
        "untracked treasures under creature/",
        "ignored, deep, binary, strangely named files, a repository of its own, a pipe and a socket; then three deaths and a \
         rollback",
        treasures,
    )
    .quick()
    .twice(),
    Row::new(
        GIT,
        "dirty files and staged changes of the owner's",
        "tracked files with one text staged and another in the folder, under creature/ too; then three deaths and a rollback",
        staged,
    )
    .twice(),
];

fn bury(house: &House) {
    house.git(&["init", "-q", "creature/nested"]);
    mknod(&house.path("creature/pipe"), SFlag::S_IFIFO, Mode::S_IRWXU, 0).unwrap();
    mknod(&house.path("creature/socket"), SFlag::S_IFSOCK, Mode::S_IRWXU, 0).unwrap();
    std::os::unix::fs::symlink("nowhere", house.path("creature/dangling")).unwrap();
}

fn treasures(trial: &mut Trial) {
    trial.shell_becomes("echo more > creature/of-the-last-life; exit 7");
    trial.begin();
    let first = trial.house().git(&["rev-parse", "HEAD"]);
    trial.expect_fall("tries_spent");
    let binary: Vec<u8> = (0..200_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
    let texts: [(&str, &[u8]); 6] = [
        ("creature/.gitignore", b"*.secret\ntreasure*\n"),
        ("creature/deep.secret", b"ignored"),
        ("creature/a/b/c/d/treasure", b"deep and ignored"),
        ("creature/binary", &binary),
        ("creature/a name with spaces and \u{e9}", b"strangely named"),
        ("creature/empty", b""),
    ];
    trial.inject(|trial| {
        trial.judge(|oracle, house| {
            texts.iter().for_each(|(name, bytes)| oracle.treasure(house, name, bytes));
            oracle.treasure(house, "creature/nested/inner.txt", b"a repository's own");
        });
        bury(trial.house());
    });
    trial.recovers();
    let house = trial.house();
    assert!(!house.creature_differs_from(&first), "creature/ is exactly what it was");
    let kept = super::super::state::everything(&house.path(".self/guardian/kept"));
    // A repository within goes aside at the end of a life, and what lay beside its `.git` under a ref with the rest.
    for name in ["nested/.git/HEAD", "pipe", "socket"] {
        assert!(kept.iter().any(|path| path.ends_with(name)), "{name} is not among what was moved aside");
    }
    trial.note("what git cannot hold was moved aside, the rest is kept under refs");
}

fn staged(trial: &mut Trial) {
    trial.shell_becomes("exit 7");
    let house = trial.house();
    house.write("creature/tracked.txt", "committed\n");
    house.git(&["add", "creature/tracked.txt"]);
    house.git(&["commit", "-q", "-m", "a tracked file", "--", "creature/tracked.txt"]);
    trial.begin();
    trial.expect_fall("tries_spent");
    trial.inject(|trial| {
        trial.judge(|oracle, house| {
            for name in ["README.md", "PURPOSE.md", "creature/tracked.txt", "creature/new.txt"] {
                house.write(name, "staged by the owner\n");
                house.git(&["add", name]);
                let unfinished = b"not staged yet\n";
                if name.starts_with("creature") {
                    oracle.treasure(house, name, unfinished);
                } else {
                    oracle.owner_writes(house, name, unfinished);
                }
            }
        });
    });
    trial.recovers();
    let house = trial.house();
    for name in ["README.md", "PURPOSE.md", "creature/tracked.txt", "creature/new.txt"] {
        assert_eq!(
            house.git(&["show", &format!(":{name}")]),
            "staged by the owner",
            "{name} in the owner's index"
        );
    }
    assert_eq!(fs::read_to_string(house.path("creature/tracked.txt")).unwrap(), "committed\n");
    assert!(!house.path("creature/new.txt").exists(), "creature/ is exactly the rung's");
}
