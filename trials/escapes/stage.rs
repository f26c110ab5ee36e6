//! Where attempts are made: a house, an owner's home beside it, somebody else's process and sockets, and the real launcher.

use house::House;
use house::settings::Settings;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;
use trials::programs;
use walls::Walls;
use walls::spec::Spec;

/// Files that lie about before every attempt, and what is in them.
const LAID: &[(&str, &str)] = &[
    ("house/creature/src/main.rs", "fn main() {}\n"),
    ("house/creature/file", "the creature's\n"),
    ("house/self/diary.md", "dear diary\n"),
    ("house/PURPOSE.md", "Be.\n"),
    ("house/README.md", "A house.\n"),
    ("house/owner.toml", "walls = \"required\"\n"),
    ("house/Cargo.toml", "[workspace]\n"),
    ("house/Cargo.lock", "version = 4\n"),
    ("house/.env", "ANTHROPIC_API_KEY=secret\n"),
    ("house/.env.local", "OPENAI_API_KEY=secret\n"),
    ("house/guardian/src/main.rs", "fn main() {}\n"),
    ("house/scripts/check", "#!/bin/sh\n"),
    ("house/target/debug/guardian", "the guardian's binary\n"),
    ("house/.git/HEAD", "ref: refs/heads/main\n"),
    ("house/.git/config", "[core]\n"),
    ("house/.git/hooks/sample", "\n"),
    ("house/.git/refs/heads/main", "0\n"),
    ("house/.git/objects/pack/pack", "\n"),
    ("house/.self/guardian/state.json", "{}\n"),
    ("house/.self/guardian/lock", "1\n"),
    ("house/.self/guardian/binaries/tree", "a kept binary\n"),
    ("house/.self/broker/tokens.json", "{\"life\":\"secret\"}\n"),
    ("house/.self/broker/page/sessions.json", "{\"sessions\":[]}\n"),
    ("house/.self/broker/page/password.json", "{\"hash\":\"secret\"}\n"),
    ("house/.self/broker/page/key.pem", "a private key\n"),
    ("house/.self/broker/channels/telegram.json", "{\"owner\":\"secret\"}\n"),
    ("house/.self/broker/channels/pairing.json", "{\"code\":\"secret\"}\n"),
    ("house/.self/received/telegram/letter.txt", "a letter\n"),
    ("house/.self/guardian.json", "{}\n"),
    ("house/.self/deaths.jsonl", "{}\n"),
    ("house/.self/ledger.jsonl", "{}\n"),
    ("house/.self/budget.json", "{}\n"),
    ("house/.self/asks.jsonl", "{}\n"),
    ("house/.self/inbox.jsonl", "hello\n"),
    ("house/.self/log/life-1.log", "\n"),
    ("home/.ssh/authorized_keys", "ssh-ed25519 owner\n"),
    ("home/.ssh/id", "a private key\n"),
    ("home/.bashrc", "true\n"),
    ("home/.cargo/credentials.toml", "token = \"secret\"\n"),
    ("home/.cargo/config.toml", "[net]\nretry = 1\n[registry]\ntoken = \"secret\"\n"),
    ("home/notes/diary.txt", "private\n"),
];
/// An inherited descriptor nobody meant to hand on; high, so that nothing else has it.
const LEAK: i32 = 97;

pub struct Stage {
    folder: TempDir,
    pub house: House,
    pub walls: Walls,
    leak: File,
    victim: Child,
    /// Where the victim's secret lies in its memory, in hexadecimal digits.
    secret_at: String,
    tcp: TcpListener,
    tcp6: Option<TcpListener>,
    elsewhere: TcpListener,
    udp: UdpSocket,
    /// As the owner's page listens beyond this machine.
    page: TcpListener,
    pub plain: TcpListener,
    _sockets: (UnixListener, UnixListener, UnixDatagram),
}

impl Stage {
    pub fn set(hostile: &Path) -> Self {
        let folder = tempfile::Builder::new().prefix("escape-").tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        for (name, text) in LAID {
            let path = at.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::copy(hostile, at.join("house/creature/hostile")).unwrap();
        let house = House::new(at.join("house"));
        let walls = processes::prepare::find_walls(
            &house,
            &Settings::default().asked(),
            programs::guardian().to_owned(),
            false,
        )
        .unwrap();
        let mut victim = Command::new(at.join("house/creature/hostile"));
        victim.args(["hold", "still"]).env("SECRET", "of the victim").stdout(Stdio::piped()).process_group(0);
        let mut victim = victim.spawn().unwrap();
        let mut secret_at = String::new();
        BufReader::new(victim.stdout.take().unwrap()).read_line(&mut secret_at).unwrap();
        let abstractly =
            SocketAddr::from_abstract_name(format!("feral-escape-{}", std::process::id())).unwrap();
        let sockets = (
            UnixListener::bind(at.join("home/socket")).unwrap(),
            UnixListener::bind_addr(&abstractly).unwrap(),
            UnixDatagram::bind(at.join("home/datagrams")).unwrap(),
        );
        let leak = File::options().append(true).open(at.join("home/notes/diary.txt")).unwrap();
        // SAFETY: a number that nothing else uses.
        #[allow(unsafe_code)]
        unsafe {
            libc::dup2(leak.as_raw_fd(), LEAK)
        };
        Self {
            house,
            walls,
            leak,
            victim,
            secret_at: secret_at.trim().to_owned(),
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            tcp6: TcpListener::bind("[::1]:0").ok(),
            elsewhere: TcpListener::bind("127.0.0.2:0").unwrap(),
            udp: UdpSocket::bind("127.0.0.1:0").unwrap(),
            page: TcpListener::bind("0.0.0.0:0").unwrap(),
            plain: TcpListener::bind("127.0.0.1:0").unwrap(),
            _sockets: sockets,
            folder,
        }
    }

    pub fn root(&self) -> &Path {
        self.house.root()
    }

    pub fn home(&self) -> PathBuf {
        self.root().parent().unwrap().join("home")
    }

    pub fn spec(&self) -> Spec {
        self.walls.spec(None)
    }

    /// As the guardian would start it, or as nothing stops it; all the names an attempt may need are in its environment.
    pub fn run(&self, spec: Option<&Spec>, attempt: &str) -> Output {
        processes::prepare::prepare(&self.house, processes::child::Occupant::Life);
        let mut command = match spec {
            Some(spec) => {
                let mut command = Command::new(programs::guardian());
                command.args(["wall", &serde_json::to_string(spec).unwrap(), "--", "/bin/sh"]);
                command
            }
            None => Command::new("/bin/sh"),
        };
        command.args(["-c", attempt]).current_dir(self.root()).env_clear().stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("OWNER", self.home());
        command.env("VICTIM", self.victim.id().to_string()).env("SECRET_AT", &self.secret_at);
        command.env("ME", std::process::id().to_string()).env("LEAK", LEAK.to_string());
        command.env("OUTSIDE", outside());
        command.env("ABSTRACT", format!("feral-escape-{}", std::process::id()));
        for (name, port) in [
            ("TCP", self.tcp.local_addr().unwrap().port()),
            ("TCP2", self.elsewhere.local_addr().unwrap().port()),
            ("TCP6", self.tcp6.as_ref().map_or(9, |tcp| tcp.local_addr().unwrap().port())),
            ("PAGE", self.page.local_addr().unwrap().port()),
            ("UDP", self.udp.local_addr().unwrap().port()),
            ("BROKER", self.walls.network.port),
            ("PLAIN", self.plain.local_addr().unwrap().port()),
        ] {
            command.env(name, port.to_string());
        }
        let leak = self.leak.as_raw_fd();
        // SAFETY: one system call between fork and exec.
        #[allow(unsafe_code)]
        unsafe {
            command.pre_exec(move || {
                if libc::dup2(leak, LEAK) == LEAK { Ok(()) } else { Err(std::io::Error::last_os_error()) }
            });
        }
        walls::inherit(&mut command, self.walls.descriptors());
        command.output().unwrap()
    }

    /// Every file that was laid and is not as it was, save what the creature may write; they are laid anew.
    pub fn damage(&self) -> Vec<String> {
        let mut damaged = Vec::new();
        for (name, text) in LAID
            .iter()
            .filter(|(name, _)| !name.starts_with("house/creature/") && !name.starts_with("house/self/"))
        {
            let path = self.folder.path().join(name);
            if fs::read_to_string(&path).ok().as_deref() != Some(*text) {
                damaged.push((*name).to_owned());
            }
        }
        damaged
    }

    /// As it was laid, for the next attempt.
    pub fn lay(&self) {
        for (name, text) in LAID {
            let path = self.folder.path().join(name);
            if fs::read_to_string(&path).ok().as_deref() != Some(*text) {
                let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
                let _ = fs::create_dir_all(path.parent().unwrap());
                fs::write(&path, text).unwrap();
            }
        }
    }
}

/// An address of this machine's that others reach it by; loopback where it has none.
fn outside() -> String {
    // Nothing is sent: the kernel only chooses by which address it would be.
    let chosen = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
        socket.connect("192.0.2.1:9")?;
        socket.local_addr()
    });
    chosen.map_or_else(|_| "127.0.0.1".to_owned(), |address| address.ip().to_string())
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}
