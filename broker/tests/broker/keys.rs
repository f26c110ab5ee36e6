//! Secrets: where they are read, that no spelling of one survives, and that the process keeps them to itself.

use crate::dice::{Dice, tried};
use crate::outside::{Start, command, folder, serving, start};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use broker::secrets::keys::{Keys, MARK};
use house::House;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

fn keys(values: &[&str]) -> Keys {
    let named = values.iter().enumerate().map(|(index, value)| (format!("KEY_{index}"), (*value).to_owned()));
    Keys::of(named.collect::<BTreeMap<_, _>>())
}

const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_.!$%&\"'\\{}<>é~ #";

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn percent(text: &str, every: bool, dice: &mut Dice) -> String {
    let encode = |byte: u8, lower: bool| if lower { format!("%{byte:02x}") } else { format!("%{byte:02X}") };
    let byte = |byte: u8| match byte.is_ascii_alphanumeric() && !every {
        true => char::from(byte).to_string(),
        false => encode(byte, dice.roll(2) == 0),
    };
    text.bytes().map(byte).collect()
}

fn escaped(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    quoted[1..quoted.len() - 1].to_owned()
}

fn unicode(text: &str) -> String {
    text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()
}

/// Every spelling that is promised to be found, with something around it.
fn spelled(secret: &str, dice: &mut Dice) -> Vec<String> {
    let pad = "x".repeat(dice.roll(7));
    let around = format!("{pad}{secret}{pad}");
    let mut all = vec![
        secret.to_owned(),
        STANDARD.encode(&around),
        URL_SAFE_NO_PAD.encode(&around),
        hex(secret),
        hex(secret).to_uppercase(),
        percent(secret, false, dice),
        percent(secret, true, dice),
        escaped(secret),
        unicode(secret),
        percent(&escaped(secret), false, dice),
        escaped(&escaped(secret)),
        percent(&percent(secret, true, dice), false, dice),
        percent(&STANDARD.encode(&around), false, dice),
        secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;"),
    ];
    all.extend([escaped(secret).replace('/', "\\/")]);
    all
}

/// The text with every escape taken off, as often as there is one.
fn bare(text: &str) -> Vec<String> {
    let mut found = vec![text.to_owned()];
    for _ in 0..4 {
        let last = found.last().unwrap().clone();
        let decoded: Vec<u8> = percent_decoded(&last);
        found.push(String::from_utf8_lossy(&decoded).into_owned());
        found.push(serde_json::from_str(&format!("\"{last}\"")).unwrap_or(last));
    }
    found
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        let code = bytes
            .get(at + 1..at + 3)
            .and_then(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok());
        match code.filter(|_| bytes[at] == b'%') {
            Some(code) => {
                out.push(code);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    out
}

#[test]
fn no_spelling_of_a_secret_survives() {
    tried(150, 2_000, file!(), |dice| {
        let secrets: Vec<String> = (0..3)
            .map(|_| {
                let length = 8 + dice.roll(60);
                dice.text(LETTERS, length).trim().to_owned()
            })
            .filter(|secret| secret.len() >= 8)
            .collect();
        let keys = keys(&secrets.iter().map(String::as_str).collect::<Vec<_>>());
        for secret in &secrets {
            for spelling in spelled(secret, dice) {
                let text = format!("before {spelling} after");
                let clean = keys.scrub(&text);
                assert!(
                    !clean.contains(&spelling) && !clean.contains(secret.as_str()),
                    "{secret:?} in {spelling:?}: {clean}"
                );
                for bare in bare(&clean) {
                    assert!(!bare.contains(secret.as_str()), "{secret:?} behind {clean:?}");
                }
                assert!(clean.starts_with("before ") && clean.ends_with(" after"), "{clean:?}");
            }
        }
    });
}

#[test]
fn what_is_no_secret_stays_as_it_is() {
    let keys = keys(&["sk-0123456789abcdef", "short", ""]);
    tried(500, 210, file!(), |dice| {
        let length = dice.roll(200);
        let text = dice.text("abc %\\u0041&amp;\"{}0123\n", length);
        assert_eq!(keys.scrub(&text), text);
    });
    for bytes in [&b"\xff\xfe\x00%4"[..], b"%", b"\\", b"\\u12", b"&am", b""] {
        assert_eq!(keys.scrub_bytes(bytes.to_vec()), bytes);
    }
    assert_eq!(keys.scrub("short words stay"), "short words stay");
    assert_eq!(Keys::default().scrub("anything"), "anything");
}

#[test]
fn secrets_that_overlap_leave_one_mark() {
    let keys = keys(&["abcdefgh12", "fgh12345678", "abcdefgh12345678zz"]);
    assert_eq!(keys.scrub("<abcdefgh12345678>"), format!("<{MARK}>"));
    assert_eq!(keys.scrub("<abcdefgh12345678zz>"), format!("<{MARK}>"));
}

#[test]
fn a_key_that_comes_later_is_known_from_then_on() {
    let mut keys = keys(&["sk-0123456789abcdef"]);
    assert_eq!(keys.scrub("refreshed-token-1"), "refreshed-token-1");
    keys.know("refreshed-token-1");
    keys.know("refreshed-token-1");
    assert_eq!(keys.scrub("a refreshed-token-1, sk-0123456789abcdef"), format!("a {MARK}, {MARK}"));
}

#[test]
fn nothing_prints_a_secret() {
    let keys = keys(&["sk-0123456789abcdef"]);
    assert_eq!(format!("{keys:?} {keys:#?}"), "Keys(1 names) Keys(1 names)");
}

fn load(secrets: &str, named: &[&str]) -> Result<Keys, String> {
    let folder = folder(&Start { secrets, ..Start::default() });
    let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
    Keys::load(&House::new(folder.path()), &named).map_err(|error| format!("{error:#}"))
}

#[test]
fn the_file_is_read_and_no_dollar_is_a_variable() {
    let text = "# a comment with 'quotes and $HOME\n\
        FERAL_TEST_PLAIN=pa$HOME/word$$x\nexport FERAL_TEST_QUOTED=\"two words ${PATH} and \\\" more\"\n\
        FERAL_TEST_STRONG='single $PATH \\ too' # after\nFERAL_TEST_EMPTY=\n\
        FERAL_TEST_ESCAPED=a\\$b-and-more\nFERAL_TEST_OTHER=$FERAL_TEST_PLAIN\nFERAL_TEST_UNUSED=used-by-nobody\n";
    let names = [
        "FERAL_TEST_PLAIN",
        "FERAL_TEST_QUOTED",
        "FERAL_TEST_STRONG",
        "FERAL_TEST_EMPTY",
        "FERAL_TEST_ESCAPED",
    ];
    let keys = load(text, &[&names[..], &["FERAL_TEST_OTHER", "FERAL_TEST_MISSING"]].concat()).unwrap();
    let expected = [
        Some("pa$HOME/word$$x"),
        Some("two words ${PATH} and \" more"),
        Some("single $PATH \\ too"),
        None,
        Some("a$b-and-more"),
    ];
    assert_eq!(names.map(|name| keys.get(name)), expected);
    assert_eq!(
        (keys.get("FERAL_TEST_OTHER"), keys.get("FERAL_TEST_MISSING")),
        (Some("$FERAL_TEST_PLAIN"), None)
    );
    assert_eq!(keys.get("FERAL_TEST_UNUSED"), None, "only what is named is handed out");
    assert_eq!(keys.scrub("used-by-nobody"), MARK, "all of it is scrubbed");
}

#[test]
fn an_address_in_the_file_is_read_and_is_no_secret() {
    let keys =
        load("OPENAI_BASE_URL=http://127.0.0.1:1234/v1\nOPENAI_API_KEY=sk-0123456789abcdef\n", &[]).unwrap();
    assert_eq!(keys.get("OPENAI_BASE_URL"), Some("http://127.0.0.1:1234/v1"));
    assert_eq!(
        keys.scrub("http://127.0.0.1:1234/v1 sk-0123456789abcdef"),
        format!("http://127.0.0.1:1234/v1 {MARK}")
    );
}

/// Found: of a name that stood twice only the last value was a secret.
#[test]
fn every_value_of_a_name_that_stands_twice_is_scrubbed() {
    let text = "THE_KEY=sk-0123456789-old\nTHE_KEY=sk-0123456789-new\n";
    let keys = load(text, &["THE_KEY"]).unwrap();
    assert_eq!(keys.get("THE_KEY"), Some("sk-0123456789-new"));
    assert_eq!(keys.scrub("sk-0123456789-old"), MARK);
    assert_eq!(keys.scrub("wen-9876543210-ks"), MARK, "backwards");
}

/// Found: a byte-order mark, which some editors write, made the first line unreadable.
#[test]
fn a_mark_before_the_first_line_is_no_part_of_it() {
    let keys = load("\u{feff}OPENAI_API_KEY=sk-0123456789abcdef\n", &["OPENAI_API_KEY"]).unwrap();
    assert_eq!(keys.get("OPENAI_API_KEY"), Some("sk-0123456789abcdef"));
}

/// Found: a `.env` that became a folder or a pipe was waited for, or passed over in silence.
#[test]
fn secrets_that_are_no_file_are_an_error_at_once() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join(".env");
    let load = || Keys::load(&House::new(folder.path()), &[]).map(|_| ()).unwrap_err().to_string();
    std::fs::create_dir(&path).unwrap();
    assert!(load().contains(".env is no file"));
    std::fs::remove_dir(&path).unwrap();
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(load().contains(".env is no file"));
}

#[test]
fn the_environment_wins() {
    let keys = load("PATH=from-the-file-only\n", &["PATH"]).unwrap();
    assert_eq!(keys.get("PATH"), Some(std::env::var("PATH").unwrap().as_str()));
}

#[test]
fn a_broken_file_is_not_quoted() {
    for text in [
        "GOOD=1\nsk-0123456789abcdef\n",
        "GOOD=1\nBAD=sk-0123456789abcdef with spaces\n",
        "A='sk-0123456789abcdef\n",
    ] {
        let error = load(text, &["GOOD"]).expect_err(text);
        assert!(error.contains(".env") && !error.contains("0123456789"), "{error}");
    }
    assert!(load("GOOD=1\nsk-0123456789abcdef\n", &[]).expect_err("broken").contains("line 2"));
}

#[test]
fn other_processes_of_the_same_user_cannot_look_inside() {
    let mut outside = start(Start { secrets: "SOME_KEY=sk-0123456789abcdef\n", ..Start::default() });
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", outside.child.id())).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().nth(4), Some("0"), "{core}");
    let _ = outside.child.kill();
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        println!("the rest is tried as root only, who can become somebody else");
        return;
    }
    let somebody = 65_534;
    let start =
        Start { variables: vec![("SOME_OTHER_KEY", "sk-0123456789abcdef".into())], ..Start::default() };
    let house = folder(&start);
    let own = Command::new("chown").args(["-R", "65534:65534"]).arg(house.path()).status().unwrap();
    assert!(own.success());
    let look = |pid: u32, what: &str| {
        let read = Command::new("head")
            .args(["-c1", &format!("/proc/{pid}/{what}")])
            .uid(somebody)
            .gid(somebody)
            .output();
        read.unwrap()
    };
    // The binary may lie where somebody else cannot reach it; a copy beside the house is his.
    let copy = house.path().join("broker-copy");
    // By a process of its own: what another test starts meanwhile must not inherit the file while it is written.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_broker")).arg(&copy).status().unwrap();
    assert!(copied.success());
    let mut theirs = Command::new(&copy);
    theirs
        .arg("--house")
        .arg(house.path())
        .env_clear()
        .env("HOME", house.path())
        .env("SOME_OTHER_KEY", "sk-0123456789abcdef")
        .uid(somebody)
        .gid(somebody);
    let mut child = theirs.stderr(Stdio::piped()).spawn().unwrap();
    serving(&mut child).expect("it serves as somebody");
    let twin = Command::new("sleep").arg("20").uid(somebody).gid(somebody).spawn();
    let mut twin = twin.unwrap();
    for what in ["environ", "maps"] {
        assert!(look(twin.id(), what).status.success(), "{what} of an ordinary process can be read");
        let refused = look(child.id(), what);
        assert!(!refused.status.success(), "{what}: {:?}", refused.stdout);
    }
    assert!(!look(child.id(), "mem").status.success());
    for pid in [&mut child, &mut twin] {
        let _ = pid.kill();
        let _ = pid.wait();
    }
}

#[test]
fn a_secret_is_not_told_in_the_log() {
    let secret = "sk-0123456789abcdef";
    let start = Start {
        secrets: &format!("SOME_KEY={secret}\n"),
        variables: vec![("RUST_LOG", "trace".into())],
        ..Start::default()
    };
    let house = folder(&start);
    let log = house.path().join("log");
    let mut child =
        command(house.path(), &start).stderr(std::fs::File::create(&log).unwrap()).spawn().unwrap();
    let served = || std::fs::read_to_string(&log).unwrap_or_default().contains("serving on");
    assert!(crate::outside::happens(served));
    let text = std::fs::read_to_string(&log).unwrap();
    let at = text.lines().find_map(|line| Some(line.split_once("serving on ")?.1.to_owned())).unwrap();
    let mut stream = std::net::TcpStream::connect(at).unwrap();
    let ask = format!(
        "GET /web?url=http%3A%2F%2F127.0.0.1%2F{secret} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
        crate::outside::LIFE
    );
    std::io::Write::write_all(&mut stream, ask.as_bytes()).unwrap();
    let answer = crate::outside::Answer::read(&mut stream);
    assert_eq!(answer.status, 403);
    let _ = child.kill();
    let _ = child.wait();
    for file in ["log", ".self/ledger.jsonl"] {
        let text = std::fs::read_to_string(house.path().join(file)).unwrap();
        assert!(!text.contains(secret) && !text.contains(crate::outside::LIFE), "{file}: {text}");
    }
}
