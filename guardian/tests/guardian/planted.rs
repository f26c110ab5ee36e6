//! What a creature plants for its owner's own tools, tried with those tools: git and cargo as they are installed.

use house::find::find_house;
use repo::planted::reader;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use trials::{House, said};

/// Makes `self/notes` a repository whose settings name a program.
const PLANTS_A_REPOSITORY: &str = "plant() { git init -q self/notes && cd self/notes && \
    printf '#!/bin/sh\\ntouch %s/self/ran\\n' \"$FERAL_HOUSE\" > run && chmod +x run && git add run && \
    git -c user.name=x -c user.email=x@x.invalid commit -q -m x && \
    git config core.fsmonitor \"$FERAL_HOUSE/self/notes/run\" && cd ../..; }; \
    test -e .self/workspace/planted || plant; touch .self/workspace/planted;";

fn at_root(house: &House, command: &str) -> Output {
    let name = ["-c", "user.name=owner", "-c", "user.email=owner@example.invalid"];
    let git = format!("git() {{ command git {} \"$@\"; }}; {command}", name.join(" "));
    Command::new("sh").args(["-c", &git]).current_dir(house.path("")).output().unwrap()
}

/// Found: the owner committed with `git add -A`, and from then on each `git status` ran the creature's program as him.
#[test]
fn a_repository_planted_in_its_papers_runs_nothing_once_it_has_ended() {
    let house = House::new(&format!("{PLANTS_A_REPOSITORY} think alive; live"));
    let guardian = house.start();
    house.until("a blessing", || house.status()["blessed"] == true);
    let before = house.git(&["rev-parse", "HEAD"]);
    assert!(at_root(&house, "git add -A && git commit -qm mine && git status").status.success());
    assert!(house.git(&["ls-files", "-s", "self"]).contains("160000"), "git took it for a repository");
    assert!(house.path("self/ran").exists(), "the attack works while nothing is done against it");
    fs::remove_file(house.path("self/ran")).unwrap();
    guardian.stop();
    assert!(!house.path("self/notes/.git").exists());
    assert!(!house.git(&["ls-files", "-s"]).contains("160000"), "index");
    assert!(!house.git(&["ls-tree", "-r", "HEAD"]).contains("160000"), "HEAD");
    for command in ["git status", "git add -A", "git diff", "git commit -qm again", "git status"] {
        at_root(&house, command);
        assert!(!house.path("self/ran").exists(), "{command}");
    }
    assert_ne!(house.git(&["rev-parse", "HEAD"]), before);
    let kept = String::from_utf8(at_root(&house, "find .self/guardian/kept -name config").stdout).unwrap();
    assert!(kept.contains("self/notes/.git/config") || kept.contains("notes/.git/config"), "{kept}");
    assert_eq!(house.git(&["fsck", "--strict"]), "");
    let guardian = house.start();
    house.until("a blessing", || house.status()["blessed"] == true);
    guardian.stop();
}

/// By its settings cargo runs a program in the compiler's place, in the folder where the owner stands.
#[test]
fn settings_of_cargos_planted_where_the_owner_may_stand_run_nothing() {
    let plants = "mkdir -p self/.cargo; printf '#!/bin/sh\\ntouch %s/self/ran\\nexit 1\\n' \"$FERAL_HOUSE\" > self/run; \
        chmod +x self/run; printf '[build]\\nrustc = \"%s/self/run\"\\n' \"$FERAL_HOUSE\" > self/.cargo/config.toml; \
        test -e .self/workspace/planted || touch .self/workspace/planted;";
    let house = House::new(&format!("{plants} think alive; live"));
    let mine = tempfile::tempdir().unwrap();
    fs::create_dir(mine.path().join("src")).unwrap();
    fs::write(mine.path().join("src/lib.rs"), "").unwrap();
    fs::write(mine.path().join("Cargo.toml"), "[package]\nname = \"mine\"\nedition = \"2024\"\n").unwrap();
    let check = || {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["check", "--quiet", "--offline", "--manifest-path"]).arg(mine.path().join("Cargo.toml"));
        cargo.current_dir(house.path("self")).env_remove("RUSTC").output().unwrap()
    };
    let guardian = house.start();
    house.until("a blessing", || house.status()["blessed"] == true);
    assert!(!check().status.success() && house.path("self/ran").exists(), "the attack works while it lives");
    fs::remove_file(house.path("self/ran")).unwrap();
    guardian.stop();
    let checked = check();
    assert!(checked.status.success() && !house.path("self/ran").exists(), "{}", said(&checked));
}

#[test]
fn every_name_that_a_tool_of_the_owners_reads_is_moved_aside_with_a_word_and_nothing_else_is() {
    let names = ".cargo/config.toml rust-toolchain rust-toolchain.toml rust-analyzer.toml .envrc mise.toml .tool-versions \
        .vscode/tasks.json .idea/workspace.xml .exrc .nvim.lua .dir-locals.el Makefile GNUmakefile justfile .gdbinit \
        .gitmodules deep/er/.envrc";
    let harmless = "notes.md deep/er/page.md .editorconfig makefile.md cargo/config.toml";
    let plants = |place: &str, names: &str| -> String {
        let plant = |name: &str| format!("mkdir -p $(dirname {place}/{name}); echo x > {place}/{name}; ");
        names.split_whitespace().map(plant).collect()
    };
    let all = [plants("self", names), plants("creature", names), plants("self", harmless)].concat();
    let bare = "mkdir -p self/bare/objects self/bare/refs; echo 'ref: refs/heads/x' > self/bare/HEAD;";
    let house = House::new(&format!("think alive; blessed; {all} {bare} beat; think planted; live"));
    let guardian = house.start();
    house.until("the planting", || house.thoughts().len() >= 2);
    guardian.stop();
    for place in ["self", "creature"] {
        for name in names.split_whitespace() {
            assert!(reader(&Path::new(place).join(name)).is_some(), "{name}");
            assert!(!house.path(&format!("{place}/{name}")).exists(), "{place}/{name}");
        }
    }
    assert!(!house.path("self/bare").exists());
    for name in harmless.split_whitespace() {
        assert!(house.path(&format!("self/{name}")).is_file(), "{name}");
    }
    let kept = String::from_utf8(at_root(&house, "find .self/guardian/kept -type f").stdout).unwrap();
    assert_eq!(kept.matches(".envrc").count(), 4, "{kept}");
    let told = house.read("../guardian.log");
    assert!(told.contains("would run programs of the creature's by your own tools: kept in"), "{told}");
}

#[test]
fn the_owners_own_settings_for_his_tools_stay_and_are_his_alone_to_change() {
    let changes = "echo mine > creature/.envrc; mkdir -p self/.vscode; echo mine > self/.vscode/tasks.json;";
    let house = House::new(&format!(
        "test -e .self/workspace/done || {{ {changes} touch .self/workspace/done; }}; think a; live"
    ));
    house.write("creature/.envrc", "the owner's\n");
    house.write("self/.vscode/settings.json", "{}\n");
    house.commit("settings of mine");
    let guardian = house.start();
    house.until("a blessing", || house.status()["blessed"] == true);
    guardian.stop();
    assert_eq!(house.read("creature/.envrc"), "the owner's\n");
    assert_eq!(house.read("self/.vscode/settings.json"), "{}\n");
    assert!(!house.path("self/.vscode/tasks.json").exists());
    assert_eq!(house.git(&["status", "--porcelain", "creature"]), "");
}

/// Found: neither piece of advice settled the refusal that it was given for.
#[test]
fn the_advice_of_a_refusal_ends_it_whatever_was_edited() {
    let nested = "git init -q creature/within && git -C creature/within -c user.name=x -c user.email=x@x.invalid \
        commit -q --allow-empty -m x && echo x > creature/within/file";
    let kinds = [
        ("a new file", "echo x > creature/new"),
        ("a change", "echo '# x' >> creature/creature.sh"),
        ("a file deleted", "rm creature/Cargo.toml"),
        ("an ignored file", "echo secret > creature/.gitignore; echo x > creature/secret"),
        ("a name with a space and a quote", "echo x > \"creature/it's here\""),
        ("a link", "ln -s nowhere creature/link"),
        (
            "an empty folder and a pipe",
            "mkdir creature/empty; mkfifo creature/pipe; echo x > creature/beside",
        ),
        ("a repository within", nested),
        ("one that git has already", &format!("{nested}; git add creature/within && git commit -qm within")),
    ];
    std::thread::scope(|scope| {
        for (kind, edit) in kinds {
            scope.spawn(move || {
                ["To keep them: ", "To drop them: "].map(|wanted| advice_ends_it(kind, edit, wanted))
            });
        }
    });
}

/// In a house of its own: the edit is refused, and what the refusal says after `wanted` lets the next start live.
fn advice_ends_it(kind: &str, edit: &str, wanted: &str) {
    let house = House::new("think alive; live");
    let guardian = house.start();
    house.until("a blessing", || house.status()["blessed"] == true);
    guardian.stop();
    let edited = at_root(&house, edit);
    assert!(edited.status.success(), "{kind}: {}", said(&edited));
    let mut refused = house.start();
    assert_eq!(refused.wait(), 100, "{kind}: {}", house.read("../guardian.log"));
    let told = house.read("../guardian.log");
    let advice = told.rsplit(wanted).next().unwrap().split(". To drop").next().unwrap();
    let advice = advice.lines().next().unwrap().trim_end_matches('.');
    let followed = at_root(&house, advice);
    assert!(followed.status.success(), "{kind}: {advice}: {}", said(&followed));
    let guardian = house.start();
    let lives = house.told("life").len();
    house.until(&format!("a life after {kind}, {advice}"), || {
        house.told("life").len() > lives || house.status()["blessed"] == true
    });
    guardian.stop();
}

/// Found: a repository with a `creature/` and walls switched off, planted in `self/`, was started as a house.
#[test]
fn a_house_planted_where_the_creature_writes_is_none() {
    let house = House::new("think alive; live");
    let planted = "for at in self .self creature/deep; do mkdir -p $at/creature && git init -q $at && \
        echo 'walls = \"off\"' > $at/owner.toml; done";
    assert!(at_root(&house, planted).status.success());
    let root = house.path("").canonicalize().unwrap();
    for place in ["self", "self/creature", ".self", "creature/deep", "creature"] {
        let output = house.command(&[]).current_dir(house.path(place)).output().unwrap();
        assert_eq!(output.status.code(), Some(100), "{place}: {}", said(&output));
        assert!(said(&output).contains(&format!("cd {}", root.display())), "{place}: {}", said(&output));
        assert_eq!(find_house(&root.join(place)).unwrap().root(), root, "{place}");
    }
    // Found: what is measured in houses below the owner's own part of `target/` could not be started any more.
    let within = house.path("target/tried");
    assert!(at_root(&house, "mkdir -p target/tried/creature && git init -q target/tried").status.success());
    assert_eq!(find_house(&within).unwrap().root(), within);
    let status = house.command(&["status"]).current_dir(house.path("self")).output().unwrap();
    assert_eq!(status.status.code(), Some(3), "commands mean the house they are typed in: {}", said(&status));
}

/// What each shape is called, how it is planted, and what the owner does. `repository` and `bare` make one whose settings
/// name a program.
const SHAPES: [(&str, &str, &str); 7] = [
    (
        "in a folder that looks like cargo's",
        "repository self/target; echo x > self/target/CACHEDIR.TAG;",
        "cd self/target",
    ),
    ("110 folders deep", "at=self; for n in $(seq 110); do at=$at/a; done; repository $at;", "cd self"),
    ("bare, in the papers themselves", "bare self; mkdir self/objects self/refs;", "cd self"),
    (
        "bare, in a folder that HEAD has",
        "bare self/drafts; mkdir self/drafts/objects self/drafts/refs;",
        "cd self/drafts",
    ),
    (
        "bare, of links",
        "bare self/b; mkdir self/b/o; ln -s o self/b/objects; ln -s o self/b/refs;",
        "cd self/b",
    ),
    (
        "bare, of executable files",
        "bare self/b; for n in objects refs; do : > self/b/$n; chmod +x self/b/$n; done;",
        "cd self/b",
    ),
    (
        "behind more files than anybody looks at",
        "mkdir self/drafts/many; cd self/drafts/many; seq 260000 | xargs touch; cd ../../..; \
        for n in $(seq 9); do repository self/r$n; repository self/drafts/many/r$n; done;",
        "cd self/drafts/many/r5 || cd self/r5",
    ),
];

/// Found by trying to get past the first mend: all but the plainest shape still ran.
#[test]
fn no_shape_of_a_repository_runs_anything_by_the_owners_git() {
    std::thread::scope(|scope| {
        for (shape, plants, stands) in SHAPES {
            scope.spawn(move || runs_nothing(shape, plants, stands));
        }
    });
}

fn runs_nothing(shape: &str, plants: &str, stands: &str) {
    // In memory, where there is some: hundreds of thousands of files cost a disk a minute. Found there, where the newest comes
    // first in a folder: folders that HEAD has were moved aside with what nobody looked at.
    let memory = Path::new("/dev/shm");
    let place = if tempfile::tempdir_in(memory).is_ok() { memory.to_owned() } else { std::env::temp_dir() };
    let life = format!(
        "repository() {{ mkdir -p $1; git init -q $1; git -C $1 -c user.name=x -c user.email=x@x.invalid commit -q \
         --allow-empty -m x; git -C $1 config core.fsmonitor \"$FERAL_HOUSE/self/run\"; }}; \
         bare() {{ mkdir -p $1; echo 'ref: refs/heads/main' > $1/HEAD; printf '[core]\\nrepositoryformatversion = 0\\n\
         bare = false\\nworktree = .\\nfsmonitor = %s/self/run\\n' \"$FERAL_HOUSE\" > $1/config; }}; \
         test -e .self/workspace/planted || {{ printf '#!/bin/sh\\ntouch %s/self/ran\\n' \"$FERAL_HOUSE\" > self/run; \
         chmod +x self/run; {plants} touch .self/workspace/planted; }}; think alive; live"
    );
    let house = House::new_in(&place, &life);
    let owners = ["self/a/.gitkeep", "self/drafts/.gitkeep", "self/z/.gitkeep"];
    owners.iter().for_each(|path| house.write(path, ""));
    house.commit("drafts");
    let guardian = house.start();
    house.until_within(std::time::Duration::from_secs(180), "a blessing", || {
        house.status()["blessed"] == true
    });
    let _ = fs::remove_file(house.path("self/ran"));
    at_root(&house, &format!("{stands}; git status"));
    assert!(
        house.path("self/ran").exists() || shape.contains("deep"),
        "{shape}: the attack works while it lives"
    );
    let _ = fs::remove_file(house.path("self/ran"));
    guardian.stop();
    at_root(
        &house,
        &format!(
            "({stands}; git status); test -e self/drafts/many || {{ git add -A; git commit -qm mine; git status; }}"
        ),
    );
    assert!(!house.path("self/ran").exists(), "{shape}: {}", house.read("../guardian.log"));
    for path in owners {
        assert!(house.path(path).is_file(), "{shape}: {path}: {}", house.read("../guardian.log"));
    }
}

/// Found: made executable, or a folder put in its place, the owner's file was gone after the stop.
#[test]
fn a_file_of_the_owners_comes_back_as_it_was_whatever_stood_in_its_place() {
    let changes = "chmod +x creature/.envrc; rm self/justfile; mkdir self/justfile; rm self/.exrc; ln -s x self/.exrc; \
        echo mine > self/.envrc;";
    let house = House::new(&format!(
        "test -e .self/workspace/done || {{ {changes} touch .self/workspace/done; }}; think a; live"
    ));
    for name in ["creature/.envrc", "self/justfile", "self/.exrc", "self/.envrc"] {
        house.write(name, "the owner's\n");
    }
    assert!(at_root(&house, "chmod +x self/.envrc").status.success());
    house.commit("settings of mine");
    let guardian = house.start();
    house.until("a blessing", || house.status()["blessed"] == true);
    guardian.stop();
    assert_eq!(house.git(&["status", "--porcelain"]), "");
}

/// Found on reading: an entry that could not be moved kept all behind it in place, and what was moved before it was told to
/// nobody.
#[test]
fn an_entry_that_cannot_be_moved_keeps_no_other_in_its_place() {
    let house = House::new("think alive; live");
    for folder in ["creature", "self/a", "self/b", "self/c"] {
        house.write(&format!("{folder}/.envrc"), "touch ran\n");
    }
    // A mount can be moved by nobody.
    let stuck = house.path("self/b/.envrc");
    if !Command::new("mount")
        .arg("--bind")
        .args([&stuck, &stuck])
        .output()
        .is_ok_and(|done| done.status.success())
    {
        eprintln!("skipped: nothing can be mounted here");
        return;
    }
    let repo = repo::Repo::open(&house::House::new(house.path(""))).unwrap();
    let mut told = Vec::new();
    let cleared = repo.clear_planted(&mut told);
    assert!(Command::new("umount").arg(&stuck).status().unwrap().success());
    assert!(cleared.is_err_and(|error| format!("{error:#}").contains("self/b")), "{told:?}");
    let left =
        ["creature", "self/a", "self/b", "self/c"].map(|folder| house.path(folder).join(".envrc").exists());
    assert_eq!(left, [false, false, true, false]);
    assert_eq!(told.len(), 2, "{told:?}");
}
