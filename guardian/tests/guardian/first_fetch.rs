//! The fetch before a new house's first build: real cargo against a registry on loopback, and when there is none.

use crate::broker_process::{copies_it, own_target};
use sha2::{Digest, Sha256};
use std::fs;
use std::process::Command;
use trials::{Guardian, House};

use guardian::act::first_fetch::is_known;

fn lock(source: &str, checksum: &str) -> String {
    let sum = if checksum.is_empty() { String::new() } else { format!("checksum = \"{checksum}\"\n") };
    format!(
        "version = 4\n\n[[package]]\nname = \"creature\"\nversion = \"0.1.0\"\ndependencies = [\n \"dep\",\n]\n\n[[package]]\nname = \
         \"dep\"\nversion = \"1.0.0\"\nsource = \"{source}\"\n{sum}"
    )
}

#[test]
fn only_what_comes_from_the_stable_workspaces_registries_with_a_checksum_is_fetched() {
    let known = lock("registry+one", "00");
    assert!(is_known(&known, &known));
    assert!(is_known("version = 4\n\n[[package]]\nname = \"creature\"\n", &known), "nothing of others");
    for (creatures, why) in [
        (lock("registry+two", "00"), "another registry"),
        (lock("registry+one", ""), "without a checksum"),
        (lock("git+file:///x#0", ""), "a repository"),
        (lock("registry+one", "00").replace("registry+one\"", "registry+one\" "), "not as cargo writes it"),
    ] {
        assert!(!is_known(&creatures, &known), "{why}");
    }
    assert!(!is_known(&known, ""), "nothing is known");
}

/// A registry with one crate, as the sparse protocol has it (The Cargo Book, Registry Index).
fn registry(house: &House) -> (String, String) {
    let folder = house.folder.path().join("crate");
    fs::create_dir_all(folder.join("dep-1.0.0/src")).unwrap();
    fs::write(folder.join("dep-1.0.0/src/lib.rs"), "").unwrap();
    let manifest = "[package]\nname = \"dep\"\nversion = \"1.0.0\"\nedition = \"2024\"\n";
    fs::write(folder.join("dep-1.0.0/Cargo.toml"), manifest).unwrap();
    let packed = Command::new("tar").current_dir(&folder).args(["czf", "dep.crate", "dep-1.0.0"]).status();
    assert!(packed.unwrap().success());
    let bytes = fs::read(folder.join("dep.crate")).unwrap();
    let sum: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let row = format!(
        "{{\"name\":\"dep\",\"vers\":\"1.0.0\",\"deps\":[],\"features\":{{}},\"yanked\":false,\"cksum\":\"{sum}\"}}\n"
    );
    let server = tiny_http::Server::http("127.0.0.1:0").unwrap();
    let address = server.server_addr().to_string();
    let index = format!("sparse+http://{address}/");
    std::thread::spawn(move || {
        for request in server.incoming_requests() {
            let body = match request.url() {
                "/config.json" => format!("{{\"dl\":\"http://{address}/dl\"}}").into_bytes(),
                "/3/d/dep" => row.clone().into_bytes(),
                "/dl/dep/1.0.0/download" => bytes.clone(),
                other => panic!("asked for {other}"),
            };
            let _ = request.respond(tiny_http::Response::from_data(body));
        }
    });
    (index, sum)
}

/// A house whose creature needs the crate `dep`, and whose cargo passes `fetch` on to `fetch`, a line of shell.
fn house(index: &str, sum: &str, fetch: &str) -> (House, Command) {
    let house = House::new("think alive; live");
    fs::remove_file(house.path("owner.toml")).unwrap();
    house.write("creature/Cargo.lock", &lock(index, sum));
    house.write(
        "creature/Cargo.toml",
        &format!(
            "[package]\nname = \"creature\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\ndep = {{ version = \
             \"1\", registry-index = \"{index}\" }}\n"
        ),
    );
    house.write("creature/src/lib.rs", "");
    house.write("Cargo.lock", &lock(index, sum));
    house.commit("a creature that needs a crate");
    let cargo = house.folder.path().join("cargo");
    let stub = fs::read_to_string(&cargo).unwrap();
    let home = house.folder.path().join("cargo-home");
    fs::create_dir_all(&home).unwrap();
    let case = format!(
        "#!/bin/sh\ncase \"$*\" in fetch*) pwd > .self/workspace/fetched; echo \"$*\" >> .self/workspace/fetched; {fetch};; esac\n"
    );
    fs::write(&cargo, stub.replacen("#!/bin/sh\n", &case, 1)).unwrap();
    let mut command = own_target(&house, &copies_it("0"));
    command.env("CARGO_HOME", home);
    (house, command)
}

fn real() -> String {
    format!("exec {} \"$@\"", std::env::var("CARGO").unwrap_or("cargo".into()))
}

/// Found: with an empty registry the creature's first build waited for the broker, which was built first.
#[test]
fn with_an_empty_registry_the_first_build_waits_for_a_fetch_and_for_no_broker() {
    let begun = House::new("live");
    let (index, sum) = registry(&begun);
    let (house, mut command) = house(&index, &sum, &real());
    let guardian = Guardian::new(command.spawn().unwrap(), &house);
    house.until("a life", || !house.thoughts().is_empty());
    let fetched = house.read(".self/workspace/fetched");
    let root = house.root.canonicalize().unwrap();
    assert!(fetched.starts_with(&format!("{}\n", root.display())), "from the root: {fetched}");
    assert!(fetched.contains("--locked"), "{fetched}");
    let cache = house.folder.path().join("cargo-home/registry/cache");
    let kept = || {
        fs::read_dir(&cache).unwrap().flatten().any(|entry| entry.path().join("dep-1.0.0.crate").is_file())
    };
    assert!(kept(), "{}", house.read(".self/log/fetch.log"));
    house.until_broker(None);
    house.until("the ledger's first line", || {
        house.read(".self/ledger.jsonl").contains("1 packages of creature/Cargo.lock")
    });
    let first = house.read(".self/ledger.jsonl").lines().next().unwrap_or_default().to_owned();
    assert!(first.contains("\"registry\"") && first.contains("before there was a broker"), "{first}");
    guardian.stop();
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}

#[test]
fn what_is_the_creatures_own_or_of_another_registry_is_left_to_the_broker() {
    for (why, is_own) in [("another registry", false), ("a self-edit", true)] {
        let (house, mut command) = house("sparse+http://127.0.0.1:9/", "00", "exit 0");
        if is_own {
            house.write("creature/more", "its own");
            house.git(&["add", "-A"]);
            house.git(&["commit", "-q", "-m", "self: more"]);
        } else {
            house.write("Cargo.lock", &lock("registry+elsewhere", "00"));
            house.commit("another registry");
        }
        let guardian = Guardian::new(command.spawn().unwrap(), &house);
        house.until("a life", || !house.thoughts().is_empty());
        assert!(!house.path(".self/workspace/fetched").exists(), "{why}");
        guardian.stop();
    }
}

/// A registry that never ends its answer holds no order up, and a guardian that is killed meanwhile tries it no more.
#[test]
fn a_fetch_that_never_ends_holds_no_order_up_and_is_tried_once() {
    let (house, mut command) = house("sparse+http://127.0.0.1:9/", "00", "exec sleep 1000");
    let guardian = Guardian::new(command.spawn().unwrap(), &house);
    house.until("the fetch", || house.path(".self/workspace/fetched").exists());
    assert!(house.ask(&["pause"]).status.success());
    house.until("its end", || house.leftovers().is_empty());
    guardian.kill_only();
    fs::remove_file(house.path(".self/workspace/fetched")).unwrap();
    let guardian = Guardian::new(command.spawn().unwrap(), &house);
    house.until("its hearing", || house.ask(&["resume"]).status.success());
    house.until("a life", || !house.thoughts().is_empty());
    assert!(!house.path(".self/workspace/fetched").exists(), "tried once");
    guardian.stop();
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}
