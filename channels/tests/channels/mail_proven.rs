//! Senders, proven or not: the word of the owner's own server, and nothing that others write in its name. RFC 8601, 7489, 6376.

use channels::platforms::mail::proven::{proven, results, speaks_for};
use mail_parser::MessageParser;

const PASS: &str = "Authentication-Results: mx.example.net; dkim=pass header.d=example.org\r\n";

/// Judges a mail of anna@example.org with these fields on top of it.
fn judged(top: &str) -> Result<String, String> {
    of("anna@example.org", top)
}

fn of(from: &str, top: &str) -> Result<String, String> {
    let raw = format!(
        "{top}DKIM-Signature: v=1; a=rsa-sha256; d=example.org; s=s; h=from:to; bh=x; b=x\r\nFrom: {from}\r\n\
         To: feral@example.net\r\nSubject: x\r\n\r\nx\r\n"
    );
    proven(&MessageParser::default().parse(raw.as_bytes()).unwrap(), "mx.example.net")
}

#[test]
fn the_word_of_the_owners_server_counts_in_every_form_that_servers_write() {
    for field in [
        "mx.example.net; dkim=pass header.d=example.org",
        "MX.Example.NET 1; dkim=pass header.d=example.org",
        "mx.example.net;\r\n\tdkim=pass header.i=@example.org header.s=20230601 header.b=KwBKsvUA;\r\n\tspf=pass (google.com: \
         domain of anna@example.org designates 192.0.2.1 as permitted sender) smtp.mailfrom=anna@example.org;\r\n\tdmarc=pass \
         (p=NONE sp=QUARANTINE dis=NONE) header.from=example.org",
        "mx.example.net; iprev=pass (mail.example.org) smtp.remote-ip=192.0.2.1; dkim=pass header.d=example.org header.s=s \
         header.a=rsa-sha256",
        "mx.example.net (a (nested) comment); DKIM = PASS (1024-bit; key) header.d = \"example.org\"",
        "mx.example.net; dkim=fail header.d=other.test; dkim/1=pass reason=\"good; signature\" header.d=EXAMPLE.org",
        "\"mx.example.net\"; dkim=pass header.d=example.org.",
    ] {
        let found = judged(&format!("Authentication-Results: {field}\r\n"));
        assert_eq!(found.as_deref(), Ok("anna@example.org"), "{field}");
    }
}

#[test]
fn what_is_no_pass_of_its_domain_proves_nothing() {
    for field in [
        "mx.example.net; none",
        "mx.example.net; dkim=fail header.d=example.org",
        "mx.example.net; dkim=none",
        "mx.example.net; dkim=policy header.d=example.org",
        "mx.example.net; dkim=pass",
        "mx.example.net; dkim=pass header.d=evil.test",
        "mx.example.net; dkim=pass header.d=sub.example.org",
        "mx.example.net; dkim=pass header.d=notexample.org",
        "mx.example.net; dkim=pass header.d=org",
        "mx.example.net; spf=pass smtp.mailfrom=example.org; dmarc=pass header.from=example.org",
        "mx.example.net; x=y (dkim=pass header.d=example.org)",
        "mx.example.net; spf=none reason=\"; dkim=pass header.d=example.org\"",
        "mx.example.net; dkim=pass header.d=evil.test header.d=example.org",
        "mx.example.net; dkim=pass header.d=evil.test header.i=@example.org",
        "mx.example.net; dkim=pass header.d evil header.d=example.org",
        "mx.example.net; dkim/2=pass header.d=example.org",
        "mx.example.net 2; dkim=pass header.d=example.org",
        "mx.example.net evil; dkim=pass header.d=example.org",
        "other.test; dkim=pass header.d=example.org",
        "mx.example.net.evil.test; dkim=pass header.d=example.org",
        "; dkim=pass header.d=example.org",
        "(mx.example.net; dkim=pass header.d=example.org",
        "",
    ] {
        let found = judged(&format!("Authentication-Results: {field}\r\n"));
        assert!(found.is_err(), "{field}");
    }
    assert!(judged("").unwrap_err().contains("did not say"));
}

#[test]
fn only_the_topmost_of_that_server_counts_whatever_stands_below_or_in_anothers_name() {
    let none = "Authentication-Results: mx.example.net; dkim=none\r\n";
    let other = "Authentication-Results: evil.test; dkim=pass header.d=example.org\r\n";
    assert!(judged(&format!("{none}{PASS}")).is_err(), "a forged one below");
    assert!(judged(&format!("{other}{none}{PASS}")).is_err());
    assert!(judged(other).is_err());
    assert!(judged(&format!("{other}{PASS}")).is_ok(), "another's above hides nothing");
    assert!(judged(&format!("ARC-{PASS}X-{PASS}")).is_err(), "nor do fields of other names");
    // A server's own that holds bytes which are no text is its own all the same.
    let mut raw = b"Authentication-Results: mx.example.net; dkim=none (\xff\xfe)\r\n".to_vec();
    raw.extend_from_slice(PASS.as_bytes());
    raw.extend_from_slice(b"DKIM-Signature: v=1; d=example.org; b=x\r\nFrom: anna@example.org\r\n\r\nx");
    assert!(proven(&MessageParser::default().parse(&raw).unwrap(), "mx.example.net").is_err());
}

#[test]
fn a_domain_speaks_for_itself_and_for_those_below_it() {
    for (signer, domain, is_its) in [
        ("example.org", "example.org", true),
        ("example.org", "mail.example.org", true),
        ("example.org", "a.b.example.org", true),
        ("mail.example.org", "example.org", false),
        ("other.example.org", "mail.example.org", false),
        ("ample.org", "example.org", false),
        ("org", "example.org", false),
        ("", "example.org", false),
        (".", "example.org", false),
    ] {
        assert_eq!(speaks_for(signer, domain), is_its, "{signer} for {domain}");
    }
    assert_eq!(of("Anna <Anna@Mail.Example.ORG>", PASS).as_deref(), Ok("anna@mail.example.org"));
}

#[test]
fn one_from_with_one_plain_address_names_the_writer() {
    for (from, why) in [
        ("anna@example.org, eve@evil.test", "several"),
        ("eve@evil.test\r\nFrom: anna@example.org", "exactly one"),
        ("anna@example.org\r\nfrom : eve@evil.test", "exactly one"),
        ("friends: anna@example.org;", "no address"),
        ("anna", "plain"),
        ("\u{430}nna@ex\u{430}mple.org", "plain"),
        ("", "address"),
    ] {
        let found = of(from, PASS);
        assert!(found.as_ref().is_err_and(|told| told.contains(why)), "{from}: {found:?}");
    }
    // A name that looks like an address is a name.
    assert!(of("\"anna@example.org\" <eve@evil.test>", PASS).is_err());
}

#[test]
fn a_signature_that_leaves_an_end_open_proves_nothing() {
    let with = |signature: &str| {
        let raw = format!("{PASS}{signature}From: anna@example.org\r\n\r\nx");
        proven(&MessageParser::default().parse(raw.as_bytes()).unwrap(), "mx.example.net")
    };
    assert!(with("DKIM-Signature: v=1; d=example.org;\r\n\tl=5; b=x\r\n").unwrap_err().contains("all of it"));
    assert!(with("DKIM-Signature: v=1; d=example.org; bl=5; b=x\r\n").is_ok());
    assert!(with("").unwrap_err().contains("no signature"));
    assert!(with("DKIM-Signature: v=1; d=evil.test; b=x\r\n").is_err());
}

#[test]
fn garbage_is_read_to_its_end() {
    for field in ["(((((", "\"\\", ";;;;", "=;=;=", "a=b=c", "x (\\", "\u{202e}; dkim=pass"] {
        let _ = results(field);
    }
    let long = format!("mx.example.net; {}", "dkim=fail header.d=x ;".repeat(20_000));
    assert_eq!(results(&long).unwrap().1.len(), 20_000);
}
