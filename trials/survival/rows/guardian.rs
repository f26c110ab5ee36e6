//! Faults around the guardian itself: two at once, orphans, orders at every moment, a binary rebuilt under it.

use crate::survival::matrix::Row;
use crate::survival::trial::Trial;
use std::fs;
use std::process::Command;

const GUARDIAN: &str = "guardian";

/// Waits for the test to open this gate, whatever the phase it waits in.
const WAIT: &str = "until [ -e .self/onward ]; do sleep 0.05; done";

pub const ROWS: &[Row] = &[
    Row::new(GUARDIAN, "two started at once", "five guardians started in the same moment", five_at_once)
        .quick(),
    Row::new(
        GUARDIAN,
        "started while an orphan lives",
        "a guardian killed while its creature has fled its session",
        orphan,
    )
    .quick(),
    Row::new(
        GUARDIAN,
        "killed again and again",
        "twelve guardians in a row killed within a second of their start",
        again,
    ),
    Row::new(
        GUARDIAN,
        "stopped again and again in a probation",
        "four stops before a sound self-edit could be blessed",
        |trial| {
            never_blessed(trial, |trial| {
                assert_eq!(trial.stop(), 0);
                trial.start();
            });
        },
    ),
    Row::new(
        GUARDIAN,
        "killed again and again in a probation",
        "four kills before a sound self-edit could be blessed: put back, not condemned",
        |trial| {
            // A host that dies with each life looks the same from here, so three tries are all it gets; but no blame.
            trial.expect_fall("tries_spent");
            never_blessed(trial, Trial::kill_guardian);
            assert_eq!(
                trial.house().git(&["for-each-ref", "refs/guardian/fallen"]),
                "",
                "it was not condemned"
            );
        },
    ),
    Row::new(
        GUARDIAN,
        "its own binary rebuilt",
        "the guardian's program replaced and removed while it runs",
        rebuilt,
    )
    .twice(),
    Row::new(GUARDIAN, "its output closed", "nobody reads what the guardian prints any more", unread).twice(),
    Row::new(
        GUARDIAN,
        "orders while building",
        "stopped, started, paused and resumed while cargo builds",
        |trial| {
            orders(trial, "building");
        },
    )
    .twice(),
    Row::new(GUARDIAN, "orders while booting", "the same before the first beat", |trial| {
        orders(trial, "booting")
    })
    .twice(),
    Row::new(GUARDIAN, "orders in probation", "the same before the blessing", |trial| {
        orders(trial, "probation")
    })
    .twice(),
    Row::new(GUARDIAN, "orders once settled", "the same under a trusted life", |trial| {
        orders(trial, "settled")
    })
    .quick()
    .twice(),
    Row::new(GUARDIAN, "orders while stopping", "the same while a hung life is ended", |trial| {
        orders(trial, "stopping")
    })
    .twice(),
    Row::new(GUARDIAN, "orders while resting", "the same between a death and the next life", |trial| {
        orders(trial, "resting");
    })
    .twice(),
    Row::new(GUARDIAN, "orders while parked", "the same when nothing lives any more", |trial| {
        orders(trial, "parked")
    })
    .twice(),
];

fn five_at_once(trial: &mut Trial) {
    trial.shell("exec 9>>.self/mind/one; flock -n 9 || echo two >> .self/mind/two; think x; live");
    trial.inject(|_| {});
    let mut others: Vec<_> = (0..4).map(|_| trial.command().output_later()).collect();
    trial.start();
    let winner = |others: &mut Vec<std::process::Child>| {
        let mut refused = 0;
        for other in others {
            if let Some(status) = other.try_wait().unwrap() {
                assert_eq!(status.code(), Some(100), "a second guardian is refused with status 100");
                refused += 1;
            }
        }
        refused
    };
    // Whoever came first keeps the house; if it is not the last one, the row goes on with its place taken.
    let ours = loop {
        let refused = winner(&mut others);
        if refused == 4 {
            break true;
        }
        if trial.guardian_ended() == Some(100) && refused == 3 {
            break false;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    };
    if !ours {
        let at = others.iter_mut().position(|other| other.try_wait().unwrap().is_none()).unwrap();
        trial.adopt(others.remove(at));
    }
    trial.recovers();
    assert!(!trial.house().path(".self/mind/two").exists(), "two creatures lived at once");
    assert!(trial.house().deaths().is_empty(), "the refused did harm: {:?}", trial.house().deaths());
}

trait Later {
    fn output_later(&mut self) -> std::process::Child;
}

impl Later for Command {
    fn output_later(&mut self) -> std::process::Child {
        self.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap()
    }
}

fn orphan(trial: &mut Trial) {
    trial.shell(
        "exec 9>>.self/mind/one; flock -n 9 || echo two >> .self/mind/two; trap '' HUP TERM; think x; \
         setsid sh -c 'trap \"\" HUP TERM; while :; do echo orphan >> .self/mind/orphans; sleep 0.1; done' & live",
    );
    trial.begin();
    trial.inject(|_| {});
    trial.kill_guardian();
    trial.recovers();
    assert!(
        !trial.house().path(".self/mind/two").exists(),
        "a life began beside an orphan that held the lock"
    );
}

fn again(trial: &mut Trial) {
    trial.shell("think x; live");
    trial.begin();
    trial.inject(|_| {});
    for time in 1..=12_u64 {
        std::thread::sleep(std::time::Duration::from_millis(time * 83 % 1_000));
        trial.kill_guardian();
    }
    trial.recovers();
}

/// A sound self-edit whose guardian ends four times before its blessing: that is no reason to put it back.
fn never_blessed(trial: &mut Trial, ends: fn(&mut Trial)) {
    trial.shell_becomes("think new; live");
    trial.limit("probation_s", 2.0);
    trial.begin();
    trial.inject(|_| {});
    trial.until("probation", |house| {
        house.status()["phase"] == "probation" && house.told("commit").len() == 1
    });
    for _ in 0..4 {
        ends(trial);
        let pid = trial.guardian().pid();
        trial.until("probation again", |house| {
            let status = house.status();
            status["guardian_pid"] == pid
                && (status["phase"] == "probation" || !house.told("fall").is_empty())
        });
    }
    trial.recovers();
}

fn rebuilt(trial: &mut Trial) {
    trial.shell_becomes("think new; live");
    let copy = trial.house().folder.path().join("guardian");
    fs::copy(trials::programs::guardian(), &copy).unwrap();
    trial.program = Some(copy.clone());
    trial.begin();
    trial.inject(|_| {
        // As a build does it: a new file in its place; and then it is gone for a while.
        fs::copy(trials::programs::guardian(), copy.with_extension("new")).unwrap();
        fs::remove_file(&copy).unwrap();
        fs::rename(copy.with_extension("new"), &copy).unwrap();
    });
    trial.recovers();
    trial.until("the new self", |house| {
        house.status()["blessed"] == true && house.status()["born"].is_object()
    });
}

fn unread(trial: &mut Trial) {
    trial.shell_becomes("exit 1");
    trial.expect_fall("tries_spent");
    trial.begin();
    trial.replace_guardian_with_unread();
    trial.inject(|_| {});
    trial.recovers();
}

/// A house held in `phase`; the owner stops it there and starts it, pauses it there and resumes it; then it may go on.
fn orders(trial: &mut Trial, phase: &'static str) {
    let gated = "[ -e .self/onward ]";
    match phase {
        "building" => {
            trial.shell("think x; live");
            trial.house().write("creature/build.sh", &format!("{WAIT}\n"));
            trial.house().git(&["add", "creature/build.sh"]);
            trial.house().git(&["commit", "-q", "-m", "a slow build", "creature/build.sh"]);
        }
        "booting" => trial.shell(&format!("{WAIT}; think x; live")),
        "probation" => trial.shell(&format!("beat; until {gated}; do beat; sleep 0.05; done; think x; live")),
        "stopping" => {
            trial.shell(&format!("trap '' TERM; think x; {gated} || while :; do sleep 0.1; done; live"));
            trial.limit("beat_s", 1.0);
            trial.limit("grace_s", 4.0);
        }
        "resting" => {
            trial.shell(&format!("think x; {gated} || exit 1; live"));
            trial.limit("rest_s", 2.0);
            trial.limit("rest_longest_s", 2.0);
            trial.limit("loop_deaths", 100.0);
        }
        "parked" => {
            trial.shell(&format!("{gated} || exit 1; think x; live"));
            trial.limit("parked_s", 3_600.0);
        }
        _ => trial.shell("think x; live"),
    }
    trial.start();
    trial.until(phase, |house| house.status()["phase"] == phase);
    trial.inject(|_| {});
    for _ in 0..2 {
        assert_eq!(trial.stop(), 0, "stopped while {phase}");
        assert_eq!(trial.house().leftovers(), Vec::<i32>::new(), "stopped is stopped");
        trial.start();
        trial.until(phase, |house| {
            house.status()["phase"] == phase && house.status()["guardian_pid"].is_u64()
        });
    }
    trial.order(&["pause"]);
    trial.until("the pause", |house| house.status()["phase"] == "paused");
    assert!(trial.house().status()["creature_pid"].is_null(), "nothing lives in a pause");
    trial.house().write(".self/onward", "");
    trial.order(&["resume"]);
    trial.recovers();
}
