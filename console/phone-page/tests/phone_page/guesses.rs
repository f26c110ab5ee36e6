//! Guessing at the password: waits that grow and end, over restarts and addresses, and never lock the owner out.

use crate::served::{Browser, PASSWORD, Phone, command, held, house, set_password};
use phone_page::guesses::{Guesses, Whose};
use phone_page::password::{self, Kept};
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;

const HOUR_MS: u64 = 60 * 60 * 1_000;

fn stranger(address: &str) -> Whose {
    Whose::Strangers(address.parse().unwrap())
}

fn fail(guesses: &mut Guesses, whose: &Whose, times: u32, now_ms: u64) {
    for _ in 0..times {
        guesses.begin(whose, IpAddr::from([192, 0, 2, 1]), now_ms);
    }
}

#[test]
fn an_address_waits_longer_with_each_failure_and_never_longer_than_a_quarter_of_an_hour() {
    let (mut guesses, one) = (Guesses::default(), stranger("192.0.2.1"));
    fail(&mut guesses, &one, 4, 1_000);
    assert_eq!(guesses.wait_ms(&one, 1_000), 0);
    let mut waits = Vec::new();
    for _ in 0..15 {
        fail(&mut guesses, &one, 1, 1_000);
        waits.push(guesses.wait_ms(&one, 1_000) / 1_000);
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900, 900, 900]);
    assert_eq!(guesses.wait_ms(&one, 1_000 + 899_000), 1_000);
    assert_eq!(guesses.wait_ms(&one, 1_000 + 900_000), 0);
    // After a day none of them is remembered.
    assert_eq!(guesses.wait_ms(&one, 1_000 + 24 * HOUR_MS), 0);
    fail(&mut guesses, &one, 1, 1_000 + 24 * HOUR_MS);
    assert_eq!(guesses.wait_ms(&one, 1_000 + 24 * HOUR_MS), 0);
}

/// Of a clock that was set back by however much: whoever waits now need not wait until it gets there again.
#[test]
fn a_clock_that_is_set_back_makes_no_wait_that_does_not_end() {
    let year_ms = 365 * 24 * HOUR_MS;
    for (back_ms, most_ms) in
        [(0, 900_000), (60_000, 960_000), (900_000, 1_800_000), (HOUR_MS, 0), (year_ms, 0)]
    {
        let (mut guesses, one) = (Guesses::default(), stranger("192.0.2.1"));
        fail(&mut guesses, &one, 40, 2 * year_ms);
        let set_back_ms = 2 * year_ms - back_ms;
        assert!(guesses.wait_ms(&one, set_back_ms) <= 900_000, "{back_ms}");
        assert_eq!(guesses.wait_ms(&one, set_back_ms + most_ms), 0, "{back_ms}");
        fail(&mut guesses, &one, 1, set_back_ms);
        assert_eq!(guesses.wait_ms(&one, set_back_ms), 900_000, "and the next failure counts on from there");
    }
}

#[test]
fn many_addresses_wait_for_one_another_and_a_browser_that_was_here_for_none() {
    let mut guesses = Guesses::default();
    for number in 0..200 {
        fail(&mut guesses, &stranger(&format!("198.51.100.{number}")), 1, 5_000);
    }
    assert_eq!(guesses.wait_ms(&stranger("203.0.113.9"), 5_000), 60_000, "the longest of all strangers");
    let known = Whose::Known("d1".into());
    assert_eq!(guesses.wait_ms(&known, 5_000), 0);
    fail(&mut guesses, &known, 7, 5_000);
    assert_eq!(guesses.wait_ms(&known, 5_000), 4_000, "for its own failures");
    // A network of IPv6 is one stranger; an address of IPv4 in the form of IPv6 is the same one.
    let mut guesses = Guesses::default();
    for number in 0..6 {
        fail(&mut guesses, &stranger(&format!("2001:db8:1:2::{number:x}")), 1, 5_000);
    }
    assert_eq!(guesses.wait_ms(&stranger("2001:db8:1:2:ffff::1"), 5_000), 2_000);
    assert_eq!(guesses.wait_ms(&stranger("2001:db8:1:3::1"), 5_000), 0);
    fail(&mut guesses, &stranger("::ffff:192.0.2.7"), 5, 5_000);
    assert_eq!(guesses.wait_ms(&stranger("192.0.2.7"), 5_000), 1_000);
}

#[test]
fn what_is_kept_of_them_is_bounded_and_a_right_guess_takes_its_failures_back() {
    let mut guesses = Guesses::default();
    for number in 0..5_000_u32 {
        let address = format!("10.{}.{}.1", number / 256, number % 256);
        fail(&mut guesses, &stranger(&address), 1, 5_000 + u64::from(number));
    }
    assert_eq!((guesses.by.len(), guesses.failed), (1_000, 5_000));
    assert!(serde_json::to_vec(&guesses).unwrap().len() < 100_000);
    let (mut guesses, one) = (Guesses::default(), stranger("192.0.2.1"));
    fail(&mut guesses, &one, 6, 5_000);
    let before = guesses.begin(&one, IpAddr::from([192, 0, 2, 1]), 9_000);
    assert_eq!(guesses.failed, 7, "counted before it is looked at");
    let known = Whose::Known("d1".into());
    let of_known = guesses.begin(&known, IpAddr::from([192, 0, 2, 1]), 9_000);
    fail(&mut guesses, &stranger("192.0.2.2"), 1, 9_000);
    guesses.was_right(&known, of_known);
    assert_eq!(
        (guesses.all.count, guesses.failed),
        (8, 8),
        "it undoes no other guess that was made meanwhile"
    );
    guesses.by.remove("192.0.2.2");
    guesses.failed -= 1;
    guesses.was_right(&one, before);
    assert_eq!((guesses.wait_ms(&one, 9_000), guesses.failed), (0, 6));
    assert_eq!(
        guesses.all.count, 6,
        "those of all strangers stay: whoever knows the password wins no guesses by it"
    );
}

#[test]
fn a_password_is_kept_as_owasp_has_it_and_nothing_else_is_it() {
    let hash = password::hashed(PASSWORD).unwrap();
    assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
    assert_ne!(hash, password::hashed(PASSWORD).unwrap(), "each has a salt of its own");
    let kept = Kept { hash, since: String::new() };
    assert!(password::is(PASSWORD, &kept));
    for wrong in ["", "correct horse battery stapl", "correct horse battery staple ", "\0"] {
        assert!(!password::is(wrong, &kept), "{wrong:?}");
    }
    let huge = "$argon2id$v=19$m=4194304,t=1,p=1$c29tZXNhbHQ$aGFzaGhhc2hoYXNoaGFzaA";
    for hash in ["", "x", "$argon2id$", huge] {
        assert!(!password::is(PASSWORD, &Kept { hash: hash.to_owned(), since: String::new() }), "{hash}");
    }
    for short in ["", "elevenchars", "aaaaaaaaaaaaaaaa", "abababababab"] {
        assert!(password::judged(short).is_err(), "{short}");
    }
    assert!(password::judged(&"x".repeat(2_000)).is_err());
    assert_eq!(password::judged("zwölf Störche"), Ok(()));
}

#[test]
fn guesses_are_slowed_down_over_a_restart_and_the_owner_gets_in() {
    let house = house("");
    set_password(&house, PASSWORD);
    let phone = Phone::of(&house);
    let within = Browser::within(&phone);
    let mut guesser = Browser::new(&phone);
    let wrong = guesser.sign_in("wrong wrong wrong");
    assert_eq!(wrong.status, 401);
    assert!(wrong.body.contains("not the password") && wrong.cookie("__Host").is_none(), "{}", wrong.body);
    let mut waits = None;
    for number in 0..60 {
        let answer = guesser.sign_in(&format!("another wrong one {number}"));
        if answer.status == 429 {
            waits = answer.header("retry-after").map(|seconds| seconds.parse::<u64>().unwrap());
            assert!(answer.body.contains("Too many tries"), "{}", answer.body);
            break;
        }
        assert_eq!(answer.status, 401);
    }
    assert!((1..=900).contains(&waits.expect("it waits at last")), "{waits:?}");
    // So that the wait outlasts the steps of this test, whatever machine it runs on.
    let mut kept = held(&house, "guesses.json");
    kept["by"].as_object_mut().unwrap().values_mut().for_each(|one| one["count"] = 14.into());
    house.write(".self/broker/page/guesses.json", &kept.to_string());
    // A wait costs no processor, and the right password is not looked at either: nothing tells them apart.
    let failed = held(&house, "guesses.json")["failed"].as_u64().unwrap();
    let file = || std::fs::metadata(house.path(".self/broker/page/guesses.json")).unwrap().ino();
    let before = file();
    assert_eq!(guesser.sign_in(PASSWORD).status, 429);
    assert_eq!(file(), before, "nor a write");
    assert_eq!(held(&house, "guesses.json")["failed"].as_u64().unwrap(), failed);
    phone.kill();
    let phone = Phone::of(&house);
    let mut guesser = Browser::new(&phone);
    assert_eq!(guesser.sign_in(PASSWORD).status, 429, "the wait outlives the program");
    // Who is within stays so, and a browser that was here signs in though strangers have it wait.
    let mut owner = Browser { host: phone.at.to_string(), ..Browser::new(&phone) };
    let old: Vec<String> = within.cookies.iter().map(|cookie| renamed(cookie, phone.at.port())).collect();
    owner.cookies = old;
    assert!(owner.is_within());
    assert_eq!(owner.sign_in(PASSWORD).status, 303);
    // A new password at the terminal ends every wait.
    set_password(&house, "another one altogether");
    assert_eq!(guesser.sign_in("another one altogether").status, 303);
    assert_eq!(held(&house, "guesses.json")["failed"].as_u64().unwrap(), failed, "told once, and not again");
}

/// A cookie as it would be called at another port: tests listen at any that is free.
fn renamed(cookie: &str, port: u16) -> String {
    let (name, value) = cookie.split_once('=').unwrap();
    let name = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    format!("{name}{port}={value}")
}

#[test]
fn without_a_password_nobody_signs_in_and_it_takes_as_long() {
    let house = house("");
    let phone = Phone::of(&house);
    let answer = Browser::new(&phone).sign_in("");
    assert_eq!(answer.status, 401);
    assert!(
        answer.body.contains("or none is set yet") && answer.body.contains("page password"),
        "{}",
        answer.body
    );
    let output = command(&house, &["check"], "");
    assert!(trials::said(&output).contains("no password is set"), "{}", trials::said(&output));
}

/// One hash at a time: many at once are looked at one after the other or turned away, and the page answers meanwhile.
#[test]
fn many_guesses_at_once_are_bounded_and_the_page_answers_meanwhile() {
    let house = house("");
    set_password(&house, PASSWORD);
    let phone = Phone::of(&house);
    let within = Browser::within(&phone);
    let counts = std::thread::scope(|scope| {
        let guess = |_| scope.spawn(|| Browser::new(&phone).sign_in("a wrong one for sure").status);
        let all: Vec<_> = (0..24).map(guess).collect();
        for _ in 0..10 {
            assert!(within.is_within());
        }
        all.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>()
    });
    let of = |status: u16| counts.iter().filter(|one| **one == status).count();
    assert!(of(401) >= 5 && of(401) + of(429) + of(503) == 24, "{counts:?}");
    assert!(of(429) > 0, "no number at once wins more guesses: {counts:?}");
    assert_eq!(held(&house, "guesses.json")["failed"].as_u64().unwrap(), of(401) as u64);
}
