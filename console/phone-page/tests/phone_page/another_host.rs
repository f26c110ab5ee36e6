//! Another host: a network of its own, from which the loopback page is out of reach and this one is reached over TLS.

use crate::client::{Answer, ask, open};
use crate::served::{Browser, PASSWORD, Phone, house, is_root, set_password};
use nix::sched::{CloneFlags, setns};
use std::fs::File;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::process::Command;
use std::time::Duration;
use trials::House;

const HERE: &str = "10.213.77.1";
const THERE: &str = "10.213.77.2";

/// A host beside this machine, by a cable of the kernel's; gone with this.
struct Host {
    name: String,
    cable: String,
}

fn ip(words: &str) -> bool {
    Command::new("ip").args(words.split(' ')).status().is_ok_and(|status| status.success())
}

impl Host {
    fn new() -> Option<Self> {
        let of = std::process::id();
        let host = Self { name: format!("feral-page-{of}"), cable: format!("fp{of}") };
        let (name, cable) = (&host.name, &host.cable);
        let made = is_root()
            && ip(&format!("netns add {name}"))
            && ip(&format!("link add {cable}a type veth peer name {cable}b netns {name}"))
            && ip(&format!("addr add {HERE}/24 dev {cable}a"))
            && ip(&format!("link set {cable}a up"))
            && ip(&format!("-n {name} addr add {THERE}/24 dev {cable}b"))
            && ip(&format!("-n {name} link set {cable}b up"));
        if made {
            return Some(host);
        }
        eprintln!("not tried: networks need root and the program ip");
        None
    }

    /// Does something on that host.
    fn does<T: Send>(&self, what: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let there = scope.spawn(|| {
                let network = File::open(format!("/run/netns/{}", self.name)).unwrap();
                setns(network, CloneFlags::CLONE_NEWNET).unwrap();
                what()
            });
            there.join().unwrap()
        })
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        ip(&format!("link del {}a", self.cable));
        ip(&format!("netns del {}", self.name));
    }
}

fn asked(at: SocketAddr, host: &str, more: &[&str]) -> Answer {
    let lines: Vec<String> =
        [&[format!("Host: {host}")], &more.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>()[..]]
            .concat();
    ask(at, "GET /talk HTTP/1.1", &lines, "").unwrap()
}

/// The console's own page, on loopback.
fn loopback(house: &House) -> (std::process::Child, u16, String) {
    use std::io::{BufRead, BufReader};
    let mut command = house.command(&["serve", "--port", "0"]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut link = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut link).unwrap();
    let (place, token) = link.trim().split_once("/?token=").unwrap();
    (child, place.rsplit(':').next().unwrap().parse().unwrap(), token.to_owned())
}

#[test]
fn what_is_tried_on_the_loopback_page_from_another_host_fails_on_both() {
    let Some(other) = Host::new() else { return };
    let house = house("");
    house.settings("[page]\nlisten = \"0.0.0.0:0\"\n");
    set_password(&house, PASSWORD);
    let phone = Phone::of(&house);
    let at: SocketAddr = format!("{HERE}:{}", phone.at.port()).parse().unwrap();
    let (mut child, port, token) = loopback(&house);
    other.does(|| {
        // The loopback page is not there at all.
        let reached = TcpStream::connect_timeout(
            &SocketAddr::new(IpAddr::from([10, 213, 77, 1]), port),
            Duration::from_secs(5),
        );
        assert!(reached.is_err(), "the loopback page listens on loopback alone");
        // Its own names, its link and its cookie are nothing here.
        let link = ask(at, &format!("GET /?token={token} HTTP/1.1"), &[format!("Host: {at}")], "").unwrap();
        assert_eq!(link.header("location"), Some("/sign-in"));
        assert_eq!(
            asked(at, &at.to_string(), &[format!("Cookie: feral-{port}={token}").as_str()]).status,
            303
        );
        for host in ["localhost", "127.0.0.1", "[::1]", "0.0.0.0", "evil.test", THERE] {
            assert_eq!(asked(at, &format!("{host}:{}", at.port()), &[]).status, 421, "{host}");
        }
        for line in ["Origin: https://evil.test", "Sec-Fetch-Site: cross-site", "Origin: null"] {
            assert_eq!(asked(at, &at.to_string(), &[line]).status, 403, "{line}");
        }
        // By its own address and the password it is the owner's, and the session says where from.
        let mut browser = Browser::at(at);
        assert_eq!(browser.sign_in(PASSWORD).status, 303);
        assert!(browser.is_within());
        assert!(browser.get("/sessions").body.contains(&format!("from {THERE}")));
        let (_, fingerprint) = open(at).unwrap();
        assert_eq!(fingerprint, phone.fingerprint);
    });
    child.kill().unwrap();
    child.wait().unwrap();
}
