//! Heads that an attack may have: names, origins, proxies, plain HTTP and old versions of TLS.

use crate::client::{Answer, answer, ask};
use crate::served::{Browser, PASSWORD, Phone, house, set_password};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

#[test]
fn it_answers_by_its_own_address_and_name_alone_whatever_stands_in_front() {
    let house = house("host = \"house.example.org\"\n");
    set_password(&house, PASSWORD);
    let phone = Phone::of(&house);
    let within = Browser::within(&phone);
    let at = |host: &str| Browser {
        host: host.to_owned(),
        cookies: within.cookies.clone(),
        ..Browser::new(&phone)
    };
    let port = phone.at.port();
    for host in [
        format!("127.0.0.1:{port}"),
        "house.example.org".into(),
        "house.example.org:443".into(),
        "127.0.0.1".into(),
    ] {
        assert!(at(&host).is_within(), "{host}");
    }
    let others = [
        "evil.test",
        "localhost",
        "house.example.org.evil.test",
        "xhouse.example.org",
        "house.example.org@evil.test",
        "house.example.org:x",
        "house.example.org:",
        "127.0.0.2",
        "[::1]",
        "0.0.0.0",
        "",
    ];
    for host in others {
        for path in ["/talk", "/sign-in", "/style.css"] {
            let answer = at(host).get(path);
            assert_eq!(answer.status, 421, "{host:?} {path}");
            assert!(answer.body.contains("proxy stands between"), "it says what to do: {}", answer.body);
        }
    }
    // What a proxy says of itself changes nothing: neither the name that counts nor the one who asks.
    let forwarded = |host: &str| {
        [
            "X-Forwarded-Host: house.example.org",
            "X-Forwarded-Proto: https",
            "Forwarded: host=house.example.org",
            "X-Forwarded-For: 10.0.0.1",
            "X-Real-IP: 10.0.0.1",
        ]
        .map(|line| line.replace("10.0.0.1", host))
    };
    assert_eq!(at("evil.test").get_with("/talk", &forwarded("10.0.0.1")).status, 421);
    let mut guesser = Browser::new(&phone);
    let counted = (0..8).map(|number| {
        let of = forwarded(&format!("10.0.0.{number}"));
        guess_from(&mut guesser, &phone, &of).status
    });
    assert!(counted.collect::<Vec<_>>().contains(&429), "each guess counts for the address it came from");
    assert_eq!(two_hosts(&phone, &within).status, 421);
}

fn guess_from(browser: &mut Browser, phone: &Phone, more: &[String]) -> Answer {
    let lines = [
        &[
            format!("Host: {}", browser.host),
            "Content-Type: application/x-www-form-urlencoded".into(),
            "Content-Length: 14".into(),
        ],
        more,
    ];
    ask(phone.at, "POST /sign-in HTTP/1.1", &lines.concat(), "password=wrong").unwrap()
}

fn two_hosts(phone: &Phone, within: &Browser) -> Answer {
    let cookies = format!("Cookie: {}", within.cookies.join("; "));
    let lines = [format!("Host: {}", within.host), "Host: evil.test".to_owned(), cookies];
    ask(phone.at, "GET /talk HTTP/1.1", &lines, "").unwrap()
}

#[test]
fn nothing_another_page_sends_is_answered() {
    let house = house("");
    set_password(&house, PASSWORD);
    let phone = Phone::of(&house);
    let mut within = Browser::within(&phone);
    let sites = ["cross-site", "same-site", "", "evil"];
    for site in sites {
        let answer = within.get_with("/talk", &[format!("Sec-Fetch-Site: {site}")]);
        assert_eq!(answer.status, 403, "{site}");
    }
    for origin in ["https://evil.test", "null", &format!("http://{}", phone.at), "https://127.0.0.1:1"] {
        let answer = within.get_with("/talk", &[format!("Origin: {origin}")]);
        assert_eq!(answer.status, 403, "{origin}");
    }
    // A link on another site leads to the page of the single-use link, and nowhere else; framed not even there.
    let leads = |path: &str, dest: &str| {
        let lines = [("Site", "cross-site"), ("Mode", "navigate"), ("Dest", dest)];
        within.get_with(path, &lines.map(|(name, value)| format!("Sec-Fetch-{name}: {value}")))
    };
    assert_eq!(leads("/invited?token=x", "document").status, 200);
    assert_eq!(leads("/invited?token=x", "iframe").status, 403);
    for path in ["/", "/asks/1", "/sign-in", "/style.css"] {
        assert_eq!(leads(path, "document").status, 403, "{path}");
    }
    // Nobody is signed in, or signed out, by another page.
    for (path, origin) in
        [("/sign-in", "https://evil.test"), ("/sign-out", "https://evil.test"), ("/invited", "null")]
    {
        let mut lines =
            vec![format!("Host: {}", phone.at), format!("Origin: {origin}"), "Content-Length: 0".into()];
        lines.push("Content-Type: application/x-www-form-urlencoded".into());
        assert_eq!(
            ask(phone.at, &format!("POST {path} HTTP/1.1"), &lines, "").unwrap().status,
            403,
            "{path}"
        );
    }
    for path in ["/say", "/pause", "/sign-out", "/sessions/end-all", "/passkeys/add"] {
        assert_eq!(within.get(path).status, 405, "{path}");
        assert_eq!(within.post(path, &[]).status, 409, "{path}: without the token of its act");
    }
    for method in ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT"] {
        let lines = [format!("Host: {}", phone.at)];
        let status = ask(phone.at, &format!("{method} /talk HTTP/1.1"), &lines, "").unwrap().status;
        assert!([400, 405].contains(&status), "{method}: {status}");
    }
    assert!(within.is_within());
}

#[test]
fn every_answer_is_closed_to_others_and_strangers_see_nothing_of_the_house() {
    let house = house("");
    let phone = Phone::of(&house);
    let stranger = Browser::new(&phone);
    for path in [
        "/sign-in",
        "/",
        "/invited?token=x",
        "/style.css",
        "/app.webmanifest",
        "/icon.svg",
        "/icon-192.png",
        "/passkey.js",
        "/nothing",
    ] {
        let answer = stranger.get(path);
        for line in [
            "x-frame-options: DENY",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cross-origin-opener-policy: same-origin",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(answer.head.lines().any(|said| said == line), "{path}: {line} is not in {}", answer.head);
        }
        assert!(
            answer
                .header("content-security-policy")
                .is_some_and(|policy| policy.contains("frame-ancestors 'none'"))
        );
        assert!(
            answer.header("strict-transport-security").is_none(),
            "with a certificate of its own it would lock out"
        );
        assert!(!answer.body.contains("/memory") && !answer.body.contains("<nav"), "{path}: {}", answer.body);
    }
    for path in
        ["/stream.js", "/talk.js", "/favicon.svg", "/stream", "/life.svg", "/export/days.svg", "/sessions"]
    {
        assert_eq!(stranger.get(path).status, 303, "{path}");
    }
    let long = "x".repeat(200_000);
    let lines = [
        format!("Host: {}", phone.at),
        "Content-Type: application/x-www-form-urlencoded".into(),
        format!("Content-Length: {}", long.len()),
    ];
    if let Ok(answer) = ask(phone.at, "POST /sign-in HTTP/1.1", &lines, &long) {
        assert!([0, 413].contains(&answer.status), "{}", answer.status);
    }
    assert_eq!(stranger.get("/sign-in").status, 200, "it goes on");
}

#[test]
fn plain_http_is_refused_and_led_nowhere() {
    let house = house("");
    let phone = Phone::of(&house);
    for asked in [
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /sign-in HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
        "\0",
        "SSH-2.0-x\r\n",
    ] {
        let mut stream = TcpStream::connect(phone.at).unwrap();
        stream.write_all(asked.as_bytes()).unwrap();
        let mut told = Vec::new();
        stream.read_to_end(&mut told).unwrap();
        let answer = answer(&told);
        assert_eq!(answer.status, 400, "{asked:?}: {:?}", String::from_utf8_lossy(&told));
        assert!(
            answer.body.contains("HTTPS alone") && !answer.head.to_lowercase().contains("location"),
            "{}",
            answer.body
        );
        assert_eq!(answer.header("Content-Length"), Some(answer.body.len().to_string().as_str()));
    }
    // One that says nothing, and one that begins and stops, keep nobody out.
    let _silent = TcpStream::connect(phone.at).unwrap();
    let mut begun = TcpStream::connect(phone.at).unwrap();
    begun.write_all(&[22, 3, 1]).unwrap();
    assert_eq!(Browser::new(&phone).get("/sign-in").status, 200);
}

/// Versions before 1.2 are refused, and what is new is taken: by the openssl of this machine, as attackers have it.
#[test]
fn nothing_below_tls_1_2_is_spoken() {
    let house = house("");
    let phone = Phone::of(&house);
    let hello = |version: &str| {
        let mut command = Command::new("openssl");
        command.args(["s_client", "-connect", &phone.at.to_string(), version, "-cipher", "ALL:@SECLEVEL=0"]);
        command
            .stdin(Stdio::null())
            .output()
            .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let Ok(today) = hello("-tls1_2") else {
        eprintln!("not tried: there is no openssl here");
        return;
    };
    assert!(
        today.contains("Cipher is ECDHE-ECDSA-AES") || today.contains("Cipher is ECDHE-ECDSA-CHACHA"),
        "{today}"
    );
    for old in ["-tls1_1", "-tls1"] {
        let told = hello(old).unwrap();
        assert!(told.contains("Cipher is (NONE)"), "{old}: {told}");
    }
    let latest = hello("-tls1_3").unwrap();
    assert!(latest.contains("TLSv1.3, Cipher is TLS_"), "{latest}");
}
