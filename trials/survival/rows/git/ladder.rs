//! The way back itself damaged: rungs missing, empty, corrupt or all bad, objects that rot, history rewritten and collected.

use super::{GIT, git};
use crate::survival::matrix::{Killed, Row};
use crate::survival::trial::Trial;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use trials::{House, becomes};

/// What a guardian says that refuses to start over it.
const NO_COMMIT: &str = "HEAD names no commit";
/// The rung below the creature that dies, above the first.
const BELOW: &str = "refs/guardian/good/000001";

pub const ROWS: &[Row] = &[
    Row::new(GIT, "last_good missing", "the ref of the rung below is deleted, then a crash loop", |trial| {
        to_the_first(trial, |house| house.git(&["update-ref", "-d", BELOW]));
    })
    .twice(),
    Row::new(
        GIT,
        "last_good empty",
        "the ref of the rung below is an empty file, then a crash loop",
        |trial| {
            to_the_first(trial, |house| write(house, ""));
        },
    )
    .twice(),
    Row::new(GIT, "last_good garbage", "the ref of the rung below is garbage, then a crash loop", |trial| {
        to_the_first(trial, |house| write(house, "\u{0}\u{1} no commit {\n"));
    })
    .twice(),
    Row::new(
        GIT,
        "last_good names nothing",
        "the ref of the rung below names a commit that is not there",
        |trial| {
            to_the_first(trial, |house| write(house, "0123456789012345678901234567890123456789\n"));
        },
    )
    .twice(),
    Row::new(GIT, "last_good names no commit", "the ref of the rung below names a blob", |trial| {
        to_the_first(trial, |house| {
            write(house, &format!("{}\n", house.git(&["rev-parse", "HEAD:PURPOSE.md"])))
        });
    }),
    Row::new(
        GIT,
        "corrupt object of last_good",
        "a source of the rung below is garbage in the object store",
        |trial| {
            to_the_first(trial, |house| rot(house, &format!("{BELOW}:creature/creature.sh")));
        },
    )
    .twice(),
    Row::new(
        GIT,
        "corrupt tree of last_good",
        "the tree of the rung below is garbage in the object store",
        |trial| {
            to_the_first(trial, |house| rot(house, &format!("{BELOW}:creature")));
        },
    ),
    Row::new(
        GIT,
        "corrupt source of the living",
        "a source of the commit that runs is garbage in the object store",
        |trial| {
            rotten(trial, "HEAD:creature/creature.sh");
        },
    )
    .twice(),
    Row::new(
        GIT,
        "corrupt tree of the living",
        "the tree of the creature that runs is garbage in the object store",
        |trial| {
            rotten(trial, "HEAD:creature");
        },
    )
    .quick()
    .twice(),
    Row::new(
        GIT,
        "corrupt commit that lives",
        "the commit that runs is garbage in the object store",
        lost_commit,
    ),
    Row::new(
        GIT,
        "the whole ladder gone",
        "every ref of the guardian's is deleted, and last_good.txt",
        no_ladder,
    )
    .twice(),
    Row::new(
        GIT,
        "all rungs bad down to the first",
        "every blessed version but the first one crashes from now on",
        all_bad,
    )
    .twice(),
    Row::new(
        GIT,
        "history rewritten and collected",
        "the owner squashes all commits into one, expires the reflog, collects and prunes; then a crash loop",
        rewritten,
    )
    .twice(),
];

/// Three versions, each the next one's parent and blessed; once the gate is open the first lives on, and what `second`
/// and `third` do is up to them.
fn three(trial: &mut Trial, second: &str) {
    let open = "[ -e .self/mind/go ]";
    let third = format!("think third; blessed; until {open}; do beat; sleep 0.05; done; exit 9");
    let becomes = |life: &str, then: &str| {
        becomes(life).replacen("blessed; ", &format!("blessed; if {open}; then {then}; fi; "), 1)
    };
    trial.shell(&becomes(&becomes(&third, second), "live"));
    trial.start();
    trial.until("three rungs", |house| house.status()["blessed"] == true && house.told("blessed").len() == 3);
}

fn to_the_first<T>(trial: &mut Trial, damage: impl Fn(&House) -> T) {
    three(trial, "live");
    trial.expect_fall("crash_loop");
    let first = trial.house().git(&["rev-parse", "refs/guardian/good/000000"]);
    trial.inject(|trial| _ = damage(trial.house()));
    trial.recovers();
    let fall = &trial.house().told("fall")[0];
    assert_eq!(fall["to_commit"], first.as_str(), "the damaged rung was not passed over");
    trial.note("the damaged rung was passed over, the next one lives");
}

fn write(house: &House, text: &str) {
    house.write(&format!(".git/{BELOW}"), text);
}

/// Spoils a loose object.
fn rot(house: &House, name: &str) {
    let id = house.git(&["rev-parse", name]);
    let path = house.path(&format!(".git/objects/{}/{}", &id[..2], &id[2..]));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let length = fs::metadata(&path).unwrap().len();
    fs::write(path, vec![b'x'; length as usize]).unwrap();
}

/// What is spoilt lies in the folder as it was: it can be written again.
fn rotten(trial: &mut Trial, name: &'static str) {
    trial.shell("think first; live");
    trial.begin();
    trial.inject(|trial| {
        rot(trial.house(), name);
        trial.kill_creature();
    });
    trial.recovers_as("the next life", |status| {
        status["blessed"] == true && status["life"].as_u64() >= Some(2)
    });
    assert_eq!(trial.stop(), 0);
    trial.start();
    trial.recovers_as("a life of the next guardian", |status| {
        status["blessed"] == true && status["life"].as_u64() >= Some(3)
    });
}

fn lost_commit(trial: &mut Trial) {
    trial.shell("think first; live");
    // A stand-in lives long enough to be looked at.
    trial.limit("parked_s", 10.0);
    trial.begin();
    let id = trial.house().git(&["rev-parse", "HEAD"]);
    let object = trial.house().path(&format!(".git/objects/{}/{}", &id[..2], &id[2..]));
    let good = fs::read(&object).unwrap();
    trial.inject(|trial| {
        rot(trial.house(), "HEAD");
        trial.kill_creature();
    });
    if trial.variant.killed == Killed::Steward {
        stands_in_until(trial, || fs::write(&object, &good).unwrap());
        return;
    }
    // What runs has read it once, and lives on; what starts has not.
    trial.recovers_as("the next life", |status| {
        status["blessed"] == true && status["life"].as_u64() >= Some(2)
    });
    assert_eq!(trial.stop(), 0);
    super::refuses(trial.house(), NO_COMMIT);
    // From a backup, or another clone.
    fs::write(object, good).unwrap();
    trial.start();
    trial.recovers();
    trial.note("lived on; the next guardian refused in one line until the object was back");
}

/// No steward starts over a repository that cannot be read: the blessed version stands in until the owner has `mended` it.
fn stands_in_until(trial: &mut Trial, mended: impl Fn()) {
    let read =
        |house: &House, name: &str| -> Value { serde_json::from_str(&house.read(name)).unwrap_or_default() };
    trial.until("a life of the stand-in's that beats", |house| {
        let kept = read(house, ".self/heart.json");
        kept["stand_in"].as_i64() > Some(0) && read(house, ".self/heartbeat")["life"] == kept["life"]
    });
    let life = read(trial.house(), ".self/heart.json")["life"].as_u64();
    let status = trials::said(&trial.house().ask(&["status"]));
    assert!(status.contains("stands in"), "{status}");
    assert!(trial.log_end().contains(NO_COMMIT), "{}", trial.log_end());
    mended();
    trial.recovers_as("a life of a steward's", |status| {
        status["blessed"] == true && status["life"].as_u64() > life
    });
    trial.note("no steward started over it, and the blessed version stood in until the object was back");
}

fn no_ladder(trial: &mut Trial) {
    trial.shell("think first; live");
    trial.begin();
    trial.inject(|trial| {
        let house = trial.house();
        for name in house.git(&["for-each-ref", "--format=%(refname)", "refs/guardian"]).lines() {
            house.git(&["update-ref", "-d", name]);
        }
        fs::remove_file(house.path(".self/last_good.txt")).unwrap();
        trial.kill_creature();
    });
    trial.recovers_as("the next life", |status| {
        status["blessed"] == true && status["life"].as_u64() >= Some(2)
    });
    let house = trial.house();
    let head = house.git(&["rev-parse", "HEAD"]);
    assert_eq!(house.git(&["rev-parse", "refs/guardian/good/000000"]), head, "what lives is no rung again");
    assert_eq!(house.read(".self/last_good.txt").trim(), head);
}

fn all_bad(trial: &mut Trial) {
    three(trial, "exit 8");
    trial.expect_fall("crash_loop");
    trial.expect_fall("crash_loop");
    let first = trial.house().git(&["rev-parse", "refs/guardian/good/000000"]);
    trial.inject(|_| {});
    trial.recovers();
    assert_eq!(trial.house().told("fall")[1]["to_commit"], first.as_str());
    assert!(!trial.house().creature_differs_from(&first));
}

fn rewritten(trial: &mut Trial) {
    three(trial, "live");
    trial.expect_fall("crash_loop");
    let second = trial.house().git(&["rev-parse", BELOW]);
    trial.inject(|trial| {
        let house = trial.house();
        house.git(&["reset", "-q", "--soft", "refs/guardian/good/000000"]);
        house.git(&["commit", "-q", "--amend", "-m", "all in one"]);
        house.git(&["reflog", "expire", "--expire=now", "--all"]);
        assert!(git(house, &["gc", "-q", "--prune=now"]).status.success());
    });
    trial.recovers();
    let house = trial.house();
    assert_eq!(house.told("fall")[0]["to_commit"], second.as_str(), "a rung was collected");
    assert!(!house.creature_differs_from(&second));
    assert!(house.git(&["log", "--format=%s"]).contains("all in one"), "the owner's history is the owner's");
}
