//! Repositories of other kinds, settings that change what git does, and years of commits.

use super::{Ends, Machine, Seen, line, refusal, said, so};
use crate::{House, SOUND, becomes};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

pub const MACHINES: &[Machine] = &[
    Machine::new("split_index", "git's index in two files (`core.splitIndex`)", Ends::Refuses, split_index),
    Machine::new(
        "split_index_meanwhile",
        "the same, turned on while the guardian runs",
        Ends::Waits,
        split_index_meanwhile,
    ),
    Machine::new("sparse_index", "a sparse checkout with a sparse index", Ends::Refuses, sparse_index),
    Machine::new("sparse_checkout", "a sparse checkout with a whole index", Ends::Works, sparse_checkout),
    Machine::new("shallow_clone", "a clone by `--depth 1`", Ends::Works, shallow_clone),
    Machine::new("partial_clone", "a clone by `--filter=blob:none`", Ends::Works, partial_clone),
    Machine::new("reftable", "refs in a reftable", Ends::Refuses, reftable),
    Machine::new("sha256", "objects named by SHA-256", Ends::Refuses, sha256),
    Machine::new("signing_without_a_key", "`commit.gpgsign` with no key", Ends::Works, signing),
    Machine::new("hooks_that_refuse", "hooks that refuse each commit and each ref", Ends::Works, hooks),
    Machine::new("submodule", "the house is a submodule", Ends::Works, submodule),
    Machine::new("loose_objects", "thousands of loose objects and refs", Ends::Works, loose_objects),
];

/// A house whose creature edits itself once, so that the guardian commits; lives in the condition that `made` makes.
fn edits_itself(made: impl FnOnce(&House)) -> House {
    let house = House::new(&becomes(SOUND));
    made(&house);
    lives_and_commits(&house);
    house
}

fn lives_and_commits(house: &House) {
    let guardian = house.start();
    house.until("a blessed second life", || house.status()["blessed"] == true && house.status()["life"] == 2);
    guardian.stop();
    assert!(house.git(&["log", "-1", "--format=%s"]).starts_with("self:"), "the edit is committed");
    // Whatever git thinks of its index, it shows nothing as changed, and finds nothing damaged.
    assert_eq!(house.git(&["status", "--porcelain", "--", "creature", "self"]), "");
    house.git(&["fsck", "--no-dangling"]);
}

/// Refused with a remedy; after that, an edit is committed and git shows nothing as changed.
fn refused_until(made: impl FnOnce(&House), remedy: &str) -> Seen {
    let house = House::new(&becomes(SOUND));
    made(&house);
    let seen = refused(&house, remedy);
    let done = Command::new("sh").args(["-c", remedy]).current_dir(&house.root).output().unwrap();
    assert!(done.status.success(), "{remedy}: {}", said(&done));
    lives_and_commits(&house);
    seen
}

/// Found: the index was not brought along, so that the owner's next commit would have undone the edit.
fn split_index() -> Seen {
    refused_until(
        |house| {
            house.git(&["config", "core.splitIndex", "true"]);
            house.git(&["update-index", "--split-index"]);
        },
        "git config core.splitIndex false && git update-index --no-split-index",
    )
}

/// The edit is committed, the index is brought along once that is undone.
fn split_index_meanwhile() -> Seen {
    let waits = "think waits; blessed; until [ -e .self/workspace/go ]; do beat; sleep 0.05; done";
    let house = House::new(&format!("{waits}; {}", becomes(SOUND)));
    let guardian = house.start();
    house.until("a blessing", || house.status()["blessed"] == true);
    house.git(&["config", "core.splitIndex", "true"]);
    house.git(&["update-index", "--split-index"]);
    house.write(".self/workspace/go", "");
    house.until("a blessed second life", || house.status()["blessed"] == true && house.status()["life"] == 2);
    let remedy = "git config core.splitIndex false && git update-index --no-split-index";
    let seen = line(&fs::read_to_string(&guardian.log).unwrap(), &[remedy, "reversed until then"]);
    assert!(Command::new("sh").args(["-c", remedy]).current_dir(&house.root).status().unwrap().success());
    guardian.stop();
    let guardian = house.start();
    house.until("a third life", || house.status()["blessed"] == true && house.status()["life"] == 3);
    assert_eq!(house.git(&["status", "--porcelain", "--", "creature"]), "");
    guardian.stop();
    Seen::So(seen)
}

/// Found: as with the index in two files.
fn sparse_index() -> Seen {
    refused_until(
        |house| {
            house.write("elsewhere/large", "not checked out\n");
            house.commit("a folder that is left out");
            house.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "creature", "self", ".self"]);
            assert!(!house.path("elsewhere").exists());
        },
        "git sparse-checkout reapply --no-sparse-index",
    )
}

fn sparse_checkout() -> Seen {
    edits_itself(|house| {
        house.write("elsewhere/large", "not checked out\n");
        house.commit("a folder that is left out");
        house.git(&["sparse-checkout", "set", "--cone", "--no-sparse-index", "creature", "self", ".self"]);
        assert!(!house.path("elsewhere").exists());
    });
    so("it commits, what is left out stays in the tree and out of the folder")
}

/// Puts what this git command makes of the house in its place.
fn cloned(house: &House, args: &[&str]) {
    let whole = house.folder.path().join("whole");
    fs::rename(&house.root, &whole).unwrap();
    let from = format!("file://{}", whole.display());
    let mut clone = Command::new("git");
    clone.args(["clone", "-q"]).args(args).arg(from).arg(&house.root);
    assert!(clone.status().unwrap().success());
    house.git(&["config", "user.name", "owner"]);
    house.git(&["config", "user.email", "owner@house.invalid"]);
}

fn shallow_clone() -> Seen {
    edits_itself(|house| {
        house.commit("one more");
        cloned(house, &["--depth", "1"]);
        assert_eq!(house.git(&["rev-list", "--count", "HEAD"]), "1");
    });
    so("it commits on the one commit there is")
}

/// Found: a clone by `--filter=blob:none` could not be opened, and the doctor called it no repository.
fn partial_clone() -> Seen {
    edits_itself(|house| {
        house.git(&["config", "uploadpack.allowFilter", "true"]);
        cloned(house, &["--filter=blob:none"]);
        assert_eq!(house.git(&["config", "remote.origin.promisor"]), "true");
        // As older versions of git leave it.
        house.git(&["config", "core.repositoryformatversion", "1"]);
        house.git(&["config", "extensions.partialClone", "origin"]);
    });
    so("what HEAD holds was fetched with the clone, and nothing else is read")
}

/// The start and the doctor refuse with this remedy.
fn refused(house: &House, remedy: &str) -> Seen {
    let doctor = house.ask(&["doctor"]);
    assert!(!doctor.status.success());
    line(&said(&doctor), &[remedy]);
    Seen::So(line(&refusal(house, house.command(&[])), &[remedy]))
}

fn reftable() -> Seen {
    let house = House::new(SOUND);
    house.git(&["config", "core.repositoryformatversion", "1"]);
    house.git(&["config", "extensions.refStorage", "reftable"]);
    refused(&house, "git refs migrate --ref-format=files")
}

/// Found: the remedy told was a plain clone, which has the same names.
fn sha256() -> Seen {
    let house = House::new(SOUND);
    fs::remove_dir_all(house.path(".git")).unwrap();
    house.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    house.git(&["config", "user.name", "owner"]);
    house.git(&["config", "user.email", "owner@house.invalid"]);
    house.commit("first, by other names");
    let seen = refused(&house, "git fast-export --all");
    // What it says is what helps.
    let Seen::So(sentence) = &seen else { return seen };
    let commands = sentence.split('`').nth(1).unwrap();
    let done = Command::new("sh").args(["-c", commands]).current_dir(&house.root).output().unwrap();
    assert!(done.status.success(), "{commands}: {}", said(&done));
    let aside = house.root.with_file_name("by-sha256");
    fs::rename(&house.root, &aside).unwrap();
    fs::rename(house.root.with_file_name("as-sha1"), &house.root).unwrap();
    let guardian = house.start();
    house.until("a blessing", || house.status()["blessed"] == true);
    guardian.stop();
    seen
}

fn signing() -> Seen {
    edits_itself(|house| {
        house.git(&["config", "commit.gpgsign", "true"]);
        house.git(&["config", "tag.gpgsign", "true"]);
        house.git(&["config", "user.signingkey", "0123456789ABCDEF"]);
        house.git(&["config", "gpg.program", "/nowhere/gpg"]);
    });
    so("the house's own commits are not signed")
}

fn hooks() -> Seen {
    edits_itself(|house| {
        let hooks = house.folder.path().join("hooks");
        fs::create_dir(&hooks).unwrap();
        for name in ["pre-commit", "commit-msg", "reference-transaction", "post-commit", "pre-auto-gc"] {
            fs::write(hooks.join(name), "#!/bin/sh\nexit 1\n").unwrap();
            fs::set_permissions(hooks.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        house.git(&["config", "core.hooksPath", hooks.to_str().unwrap()]);
    });
    so("the house's own commits run no hook")
}

fn submodule() -> Seen {
    let house = House::new(&becomes(SOUND));
    let (above, whole) = (house.folder.path().join("above"), house.folder.path().join("whole"));
    fs::rename(&house.root, &whole).unwrap();
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "protocol.file.allow=always", "-c", "user.name=o", "-c", "user.email=o@x"]);
        let output = git.arg("-C").arg(&above).args(args).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", said(&output));
    };
    fs::create_dir(&above).unwrap();
    git(&["init", "-q", "-b", "main"]);
    git(&["submodule", "add", "-q", whole.to_str().unwrap(), "house"]);
    git(&["commit", "-q", "-m", "a house in it"]);
    let mut house = house;
    house.root = above.join("house");
    house.git(&["config", "user.name", "owner"]);
    house.git(&["config", "user.email", "owner@house.invalid"]);
    assert!(house.path(".git").is_file());
    lives_and_commits(&house);
    so("it commits in the submodule; the repository around it is its owner's to commit")
}

/// Found: nothing packed them; after a year of self-edits a repository had tens of thousands of files.
fn loose_objects() -> Seen {
    const COMMITS: usize = 1_500;
    let house = House::new(SOUND);
    // The owner's own work that no branch names.
    house.write("README.md", "unfinished\n");
    house.git(&["stash", "-q"]);
    house.settings("git_small_s = 0.2");
    house.write("../lost", "named by nothing\n");
    let lost = house.git(&["hash-object", "-w", "../lost"]);
    lives_a_year(&house, COMMITS);
    let files = |house: &House| {
        let found = Command::new("find").arg(house.path(".git")).args(["-type", "f"]).output().unwrap();
        String::from_utf8_lossy(&found.stdout).lines().count()
    };
    let refs = || house.git(&["for-each-ref"]);
    let (before, named) = (files(&house), refs());
    let guardian = house.start();
    house.until("a pack", || {
        fs::read_to_string(&guardian.log).unwrap().contains("the repository is kept small")
    });
    house.until("a blessing", || house.status()["blessed"] == true);
    guardian.stop();
    let after = files(&house);
    assert!(before > 3 * COMMITS && after < 200, "{before} files, then {after}");
    let kept = |line: &&str| !line.contains("refs/guardian/good/");
    assert_eq!(refs().lines().filter(kept).collect::<Vec<_>>(), named.lines().collect::<Vec<_>>());
    assert_eq!(house.git(&["rev-list", "--count", "year"]), (COMMITS + 1).to_string());
    assert_eq!(
        house.git(&["cat-file", "-p", &lost]),
        "named by nothing",
        "an object that nothing names stays"
    );
    assert!(house.git(&["stash", "show", "-p"]).contains("+unfinished"), "a stash stays");
    house.git(&["fsck", "--full", "--no-dangling"]);
    so(&format!("over {} files in .git before, under 200 after; what no ref names stays too", 3 * COMMITS))
}

/// A year of self-edits on a branch, as loose objects, and a ref for each tenth.
fn lives_a_year(house: &House, commits: usize) {
    let repo = git2::Repository::open(&house.root).unwrap();
    let by = git2::Signature::now("creature", "creature@feral.invalid").unwrap();
    let mut parent = repo.head().unwrap().peel_to_commit().unwrap();
    for number in 0..commits {
        let blob = repo.blob(format!("edit {number}\n").as_bytes()).unwrap();
        let mut tree = repo.treebuilder(Some(&parent.tree().unwrap())).unwrap();
        tree.insert("edited.txt", blob, 0o100_644).unwrap();
        let tree = repo.find_tree(tree.write().unwrap()).unwrap();
        let commit = repo.commit(None, &by, &by, "self: an edit", &tree, &[&parent]).unwrap();
        if number % 10 == 0 {
            repo.reference(&format!("refs/guardian/rescued/{number:05}"), commit, true, "kept").unwrap();
        }
        parent = repo.find_commit(commit).unwrap();
    }
    repo.reference("refs/heads/year", parent.id(), true, "a year").unwrap();
}
