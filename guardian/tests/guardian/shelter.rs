//! What can end a life from inside and from outside, and how its end is told from one to the other.

use serde_json::json;
use std::fs;
use trials::House;

/// The program of a house's life, as this process numbers it.
fn program(house: &House) -> i32 {
    let init = house.status()["creature_pid"].as_i64().unwrap();
    let below = fs::read_to_string(format!("/proc/{init}/task/{init}/children")).unwrap();
    below.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn an_end_is_told_as_it_was_through_the_first_process() {
    for (end, cause) in
        [("exit 7", "exit status 7"), ("kill -SEGV $$", "signal SIGSEGV"), ("exit 137", "exit status 137")]
    {
        let house = House::new(&format!("think x; {end}"));
        let guardian = house.start();
        house.until("a death", || !house.deaths().is_empty());
        assert_eq!(house.deaths()[0]["cause"], cause);
        guardian.stop();
    }
}

#[test]
fn nothing_inside_kills_the_program_and_who_does_is_outside() {
    let tries = "kill -KILL $$ || think refused; kill -KILL -$$ || think refused; kill -KILL 0 || think refused; \
                 kill -KILL -1 || think refused; live";
    let house = House::new(&format!("think x; test $FERAL_LIFE -gt 1 || {{ {tries}; }}; live"));
    let guardian = house.start();
    house.until("four refusals", || {
        house.thoughts().iter().filter(|thought| thought["data"]["monologue"] == "refused").count() == 4
    });
    assert_eq!(house.deaths(), Vec::<serde_json::Value>::new());
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(program(&house)), nix::sys::signal::Signal::SIGKILL)
        .unwrap();
    house.until("its end", || house.deaths().len() == 1);
    let death = &house.deaths()[0];
    assert_eq!((&death["cause"], &death["blame"]), (&json!("signal SIGKILL"), &json!("owner")));
    guardian.stop();
}

/// Found by attacking: the token of a life was good for as long as anything of it could be kept running.
#[test]
fn a_token_ends_with_its_life() {
    let house = House::new("think x; exit 3")
        .with_false_broker("case $1 in --check) exit 0 ;; esac; exec sleep 1000");
    let guardian = house.start();
    house.until("a death", || !house.deaths().is_empty());
    guardian.stop();
    assert_eq!(house.read(".self/broker/tokens.json"), json!({"life": null, "build": null}).to_string());
}
