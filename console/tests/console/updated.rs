//! Updates from upstream: fetched, shown, tried in the sandbox, merged forward only; whatever goes wrong leaves all as it was.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use trials::{House, SOUND};

const KEY: &str = "sk-ant-0123456789";

/// A house and the bare repository it follows, to which others push.
struct Followed {
    house: House,
    others: PathBuf,
}

impl Followed {
    fn new() -> Self {
        let house = House::new(SOUND);
        house.write(".gitignore", "/target/\n.env\n");
        house.write(".env", &format!("ANTHROPIC_API_KEY={KEY}\n"));
        house.write("docs/guide.md", "one\ntwo\nthree\nfour\nfive\n");
        house.commit("as it was published");
        let (bare, others) = (house.folder.path().join("upstream.git"), house.folder.path().join("others"));
        git(house.folder.path(), &["clone", "-q", "--bare", "house", "upstream.git"]);
        git(house.folder.path(), &["clone", "-q", "upstream.git", "others"]);
        house.git(&["remote", "add", "origin", bare.to_str().unwrap()]);
        Self { house, others }
    }

    /// Somebody changes files and pushes them.
    fn pushed(&self, files: &[(&str, &str)]) -> String {
        for (name, text) in files {
            fs::write(self.others.join(name), text).unwrap();
        }
        git(&self.others, &["add", "-A"]);
        git(
            &self.others,
            &["-c", "user.name=o", "-c", "user.email=o@o.invalid", "commit", "-q", "-m", "what is new"],
        );
        git(&self.others, &["push", "-q"]);
        git(&self.others, &["rev-parse", "HEAD"])
    }

    fn update(&self, args: &[&str]) -> Output {
        self.house.ask(&[&["update"], args].concat())
    }
}

/// What an update started in the background ends with its test.
impl Drop for Followed {
    fn drop(&mut self) {
        if let Some(pid) = house::instance::running(&house::House::new(&self.house.root)) {
            let _ = Command::new("kill").arg(pid.to_string()).status();
            while house::instance::running(&house::House::new(&self.house.root)) == Some(pid) {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
    }
}

fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git").args(args).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", both(&output));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn both(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

#[test]
fn what_is_new_is_shown_tried_in_the_sandbox_and_merged_and_the_house_goes_on() {
    let followed = Followed::new();
    let house = &followed.house;
    house.write("creature/notes.txt", "its own\n");
    let own = house.commit("self: a note");
    let reads = "cat .env > target/creature/tmp/read 2>&1\necho tested >> target/creature/tmp/read\n";
    let new =
        followed.pushed(&[("docs/guide.md", "one\ntwo\nthree\nfour\nsix\n"), ("creature/test.sh", reads)]);
    let mut guardian = house.start();
    house.until("a life", || house.status()["blessed"] == true);
    house.write("README.md", "A house, edited by its owner.\n");
    let shown = followed.update(&["--dry-run"]);
    assert!(shown.status.success() && both(&shown).contains("what is new"), "{}", both(&shown));
    assert_eq!(house.git(&["rev-parse", "HEAD"]), own, "nothing is merged by looking");
    let output = followed.update(&[]);
    assert!(output.status.success(), "{}", both(&output));
    assert!(both(&output).contains("goes on in the background"), "{}", both(&output));
    assert_eq!(guardian.wait(), 0, "the one before left as asked");
    for commit in [&own, &new] {
        house.git(&["merge-base", "--is-ancestor", commit, "HEAD"]);
    }
    assert!(
        house.read("docs/guide.md").ends_with("six\n") && house.read("creature/notes.txt") == "its own\n"
    );
    assert_eq!(house.read("README.md"), "A house, edited by its owner.\n");
    assert_eq!(house.git(&["status", "--porcelain"]), "M README.md", "nothing else is left open");
    let read = house.read("target/creature/tmp/read");
    assert!(read.ends_with("tested\n") && !read.contains(KEY), "it ran, and behind the walls: {read}");
    let head = house.git(&["rev-parse", "HEAD"]);
    house.until_blessed(&head);
    let bare = house.folder.path().join("upstream.git");
    assert_eq!(git(&bare, &["rev-parse", "main"]), new, "nothing is pushed");
    let again = followed.update(&[]);
    assert!(again.status.success() && both(&again).contains("nothing is new"), "{}", both(&again));
}

#[test]
fn a_conflict_is_told_by_its_files_and_touches_nothing() {
    let followed = Followed::new();
    let house = &followed.house;
    house.write("docs/guide.md", "one\ntwo\nours\nfour\nfive\n");
    let head = house.commit("ours");
    followed.pushed(&[("docs/guide.md", "one\ntwo\ntheirs\nfour\nfive\n")]);
    let guardian = house.start();
    house.until("a life", || house.status()["blessed"] == true);
    let output = followed.update(&[]);
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    assert!(both(&output).contains("both sides changed docs/guide.md"), "{}", both(&output));
    assert_eq!(
        (house.git(&["rev-parse", "HEAD"]), house.git(&["status", "--porcelain"])),
        (head, String::new())
    );
    assert_eq!(house.status()["guardian_pid"], guardian.pid(), "it was not even stopped");
    assert_eq!(guardian.stop(), 0);
}

#[test]
fn a_failed_test_is_named_and_the_house_goes_on_as_it_was() {
    let followed = Followed::new();
    let house = &followed.house;
    let head = house.git(&["rev-parse", "HEAD"]);
    followed.pushed(&[
        ("docs/guide.md", "other\n"),
        ("creature/test.sh", "echo 'test pace::keeps_its_pace ... FAILED'; exit 101\n"),
    ]);
    let mut guardian = house.start();
    house.until("a life", || house.status()["blessed"] == true);
    let life = house.status()["life"].as_u64();
    let output = followed.update(&[]);
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    assert!(both(&output).contains("test pace::keeps_its_pace ... FAILED"), "{}", both(&output));
    assert_eq!(guardian.wait(), 0);
    assert_eq!(
        (house.git(&["rev-parse", "HEAD"]), house.git(&["status", "--porcelain"])),
        (head, String::new())
    );
    assert!(!house.path("creature/test.sh").exists() && house.read("docs/guide.md").starts_with("one\n"));
    house.until("it to go on", || {
        house.status()["life"].as_u64() > life && house.status()["creature_pid"].is_number()
    });
}

#[test]
fn edits_that_are_not_committed_are_never_written_over() {
    let followed = Followed::new();
    let house = &followed.house;
    let head = house.git(&["rev-parse", "HEAD"]);
    followed.pushed(&[("docs/guide.md", "theirs\n"), ("docs/more.md", "theirs\n")]);
    for (file, text) in [("docs/guide.md", "mine\n"), ("docs/more.md", "mine too\n")] {
        house.write(file, text);
        let output = followed.update(&[]);
        assert_eq!(output.status.code(), Some(1), "{}", both(&output));
        assert!(both(&output).contains(&format!("{file} changes upstream")), "{}", both(&output));
        assert_eq!((house.git(&["rev-parse", "HEAD"]), house.read(file)), (head.clone(), text.to_owned()));
        fs::remove_file(house.path(file)).unwrap();
        house.git(&["checkout", "-q", "--", "docs/guide.md"]);
    }
    // Edits of the creature's that nobody committed, made while nobody lived here, are the owner's too.
    house.write("creature/creature.sh", "mine\n");
    followed.pushed(&[("creature/more.txt", "theirs\n")]);
    let output = followed.update(&[]);
    assert!(
        !output.status.success() && both(&output).contains("creature/ has uncommitted edits"),
        "{}",
        both(&output)
    );
    assert_eq!(house.read("creature/creature.sh"), "mine\n");
}

/// Killed while the tests run: what was tried is taken back before anything lives.
#[test]
fn an_update_that_is_killed_leaves_the_creature_that_lived() {
    let followed = Followed::new();
    let house = &followed.house;
    let head = house.git(&["rev-parse", "HEAD"]);
    let waits = "echo runs > target/creature/tmp/runs; while :; do sleep 0.1; done\n";
    followed.pushed(&[("creature/test.sh", waits)]);
    let mut child = house.command(&["update"]).spawn().unwrap();
    house.until("its tests to run", || house.path("target/creature/tmp/runs").exists());
    assert!(house.path("creature/test.sh").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    house.until("its tests to be gone", || house.leftovers().is_empty());
    let guardian = house.start();
    house.until_blessed(&head);
    assert!(!house.path("creature/test.sh").exists());
    assert_eq!(house.git(&["status", "--porcelain"]), "");
    assert_eq!(guardian.stop(), 0);
}

/// A real crate, tested by the real cargo behind the real walls: its build script and its tests try to read a key.
#[test]
fn a_real_creature_is_built_and_tested_behind_real_walls() {
    let followed = Followed::new();
    let house = &followed.house;
    let manifest = "[package]\nname = \"creature\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let lock = "version = 4\n\n[[package]]\nname = \"creature\"\nversion = \"0.1.0\"\n";
    let source = |holds: &str| {
        format!(
            "fn main() {{}}\n#[test]\nfn a_key_is_out_of_reach() {{\n    let read = std::fs::read_to_string(\".env\").unwrap_or_default();\n    \
             let read = read + &std::fs::read_to_string(\"../.env\").unwrap_or_default();\n    assert!({holds}read.contains(\"sk-ant\"));\n}}\n"
        )
    };
    fs::create_dir_all(followed.others.join("creature/src")).unwrap();
    let files = |holds: &str| {
        followed.pushed(&[
            ("creature/Cargo.toml", manifest),
            ("creature/Cargo.lock", lock),
            ("creature/src/main.rs", source(holds).as_str()),
        ])
    };
    let cargo = std::env::var("CARGO").unwrap();
    let update = || house.command(&["update"]).env("CARGO", &cargo).output().unwrap();
    let head = house.git(&["rev-parse", "HEAD"]);
    files("");
    let output = update();
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    assert!(both(&output).contains("a_key_is_out_of_reach ... FAILED"), "{}", both(&output));
    assert_eq!(house.git(&["rev-parse", "HEAD"]), head);
    let sound = files("!");
    let output = update();
    assert!(output.status.success(), "{}", both(&output));
    assert_eq!(house.git(&["rev-parse", "HEAD"]), sound, "its own history had nothing new: forward");
    assert_eq!(house.git(&["status", "--porcelain"]), "");
}
