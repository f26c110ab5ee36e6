//! `/web`: what is fetched, what is refused, what it costs at most, and what is written down.

use crate::outside::{Outside, Server, Start, reply, start};
use broker::ground::hosts::{self, Reach, reach};
use broker::policy;
use broker::web::address::{check, fits, hop};
use reqwest::Url;
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn web() -> policy::Web {
    policy::Web::default()
}

#[test]
fn addresses_are_told_apart() {
    let cases = [
        (Reach::Public, "8.8.8.8 1.1.1.1 93.184.215.14 2606:4700::1111 64:ff9b::808:808"),
        (Reach::Loopback, "127.0.0.1 127.255.0.9 ::1 ::ffff:127.0.0.1 64:ff9b::7f00:1 2002:7f00:1::"),
        (Reach::Private, "10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 100.127.255.255"),
        (
            Reach::Private,
            "192.0.0.8 192.0.2.1 192.88.99.1 198.18.0.1 198.51.100.7 203.0.113.9 fc00::1 fd12::1",
        ),
        (Reach::Private, "::ffff:8.8.8.8 2002:808:808:: 2001::1 2001:db8::1 3fff::1 4000::1 100::1"),
        (
            Reach::Private,
            "::ffff:10.0.0.1 64:ff9b:1::808:808 64:ff9b::a00:1 ::8.8.8.8 2001:470::200:5efe:a00:1",
        ),
        (Reach::Never, "0.0.0.0 0.1.2.3 169.254.169.254 169.254.0.1 168.63.129.16 100.100.100.200 224.0.0.1"),
        (Reach::Never, "255.255.255.255 240.0.0.1 :: fe80::1 ff02::1 fd00:ec2::254 ::ffff:169.254.169.254"),
        (Reach::Never, "64:ff9b::a9fe:a9fe 2002:a9fe:a9fe::"),
    ];
    for (expected, list) in cases {
        for ip in list.split(' ') {
            assert_eq!(reach(ip.parse().unwrap()), expected, "{ip}");
        }
    }
}

#[test]
fn urls_that_must_not_be_fetched_are_refused() {
    let refused = "ftp://example.org/ file:///etc/passwd gopher://example.org data:text/plain,x javascript:1 \
        http://user@example.org/ http://user:word@example.org/ http://:@example.org/ http://@example.org/ \
        http://example.org:22/ https://example.org:9200/ http://example.org:65536/ http://example.org./ \
        http://127.0.0.1/ http://127.1/ http://0/ http://2130706433/ http://0x7f000001/ http://0177.0.0.1/ \
        http://0x7f.1/ http://134744072/ http://0x08080808/ http://010.8.8.8/ http://8.8.2056/ \
        http://[::1]/ http://[::ffff:127.0.0.1]/ http://[::ffff:7f00:1]/ http://[fe80::1]/ http://[64:ff9b::7f00:1]/ \
        http://169.254.169.254/latest/meta-data/ http://[fd00:ec2::254]/ http://192.168.0.1/ http://10.0.0.1:8080/ \
        http://localhost/ http://LOCALHOST/ http://a.localhost/ http://router.local/ http://intranet/ \
        http://metadata.google.internal/ http://nas.lan/ http://x.home.arpa/ http:///nowhere http://\\example.org/ \
        http://example.org\\@127.0.0.1/ //example.org/ example.org http:// https://exa%00mple.org/ http://127.0.0.1./ \
        http://①②⑦.⓪.⓪.①/ http://%31%32%37.0.0.1/ http://example.org%2f@127.0.0.1/ http://100.64.1.1/ \
        http://[::]/ http://0.0.0.0:80/ http://224.0.0.251/ http://203.0.113.9/";
    for url in refused.split_whitespace() {
        let refusal = check(url, &web()).expect_err(url);
        assert_eq!((refusal.status, refusal.kind), (403, "refused_address"), "{url}");
        assert!(!refusal.hint.is_empty(), "{url}");
    }
    assert!(check("https://example.org/\r\nx: y", &web()).is_err());
    assert!(check(&format!("https://example.org/{}", "a".repeat(5_000)), &web()).is_err());
    for url in
        "https://example.org http://example.org:80/a?b=c#d https://example.org:8443/ HTTPS://EXAMPLE.ORG/ \
        http://8.8.8.8/ http://[2606:4700::1111]/ https://b\u{fc}cher.example/"
            .split_whitespace()
    {
        check(url, &web()).expect(url);
    }
}

#[test]
fn the_metadata_of_clouds_stays_out_of_reach_even_with_leave() {
    let web = policy::Web { allow_private: true, ..web() };
    for url in ["http://169.254.169.254/", "http://[fe80::1]/", "http://[fd00:ec2::254]/", "http://0.0.0.0/"]
    {
        assert_eq!(check(url, &web).expect_err(url).kind, "refused_address");
    }
    for url in ["http://127.0.0.1:9999/", "http://10.0.0.1/", "http://intranet/", "http://[fd12::1]/"] {
        check(url, &web).expect(url);
    }
}

#[test]
fn each_hop_is_judged_like_the_first() {
    let from = Url::parse("https://example.org/a/b").unwrap();
    assert_eq!(hop(&from, "../c", &web()).unwrap().as_str(), "https://example.org/c");
    assert_eq!(hop(&from, "//example.com/x", &web()).unwrap().as_str(), "https://example.com/x");
    for location in [
        "http://example.org/",
        "http://127.0.0.1/",
        "https://2130706433/",
        "//169.254.169.254/latest",
        "file:///etc/passwd",
        "https://a:b@example.org/",
        "https://example.org:22/",
        "https://localhost/",
    ] {
        assert_eq!(hop(&from, location, &web()).expect_err(location).kind, "refused_address", "{location}");
    }
    let plain = Url::parse("http://example.org/").unwrap();
    assert!(hop(&plain, "https://example.org/", &web()).is_ok());
}

#[test]
fn the_owners_lists_decide() {
    assert!(fits("example.org", "EXAMPLE.org") && !fits("example.org", "a.example.org"));
    assert!(fits("*.example.org", "a.b.example.org"));
    assert!(!fits("*.example.org", "example.org") && !fits("*.example.org", "badexample.org"));
    let web =
        policy::Web { allow: vec!["*.example.org".into()], deny: vec!["bad.example.org".into()], ..web() };
    assert!(check("https://good.example.org/", &web).is_ok());
    for url in ["https://bad.example.org/", "https://example.com/", "https://example.org/"] {
        assert_eq!(check(url, &web).expect_err(url).kind, "refused_host");
    }
    assert!(hosts::is_loopback("localhost") && hosts::is_loopback("127.9.9.9") && hosts::is_loopback("::1"));
}

pub fn with(settings: &str) -> Outside {
    start(Start { settings: &format!("[web]\nallow_private = true\n{settings}"), ..Start::default() })
}

#[test]
fn a_page_comes_back_and_is_written_down() {
    let server = Server::new(|_, head, stream| {
        assert!(
            !head.to_lowercase().contains("authorization") && !head.to_lowercase().contains("cookie"),
            "{head}"
        );
        assert!(head.contains("accept: text/plain"), "{head}");
        reply(
            stream,
            "200 OK\r\ncontent-type: text/plain; charset=utf-8\r\nset-cookie: a=b",
            b"foreign words",
        );
    });
    let outside = with("");
    let answer = outside
        .get(&format!("/web?accept=text/plain&url={}", crate::outside::encoded(&server.url("/a?secret=1"))));
    assert_eq!((answer.status, answer.text().as_str()), (200, "foreign words"));
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(answer.header("x-feral-url"), Some(server.url("/a?secret=1").as_str()));
    assert!(answer.header("set-cookie").is_none() && answer.header("x-feral-cut").is_none());
    let lines = outside.ledger();
    assert_eq!(lines.len(), 1);
    let line = &lines[0];
    assert_eq!(line["path"], format!("{}/a", server.at), "the query may hold anything, so it is left out");
    assert_eq!((&line["event"], &line["life"], &line["status"]), (&"fetch".into(), &7.into(), &200.into()));
    assert_eq!((&line["bytes_in"], &line["decision"]), (&13.into(), &"allow".into()));
    assert!(outside.file(".self/broker/taint.json").contains("until_s"), "tainted before the page went back");
}

#[test]
fn refusals_are_written_down_and_do_not_taint() {
    let server = Server::new(|_, _, stream| reply(stream, "200 OK", b"never"));
    let outside = start(Start::default());
    let cases = [server.url("/"), "http://localhost/".into(), "file:///etc/passwd".into(), "nonsense".into()];
    for url in &cases {
        let answer = outside.page(url);
        assert_eq!((answer.status, answer.kind()), (403, "refused_address"), "{url}");
        assert!(answer.text().contains("hint"));
    }
    assert_eq!(outside.get("/web").status, 400);
    assert_eq!(server.count(), 0);
    let lines = outside.ledger();
    assert_eq!(lines.len(), cases.len());
    assert!(lines.iter().all(|line| line["decision"] == "refused_address"), "{lines:?}");
    assert_eq!(outside.file(".self/broker/taint.json"), "");
}

#[test]
fn the_broker_itself_is_out_of_reach_whatever_is_allowed() {
    let outside = with("");
    for host in ["127.0.0.1", "localhost", "127.0.0.2", "[::1]"] {
        let answer = outside.page(&format!("http://{host}:{}/status", outside.at.port()));
        assert_eq!((answer.status, answer.kind()), (403, "refused_address"), "{host} {}", answer.text());
    }
}

#[test]
fn redirects_are_followed_so_far() {
    let server = Server::new(|path, _, stream| {
        let left: u32 = path.trim_start_matches('/').parse().unwrap_or(0);
        match path {
            "/out" => reply(stream, "302 Found\r\nlocation: http://169.254.169.254/latest/meta-data", b""),
            "/file" => reply(stream, "302 Found\r\nlocation: file:///etc/passwd", b""),
            "/0" => reply(stream, "200 OK", b"there"),
            _ => reply(stream, &format!("302 Found\r\nlocation: /{}", left - 1), b""),
        }
    });
    let outside = with("");
    let answer = outside.page(&server.url("/5"));
    assert_eq!((answer.status, answer.text().as_str()), (200, "there"));
    assert_eq!(answer.header("x-feral-url"), Some(server.url("/0").as_str()));
    assert_eq!(outside.page(&server.url("/6")).kind(), "too_many_redirects");
    for path in ["/out", "/file"] {
        let answer = outside.page(&server.url(path));
        assert_eq!((answer.status, answer.kind()), (403, "refused_address"), "{}", answer.text());
        assert!(answer.text().contains("the redirect of"), "{}", answer.text());
    }
}

#[test]
fn a_status_that_is_no_success_is_told() {
    let server =
        Server::new(|_, _, stream| reply(stream, "429 Too Many\r\nretry-after: 99999999", b"go away"));
    let outside = with("");
    let answer = outside.page(&server.url("/"));
    assert_eq!((answer.status, answer.kind()), (502, "upstream_status"));
    assert_eq!(answer.header("x-feral-status"), Some("429"));
    assert_eq!(answer.header("retry-after"), Some("86400"));
    assert!(!answer.text().contains("go away"));
    assert_eq!(outside.ledger()[0]["status"], 429);
}

pub fn gzipped(megabytes: usize) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..megabytes {
        packed.write_all(&vec![b'0'; 1 << 20]).unwrap();
    }
    packed.finish().unwrap()
}

#[test]
fn a_bomb_is_cut_while_it_is_unpacked() {
    let bomb = gzipped(500);
    let packed_bytes = bomb.len();
    let server = Server::new(move |_, _, stream| reply(stream, "200 OK\r\ncontent-encoding: gzip", &bomb));
    let outside = with("most_bytes = 100000");
    let before = outside.peak_kb();
    let answer = outside.page(&server.url("/bomb"));
    assert_eq!((answer.status, answer.body.len()), (200, 100_000), "{}", answer.head);
    assert_eq!(answer.header("x-feral-cut"), Some("true"));
    let grown = outside.peak_kb() - before;
    println!("a bomb of {packed_bytes} bytes, 500 MB unpacked: {grown} kB of memory");
    assert!(grown < 30_000, "{grown} kB");
}

#[test]
fn an_endless_page_is_cut() {
    let server = Server::new(|_, _, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b'x'; 65_536]).is_ok() {}
    });
    let outside = with("");
    let answer = outside.page(&server.url("/"));
    assert_eq!((answer.status, answer.body.len()), (200, 5 << 20));
    assert_eq!(answer.header("x-feral-cut"), Some("true"));
}

fn drip(stream: &mut TcpStream, head: &[u8]) {
    let _ = stream.write_all(head);
    while stream.write_all(b"x").is_ok() {
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_server_that_drips_is_left_at_the_deadline() {
    let server = Server::new(|path, _, stream| match path {
        "/head" => drip(stream, b"HTTP/1.1 200 OK\r\nx-"),
        "/silent" => std::thread::sleep(Duration::from_secs(30)),
        _ => drip(stream, b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n"),
    });
    let outside = with("deadline_s = 1");
    for path in ["/head", "/body", "/silent"] {
        let answer = outside.page(&server.url(path));
        assert_eq!((answer.status, answer.kind()), (504, "took_too_long"), "{path}");
    }
    assert_eq!(outside.ledger().len(), 3);
}

#[test]
fn only_so_many_at_once_and_an_hour() {
    let server = Server::new(|_, _, stream| {
        std::thread::sleep(Duration::from_millis(300));
        reply(stream, "200 OK", b"slow");
    });
    let outside = with("per_hour = 20");
    let began = Instant::now();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..24).map(|_| scope.spawn(|| outside.page(&server.url("/")).status)).collect();
        asking.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    let got = |status: u16| statuses.iter().filter(|found| **found == status).count();
    assert_eq!((got(200), got(429)), (20, 4), "{statuses:?}");
    assert!(began.elapsed() >= Duration::from_millis(900), "twenty fetches in eights take three turns");
    let refused = outside.page(&server.url("/"));
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() > 3_500);
    let counted = outside.file(".self/broker/hours.jsonl").matches("\"rule\":\"web\"").count();
    assert_eq!(counted, 20, "a restart gives none of them back");
    assert_eq!(server.count(), 20);
}

#[test]
fn the_owners_proxy_is_used_but_not_for_this_machine() {
    let proxy =
        Server::new(|path, _, stream| reply(stream, "200 OK", format!("by proxy: {path}").as_bytes()));
    let page = Server::new(|_, _, stream| reply(stream, "200 OK", b"direct"));
    let variables = vec![("http_proxy", proxy.url(""))];
    let settings = "[web]\nallow_private = true\n";
    let outside = start(Start { settings, variables, ..Start::default() });
    assert_eq!(outside.page("http://example.invalid/page").text(), "by proxy: http://example.invalid/page");
    assert_eq!(outside.page(&page.url("/")).text(), "direct");
    assert_eq!(proxy.count(), 1);
}

#[test]
fn an_unwritable_ledger_holds_the_page_back() {
    let server = Server::new(|_, _, stream| reply(stream, "200 OK", b"foreign"));
    let how = Start { settings: "[web]\nallow_private = true\n", ..Start::default() };
    let house = crate::outside::folder(&how);
    std::fs::create_dir(house.path().join(".self/ledger.jsonl")).unwrap();
    let mut child = crate::outside::command(house.path(), &how).spawn().unwrap();
    let at = crate::outside::serving(&mut child).unwrap();
    let outside = Outside { folder: house, at, child };
    let answer = outside.page(&server.url("/"));
    assert_eq!((answer.status, answer.kind()), (503, "ledger_closed"));
    assert!(!answer.text().contains("foreign"));
    assert_eq!(server.count(), 0, "with a closed ledger nothing may leave");
}

#[test]
fn secrets_do_not_come_back_in_a_page() {
    let server =
        Server::new(|_, _, stream| reply(stream, "200 OK", b"\xff\xfe you sent sk-test-0123456789abcdef!"));
    let outside = start(Start {
        settings: "[web]\nallow_private = true\n",
        secrets: "SOME_KEY=sk-test-0123456789abcdef\n",
        ..Start::default()
    });
    assert_eq!(outside.page(&server.url("/")).body, b"\xff\xfe you sent [key]!");
}
