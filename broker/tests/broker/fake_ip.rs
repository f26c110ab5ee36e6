//! A resolver that answers every name with 198.18.0.0/15, as a proxy in fake-IP mode does: refused, or let through by a switch.
//!
//! The names are in the hosts file of a network of the test's own, in which the test runs once more.

use crate::outside::{Answer, Outside, Start, reply, start};
use broker::ground::hosts::{Reach, Resolver};
use serde_json::Value;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Set in the test that runs inside.
const INSIDE: &str = "FERAL_TEST_INSIDE";
const HOSTS: &str = "127.0.0.1 localhost home.example.org
198.18.0.5 page.example.org api.example.org
10.0.0.7 intranet.example.org
169.254.169.254 metadata.example.org
";
const SWITCH: &str = "[dns]\nfake_ip = true\n";
const SERVICE: &str = "[services.it]\nbase_url = \"https://api.example.org\"\nrules = [{ method = \"GET\", path = \"/**\", do = \"allow\" }]\n";

/// Runs a test of this file inside: in a network where 198.18.0.5 is this machine, with `HOSTS`. False where the test is
/// to go on, since it is inside.
fn went_inside(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return false;
    }
    let folder = tempfile::tempdir().unwrap();
    let hosts = folder.path().join("hosts");
    std::fs::write(&hosts, HOSTS).unwrap();
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let rights: &[&str] = if is_root { &[] } else { &["--map-root-user"] };
    let inside = "ip link set lo up && ip address add 198.18.0.5/32 dev lo && mount --bind \"$1\" /etc/hosts";
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(rights).args(["--mount", "--net", "sh", "-c", script, "sh"]).arg(&hosts);
        command.arg(std::env::current_exe().unwrap());
        command.args(["--exact", &format!("fake_ip::{test}"), "--nocapture"]).env(INSIDE, "1");
        command
    };
    if !unshare(inside).output().is_ok_and(|made| made.status.success()) {
        eprintln!("skipped: no network of its own can be made here (unshare, ip, mount)");
        return true;
    }
    let ran = unshare(&format!("{inside} && shift && exec \"$@\"")).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
    true
}

/// Counts connections to a port of 198.18.0.5, and answers each as a server of pages.
fn proxy(port: u16) -> Arc<AtomicUsize> {
    let listener = TcpListener::bind(("198.18.0.5", port)).unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let told = Arc::clone(&count);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            told.fetch_add(1, Ordering::SeqCst);
            // An answer before the request was read is no answer to it.
            let _ = stream.read(&mut [0; 4_096]);
            reply(&mut stream, "200 OK", b"by the proxy");
        }
    });
    count
}

fn service(outside: &Outside) -> Value {
    let body = r#"{"service":"it","method":"GET","path":"/x"}"#;
    let answer: Answer = outside.ask(&format!(
        "POST /service HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\nconnection: close\r\ncontent-type: \
         application/json\r\ncontent-length: {}\r\n\r\n{body}",
        crate::outside::LIFE,
        body.len()
    ));
    serde_json::from_slice(&answer.body).unwrap_or_else(|_| panic!("{answer:?}"))
}

/// Found: all were refused as private, and the only remedy named opened the whole private network.
#[test]
fn a_name_of_the_fake_range_is_refused_by_its_cause_and_its_switch() {
    if went_inside("a_name_of_the_fake_range_is_refused_by_its_cause_and_its_switch") {
        return;
    }
    let (pages, calls) = (proxy(80), proxy(443));
    let outside = start(Start { settings: SERVICE, ..Start::default() });
    let page = outside.page("http://page.example.org/");
    assert_eq!((page.status, page.kind()), (403, "refused_address"), "{page:?}");
    let called = service(&outside);
    for said in [page.text(), called.to_string()] {
        assert!(said.contains("198.18.0.5") && said.contains("fake-IP DNS"), "{said}");
        assert!(said.contains("fake_ip = true under [dns]") && !said.contains("allow_private"), "{said}");
    }
    assert_eq!((pages.load(Ordering::SeqCst), calls.load(Ordering::SeqCst)), (0, 0), "nothing left");
}

#[test]
fn the_owners_switch_lets_names_of_the_fake_range_through_and_nothing_else() {
    if went_inside("the_owners_switch_lets_names_of_the_fake_range_through_and_nothing_else") {
        return;
    }
    let (_pages, calls) = (proxy(80), proxy(443));
    let settings = format!("{SWITCH}{SERVICE}");
    let outside = start(Start { settings: &settings, ..Start::default() });
    let page = outside.page("http://page.example.org/");
    assert_eq!((page.status, page.text().as_str()), (200, "by the proxy"), "{page:?}");
    let called = service(&outside);
    assert_eq!(called["ok"], false, "no TLS is spoken there: {called}");
    assert_eq!(calls.load(Ordering::SeqCst), 1, "the service was reached: {called}");
    for host in ["home.example.org", "intranet.example.org", "metadata.example.org", "198.18.0.5", "10.0.0.7"]
    {
        let page = outside.page(&format!("http://{host}/"));
        assert_eq!((page.status, page.kind()), (403, "refused_address"), "{host}: {page:?}");
        assert!(!page.text().contains("fake_ip"), "{host}: {page:?}");
    }
}

#[test]
fn the_switch_is_for_one_range_alone() {
    let (off, on) = (Resolver::default(), Resolver { fake_ip: true });
    for (ip, without, with) in [
        ("198.18.0.0", Reach::Private, Reach::Public),
        ("198.19.255.255", Reach::Private, Reach::Public),
        ("198.17.255.255", Reach::Public, Reach::Public),
        ("198.20.0.0", Reach::Public, Reach::Public),
        ("10.1.2.3", Reach::Private, Reach::Private),
        ("100.64.0.1", Reach::Private, Reach::Private),
        ("127.0.0.1", Reach::Loopback, Reach::Loopback),
        ("169.254.169.254", Reach::Never, Reach::Never),
        ("100.100.100.200", Reach::Never, Reach::Never),
        ("fc00::1", Reach::Private, Reach::Private),
        ("::ffff:198.18.0.5", Reach::Private, Reach::Private),
        ("64:ff9b::c612:5", Reach::Private, Reach::Private),
    ] {
        let ip = ip.parse().unwrap();
        assert_eq!((off.reach(ip), on.reach(ip)), (without, with), "{ip}");
    }
}
