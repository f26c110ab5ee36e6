//! The owner's commands at a real terminal: the password is never shown, and the terminal is as before.

use crate::served::{PASSWORD, command, held, house, program};
use nix::pty::openpty;
use nix::sys::termios::{LocalFlags, tcgetattr};
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use trials::{House, looked_for, said};

/// A command at a terminal of its own, and what is seen there.
struct Typed {
    child: Child,
    keys: File,
    terminal: std::os::fd::OwnedFd,
    seen: Arc<Mutex<String>>,
}

impl Typed {
    fn run(house: &House, words: &[&str]) -> Self {
        let pty = openpty(None, None).unwrap();
        let end = || pty.slave.try_clone().unwrap();
        let mut command = Command::new(program());
        command.args(words).current_dir(&house.root).stdin(end()).stdout(end()).stderr(end());
        let child = command.spawn().unwrap();
        let (keys, mut from) = (File::from(pty.master.try_clone().unwrap()), File::from(pty.master));
        let seen = Arc::new(Mutex::new(String::new()));
        let to = seen.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 1_024];
            while let Ok(read) = from.read(&mut bytes) {
                to.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        });
        Self { child, keys, terminal: pty.slave, seen }
    }

    fn seen(&self) -> String {
        self.seen.lock().unwrap().clone()
    }

    /// Waits until it asks, and echoes no more.
    fn asked(&self, what: &str) {
        let is_asked = || {
            let flags = tcgetattr(&self.terminal).unwrap().local_flags;
            (self.seen().contains(what) && !flags.contains(LocalFlags::ECHO)).then_some(())
        };
        looked_for(is_asked).unwrap_or_else(|| panic!("it does not ask {what:?}: {}", self.seen()));
    }

    /// Its exit status, and all that was seen, once this was.
    fn end(mut self, told: &str) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        let flags = tcgetattr(&self.terminal).unwrap().local_flags;
        let is_as_before = flags.contains(LocalFlags::ECHO | LocalFlags::ICANON | LocalFlags::ISIG);
        assert!(is_as_before, "the terminal is as before");
        looked_for(|| self.seen().contains(told).then_some(()))
            .unwrap_or_else(|| panic!("it does not say {told:?}: {}", self.seen()));
        (code, self.seen())
    }
}

#[test]
fn a_password_is_typed_unseen_twice() {
    let house = house("");
    let mut typed = Typed::run(&house, &["password"]);
    typed.asked("The password for your page");
    // Corrected with Backspace, over a letter of two bytes.
    write!(typed.keys, "{PASSWORD}xü\u{7f}\u{7f}\r").unwrap();
    typed.asked("Once more:");
    write!(typed.keys, "{PASSWORD}\r").unwrap();
    let (code, seen) = typed.end("The password is set");
    assert_eq!(code, Some(0), "{seen}");
    assert!(!seen.contains("correct"), "{seen}");
    let kept = phone_page::password::Kept {
        hash: held(&house, "password.json")["hash"].as_str().unwrap().into(),
        since: String::new(),
    };
    assert!(phone_page::password::is(PASSWORD, &kept));
}

#[test]
fn ctrl_c_a_difference_and_a_short_one_change_nothing() {
    let house = house("");
    let mut typed = Typed::run(&house, &["password"]);
    typed.asked("The password");
    write!(typed.keys, "half of it\u{3}").unwrap();
    let (code, seen) = typed.end("nothing was changed");
    assert_eq!(code, Some(1), "{seen}");
    for (input, why) in [
        ("short\nshort\n", "needs 12 at least"),
        ("long enough for it\nlong enough, but other\n", "are not the same"),
        ("", "needs 12 at least"),
    ] {
        let output = command(&house, &["password"], input);
        assert!(
            output.status.code() == Some(1) && said(&output).contains(why),
            "{input:?}: {}",
            said(&output)
        );
    }
    assert!(!house.path(".self/broker/page/password.json").exists());
}

#[test]
fn wrong_words_and_a_port_that_is_taken_are_said() {
    let house = house("");
    assert_eq!(command(&house, &["sessions", "begin"], "").status.code(), Some(2));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    house.settings(&format!("[page]\nlisten = \"{}\"\n", taken.local_addr().unwrap()));
    let output = command(&house, &["serve"], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("cannot be had"), "{}", said(&output));
}
