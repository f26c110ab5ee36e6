//! Channels by the commands: added, listed, paired, tried; with a real guardian and broker, and a program that says how it stands.

use house::channels::Pairing;
use house::settings::channels::PLATFORMS;
use serde_json::Value;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tiny_http::{Response, Server};
use trials::{Guardian, House, SOUND, programs, said};

/// A house with a broker.
fn house() -> House {
    let house = House::new(SOUND).with_broker();
    fs::create_dir_all(house.path(".self/broker")).unwrap();
    house
}

/// What a command said, and its exit status.
fn told(house: &House, words: &[&str]) -> (String, i32) {
    let output =
        house.command(words).env("FERAL_CALLED", "feral").env_remove("TELEGRAM_BOT_TOKEN").output().unwrap();
    (said(&output), output.status.code().unwrap())
}

fn pairing(house: &House) -> Pairing {
    Pairing::read(&house::House::new(&house.root))
}

/// The program of the channels as far as it matters here: it keeps what it is told beside it as how it stands, and lives.
fn stands(house: &House, standing: &str) {
    let program = house.folder.path().join("bin/channels");
    let script = "#!/bin/sh\nmkdir -p .self/broker/channels\nwhile :; do cp ../standing .self/broker/channels/new; \
                  mv .self/broker/channels/new .self/broker/channels/standing.json; sleep 0.1; done\n";
    fs::write(house.folder.path().join("standing"), standing).unwrap();
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_channel_is_added_once_the_owner_says_yes_and_what_it_needs_is_said() {
    let house = house();
    let before = house.read("owner.toml");
    let (shown, code) = told(&house, &["channels", "add", "telegram"]);
    assert_eq!((code, house.read("owner.toml")), (1, before.clone()), "{shown}");
    assert!(
        shown.contains("    [channels.telegram]") && shown.contains("the same with --yes writes them"),
        "{shown}"
    );
    house.write("owner.toml", &format!("# mine\n{before}# at the end, without a line end"));
    let before = house.read("owner.toml");
    let (shown, code) = told(&house, &["channels", "add", "telegram", "--yes"]);
    assert_eq!(code, 0, "{shown}");
    assert_eq!(house.read("owner.toml"), format!("{before}\n\n[channels.telegram]\n"));
    assert_eq!(house.read(".self/broker/owner-before.toml"), before);
    for part in ["write TELEGRAM_BOT_TOKEN=… into .env", "@BotFather", "channels pair telegram"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let (shown, code) = told(&house, &["channels", "add", "telegram", "--yes"]);
    assert!(code == 1 && shown.contains("[channels.telegram] is in owner.toml already"), "{shown}");
    let (shown, code) = told(&house, &["channels", "add", "mail", "--yes", "--address", "feral@example.org"]);
    assert!(code == 1 && shown.contains("Mail needs --imap, --smtp, --authserv too"), "{shown}");
    let (shown, code) =
        told(&house, &["channels", "add", "matrix", "--yes", "--url", "http://matrix.example.org"]);
    assert!(
        code == 1 && shown.contains("must be https") && !house.read("owner.toml").contains("matrix"),
        "{shown}"
    );
    let (shown, code) =
        told(&house, &["channels", "add", "matrix", "--yes", "--url", "https://m.example.org", "--home"]);
    assert_eq!(code, 0, "{shown}");
    assert!(
        house
            .read("owner.toml")
            .ends_with("\n\n[channels.matrix]\nurl = \"https://m.example.org\"\nhome = true\n")
    );
    let (shown, _) = told(&house, &["channels"]);
    assert!(shown.contains("TELEGRAM_BOT_TOKEN is not set: put it into .env"), "{shown}");
    let (shown, code) = told(&house, &["channels", "test", "telegram"]);
    assert!(
        code == 1 && shown.contains("@BotFather") && !shown.contains("paired"),
        "what is missing first: {shown}"
    );
    let (shown, code) = told(&house, &["channels", "add", "telegrm"]);
    assert!(code == 2 && shown.contains("did you mean telegram?"), "{shown}");
    house.write(".env", "TELEGRAM_BOT_TOKEN = 1: a b\n");
    for words in [&["channels"][..], &["channels", "test", "telegram"]] {
        let (shown, _) = told(&house, words);
        assert!(shown.contains(".env, line 1: not NAME=value"), "{words:?}: {shown}");
    }
}

#[test]
fn a_channel_is_removed_with_its_pairing_and_all_else_stays() {
    let house = house();
    let before = house.read("owner.toml");
    told(&house, &["channels", "add", "telegram", "--yes"]);
    told(&house, &["channels", "pair", "telegram"]);
    let (shown, code) = told(&house, &["channels", "remove", "slack"]);
    assert!(code == 1 && shown.contains("[channels.slack]"), "{shown}");
    house.write(".env", "TELEGRAM_BOT_TOKEN=1:a-token-of-the-tests\n");
    let (shown, code) = told(&house, &["channels", "remove", "telegram"]);
    assert_eq!((code, house.read("owner.toml").trim_end()), (0, before.trim_end()), "{shown}");
    assert!(shown.contains("TELEGRAM_BOT_TOKEN in .env"), "{shown}");
    assert!(pairing(&house).code.is_empty(), "a code for a channel that is gone");
    assert!(pairing(&house).unpaired.contains_key("telegram"), "added again it hears nobody of before");
}

#[test]
fn a_code_is_shown_counts_for_ten_minutes_and_a_pairing_is_taken_back_by_its_time() {
    let house = house();
    for platform in &PLATFORMS {
        for word in ["pair", "unpair", "test"] {
            let (shown, code) = told(&house, &["channels", word, platform.name]);
            assert!(code == 1 && shown.contains(&format!("channels add {}", platform.name)), "{shown}");
        }
    }
    house.settings("[channels.telegram]\n[channels.slack]\n");
    let (shown, code) = told(&house, &["channels", "pair", "telegram"]);
    let first = pairing(&house);
    assert!(code == 0 && shown.contains(&first.code), "{shown}");
    assert_eq!((first.channel.as_str(), first.tries, first.code.len()), ("telegram", 5, 9));
    assert!(first.code.bytes().enumerate().all(|(at, byte)| match at {
        4 => byte == b'-',
        _ => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
    }));
    let mode = fs::metadata(house.path(".self/broker/channels/pairing.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0);
    let now: jiff::Timestamp = house::moments::now();
    let at = |seconds: i64| now + jiff::SignedDuration::from_secs(seconds);
    assert_eq!(first.code("telegram", at(590)), Some(first.code.as_str()));
    assert_eq!((first.code("telegram", at(610)), first.code("slack", now)), (None, None));
    let (shown, _) = told(&house, &["channels", "pair", "slack"]);
    let second = pairing(&house);
    assert!(second.code != first.code && shown.contains("The code for telegram counts no more"), "{shown}");
    let (_, code) = told(&house, &["channels", "unpair", "telegram"]);
    let third = pairing(&house);
    assert_eq!((code, third.code.as_str()), (0, second.code.as_str()), "another channel's code stays");
    assert!(
        third.is_taken_back("telegram", &now.to_string()) && !third.is_taken_back("slack", &now.to_string())
    );
    assert!(!third.is_taken_back("telegram", &at(60).to_string()), "a pairing after it counts");
    told(&house, &["channels", "unpair", "slack"]);
    assert_eq!(pairing(&house).code, "");
}

#[test]
fn how_a_channel_stands_is_told_by_list_status_doctor_and_test() {
    let house = house();
    house.settings("[channels.telegram]\n");
    house.write(".env", "TELEGRAM_BOT_TOKEN=1:a-token-of-the-tests\n");
    stands(
        &house,
        r#"{"telegram":{"state":"connected","as":"@feral_bot","paired":"","trouble":"","strangers":2,"since":"2026-01-01T00:00:00Z"}}"#,
    );
    let guardian: Guardian = house.start();
    house.until("it to stand", || told(&house, &["channels"]).0.contains("connected as @feral_bot"));
    let line = "connected as @feral_bot; not paired: feral channels pair telegram; 2 messages of others were refused";
    for words in [&["channels"][..], &["status"], &["doctor"]] {
        let (shown, _) = told(&house, words);
        assert!(shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(line), "{words:?}: {shown}");
    }
    let (shown, code) = told(&house, &["channels", "test", "telegram"]);
    assert!(code == 1 && shown.contains("feral channels pair telegram shows a code"), "{shown}");
    told(&house, &["channels", "pair", "telegram"]);
    let code = pairing(&house).code;
    let (shown, _) = told(&house, &["status"]);
    assert!(shown.contains(&format!("send it {code}")), "the code that is waited for: {shown}");
    stands(
        &house,
        r#"{"telegram":{"state":"connected","as":"@feral_bot","paired":"Ann","trouble":"","strangers":0,"since":""}}"#,
    );
    house.until("its word", || told(&house, &["channels", "test", "telegram"]).1 == 0);
    let (shown, _) = told(&house, &["channels", "list", "--json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&shown["channels"][0]["heard"], &shown["channels"][0]["home"]), (&true.into(), &true.into()));
    stands(
        &house,
        r#"{"telegram":{"state":"revoked","as":"","paired":"Ann","trouble":"Unauthorized","strangers":0,"since":""}}"#,
    );
    house.until("its trouble", || told(&house, &["doctor"]).0.contains("signed out: Unauthorized"));
    assert_eq!(told(&house, &["channels", "test", "telegram"]).1, 1);
    // Nothing of who is talked with stands where a life reads.
    assert!(!house.read(".self/guardian.json").contains("Ann"));
    guardian.stop();
    let (shown, _) = told(&house, &["channels"]);
    assert!(shown.contains("the guardian does not run"), "{shown}");
}

/// A homeserver on which nobody speaks, until it takes the token no more: then it answers as the Matrix specification has it,
/// "Using access tokens".
fn homeserver() -> (SocketAddr, Arc<AtomicBool>) {
    let server = Server::http("127.0.0.1:0").unwrap();
    let (at, revoked) = (server.server_addr().to_ip().unwrap(), Arc::new(AtomicBool::new(false)));
    let is_revoked = Arc::clone(&revoked);
    std::thread::spawn(move || {
        for request in server.incoming_requests() {
            std::thread::sleep(Duration::from_millis(50));
            let (status, body) = match request.url() {
                _ if is_revoked.load(Ordering::SeqCst) => {
                    (401, r#"{"errcode":"M_UNKNOWN_TOKEN","error":"Unknown token"}"#)
                }
                url if url.contains("/account/whoami") => (200, r#"{"user_id":"@feral:house.test"}"#),
                url if url.contains("/sync") => (200, r#"{"next_batch":"s1"}"#),
                _ => (200, "{}"),
            };
            let _ = request.respond(Response::from_string(body).with_status_code(status));
        }
    });
    (at, revoked)
}

/// Guardian, broker and the program of the channels as they are.
#[test]
fn the_real_program_says_how_it_stands_with_its_homeserver() {
    let (at, revoked) = homeserver();
    let house = house();
    programs::place(programs::channels(), &house.folder.path().join("bin/channels"));
    house.settings(&format!("[channels.matrix]\nurl = \"http://{at}\"\n"));
    house.write(".env", "MATRIX_ACCESS_TOKEN=syt_of_the_tests\n");
    let guardian = house.start();
    let stands = |words: &str| told(&house, &["channels"]).0.contains(words);
    house.until("it to be connected", || stands("connected as @feral:house.test; not paired"));
    let ledger = house.read(".self/ledger.jsonl");
    assert!(ledger.contains("\"event\":\"channel\"") && ledger.contains(&at.to_string()), "{ledger}");
    assert!(!ledger.contains("syt_of_the_tests"));
    revoked.store(true, Ordering::SeqCst);
    house
        .until("it to be signed out", || stands("signed out: the homeserver does not take the access token"));
    guardian.stop();
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}
