//! Programs planted in the repository: hooks, filters, a file system monitor. The guardian runs none of them.

use super::{GIT, git};
use crate::survival::matrix::Row;
use crate::survival::trial::Trial;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use trials::House;

pub const ROWS: &[Row] = &[Row::new(
    GIT,
    "hooks planted",
    "every hook there is in .git/hooks and in core.hooksPath, filters for every file, a file system monitor; then a \
     self-edit, deaths, a rollback",
    planted,
)
.quick()
.twice()];

const HOOKS: &str = "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg \
                     post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive \
                     post-update reference-transaction push-to-checkout pre-auto-gc post-rewrite fsmonitor-watchman \
                     post-index-change";

fn ran(house: &House) -> PathBuf {
    house.folder.path().join("ran")
}

fn plant(house: &House) {
    let script = |name: &str| format!("#!/bin/sh\necho {name} >> {}\ncat\n", ran(house).display());
    let place = |folder: &str, name: &str| {
        let path = house.path(&format!(".git/{folder}/{name}"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, script(name)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    };
    for name in HOOKS.split_whitespace() {
        place("hooks", name);
        place("more-hooks", name);
    }
    house.git(&["config", "core.hooksPath", ".git/more-hooks"]);
    for name in [
        "filter.planted.clean",
        "filter.planted.smudge",
        "core.fsmonitor",
        "diff.external",
        "core.sshCommand",
    ] {
        house.git(&["config", name, &place("programs", &name.replace('.', "-"))]);
    }
    house.write(".git/info/attributes", "* filter=planted\n");
}

fn planted(trial: &mut Trial) {
    trial.shell_becomes("exit 7");
    trial.begin();
    trial.expect_fall("tries_spent");
    trial.inject(|trial| plant(trial.house()));
    trial.recovers();
    assert_eq!(trial.stop(), 0);
    let by_guardian = fs::read_to_string(ran(trial.house())).unwrap_or_default();
    assert_eq!(by_guardian, "", "the guardian ran what was planted");
    // That they do run, when it is the owner's git that is told to.
    git(trial.house(), &["commit", "-q", "--allow-empty", "-m", "the owner's"]);
    assert!(
        fs::read_to_string(ran(trial.house())).unwrap_or_default().contains("pre-commit"),
        "nothing was planted"
    );
    fs::remove_file(ran(trial.house())).unwrap();
    trial.start();
    trial.recovers();
    assert!(!ran(trial.house()).exists(), "a start ran what was planted");
}
