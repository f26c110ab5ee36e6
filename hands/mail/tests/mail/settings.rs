//! Settings from variables: servers with their ports and security, names with a word before them, and mistakes.

use mail::settings::{Security, Settings};
use std::collections::BTreeMap;

fn taken(more: &[(&str, &str)]) -> Result<Settings, String> {
    let usual = [
        ("HOME", "/var/empty"),
        ("MAIL_ADDRESS", "me@example.org"),
        ("MAIL_IMAP", "imap.example.org"),
        ("MAIL_SMTP", "smtp.example.org"),
        ("MAIL_PASSWORD", "pass"),
    ];
    let all = usual.iter().chain(more).map(|(name, value)| (name.to_string(), value.to_string()));
    Settings::take(&all.collect::<BTreeMap<_, _>>(), [])
}

#[test]
fn a_server_is_read_with_its_port_and_security() {
    use Security::{Implicit, Plain, StartTls};
    for (text, host, port, security) in [
        ("imap.example.org", "imap.example.org", 993, Implicit),
        ("imap.example.org:993", "imap.example.org", 993, Implicit),
        ("imap.example.org:143", "imap.example.org", 143, StartTls),
        ("imap://imap.example.org", "imap.example.org", 143, StartTls),
        ("imaps://imap.example.org:10993/", "imap.example.org", 10_993, Implicit),
        ("plain://127.0.0.1:1143", "127.0.0.1", 1_143, Plain),
        ("plain://[::1]:1143", "::1", 1_143, Plain),
        ("plain://localhost", "localhost", 143, Plain),
    ] {
        let server = taken(&[("MAIL_IMAP", text)]).unwrap().imap;
        assert_eq!((server.host.as_str(), server.port, server.security), (host, port, security), "{text}");
    }
    let smtp = taken(&[("MAIL_SMTP", "smtp.example.org:587")]).unwrap().smtp;
    assert_eq!((smtp.port, smtp.security), (587, StartTls));
}

#[test]
fn a_mistake_is_told_by_the_name_of_its_variable() {
    for (name, value, told) in [
        ("MAIL_ADDRESS", "", "MAIL_ADDRESS is not set"),
        ("MAIL_IMAP", "plain://imap.example.org", "MAIL_IMAP may be plain only on this machine"),
        (
            "MAIL_IMAP",
            "http://imap.example.org",
            "MAIL_IMAP begins with none of imaps://, imap:// and plain://",
        ),
        ("MAIL_SMTP", "smtp.example.org:many", "MAIL_SMTP has \"many\" as its port"),
        ("MAIL_SMTP", "smtp example org", "MAIL_SMTP is no host"),
    ] {
        let why = taken(&[(name, value)]).unwrap_err();
        assert!(why.contains(told), "{name}={value}: {why}");
    }
}

#[test]
fn variables_may_have_a_word_before_their_names() {
    let all = [
        ("HOME", "/var/empty"),
        ("WORK_MAIL_ADDRESS", "me@example.org"),
        ("WORK_MAIL_IMAP", "imap.example.org"),
        ("WORK_MAIL_SMTP", "smtp.example.org"),
        ("WORK_MAIL_PASSWORD", "pass"),
    ];
    let all = all.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let settings = Settings::take(&all, ["--write".to_owned(), "/srv/mail".to_owned()]).unwrap();
    assert_eq!((settings.user.as_str(), settings.write.len()), ("me@example.org", 1));
    assert!(Settings::take(&all, ["--write".to_owned()]).unwrap_err().contains("needs a folder"));
}
