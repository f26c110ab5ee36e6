//! The tree that lives and the draft: who changed what, and that cargo never takes one for the other.

use crate::yard::Yard;
use patch::draft::Draft;
use patch::proof::{self, Tree};
use patch::source::{Divergence, diverged};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

const MANIFEST: &str = "[workspace]\n[package]\nname = \"creature\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[profile.dev]\ndebug = 0\n";
const LOCK: &str = "version = 4\n\n[[package]]\nname = \"creature\"\nversion = \"0.1.0\"\n";

#[test]
fn who_changed_what_since_the_copy() {
    let tree = |files: &[(&str, &str)]| -> BTreeMap<String, String> {
        files.iter().map(|(path, hash)| ((*path).to_owned(), (*hash).to_owned())).collect()
    };
    let base =
        tree(&[("kept", "1"), ("ours", "1"), ("theirs", "1"), ("both", "1"), ("same", "1"), ("gone", "1")]);
    let ours =
        tree(&[("kept", "1"), ("ours", "2"), ("theirs", "1"), ("both", "2"), ("same", "2"), ("new", "1")]);
    let theirs =
        tree(&[("kept", "1"), ("ours", "1"), ("theirs", "2"), ("both", "3"), ("same", "2"), ("gone", "1")]);
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let found = Divergence {
        ours: names(&["gone", "new", "ours"]),
        theirs: names(&["theirs"]),
        both: names(&["both"]),
        same: names(&["same"]),
    };
    assert_eq!(diverged(&base, &ours, &theirs), found);
}

/// What a tree was built of: its one test fails, and says so.
async fn built_of(tree: &Tree) -> String {
    let said = proof::test(tree, &[], None, None).await.unwrap_err().error;
    let of = said.split("built of <").nth(1).and_then(|rest| rest.split('>').next());
    of.unwrap_or_else(|| panic!("{said}")).to_owned()
}

fn as_old_as(path: &Path, time: SystemTime) {
    File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

#[tokio::test]
async fn cargo_never_takes_one_tree_s_artefact_for_the_other_s() {
    let yard = Yard::new();
    let source = |of: &str| {
        format!(
            "//! L.\npub const OF: &str = \"{of}\";\n#[test]\nfn it() {{\n    assert!(false, \"built of <{{OF}}>\");\n}}\n"
        )
    };
    yard.put("creature/Cargo.toml", MANIFEST);
    yard.put("creature/Cargo.lock", LOCK);
    yard.put("creature/src/lib.rs", &source("life"));
    let long_ago = SystemTime::now() - Duration::from_secs(3_600);
    let house = yard.house();
    let (life, drafts) = (Tree::living(&yard.context), Tree::draft(&yard.context));
    let draft = |text: &str| {
        let mut draft = Draft::begin(house, "now").unwrap();
        draft.write([("creature/src/lib.rs".to_owned(), Some(text.to_owned()))].into(), "now").unwrap();
    };
    let same_time = || {
        for root in [house.root().to_path_buf(), house.draft()] {
            as_old_as(&root.join("creature/src/lib.rs"), long_ago);
        }
    };
    draft(&source("first"));
    same_time();
    assert_eq!(built_of(&life).await, "life");
    // What was built of other packages is taken over: large files shared, what cargo writes into is a copy as old.
    let built = |folder: &str, file: &str| house.target().join(folder).join("debug").join(file);
    let files = ["deps/libother-1.rlib", ".fingerprint/other-1/invoked.timestamp", "deps/libcreature-x.rlib"];
    files.iter().for_each(|file| yard.put(&format!("target/creature/debug/{file}"), "x"));
    files.iter().for_each(|file| as_old_as(&built(".", file), long_ago));
    assert_eq!(built_of(&drafts).await, "first");
    let [shared, copied] = [files[0], files[1]].map(|file| {
        let [one, other] = [".", "draft"].map(|folder| built(folder, file).metadata().unwrap());
        assert_eq!(one.modified().unwrap(), other.modified().unwrap(), "{file}");
        one.ino() == other.ino()
    });
    assert!(shared && !copied && !built("draft", files[2]).exists());
    same_time();
    assert_eq!(built_of(&life).await, "life");
    // Another draft, of files as old as those before it.
    assert!(Draft::put_aside(house).unwrap());
    draft(&source("second"));
    same_time();
    assert_eq!(built_of(&drafts).await, "second");
    assert_eq!(built_of(&life).await, "life");
    yard.put("creature/src/lib.rs", &source("reborn"));
    assert_eq!(built_of(&life).await, "reborn");
    assert_eq!(built_of(&drafts).await, "second");
}
