//! MCP servers that stay down, as the owner is told of them.

use crate::notices::{WRITES, has, notices, notify, program};
use serde_json::{Value, json};
use trials::{House, SOUND};

#[test]
fn mcp_servers_that_stay_down_or_want_a_sign_in_are_told_once_and_again_when_they_are_up() {
    let house = House::new(SOUND).with_false_broker("test \"$1\" = --check && exit 0; sleep 1000");
    let hook = program(&house, "tell", WRITES);
    house.settings(&notify(&hook, ""));
    let ago = |minutes: i64| (jiff::Timestamp::now() - jiff::SignedDuration::from_mins(minutes)).to_string();
    let page = |of: &[(&str, &str, &str, String)]| {
        let servers: Vec<Value> = of
            .iter()
            .map(|(name, state, why, since)| json!({"server": name, "state": state, "trouble": why, "down_since": since}))
            .collect();
        house.write(
            ".self/budget.json",
            &json!({"at": "2026-01-02T03:04:05.000Z", "mcp": servers}).to_string(),
        );
    };
    let wants = "it wants a sign-in of the owner's: feral mcp sign-in tickets";
    page(&[("tickets", "up", "", String::new())]);
    let guardian = house.start();
    house.until_broker(None);
    page(&[
        ("young", "down", "young ended", ago(1)),
        ("files", "down", "files \u{1b}[2J ended", ago(4)),
        ("tickets", "down", wants, ago(0)),
    ]);
    let of = |what: &str| notices(&hook).into_iter().filter(|one| one["what"] == what).collect::<Vec<_>>();
    house.until("both are told", || {
        of("server_down").iter().map(|one| one["times"].as_u64().unwrap_or(1)).sum::<u64>() == 2
    });
    page(&[("files", "opening", "", ago(5)), ("tickets", "up", "", String::new())]);
    house.until("it is up", || has(&hook, "server_up"));
    let told = format!("{:?}", notices(&hook));
    assert!(told.contains("mcp sign-in tickets") && told.contains("tickets is up again"), "{told}");
    assert!(!told.contains("young") && !told.contains("files is up"), "{told}");
    guardian.stop();
}
