//! The single-use link of `page passkey`: good once and for ten minutes, and used up by nobody who only looks.

use crate::served::{Browser, PASSWORD, Phone, command, held, house, set_password};
use trials::{House, said};

fn link(house: &House) -> String {
    let output = command(house, &["passkey"], "");
    assert!(output.status.success(), "{}", said(&output));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn it_signs_in_once_and_leads_to_where_a_passkey_is_added() {
    let house = house("host = \"house.example.org\"\n");
    set_password(&house, PASSWORD);
    let phone = Phone::of(&house);
    let link = link(&house);
    let (begin, token) = link.split_once("/invited?token=").unwrap();
    assert_eq!(begin, format!("https://house.example.org:{}", phone.at.port()));
    assert!(!house.read(".self/broker/page/invitation.json").contains(token));
    let mut browser = Browser { host: "house.example.org".into(), ..Browser::new(&phone) };
    // Programs that look at links before people do use none up.
    for _ in 0..3 {
        let shown = browser.get(&format!("/invited?token={token}"));
        assert!(shown.status == 200 && shown.body.contains("good once"), "{}", shown.body);
        assert!(shown.cookie("__Host").is_none());
    }
    for wrong in ["", "0", &token.replace(|letter| letter != '0', "1"), &token[1..]] {
        let answer = browser.post("/invited", &[("token", wrong)]);
        assert_eq!(answer.status, 401, "{wrong}");
        assert!(answer.body.contains("page passkey"), "{}", answer.body);
    }
    let answer = browser.post("/invited", &[("token", token)]);
    assert_eq!((answer.status, answer.header("location")), (303, Some("/sessions")));
    let shown = browser.get("/sessions").body;
    assert!(
        shown.contains("by link from 127.0.0.1") && shown.contains("Add a passkey of this device"),
        "{shown}"
    );
    assert_eq!(Browser::new(&phone).post("/invited", &[("token", token)]).status, 401, "it was used");
    house.until("that the tries are counted", || held(&house, "guesses.json")["failed"].as_u64() >= Some(1));
}

#[test]
fn it_ends_after_ten_minutes_and_with_the_next_one() {
    let house = house("host = \"house.example.org\"\n");
    let phone = Phone::of(&house);
    let token = |link: &str| link.split_once("token=").unwrap().1.to_owned();
    let (first, second) = (token(&link(&house)), token(&link(&house)));
    assert_eq!(Browser::new(&phone).post("/invited", &[("token", &first)]).status, 401);
    let kept = held(&house, "invitation.json");
    for shift in [-600_001_i64, 86_400_000] {
        let mut late = kept.clone();
        late["until_ms"] = (kept["until_ms"].as_i64().unwrap() + shift).into();
        house.write(".self/broker/page/invitation.json", &late.to_string());
        assert_eq!(Browser::new(&phone).post("/invited", &[("token", &second)]).status, 401, "{shift}");
    }
    house.write(".self/broker/page/invitation.json", &kept.to_string());
    assert_eq!(Browser::new(&phone).post("/invited", &[("token", &second)]).status, 303);
}

#[test]
fn without_a_name_there_is_none() {
    let house = house("");
    let output = command(&house, &["passkey"], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("set `host` under [page]"), "{}", said(&output));
}

/// What is no answer of an authenticator's lets nobody in, and a ceremony is good once.
#[test]
fn a_forged_passkey_lets_nobody_in() {
    let house = house("host = \"house.example.org\"\n");
    set_password(&house, PASSWORD);
    let phone = Phone::of(&house);
    let mut stranger = Browser::new(&phone);
    let none = stranger.post("/sign-in/passkey", &[]);
    assert!(none.status == 409 && none.body.contains("there is no passkey yet"), "{}", none.body);
    let mut within = Browser::within(&phone);
    let begun = within.does("/sessions", "/passkeys/add", &[]);
    assert_eq!(begun.status, 200, "{}", begun.body);
    let begun: serde_json::Value = serde_json::from_str(&begun.body).unwrap();
    let (number, act) = (begun["number"].as_str().unwrap(), begun["act"].as_str().unwrap());
    assert_eq!(begun["options"]["publicKey"]["rp"]["id"], "house.example.org");
    assert_eq!(begun["options"]["publicKey"]["authenticatorSelection"]["userVerification"], "required");
    for (answer, told) in [("{}", "cannot be read"), ("{}", "done once already")] {
        let fields = [("number", number), ("answer", answer), ("act", act)];
        let refused = within.post("/passkeys/finish", &fields);
        assert_eq!(refused.status, 409, "{told}: {}", refused.body);
    }
    let forged = stranger.post("/sign-in/passkey/finish", &[("number", number), ("answer", "{}")]);
    assert!(forged.status == 409 && forged.cookie("__Host").is_none(), "{}", forged.body);
    assert!(!stranger.is_within());
}

/// A passkey outlasts the session that added it, so a cookie that was stolen later than that adds none.
#[test]
fn a_passkey_is_added_soon_after_signing_in_alone() {
    let house = house("host = \"house.example.org\"\n");
    set_password(&house, PASSWORD);
    let phone = Phone::of(&house);
    let mut within = Browser::within(&phone);
    let act = within.act("/sessions", "/passkeys/add");
    let mut kept = held(&house, "sessions.json");
    let since_ms = kept["sessions"][0]["since_ms"].as_u64().unwrap();
    kept["sessions"][0]["since_ms"] = (since_ms - 15 * 60 * 1_000).into();
    house.write(".self/broker/page/sessions.json", &kept.to_string());
    let shown = within.get("/sessions").body;
    assert!(
        shown.contains("within 15 minutes after signing in") && !shown.contains("data-passkey"),
        "{shown}"
    );
    let refused = within.post("/passkeys/add", &[("act", &act)]);
    assert!(refused.status == 409 && refused.body.contains("sign out, and in again"), "{}", refused.body);
    assert_eq!(within.sign_in(PASSWORD).status, 303);
    assert_eq!(within.does("/sessions", "/passkeys/add", &[]).status, 200);
}

#[test]
fn a_new_password_ends_the_link_as_well() {
    let house = house("host = \"house.example.org\"\n");
    let phone = Phone::of(&house);
    let (_, token) =
        link(&house).split_once("token=").map(|(at, token)| (at.to_owned(), token.to_owned())).unwrap();
    set_password(&house, PASSWORD);
    assert_eq!(Browser::new(&phone).post("/invited", &[("token", &token)]).status, 401);
}
