//! Sessions of a page that is served: stolen, ended, signed out of, outlived; two tabs; and who reads the files wins nothing.

use crate::served::{Browser, PASSWORD, Phone, command, held, house, set_password};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use trials::said;

#[test]
fn a_session_is_a_cookie_of_this_host_alone_and_no_file_holds_it() {
    let house = house("");
    set_password(&house, PASSWORD);
    let phone = Phone::of(&house);
    let mut browser = Browser::new(&phone);
    assert_eq!(browser.get("/").header("location"), Some("/sign-in"));
    assert_eq!(browser.get("/asks/1").status, 303);
    let answer = browser.sign_in(PASSWORD);
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")));
    let name = format!("__Host-feral-{}", phone.at.port());
    let set = answer.head.lines().find(|line| line.contains(&format!("{name}="))).unwrap();
    assert!(set.ends_with("; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=2592000"), "{set}");
    let cookie = answer.cookie(&name).unwrap();
    let (_, secret) = cookie.split_once('=').unwrap();
    assert_eq!(secret.len(), 64);
    assert!(browser.is_within());
    let files = house.path(".self/broker/page");
    assert_eq!(std::fs::metadata(&files).unwrap().permissions().mode() & 0o777, 0o700);
    for file in std::fs::read_dir(&files).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600,
            "{}",
            path.display()
        );
        let text = std::fs::read_to_string(&path).unwrap();
        for part in [secret, PASSWORD] {
            assert!(!text.contains(part), "{}", path.display());
        }
    }
    // Whoever reads its digest there is not let in by that.
    let digest = held(&house, "sessions.json")["sessions"][0]["digest"].as_str().unwrap().to_owned();
    let thief = Browser { cookies: vec![format!("{name}={digest}")], ..Browser::new(&phone) };
    assert!(!thief.is_within());
}

/// A cookie that was stolen lets in whoever has it, until its session is ended: it is bound to nothing else, for a phone
/// changes all of that.
#[test]
fn a_stolen_session_is_good_until_it_is_ended_and_not_a_moment_longer() {
    let house = house("");
    set_password(&house, PASSWORD);
    let phone = Phone::of(&house);
    let mut owner = Browser::within(&phone);
    let mut stolen = Browser::within(&phone);
    let thief = Browser { cookies: stolen.cookies.clone(), ..Browser::new(&phone) };
    let moved = ["X-Forwarded-For: 203.0.113.7".to_owned(), "User-Agent: curl/9".to_owned()];
    assert_eq!(thief.get_with("/talk", &moved).status, 200);
    let acts = stolen.act("/talk", "/say");
    // It follows when it ends.
    let (mut stream, _) = crate::client::open(phone.at).unwrap();
    let cookie = thief.cookies.join("; ");
    write!(stream, "GET /stream HTTP/1.1\r\nHost: {}\r\nCookie: {cookie}\r\n\r\n", thief.host).unwrap();
    let mut follows = BufReader::new(stream).lines();
    follows.by_ref().map(Result::unwrap).find(|line| line == "event: status").expect("it follows");
    let listed = said(&command(&house, &["sessions"], ""));
    assert_eq!(listed.matches("Chrome on Android, by password from 127.0.0.1").count(), 2, "{listed}");
    let id = held(&house, "sessions.json")["sessions"][1]["id"].as_str().unwrap().to_owned();
    let shown = owner.get("/sessions").body;
    assert!(shown.contains(&format!("/sessions/{id}/end")) && shown.contains("this one"), "{shown}");
    assert_eq!(owner.does("/sessions", &format!("/sessions/{id}/end"), &[]).status, 303);
    assert!(!thief.is_within() && owner.is_within());
    let refused = stolen.post("/say", &[("words", "still here"), ("act", &acts)]);
    assert_eq!(refused.status, 403);
    assert!(refused.body.contains("its session has ended"), "{}", refused.body);
    assert!(!house.path(".self/inbox.jsonl").exists());
    follows
        .by_ref()
        .map_while(Result::ok)
        .find(|line| line.contains("This browser is out"))
        .expect("it is told");
    assert!(
        follows.map_while(Result::ok).all(|line| line.trim().is_empty() || line == "0"),
        "and then no more"
    );
}

#[test]
fn the_terminal_ends_one_or_all_and_a_new_password_ends_every_one() {
    let house = house("");
    set_password(&house, PASSWORD);
    let phone = Phone::of(&house);
    let (one, other) = (Browser::within(&phone), Browser::within(&phone));
    let id = held(&house, "sessions.json")["sessions"][0]["id"].as_str().unwrap().to_owned();
    assert!(said(&command(&house, &["sessions", "end", &id], "")).contains("has ended"));
    assert!(!one.is_within() && other.is_within());
    let again = command(&house, &["sessions", "end", &id], "");
    assert_eq!(again.status.code(), Some(1));
    assert!(said(&again).contains("there is no session"), "{}", said(&again));
    let third = Browser::within(&phone);
    assert!(said(&command(&house, &["sessions", "end-all"], "")).contains("ended: 2"));
    assert!(!other.is_within() && !third.is_within());
    assert!(said(&command(&house, &["sessions"], "")).contains("Nobody is signed in"));
    let last = Browser::within(&phone);
    set_password(&house, "twelve and more letters");
    assert!(!last.is_within());
    assert_eq!(Browser::new(&phone).sign_in(PASSWORD).status, 401, "the old one is none");
    assert_eq!(Browser::new(&phone).sign_in("twelve and more letters").status, 303);
}

#[test]
fn two_tabs_are_one_session_and_acts_are_of_the_session_they_were_shown_in() {
    let house = house("");
    set_password(&house, PASSWORD);
    let phone = Phone::of(&house);
    let mut tab = Browser::within(&phone);
    let mut second = Browser { cookies: tab.cookies.clone(), ..Browser::new(&phone) };
    let (first_act, second_act) = (tab.act("/talk", "/say"), second.act("/talk", "/say"));
    assert_eq!(second.post("/say", &[("words", "from the second"), ("act", &second_act)]).status, 303);
    assert_eq!(tab.post("/say", &[("words", "from the first"), ("act", &first_act)]).status, 303);
    assert_eq!(tab.post("/say", &[("words", "once more"), ("act", &first_act)]).status, 409);
    // Another session's token is none, though both are the owner's.
    let mut other = Browser::within(&phone);
    let of_other = other.act("/talk", "/say");
    assert_eq!(tab.post("/say", &[("words", "by another's"), ("act", &of_other)]).status, 409);
    let out = tab.does("/", "/sign-out", &[]);
    assert_eq!((out.status, out.header("location")), (303, Some("/sign-in")));
    assert_eq!(out.header("clear-site-data"), Some("\"cache\""));
    assert!(out.head.contains("Max-Age=0"), "{}", out.head);
    assert!(!second.is_within() && other.is_within(), "the other tab is out as well");
    assert_eq!(other.post("/say", &[("words", "mine"), ("act", &of_other)]).status, 303);
    let inbox = house.read(".self/inbox.jsonl");
    assert!(
        inbox.contains("from the second") && inbox.contains("from the first") && !inbox.contains("once more"),
        "{inbox}"
    );
}

/// The back button shows nothing after a sign-out: no answer is kept by a browser.
#[test]
fn no_answer_is_kept_by_a_browser() {
    let house = house("");
    set_password(&house, PASSWORD);
    let phone = Phone::of(&house);
    let browser = Browser::within(&phone);
    for path in ["/", "/talk", "/sessions", "/sign-in", "/style.css", "/app.webmanifest", "/nothing"] {
        assert_eq!(browser.get(path).header("cache-control"), Some("no-store"), "{path}");
    }
}

#[test]
fn a_session_outlives_the_program_and_not_its_time() {
    let house = house("");
    set_password(&house, PASSWORD);
    let phone = Phone::of(&house);
    let (port, within) = (phone.at.port(), Browser::within(&phone));
    phone.kill();
    house.settings(&format!("[page]\nlisten = \"127.0.0.1:{port}\"\n"));
    let phone = Phone::of(&house);
    assert!(within.is_within(), "killed at any moment it forgets nobody");
    let mut kept = held(&house, "sessions.json");
    let long_ago = kept["sessions"][0]["since_ms"].as_u64().unwrap() - 31 * 24 * 60 * 60 * 1_000;
    kept["sessions"][0]["since_ms"] = long_ago.into();
    house.write(".self/broker/page/sessions.json", &kept.to_string());
    assert!(!within.is_within());
    drop(phone);
}
