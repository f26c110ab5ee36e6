//! The broker beside a real guardian: started, killed, orphaned, missing, broken, and told of the owner's changes.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use trials::{House, SOUND};

/// Keeps what it was given by environment, and lives.
const TELLS: &str = "env > .self/workspace/environment.new; mv .self/workspace/environment.new .self/workspace/environment; think x; live";

fn kill(pid: i32) {
    assert!(Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap().success());
}

fn gone(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.is_empty() || stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']))
}

/// A value of the creature's environment.
fn told(house: &House, name: &str) -> Option<String> {
    let text = house.read(".self/workspace/environment");
    text.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
}

/// What the broker answers a creature that asks how things are.
fn status(house: &House, token: &str) -> String {
    let address = told(house, "FERAL_BROKER").unwrap();
    let mut stream = TcpStream::connect(address.strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(trials::PATIENCE)).unwrap();
    write!(
        stream,
        "GET /status HTTP/1.1\r\nhost: broker\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.lines().next().unwrap_or_default().to_owned()
}

fn walls_off(house: House) -> House {
    house.write("owner.toml", &format!("walls = \"off\"\n{}", house.read("owner.toml")));
    house
}

#[test]
fn a_life_knows_the_way_to_its_broker_and_holds_no_key() {
    let house = walls_off(House::new(TELLS).with_broker());
    let mut command = house.command(&[]);
    command.env("ANTHROPIC_API_KEY", "sk-of-the-owner").env("X_USER_TOKEN", "x-of-the-owner");
    let guardian = trials::Guardian::new(command.spawn().unwrap(), &house);
    house.until("a life", || house.path(".self/workspace/environment").exists());
    let broker = house.until_broker(None);
    let environment = house.read(".self/workspace/environment");
    assert!(!environment.contains("of-the-owner"), "{environment}");
    let token = told(&house, "FERAL_BROKER_TOKEN").unwrap();
    assert_eq!(token.len(), 64);
    assert!(told(&house, "CARGO_HTTP_PROXY").unwrap().contains(&format!("life:{token}@127.0.0.1:")));
    let keys = fs::read(format!("/proc/{broker}/environ")).unwrap_or_default();
    let keys = String::from_utf8_lossy(&keys).into_owned();
    assert!(keys.is_empty() || keys.contains("sk-of-the-owner"), "the broker has the keys");
    assert_eq!(status(&house, &token), "HTTP/1.1 200 OK");
    assert_eq!(status(&house, &"0".repeat(64)), "HTTP/1.1 401 Unauthorized");
    let mode = |name: &str| fs::metadata(house.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(".self/broker"), mode(".self/broker/tokens.json")), (0o700, 0o600));
    guardian.stop();
    assert!(gone(broker), "it goes with its guardian");
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}

#[test]
fn a_killed_broker_comes_back_at_the_same_port_and_the_creature_lives_on() {
    let house = walls_off(House::new(TELLS).with_broker());
    let guardian = house.start();
    house.until("a life", || house.path(".self/workspace/environment").exists());
    let (first, port) = (house.until_broker(None), house.broker()["port"].clone());
    house.until("the creature to be told of", || house.status()["creature_pid"].is_number());
    let creature = house.status()["creature_pid"].clone();
    kill(first);
    // Asked while there is none: the connection waits.
    assert_eq!(status(&house, &told(&house, "FERAL_BROKER_TOKEN").unwrap()), "HTTP/1.1 200 OK");
    house.until_broker(Some(first));
    assert_eq!(house.broker()["port"], port);
    assert_eq!(house.broker()["restarts"], 1);
    assert_eq!((house.status()["creature_pid"].clone(), house.deaths().len()), (creature, 0));
    assert_eq!(house.told("broker_ended")[0]["cause"], "signal SIGKILL");
    guardian.stop();
}

#[test]
fn a_life_that_ends_takes_no_broker_along_and_its_token_dies_with_it() {
    let life = "env > .self/workspace/environment.$FERAL_LIFE; cp .self/workspace/environment.$FERAL_LIFE .self/workspace/environment; \
                think x; test $FERAL_LIFE -gt 1 && live; sleep 0.3; exit 3";
    let house = walls_off(House::new(life).with_broker());
    let guardian = house.start();
    let broker = house.until_broker(None);
    house.until("the second life", || {
        house.told("life").len() == 2 && house.path(".self/workspace/environment.2").exists()
    });
    house.until("its thought", || house.thoughts().len() == 2);
    assert_eq!(house.broker_pid(), Some(broker), "spared by the sweep after the first");
    let token = |life| {
        let text = house.read(&format!(".self/workspace/environment.{life}"));
        text.lines().find_map(|line| line.strip_prefix("FERAL_BROKER_TOKEN=").map(str::to_owned)).unwrap()
    };
    assert_eq!(status(&house, &token(1)), "HTTP/1.1 401 Unauthorized");
    assert_eq!(status(&house, &token(2)), "HTTP/1.1 200 OK");
    guardian.stop();
}

#[test]
fn a_killed_guardian_takes_broker_and_creature_along_and_the_next_starts_both() {
    let house = House::new(SOUND).with_broker();
    let guardian = house.start();
    house.until("a thought", || !house.thoughts().is_empty() && house.told("life").len() == 1);
    let broker = house.until_broker(None);
    guardian.kill_only();
    house.until("it to be gone", || gone(broker));
    let guardian = house.start();
    house.until("the next life", || house.told("life").len() == 2);
    house.until_broker(Some(broker));
    guardian.stop();
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}

/// It shows nobody what it holds and forgot whose death is its own: only its number and the lock are left to find it by.
#[test]
fn an_orphan_broker_is_ended_first() {
    let house = House::new(SOUND).with_broker();
    let guardian = house.start();
    let broker = house.until_broker(None);
    guardian.stop();
    assert!(gone(broker));
    // As the guardian starts it, but bound to nobody.
    let lock = fs::File::options().write(true).open(house.path(".self/guardian/broker.lock")).unwrap();
    lock.lock().unwrap();
    let mut command = Command::new(house.program().with_file_name("broker"));
    command.arg("--house").arg(&house.root).env_clear().env("PATH", std::env::var("PATH").unwrap());
    command.stdin(lock).stderr(std::process::Stdio::null());
    let mut orphan = command.spawn().unwrap();
    drop(command);
    house.write(".self/guardian/broker.lock", &orphan.id().to_string());
    let guardian = house.start();
    house.until_broker(None);
    assert!(orphan.wait().unwrap().code().is_none(), "it was killed");
    guardian.stop();
}

#[test]
fn without_a_broker_the_creature_lives_without_a_way_out() {
    let house = House::new(TELLS);
    let guardian = house.start();
    house.until("a life", || house.path(".self/workspace/environment").exists());
    let environment = house.read(".self/workspace/environment");
    assert!(
        !environment.contains("FERAL_BROKER") && !environment.contains("CARGO_HTTP_PROXY"),
        "{environment}"
    );
    let log = fs::read_to_string(&guardian.log).unwrap();
    assert!(log.contains("no way out"), "{log}");
    assert_eq!(
        (house.broker()["running"].clone(), house.broker()["port"].clone()),
        (false.into(), ().into())
    );
    guardian.stop();
}

#[test]
fn a_broker_that_dies_at_once_costs_rests_and_never_the_creature() {
    let house =
        House::new(SOUND).with_false_broker("test \"$1\" = --check && exit 0; echo dying >&2; exit 7");
    let first = house.git(&["rev-parse", "HEAD"]);
    let guardian = house.start();
    house.until_blessed(&first);
    house.until("its fourth end", || house.told("broker_ended").len() >= 4);
    assert_eq!(house.told("broker_ended")[0]["cause"], "exit status 7");
    assert_eq!(house.told("broker_ended")[0]["said"], "dying");
    assert!(house.deaths().is_empty() && house.told("life").len() == 1);
    guardian.stop();
}

#[test]
fn a_mistake_in_the_brokers_sections_refuses_the_start() {
    let house = House::new(SOUND).with_broker();
    house.settings("[budget]\ndaily_uds = 1\n");
    let refused = house.ask(&[]);
    assert_eq!(refused.status.code(), Some(100));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("owner.toml, line") && said.contains("daily_uds"), "{said}");
    assert_eq!(said.lines().filter(|line| line.starts_with("guardian:")).count(), 1, "{said}");
    assert!(house.told("life").is_empty());
}

#[test]
fn what_the_owner_changes_is_taken_over_and_mistakes_are_told_once() {
    let house = House::new(SOUND).with_broker();
    let guardian = house.start();
    house.until("a thought", || !house.thoughts().is_empty());
    let first = house.until_broker(None);
    for (mistake, name) in [("[limits]\nbaet_s = 1\n", "beat_s"), ("[budget]\ndaily_usd = -1\n", "daily_usd")]
    {
        let before = house.told("settings_refused").len();
        house.write("owner.toml", mistake);
        house.until("the mistake to be told", || house.told("settings_refused").len() > before);
        house.until("it in the note", || {
            house.status()["note"].as_str().is_some_and(|note| note.contains(name))
        });
    }
    assert_eq!(house.broker_pid(), Some(first), "the old one goes on");
    house.settings("[budget]\ndaily_usd = 1\n");
    let second = house.until_broker(Some(first));
    house.until("it to be told", || house.told("settings_changed").len() == 1);
    house.until("a plain note", || !house.status()["note"].to_string().contains("not taken over"));
    let serve = |brokers: usize| {
        house.until("it to have read its keys", || {
            house.read(".self/log/broker.log").matches("serving on").count() == brokers
        });
    };
    // One that is replaced before it serves never says so; and a file that is seen empty first is two changes.
    serve(2);
    fs::write(house.path(".env.aside"), "SOME_KEY=12345678\n").unwrap();
    fs::rename(house.path(".env.aside"), house.path(".env")).unwrap();
    house.until_broker(Some(second));
    assert_eq!(house.told("settings_refused").len(), 2, "each once");
    serve(3);
    // Found: `.env` turned into a folder or a pipe was passed over in silence.
    for (refused, no_file) in [(3, "mkdir"), (4, "mkfifo")] {
        let env = house.path(".env");
        let made = Command::new("sh")
            .args(["-c", "rm -rf \"$1\"; \"$2\" \"$1\"", "sh"])
            .arg(&env)
            .arg(no_file)
            .status();
        assert!(made.unwrap().success());
        house.until(no_file, || house.told("settings_refused").len() == refused);
        house.until("it in the status", || house.status()["note"].to_string().contains(".env is no file"));
    }
    assert!(house.told("broker_ended").is_empty(), "a reload is no death");
    assert!(house.deaths().is_empty());
    guardian.stop();
}

/// With the looks an owner's guardian has, and a broker that is still being built: neither is waited for.
#[test]
fn a_mistake_of_the_owners_is_in_the_status_while_the_broker_is_built() {
    let house = House::new(TELLS);
    fs::remove_file(house.path("owner.toml")).unwrap();
    let waits = format!("until test -e .self/workspace/build_now; do sleep 0.05; done; {}", copies_it("0"));
    let mut command = own_target(&house, &waits);
    let guardian = trials::Guardian::new(command.spawn().unwrap(), &house);
    house.until("the broker's build", || house.broker()["note"] == "being built");
    let shows = |name: &str| String::from_utf8_lossy(&house.ask(&["status"]).stdout).contains(name);
    house.write("owner.toml", "[limits]\nbaet_s = 1\n");
    house.until("the mistake in the status", || shows("did you mean beat_s?"));
    assert_eq!(house.broker()["note"], "being built");
    // The broker's part is its to judge, when it is there; it does not begin with a mistake.
    fs::remove_file(house.path("owner.toml")).unwrap();
    house.write(".self/workspace/build_now", "");
    house.until_broker(None);
    house.write("owner.toml", "[budget]\ndaily_uds = 1\n");
    house.until("its judgement", || shows("daily_uds"));
    house.write("owner.toml", "[budget]\nweekly_uds = 1\n");
    house.until("the next", || shows("weekly_uds"));
    guardian.stop();
}

/// A guardian in the house's own target folder, as `cargo run` leaves it, and a cargo that takes so long over the broker.
pub fn own_target(house: &House, builds_broker: &str) -> Command {
    let program = house.path("target/debug/guardian");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    trials::programs::place(&house.program(), &program);
    let cargo = house.folder.path().join("cargo");
    let creature = fs::read_to_string(&cargo).unwrap();
    let notes = |package: &str| format!("*--package*{package}*) echo {package} >> .self/workspace/built;");
    let broker = format!(
        "#!/bin/sh\ncase \"$*\" in {} exit 0;; {} {builds_broker}; exit 0;; esac\n",
        notes("console"),
        notes("broker")
    );
    fs::write(&cargo, creature.replacen("#!/bin/sh\n", &broker, 1)).unwrap();
    let mut command = Command::new(program);
    let log = fs::File::create(house.folder.path().join("guardian.log")).unwrap();
    command.current_dir(&house.root).env("CARGO", cargo).env("RUST_LOG", "debug");
    command.stdin(std::process::Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
    command
}

pub fn copies_it(after: &str) -> String {
    format!("sleep {after}; cp {} target/debug/broker", trials::programs::broker().display())
}

#[test]
fn the_creature_does_not_wait_for_the_brokers_build() {
    let house = House::new(TELLS);
    fs::remove_file(house.path("owner.toml")).unwrap();
    let mut command = own_target(&house, &copies_it("2"));
    let guardian = trials::Guardian::new(command.spawn().unwrap(), &house);
    house.until("the broker's build", || house.broker()["note"] == "being built");
    assert!(house.path(".self/workspace/environment").exists(), "a life");
    assert!(told(&house, "FERAL_BROKER").is_some(), "it may knock already");
    house.until_broker(None);
    assert!(house.deaths().is_empty());
    guardian.stop();
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}

#[test]
fn with_settings_to_judge_the_broker_is_built_first() {
    let house = House::new(TELLS);
    house.settings("[budget]\ndaily_uds = 1\n");
    let mut command = own_target(&house, &copies_it("0.3"));
    let mut guardian = trials::Guardian::new(command.spawn().unwrap(), &house);
    assert_eq!(guardian.wait(), 100);
    let log = fs::read_to_string(&guardian.log).unwrap();
    assert!(log.contains("daily_uds") && house.told("life").is_empty(), "{log}");
    house.settings("");
    let mut command = own_target(&house, &copies_it("0"));
    let guardian = trials::Guardian::new(command.spawn().unwrap(), &house);
    house.until_broker(None);
    guardian.stop();
}

#[test]
fn a_broker_that_does_not_build_is_warned_of_and_the_creature_lives() {
    for owner in [true, false] {
        let house = House::new(TELLS);
        if !owner {
            fs::remove_file(house.path("owner.toml")).unwrap();
        }
        let mut command = own_target(&house, "sleep 1; echo 'error: no such crate' >&2; exit 101");
        let guardian = trials::Guardian::new(command.spawn().unwrap(), &house);
        house.until("a life", || house.path(".self/workspace/environment").exists());
        house.until("the warning", || {
            fs::read_to_string(&guardian.log).unwrap().contains("does not build: error: no such crate")
        });
        house.until("the note", || house.broker()["note"].to_string().contains("does not build"));
        assert_eq!(house.told("broker_missing").len(), 1);
        assert_eq!(told(&house, "FERAL_BROKER").is_none(), owner, "only who started meanwhile may hope");
        guardian.stop();
    }
}

/// Found by measuring: a start asked cargo whether the broker is up to date before it began the broker that is there.
#[test]
fn a_broker_that_is_there_serves_while_the_next_one_is_built() {
    let house = House::new(TELLS);
    let broker = trials::programs::broker().display();
    let go = house.path("go");
    let builds = format!(
        "until test -e {}; do sleep 0.05; done; cp {broker} target/debug/broker.new; mv target/debug/broker.new target/debug/broker",
        go.display()
    );
    let mut command = own_target(&house, &builds);
    trials::programs::place(trials::programs::broker(), &house.path("target/debug/broker"));
    let guardian = trials::Guardian::new(command.spawn().unwrap(), &house);
    let first = house.until_broker(None);
    fs::write(&go, "").unwrap();
    house.until_broker(Some(first));
    assert!(house.told("broker_ended").is_empty(), "to be replaced is no death");
    guardian.stop();
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}
