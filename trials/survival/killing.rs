//! The guardian killed with SIGKILL just before each step that changes files or processes, a run for each.
//!
//! A first run of the scenario, traced, lists the steps; just after one of them is just before the next.

use crate::survival::soak::Dice;
use crate::survival::tracer::{Kill, Trace, Tracer};
use crate::survival::whole;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use trials::{Guardian, House};

/// Runs at a time: most of a run is waiting.
const AT_ONCE: usize = 4;

/// What happens, from where the guardian is traced to where everything is done.
pub struct Scenario {
    /// The house just before the window opens, and the guardian that runs there; none when its start is in the window.
    pub begin: fn() -> (House, Option<Guardian>),
    /// What sets it off.
    pub open: fn(&House) -> Opened,
    pub done: fn(&House) -> bool,
    pub check: fn(&House),
}

/// What has to last until the end: the gate, held open, or the owner's command.
#[derive(Default)]
pub struct Opened {
    #[allow(dead_code)]
    pub gate: Option<File>,
    pub owner: Option<Child>,
}

impl Scenario {
    /// One whole story: the window with a kill in it, or at its end, then, where wanted, a guardian killed before its
    /// so many-th step, and at last one that nobody disturbs.
    fn run(&self, kill: Option<Kill>, again: Option<usize>) -> Trace {
        let (house, guardian) = (self.begin)();
        let traced = match guardian {
            Some(guardian) => guardian,
            None => held(&house),
        };
        let tracer = Tracer::attach(&traced, &house.root, kill);
        let (mut traced, mut opened) = (traced, (self.open)(&house));
        if let Some(mut door) = traced.child.stdin.take() {
            writeln!(door).unwrap();
        }
        let done = |pid: i32| {
            let status = house.status();
            status["guardian_pid"] == pid && status["phase"] == "settled" && (self.done)(&house)
        };
        house.until("the kill or the end", || tracer.is_over() || done(traced.pid()));
        // The steward is gone first: what it starts ends with it, and the guardian's first process starts no other.
        let (steward, ended) = (traced.steward(), tracer.is_over());
        steward.into_iter().filter(|_| !ended).for_each(|pid| trials::send("-KILL", pid));
        traced.kill_only();
        let trace = tracer.join();
        let lay_there = whole::files_of(&house.path("creature"));
        if let Some(time) = again {
            let mut second = held(&house);
            let any = Kill { step: String::new(), time, after: false };
            let tracer = Tracer::attach(&second, &house.root, Some(any));
            writeln!(second.child.stdin.take().unwrap()).unwrap();
            house.until("the second kill or the end", || tracer.is_over() || done(second.pid()));
            second.kill_only();
            tracer.join();
        }
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

    /// The counting run, then a run for each step, or of a sample for every fourth; how many kills it took, in words.
    pub fn at_each_step(&self, is_sample: bool) -> String {
        let kills = worth_a_kill(&self.run(None, None).steps);
        let steps = kills.len();
        let every = if is_sample { 4 } else { 1 };
        let kills: Vec<_> = kills.into_iter().step_by(every).map(|kill| (kill, None)).collect();
        let number = kills.len();
        let missed = self.with(kills);
        format!("killed {number} times in {steps} steps, {missed} of them after the end")
    }

    /// A sample of the steps, each with a second kill at some step of the recovery from the first.
    pub fn at_some_steps_twice(&self) -> String {
        let kills = worth_a_kill(&self.run(None, None).steps);
        let (every, mut dice) = (kills.len() / 40 + 1, Dice(kills.len() as u64));
        let twice: Vec<_> =
            kills.into_iter().step_by(every).map(|kill| (kill, Some(1 + dice.below(60)))).collect();
        let number = twice.len();
        self.with(twice);
        format!("killed {number} times twice")
    }

    /// A run for each, some at a time; complains of all that went wrong. How many kills came too late.
    fn with(&self, kills: Vec<(Kill, Option<usize>)>) -> usize {
        let (next, missed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let wrong = Mutex::new(Vec::new());
        let work = || {
            while let Some((kill, again)) = kills.get(next.fetch_add(1, Ordering::Relaxed)) {
                match catch_unwind(AssertUnwindSafe(|| self.run(Some(kill.clone()), *again))) {
                    Ok(trace) => _ = missed.fetch_add(usize::from(!trace.hit), Ordering::Relaxed),
                    Err(panic) => {
                        let told = panic.downcast_ref::<String>().map(String::as_str);
                        let told = told.or(panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked");
                        let again = again.map_or(String::new(), |time| format!(", again at step {time}"));
                        wrong.lock().unwrap().push(format!("{kill}{again}:\n{told}"));
                    }
                }
            }
        };
        std::thread::scope(|scope| (0..AT_ONCE).for_each(|_| _ = scope.spawn(work)));
        let (wrong, missed) = (wrong.into_inner().unwrap(), missed.into_inner());
        assert!(wrong.is_empty(), "{} of {} kills:\n{}", wrong.len(), kills.len(), wrong.join("\n\n"));
        assert!(missed * 10 <= kills.len(), "{missed} of {} steps never came again", kills.len());
        missed
    }
}

/// A kill is no power cut, so houses may lie in memory, where syncing costs nothing; if programs may run there.
pub fn place() -> PathBuf {
    let folder = Path::new("/dev/shm");
    let runs = tempfile::tempdir_in(folder).is_ok_and(|trial| {
        let program = trial.path().join("program");
        std::fs::copy("/bin/true", &program).is_ok()
            && std::process::Command::new(&program).status().is_ok_and(|status| status.success())
    });
    if runs { folder.to_path_buf() } else { std::env::temp_dir() }
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
            Some(_) if step.contains("guardian.json") => 1,
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
