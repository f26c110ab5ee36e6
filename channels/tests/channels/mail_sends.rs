//! A mail on its way, with an end at each step: what is certain afterwards.

use crate::faithful::smtp::{Does, Smtp};
use crate::mail_reading::message;
use channels::channel::{Channel, Trouble};
use channels::door::Door;
use channels::platforms::mail::Mail;
use channels::platforms::mail::server::{Security, Server};
use channels::platforms::mail::smtp::stuffed;
use house::settings::channels::Channel as Settings;

fn channel(port: u16, password: &'static str) -> Mail {
    let settings = Settings {
        address: "feral@example.net".into(),
        user: "anna".into(),
        imap: "127.0.0.1:1".into(),
        smtp: format!("127.0.0.1:{port}"),
        authserv: "mx.example.net".into(),
        password_env: "MAIL_PASSWORD".into(),
        ..Settings::default()
    };
    Mail::new(&settings, &|_| Some(password.to_owned()), Door::new(None).unwrap()).unwrap()
}

async fn sent(at: &'static str, does: Does) -> (Result<String, Trouble>, usize) {
    let server = Smtp::start(at, does).await;
    let sent = channel(server.port, "secret").send(&message(None, "Yes.\n.\n..two")).await;
    let count = server.taken.lock().unwrap().len();
    (sent.map(|sent| sent.message), count)
}

#[tokio::test]
async fn a_mail_arrives_as_it_was_and_its_id_was_known_before() {
    let server = Smtp::start("NEVER", Does::Cut).await;
    let sent = channel(server.port, "secret").send(&message(None, "Yes.\n.\n..two")).await.unwrap();
    assert_eq!(sent.message, format!("{}@example.net", "0f".repeat(16)));
    let taken = server.taken.lock().unwrap().clone();
    let mail = mail_parser::MessageParser::default().parse(taken[0].as_bytes()).unwrap();
    assert_eq!(mail.body_text(0).unwrap().trim_end().replace("\r\n", "\n"), "Yes.\n.\n..two");
    assert_eq!(mail.message_id(), Some(sent.message.as_str()));
}

#[tokio::test]
async fn before_its_last_dot_nothing_left_and_after_it_only_an_answer_tells() {
    for at in ["CONNECT", "EHLO", "AUTH", "MAIL", "RCPT", "DATA"] {
        let (sent, taken) = sent(at, Does::Cut).await;
        assert!(matches!(sent, Err(Trouble::Away(_))), "{at}: {sent:?}");
        assert_eq!(taken, 0, "{at}");
    }
    // A mail that was taken whole, and one that was cut within: from here both look the same.
    for (at, count) in [("DOT", 1), ("HEAD", 0)] {
        let (sent, taken) = sent(at, Does::Cut).await;
        assert!(matches!(sent, Err(Trouble::Doubtful(_))), "{at}: {sent:?}");
        assert_eq!(taken, count, "{at}");
    }
    let (sent, taken) = sent("QUIT", Does::Cut).await;
    assert!(sent.is_ok() && taken == 1, "nobody waits for a farewell");
}

#[tokio::test]
async fn refusals_are_for_now_or_for_good_by_their_codes() {
    for (at, says, means) in [
        ("CONNECT", "421 too many connections", "away"),
        ("MAIL", "452 4.3.1 no room", "away"),
        ("RCPT", "450 4.2.1 greylisted", "away"),
        ("RCPT", "550 5.1.1 no such user", "refused"),
        ("RCPT", "251 will forward", "sent"),
        ("DATA", "554 5.7.1 no", "refused"),
        ("DOT", "451 4.7.1 later", "away"),
        ("DOT", "552 5.3.4 too big", "refused"),
        ("DOT", "550 5.7.1 content", "refused"),
        ("AUTH", "535 5.7.8 no", "revoked"),
        ("AUTH", "534 5.7.9 application password required", "revoked"),
        ("AUTH", "454 4.7.0 later", "away"),
        ("EHLO", "garbage", "away"),
    ] {
        let (sent, _) = sent(at, Does::Says(says)).await;
        let meant = match sent {
            Ok(_) => "sent",
            Err(Trouble::Away(_)) => "away",
            Err(Trouble::Refused(_)) => "refused",
            Err(Trouble::Revoked(_)) => "revoked",
            Err(_) => "other",
        };
        assert_eq!(meant, means, "{at} {says}");
    }
    let server = Smtp::start("NEVER", Does::Cut).await;
    let wrong = channel(server.port, "wrong").send(&message(None, "x")).await;
    assert!(
        matches!(&wrong, Err(Trouble::Revoked(why)) if why.contains("user anna") && !why.contains("wrong")),
        "{wrong:?}"
    );
    assert!(matches!(channel(1, "secret").send(&message(None, "x")).await, Err(Trouble::Away(_))));
}

#[test]
fn beyond_this_machine_nothing_is_said_in_the_open() {
    for (text, security) in [
        ("imap.example.org:993", Security::Implicit),
        ("smtp.example.org:465", Security::Implicit),
        ("imap.example.org:143", Security::StartTls),
        ("smtp.example.org:587", Security::StartTls),
        ("192.168.1.2:25", Security::StartTls),
        ("127.0.0.1:1143", Security::Offered),
        ("[::1]:2525", Security::Offered),
        ("localhost:993", Security::Implicit),
    ] {
        assert_eq!(Server::read(text).unwrap().security, security, "{text}");
    }
    assert_eq!(Server::read("[::1]:2525").unwrap().host, "::1");
    for odd in ["", "example.org", "example.org:", ":25", "example.org:99999"] {
        assert!(Server::read(odd).is_err(), "{odd}");
    }
}

#[test]
fn dots_that_begin_a_line_are_doubled() {
    for (mail, wire) in [
        ("a\r\n.b\r\n", "a\r\n..b\r\n"),
        (".", "..\r\n"),
        ("a.b\r\n...\r\n", "a.b\r\n....\r\n"),
        ("no end", "no end\r\n"),
        ("", ""),
    ] {
        assert_eq!(stuffed(mail.as_bytes()), wire.as_bytes(), "{mail:?}");
    }
}
