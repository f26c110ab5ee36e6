//! What a fetch may reach: addresses as data, spellings, names, hops, and proxies in a process of their own.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod server;

use hands::address::{Gate, check, hop, is_public};
use hands::{Reach, Web};
use reqwest::Url;
use reqwest::dns::Resolve;
use server::{Site, html};

#[test]
fn addresses_as_data() {
    let public = "1.1.1.1 8.8.8.8 93.184.216.34 100.63.0.1 100.128.0.1 172.15.0.1 172.32.0.1 192.167.1.1 \
                  198.17.0.1 223.255.255.255 2606:4700::1111 2001:4860:4860::8888 2a00:1450::1 \
                  ::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::1";
    let private = "0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.9.9.9 169.254.169.254 \
                   172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 \
                   198.51.100.7 203.0.113.9 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255 \
                   :: ::1 fe80::1 fec0::1 fc00::1 fd12:3456::1 ff02::1 2001:db8::1 3fff::1 100::1 2001::1 \
                   2001:2::1 2001:10::1 2001:20::1 5f00::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::127.0.0.1 \
                   ::ffff:0:10.0.0.1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::808:808 2002:7f00:1::1 \
                   2002:a00:1::1 2002:c0a8:1::1";
    for ip in public.split_whitespace() {
        assert!(is_public(ip.parse().unwrap()), "{ip} is public");
    }
    for ip in private.split_whitespace() {
        assert!(!is_public(ip.parse().unwrap()), "{ip} is not public");
    }
}

#[tokio::test]
async fn no_spelling_of_this_machine_is_fetched() {
    let site = Site::new(|_| html("<p>inside"));
    let web = Web::new(Reach::default()).unwrap();
    for host in [
        "127.0.0.1",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "app.localhost",
        "[::1]",
        "[::]",
        "0.0.0.0",
        "0",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "017700000001",
        "0177.0.0.1",
        "127.1",
        "127.0.0.1.",
        "①②⑦.0.0.1",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "169.254.169.254",
        "10.0.0.1",
        "192.168.1.1",
        "metadata.google.internal",
        "printer.local",
        "%31%32%37.0.0.1",
    ] {
        let url = format!("http://{host}:{}/", site.port);
        let error = web.fetch_text(&url, 100).await.unwrap_err();
        assert!(error.message.contains("private or local address"), "{host}: {error:?}");
        assert!(error.hint.contains("allow_private"), "{host}: {error:?}");
        assert!(web.feed(&url, 1).await.is_err());
    }
    assert!(site.heard().is_empty());
}

#[tokio::test]
async fn names_are_judged_by_what_they_resolve_to() {
    let resolved = Gate::from_env().resolve("localhost".parse().unwrap()).await;
    assert!(resolved.is_err_and(|error| error.to_string().contains("localhost resolves to a private")));
}

#[test]
fn other_urls_are_refused_with_a_reason() {
    for (url, says) in [
        ("", "as a url"),
        ("example.org", "as a url"),
        ("/path", "as a url"),
        ("http://", "as a url"),
        ("ftp://example.org/", "`ftp` is not http"),
        ("file:///etc/passwd", "`file` is not http"),
        ("javascript:alert(1)", "`javascript` is not http"),
        ("data:text/html,hi", "`data` is not http"),
        ("http://user@example.org/", "user name or password"),
        ("https://user:hunter2@example.org/", "user name or password"),
    ] {
        let error = check(url, false).unwrap_err();
        assert!(error.message.contains(says) && !error.message.contains("hunter2"), "{url}: {error:?}");
        assert!(!error.hint.is_empty());
    }
    assert!(check(&"x".repeat(100_000), false).unwrap_err().message.len() < 400);
    assert!(check(" https://example.org/a?b=c ", false).is_ok());
    assert!(check("http://192.168.0.1/", true).is_ok());
}

#[test]
fn hops_are_checked_like_first_steps() {
    let secure = Url::parse("https://example.org/a/b").unwrap();
    let plain = Url::parse("http://example.org/a/b").unwrap();
    assert_eq!(hop(&secure, "../c?d", false).unwrap().as_str(), "https://example.org/c?d");
    assert_eq!(hop(&plain, "https://example.org/", false).unwrap().as_str(), "https://example.org/");
    assert_eq!(hop(&plain, "//example.net/x", false).unwrap().as_str(), "http://example.net/x");
    for (from, to, says) in [
        (&secure, "http://example.org/", "leaves https"),
        (&secure, "https://127.0.0.1/", "private or local"),
        (&plain, "http://169.254.169.254/latest/meta-data", "private or local"),
        (&plain, "//2130706433/", "private or local"),
        (&plain, "gopher://example.org/", "not http"),
        (&plain, "http://a:b@example.org/", "user name"),
    ] {
        let error = hop(from, to, false).unwrap_err();
        assert!(error.message.contains(says) && error.message.contains("/a/b"), "{to}: {error:?}");
    }
}

/// The environment belongs to the whole process, so the half that sets it runs in one of its own.
#[test]
fn proxies_serve_the_world_but_never_loopback() {
    let proxy = Site::new(|heard| html(&format!("<p>by proxy {}", heard.target)));
    let site = Site::new(|_| html("<p>direct"));
    let me = std::env::current_exe().unwrap();
    let done = std::process::Command::new(me)
        .args(["--ignored", "--exact", "behind_a_proxy", "--nocapture"])
        .env("http_proxy", format!("http://localhost:{}", proxy.port))
        .env("SITE", site.url("/"))
        .env_remove("no_proxy")
        .env_remove("NO_PROXY")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    assert_eq!((proxy.heard().len(), site.heard().len()), (1, 1));
}

#[tokio::test]
#[ignore = "run by the test above, with its environment"]
async fn behind_a_proxy() {
    let Ok(site) = std::env::var("SITE") else { return };
    let open = Web::new(Reach { allow_private: true, ..Reach::default() }).unwrap();
    let guarded = Web::new(Reach::default()).unwrap();
    assert_eq!(open.fetch_text(&site, 100).await.unwrap().text, "direct");
    let page = guarded.fetch_text("http://example.invalid/page", 100).await.unwrap();
    assert_eq!(page.text, "by proxy http://example.invalid/page");
    for url in ["http://10.0.0.1/", "http://localhost/", &site] {
        assert!(guarded.fetch_text(url, 100).await.unwrap_err().message.contains("private"), "{url}");
    }
}
