//! Where HEAD is: detached, switched, unborn, in the middle of a merge or rebase, moved by the owner during a rebirth.

use super::{GIT, git, reborn, refuses, said};
use crate::survival::matrix::Row;
use crate::survival::trial::Trial;
use trials::House;

pub const ROWS: &[Row] = &[
    Row::new(GIT, "detached HEAD", "HEAD is detached while it runs, then it edits itself", detached).twice(),
    Row::new(
        GIT,
        "branch switched while it runs",
        "the owner checks another branch with another creature out, then the life ends",
        switched,
    )
    .twice(),
    Row::new(GIT, "unborn branch", "HEAD names a branch that does not exist, and the life ends", unborn),
    Row::new(
        GIT,
        "owner's commits in the middle of a rebirth",
        "the owner commits twenty times while a self-edit is committed, built and blessed",
        commits,
    )
    .twice(),
    Row::new(GIT, "merge under way", UNDER_WAY, |trial| {
        under_way(trial, "merge", &["merge", "side"], &["commit", "-q", "--no-edit"]);
    }),
    Row::new(GIT, "rebase under way", UNDER_WAY, |trial| {
        under_way(trial, "rebase", &["rebase", "side"], &["rebase", "--continue"]);
    }),
    Row::new(GIT, "cherry-pick under way", UNDER_WAY, |trial| {
        under_way(trial, "cherry-pick", &["cherry-pick", "side"], &["cherry-pick", "--continue"]);
    }),
];

const UNDER_WAY: &str =
    "it stops at a conflict; the life ends, the guardian waits; and again before the guardian starts";

fn detached(trial: &mut Trial) {
    trial.shell_becomes("think reborn; live");
    trial.begin();
    let first = trial.house().git(&["rev-parse", "HEAD"]);
    trial.inject(|trial| _ = trial.house().git(&["checkout", "-q", "--detach"]));
    reborn(trial);
    let house = trial.house();
    assert_eq!(house.git(&["rev-parse", "main"]), first, "the owner's branch is where the owner left it");
    assert_eq!(house.git(&["rev-parse", "HEAD~1"]), first);
    assert!(!git(house, &["symbolic-ref", "-q", "HEAD"]).status.success(), "HEAD is as the owner left it");
}

fn switched(trial: &mut Trial) {
    trial.shell("think first; live");
    let house = trial.house();
    house.git(&["checkout", "-q", "-b", "other"]);
    house.write_life("think other; live");
    house.git(&["commit", "-q", "-m", "another creature", "--", "creature"]);
    house.git(&["checkout", "-q", "main"]);
    let [main, other] = ["main", "other"].map(|name| house.git(&["rev-parse", name]));
    trial.begin();
    trial.inject(|trial| {
        trial.house().git(&["checkout", "-q", "other"]);
        trial.kill_creature();
    });
    let wanted = other.clone();
    trial.recovers_as("a life of the other branch", move |status| {
        status["blessed"] == true && status["commit"] == wanted.as_str()
    });
    let house = trial.house();
    assert_eq!([house.git(&["rev-parse", "main"]), house.git(&["rev-parse", "other"])], [main, other]);
    assert!(!house.creature_differs_from("other"));
}

fn unborn(trial: &mut Trial) {
    trial.shell("think first; live");
    trial.begin();
    let first = trial.house().git(&["rev-parse", "HEAD"]);
    trial.inject(|trial| {
        trial.house().git(&["symbolic-ref", "HEAD", "refs/heads/nowhere"]);
        trial.kill_creature();
    });
    trial.until("it to be said", |house| said(house).contains("HEAD names no commit"));
    assert_eq!(trial.stop(), 0);
    refuses(trial.house(), "HEAD names no commit");
    trial.house().git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
    trial.start();
    trial.recovers();
    assert_eq!(trial.house().git(&["rev-parse", "HEAD"]), first);
    trial.note("waited, refused in one line, went on once HEAD was put back");
}

fn commits(trial: &mut Trial) {
    trial.shell_becomes("think reborn; live");
    trial.begin();
    trial.inject(|_| {});
    for number in 0..20 {
        let (name, message) = (format!("owners/{number}.txt"), format!("owner {number}"));
        trial.judge(|oracle, house| oracle.owner_writes(house, &name, message.as_bytes()));
        let mut tries = 0;
        let committed = |house: &House| {
            git(house, &["add", "--", &name]).status.success()
                && git(house, &["commit", "-q", "-m", &message, "--", &name]).status.success()
        };
        while !committed(trial.house()) {
            tries += 1;
            assert!(
                tries < 400,
                "the owner cannot commit: {:?}",
                git(trial.house(), &["commit", "-m", "x", "--", &name])
            );
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
    reborn(trial);
    let told = trial.house().git(&["log", "--format=%s"]);
    let missing: Vec<u32> =
        (0..20).filter(|number| !told.lines().any(|line| line == format!("owner {number}"))).collect();
    assert!(missing.is_empty(), "commits of the owner's are gone: {missing:?} of\n{told}");
    assert_eq!(
        trial.house().git(&["ls-files", "owners"]).lines().count(),
        21,
        "the owner's index lost files"
    );
}

/// Two sides of one file, everything else committed: what comes next stops at a conflict.
fn two_sides(house: &House) {
    house.commit("all the owner has");
    house.git(&["checkout", "-q", "-b", "side"]);
    house.write("conflict.txt", "side\n");
    house.commit("one side");
    house.git(&["checkout", "-q", "main"]);
    house.write("conflict.txt", "main\n");
    house.commit("the other side");
}

fn under_way(trial: &mut Trial, verb: &'static str, begin: &[&str], go_on: &[&str]) {
    trial.shell("think first; live");
    trial.begin();
    let conflicts = |house: &House| git(house, &["ls-files", "-u"]).stdout.len();
    let state = verb.replace('-', "");
    trial.inject(|trial| {
        two_sides(trial.house());
        assert!(!git(trial.house(), begin).status.success(), "there should be a conflict");
        trial.kill_creature();
    });
    trial.until("it to be said", |house| said(house).contains("under way") && said(house).contains(&state));
    assert!(conflicts(trial.house()) > 0, "the conflict was touched");
    trial.house().git(&[verb, "--abort"]);
    trial.recovers_as("a life once it is over", |status| {
        status["blessed"] == true && status["life"].as_u64() >= Some(2)
    });
    assert_eq!(trial.stop(), 0);
    assert!(!git(trial.house(), begin).status.success());
    refuses(trial.house(), "under way");
    assert!(conflicts(trial.house()) > 0, "the conflict was touched");
    trial.house().write("conflict.txt", "both\n");
    trial.house().git(&["add", "conflict.txt"]);
    assert!(git(trial.house(), go_on).status.success(), "the owner cannot go on");
    trial.start();
    trial.recovers();
    assert_eq!(trial.house().git(&["show", "HEAD:conflict.txt"]), "both");
    trial.note("waited until it was aborted; refused in one line until it was finished");
}
