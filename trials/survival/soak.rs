//! The soak: faults drawn at random, one after another, on the same house; and restarts without end.
//!
//! What is measured after each: the guardian's memory and descriptors, processes, disk. Nothing may grow without bound.

use crate::survival::trial::Trial;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use trials::House;

/// Lives on, thinking, and does what the soak leaves for it to do: a shell script, once.
const OBEDIENT: &str = "think first; while :; do beat; n=$((n+1)); [ $((n % 20)) -ne 0 ] || think on; \
    if mv .self/mind/do .self/mind/doing 2>/dev/null; then . .self/mind/doing; fi; sleep 0.05; done";

/// Done by the living creature. The cause is that of the rollback it must end in, if any.
const ACTS: &[(&str, &str, Option<&str>)] = &[
    ("dies", "exit 1", None),
    ("aborts", "kill -ABRT $$", None),
    ("leaves work unfinished and dies", "echo work >> creature/half.txt; exit 1", None),
    ("leaves daemons and dies", "(setsid sh -c 'trap \"\" TERM; sleep 1000' &); exit 1", None),
    (
        "garbles its heartbeat and request",
        "printf '\\000\\377{' > .self/heartbeat; printf '[1,' > .self/mind/request.json",
        None,
    ),
    ("tears its memory and dies", "printf '{\"at\":\"torn' >> .self/memory.jsonl; exit 1", None),
    (
        "puts a pipe in place of its heartbeat and dies",
        "rm .self/heartbeat; mkfifo .self/heartbeat; exit 1",
        None,
    ),
    ("becomes what dies at boot", "become 'exit 1'", Some("tries_spent")),
    ("becomes what ends politely", "become 'exit 0'", Some("tries_spent")),
    ("becomes what does not build", "become '# does not build'", Some("does_not_build")),
    ("becomes what dies once blessed", "become 'think x; blessed; exit 3'", Some("crash_loop")),
    ("becomes itself anew", "become 'think anew'", None),
];

type Blow = fn(&mut Trial);

/// Done to the house from outside.
const BLOWS: &[(&str, Blow)] = &[
    ("the creature is killed", |trial| trial.kill_creature()),
    ("the guardian is killed", |trial| trial.kill_guardian()),
    ("both are killed", |trial| {
        trial.kill_creature();
        trial.kill_guardian();
    }),
    ("the guardian is killed twice", |trial| {
        trial.kill_guardian();
        std::thread::sleep(Duration::from_millis(150));
        trial.kill_guardian();
    }),
    ("the guardian is stopped and started", |trial| {
        assert_eq!(trial.stop(), 0);
        trial.start();
    }),
    ("stale git locks lie about", |trial| {
        [".git/index.lock", ".git/HEAD.lock"].iter().for_each(|lock| trial.house().write(lock, ""));
        trial.kill_creature();
    }),
    ("the guardian's state is garbage", |trial| {
        assert_eq!(trial.stop(), 0);
        trial.house().write(".self/guardian/state.json", "garbage");
        trial.start();
    }),
    ("guardian.json and last_good.txt are garbage", |trial| {
        trial.kill_creature();
        trial.house().write(".self/guardian.json", "{");
        trial.house().write(".self/last_good.txt", "\0");
    }),
];

/// Draws numbers that look random and are the same for the same seed (splitmix64).
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % most as u64) as usize
    }
}

/// Faults at random on one house for so long; what was measured.
pub fn soak(trial: &mut Trial, how_long: Duration, seed: u64) -> Value {
    trial.shell(OBEDIENT);
    // The new self goes on as the old one once it has said its line, which no two lives share.
    let turns_into = "become() { { head -n 7 creature/creature.sh; printf '%s # %s\\n' \"$1\" \"$FERAL_LIFE\"; \
                      tail -n +8 creature/creature.sh; } > creature/next; mv creature/next creature/creature.sh; \
                      ask rebirth 'another life' r$n; exit 0; }";
    let life = format!("{turns_into}; {OBEDIENT}");
    trial.house().write_life(&life);
    trial.house().git(&["commit", "-q", "-m", "an obedient life", "creature"]);
    trial.limit("loop_window_s", 4.0);
    trial.limit("beat_s", 5.0);
    trial.begin();
    trial.inject(|_| {});
    let (begun, mut dice) = (Instant::now(), Dice(seed));
    let (mut times, mut slowest) = (BTreeMap::<&str, usize>::new(), BTreeMap::<&str, u64>::new());
    let mut measured = vec![measure(trial)];
    while begun.elapsed() < how_long {
        let draw = dice.below(ACTS.len() + BLOWS.len());
        let since = Instant::now();
        let name = match ACTS.get(draw) {
            Some((name, act, cause)) => {
                act_out(trial, act, *cause);
                name
            }
            None => {
                let (name, blow) = BLOWS[draw - ACTS.len()];
                blow(trial);
                name
            }
        };
        trial.recovers();
        *times.entry(name).or_default() += 1;
        let slow = slowest.entry(name).or_default();
        *slow = (*slow).max(since.elapsed().as_millis() as u64);
        measured.push(measure(trial));
        if measured.len() % 50 == 0 {
            eprintln!(
                "{} faults in {} s, {}",
                measured.len() - 1,
                begun.elapsed().as_secs(),
                measured.last().unwrap()
            );
        }
        // Three deaths of a good life within the window would be a crash loop of its own.
        std::thread::sleep(Duration::from_millis(1_600));
    }
    let faults: usize = times.values().sum();
    json!({"seed": seed, "seconds": begun.elapsed().as_secs(), "faults": faults, "times": times, "slowest_ms": slowest,
        "first": quarter(&measured, 0), "last": quarter(&measured, 3)})
}

/// Leaves it for the creature to do, and waits until it was taken up.
fn act_out(trial: &mut Trial, act: &str, cause: Option<&'static str>) {
    let lives = trial.house().told("life").len();
    let falls = trial.house().told("fall").len();
    if let Some(cause) = cause {
        trial.expect_fall(cause);
    }
    trial.house().write(".self/mind/do.new", act);
    let from = trial.house().path(".self/mind/do.new");
    fs::rename(from, trial.house().path(".self/mind/do")).unwrap();
    trial.until("the act to be taken up", |house| !house.path(".self/mind/do").exists());
    let ends_a_life = act.contains("exit") || act.contains("kill") || act.contains("become");
    trial.until("what comes of it", |house| {
        !ends_a_life || house.told("life").len() > lives || house.told("fall").len() > falls
    });
}

/// Restarts without end of a life that dies at once, each soon outside the window of a crash loop; memory of the guardian before and after.
pub fn restarts(trial: &mut Trial, number: usize) -> Value {
    trial.shell("[ ! -e .self/go ] || exit 1; think x; live");
    for (name, value) in [
        ("loop_deaths", 1e9),
        ("loop_window_s", 1.0),
        ("lives_unblessed", 1e9),
        ("rest_s", 0.0),
        ("rest_longest_s", 0.0),
    ] {
        trial.limit(name, value);
    }
    trial.patience = Duration::from_secs(24 * 3_600);
    trial.begin();
    trial.inject(|_| {});
    let before = measure(trial);
    trial.house().write(".self/go", "");
    trial.kill_creature();
    let (begun, mut early) = (Instant::now(), None);
    let life = |house: &House| house.status()["life"].as_u64().unwrap_or(0) as usize;
    let mut next = number / 100;
    while next <= number {
        trial.until_slowly("restarts", |house| life(house) >= next);
        let now = measure(trial);
        if next >= number / 10 && early.is_none() {
            early = Some(now.clone());
        }
        eprintln!("{next} restarts in {} s, {now}", begun.elapsed().as_secs());
        next += number / 10;
    }
    let after = measure(trial);
    let took = begun.elapsed();
    fs::remove_file(trial.house().path(".self/go")).unwrap();
    trial.oracle.records_moved();
    trial.recovers();
    json!({"restarts": number, "seconds": took.as_secs(), "before": before, "after_a_tenth": early, "after": after})
}

/// What may not grow without bound.
fn measure(trial: &Trial) -> Value {
    let (house, pid) = (trial.house(), trial.guardian().acting());
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let rss = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let rss: Option<u64> = rss.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
    json!({
        "rss_kib": rss, "descriptors": descriptors, "processes": house.leftovers().len(),
        "state_kib": kib(&house.path(".self")), "memory_kib": kib(&house.path(".self/memory.jsonl")), "git_kib": kib(&house.path(".git")),
        "references": house.git(&["for-each-ref", "--format=%(refname)", "refs/guardian"]).lines().count(),
    })
}

fn kib(path: &Path) -> u64 {
    let output = Command::new("du").args(["-sk"]).arg(path).output().unwrap();
    String::from_utf8_lossy(&output.stdout)
        .split_whitespace()
        .next()
        .and_then(|size| size.parse().ok())
        .unwrap_or(0)
}

/// Medians over one quarter of the measurements.
fn quarter(measured: &[Value], which: usize) -> Value {
    let part = &measured[measured.len() * which / 4..(measured.len() * (which + 1) / 4).max(1)];
    let names = ["rss_kib", "descriptors", "processes", "state_kib", "memory_kib", "git_kib", "references"];
    let median = |name: &&str| {
        let mut values: Vec<u64> = part.iter().filter_map(|one| one[*name].as_u64()).collect();
        values.sort_unstable();
        ((*name).to_owned(), json!(values.get(values.len() / 2)))
    };
    names.iter().map(median).collect::<serde_json::Map<_, _>>().into()
}
