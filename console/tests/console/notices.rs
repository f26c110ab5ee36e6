//! Notices through real programs: what happens is told once, whatever is killed, and never as part of a command line.

use crate::asks::asked;
use console::notices::state::State;
use house::settings::notices::Notices;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use trials::programs::console;
use trials::{House, SOUND, becomes};

pub const STATE: &str = ".self/notices.json";
/// Writes down what it was given: its input, its arguments, its environment.
pub const WRITES: &str = r#"#!/bin/sh
mkdir -p "$0.d"
{ cat; } > "$0.d/$$.new"
printf '%s\n' "$@" > "$0.d/args"
env > "$0.d/env"
mv "$0.d/$$.new" "$0.d/$$.json"
"#;

/// A program of the owner's, beside the house.
pub fn program(house: &House, name: &str, script: &str) -> PathBuf {
    let path = house.folder.path().join("hooks").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

pub fn notify(program: &Path, more: &str) -> String {
    format!("[notify]\ncommand = [{program:?}, \"an argument\"]\ngather_s = 0\nper_hour = 60\n{more}")
}

/// What a program that writes was given, in the order of the sendings.
pub fn told(program: &Path) -> Vec<Value> {
    let folder = program.with_added_extension("d");
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
    let mut told: Vec<Value> =
        files.map(|path| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()).collect();
    told.sort_by_key(|told| told["at"].as_str().unwrap().to_owned());
    told
}

pub fn notices(program: &Path) -> Vec<Value> {
    told(program).into_iter().flat_map(|told| told["notices"].as_array().unwrap().clone()).collect()
}

pub fn has(program: &Path, what: &str) -> bool {
    notices(program).iter().any(|notice| notice["what"] == what)
}

/// The process by itself, as a guardian would start it.
pub fn start(house: &House, settings: &str, path: Option<&str>) -> Child {
    let settings: Notices =
        house::settings::read(settings, house::settings::Reader::Guardian, house::settings::forms::check)
            .unwrap()
            .settings
            .notices();
    let mut command = Command::new(console());
    command.arg("notices").current_dir(&house.root).stdin(Stdio::null()).stdout(Stdio::piped());
    command.env("FERAL_NOTICES", serde_json::to_string(&settings).unwrap()).env("TZ", "UTC0");
    path.into_iter().for_each(|path| _ = command.env("PATH", path).env("DISPLAY", ":7"));
    command.spawn().unwrap()
}

/// Ends it as nothing can be caught, and returns what it said.
pub fn end(mut child: Child) -> String {
    child.kill().unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

pub fn die(house: &House, life: u64, commit: &str) {
    let death = json!({"at": "2026-01-02T03:04:05.000Z", "life": life, "ended": "crashed",
        "cause": "exit status 101 \u{1b}[2J", "blame": "code", "commit": commit});
    let mut file =
        fs::File::options().create(true).append(true).open(house.path(".self/deaths.jsonl")).unwrap();
    writeln!(file, "{death}").unwrap();
}

pub fn kept(house: &House) -> State {
    State::load(&house::House::new(&house.root).notices())
}

#[test]
fn a_program_is_told_of_asks_deaths_falls_and_settings_and_gets_no_key() {
    let house =
        House::new(&becomes("think second; until [ -e .self/die ]; do beat; sleep 0.05; done; exit 101"));
    let hook = program(&house, "tell", WRITES);
    house.settings("");
    house.write(".env", "ANTHROPIC_API_KEY=sk-ant-a-key-of-the-owners\n");
    let mut command = house.command(&[]);
    command.env("ANTHROPIC_API_KEY", "sk-ant-a-key-of-the-owners").env("TOPIC", "heron").env("PAGER", "less");
    let guardian = house.start_by(command);
    house.until("the second lives", || {
        house.thoughts().iter().any(|one| one["data"]["monologue"] == "second")
    });
    // Taken up without a restart.
    house.settings(&notify(&hook, "pass_env = [\"TOPIC\"]\n"));
    house.until("it is started", || house.path(STATE).exists());
    asked(&house, "12", "hello \u{1b}[2J$(touch hacked)`touch hacked`\u{202e}olleh");
    house.until("an ask", || has(&hook, "ask"));
    let ask = told(&hook).remove(0);
    let text = ask["text"].as_str().unwrap();
    assert!(text.starts_with("ask 12: POST x /2/tweets"), "{text}");
    assert!(text.contains("$(touch hacked)") && text.ends_with("asks 12"), "{text}");
    assert!(!text.contains(|letter: char| letter.is_control() || letter == '\u{202e}'), "{text:?}");
    assert_eq!(ask["house"], house.root.display().to_string());
    assert!(ask["at"].as_str().unwrap().ends_with('Z') && ask["notices"][0]["times"] == 1);
    let beside = |name: &str| fs::read_to_string(hook.with_added_extension("d").join(name)).unwrap();
    assert_eq!(beside("args"), "an argument\n");
    let env = beside("env");
    let env: BTreeMap<&str, &str> = env.lines().filter_map(|line| line.split_once('=')).collect();
    assert!(env.contains_key("PATH") && env.get("TOPIC") == Some(&"heron"), "{env:?}");
    assert!(!env.values().any(|value| value.contains("sk-ant")) && !env.contains_key("PAGER"), "{env:?}");
    assert!(!env.contains_key("FERAL_NOTICES"), "{env:?}");

    let good = house.read("owner.toml");
    house.write("owner.toml", &format!("{good}[limist]\n"));
    house.until("settings", || has(&hook, "settings"));
    let settings = notices(&hook).into_iter().find(|notice| notice["what"] == "settings").unwrap();
    assert!(settings["text"].as_str().unwrap().contains("did you mean limits?"), "{settings}");
    house.write("owner.toml", &good);
    house.write(".self/die", "");
    house.until("a death and a fall", || has(&hook, "death") && has(&hook, "fall"));
    let of = |what: &str| notices(&hook).into_iter().filter(|one| one["what"] == what).collect::<Vec<_>>();
    assert!(of("death")[0]["text"].as_str().unwrap().contains("crashed (exit status 101), blamed on code"));
    assert!(of("fall")[0]["text"].as_str().unwrap().contains("put creature back to"), "{:?}", of("fall"));
    assert!(of("death").len() <= 2, "the first at once, the others with the fall: {:?}", of("death"));
    guardian.stop();
    assert_eq!(house.leftovers(), [] as [i32; 0]);
    assert!(!house.path("hacked").exists());
}

#[test]
fn killed_at_any_moment_it_tells_nothing_twice_and_loses_nothing_uncounted() {
    let house = House::new(SOUND);
    let hook = program(&house, "tell", WRITES);
    let settings = notify(&hook, "");
    let first = start(&house, &settings, None);
    house.until("it has looked", || house.path(STATE).exists());
    drop(end(first));
    for number in 0..12 {
        asked(&house, &number.to_string(), "hello");
        let child = start(&house, &settings, None);
        // From before it has read anything to after all is told.
        std::thread::sleep(std::time::Duration::from_millis(number * 7));
        end(child);
    }
    let child = start(&house, &settings, None);
    house.until("nothing waits", || {
        let state = kept(&house);
        state.asks.len() == 12 && state.waiting.is_empty() && state.handed_over == 0
    });
    end(child);
    // A program may still write what it was handed before the kill.
    house.until("each is told or counted", || {
        let names = notices(&hook).into_iter().map(|one| one["text"].as_str().unwrap()[..6].to_owned());
        let names: Vec<String> = names.collect();
        let mut once = names.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), names.len(), "told twice: {names:?}");
        let untold =
            told(&hook).iter().filter_map(|one| before(one["text"].as_str().unwrap())).sum::<usize>();
        names.len() + untold + kept(&house).untold as usize >= 12
    });
}

/// How many a sending says could not be told before.
fn before(text: &str) -> Option<usize> {
    text.lines().last()?.strip_suffix(" before could not be told")?.parse().ok()
}

#[test]
fn a_garbage_cursor_tells_what_waits_and_nothing_old() {
    let house = House::new(SOUND);
    let hook = program(&house, "tell", WRITES);
    die(&house, 6, "0f1e2d3");
    asked(&house, "1", "hello");
    for garbage in ["", "{", "[1]", "{\"asks\":7}", "{\"deaths\":{\"inode\":\"x\"}}"] {
        house.write(STATE, garbage);
        let before = told(&hook).len();
        let child = start(&house, &notify(&hook, ""), None);
        house.until("the ask is told", || told(&hook).len() > before);
        end(child);
        let bytes = house.path(".self/deaths.jsonl").metadata().unwrap().len();
        assert_eq!(kept(&house).deaths.unwrap().place, bytes, "{garbage}: what is old is passed over");
        assert!(!has(&hook, "death"), "{garbage}: {:?}", notices(&hook));
    }
    // Into the middle of a line, and behind the end: what follows is told.
    for place in [5_u64, 5_000] {
        let cursor =
            json!({"inode": house.path(".self/deaths.jsonl").metadata().unwrap().ino(), "place": place});
        house.write(STATE, &json!({"deaths": cursor, "asks": ["1"]}).to_string());
        let before = told(&hook).len();
        die(&house, 7 + place, "0f1e2d3");
        let child = start(&house, &notify(&hook, ""), None);
        house.until("the death is told", || told(&hook).len() > before);
        end(child);
        let last = notices(&hook).pop().unwrap();
        assert!(last["text"].as_str().unwrap().starts_with(&format!("life {} crashed", 7 + place)), "{last}");
    }
    // A pipe in its place is no state, and is not waited for.
    fs::remove_file(house.path(STATE)).unwrap();
    nix::unistd::mkfifo(&house.path(STATE), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let before = told(&hook).len();
    let child = start(&house, &notify(&hook, ""), None);
    house.until("the ask is told", || told(&hook).len() > before);
    end(child);
}

#[test]
fn what_happened_while_it_was_away_is_told_once_gathered_and_what_was_answered_not_at_all() {
    let house = House::new(SOUND);
    let hook = program(&house, "tell", WRITES);
    let settings = notify(&hook, "");
    end_after_a_look(&house, &settings);
    (0..60).for_each(|life| die(&house, life, "0f1e2d3"));
    asked(&house, "1", "hello");
    asked(&house, "2", "hello");
    let answered = json!({"at": "2026-01-02T03:04:06.000Z", "id": "1", "event": "approved", "digest": "d1"});
    house.write(".self/asks.jsonl", &format!("{}{answered}\n", house.read(".self/asks.jsonl")));
    for _ in 0..3 {
        let child = start(&house, &settings, None);
        house.until("it is told", || told(&hook).len() == 1 && kept(&house).handed_over == 0);
        end(child);
    }
    let told = told(&hook).remove(0);
    let texts: Vec<&str> = told["text"].as_str().unwrap().lines().collect();
    assert!(texts[0].starts_with("ask 2: ") && texts.len() == 2, "{texts:?}");
    assert!(texts[1].starts_with("60 times, last: life 59 crashed"), "{texts:?}");
}

/// Has it note how far everything is read.
fn end_after_a_look(house: &House, settings: &str) {
    let child = start(house, settings, None);
    house.until("it has looked", || house.path(STATE).exists());
    end(child);
}

#[test]
fn money_and_models_are_told_once_and_again_when_they_change() {
    let house = House::new(SOUND).with_false_broker("test \"$1\" = --check && exit 0; sleep 1000");
    let hook = program(&house, "tell", WRITES);
    house.settings(&notify(&hook, ""));
    let page = |spent: f64, state: &str| {
        let model = json!({"model": "herons-5 \u{1b}[2J", "upstream": "api.example:443", "state": state,
            "since": "2026-01-02T03:04:05.000Z", "status": 529, "error": "overloaded"});
        let caps = json!([{"span": "day", "spent_usd": spent, "cap_usd": 5.0}, {"span": "week", "spent_usd": spent, "cap_usd": 0.0}]);
        house.write(
            ".self/budget.json",
            &json!({"at": "2026-01-02T03:04:05.000Z", "caps": caps, "models": [model]}).to_string(),
        );
    };
    page(3.9, "up");
    let guardian = house.start();
    house.until_broker(None);
    page(4.04, "up");
    house.until("the budget", || has(&hook, "budget"));
    page(4.1, "down");
    house.until("it is down", || has(&hook, "model_down"));
    page(0.0, "up");
    house.until("it is up", || has(&hook, "model_up"));
    page(4.2, "up");
    house.until("a new day's budget", || {
        notices(&hook).iter().filter(|one| one["what"] == "budget").count() == 2
    });
    let texts: Vec<String> =
        notices(&hook).iter().map(|one| one["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(texts[0], "80 % of what may be spent today is spent: 4.04 of 5.00 USD");
    assert!(
        texts[1].starts_with("herons-5 \\u{1b}[2J at api.example:443 has not answered since"),
        "{texts:?}"
    );
    assert!(texts[2].starts_with("it answers again: herons-5") && texts.len() == 4, "{texts:?}");
    guardian.stop();
}

#[test]
fn a_desktop_is_told_in_words_of_our_own() {
    let house = House::new(SOUND);
    let fake = program(&house, "notify-send", WRITES);
    let path = format!("{}:{}", fake.parent().unwrap().display(), std::env::var("PATH").unwrap());
    end_after_a_look(&house, "[notify]\ngather_s = 0\n");
    asked(&house, "12", "<b>hello</b> --urgency=critical");
    die(&house, 7, "--icon=x");
    let off = start(&house, "[notify]\ngather_s = 0\ndesktop = false\n", Some(&path));
    house.until("it has looked", || kept(&house).deaths.is_none());
    end(off);
    assert!(!fake.with_added_extension("d").exists(), "as the owner wants it");
    house.write(STATE, &json!({"deaths": {"inode": 0, "place": 0}}).to_string());
    let child = start(&house, "[notify]\ngather_s = 0\n", Some(&path));
    let args = fake.with_added_extension("d").join("args");
    house.until("it is shown", || fs::read_to_string(&args).is_ok_and(|args| args.lines().count() >= 5));
    end(child);
    let args = fs::read_to_string(args).unwrap();
    let name = house.root.file_name().unwrap().to_str().unwrap();
    let own = "ask 12 waits for your word\nlife 7 crashed, blamed on code";
    assert_eq!(args, format!("--app-name=feral\n--\n{name}\n{own}\n"));
}

#[test]
fn a_program_that_fails_is_one_plain_line_and_the_guardian_lives() {
    let scripts = [
        (
            "fails",
            "#!/bin/sh\necho 'no \u{1b}[2J such topic' >&2\nexit 7\n",
            "ended with exit status 7; no \\u{1b}[2J such topic; see .self/log/notices.log",
        ),
        (
            "overstays",
            "#!/bin/sh\nsleep 1000 & sleep 1000\n",
            "was ended after 1 s; see .self/log/notices.log",
        ),
        ("is killed", "#!/bin/sh\nkill -9 $$\n", "was ended by signal 9"),
        ("is none", "no program\n", "cannot be started: "),
    ];
    for (name, script, expected) in scripts {
        let house = House::new(SOUND);
        let hook = program(&house, name, script);
        house.settings(&notify(&hook, "limit_s = 1\n"));
        let guardian = house.start();
        for number in 1..=3 {
            house.until("it has looked", || house.path(STATE).exists());
            asked(&house, &number.to_string(), "hello");
            house.until("it failed", || kept(&house).untold >= number && kept(&house).handed_over == 0);
        }
        let log = fs::read_to_string(&guardian.log).unwrap();
        let told: Vec<&str> =
            log.lines().filter(|line| line.contains("a notice could not be told")).collect();
        assert!(told.len() == 1 && told[0].contains(expected), "{name}: {told:?}");
        assert!(!house.status()["creature_pid"].is_null(), "{name}");
        assert_eq!(kept(&house).untold, 3, "{name}");
        guardian.stop();
        assert_eq!(house.leftovers(), [] as [i32; 0], "{name}");
    }
}

#[test]
fn killed_it_is_started_again_and_nothing_else_is_touched() {
    let house = House::new(SOUND);
    let hook = program(&house, "tell", WRITES);
    house.settings(&notify(&hook, ""));
    let guardian = house.start();
    house.until("it has looked", || house.path(STATE).exists() && !house.thoughts().is_empty());
    house.until("a life that is told", || house.status()["creature_pid"].is_number());
    let creature = house.status()["creature_pid"].clone();
    let it = || house.leftovers().into_iter().find(|pid| cmdline(*pid).contains("notices"));
    kill(Pid::from_raw(it().unwrap()), Signal::SIGKILL).unwrap();
    house.until("it is gone", || it().is_none());
    asked(&house, "1", "hello");
    // Other settings are taken up at once; by itself it comes back after a minute.
    house.settings(&notify(&hook, "limit_s = 7\n"));
    house.until("it is told", || has(&hook, "ask"));
    assert_eq!(house.status()["creature_pid"], creature);
    assert_eq!(house.deaths().len(), 0);
    house.settings("");
    house.until("none is wanted, none runs", || it().is_none());
    guardian.stop();
}

fn cmdline(pid: i32) -> String {
    String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()).replace('\0', " ")
}

/// Found: a death written right before its file was moved aside was never told.
#[test]
fn a_death_written_right_before_its_file_is_moved_aside_is_told() {
    let house = House::new(SOUND);
    let hook = program(&house, "tell", WRITES);
    die(&house, 1, "1111111");
    let child = start(&house, &notify(&hook, ""), None);
    house.until("its first look", || house.path(STATE).exists());
    let pid = Pid::from_raw(child.id() as i32);
    kill(pid, Signal::SIGSTOP).unwrap();
    die(&house, 2, "2222222");
    fs::rename(house.path(".self/deaths.jsonl"), house.path(".self/deaths-before.jsonl")).unwrap();
    die(&house, 3, "3333333");
    kill(pid, Signal::SIGCONT).unwrap();
    let is_told = |life: u64| {
        notices(&hook).iter().any(|told| told["text"].as_str().unwrap().starts_with(&format!("life {life} ")))
    };
    house.until("the death after it", || is_told(3));
    assert!(is_told(2), "{:?}", notices(&hook));
    assert!(!is_told(1), "it was there before the first look");
    end(child);
}
