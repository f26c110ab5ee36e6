//! Files that are garbage, a disk that is full, kills in the middle: nobody is let in by it, and the owner is told.

use crate::served::{Browser, PASSWORD, Phone, command, held, house, set_password};
use std::os::unix::fs::PermissionsExt;

const FILES: [&str; 5] =
    ["sessions.json", "password.json", "passkeys.json", "guesses.json", "invitation.json"];

#[test]
fn garbage_lets_nobody_in_and_is_replaced() {
    let house = house("host = \"house.example.org\"\n");
    set_password(&house, PASSWORD);
    let phone = Phone::of(&house);
    let shapes =
        ["", "{", "null", "[]", "{\"sessions\":7}", "\u{0}\u{1}", "{\"hash\":null}", &"[".repeat(10_000)];
    for shape in shapes {
        for file in FILES {
            house.write(&format!(".self/broker/page/{file}"), shape);
        }
        let mut stranger = Browser::new(&phone);
        assert!(!stranger.is_within());
        assert_eq!(stranger.sign_in("").status, 401, "{shape:?}");
        assert_eq!(stranger.post("/invited", &[("token", "")]).status, 401, "{shape:?}");
        assert_eq!(stranger.post("/sign-in/passkey", &[]).status, 409, "{shape:?}");
        let check = trials::said(&command(&house, &["check"], ""));
        if shape.starts_with('{') && shape != "{\"hash\":null}" {
            assert!(check.contains("sessions.json cannot be understood"), "{shape:?}: {check}");
        }
        assert!(check.contains("passkeys.json cannot be understood") || shape == "[]", "{shape:?}: {check}");
        set_password(&house, PASSWORD);
        assert_eq!(Browser::new(&phone).sign_in(PASSWORD).status, 303, "{shape:?}");
    }
    for file in ["sessions.json", "guesses.json"] {
        let path = house.path(&format!(".self/broker/page/{file}"));
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
    }
    assert_eq!(Browser::new(&phone).sign_in(PASSWORD).status, 303, "a folder in their place is moved aside");
}

/// Where a guess cannot be counted none is looked at: else a full disk would make guesses free.
#[test]
fn where_nothing_can_be_written_nobody_signs_in_and_who_is_within_stays() {
    let house = house("");
    set_password(&house, PASSWORD);
    let phone = Phone::of(&house);
    let within = Browser::within(&phone);
    let folder = house.path(".self/broker/page");
    // As root a mode keeps nothing out: a folder in the place of the new file does.
    let mode = |mode: u32| std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
    let full = crate::served::is_root().then(|| Full::begin(&house));
    if full.is_none() {
        mode(0o500);
    }
    let answer = Browser::new(&phone).sign_in(PASSWORD);
    assert_eq!(answer.status, 500, "{}", answer.body);
    assert!(
        answer.body.contains("Nobody was signed in") && answer.cookie("__Host").is_none(),
        "{}",
        answer.body
    );
    assert!(within.is_within());
    drop(full);
    mode(0o700);
    assert_eq!(Browser::new(&phone).sign_in(PASSWORD).status, 303);
}

/// The page's folder on a disk of its own that is full, until this is dropped.
struct Full(std::path::PathBuf);

impl Full {
    fn begin(house: &trials::House) -> Self {
        let folder = house.path(".self/broker/page");
        let kept: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
        let held: Vec<_> = kept.iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect();
        let run = |words: &[&str]| {
            std::process::Command::new(words[0]).args(&words[1..]).status().unwrap().success()
        };
        assert!(run(&["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "none", folder.to_str().unwrap()]));
        held.iter().for_each(|(path, bytes)| std::fs::write(path, bytes).unwrap());
        // All that is left is taken.
        let _ = std::fs::write(folder.join("filler"), vec![0; 1 << 20]);
        Self(folder)
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").args(["-l", self.0.to_str().unwrap()]).status();
    }
}

/// Killed at any moment of a sign-in, a guess was counted, and nobody is within who was not handed a cookie.
#[test]
fn killed_in_the_middle_of_guesses_it_counts_each_of_them() {
    let house = house("");
    set_password(&house, PASSWORD);
    let mut looked_at = 0;
    for round in 0..4 {
        let phone = Phone::of(&house);
        std::thread::scope(|scope| {
            let guess = || {
                scope.spawn(|| {
                    std::panic::catch_unwind(|| Browser::new(&phone).sign_in("not it, not at all").status)
                })
            };
            let all: Vec<_> = (0..2).map(|_| guess()).collect();
            std::thread::sleep(std::time::Duration::from_millis(40 * round));
            let pid = i32::try_from(phone.child.id()).unwrap();
            nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL)
                .unwrap();
            let came = all.into_iter().filter_map(|one| one.join().unwrap().ok());
            looked_at += came.filter(|status| *status == 401).count() as u64;
        });
        let counted = held(&house, "guesses.json")["failed"].as_u64().unwrap_or(0);
        assert!(counted >= looked_at, "{counted} of {looked_at}");
    }
    set_password(&house, PASSWORD);
    assert_eq!(Browser::new(&Phone::of(&house)).sign_in(PASSWORD).status, 303);
}
