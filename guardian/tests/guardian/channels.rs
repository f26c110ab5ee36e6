//! The owner's channels: built and started where `owner.toml` names one, each start with a token of its own, ended when none is named.

use crate::broker_process::{copies_it, own_target};
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use trials::{Guardian, House, SOUND};

const NAMED: &str = "[channels.telegram]\n";
/// Stands in for their program: keeps the tokens it found and its number, and lives.
const LIVES: &str = "#!/bin/sh\ncp .self/broker/tokens.json .self/workspace/tokens.$$\necho \"$$ $*\" >> .self/workspace/channels\n\
                     exec sleep 1000\n";

/// A house with a broker, and a cargo that does this where the channels are to be built.
fn house(builds: &str) -> (House, Command) {
    let house = House::new(SOUND);
    let command = own_target(&house, &copies_it("0"));
    let program = house.folder.path().join("channels");
    fs::write(&program, LIVES).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let cargo = house.folder.path().join("cargo");
    let others = fs::read_to_string(&cargo).unwrap();
    let channels = format!(
        "#!/bin/sh\ncase \"$*\" in *--package*channels*)\n\
         echo channels >> .self/workspace/built; {builds}; exit 0;; esac\n"
    );
    fs::write(&cargo, others.replacen("#!/bin/sh\n", &channels, 1)).unwrap();
    (house, command)
}

const COPIES: &str =
    "cp ../channels target/debug/channels.new; mv target/debug/channels.new target/debug/channels";

fn told(house: &House) -> Value {
    house.status()["channels"].clone()
}

fn pid(house: &House) -> Option<i64> {
    told(house)["pid"].as_i64()
}

/// The token that the program of this number found when it started.
fn token(house: &House, pid: i64) -> String {
    let mut found = Value::Null;
    house.until("the tokens it found", || {
        let copied = house.read(&format!(".self/workspace/tokens.{pid}"));
        serde_json::from_str(&copied).is_ok_and(|copied| {
            found = copied;
            true
        })
    });
    found["channels"]["token"].as_str().unwrap().to_owned()
}

/// The broker's answer to a message that this token announces, by the door that its file names. A walled life's own door is in
/// another network than this machine's.
fn announced(house: &House, token: &str) -> String {
    let port = tokens(house)["channels"]["port"].as_u64().unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", u16::try_from(port).unwrap())).unwrap();
    stream.set_read_timeout(Some(trials::PATIENCE)).unwrap();
    let body = r#"{"channel":"telegram","chat":"1","kind":"send","bytes":1,"sha256":"0"}"#;
    write!(
        stream,
        "POST /channels/send HTTP/1.1\r\nhost: broker\r\nauthorization: Bearer {token}\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.lines().next().unwrap_or_default().to_owned()
}

fn tokens(house: &House) -> Value {
    serde_json::from_str(&house.read(".self/broker/tokens.json")).unwrap()
}

#[test]
fn channels_live_where_one_is_named_each_start_with_a_token_of_its_own() {
    let (house, mut command) = house(COPIES);
    house.settings("");
    let guardian = Guardian::new(command.spawn().unwrap(), &house);
    house.until_broker(None);
    house.until("a thought", || !house.thoughts().is_empty());
    assert!(!house.read(".self/workspace/built").contains("channels"), "nothing is built");
    assert!(told(&house).is_null() && tokens(&house).get("channels").is_none(), "and nothing said");
    house.settings(NAMED);
    house.until("channels", || pid(&house).is_some());
    let first = pid(&house).unwrap();
    house.until("their start", || house.read(".self/workspace/channels").ends_with('\n'));
    let started = house.read(".self/workspace/channels");
    assert_eq!(started.trim(), format!("{first} --house {}", house.root.display()));
    let one = token(&house, first);
    assert!(one.len() == 64 && tokens(&house)["channels"]["token"] == one);
    assert_eq!(announced(&house, &one), "HTTP/1.1 200 OK");
    // Killed: another one with another token, and it is told.
    Command::new("kill").args(["-KILL", &first.to_string()]).status().unwrap();
    house.until("another", || pid(&house).is_some_and(|pid| pid != first));
    let second = pid(&house).unwrap();
    house.until("its start", || house.path(&format!(".self/workspace/tokens.{second}")).exists());
    let other = token(&house, second);
    assert_ne!(other, one);
    assert_eq!(announced(&house, &one), "HTTP/1.1 401 Unauthorized");
    assert_eq!(announced(&house, &other), "HTTP/1.1 200 OK", "the same door");
    assert_eq!(
        (house.told("channels_ended")[0]["cause"].as_str(), told(&house)["restarts"].as_i64()),
        (Some("signal SIGKILL"), Some(1))
    );
    assert!(house.deaths().is_empty(), "the creature has no part in it");
    // Another setting: begun anew with it, and built anew first only once.
    house.settings("[channels.telegram]\nverbosity = \"normal\"\n");
    house.until("a third", || pid(&house).is_some_and(|pid| pid != second));
    // None named: it ends, and its token with it.
    house.settings("");
    house.until("its end", || told(&house).is_null());
    house.until("its token's end", || tokens(&house).get("channels").is_none());
    guardian.stop();
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}

#[test]
fn channels_that_hang_are_ended_and_started_again() {
    let (house, mut command) = house(COPIES);
    let beats = "#!/bin/sh\nmkdir -p .self/broker/channels\nwhile :; do touch .self/broker/channels/lock; echo >> .self/workspace/beats; sleep 0.1; done\n";
    fs::write(house.folder.path().join("channels"), beats).unwrap();
    house.settings(&format!("channels_beat_s = 4\n{NAMED}"));
    let guardian = Guardian::new(command.spawn().unwrap(), &house);
    house.until("channels", || pid(&house).is_some());
    let first = pid(&house).unwrap();
    let beats = || house.read(".self/workspace/beats").len();
    house.until("more beats than would be left to one that is silent", || beats() > 60);
    assert_eq!(pid(&house), Some(first), "one that beats is left alone");
    trials::send("-STOP", i32::try_from(first).unwrap());
    house.until("another", || pid(&house).is_some_and(|pid| pid != first));
    assert_eq!(house.told("channels_ended")[0]["cause"], "hung, and was killed");
    let before = beats();
    house.until("its beats", || beats() > before);
    guardian.stop();
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}

#[test]
fn channels_made_anew_take_the_place_of_those_that_run() {
    let (house, mut command) = house(COPIES);
    house.settings(NAMED);
    fs::copy(house.folder.path().join("channels"), house.path("target/debug/channels")).unwrap();
    fs::write(house.folder.path().join("channels"), format!("{LIVES}# another\n")).unwrap();
    let guardian = Guardian::new(command.spawn().unwrap(), &house);
    house.until("channels", || pid(&house).is_some());
    let first = pid(&house).unwrap();
    house.until("their build", || house.read(".self/workspace/built").contains("channels"));
    house.until("the other program", || pid(&house).is_some_and(|pid| pid != first));
    guardian.stop();
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}

#[test]
fn channels_that_do_not_build_are_told_of_and_the_rest_lives() {
    let (house, mut command) = house("echo 'error: no such crate' >&2; exit 101");
    house.settings(NAMED);
    let guardian = Guardian::new(command.spawn().unwrap(), &house);
    let why =
        "the program of the channels does not build: error: no such crate; see .self/log/channels-build.log";
    house.until("the failure", || told(&house)["note"] == why);
    house.until_broker(None);
    house.until("the log", || {
        let log = fs::read_to_string(&guardian.log).unwrap();
        log.contains(&format!("{why}. You are heard at this machine alone"))
    });
    assert!(house.deaths().is_empty());
    guardian.stop();
}
