//! A hostile creature as it lives: a real guardian, real deaths, races with what the guardian does for it.

use crate::escapes::Suite;
use house::settings::Settings;
use processes::prepare::Asked;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use trials::{House, programs};
use walls::{Choice, group};

/// Lives, and says what worked that should not have.
type Life = fn(&mut Suite) -> Result<(), String>;

/// A name no other process has.
const DAEMON: &str = "sleep 1234.567";

pub fn all(suite: &mut Suite) {
    let tests: [(&str, Life); 10] = [
        ("start more processes than it may", processes),
        ("write through a link planted before the walls", planted),
        ("live on as a daemon", daemon),
        ("live on past its guardian", past_its_guardian),
        ("have the guardian commit what it may not read", committed),
        ("have the guardian put things back elsewhere", put_back),
        ("read the guardian's environment without walls", environment),
        ("go out by the door of the owner's channels", channels_door),
        ("look into the program of the owner's channels without walls", channels_program),
        ("start where walls are required and missing", required),
    ];
    for (name, test) in tests {
        if suite.wants(name) {
            let complaint = test(suite).err();
            suite.judge(name, complaint);
        }
    }
}

fn must(what: bool, why: &str) -> Result<(), String> {
    if what { Ok(()) } else { Err(why.to_owned()) }
}

/// Sixty-four at once here, so that the machine is spared.
fn processes(suite: &mut Suite) -> Result<(), String> {
    let stage = &suite.stage;
    let mut spec = stage.spec();
    if suite.root {
        spec.groups = vec![group::counted(&format!("feral-{}", stage.house.identity()), 64)?];
    } else if let Some(ceilings) = &mut spec.ceilings {
        ceilings.processes = 64;
    }
    let attempt = "creature/hostile resource fork";
    let walled = stage.run(Some(&spec), attempt);
    must(!walled.status.success(), "WORKS behind the walls")?;
    must(stage.run(None, attempt).status.success(), "proves nothing: it fails without the walls too")
}

/// A life without walls left a link where the next life may write: it widens nothing.
fn planted(suite: &mut Suite) -> Result<(), String> {
    let stage = &suite.stage;
    let place = stage.root().join("target/creature/debug");
    let _ = fs::remove_dir_all(&place);
    symlink(stage.home().join("notes"), &place).map_err(|error| error.to_string())?;
    let attempt = "echo x >> target/creature/debug/diary.txt";
    let walled = stage.run(Some(&stage.spec()), attempt);
    let damage = stage.damage();
    let twin = stage.run(None, attempt);
    let _ = fs::remove_file(&place);
    stage.lay();
    must(!walled.status.success() && damage.is_empty(), "WORKS behind the walls")?;
    must(twin.status.success(), "proves nothing: it fails without the walls too")
}

/// Forgets its house, its lock and its signals, and dies: nothing of it may be left. Without a guardian it would be.
fn daemon(_: &mut Suite) -> Result<(), String> {
    let act = format!("(setsid sh -c 'trap \"\" HUP TERM; exec env -i {DAEMON}' 3>&- 4>&- 5>&- 6>&- &)");
    let house = House::new(&format!("think x; blessed; {act}; sleep 0.2; exit 1"));
    let guardian = house.start();
    house.until("two deaths", || house.deaths().len() >= 2);
    guardian.stop();
    must(daemons().is_empty(), "it outlives its creature")?;
    std::process::Command::new("sh").args(["-c", &act]).status().map_err(|error| error.to_string())?;
    let left = (0..100).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        Some(daemons()).filter(|left| !left.is_empty())
    });
    left.iter().flatten().for_each(|pid| {
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(*pid), nix::sys::signal::Signal::SIGKILL);
    });
    must(left.is_some(), "proves nothing: without a guardian it does not live on either")
}

/// Forgets all there is to know it by, and its guardian is killed: it dies with it.
fn past_its_guardian(suite: &mut Suite) -> Result<(), String> {
    let house = House::new("think x; blessed; creature/hostile forget all; live");
    fs::copy(suite.stage.root().join("creature/hostile"), house.path("creature/hostile")).unwrap();
    house.commit("forgetful");
    let alive = || fs::metadata(house.path("self/alive")).map_or(0, |meta| meta.len());
    let grows = || {
        let before = alive();
        std::thread::sleep(std::time::Duration::from_millis(400));
        alive() > before
    };
    let guardian = house.start();
    house.until("it to forget", || alive() > 0);
    must(grows(), "proves nothing: it does not live")?;
    guardian.kill_only();
    // Its end is the kernel's to bring about, and asked for by the guardian's.
    let gone = (0..50).any(|_| !grows());
    must(gone, "it outlives its guardian")
}

fn daemons() -> Vec<i32> {
    let pids =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ").trim() == DAEMON
    })
    .collect()
}

/// Swaps a paper and a folder of papers for links to the owner's, over and over, while it asks for commits.
fn committed(suite: &mut Suite) -> Result<(), String> {
    let racing = "(while :; do rm -rf self/d; mkdir self/d; echo mine > self/d/key; mv self/d self/e; ln -s $SECRETS self/d; \
        rm -f self/d; rm -rf self/e; echo mine > self/key; ln -sf $SECRETS/key self/key.new; mv self/key.new self/key; done) &
        racer=$!; number=0; while [ $number -lt 25 ]; do number=$((number+1)); ask commit race c$number; \
        until grep -q \"$FERAL_LIFE-c$number\\\"\" .self/guardian.json; do beat; sleep 0.01; done; done; kill $racer; touch .self/mind/done; live";
    let house = House::new("");
    let secrets = house.folder.path().join("secrets");
    fs::create_dir(&secrets).unwrap();
    fs::write(secrets.join("key"), "a secret of the owner's\n").unwrap();
    fs::write(secrets.join("other"), "another secret\n").unwrap();
    fs::set_permissions(&secrets, fs::Permissions::from_mode(0o711)).unwrap();
    house.write_life(&format!("SECRETS={}; think x; blessed; {racing}", secrets.display()));
    house.commit("races");
    let guardian = house.start();
    house.until("the race to end", || house.path(".self/mind/done").exists());
    guardian.stop();
    let everything = house.git(&["log", "--all", "-p", "--", "self"]);
    must(
        !everything.contains("a secret of the owner's") && !everything.contains("another secret"),
        "the owner's words are in the repository",
    )?;
    let mode = fs::metadata(secrets.join("key")).unwrap().permissions().mode();
    must(mode & 0o777 == 0o644 || mode & 0o777 == 0o600, "the guardian changed the owner's file")?;
    let twin = suite
        .stage
        .run(None, "ln -sf $OWNER/notes/diary.txt self/l; cat self/l; rc=$?; rm -f self/l; exit $rc");
    must(twin.status.success(), "proves nothing: a link would not lead there")
}

/// Swaps folders of its source for links while it asks for its source to be put back.
fn put_back(suite: &mut Suite) -> Result<(), String> {
    let racing = "(while :; do rm -rf creature/src; ln -s $OUTSIDE creature/src; rm -f creature/src; mkdir creature/src; echo x > creature/src/a.sh; done) & \
        racer=$!; number=0; while [ $number -lt 25 ]; do number=$((number+1)); ask reset race r$number; \
        until grep -q \"$FERAL_LIFE-r$number\\\"\" .self/guardian.json; do beat; sleep 0.01; done; done; kill $racer; touch .self/mind/done; live";
    let house = House::new("");
    let outside = house.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("treasure"), "the owner's\n").unwrap();
    house.write("creature/src/a.sh", "first\n");
    house.write("creature/src/b.sh", "second\n");
    house.write_life(&format!("OUTSIDE={}; think x; blessed; {racing}", outside.display()));
    house.commit("races");
    let guardian = house.start();
    house.until("the race to end", || house.path(".self/mind/done").exists());
    guardian.stop();
    let left: Vec<_> = fs::read_dir(&outside).unwrap().flatten().map(|entry| entry.file_name()).collect();
    must(left == ["treasure"], &format!("the guardian wrote or removed outside: {left:?}"))?;
    must(
        fs::read_to_string(outside.join("treasure")).unwrap() == "the owner's\n",
        "the owner's file was changed",
    )?;
    let twin = suite.stage.run(None, "ln -s $OWNER/notes self/d; echo x > self/d/planted; rc=$?; rm -f self/d $OWNER/notes/planted; exit $rc");
    must(twin.status.success(), "proves nothing: a link would not lead there")
}

/// The guardian holds the owner's whole environment: it cannot be looked into, whether Landlock is there or not.
fn environment(suite: &mut Suite) -> Result<(), String> {
    let house = House::new("think x; live");
    house.settings("");
    house.write("owner.toml", &format!("walls = \"off\"\n{}", house.read("owner.toml")));
    let guardian = house.start();
    house.until("a thought", || !house.thoughts().is_empty());
    let seen = fs::read(format!("/proc/{}/environ", guardian.pid()));
    // The twin is the creature's own, once the guardian has written which process that is.
    house.until("the creature's environment", || {
        let creature = house.status()["creature_pid"].as_i64().unwrap_or(0);
        fs::read(format!("/proc/{creature}/environ")).is_ok_and(|bytes| !bytes.is_empty())
    });
    guardian.stop();
    must(suite.root || seen.is_err(), "it can be read")
}

/// With its own token and a place of the owner's channels: no tunnel, no line of a message, and nobody calls there.
fn channels_door(_: &mut Suite) -> Result<(), String> {
    let place = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    place.set_nonblocking(true).map_err(|error| error.to_string())?;
    let at = place.local_addr().map_err(|error| error.to_string())?;
    let tries = format!(
        "tries() {{ bash -c 'exec 5<>/dev/tcp/127.0.0.1/${{FERAL_BROKER##*:}}; printf %b \"$0\" >&5; \
         read -r -t 60 line <&5; echo \"$line\"' \"$1\"; }}; \
         pass=$(printf 'channels:%s' \"$FERAL_BROKER_TOKEN\" | base64 -w0); \
         {{ tries \"CONNECT {at} HTTP/1.1\\r\\nhost: x\\r\\nproxy-authorization: Basic $pass\\r\\n\\r\\n\"; \
         tries \"GET http://{at}/ HTTP/1.1\\r\\nhost: x\\r\\nproxy-authorization: Basic $pass\\r\\n\\r\\n\"; \
         tries \"POST /channels/send HTTP/1.1\\r\\nhost: x\\r\\nauthorization: Bearer $FERAL_BROKER_TOKEN\\r\\ncontent-length: 2\\r\\n\\r\\n{{}}\"; \
         }} > .self/mind/tried; mv .self/mind/tried .self/mind/said; think x; live"
    );
    let house = House::new(&tries).with_broker();
    house.settings(&format!("[channels.matrix]\nurl = \"http://{at}\"\n"));
    let guardian = house.start();
    house.until("its tries", || house.path(".self/mind/said").exists());
    let (said, ledger) = (house.read(".self/mind/said"), house.read(".self/ledger.jsonl"));
    guardian.stop();
    must(said.lines().count() == 3 && said.lines().all(|line| line.starts_with("HTTP/1.1 403")), &said)?;
    must(!ledger.contains("\"event\":\"message\"") && !ledger.contains("\"event\":\"channel\""), &ledger)?;
    must(place.accept().is_err(), "somebody called there")
}

/// It holds tokens of the owner's: without walls no other process of its user reads its environment or memory, or traces it.
fn channels_program(suite: &mut Suite) -> Result<(), String> {
    let house = House::new("think x; live").with_broker();
    programs::place(programs::channels(), &house.folder.path().join("bin/channels"));
    // Where nobody listens: what it holds it holds all the same.
    house.settings("[channels.telegram]\nurl = \"http://127.0.0.1:9\"\n");
    house.write("owner.toml", &format!("walls = \"off\"\n{}", house.read("owner.toml")));
    house.write(".env", "TELEGRAM_BOT_TOKEN=12345678:of-the-owner-and-nobody-else\n");
    let guardian = house.start();
    let pid = || house.status()["channels"]["pid"].as_i64();
    let reads = |pid: i64| fs::read(format!("/proc/{pid}/environ")).is_ok_and(|bytes| !bytes.is_empty());
    house.until("the channels", || pid().is_some());
    // It hides itself as its first step; root looks into everything.
    house.until("it to hide", || suite.root || pid().is_some_and(|pid| !reads(pid)));
    let tries = |pid: i64| {
        let trace = format!("creature/hostile process trace {pid}");
        let memory = fs::File::open(format!("/proc/{pid}/mem")).is_ok();
        memory || reads(pid) || suite.stage.run(None, &trace).status.success()
    };
    let seen = pid().map(tries);
    guardian.stop();
    must(suite.root || seen == Some(false), "it can be looked into")
}

/// Walls within walls: the outer ones refuse what the inner need, and the guardian says so and starts nothing.
fn required(suite: &mut Suite) -> Result<(), String> {
    let stage = &suite.stage;
    let house = stage.house.clone();
    let launcher = trials::programs::guardian().to_owned();
    let missing = processes::prepare::find_walls(
        &house,
        &Asked { choice: Choice::Off, ..Settings::default().asked() },
        launcher,
        false,
    );
    must(
        missing.is_ok_and(|walls| walls.level.summary() == "off" && !walls.stand()),
        "walls that are off stand",
    )?;
    let mut spec = stage.spec();
    spec.view = None;
    let guardian = trials::programs::guardian().to_owned();
    spec.rules.push(walls::spec::Rule { access: walls::spec::Access::Run, path: guardian.clone() });
    let tried = stage.run(
        Some(&spec),
        &format!(
            "{} wall '{}' -- /bin/true",
            guardian.display(),
            serde_json::to_string(&stage.spec()).unwrap()
        ),
    );
    must(!tried.status.success(), "walls within walls could be had")?;
    let said = String::from_utf8_lossy(&tried.stderr).into_owned();
    must(said.contains("guardian wall: "), &format!("it does not say which wall is missing: {said}"))
}
