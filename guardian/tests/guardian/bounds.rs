//! What we write fits what reads it, whatever a creature made us tell.

use guardian::act::state::State;
use guardian::limits::DOCUMENT_BYTES;
use house::paths;
use serde_json::{Value, json};
use std::fs;
use trials::caps::cap;
use trials::{House, SOUND};

/// Found: requests with a `kind` of 130 kB stood whole in the state, which was then too large to be read back.
#[test]
fn m2_requests_of_130_kb_leave_a_state_that_can_be_read_back() {
    let life = "think x; for n in a b c; do \
         { printf '{\"id\":\"%s\",\"life\":%s,\"kind\":\"' $n $FERAL_LIFE; head -c 130000 /dev/zero | tr '\\0' k; printf '\"}'; } > .self/mind/request.new; \
         mv .self/mind/request.new .self/mind/request.json; \
         until grep -q \"\\\"id\\\": \\\"$n\\\"\" .self/guardian.json; do beat; sleep 0.05; done; done; think asked; live";
    let house = House::new(life);
    let guardian = house.start();
    house.until("three refusals", || house.thoughts().len() == 2);
    let status = house.ask(&["status"]);
    let said = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(!said.contains("never started"), "{said}");
    assert!(house.ask(&["stop"]).status.success());
    drop(guardian);
    let (_, rebuilt) = State::load(&paths::House::new(&house.root));
    assert_eq!(rebuilt, None);
}

/// Every text at its longest, and of letters that take most room: U+0000 is seven bytes in JSON in JSON.
fn worst() -> State {
    let nothing = |bytes: usize| "\0".repeat(bytes);
    let mut state = State::default();
    for life in 0..20 {
        state.tell_end(json!({"life": life, "cause": nothing(100_000), "log_tail": nothing(100_000)}));
        state.tell_fall(json!({"life": life, "told": nothing(100_000), "rescued_ref": nothing(3_000)}));
        state
            .tell_answer(json!({"id": nothing(64), "error": nothing(130_000), "hint": "\"".repeat(130_000)}));
    }
    (state.born, state.life) = (Some(nothing(100_000)), 7);
    state
}

#[test]
fn m2_a_state_at_its_worst_is_read_back() {
    let house = House::new(SOUND);
    let own = paths::House::new(&house.root);
    fs::create_dir_all(own.own()).unwrap();
    worst().save(&own).unwrap();
    let (state, rebuilt) = State::load(&own);
    assert_eq!(rebuilt, None);
    assert_eq!(state.life, 7);
    let newest = |list: &[Value], name: &str| list.last().unwrap()[name].clone();
    assert_eq!(
        (newest(&state.ends, "life"), newest(&state.falls, "life")),
        (19.into(), 19.into()),
        "the newest stay"
    );
    assert_eq!(newest(&state.answers, "id"), "\0".repeat(64), "and whole are their names");
}

/// Every file of ours that is read back with a cap: at its worst, no larger than the least that any reader takes.
#[test]
fn what_is_read_back_with_a_cap_is_never_written_beyond_it() {
    let house = House::new(SOUND);
    let own = paths::House::new(&house.root);
    fs::create_dir_all(own.own()).unwrap();
    let guardians = cap("ground/src/files.rs", "SMALL_FILE_BYTES");
    let brokers = cap("broker/src/ground/files.rs", "SMALL_FILE_BYTES");
    let creatures = cap("creature/src/senses/guardian.rs", "MOST_BYTES");
    assert_eq!((guardians, brokers), (256 << 10, 1 << 20), "caps are read as they are written");

    worst().save(&own).unwrap();
    let state = fs::metadata(own.state()).unwrap().len();
    assert!(state <= guardians, "state.json: {state} bytes");

    assert!((DOCUMENT_BYTES as u64) < guardians.min(creatures), "guardian.json is written by that measure");
    let document = serde_json::to_value(worst()).unwrap();
    let told = house::bounds::fitted(document, DOCUMENT_BYTES, |document| format!("{document:#}\n"));
    assert!(told.len() <= DOCUMENT_BYTES, "guardian.json: {} bytes", told.len());

    let long = "\0".repeat(600);
    let said = guardian::orders::give(&own, "rollback", Some(long)).unwrap_err().to_string();
    assert!(said.contains("600 bytes"), "order.json is not written: {said}");

    let mut tokens = guardian::act::tokens::Tokens::default();
    tokens.fresh(&own, Some(u64::MAX)).unwrap();
    tokens.fresh(&own, None).unwrap();
    let tokens = fs::metadata(own.tokens()).unwrap().len();
    assert!(tokens <= brokers, "tokens.json: {tokens} bytes");

    // A line is looked for among the last, to be told once.
    let told = json!({"told": "\0".repeat(300_000)});
    house::records::tell(&own, "settings_refused", told.clone());
    house::records::bury(&own, &told);
    for path in [own.history(), own.deaths()] {
        let bytes = fs::metadata(&path).unwrap().len();
        assert!(bytes <= 64 << 10, "{}: {bytes} bytes", path.display());
        assert_eq!(house::records::of(&path).count(), 1);
    }

    // What the creature writes and we read, by no smaller measure than its own.
    assert!(
        cap("house/src/records/mod.rs", "LONGEST_LINE")
            >= cap("creature/crates/memory/src/log.rs", "MAX_LINE"),
        "a record of memory"
    );
    // The owner's own words are refused at the start by the least of all readers.
    assert!(guardians <= brokers.min(cap("creature/src/config.rs", "MOST_BYTES")), "owner.toml");
}
