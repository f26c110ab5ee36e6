//! Backups of houses that live, and what a restore puts back and never takes back.

use crate::asks::{asked, ledger};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use trials::{House, SOUND};

/// Makes a backup beside the house.
pub fn backed_up(house: &House, name: &str, args: &[&str]) -> PathBuf {
    let file = house.folder.path().join(name);
    let args = [&["backup", file.to_str().unwrap()], args].concat();
    let output = house.ask(&args);
    assert!(output.status.success(), "{}", both(&output));
    file
}

pub fn restored(house: &House, file: &Path) -> Output {
    house.ask(&["restore", file.to_str().unwrap()])
}

pub fn both(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

/// Everything in an archive, by path.
pub fn held(file: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut archive = tar::Archive::new(GzDecoder::new(fs::File::open(file).unwrap()));
    let mut held = BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().to_str().unwrap().to_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        held.insert(path, bytes);
    }
    held
}

fn settled(cost: u64) -> Value {
    json!({"at": "2026-01-02T03:00:00.000Z", "life": 1, "event": "settle", "service": "anthropic", "day": "2026-01-02",
           "cost_micro_usd": cost, "decision": "by usage", "call": "c"})
}

/// A house that was lived in: memory, talk, money, an ask and keys.
pub fn lived_in() -> House {
    let house = House::new(SOUND);
    house.write(".gitignore", "/target/\n.env\n");
    house.commit("keys stay here");
    let guardian = house.start();
    house.until("a life to be trusted", || house.status()["blessed"] == true);
    assert_eq!(guardian.stop(), 0);
    house.write(".self/inbox.jsonl", "{\"text\":\"a word\"}\n");
    house.write(".self/mind/agenda.json", "{\"goals\":{\"list\":[]}}");
    house.write(".self/mind/index.sqlite", "made anew by itself");
    house.write(".self/workspace/tool.sh", "#!/bin/sh\necho made here\n");
    fs::set_permissions(house.path(".self/workspace/tool.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    house.write("self/diary.md", "what it wrote, not committed\n");
    house.write(".env", "ANTHROPIC_API_KEY=sk-ant-0123456789\n");
    house.write(".self/broker/oauth2-x.json", "{\"refresh\":\"r-0123456789\"}");
    house.write(".self/broker/sign-ins/x.json", "{\"grant\":\"r-0123456789\"}");
    house.write(".self/broker/sign-ins/x.lock", "");
    for name in ["telegram.json", "out.jsonl", "pairing.json", "buttons.json", "standing.json"] {
        house.write(&format!(".self/broker/channels/{name}"), "{}\n");
    }
    house.write(".self/received/telegram/letter.txt", "what the owner sent\n");
    house.write(".self/ledger.jsonl", &ledger(&[settled(100_000)]));
    asked(&house, "12", "three of them");
    house
}

/// A clone of a house's repository, with the same toolchain.
fn fresh_clone(of: &House) -> House {
    let house = House::new(SOUND);
    fs::remove_dir_all(&house.root).unwrap();
    let cloned = Command::new("git").arg("clone").arg("-q").arg(&of.root).arg(&house.root).status().unwrap();
    assert!(cloned.success());
    house.git(&["config", "user.name", "owner"]);
    house.git(&["config", "user.email", "owner@house.invalid"]);
    house
}

#[test]
fn a_backup_is_one_closed_file_that_git_tar_and_sha256sum_read_and_holds_no_key() {
    let house = lived_in();
    let file = backed_up(&house, "copy.tar.gz", &[]);
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    let all = fs::read_dir(house.folder.path()).unwrap().flatten().map(|entry| entry.file_name());
    assert!(!all.into_iter().any(|name| name.to_string_lossy().ends_with(".part")), "nothing else is left");
    let held = held(&file);
    for path in [
        "repository.bundle",
        "house.json",
        "SHA256SUMS",
        "PURPOSE.md",
        "owner.toml",
        "self/diary.md",
        ".self/memory.jsonl",
        ".self/inbox.jsonl",
        ".self/ledger.jsonl",
        ".self/history.jsonl",
        ".self/mind/agenda.json",
        ".self/workspace/tool.sh",
        ".self/broker/asks/12.json",
        ".self/guardian/state.json",
        ".self/received/telegram/letter.txt",
    ] {
        assert!(held.contains_key(path), "{path}: {:?}", held.keys());
    }
    for path in held.keys() {
        for left in [
            ".env",
            "oauth2",
            "sign-ins",
            "broker/channels",
            "tokens.json",
            "index.sqlite",
            "heartbeat",
            "/lock",
            "binaries",
            "target/",
        ] {
            assert!(!path.contains(left), "{path}");
        }
    }
    let whole: Vec<u8> = held.values().flatten().copied().collect();
    assert!(!String::from_utf8_lossy(&whole).contains("sk-ant-0123456789"));
    // Tools that everybody has read it.
    let out = house.folder.path().join("out");
    fs::create_dir(&out).unwrap();
    for (program, args) in [
        ("tar", vec!["xzf", file.to_str().unwrap()]),
        ("sha256sum", vec!["--check", "--quiet", "--strict", "SHA256SUMS"]),
        ("git", vec!["clone", "-q", "repository.bundle", "clone"]),
    ] {
        let output = Command::new(program).args(args).current_dir(&out).output().unwrap();
        assert!(output.status.success(), "{program}: {}", both(&output));
    }
    assert!(out.join("clone/creature/creature.sh").is_file());
    // It is never written over, and never into the house, where the creature reads.
    let again = house.ask(&["backup", file.to_str().unwrap()]);
    assert!(!again.status.success() && both(&again).contains("is there already"), "{}", both(&again));
    for inside in ["copy.tar.gz", ".self/copy.tar.gz", "../house/copy.tar.gz"] {
        let output = house.ask(&["backup", inside]);
        assert!(!output.status.success() && both(&output).contains("lies in the house"), "{}", both(&output));
    }
}

#[test]
fn keys_and_pairings_are_in_a_backup_that_is_asked_for_them() {
    let house = lived_in();
    let with = held(&backed_up(&house, "whole.tar.gz", &["--with-secrets"]));
    for secret in [
        ".env",
        ".self/broker/oauth2-x.json",
        ".self/broker/sign-ins/x.json",
        ".self/broker/channels/telegram.json",
        ".self/broker/channels/out.jsonl",
    ] {
        assert!(with.contains_key(secret), "{secret}");
    }
    // A code and buttons count where they were shown.
    for left in ["pairing.json", "buttons.json", "standing.json"] {
        assert!(!with.contains_key(&format!(".self/broker/channels/{left}")), "{left}");
    }
    assert!(!with.contains_key(".self/broker/sign-ins/x.lock"));
    assert!(!with.contains_key(".self/broker/tokens.json"), "the token of a life is nobody's to keep");
}

/// Found: what npx and uvx had fetched for an MCP server was more than a backup takes; and a browser's logins and a wallet's
/// key were in every backup.
#[test]
fn what_an_mcp_server_keeps_is_a_secret_and_what_was_fetched_for_it_is_left_out() {
    let house = House::new(SOUND);
    house.write(".gitignore", "/target/\n.env\n");
    house.commit("keys stay here");
    let home = |name: &str| format!(".self/broker/mcp/like/{name}");
    for fetched in [".npm/_npx/1/server.js", ".cache/uv/archive/server.py"] {
        house.write(&home(fetched), "fetched anew by itself");
    }
    for kept in ["graph.jsonl", "profile/Default/Cookies", "key.json"] {
        house.write(&home(kept), "{}\n");
    }
    let of_it = |name: &str, words: &[&str]| -> Vec<String> {
        let held = held(&backed_up(&house, name, words));
        held.into_keys().filter(|path| path.contains("broker/mcp")).collect()
    };
    assert_eq!(of_it("copy.tar.gz", &[]), Vec::<String>::new());
    let whole = [home("graph.jsonl"), home("key.json"), home("profile/Default/Cookies")];
    assert_eq!(of_it("whole.tar.gz", &["--with-secrets"]), whole);
}

/// The password's hash, passkeys, sessions and the certificate's key of the page beyond this machine are the owner's keys.
#[test]
fn the_page_beyond_this_machine_is_a_secret_but_for_what_is_of_the_moment() {
    let house = lived_in();
    let at = |name: &str| format!(".self/broker/page/{name}");
    let kept =
        ["certificate.pem", "guesses.json", "key.pem", "passkeys.json", "password.json", "sessions.json"];
    for name in kept.into_iter().chain(["lock", "standing.json"]) {
        house.write(&at(name), "{}\n");
    }
    let of_it = |name: &str, words: &[&str]| -> Vec<String> {
        let held = held(&backed_up(&house, name, words));
        held.into_keys().filter(|path| path.contains("broker/page")).collect()
    };
    assert_eq!(of_it("copy.tar.gz", &[]), Vec::<String>::new());
    assert_eq!(of_it("whole.tar.gz", &["--with-secrets"]), kept.map(at));
}

/// While a life writes: whole lines only, and every line of before the backup.
#[test]
fn a_backup_of_a_busy_house_has_whole_lines_and_all_that_was_there() {
    let house = House::new("n=0; while :; do n=$((n+1)); think \"thought $n\"; sleep 0.03; done");
    let guardian = house.start();
    house.until("some thoughts", || house.thoughts().len() > 20);
    for round in 0..5 {
        let before = house.thoughts().len();
        let held = held(&backed_up(&house, &format!("busy-{round}.tar.gz"), &[]));
        let memory = String::from_utf8(held[".self/memory.jsonl"].clone()).unwrap();
        assert!(memory.ends_with('\n'));
        let lines: Vec<Value> = memory.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(lines.len() >= before, "{} of {before}", lines.len());
    }
    assert_eq!(guardian.stop(), 0);
}

/// Found in thought: an old backup would give money and answers back.
#[test]
fn a_restore_brings_back_what_it_knew_and_never_what_was_spent_or_answered() {
    let house = lived_in();
    let file = backed_up(&house, "copy.tar.gz", &[]);
    let was = |path: &str| house.read(path);
    let (memory, diary) = (was(".self/memory.jsonl"), was("self/diary.md"));
    // Life goes on: another self, more money, the ask answered, a fall of the cap.
    let later = ledger(&[settled(100_000), settled(900_000)]);
    house.write(".self/ledger.jsonl", &later);
    let ask = house.read(".self/broker/asks/12.json").replace("\"asked\"", "\"executed\"");
    house.write(".self/broker/asks/12.json", &ask);
    house.write(
        ".self/memory.jsonl",
        "{\"at\":\"2026-01-03T00:00:00.000Z\",\"life\":2,\"kind\":\"thought\",\"data\":{}}\n",
    );
    house.write(".self/mind/agenda.json", "{\"goals\":{\"list\":[1]}}");
    house.write(".self/workspace/later", "made later");
    house.write("self/diary.md", "a later page\n");
    house.write_life("think otherwise; live");
    let head = house.commit("another self");
    house.write("self/scratch.md", "never committed\n");
    let history = was(".self/history.jsonl");
    let output = restored(&house, &file);
    assert!(output.status.success(), "{}", both(&output));
    assert!(
        both(&output).contains("kept") && both(&output).contains("ledger, money spent"),
        "{}",
        both(&output)
    );
    // What it knew and made.
    assert_eq!((house.read(".self/memory.jsonl"), house.read("self/diary.md")), (memory, diary));
    assert_eq!(house.read(".self/mind/agenda.json"), "{\"goals\":{\"list\":[]}}");
    assert!(house.read("creature/creature.sh").ends_with("think alive; live\n"));
    assert!(!house.path(".self/workspace/later").exists() && !house.path("self/scratch.md").exists());
    assert_ne!(fs::metadata(house.path(".self/workspace/tool.sh")).unwrap().mode() & 0o100, 0);
    // What happened stays.
    assert_eq!(house.read(".self/ledger.jsonl"), later);
    assert_eq!(house.read(".self/broker/asks/12.json"), ask);
    assert!(house.read(".self/history.jsonl").starts_with(&history));
    assert_eq!(house.told("restored").len(), 1);
    // Forward only, and nothing is lost.
    house.git(&["merge-base", "--is-ancestor", &head, "HEAD"]);
    assert_eq!(house.git(&["status", "--porcelain"]), "");
    assert!(house.git(&["log", "-p", "--all"]).contains("never committed"));
    let kept = fs::read_dir(house.path(".self/guardian/kept")).unwrap().flatten().map(|entry| entry.path());
    let kept = kept.into_iter().find(|path| path.to_string_lossy().contains("restored-")).unwrap();
    assert_eq!(fs::read_to_string(kept.join("before/.self/workspace/later")).unwrap(), "made later");
    // And it lives.
    let guardian = house.start();
    house.until("the restored self to live and be trusted", || house.status()["blessed"] == true);
    assert_eq!(guardian.stop(), 0);
}

#[test]
fn nothing_is_restored_under_a_guardian() {
    let house = lived_in();
    let file = backed_up(&house, "copy.tar.gz", &[]);
    let guardian = house.start();
    house.until("a life", || house.status()["blessed"] == true);
    let memory = house.read(".self/memory.jsonl");
    let output = restored(&house, &file);
    assert!(!output.status.success() && both(&output).contains("a guardian runs here"), "{}", both(&output));
    assert!(
        house.read(".self/memory.jsonl").starts_with(&memory)
            && !house.path(".self/guardian/restore").exists()
    );
    assert_eq!(guardian.stop(), 0);
}

/// A new machine: all of it comes, history and ladder too; what was approved and not known to be done waits for a yes again.
#[test]
fn a_fresh_clone_becomes_the_house_and_does_nothing_that_was_approved_before() {
    let house = lived_in();
    let head = house.commit("papers");
    let ask: Value = serde_json::from_str(&house.read(".self/broker/asks/12.json")).unwrap();
    let approved = |id: u64| {
        let mut ask = ask.clone();
        (ask["id"], ask["state"], ask["answers_from"]) = (id.into(), "approved".into(), 0.into());
        ask.to_string()
    };
    house.write(".self/broker/asks/13.json", &approved(13));
    house.write(
        ".self/broker/answers.jsonl",
        "{\"at\":\"x\",\"id\":\"12\",\"answer\":\"approve\",\"digest\":\"d\"}\n",
    );
    let file = backed_up(&house, "copy.tar.gz", &[]);
    let clone = fresh_clone(&house);
    clone.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let output = restored(&clone, &file);
    assert!(output.status.success(), "{}", both(&output));
    assert!(both(&output).contains("waits for your yes again"), "{}", both(&output));
    clone.git(&["merge-base", "--is-ancestor", &head, "HEAD"]);
    for path in
        [".self/memory.jsonl", ".self/ledger.jsonl", ".self/inbox.jsonl", "self/diary.md", "owner.toml"]
    {
        assert_eq!(clone.read(path), house.read(path), "{path}");
    }
    let good = |of: &House| of.git(&["for-each-ref", "--format=%(objectname)", "refs/guardian/good"]);
    assert_eq!(good(&clone), good(&house));
    let of = |id: &str| {
        serde_json::from_str::<Value>(&clone.read(&format!(".self/broker/asks/{id}.json"))).unwrap()
    };
    let answers = house.read(".self/broker/answers.jsonl").len();
    assert_eq!(
        (of("13")["state"].clone(), of("13")["may_have_happened"].clone()),
        (json!("failed"), json!(true))
    );
    assert_eq!(
        (of("12")["answers_from"].clone(), of("13")["answers_from"].clone()),
        (json!(answers), json!(answers))
    );
    assert!(!clone.path(".env").exists());
    let life = house.status()["life"].as_u64().unwrap();
    let guardian = clone.start();
    clone.until("it to live on", || clone.status()["blessed"] == true);
    assert!(clone.status()["life"].as_u64().unwrap() > life, "lives are counted on");
    assert_eq!(guardian.stop(), 0);
    // Another house's money is not known here, nor this one's there.
    let other = lived_in();
    other.write(".self/ledger.jsonl", &ledger(&[settled(5)]));
    let output = restored(&other, &file);
    assert!(!output.status.success(), "{}", both(&output));
    assert!(both(&output).contains("restore it in a fresh clone"), "{}", both(&output));
}

#[test]
fn skills_of_the_owner_come_back_where_there_are_none() {
    let house = lived_in();
    house.write("skills/lost/SKILL.md", "---\nname: lost\ndescription: d\n---\n");
    house.write("skills/lost/scripts/go.sh", "#!/bin/sh\n");
    house.write("skills/lost/Makefile", "all:\n\tfalse\n");
    house.write("skills/kept/SKILL.md", "as it was");
    fs::set_permissions(house.path("skills/lost/scripts/go.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", house.path("skills/lost/away")).unwrap();
    let file = backed_up(&house, "skills.tar.gz", &[]);
    assert_eq!(held(&file)["skills/kept/SKILL.md"], b"as it was");
    assert!(!held(&file).contains_key("skills/lost/away"), "no link is followed");
    fs::remove_dir_all(house.path("skills/lost")).unwrap();
    house.write("skills/kept/SKILL.md", "as it is");
    let output = restored(&house, &file);
    assert!(output.status.success(), "{}", both(&output));
    assert_eq!(house.read("skills/lost/SKILL.md"), "---\nname: lost\ndescription: d\n---\n");
    assert_eq!(house.path("skills/lost/scripts/go.sh").metadata().unwrap().mode() & 0o111, 0o100);
    assert_eq!(house.read("skills/kept/SKILL.md"), "as it is");
    assert!(!house.path("skills/lost/Makefile").exists(), "the owner's tools would run it");
}
