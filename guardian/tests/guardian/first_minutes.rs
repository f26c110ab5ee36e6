//! The first minutes: what is said at a terminal before anything lives, the bar below it, and in which order all is built.

use crate::broker_process::{copies_it, own_target};
use guardian::act::first_minutes::{Opening, opening};
use guardian::act::report::{Progress, bar};
use std::fs;
use trials::House;
use trials::terminal::Terminal;

/// Builds once it may, after it said that it began.
const WAITS: &str = "touch .self/workspace/began; until test -e .self/workspace/go; do sleep 0.05; done\n";

fn houses(life: &str) -> House {
    let house = House::new(life);
    fs::remove_file(house.path("owner.toml")).unwrap();
    house.write("creature/build.sh", WAITS);
    house.commit("a build that waits");
    house
}

#[test]
fn the_bar_fits_every_width_and_says_how_far_it_is_and_how_long_it_takes() {
    let progress = Progress { done: 90, most: 180, last: "serde_json", passed_ms: 20_000 };
    let wordings = bar(&progress);
    let fitting = |room: usize| wordings.iter().find(|text| text.len() <= room).unwrap();
    assert_eq!(fitting(39), "[========........] 90/180, 20 s left");
    assert_eq!(fitting(79), "[========........] 90 of 180 crates, 20 s left: serde_json");
    let long = bar(&Progress { done: 1_000, most: 1_000, last: &"x".repeat(99), passed_ms: 9_999_000 });
    assert!(long[0].len() < 80, "it does not come and go with the names: {}", long[0]);
    assert!(wordings.windows(2).all(|pair| pair[0].len() > pair[1].len()), "{wordings:?}");
    // Of a manifest that names fewer packages than are built, and of none.
    for (done, most) in [(0, 0), (7, 0), (9, 3)] {
        let wordings = bar(&Progress { done, most, last: "x", passed_ms: 1 });
        assert!(wordings[2].starts_with(&format!("{done}/")), "{wordings:?}");
    }
    assert!(bar(&Progress { done: 1, most: 180, passed_ms: 3_000, last: "" })[2].ends_with("3 s"));
}

/// The opening screen as one text.
fn told(walls: (&str, &str), has_broker: bool, may_have_key: bool) -> String {
    let rows = opening(&Opening { branch: "main", walls, has_broker, may_have_key });
    rows.into_iter().map(|(name, text)| format!("{name} {text}\n")).collect()
}

/// Found: with a key in `.env` the first screen said "on instinct, without a key", and asked for one.
#[test]
fn the_opening_screen_knows_of_a_key_that_is_there_already() {
    for has_broker in [false, true] {
        let [without, with] = [false, true].map(|key| told(("full", "walls in full"), has_broker, key));
        assert!(without.contains("without a key") && without.contains("put a key for a model"), "{without}");
        assert!(!with.contains("without a key") && !with.contains("put a key"), "{with}");
        assert!(with.contains("PURPOSE.md") && with.contains("key"), "{with}");
    }
    assert!(told(("full", ""), true, true).contains("its first thought, with a model"));
    assert!(told(("full", ""), false, true).contains("takes up your key"));
}

/// Found: the same, on the screen itself.
#[test]
fn the_first_screen_of_a_house_with_a_key_asks_for_none() {
    let house = houses("think alive; live");
    house.write(".env", "ANTHROPIC_API_KEY=sk-ant-0123456789\n");
    let terminal = Terminal::run(own_target(&house, "exit 101"), 80);
    house.until("the build", || house.path(".self/workspace/began").exists());
    let text = one_line(&terminal.until("] 0"));
    assert!(text.contains("takes up your key") && !text.contains("without a key"), "{text}");
    house.write(".self/workspace/go", "");
    terminal.until("life 1 begins");
    terminal.end();
}

#[test]
fn the_opening_screen_tells_what_does_not_hold() {
    let told = |summary| told((summary, "walls in full"), false, false);
    assert!(told("off").contains("runs as you") && !told("off").contains("may not read"));
    assert!(told("partial: no tree").contains("as far as the walls below hold"));
    for summary in ["off", "full"] {
        for part in ["on main", "walls in full", "Not protected", ".env", "PURPOSE.md"] {
            assert!(told(summary).contains(part), "{part}: {}", told(summary));
        }
    }
}

/// Found: the facts came after the build, with the first thoughts, and had left a screen of 24 lines before they could be read.
#[test]
fn what_lives_here_is_said_before_the_build_and_fits_a_screen() {
    for columns in [40, 80] {
        let house = houses("think alive; live");
        let terminal = Terminal::run(own_target(&house, "exit 101"), columns);
        house.until("the build", || house.path(".self/workspace/began").exists());
        let text = terminal.until("] 0");
        for part in ["is about to live here", "may not", "Not protected", "its first build", ".env"] {
            assert!(one_line(&text).contains(part), "{part}: {text}");
        }
        let lines: Vec<&str> = text.lines().collect();
        let wide = lines
            .iter()
            .flat_map(|line| line.split(['\r', '\u{1b}']))
            .find(|line| line.trim_start_matches("[2K").chars().count() > usize::from(columns));
        assert_eq!(wide, None, "wider than {columns}");
        assert!(columns < 80 || lines.len() < 24, "{} lines: {text}", lines.len());
        house.write(".self/workspace/go", "");
        terminal.until("life 1 begins");
        terminal.end();
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Found: the broker's build took half the processors from the creature's, which needs none of it.
#[test]
fn the_creature_is_built_first_then_the_console_then_the_broker() {
    let house = houses("think alive; live");
    let mut command = own_target(&house, &copies_it("0"));
    let guardian = trials::Guardian::new(command.spawn().unwrap(), &house);
    house.until("the build", || house.path(".self/workspace/began").exists());
    house.until("the note", || house.broker()["note"] == "built as soon as the creature lives");
    assert!(!house.path(".self/workspace/built").exists(), "nothing is built beside it");
    assert_eq!(house.broker()["running"], false);
    house.write(".self/workspace/go", "");
    house.until_broker(None);
    assert_eq!(house.read(".self/workspace/built"), "console\nbroker\n");
    assert_eq!(house.status()["life"], 1, "the same life takes it up");
    assert!(house.deaths().is_empty() && house.told("broker_missing").is_empty());
    guardian.stop();
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}

/// A registry that is not warm: cargo knocks at the broker's door, and nobody else could let it through.
#[test]
fn a_build_that_has_to_fetch_something_gets_its_broker_at_once() {
    let house = houses("think alive; live");
    house.write(
        "creature/build.sh",
        "port=${CARGO_HTTP_PROXY##*:}; exec 3<>/dev/tcp/127.0.0.1/$port\n\
         printf 'CONNECT nowhere.invalid:443 HTTP/1.1\\r\\n\\r\\n' >&3; head -n 1 <&3 > .self/workspace/answer\n",
    );
    house.commit("a build that fetches");
    let cargo = house.folder.path().join("cargo");
    let mut command = own_target(&house, &copies_it("0"));
    let bash = fs::read_to_string(&cargo).unwrap().replace("sh creature/build.sh", "bash creature/build.sh");
    fs::write(&cargo, bash).unwrap();
    let guardian = trials::Guardian::new(command.spawn().unwrap(), &house);
    house.until("an answer", || house.read(".self/workspace/answer").starts_with("HTTP/1.1 407"));
    house.until("a life", || !house.thoughts().is_empty());
    guardian.stop();
}

/// The broker is not there yet to judge a key: what is saved meanwhile is neither lost nor taken for good unjudged.
#[test]
fn a_key_put_in_while_the_creature_is_built_is_noticed_and_judged_later() {
    let house = houses("think alive; live");
    let mut command = own_target(&house, &copies_it("0"));
    let guardian = trials::Guardian::new(command.spawn().unwrap(), &house);
    house.until("the build", || house.path(".self/workspace/began").exists());
    house.write(".env", "SOME_KEY=12345678\n");
    house.until("a word of it", || {
        fs::read_to_string(&guardian.log).unwrap().contains("judges them as soon as it is built")
    });
    assert!(house.told("settings_changed").is_empty());
    house.write(".self/workspace/go", "");
    house.until("its judgement", || house.told("settings_changed").len() == 1);
    house.until_broker(None);
    assert_eq!(house.status()["life"], 1, "without a restart");
    guardian.stop();
}
