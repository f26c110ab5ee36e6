//! Who gets in to the owner's page: every head that an attack may have, judged by itself and met by a real server.

use crate::page::Page;
use console::page::guard::{Judged, Request, judge};
use console::page::tokens::{Stale, Tokens};
use std::io::{Read, Write};
use trials::{House, SOUND};

const TOKEN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const OTHER: &str = "1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const HOST: (&str, &str) = ("host", "127.0.0.1:7717");

fn judged(method: &str, path: &str, headers: &[(&str, &str)]) -> Judged {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    judge(&request.body(()).unwrap().into_parts().0, TOKEN, "feral-7717")
}

/// What a head comes to, and its lines.
type Case<'a> = (Option<u16>, &'a [(&'a str, &'a str)]);

/// `None`: it passes.
fn refused(method: &str, path: &str, headers: &[(&str, &str)]) -> Option<u16> {
    match judged(method, path, headers) {
        Judged::Refused(refusal) => Some(refusal.status.as_u16()),
        Judged::Passes | Judged::Open | Judged::Enters { .. } => None,
    }
}

fn cookie(token: &str) -> String {
    format!("other=1; feral-7717={token}")
}

#[test]
fn only_the_token_of_now_passes() {
    let ours = cookie(TOKEN);
    let cases: [Case; 9] = [
        (None, &[HOST, ("cookie", &ours)]),
        (None, &[HOST, ("cookie", "feral-7717=x"), ("cookie", &ours)]),
        (Some(403), &[HOST]),
        (Some(403), &[HOST, ("cookie", &cookie(OTHER))]),
        (Some(403), &[HOST, ("cookie", &cookie(""))]),
        (Some(403), &[HOST, ("cookie", &cookie(&TOKEN[..40]))]),
        (Some(403), &[HOST, ("cookie", &format!("feral-7718={TOKEN}"))]),
        (Some(403), &[HOST, ("authorization", &format!("Bearer {TOKEN}"))]),
        (Some(403), &[HOST, ("cookie", &ours), ("origin", "http://127.0.0.1:3000")]),
    ];
    for (expected, headers) in cases {
        assert_eq!(refused("GET", "/talk", headers), expected, "{headers:?}");
    }
    assert_eq!(
        refused("GET", &format!("/talk?token={TOKEN}"), &[HOST]),
        Some(403),
        "only the first page's link"
    );
    assert_eq!(refused("POST", &format!("/?token={TOKEN}"), &[HOST]), Some(403));
    assert_eq!(refused("GET", &format!("/?token={OTHER}"), &[HOST, ("cookie", &ours)]), Some(403));
    assert_eq!(refused("GET", &format!("/?token={TOKEN}&token={TOKEN}"), &[HOST]), Some(403));
    assert_eq!(refused("GET", "/style.css", &[HOST]), None, "what says nothing of the house");
    for method in ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"] {
        assert_eq!(refused(method, "/talk", &[HOST, ("cookie", &ours)]), Some(405), "{method}");
    }
}

#[test]
fn only_this_machines_own_names_are_answered() {
    let ours = cookie(TOKEN);
    for host in ["127.0.0.1:7717", "localhost:7717", "[::1]:7717", "127.0.0.1:8000", "localhost"] {
        assert_eq!(refused("GET", "/", &[("host", host), ("cookie", &ours)]), None, "{host}");
    }
    let others = [
        "evil.test:7717",
        "127.0.0.1.evil.test:7717",
        "localhost.evil.test",
        "127.0.0.2:7717",
        "0.0.0.0:7717",
        "127.0.0.1:",
        "127.0.0.1:x",
        "127.0.0.1:7717:1",
        "127.0.0.1@evil.test",
        "[::2]:7717",
        "[::1]x",
        "",
    ];
    for host in others {
        let headers = [("host", host), ("cookie", ours.as_str())];
        assert_eq!(refused("GET", "/", &headers), Some(421), "{host:?}");
        assert_eq!(
            refused("GET", &format!("/?token={TOKEN}"), &headers),
            Some(421),
            "{host:?} with the link"
        );
    }
    assert_eq!(refused("GET", "/", &[("cookie", &ours)]), Some(421), "none");
    assert_eq!(refused("GET", "/", &[HOST, ("host", "localhost:7717"), ("cookie", &ours)]), Some(421), "two");
    assert_eq!(refused("GET", "http://evil.test/", &[HOST, ("cookie", &ours)]), Some(421), "mixed");
    assert_eq!(refused("GET", "http://localhost:7717/", &[HOST, ("cookie", &ours)]), Some(421), "mixed");
}

#[test]
fn nothing_another_page_sends_is_answered() {
    let ours = cookie(TOKEN);
    let form = ("content-type", "application/x-www-form-urlencoded");
    for site in ["cross-site", "same-site", "", "evil"] {
        for method in ["GET", "POST"] {
            let headers = [HOST, ("cookie", ours.as_str()), form, ("sec-fetch-site", site)];
            assert_eq!(refused(method, "/say", &headers), Some(403), "{method} {site}");
        }
    }
    let twice =
        [HOST, ("cookie", ours.as_str()), ("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")];
    assert_eq!(refused("GET", "/", &twice), Some(403));
    let origins = [
        "http://evil.test",
        "http://127.0.0.1:3000",
        "http://localhost:7717",
        "https://127.0.0.1:7717",
        "http://127.0.0.1:7717.evil.test",
        "127.0.0.1:7717",
        "null",
    ];
    for origin in origins {
        for method in ["GET", "POST"] {
            let headers = [HOST, ("cookie", ours.as_str()), form, ("origin", origin)];
            assert_eq!(refused(method, "/say", &headers), Some(403), "{method} {origin}");
        }
    }
    let own = [HOST, ("cookie", ours.as_str()), form, ("sec-fetch-site", "same-origin")];
    assert_eq!(refused("POST", "/say", &own), None);
    let told = |origin| [own.as_slice(), &[("origin", origin)]].concat();
    assert_eq!(refused("POST", "/say", &told("http://127.0.0.1:7717")), None);
    assert_eq!(
        refused("POST", "/say", &told("null")),
        None,
        "as browsers say it where no page tells where it was"
    );
    assert_eq!(
        refused("POST", "/say", &[HOST, ("cookie", &ours), ("content-type", "text/plain")]),
        Some(415)
    );
    assert_eq!(
        refused("POST", "/say", &[HOST, ("cookie", &ours), ("content-type", "application/json")]),
        Some(415)
    );
}

#[test]
fn a_link_on_another_site_leads_in_and_nowhere_else() {
    let path = format!("/?token={TOKEN}");
    let navigation = [
        HOST,
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-mode", "navigate"),
        ("sec-fetch-dest", "document"),
    ];
    assert_eq!(judged("GET", &path, &navigation), Judged::Enters { from_elsewhere: true });
    assert_eq!(judged("GET", &path, &[HOST]), Judged::Enters { from_elsewhere: false });
    for (mode, dest) in [("navigate", "iframe"), ("no-cors", "image"), ("cors", "empty"), ("navigate", "")] {
        let headers =
            [HOST, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", mode), ("sec-fetch-dest", dest)];
        assert_eq!(refused("GET", &path, &headers), Some(403), "{mode} {dest}");
    }
    assert_eq!(
        refused("GET", "/talk", &[&navigation[..], &[("cookie", &cookie(TOKEN))]].concat()),
        Some(403)
    );
}

#[test]
fn an_acts_token_is_for_one_act_once_and_for_an_hour() {
    let tokens = Tokens::new().unwrap();
    let make = |act: &str| tokens.make(act, TOKEN, 1_000).unwrap();
    let given = make("/asks/1/yes");
    assert_eq!(tokens.take("/asks/2/yes", TOKEN, &given, 1_001), Err(Stale::Unknown), "another act");
    assert_eq!(tokens.take("/asks/1/yes", OTHER, &given, 1_001), Err(Stale::Unknown), "an old link");
    assert_eq!(tokens.take("/asks/1/yes", TOKEN, &given, 1_001), Ok(()));
    assert_eq!(tokens.take("/asks/1/yes", TOKEN, &given, 1_002), Err(Stale::Used));
    let late = make("/say");
    assert_eq!(tokens.take("/say", TOKEN, &late, 3_602_000), Err(Stale::TooOld));
    let (_, rest) = late.split_once('-').unwrap();
    assert_eq!(tokens.take("/say", TOKEN, &format!("9999999-{rest}"), 3_602_000), Err(Stale::Unknown));
    for odd in ["", "-", "--", "1-2-3", "1-2-3-4"] {
        assert_eq!(tokens.take("/say", TOKEN, odd, 1_001), Err(Stale::Unknown), "{odd:?}");
    }
    let other = Tokens::new().unwrap();
    assert_eq!(other.take("/say", TOKEN, &make("/say"), 1_001), Err(Stale::Unknown), "another server's");
    // Used ones are forgotten once they would be too old, never before.
    let taken = |act: String| tokens.take(&act, TOKEN, &make(&act), 2_000);
    let full = (0..5_000).map(|number| taken(format!("/asks/{number}/no"))).find(Result::is_err);
    assert_eq!(full, Some(Err(Stale::TooMany)));
    let later = tokens.make("/say", TOKEN, 4_000_000).unwrap();
    assert_eq!(tokens.take("/say", TOKEN, &later, 4_000_000), Ok(()));
}

#[test]
fn every_answer_is_closed_to_others() {
    let house = House::new(SOUND);
    let page = Page::of(&house);
    let host = format!("Host: {}", page.host());
    let refused = page.raw("GET /talk HTTP/1.1", &[&host], "");
    assert_eq!(refused.status, 403);
    assert!(refused.body.contains("feral serve") && !refused.body.contains("/memory"), "{}", refused.body);
    let rebound = page.raw("GET / HTTP/1.1", &["Host: evil.test", &format!("Cookie: {}", page.cookie())], "");
    let entered = page.raw(&format!("GET /?token={} HTTP/1.1", page.token), &[&host], "");
    assert_eq!((rebound.status, entered.status), (421, 303));
    assert!(entered.head.contains("HttpOnly; SameSite=Strict; Path=/"), "{}", entered.head);
    for answer in [
        refused,
        rebound,
        entered,
        page.get("/"),
        page.get("/nothing"),
        page.get("/style.css"),
        page.get("/stream.js"),
    ] {
        for line in [
            "content-security-policy: default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
            "x-frame-options: DENY",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cross-origin-opener-policy: same-origin",
            "cross-origin-resource-policy: same-origin",
            "cache-control: no-store",
        ] {
            assert!(answer.head.lines().any(|said| said == line), "{line} is not in {}", answer.head);
        }
        assert!(!answer.head.to_lowercase().contains("access-control"), "{}", answer.head);
    }
}

#[test]
fn acts_are_posted_and_nothing_is_held_of_what_is_too_long() {
    let house = House::new(SOUND);
    let page = Page::of(&house);
    for path in ["/say", "/pause", "/asks/1/yes", "/ladder/1/back", "/link/new"] {
        assert_eq!(page.get(path).status, 405, "{path}");
    }
    let long = "x".repeat(2 << 20);
    let mut stream = page.connect();
    let _ = write!(
        stream,
        "POST /say HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{long}",
        page.host(),
        page.cookie(),
        long.len()
    );
    let mut told = [0; 12];
    // It may be gone before all was sent.
    if stream.read_exact(&mut told).is_ok() {
        assert_eq!(&told, b"HTTP/1.1 413");
    }
    assert!(!house.path(".self/inbox.jsonl").exists());
    let header = format!("X-Long: {}", "x".repeat(64 << 10));
    let mut stream = page.connect();
    let _ = write!(stream, "GET / HTTP/1.1\r\nHost: {}\r\n{header}\r\n\r\n", page.host());
    let mut told = String::new();
    let _ = stream.read_to_string(&mut told);
    assert!(told.is_empty() || told.starts_with("HTTP/1.1 4"), "{told}");
    assert_eq!(page.get("/").status, 200, "it goes on");
}
