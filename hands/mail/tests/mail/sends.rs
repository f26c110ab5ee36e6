//! Mails that go out, the notes of them on disk, and the files that go with them.

use mail::files;
use mail::outbox::{Outbox, State};
use mail::outgoing::{Before, Parts, Written, person};
use mail::settings::Settings;
use std::fs;
use std::os::unix::fs::symlink;

fn settings() -> Settings {
    let all = [
        ("HOME", "/var/empty"),
        ("MAIL_ADDRESS", "me@example.org"),
        ("MAIL_IMAP", "imap.example.org"),
        ("MAIL_SMTP", "smtp.example.org"),
        ("MAIL_PASSWORD", "pass"),
    ];
    let all = all.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    Settings::take(&all, []).unwrap()
}

fn parts(to: &[&str], bcc: &[&str], subject: &str, text: &str) -> Parts {
    let list = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    let written = Written { to: list(to), bcc: list(bcc), text: text.to_owned(), ..Written::default() };
    Parts { written, subject: subject.to_owned(), before: Before::default(), files: vec![], forwarded: None }
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_bcc_leaves_with_no_copy_and_stands_in_a_draft() {
    let parts = parts(&["Ann <ann@example.org>"], &["eve@example.org"], "Hi", "Hello");
    let sent = parts.to_send(&settings()).unwrap();
    assert_eq!(
        sent.to.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["ann@example.org", "eve@example.org"]
    );
    let text = text_of(&sent.bytes);
    assert!(!text.contains("eve@") && text.contains("To: Ann <ann@example.org>"), "{text}");
    assert!(
        text.contains(&format!("Message-ID: <{}>", sent.id)) && sent.id.ends_with("@example.org"),
        "{text}"
    );
    assert!(text.contains("Auto-Submitted: auto-generated"), "{text}");
    assert!(text_of(&parts.to_keep(&settings()).unwrap().bytes).contains("Bcc: eve@example.org"));
}

#[test]
fn an_answer_names_the_conversation_before_it() {
    let mut parts = parts(&["ann@example.org"], &[], "Re: Hi", "Hello");
    parts.before.ids = vec!["first@x.org".into(), "second@x.org".into()];
    let text = text_of(&parts.to_send(&settings()).unwrap().bytes).replace("\r\n ", " ");
    assert!(text.contains("In-Reply-To: <second@x.org>"), "{text}");
    assert!(text.contains("References: <first@x.org> <second@x.org>"), "{text}");
    assert!(text.contains("Auto-Submitted: auto-replied"), "{text}");
}

/// The broker reads the same texts, and asks about those whom it does not know.
#[test]
fn only_a_single_address_is_a_person() {
    for (text, address) in [
        ("ann@example.org", "ann@example.org"),
        (" Ann B. <ann@example.org> ", "ann@example.org"),
        ("\"Ann\" <ann@example.org>", "ann@example.org"),
    ] {
        assert_eq!(person(text).unwrap().email.to_string(), address, "{text}");
    }
    for odd in [
        "",
        "ann",
        "ann@example.org, eve@example.org",
        "ann@example.org;eve@example.org",
        "ann@example.org <eve@example.org>",
        "Ann <ann@example.org> <eve@example.org>",
        "Ann <ann@example.org>, Eve <eve@example.org>",
        "ann@example.org\r\nBcc: eve@example.org",
        "\"ann@example.org\" <eve@example.org>",
    ] {
        assert!(person(odd).is_err(), "{odd:?}");
    }
    let two_lines = parts(&["ann@example.org"], &[], "Hi\r\nBcc: eve@example.org", "");
    assert!(two_lines.to_send(&settings()).is_err());
    assert!(parts(&[], &[], "Hi", "").to_send(&settings()).is_err(), "nobody is named");
}

#[test]
fn the_same_mail_is_known_by_its_content_and_not_by_its_number() {
    let of = |to: &[&str], text: &str| parts(to, &[], "Hi", text).to_send(&settings()).unwrap();
    let (one, two) =
        (of(&["ann@example.org", "bob@example.org"], "x"), of(&["BOB@example.org ", "ann@example.org"], "x"));
    assert_eq!(one.fingerprint, two.fingerprint);
    assert_ne!(one.id, two.id);
    assert_ne!(one.fingerprint, of(&["ann@example.org"], "x").fingerprint);
    assert_ne!(one.fingerprint, of(&["ann@example.org", "bob@example.org"], "y").fingerprint);
}

#[test]
fn a_note_keeps_its_mail_until_that_is_done_with() {
    let folder = tempfile::tempdir().unwrap();
    let outbox = Outbox::open(&folder.path().join("outbox")).unwrap();
    let mail = parts(&["ann@example.org"], &[], "Hi", "x").to_send(&settings()).unwrap();
    let mut note = outbox.begin(&mail).unwrap();
    assert!(outbox.same(&mail.fingerprint).is_none(), "nothing of it has left");
    for state in [State::Sending, State::Taken, State::Unknown] {
        outbox.set(&mut note, state, "").unwrap();
        assert_eq!(outbox.notes()[0].state, state);
        assert_eq!(outbox.same(&mail.fingerprint).unwrap().id, mail.id);
        assert_eq!(outbox.bytes(&note).unwrap(), mail.bytes);
    }
    outbox.set(&mut note, State::Sent, "250 OK").unwrap();
    assert!(outbox.same(&mail.fingerprint).is_some() && outbox.bytes(&note).is_err());
    outbox.set(&mut note, State::Refused, "550").unwrap();
    assert!(outbox.same(&mail.fingerprint).is_none(), "it may be tried again");
    // Half a note, as a full disk leaves one, hides none of the others.
    fs::write(folder.path().join("outbox/torn.json"), "{\"id\":").unwrap();
    assert_eq!(outbox.notes().len(), 1);
}

#[test]
fn nothing_leaves_without_a_note_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let outbox = Outbox::open(folder.path()).unwrap();
    let mail = parts(&["ann@example.org"], &[], "Hi", "x").to_send(&settings()).unwrap();
    fs::remove_dir_all(folder.path()).unwrap();
    assert!(outbox.begin(&mail).err().unwrap().contains("nothing is sent without a note"));
}

#[test]
fn files_are_read_and_saved_below_their_folders_and_through_no_link() {
    let folder = tempfile::tempdir().unwrap();
    let (inside, outside) = (folder.path().join("in"), folder.path().join("out"));
    fs::create_dir_all(inside.join("deep")).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("key"), "secret").unwrap();
    fs::write(inside.join("deep/a.txt"), "a heron").unwrap();
    symlink(&outside, inside.join("link")).unwrap();
    symlink(outside.join("key"), inside.join("key")).unwrap();
    nix::unistd::mkfifo(&inside.join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let folders = [inside.clone()];
    let read = |path: &str| files::read(&folders, &[path.to_owned()]);
    for path in ["deep/a.txt".to_owned(), inside.join("deep/a.txt").display().to_string()] {
        let files = read(&path).unwrap();
        assert_eq!((files[0].name.as_str(), files[0].bytes.as_slice()), ("a.txt", &b"a heron"[..]));
    }
    for odd in ["link/key", "key", "pipe", "deep", "../out/key", "/etc/passwd", "", "none"] {
        assert!(read(odd).is_err(), "{odd}");
    }
    let saved = files::save(&folders, "a.txt", false, b"one").unwrap();
    let second = files::save(&folders, "a.txt", false, b"two").unwrap();
    assert_eq!((saved, second), (inside.join("a.txt"), inside.join("a-1.txt")));
    assert!(files::save(&folders, "a.txt", true, b"three").unwrap_err().contains("nothing is overwritten"));
    for odd in ["link/new", "../out/new", "/etc/new"] {
        assert!(files::save(&folders, odd, true, b"x").is_err(), "{odd}");
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert!(files::read(&[], &["a.txt".to_owned()]).err().unwrap().contains("no folder was named"));
}
