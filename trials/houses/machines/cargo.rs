//! Cargo as owners have it set up: real builds of a small creature by the real cargo, behind the walls.

use super::{Ends, Machine, Seen, line, said, so};
use crate::{Guardian, House, SOUND};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const MACHINES: &[Machine] = &[
    Machine::new(
        "cargo_configuration_above",
        "`.cargo/config.toml` in a folder above the house",
        Ends::Works,
        configuration_above,
    ),
    Machine::new(
        "build_dir",
        "`build.build-dir`, `target-dir`, `target` and a wrapper set",
        Ends::Works,
        build_dir,
    ),
    Machine::new(
        "flags_in_the_environment",
        "`RUSTFLAGS`, `RUSTC` and `RUSTC_WRAPPER` set",
        Ends::Works,
        flags,
    ),
    Machine::new("linker_missing", "a configured linker that is not there", Ends::Waits, linker_missing),
    Machine::new(
        "linker_elsewhere",
        "a configured linker in a folder of the owner's",
        Ends::Works,
        linker_elsewhere,
    ),
    Machine::new("vendored", "vendored crates in a folder outside the house", Ends::Works, vendored),
    Machine::new("offline", "`net.offline`, and no registry was ever used", Ends::Works, offline),
    Machine::new(
        "toolchain_changes",
        "the toolchain goes while it runs, and another comes",
        Ends::Works,
        toolchain,
    ),
];

/// Thinks once and beats on, without a crate but the standard library.
const SMALL: &str = r##"use std::{env, fs, io::Write, process, thread, time::Duration};

fn main() {
    let life = env::var("FERAL_LIFE").unwrap();
    let mut memory = fs::File::options().append(true).open(".self/memory.jsonl").unwrap();
    let data = r#"{"monologue":"alive","intent":"","thought":1}"#;
    writeln!(memory, r#"{{"at":"2026-01-01T00:00:00.000Z","life":{life},"kind":"thought","data":{data}}}"#).unwrap();
    loop {
        let pid = process::id();
        let beat = format!(r#"{{"life":{life},"pid":{pid},"turns":1,"thoughts":1,"stage":"resting","mind":"small"}}"#);
        fs::write(".self/heartbeat", beat + "\n").unwrap();
        thread::sleep(Duration::from_millis(50));
    }
}
"##;
const MANIFEST: &str =
    "[package]\nname = \"creature\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
const LOCK: &str = "version = 4\n\n[[package]]\nname = \"creature\"\nversion = \"0.1.0\"\n";

/// A house of the small creature and a home of cargo's with these settings.
struct Small {
    house: House,
    home: PathBuf,
    cargo: PathBuf,
}

impl Small {
    fn new(settings: &str) -> Self {
        let house = House::new(SOUND);
        fs::remove_dir_all(house.path("creature")).unwrap();
        house.write("creature/src/main.rs", SMALL);
        house.write("creature/Cargo.toml", MANIFEST);
        house.write("creature/Cargo.lock", LOCK);
        house.commit("small");
        let home = house.folder.path().join("cargo-home");
        fs::create_dir(&home).unwrap();
        fs::write(home.join("config.toml"), settings).unwrap();
        // The toolchain's own, whichever stands before it on the way here.
        let found = Command::new("rustup").args(["which", "cargo"]).output();
        let found = found.ok().filter(|found| found.status.success());
        let cargo = found.map(|found| String::from_utf8_lossy(&found.stdout).trim().into());
        Self { house, home, cargo: cargo.unwrap_or_else(|| std::env::var_os("CARGO").unwrap().into()) }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.house.command(words);
        command.env("CARGO", &self.cargo).env("CARGO_HOME", &self.home).env_remove("RUSTC_WRAPPER");
        command
    }

    fn start(&self) -> Guardian {
        self.house.start_by(self.command(&[]))
    }

    fn until_blessed(&self) {
        self.house.until("a blessing", || self.house.status()["blessed"] == true);
    }

    /// Lives once, and returns what the guardian said.
    fn lives(&self, command: Command) -> String {
        let guardian = self.house.start_by(command);
        self.until_blessed();
        let log = fs::read_to_string(&guardian.log).unwrap();
        guardian.stop();
        log
    }
}

/// Found: cargo reads the configuration in each folder above the house, the sandbox refused it, and no build ever ended well.
fn configuration_above() -> Seen {
    let house = House::new(
        "cat ../.cargo/config.toml > .self/workspace/seen 2>&1 && echo read >> .self/workspace/seen; think alive; blessed; live",
    );
    let above = house.root.parent().unwrap().join(".cargo/config.toml");
    fs::create_dir_all(above.parent().unwrap()).unwrap();
    let settings =
        "[build]\nrustc-wrapper = \"/nowhere/wrapper\"\n[net]\nretry = 7\n[registry]\ntoken = \"secret\"\n";
    fs::write(&above, settings).unwrap();
    let guardian = house.start();
    house.until("a blessing", || house.status()["blessed"] == true);
    if house.status()["wall_features"]["view"] == "own mounts" {
        assert_eq!(house.read(".self/workspace/seen"), "read\n", "it can be read, and is empty");
    }
    let log = fs::read_to_string(&guardian.log).unwrap();
    guardian.stop();
    // What is of use and no secret stands in the creature's own cargo home.
    let own = house.read("target/creature/cargo-home/config.toml");
    assert!(own.contains("retry = 7") && !own.contains("wrapper") && !own.contains("secret"), "{own}");
    Seen::So(line(&log, &["build.rustc-wrapper of your cargo configuration", "left out"]))
}

fn build_dir() -> Seen {
    let small = Small::new(
        "[build]\nbuild-dir = \"/nowhere/build\"\ntarget-dir = \"/nowhere/target\"\ntarget = \"riscv64gc-unknown-linux-gnu\"\nrustc-wrapper = \"sccache\"\n",
    );
    let log = small.lives(small.command(&[]));
    Seen::So(line(
        &log,
        &["build.build-dir, build.rustc-wrapper, build.target, build.target-dir", "left out"],
    ))
}

fn flags() -> Seen {
    let small = Small::new("");
    let mut command = small.command(&[]);
    command.env("RUSTFLAGS", "-C link-arg=-fuse-ld=nowhere").env("RUSTC", "/nowhere/rustc");
    command.env("RUSTC_WRAPPER", "/nowhere/wrapper").env("CARGO_BUILD_RUSTFLAGS", "--nothing-such");
    small.lives(command);
    so("the creature's builds do not see them")
}

/// Found: the toolchain was blamed at each try, and nothing said which line of whose settings it was.
fn linker_missing() -> Seen {
    let here = format!("[target.{}]\nlinker = \"/nowhere/linker\"\n", host());
    let small = Small::new(&here);
    let guardian = small.start();
    let log = || fs::read_to_string(&guardian.log).unwrap();
    small.house.until("a build that fails", || log().contains("blamed on toolchain"));
    let told = line(&log(), &["linker", "config.toml names /nowhere/linker, which is not there"]);
    let doctor = small.command(&["doctor"]).output().unwrap();
    assert!(!doctor.status.success());
    line(&said(&doctor), &["BAD", "cargo", "names /nowhere/linker"]);
    fs::write(small.home.join("config.toml"), "").unwrap();
    small.until_blessed();
    assert_eq!(small.house.told("fall").len(), 0, "nothing is put back for it");
    guardian.stop();
    Seen::So(told)
}

/// Found: the sandbox did not let it run.
fn linker_elsewhere() -> Seen {
    let small = Small::new("");
    let own = small.house.folder.path().join("own");
    fs::create_dir(&own).unwrap();
    let script = "#!/bin/sh\nexec cc \"$@\"\n";
    fs::write(own.join("linker"), script).unwrap();
    fs::set_permissions(own.join("linker"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let here = format!("[target.{}]\nlinker = \"{}\"\n", host(), own.join("linker").display());
    fs::write(small.home.join("config.toml"), here).unwrap();
    small.lives(small.command(&[]));
    so("it may be run, with what lies beside it")
}

/// Found: the sandbox did not let the folder be read, and the network was blamed.
fn vendored() -> Seen {
    let small =
        Small::new("[source.crates-io]\nreplace-with = \"mine\"\n[source.mine]\ndirectory = \"vendored\"\n");
    // Relative to the folder that holds the settings' own.
    let crates = small.home.parent().unwrap().join("vendored");
    write(
        &crates.join("kept/Cargo.toml"),
        "[package]\nname = \"kept\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    );
    write(&crates.join("kept/src/lib.rs"), "pub fn kept() {}\n");
    write(&crates.join("kept/.cargo-checksum.json"), "{\"files\":{},\"package\":null}");
    small.house.write("creature/Cargo.toml", &format!("{MANIFEST}\n[dependencies]\nkept = \"0.1\"\n"));
    let mut lock = Command::new(&small.cargo);
    lock.args(["generate-lockfile", "--offline"]).env("CARGO_HOME", &small.home);
    let made = lock.current_dir(small.house.path("creature")).output().unwrap();
    assert!(made.status.success(), "{}", said(&made));
    small.house.commit("with a crate");
    small.lives(small.command(&[]));
    so("the folder is read where it is")
}

fn offline() -> Seen {
    let small = Small::new("[net]\noffline = true\n");
    small.lives(small.command(&[]));
    so("a lock file without crates needs no registry")
}

/// The binary that is kept runs without a toolchain; with another the source is built anew.
fn toolchain() -> Seen {
    let mut small = Small::new("");
    let real = std::mem::replace(&mut small.cargo, small.house.folder.path().join("own-cargo"));
    let wrapped = |version: &str| {
        let script = format!("#!/bin/sh\n# {version}\nexec {} \"$@\"\n", real.display());
        write(&small.cargo, &script);
        fs::set_permissions(&small.cargo, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    };
    wrapped("one");
    let guardian = small.start();
    small.until_blessed();
    fs::remove_file(&small.cargo).unwrap();
    let dies = |life: u64| {
        let pid = small.house.status()["creature_pid"].to_string();
        assert!(Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
        small.house.until("the next life", || {
            small.house.status()["life"].as_u64() >= Some(life) && small.house.status()["blessed"] == true
        });
    };
    dies(2);
    wrapped("two");
    dies(3);
    assert_eq!(small.house.told("fall").len(), 0, "nothing is put back for it");
    guardian.stop();
    so("the kept binary lives on meanwhile, and nothing is put back")
}

fn host() -> String {
    let told = Command::new("rustc").arg("-vV").output().unwrap();
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    told.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
