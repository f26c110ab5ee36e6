//! What we write fits what reads it, whatever a creature made us tell.

use crate::support::{House, SOUND};
use guardian::house;
use guardian::state::State;
use serde_json::{Value, json};
use std::fs;

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
    let (_, rebuilt) = State::load(&house::House::new(&house.root));
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
    let own = house::House::new(&house.root);
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
