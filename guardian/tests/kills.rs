//! The guardian killed with SIGKILL at each step of commit, bless and rollback: the next start goes on.
//!
//! A first run of each scenario, traced, lists the steps that change files or processes; then each of them gets a run
//! of its own, in which the guardian dies just before it. Just after it is just before the next one.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]
#![allow(clippy::indexing_slicing)]

mod support;
#[path = "support/tracer.rs"]
mod tracer;
#[path = "support/whole.rs"]
mod whole;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::{Guardian, House};
use tracer::{Kill, Trace, Tracer};

/// Runs at a time, for each scenario: most of a run is waiting.
const AT_ONCE: usize = 4;

/// A life that tells when another one runs beside it: the lock is held as long as anything of its tree lives.
const ALONE: &str = "exec 9>>.self/one; flock -n 9 || echo two >> .self/two;";
/// Waits until the test opens the gate, and never again after that.
const WAIT: &str = "[ -e .self/go ] || read go < .self/gate;";
/// Lives on, at less cost than `live`: hundreds of houses share the machine.
const SOUND: &str = "think alive; while :; do beat; sleep 1; done";

/// What happens, from where the guardian is traced to where everything is done.
struct Scenario {
    /// The house just before the window opens, and the guardian that runs there; none when its start is in the window.
    begin: fn() -> (House, Option<Guardian>),
    /// What sets it off.
    open: fn(&House) -> Opened,
    done: fn(&House) -> bool,
    check: fn(&House),
}

/// What has to last until the end: the gate, held open, or the owner's command.
#[derive(Default)]
struct Opened {
    _gate: Option<File>,
    owner: Option<Child>,
}

impl Scenario {
    /// One whole story: the window with a kill in it, or at its end, then a guardian that nobody disturbs.
    fn run(&self, kill: Option<Kill>) -> Trace {
        let (house, guardian) = (self.begin)();
        let traced = match guardian {
            Some(guardian) => guardian,
            None => held(&house),
        };
        let tracer = Tracer::attach(traced.pid(), &house.root, kill);
        let (mut traced, mut opened) = (traced, (self.open)(&house));
        if let Some(mut door) = traced.child.stdin.take() {
            writeln!(door).unwrap();
        }
        let done = |pid: i32| {
            let status = house.status();
            status["guardian_pid"] == pid && status["phase"] == "settled" && (self.done)(&house)
        };
        house.until("the kill or the end", || tracer.is_over() || done(traced.pid()));
        if !tracer.is_over() {
            traced.signal("-KILL");
        }
        let trace = tracer.join();
        // The tracer has reaped it: its number may be another's by now.
        std::mem::forget(traced);
        let lay_there = whole::files_of(&house.path("creature"));
        let guardian = house.start();
        house.until("the next guardian to reach the end", || done(guardian.pid()));
        assert_eq!(guardian.stop(), 0);
        if let Some(owner) = &mut opened.owner {
            let _ = owner.kill();
            owner.wait().unwrap();
        }
        (self.check)(&house);
        whole::is_whole(&house, &lay_there);
        trace
    }

    /// The counting run, then a run for each step; complains of all that went wrong.
    fn at_each_step(&self) {
        in_memory();
        let steps = self.run(None).steps;
        let kills = worth_a_kill(&steps);
        let (next, missed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let wrong = Mutex::new(Vec::new());
        let work = || {
            while let Some(kill) = kills.get(next.fetch_add(1, Ordering::Relaxed)) {
                match catch_unwind(AssertUnwindSafe(|| self.run(Some(kill.clone())))) {
                    Ok(trace) => _ = missed.fetch_add(usize::from(!trace.hit), Ordering::Relaxed),
                    Err(panic) => {
                        let told = panic.downcast_ref::<String>().map(String::as_str);
                        let told = told.or(panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked");
                        wrong.lock().unwrap().push(format!("{kill}:\n{told}"));
                    }
                }
            }
        };
        std::thread::scope(|scope| (0..AT_ONCE).for_each(|_| _ = scope.spawn(work)));
        let (wrong, missed) = (wrong.into_inner().unwrap(), missed.into_inner());
        println!("{} steps, {} kills, {missed} of them came after the end", steps.len(), kills.len());
        assert!(wrong.is_empty(), "{} of {} kills:\n{}", wrong.len(), kills.len(), wrong.join("\n\n"));
        assert!(missed * 10 <= kills.len(), "{missed} of {} steps never came again", kills.len());
    }
}

/// A kill is no power cut, so houses may lie in memory, where syncing costs nothing; if programs may run there.
fn in_memory() {
    let folder = std::path::Path::new("/dev/shm");
    let Ok(trial) = tempfile::tempdir_in(folder) else { return };
    let program = trial.path().join("program");
    let runs = std::fs::copy("/bin/true", &program).is_ok()
        && std::process::Command::new(&program).status().is_ok_and(|status| status.success());
    if runs {
        // Refused when another of these tests has done it already.
        let _ = tempfile::env::override_temp_dir(folder);
    }
}

/// Every step, save what repeats without changing what can be found afterwards: see below.
fn worth_a_kill(steps: &[String]) -> Vec<Kill> {
    let mut seen: BTreeMap<&String, usize> = BTreeMap::new();
    let mut kills = Vec::new();
    for step in steps {
        let time = seen.entry(step).or_default();
        *time += 1;
        let most = match step.split_once(' ') {
            // A signal to one process of a tree is as good as to the next.
            Some(("kill", _)) | None => 2,
            Some(_) if step.contains("guardian.json") || step.contains("guardian.aside") => 1,
            // Half a file nobody has heard of is as good as half of the next.
            Some(("write" | "create", path))
                if path.starts_with(".git/objects") || path.ends_with(".aside") =>
            {
                1
            }
            Some(("write", _)) => 1,
            Some(_) => usize::MAX,
        };
        if *time <= most {
            kills.push(Kill { step: step.clone(), time: *time, after: false });
            // A process is made between two steps on disk.
            if step == "fork" {
                kills.push(Kill { step: step.clone(), time: *time, after: true });
            }
        }
    }
    kills
}

/// A guardian that begins when a line is written to it, so that its very first step can be seen.
fn held(house: &House) -> Guardian {
    let command = house.command(&[]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "read line; exec \"$0\" </dev/null"]).arg(command.get_program());
    shell.current_dir(&house.root).envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let log = File::create(house.folder.path().join("guardian.log")).unwrap();
    let child = shell.stdin(Stdio::piped()).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
    Guardian::new(child, house)
}

/// A house whose limits let a scenario be over soon.
fn house(life: &str) -> House {
    let house = House::new("think base; live");
    nix::unistd::mkfifo(&house.path(".self/gate"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    house.write_life(&format!("{ALONE} {life}"));
    let settings = house.read("owner.toml").replace("probation_s = 0.3", "probation_s = 0.1");
    house.write("owner.toml", &settings);
    house.commit("quick");
    house
}

/// A house with two rungs, and a second life on top that stands on none yet.
fn with_a_second(life: &str) -> House {
    let house = house(SOUND);
    house.git(&["tag", "base", "HEAD~1"]);
    house.git(&["update-ref", "refs/guardian/good/000000", "base"]);
    let first = house.git(&["rev-parse", "HEAD"]);
    let guardian = house.start();
    house.until_blessed(&first);
    guardian.stop();
    house.write_life(&format!("{ALONE} {life}"));
    house.commit("second");
    house.git(&["tag", "first", &first]);
    house
}

/// Opens the gate for whoever waits there now or comes later.
fn go(house: &House) -> Opened {
    let mut gate = File::options().read(true).write(true).open(house.path(".self/gate")).unwrap();
    gate.write_all(b"\n").unwrap();
    house.write(".self/go", "");
    Opened { _gate: Some(gate), owner: None }
}

fn ends_well(house: &House) -> bool {
    house.status()["blessed"] == true
}

#[test]
fn bless() {
    let scenario = Scenario {
        begin: || {
            let house = house(SOUND);
            whole::owner_edits(&house);
            (house, None)
        },
        open: |_| Opened::default(),
        done: ends_well,
        check: |house| {
            whole::ladder_is(house, &["HEAD"]);
            assert_eq!(house.git(&["log", "--format=%s"]), "quick\nfirst");
            assert!(house.told("fall").is_empty());
        },
    };
    scenario.at_each_step();
}

#[test]
fn rebirth() {
    let scenario = Scenario {
        begin: || {
            let next = format!("{ALONE} think again; {SOUND}");
            let house = house(&format!(
                "think first; {WAIT} head -n 7 creature/creature.sh > creature/next; \
                 printf \"%s\\n\" \"{next}\" >> creature/next; mv creature/next creature/creature.sh; \
                 echo new > creature/new.txt; ask rebirth \"another life\" r; exit 0"
            ));
            house.git(&["tag", "first"]);
            whole::owner_edits(&house);
            let guardian = house.start();
            house.until_blessed(&house.git(&["rev-parse", "HEAD"]));
            (house, Some(guardian))
        },
        open: go,
        done: |house| ends_well(house) && house.status()["born"]["summary"] == "another life",
        check: |house| {
            assert_eq!(
                house.git(&["log", "--format=%an %s"]),
                "creature self: another life\nowner quick\nowner first"
            );
            assert_eq!(house.git(&["show", "HEAD:creature/new.txt"]), "new");
            whole::ladder_is(house, &["first", "HEAD"]);
            whole::told_once(house, "commit", 1);
            let answers = house.status()["answers"].as_array().unwrap().len();
            assert_eq!(answers, 1, "one answer to one request: {}", house.status()["answers"]);
        },
    };
    scenario.at_each_step();
}

/// Commits, refs, records and the creature after one fall from `second` to `first`.
fn fell_once(house: &House, why: &str) {
    let log = house.git(&["log", "--format=%s"]);
    let lines: Vec<&str> = log.lines().collect();
    assert!(lines[0].starts_with("guardian: put creature back to ") && lines[0].ends_with(why), "{log}");
    assert_eq!(lines[1..], ["second", "quick", "first"], "one commit for one fall");
    assert!(!house.creature_differs_from("first"), "creature/ is the first's");
    whole::ladder_is(house, &["base", "first"]);
    whole::told_once(house, "fall", 1);
    whole::told_once(house, "commit", 1);
    let falls = house.status()["falls"].as_array().unwrap().clone();
    assert_eq!(falls.len(), 1, "{falls:?}");
    let kept = falls[0]["rescued_ref"].as_str().expect("a fall tells where unfinished work is kept");
    assert!(house.git(&["for-each-ref", kept]).len() > 40, "{kept}");
}

#[test]
fn rollback_after_three_deaths() {
    let scenario = Scenario {
        begin: || {
            let house = with_a_second(&format!(
                "echo \"*.secret\" > creature/.gitignore; echo \"treasure $FERAL_LIFE\" > creature/deep.secret; \
                 mkdir -p creature/a; echo \"work $FERAL_LIFE\" > creature/a/b; \
                 [ $FERAL_LIFE != 4 ] || {{ {WAIT} }}; exit 7"
            ));
            whole::owner_edits(&house);
            let guardian = house.start();
            house.until("the fourth life", || house.read("creature/a/b") == "work 4\n");
            (house, Some(guardian))
        },
        open: go,
        done: |house| ends_well(house) && !house.told("fall").is_empty(),
        check: |house| {
            fell_once(house, " deaths");
            let fallen = house.git(&["rev-parse", "HEAD~1:creature"]);
            house.git(&["rev-parse", "--verify", &format!("refs/guardian/fallen/{fallen}")]);
            whole::is_kept(house, b"treasure 4\n");
            whole::is_kept(house, b"work 4\n");
        },
    };
    scenario.at_each_step();
}

#[test]
fn rollback_by_the_owner() {
    let scenario = Scenario {
        begin: || {
            let house = with_a_second(&format!("think other; echo half > creature/half.txt; {SOUND}"));
            whole::owner_edits(&house);
            let guardian = house.start();
            house.until_blessed(&house.git(&["rev-parse", "HEAD"]));
            house.until("its unfinished work", || house.read("creature/half.txt") == "half\n");
            (house, Some(guardian))
        },
        open: |house| {
            let mut order = house.command(&["rollback"]);
            let owner = order.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            Opened { _gate: None, owner: Some(owner) }
        },
        done: |house| ends_well(house) && !house.told("fall").is_empty(),
        check: |house| {
            fell_once(house, " as the owner asked");
            whole::is_kept(house, b"half\n");
            let order: serde_json::Value =
                serde_json::from_str(&house.read(".self/guardian/order.json")).unwrap();
            assert_eq!(house.status()["order"], order["id"], "the owner's order was answered");
        },
    };
    scenario.at_each_step();
}
