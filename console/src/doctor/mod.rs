//! The doctor: examines the house, and reports missing and odd things and how to mend them.

mod broker;
mod finding;
mod machine;
mod page;

use finding::{Finding, Grade};
use house::sealed::Left;
use house::settings::guardian::Limits;
use house::{House, heartbeat, instance, settings, space, terminal};
use processes::prepare;
use processes::{alone, made};
use repo::Repo;
use repo::{fit, locks, open};
use serde_json::{Value, json};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

/// Model servers on their usual loopback ports.
const SERVERS: [(&str, u16); 3] = [("Ollama", 11_434), ("LM Studio", 1_234), ("llama.cpp", 8_080)];
/// Longest time in which a guardian may not hear its owner, in ms.
const HEARD_MS: u64 = 1_000;
/// Disk space a first build takes, in MiB.
const BUILD_MIB: u64 = 2_048;

/// Prints every finding; exit status 1 if something essential is missing.
pub fn examine(house: &House, limits: &Limits, as_json: bool) -> u8 {
    let mut findings =
        vec![compiler(), cargo(), disk(house, limits), stale_locks(house), instance(house), settings(house)];
    findings.extend(hearing(house));
    findings.push(walls(house));
    findings.push(start(house));
    findings.extend(repository(house));
    findings.push(purpose(house));
    findings.extend(unfollowed(house));
    findings.extend(broker::findings(house));
    findings.extend(machine::findings(house));
    findings.extend(page::findings(house));
    findings.extend(servers());
    // Guardian, broker and creature each check their own part of the file.
    let of_owner = |finding: &Finding| finding.about == "owner.toml";
    let is_wrong = findings.iter().any(|finding| of_owner(finding) && finding.grade != Grade::Good);
    let mut mistakes = 0;
    findings.retain(|finding| {
        mistakes += usize::from(of_owner(finding) && finding.grade == Grade::Bad);
        !of_owner(finding)
            || match finding.grade {
                Grade::Good => !is_wrong,
                Grade::Odd => true,
                // What the broker finds wrong there beside what the guardian found is the same mistake.
                Grade::Bad => mistakes == 1,
            }
    });
    let bad = findings.iter().any(|finding| finding.grade == Grade::Bad);
    if as_json {
        let list: Vec<Value> = findings.iter().map(Finding::as_json).collect();
        terminal::json(&json!({"ok": !bad, "findings": list}));
    } else {
        for finding in &findings {
            let (word, found) = (finding.grade.word(), finding.found.replace('\n', " "));
            terminal::line(&format!("{word:<4} {:<12} {found}", finding.about));
            if finding.grade != Grade::Good {
                for line in finding.mend.lines() {
                    terminal::line(&format!("     {:<12} {line}", ""));
                }
            }
        }
    }
    u8::from(bad)
}

/// The walls a start would find, by trying.
fn walls(house: &House) -> Finding {
    let mend = "a newer kernel, user namespaces, or root mend what is missing; walls = \"required\" starts with nothing less";
    let asked = settings::whole(house).unwrap_or_default().asked();
    match prepare::find_walls(house, &asked, guardian_program(), false) {
        Ok(walls) if let Some(why) = prepare::too_little(asked.choice, &walls) => {
            Finding::new(Grade::Bad, "walls", why, mend)
        }
        Ok(walls) if walls.stand() && walls.level.missing().is_empty() => {
            Finding::new(Grade::Good, "walls", walls.level.told(), mend)
        }
        Ok(walls) => {
            let remedies = processes::machine::remedies(&walls, Some(guardian_program()));
            let mend = if remedies.is_empty() { mend.to_owned() } else { remedies.join("\n") };
            Finding::new(Grade::Odd, "walls", walls.level.told(), mend)
        }
        Err(error) => Finding::new(Grade::Bad, "walls", format!("{error:#}"), mend),
    }
}

/// The launcher is a stage of the guardian's program, which is in this program's folder.
fn guardian_program() -> PathBuf {
    made::beside("guardian").unwrap_or_default()
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn compiler() -> Finding {
    let mend = "install a C compiler (Debian: apt-get install gcc; Fedora: dnf install gcc)";
    match on_path("cc").or_else(|| on_path("gcc")).or_else(|| on_path("clang")) {
        Some(path) => Finding::new(Grade::Good, "C compiler", path.display().to_string(), mend),
        None => Finding::new(Grade::Bad, "C compiler", "none on PATH", mend),
    }
}

fn cargo() -> Finding {
    let mend = "install Rust with rustup, and start the guardian with `cargo run -p guardian`";
    let cargo = made::cargo();
    let there = cargo.is_absolute().then(|| cargo.clone()).or_else(|| on_path(&cargo.to_string_lossy()));
    match there.filter(|path| path.is_file()) {
        Some(path) => Finding::new(Grade::Good, "cargo", path.display().to_string(), mend),
        None => Finding::new(Grade::Bad, "cargo", format!("{} is not there", cargo.display()), mend),
    }
}

fn disk(house: &House, limits: &Limits) -> Finding {
    let places = [house.root().to_path_buf(), house.state_folder()];
    let free = places.iter().filter_map(|place| space::tried_mib(place)).min().unwrap_or(0);
    let grade = if free == 0 || free < limits.disk_free_mib {
        Grade::Bad
    } else if free < BUILD_MIB {
        Grade::Odd
    } else {
        Grade::Good
    };
    let mend = "free some space, or files where no more can be made (df -i), or raise a quota (quota -s): a first build takes \
                about 2 GiB under target/";
    Finding::new(grade, "disk", format!("{free} MiB free"), mend)
}

fn stale_locks(house: &House) -> Finding {
    let mend = "if no git is at work, the guardian moves them aside when it needs to; or remove them by hand";
    let git = open::opened(house).map(|git| git.path().to_path_buf());
    let found = locks::find(&git.unwrap_or_else(|_| house.root().join(".git")));
    let names: Vec<String> = found.iter().map(|path| path.display().to_string()).collect();
    match names.is_empty() {
        true => Finding::new(Grade::Good, "git locks", "none left behind", mend),
        false => Finding::new(Grade::Odd, "git locks", names.join(", "), mend),
    }
}

fn instance(house: &House) -> Finding {
    let found = |grade, found: &str, mend: &'static str| Finding::new(grade, "guardian", found, mend);
    match instance::holder(house) {
        Some(Some(pid)) => found(Grade::Good, &format!("running as process {pid}"), ""),
        Some(None) => {
            found(Grade::Bad, &alone::held(house, None), "end what holds it: none starts until then")
        }
        None => found(Grade::Good, "not running", ""),
    }
}

/// Reports how soon the running guardian hears its owner: the longest time it could not.
fn hearing(house: &House) -> Option<Finding> {
    let told = instance::published(house, instance::running(house)?)?;
    let most = |name: &str| told.get(name).and_then(Value::as_u64);
    let (gap_ms, step_ms) = (most("longest_gap_ms")?, most("longest_step_ms")?);
    let grade = if gap_ms <= HEARD_MS { Grade::Good } else { Grade::Odd };
    let found = format!("the owner is heard within {gap_ms} ms at most; the longest step took {step_ms} ms");
    let mend = "the machine has too little processor or too slow a disk for it; `history` says whether and why it began anew";
    Some(Finding::new(grade, "hearing", found, mend))
}

/// Reports why a start would refuse over the repository; while a guardian runs, edits are its creature's.
fn start(house: &House) -> Finding {
    let mend = "do what it says: no life begins until then";
    let found = |grade, found: &str| Finding::new(grade, "start", found, mend);
    let repo = match Repo::open(house) {
        Ok(repo) => repo,
        Err(error) => return found(Grade::Bad, &format!("{error:#}")),
    };
    if instance::running(house).is_some() {
        let unfit = fit::unfit(&repo);
        return found(
            if unfit.is_some() { Grade::Bad } else { Grade::Good },
            &unfit.unwrap_or("started".into()),
        );
    }
    let (left, odd) = match Left::read(house) {
        Ok(left) => (left, None),
        Err(error) => (Left::unsaved(house), Some(format!("the guardian's state cannot be read: {error:#}"))),
    };
    match (processes::machine::unfit(house).or_else(|| fit::refusal(house, &repo, &left)), odd) {
        // What to do is said by the start, which moves aside first what would run by the owner's own git.
        (Some(why), _) => Finding::new(
            Grade::Bad,
            "start",
            why.split(" To keep them:").next().unwrap_or_default(),
            "start the guardian: it refuses, and says what to do",
        ),
        (None, Some(odd)) => {
            Finding::new(Grade::Odd, "start", odd, "a start keeps it aside and rebuilds what it needs")
        }
        (None, None) => found(Grade::Good, "nothing in the repository keeps it from starting"),
    }
}

fn settings(house: &House) -> Finding {
    let mend = "mend the line, docs/owner-toml.md lists all settings; until then no guardian starts, and one that runs goes on \
                with what was valid before";
    match settings::whole(house) {
        Ok(_) if house.owner_settings().exists() => {
            Finding::new(Grade::Good, "owner.toml", "reads well", mend)
        }
        Ok(_) => Finding::new(Grade::Good, "owner.toml", "not there; every default is safe", mend),
        Err(error) => Finding::new(Grade::Bad, "owner.toml", format!("{error:#}"), mend),
    }
}

fn purpose(house: &House) -> Finding {
    let mend = "mend PURPOSE.md; what it said before counts until then, for a new creature nothing";
    match prepare::purpose(house) {
        Ok(Some(text)) => Finding::new(Grade::Good, "purpose", format!("{} bytes", text.len()), mend),
        Ok(None) => {
            Finding::new(Grade::Odd, "purpose", "there is no PURPOSE.md", "write what it shall live for")
        }
        Err(error) => Finding::new(Grade::Bad, "purpose", format!("{error:#}"), mend),
    }
}

/// Reports settings that the living creature cannot follow; only it knows its tools.
fn unfollowed(house: &House) -> Option<Finding> {
    instance::running(house)?;
    let claim = heartbeat::read(&house.heartbeat()).filter(|claim| !claim.odd.is_empty())?;
    Some(Finding::new(Grade::Odd, "owner.toml", format!("the creature says: {}", claim.odd), "mend the line"))
}

fn repository(house: &House) -> Vec<Finding> {
    let git = match open::opened(house) {
        Ok(git) => git,
        Err(error) if house.root().join(".git").exists() => {
            let mend = "the guardian does not start until this is settled";
            return vec![Finding::new(Grade::Bad, "git", format!("{error:#}"), mend)];
        }
        Err(_) => {
            let mend = "the guardian needs a clone: git clone …, and start it in there";
            return vec![Finding::new(Grade::Bad, "git", "not a git repository", mend)];
        }
    };
    let name = git.config().and_then(|mut config| config.snapshot()?.get_string("user.name"));
    let mend = "git config --global user.name and user.email; the guardian's own commits do not need it";
    let identity = match name {
        Ok(name) => Finding::new(Grade::Good, "identity", name, mend),
        Err(_) => Finding::new(Grade::Odd, "identity", "git does not know who you are", mend),
    };
    let mend = "git switch main, if this is not where you meant the creature to live";
    let name = git.head().ok().and_then(|head| head.shorthand().ok().map(str::to_owned)).unwrap_or_default();
    let branch = match git.head_detached() {
        Ok(false) => Finding::new(Grade::Good, "branch", name, mend),
        _ => Finding::new(Grade::Odd, "branch", "HEAD is detached or unborn: commits are easily lost", mend),
    };
    vec![identity, branch]
}

fn servers() -> impl Iterator<Item = Finding> {
    let waits = Duration::from_millis(200);
    let answers = move |port| TcpStream::connect_timeout(&([127, 0, 0, 1], port).into(), waits).is_ok();
    SERVERS.into_iter().filter(move |(_, port)| answers(*port)).map(|(name, port)| {
        let found = format!("{name}'s usual port {port} answers on loopback");
        Finding::new(Grade::Good, "model server", found, "")
    })
}
