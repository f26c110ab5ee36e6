//! The guardian as a service: what its unit says, wherever the house lies, and what the service manager is told.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;
use trials::{House, SOUND};

/// What a folder may be called, and a unit or a shell may misread.
const ODD: &str = "an \"odd\" 100% $HOME 'b\\c' höuse; #1";

/// A folder with the script in it, as a clone has it.
fn clone_in(place: &Path, name: &str) -> PathBuf {
    let (script, clone) =
        (Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/install-service"), place.join(name));
    fs::create_dir_all(clone.join("scripts")).unwrap();
    fs::create_dir_all(clone.join(".git")).unwrap();
    fs::copy(script, clone.join("scripts/install-service")).unwrap();
    clone
}

/// Runs the script for a user who has nothing yet, and whom no service manager answers.
fn script(clone: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(clone.join("scripts/install-service"));
    command.args(arguments).current_dir("/").env("HOME", clone.parent().unwrap().join("home"));
    // Never the one of whoever runs the tests.
    command.env("XDG_RUNTIME_DIR", clone.join("nobody")).env_remove("DBUS_SESSION_BUS_ADDRESS");
    command.env_remove("XDG_CONFIG_HOME").env_remove("CC");
    if let (Some(path), stand_in) = (std::env::var_os("PATH"), clone.parent().unwrap().join("bin")) {
        let folders = [stand_in].into_iter().chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders).unwrap());
    }
    command.env("TZ", "a \"b\" 5% $c \\d").output().unwrap()
}

fn printed(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// The one value of a key.
fn value<'a>(unit: &'a str, key: &str) -> &'a str {
    let found: Vec<&str> =
        unit.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('=')).collect();
    assert_eq!(found.len(), 1, "{key} in {unit}");
    found[0]
}

#[test]
fn a_unit_is_right_wherever_the_house_lies() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    let (unit, wrong) = printed(&script(&clone_in(&root, ODD), &["--dry-run"]));
    assert_eq!(wrong, "");
    // Taken as it stands, but for specifiers: quotes would be part of the path.
    let folder = root.join(ODD).display().to_string().replace('%', "%%");
    assert_eq!(value(&unit, "WorkingDirectory"), folder);
    // Neither depends on how the folder is called.
    assert_eq!(
        value(&unit, "ExecStartPre"),
        r#"/bin/sh -c "exec cargo build --package guardian --target-dir target""#
    );
    assert_eq!(value(&unit, "ExecStart"), r#"/bin/sh -c "exec target/debug/guardian""#);
    assert!(unit.contains("\nEnvironment=\"TZ=a \\\"b\\\" 5%% $c \\\\d\"\n"), "{unit}");
    let path = value(&unit, "Environment=\"PATH").trim_end_matches('"');
    assert!(path.split(':').all(|folder| folder.starts_with('/')), "{path}");
    assert!(path.split(':').any(|folder| Path::new(folder).join("cargo").is_file()), "{path}");
    for (key, wanted) in [
        ("Type", "notify"),
        ("Restart", "on-failure"),
        ("RestartPreventExitStatus", "100"),
        ("KillMode", "mixed"),
        ("WantedBy", "default.target"),
    ] {
        assert_eq!(value(&unit, key), wanted, "{key}");
    }
    assert!(!root.join("home").exists(), "a dry run wrote something");
}

#[test]
fn what_cannot_stand_in_a_unit_is_refused() {
    let place = tempfile::tempdir().unwrap();
    for name in ["two\nlines", "ends in a space ", "ends in a backslash\\"] {
        let output = script(&clone_in(place.path(), name), &["--dry-run"]);
        let (unit, wrong) = printed(&output);
        assert_eq!((output.status.code(), unit.as_str()), (Some(1), ""), "{name:?}");
        assert!(wrong.starts_with("install-service: ") && wrong.lines().count() == 1, "{wrong}");
    }
}

/// Two clones of one name must not take each other's unit.
#[test]
fn without_a_service_manager_it_changes_nothing_and_says_what_to_do() {
    let place = tempfile::tempdir().unwrap();
    let mut names = Vec::new();
    for parent in ["one", "other"] {
        let clone = clone_in(&place.path().canonicalize().unwrap().join(parent), "100% a house");
        let output = script(&clone, &[]);
        let (said, wrong) = printed(&output);
        assert_eq!((output.status.code(), said.as_str()), (Some(1), ""), "{wrong}");
        let quoted = format!("'{}'", clone.display());
        assert!(wrong.contains(&format!("tmux new-session -d -s feral -c {quoted}")), "{wrong}");
        assert!(wrong.contains(&format!("@reboot cd {}", quoted.replace('%', "\\%"))), "{wrong}");
        assert!(!clone.parent().unwrap().join("home").exists(), "something was written");
        let (said, _) = printed(&script(&clone, &["--uninstall"]));
        let unit = said.trim().rsplit('/').next().unwrap().to_owned();
        assert!(unit.starts_with("feral-100--a-house-") && unit.ends_with(".service"), "{said}");
        names.push(unit);
        assert_eq!(script(&clone, &["--status"]).status.code(), Some(3));
        assert_eq!(script(&clone, &["--odd"]).status.code(), Some(2));
    }
    assert_ne!(names[0], names[1]);
}

/// A service manager that notes what it was told; what is not asked for a property it says nothing to.
const MANAGER: &str =
    "#!/bin/sh\necho \"$*\" >>\"${0%/*}/told\"\ncase \"$*\" in *ActiveState*) echo inactive;; esac\n";

#[test]
fn what_is_installed_is_undone_and_the_house_stays() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    let (clone, bin) = (clone_in(&root, ODD), root.join("bin"));
    fs::create_dir(&bin).unwrap();
    for name in ["systemctl", "loginctl"] {
        fs::write(bin.join(name), MANAGER).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let told = || {
        let told = fs::read_to_string(bin.join("told")).unwrap_or_default();
        let _ = fs::remove_file(bin.join("told"));
        told
    };
    fs::create_dir(clone.join(".self")).unwrap();
    fs::write(clone.join(".self/kept"), "").unwrap();
    let (unit, _) = printed(&script(&clone, &["--dry-run"]));
    assert_eq!(told(), "");
    let output = script(&clone, &[]);
    assert!(output.status.success(), "{output:?}");
    let units = root.join("home/.config/systemd/user");
    let file = fs::read_dir(&units).unwrap().next().unwrap().unwrap();
    assert_eq!(fs::read_to_string(file.path()).unwrap(), unit);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let (name, done) = (file.file_name().into_string().unwrap(), told());
    for order in ["daemon-reload", &format!("enable --quiet {name}"), &format!("start --no-block {name}")] {
        assert!(done.contains(&format!("--user {order}\n")), "{order}: {done}");
    }
    assert!(!done.contains("linger\n"), "lingering is the owner's: {done}");
    assert!(script(&clone, &["--linger"]).status.success() && told().contains("enable-linger\n"));
    // From where it was moved to, by the name of where it was.
    let moved = root.join("moved");
    fs::rename(&clone, &moved).unwrap();
    let (said, _) = printed(&script(&moved, &["--status"]));
    assert!(said.contains("left behind: "), "{said}");
    told();
    let output = script(&moved, &["--uninstall", clone.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    assert!(told().contains(&format!("--user disable --quiet --now {name}\n")));
    assert_eq!(fs::read_dir(&units).unwrap().count(), 0);
    assert!(moved.join(".self/kept").exists());
}

fn word(manager: &UnixDatagram) -> Option<String> {
    let mut bytes = [0; 64];
    let length = manager.recv(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

/// A guardian that hangs must be noticed, so the loop itself says that it goes round.
#[test]
fn the_watchdog_is_fed_while_the_loop_goes_round_and_not_when_it_hangs() {
    let house = House::new(SOUND);
    let path = house.folder.path().join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut command = house.command(&[]);
    command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "400000");
    let guardian = house.start_by(command);
    assert_eq!(word(&manager).as_deref(), Some("READY=1"));
    for _ in 0..5 {
        assert_eq!(word(&manager).as_deref(), Some("WATCHDOG=1"));
    }
    guardian.signal("-STOP");
    // What was sent before it stood still comes at once.
    manager.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    let before = std::iter::from_fn(|| word(&manager)).take(100).count();
    assert!(before < 100, "a guardian that stands still feeds its watchdog");
    guardian.signal("-CONT");
    manager.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    assert_eq!(word(&manager).as_deref(), Some("WATCHDOG=1"));
    assert_eq!(guardian.stop(), 0);
}
