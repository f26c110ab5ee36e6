//! Risky mode: the folder that the owner names can be written behind the walls, and nothing beside it.

use house::risky::{folder, kept};
use std::fs;
use std::path::Path;
use trials::House;

/// Tries to write each of these, and thinks what came of it.
fn tries(places: &[String]) -> String {
    let each = |place: &String| {
        format!(
            "if (echo heron >> '{place}') 2>/dev/null; then think 'wrote {place}'; else think 'kept {place}'; fi; "
        )
    };
    let each: String = places.iter().map(each).collect();
    format!("{each}think done; live")
}

fn thought(house: &House, text: &str) -> bool {
    house.thoughts().iter().any(|thought| thought["data"]["monologue"] == text)
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The owner's project beside a house, with what a project has.
fn project(top: &Path) {
    for name in [
        "site/index.html",
        ".git/config",
        "site/.env",
        "site/deep/.env.local",
        "site/deep/.git/hooks/x",
        "owner.toml",
    ] {
        write(&top.join(name), "secret\n");
    }
}

/// Found by running the specification: every write in risky mode failed behind the walls.
#[test]
fn the_folder_that_the_owner_names_is_written_and_nothing_beside_it() {
    let outside = tempfile::Builder::new().prefix("owners-").tempdir().unwrap();
    let top = outside.path().canonicalize().unwrap();
    let (named, beside) = (top.join("projects"), top.join("beside.txt"));
    project(&named);
    write(&beside, "mine\n");
    let at = |name: &str| named.join(name).display().to_string();
    let (free, refused) = (
        ["site/index.html", "site/new.txt", "plain.txt"].map(at),
        [
            ".git/config",
            ".git/new",
            "site/.env",
            "site/deep/.env.local",
            "site/deep/.git/hooks/x",
            "site/deep/.git/hooks/y",
            "owner.toml",
        ]
        .map(at),
    );
    let mut places = [free.as_slice(), refused.as_slice()].concat();
    places.push(beside.display().to_string());
    let reads = format!("if grep -q secret '{}' 2>/dev/null; then think 'read keys'; fi; ", at("site/.env"));
    let moves = format!(
        "mv '{0}' '{0}.x' 2>/dev/null && think 'moved keys'; rm -rf '{1}' 2>/dev/null; ",
        at("site/.env"),
        at("site/deep/.git")
    );
    let house = House::new(&format!("{reads}{moves}{}", tries(&places)));
    house.settings(&format!("[files]\nrisky = true\nrisky_root = {named:?}\n"));
    let guardian = house.start();
    house.until("all tries", || thought(&house, "done"));
    if house.status()["walls"] == "full" {
        for place in &free {
            assert!(thought(&house, &format!("wrote {place}")), "{place}: {:#?}", house.thoughts());
        }
        for place in refused.iter().chain([&beside.display().to_string()]) {
            assert!(thought(&house, &format!("kept {place}")), "{place}: {:#?}", house.thoughts());
        }
        assert!(!thought(&house, "read keys") && !thought(&house, "moved keys"));
        assert_eq!(fs::read_to_string(named.join("site/.env")).unwrap(), "secret\n");
        assert_eq!(fs::read_to_string(named.join("site/deep/.git/hooks/x")).unwrap(), "secret\n");
        assert_eq!(fs::read_to_string(named.join("plain.txt")).unwrap(), "heron\n");
    }
    let handed: serde_json::Value = serde_json::from_str(&house.read(".self/settings.json")).unwrap();
    assert_eq!(handed["settings"]["files"]["risky_root"], named.display().to_string(), "{handed}");
    assert_eq!(guardian.stop(), 0);
}

/// A folder in the house, and an owner who takes the word back: it counts from the next life on.
#[test]
fn a_folder_of_the_house_is_written_from_the_next_life_on_and_no_longer_once_it_is_taken_back() {
    let tries = "n=$FERAL_LIFE; if (echo heron > projects/$n.txt) 2>/dev/null; then think wrote-$n; else think kept-$n; fi; \
        until grep -q risk$n .self/inbox.jsonl 2>/dev/null; do beat; sleep 0.05; done; ask rebirth again r; exit 0";
    let house = House::new(tries);
    house.write("projects/readme.txt", "mine\n");
    house.commit("projects");
    let guardian = house.start();
    house.until("the first life", || thought(&house, "kept-1"));
    house.settings("[files]\nrisky = true\nrisky_root = \"projects\"\n");
    house.until("the change", || !house.told("settings_changed").is_empty());
    house.say("risk1");
    house.until("the second life", || thought(&house, "wrote-2") || thought(&house, "kept-2"));
    let full = house.status()["walls"] == "full";
    assert!(!full || thought(&house, "wrote-2"));
    house.settings("");
    house.until("the other change", || house.told("settings_changed").len() == 2);
    house.say("risk2");
    house.until("the third life", || thought(&house, "wrote-3") || thought(&house, "kept-3"));
    assert!(!full || thought(&house, "kept-3"));
    assert_eq!(guardian.stop(), 0);
}

/// What is refused is told to the owner and to the creature, whose file tools stay in the workspace.
#[test]
fn a_folder_that_may_not_be_granted_is_told_and_not_granted() {
    let house =
        House::new("if (echo x >> guardian/x.rs) 2>/dev/null; then think wrote; else think kept; fi; live");
    house.write("guardian/x.rs", "//! The stable part.\n");
    house.commit("a stable part");
    house.settings("[files]\nrisky = true\nrisky_root = \"guardian\"\n");
    let guardian = house.start();
    house.until("its try", || thought(&house, "kept") || thought(&house, "wrote"));
    assert!(thought(&house, "kept") || house.status()["walls"] != "full");
    let handed: serde_json::Value = serde_json::from_str(&house.read(".self/settings.json")).unwrap();
    assert_eq!(handed["settings"]["files"]["risky"], false, "{handed}");
    assert!(handed["told"].to_string().contains("a part of this house"), "{handed}");
    let log = fs::read_to_string(house.folder.path().join("guardian.log")).unwrap();
    assert!(log.contains("nothing is granted of [files] risky_root"), "{log}");
    assert_eq!(guardian.stop(), 0);
}

#[test]
fn no_folder_is_granted_that_holds_a_house_a_home_keys_or_programs() {
    let at = tempfile::Builder::new().prefix("owners-").tempdir().unwrap();
    let root = at.path().canonicalize().unwrap().join("house");
    // Every folder this repository has at its top, as it is today.
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let tops: Vec<_> = fs::read_dir(own).unwrap().flatten().filter(|entry| entry.path().is_dir()).collect();
    assert!(tops.len() > 8);
    for top in &tops {
        fs::create_dir_all(root.join(top.file_name()).join("deep")).unwrap();
    }
    for name in [".self/mind", ".self-broker", "projects/site/.git", "projects/.envs"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    write(&root.join("projects/a.txt"), "a");
    std::os::unix::fs::symlink(root.join("creature"), root.join("projects/own")).unwrap();
    let house = house::House::new(root.clone());
    let home = std::env::home_dir().unwrap();
    let mut refused: Vec<String> =
        tops.iter().map(|top| top.file_name().to_string_lossy().into_owned()).collect();
    refused.extend(tops.iter().map(|top| format!("{}/deep", top.file_name().to_string_lossy())));
    for name in [
        "",
        ".",
        "..",
        "projects/..",
        "projects/../creature",
        "nowhere",
        "projects/a.txt",
        "projects/own",
        ".self/mind",
        ".self-broker",
        "projects/site/.git",
        "projects/.envs",
        "/",
        "/etc",
        "/usr/local/bin",
        "/tmp",
        "/home",
    ] {
        refused.push(name.to_owned());
    }
    refused.extend([root.parent().unwrap(), &root, &home].map(|path| path.display().to_string()));
    if home.join(".cargo").is_dir() {
        refused.push(home.join(".cargo").display().to_string());
    }
    for name in &refused {
        assert!(folder(&house, name).is_err(), "{name} is granted");
    }
    assert_eq!(folder(&house, "projects/site"), Ok(root.join("projects/site")));
    assert_eq!(folder(&house, &format!("{}/", root.join("projects").display())), Ok(root.join("projects")));
    let mut found = kept(&root.join("projects")).unwrap();
    found.sort();
    assert_eq!(found, [root.join("projects/.envs"), root.join("projects/site/.git")]);
}

/// Writes a name into the folder that no text is.
fn no_text(folder: &Path) -> std::path::PathBuf {
    use std::os::unix::ffi::OsStrExt;
    folder.join(std::ffi::OsStr::from_bytes(b"caf\xe9"))
}

/// Found by reading: the creature may make anything in the folder, and what it made decided whether its next life could
/// begin (a pipe named `.env`, a name that is no text, paths of more than one argument takes) and what that could write (a
/// link named `.env` to its own heartbeat); what could not be read was taken to hold nothing.
#[test]
fn nothing_that_is_made_in_the_folder_hides_what_is_kept_or_breaks_a_launch() {
    let at = tempfile::Builder::new().prefix("owners-").tempdir().unwrap();
    let top = at.path().canonicalize().unwrap();
    let link = |to: &Path, from: &Path| std::os::unix::fs::symlink(to, from).unwrap();
    let made = |name: &str| {
        let folder = top.join(name);
        fs::create_dir(&folder).unwrap();
        folder
    };
    let odd = made("odd");
    fs::create_dir_all(no_text(&odd).join(".git")).unwrap();
    assert!(kept(&odd).unwrap_err().contains("its name is no text"));
    let (house, text) =
        (house::House::new(top.clone()), format!("[files]\nrisky = true\nrisky_root = {odd:?}\n"));
    let handed = house::settings::handed::document(&house, 1, &text, "UTC").unwrap();
    assert_eq!(
        handed["settings"]["files"]["risky"], false,
        "the file tools work where they can write: {handed}"
    );

    let long = made("long");
    for nth in 0..90 {
        fs::create_dir_all(long.join(format!("{nth:0>250}/{nth:0>250}/.git"))).unwrap();
    }
    assert!(kept(&long).unwrap_err().contains("too much"), "a launch is told all of them in one argument");

    // Moved in level by level, as a shell would, below where a path ends.
    let mut deep = made("repository");
    fs::create_dir(deep.join(".git")).unwrap();
    for nth in 0..18 {
        let around = made(&format!("around-{nth}"));
        fs::rename(&deep, around.join("n".repeat(250))).unwrap();
        deep = around;
    }
    assert!(kept(&deep).unwrap_err().contains("cannot be looked through"));

    let linked = made("linked");
    fs::create_dir(linked.join("sub")).unwrap();
    fs::write(linked.join("sub/.env"), "secret").unwrap();
    link(&top.join("odd"), &linked.join(".git"));
    link(Path::new("nowhere"), &linked.join(".env.gone"));
    link(&linked.join("sub/.env"), &linked.join(".env"));
    assert_eq!(
        kept(&linked),
        Ok(vec![linked.join("sub/.env")]),
        "a link leads out, nowhere or to what is kept"
    );
    fs::write(linked.join("keys"), "secret").unwrap();
    link(&linked.join("keys"), &linked.join(".env.keys"));
    assert!(kept(&linked).unwrap_err().contains("is a link"), "the keys could be read by their other name");

    let root = top.join("house");
    fs::create_dir(&root).unwrap();
    fs::create_dir(no_text(&root)).unwrap();
    link(&no_text(&root), &root.join("projects"));
    assert!(folder(&house::House::new(root), "projects").is_err(), "it cannot be told to the creature");
    let own = std::env::current_exe().unwrap();
    let refused = folder(&house::House::new(top), &own.parent().unwrap().display().to_string());
    assert!(refused.is_err_and(|why| why.contains("programs")), "this very program lies there");
}

/// The same, by a life: what it leaves in the folder hurts neither the next one nor what that one may write.
#[test]
fn a_life_begins_whatever_the_one_before_it_left_in_the_folder() {
    let script = "n=$FERAL_LIFE; if test $n = 1; then mkdir projects/sub; mkfifo projects/.env projects/sub/.env; \
        ln -s \"$PWD/.self/heartbeat\" projects/.env.beat; ln -s \"$PWD/.self/memory.jsonl\" projects/.env.memory; \
        ln -s \"$PWD/creature\" projects/.git; think left; \
        until grep -q again .self/inbox.jsonl 2>/dev/null; do beat; sleep 0.05; done; ask rebirth again r; exit 0; fi; \
        if (echo heron > creature/heron.txt) 2>/dev/null; then think wrote-$n; else think kept-$n; fi; live";
    let house = House::new(script);
    house.write("projects/readme.txt", "mine\n");
    house.commit("projects");
    house.settings("[files]\nrisky = true\nrisky_root = \"projects\"\n");
    let guardian = house.start();
    house.until("the first life", || thought(&house, "left"));
    house.say("again");
    house.until("the second life", || thought(&house, "wrote-2") || thought(&house, "kept-2"));
    assert!(thought(&house, "wrote-2"), "a link of the first life's took its own source from the second");
    assert_eq!(guardian.stop(), 0);
}
