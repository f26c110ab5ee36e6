//! Mails as words: conversations, quotes, files, what no person wrote; and messages as mails.

use channels::channel::{Chat, Form, Heard, Message, Outgoing, What, Word};
use channels::platforms::mail::quoted::own_words;
use channels::platforms::mail::reading::{Conversation, Place, Reader, file, read};
use channels::platforms::mail::writing;
use mail_parser::MessageParser;

const CAME_MS: u64 = 1_795_000_000_000;
const PLACE: Place = Place { validity: 7, uid: 3 };

fn reader() -> Reader {
    Reader { address: "feral@example.net".to_owned(), authserv: "mx.example.net".to_owned() }
}

/// A proven mail of anna's with these further fields, and a body.
fn heard(fields: &str, body: &str) -> Heard {
    let raw = format!(
        "Authentication-Results: mx.example.net; dkim=pass header.d=example.org\r\nDKIM-Signature: v=1; d=example.org; b=x\r\n\
         From: Anna <anna@example.org>\r\nTo: feral@example.net\r\n{fields}\r\n{body}"
    );
    read(raw.as_bytes(), PLACE, CAME_MS, &reader()).unwrap()
}

fn word(heard: &Heard) -> &Word {
    match &heard.what {
        What::Word(word) => word,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_first_mail_is_its_subject_and_text_and_begins_a_conversation() {
    let one = heard(
        "Subject: Re: Herons\r\nMessage-ID: <one@example.org>\r\n",
        "Please count them until Friday.\r\n",
    );
    assert_eq!(word(&one).text, "Subject: Herons\n\nPlease count them until Friday.");
    assert_eq!((one.id.as_str(), word(&one).message.as_str()), ("one@example.org", "one@example.org"));
    assert_eq!(one.chat.thread.as_deref(), Some("one@example.org Herons"));
    assert_eq!(
        (one.from.id.as_str(), one.from.is_bot, one.chat.is_private),
        ("anna@example.org", false, true)
    );
    for (subject, body, text) in [
        ("x", "/budget 5\r\n", "/budget 5"),
        ("code", "pear lamp\r\n", "pear lamp"),
        ("/mind", "\r\n", "/mind"),
        ("", "A b c d", "A b c d"),
    ] {
        let one = heard(&format!("Subject: {subject}\r\nMessage-ID: <x@y>\r\n"), body);
        let told = word(&one).text.replace("Subject: \n\n", "");
        assert_eq!(told, text, "{subject}");
    }
}

#[test]
fn an_answer_stays_in_its_conversation_and_is_what_was_written_alone() {
    let fields = "Subject: AW: Re: Herons\r\nMessage-ID: <three@example.org>\r\nIn-Reply-To: <two@example.net>\r\n\
                  References: <one@example.org>\r\n <two@example.net>\r\n";
    let body = "Yes, please.\r\n\r\nOn Sat, 28 Nov 2026 at 10:00, Feral\r\n<feral@example.net> wrote:\r\n> Shall I?\r\n> yes\r\n";
    let three = heard(fields, body);
    assert_eq!(word(&three).text, "Yes, please.");
    assert_eq!(three.chat.thread.as_deref(), Some("one@example.org Herons"));
}

#[test]
fn quotes_of_many_programs_are_left_out_and_nothing_else() {
    for (text, own) in [
        ("Yes\n\nAm 28.11.26 um 10:00 schrieb Feral:\n> Shall I?", "Yes"),
        ("Yes\nOn 2026-11-28 Feral wrote:\n> a\n>\n> b\n", "Yes"),
        ("Yes\n\nOn Sat, Nov 28, 2026 at 10:00 AM\nFeral <feral@example.net> wrote:\n\n> a", "Yes"),
        ("> Shall I?\nYes\n> And this?\nNo", "Yes\nNo"),
        ("Yes\n-----Original Message-----\nFrom: Feral\nall of it", "Yes"),
        ("Yes\n________________________________\nVon: Feral\nall", "Yes"),
        ("Buy:\n- milk\n- tea", "Buy:\n- milk\n- tea"),
        ("These two:\n> a", "These two:"),
        ("> all of it\n> quoted", ""),
        ("Yes\n-- \nAnna\nCEO", "Yes"),
        ("a\n--\nb", "a\n--\nb"),
    ] {
        assert_eq!(own_words(text, true), own, "{text}");
    }
    assert_eq!(own_words("look:\n> a shell line\n-- \nAnna", false), "look:\n> a shell line");
}

#[test]
fn html_alone_is_read_as_text_without_its_quote() {
    let fields = "Subject: Re: x\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\nIn-Reply-To: <one@example.net>\r\n";
    let body = "<html><body><div>Gr&uuml;&szlig;e &amp; <b>yes</b></div><br><div class=\"gmail_quote\"><div>On Sat wrote:</div>\
                <blockquote>Shall I?</blockquote></div></body></html>";
    assert_eq!(word(&heard(fields, body)).text, "Grüße & yes");
}

#[test]
fn files_are_named_and_found_again() {
    let fields = "Subject: x\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n";
    let body = "--b\r\n\r\nlook at this, will you\r\n--b\r\nContent-Type: application/pdf; name=\"../../x\"\r\n\
                Content-Transfer-Encoding: base64\r\n\r\nJVBERi0xLjQ=\r\n--b--\r\n";
    let one = heard(fields, body);
    let named = &word(&one).files[0];
    assert_eq!(
        (named.name.as_str(), named.bytes),
        ("../../x", Some(8)),
        "the engine makes names of files harmless"
    );
    let raw = format!("{fields}\r\n{body}");
    assert_eq!(file(raw.as_bytes(), 0).unwrap(), b"%PDF-1.4");
    assert_eq!(file(raw.as_bytes(), 1), None);
}

#[test]
fn what_no_person_wrote_is_marked_so() {
    for fields in [
        "Auto-Submitted: auto-replied\r\n",
        "auto-submitted: auto-generated; x=y\r\n",
        "List-Id: <herons.example.org>\r\n",
        "Precedence: bulk\r\n",
        "Return-Path: <>\r\n",
        "Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n",
    ] {
        assert!(heard(fields, "x").from.is_bot, "{fields}");
    }
    assert!(!heard("Auto-Submitted: no\r\n", "x").from.is_bot);
}

#[test]
fn a_mail_that_is_not_proven_or_not_for_us_says_nothing_but_why() {
    let why = |raw: &str| {
        let one = read(raw.as_bytes(), PLACE, CAME_MS, &reader()).unwrap();
        assert_eq!(one.id, "uid-7-3", "its own id hides no other mail");
        match one.what {
            What::Unread { why } => why,
            other => panic!("{other:?}"),
        }
    };
    let forged = why(
        "From: anna@example.org\r\nTo: feral@example.net\r\nSubject: pay\r\nMessage-ID: <one@example.org>\r\n\r\npay",
    );
    assert!(!forged.contains("pay") && forged.contains("did not say who signed"), "{forged}");
    let elsewhere = why(
        "Authentication-Results: mx.example.net; dkim=pass header.d=example.org\r\nDKIM-Signature: v=1; d=example.org; b=x\r\n\
         From: anna@example.org\r\nTo: bob@example.com\r\n\r\nyes, pay",
    );
    assert!(elsewhere.contains("neither in To nor in Cc"), "{elsewhere}");
    assert!(read(b"Subject: nobody\r\n\r\nx", PLACE, CAME_MS, &reader()).is_none());
}

#[test]
fn a_mail_is_as_old_as_it_says_and_never_from_tomorrow() {
    let old = heard("Date: Sat, 28 Nov 2020 10:00:00 +0000\r\n", "x");
    assert_eq!(old.at_ms, 1_606_557_600_000);
    assert_eq!(heard("Date: Sat, 28 Nov 2099 10:00:00 +0000\r\n", "x").at_ms, CAME_MS);
    assert_eq!(heard("Date: nonsense\r\n", "x").at_ms, CAME_MS);
}

#[test]
fn long_and_hostile_texts_are_bounded() {
    let long = heard("Subject: x\r\n", &"grüße ".repeat(100_000));
    assert!(word(&long).text.len() <= 257 << 10);
    let odd = heard(
        "Subject: \u{202e}\u{7}abc\r\nMessage-ID: <a b@c>\r\nReferences: <x\"y@z> <no> <ok@z>\r\n",
        "a b c d",
    );
    assert_eq!(odd.id, "uid-7-3", "an id that could not be written again is none");
    assert_eq!(Conversation::read(odd.chat.thread.as_deref().unwrap()).root, "ok@z");
    for raw in [&b""[..], b"\r\n\r\n", b"From", &[0xff; 64]] {
        let _ = read(raw, PLACE, CAME_MS, &reader());
    }
}

pub fn message(thread: Option<&str>, text: &str) -> Message {
    let chat = Chat { id: "anna@example.org".into(), thread: thread.map(str::to_owned), is_private: true };
    Message { chat, text: text.into(), form: Form::Plain, buttons: vec![], file: None, key: "0f".repeat(16) }
}

fn text_of(message: &Message) -> String {
    String::from_utf8(writing::written(message, "feral@example.net", CAME_MS).unwrap()).unwrap()
}

#[test]
fn an_answer_stands_in_its_conversation_and_says_that_no_person_wrote_it() {
    let mut answer = message(Some("one@example.org Grüße"), "On Monday.\n.\nFrom here: ✉");
    answer.file = Some(Outgoing { name: "grüße\r\nBcc: x.txt".into(), bytes: "herons".into() });
    let raw = text_of(&answer);
    let mail = MessageParser::default().parse(raw.as_bytes()).unwrap();
    assert_eq!(mail.subject(), Some("Re: Grüße"));
    assert_eq!(mail.message_id(), Some(format!("{}@example.net", "0f".repeat(16)).as_str()));
    assert_eq!(mail.in_reply_to().as_text(), Some("one@example.org"));
    assert_eq!(mail.references().as_text_list().unwrap(), ["one@example.org"]);
    assert_eq!(mail.header_raw("Auto-Submitted").map(str::trim), Some("auto-replied"));
    assert_eq!(mail.body_text(0).unwrap().trim_end().replace("\r\n", "\n"), "On Monday.\n.\nFrom here: ✉");
    assert_eq!(mail.attachment(0).unwrap().contents(), b"herons");
    assert!(!raw.lines().any(|line| line.starts_with("Bcc")), "{raw}");
    assert!(raw.lines().all(|line| line.len() <= 998), "no line is longer than RFC 5322, 2.1.1 allows");
}

#[test]
fn a_notice_begins_a_conversation_by_its_first_words() {
    let raw = text_of(&message(None, "\nThe creature fell.\nIt runs again."));
    let mail = MessageParser::default().parse(raw.as_bytes()).unwrap();
    assert_eq!(mail.subject(), Some("The creature fell."));
    assert!(mail.in_reply_to().as_text().is_none());
    let long = text_of(&message(None, &"word ".repeat(20_000)));
    assert!(long.lines().all(|line| line.len() <= 998) && long.is_ascii());
}

#[test]
fn nothing_is_written_to_what_is_no_address() {
    for to in ["", "anna", "a b@c", "a@b\r\nRCPT TO:<x@y>", "<a@b>", "@b", "a@", "ann\u{e4}@b"] {
        let mut to_nobody = message(None, "x");
        to_nobody.chat.id = to.into();
        assert!(writing::written(&to_nobody, "feral@example.net", CAME_MS).is_err(), "{to:?}");
    }
}
