//! Interpreters of the owner's are found behind the walls: those of the system, of version managers, and behind links.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use trials::House;

fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// An interpreter that reads its library beside itself, as Python does.
fn interpreter(prefix: &Path, name: &str, says: &str) {
    script(
        &prefix.join("bin").join(name),
        "real=$(readlink -f \"$0\"); exec cat \"${real%/bin/*}/lib/python3.9/answer\"",
    );
    fs::create_dir_all(prefix.join("lib/python3.9")).unwrap();
    fs::write(prefix.join("lib/python3.9/answer"), format!("{says}\n")).unwrap();
}

/// What the creature finds under this name, with these folders before the owner's own.
fn found(name: &str, before: &[&Path]) -> String {
    let house = House::new(&format!("think \"$({name} 2>&1 | head -n 1)\"; live"));
    let usual = std::env::var_os("PATH").unwrap();
    let folders = before.iter().map(|folder| folder.to_path_buf()).chain(std::env::split_paths(&usual));
    let mut command = house.command(&[]);
    command.env("PATH", std::env::join_paths(folders).unwrap());
    let guardian = house.start_by(command);
    house.until("its thought", || !house.thoughts().is_empty());
    let said = house.thoughts()[0]["data"]["monologue"].as_str().unwrap().to_owned();
    let said = if house.status()["walls"] == "full" { said } else { format!("without walls: {said}") };
    assert_eq!(guardian.stop(), 0);
    said
}

/// Found by working for the owner: python3 was a shim of pyenv's, which looks for the real one in a home that is hidden.
#[test]
fn a_shim_gives_way_to_the_program_it_stands_for() {
    let home = tempfile::Builder::new().prefix("owners-").tempdir().unwrap();
    let root = home.path().canonicalize().unwrap();
    let pyenv = root.join("pyenv");
    script(&pyenv.join("shims/heron3"), &format!("exec {}/libexec/pyenv exec heron3", pyenv.display()));
    script(
        &pyenv.join("libexec/pyenv"),
        "[ -e \"$HOME/.pyenv\" ] || { echo 'pyenv: no such home'; exit 127; }",
    );
    interpreter(&pyenv.join("versions/3.9.18"), "heron3", "seven");
    interpreter(&pyenv.join("versions/3.10.1"), "heron3", "ten");
    assert_eq!(
        found("heron3", &[&pyenv.join("shims")]).trim_start_matches("without walls: "),
        "ten",
        "the newest where none is chosen"
    );
    fs::write(pyenv.join("version"), "3.9.18\n").unwrap();
    assert_eq!(
        found("heron3", &[&pyenv.join("shims")]).trim_start_matches("without walls: "),
        "seven",
        "the chosen one"
    );
    let mise = root.join("mise");
    script(&mise.join("shims/heron3"), "exit 127");
    interpreter(&mise.join("installs/heron/1.2"), "heron3", "two");
    assert_eq!(found("heron3", &[&mise.join("shims")]).trim_start_matches("without walls: "), "two");
}

/// As uv has it: a link on `PATH` to an interpreter that is installed elsewhere.
#[test]
fn an_interpreter_behind_a_link_has_its_library() {
    let home = tempfile::Builder::new().prefix("owners-").tempdir().unwrap();
    let root = home.path().canonicalize().unwrap();
    interpreter(&root.join("share/uv/python/3.12"), "python3", "twelve");
    fs::create_dir_all(root.join("links")).unwrap();
    symlink(root.join("share/uv/python/3.12/bin/python3"), root.join("links/python3")).unwrap();
    fs::write(root.join("share/secret"), "mine\n").unwrap();
    assert_eq!(found("python3", &[&root.join("links")]).trim_start_matches("without walls: "), "twelve");
    let read = found(&format!("cat {}", root.join("share/secret").display()), &[&root.join("links")]);
    assert!(read.contains("denied") || read.starts_with("without walls"), "nothing beside it: {read}");
}

/// The system's own, wherever there is one.
#[test]
fn the_systems_python_runs_behind_the_walls() {
    if !Path::new("/usr/bin/python3").exists() {
        println!("no python3 of the system's here");
        return;
    }
    assert_eq!(found("/usr/bin/python3 -c 'print(6 + 1)'", &[]).trim_start_matches("without walls: "), "7");
}
