//! Trees that grow whenever they are killed, at each way a kernel offers to end them: by namespace, by control group, by hunt.

use crate::escapes::Suite;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::CommandExt;
use trials::{Guardian, House};

/// What stands in for another kernel: what is refused and what is not there, and what the guardian then says of its trees.
#[derive(Clone, Copy)]
struct Kernel {
    name: &'static str,
    no_namespaces: bool,
    hidden: Option<&'static str>,
    told: &'static str,
}

const KERNELS: [Kernel; 4] = [
    Kernel { name: "this kernel", no_namespaces: false, hidden: None, told: "namespace" },
    Kernel { name: "no namespaces", no_namespaces: true, hidden: None, told: "control group, killed whole" },
    Kernel {
        name: "no namespaces, an old control group",
        no_namespaces: true,
        hidden: Some("/sys/fs/cgroup/unified"),
        told: "control group, frozen and killed",
    },
    Kernel {
        name: "no namespaces, no control groups",
        no_namespaces: true,
        hidden: Some("/sys/fs/cgroup"),
        told: "none: no namespace",
    },
];

pub fn all(suite: &mut Suite) {
    for kernel in KERNELS {
        let mut told = kernel.told;
        if !suite.root && kernel.no_namespaces {
            // A plain user makes no control groups here, so the two in the middle are one with the last.
            told = "none: no namespace";
            if kernel.hidden != Some("/sys/fs/cgroup") {
                continue;
            }
        } else if kernel.hidden.is_some_and(|hidden| !std::path::Path::new(hidden).exists()) {
            println!("{:<52} not tried: this kernel has no {:?}", kernel.name, kernel.hidden);
            continue;
        }
        let kernel = Kernel { told, hidden: kernel.hidden.filter(|_| suite.root), ..kernel };
        for (name, test) in [
            ("grow at the end of a chain past a stop", chain as fn(&Suite, Kernel) -> Result<(), String>),
            ("grow from hand to hand past a death", ring),
            ("grow out of a build", build),
            ("grow past a killed guardian", abandoned),
            ("take hold of what holds its tree together", inherited),
        ] {
            let name = format!("{name}: {}", kernel.name);
            // There nothing bounds the number of root's processes, and until it is hunted down a ring takes them all.
            let unbounded =
                suite.root && kernel.told.starts_with("none") && name.starts_with("grow from hand");
            if suite.wants(&name) && !unbounded {
                let complaint = test(suite, kernel).err();
                suite.judge(&name, complaint);
            }
        }
    }
}

fn must(what: bool, why: &str) -> Result<(), String> {
    if what { Ok(()) } else { Err(why.to_owned()) }
}

impl Kernel {
    fn start(self, house: &House) -> Guardian {
        let mut command = house.command(&[]);
        let filter = self.no_namespaces.then(no_namespaces);
        // SAFETY: in a copy of a process whose other threads hold nothing that is needed here.
        #[allow(unsafe_code)]
        unsafe {
            command.pre_exec(move || {
                if let Some(hidden) = self.hidden {
                    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNS)?;
                    let private = nix::mount::MsFlags::MS_REC | nix::mount::MsFlags::MS_PRIVATE;
                    nix::mount::mount(None::<&str>, "/", None::<&str>, private, None::<&str>)?;
                    let read_only = nix::mount::MsFlags::MS_RDONLY;
                    nix::mount::mount(Some("none"), hidden, Some("tmpfs"), read_only, None::<&str>)?;
                }
                if let Some(filter) = &filter {
                    nix::sys::prctl::set_no_new_privs()?;
                    seccompiler::apply_filter(filter).map_err(std::io::Error::other)?;
                }
                Ok(())
            });
        }
        house.start_by(command)
    }
}

/// As kernels and containers refuse them.
fn no_namespaces() -> BpfProgram {
    let rules: BTreeMap<i64, Vec<_>> = [(libc::SYS_unshare, vec![]), (libc::SYS_setns, vec![])].into();
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let architecture = std::env::consts::ARCH.try_into().unwrap();
    SeccompFilter::new(rules, SeccompAction::Allow, refused, architecture).unwrap().try_into().unwrap()
}

/// A house whose creature has the hostile program at hand; its tag marks every process of it.
fn house(suite: &Suite, life: &str, build: &str) -> (House, String) {
    let house = House::new("");
    let tag = house.folder.path().file_name().unwrap().to_string_lossy().into_owned();
    fs::copy(suite.stage.root().join("creature/hostile"), house.path("creature/hostile")).unwrap();
    house.write_life(&life.replace("TAG", &tag));
    if !build.is_empty() {
        house.write("creature/build.sh", &build.replace("TAG", &tag));
    }
    house.commit("endless");
    (house, tag)
}

/// Processes with this tag on their command line that are not dead.
fn tagged(tag: &str) -> usize {
    let mut pids: Vec<fs::DirEntry> = fs::read_dir("/proc").unwrap().flatten().collect();
    // The newest first: what goes from hand to hand is gone before a walk from the oldest comes to it.
    pids.reverse();
    let is = |entry: &&fs::DirEntry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        line.contains("endless") && line.ends_with(&format!("{tag}\0"))
    };
    pids.iter().filter(is).count()
}

/// How often it is looked whether any lives.
const LOOKS: usize = 40;

/// None is left, though a dying one may be seen for a moment.
fn until_none(tag: &str) -> Result<(), String> {
    let gone = trials::looked_for(|| (tagged(tag) == 0).then_some(()));
    must(gone.is_some(), &format!("{} of it live on", tagged(tag)))
}

/// Found: of a ring that lived on one look in six saw anything.
fn none(tag: &str) -> Result<(), String> {
    let left = (0..LOOKS).map(|_| tagged(tag)).max().unwrap_or(0);
    must(left == 0, &format!("{left} of it live on"))
}

/// Found by attacking: a stop that killed children only fed such a chain for ever.
fn chain(suite: &Suite, kernel: Kernel) -> Result<(), String> {
    let (house, tag) = house(suite, "think x; blessed; creature/hostile endless chain TAG; live", "");
    let guardian = kernel.start(&house);
    house.until("the chain", || tagged(&tag) > 25);
    let told = house.status()["wall_features"]["tree"].as_str().unwrap_or_default().to_owned();
    let stopped = guardian.stop();
    none(&tag)?;
    must(told.starts_with(kernel.told), &format!("its trees are held by: {told}"))?;
    must(stopped == 0, "the guardian did not stop in order")
}

fn ring(suite: &Suite, kernel: Kernel) -> Result<(), String> {
    let (house, tag) =
        house(suite, "think x; blessed; creature/hostile endless ring TAG; sleep 0.3; exit 1", "");
    let guardian = kernel.start(&house);
    house.until("two deaths", || house.deaths().len() >= 2);
    let stopped = guardian.stop();
    none(&tag)?;
    must(stopped == 0, "the guardian did not stop in order")
}

fn build(suite: &Suite, kernel: Kernel) -> Result<(), String> {
    let (house, tag) = house(suite, "think x; live", "creature/hostile endless chain TAG; sleep 0.2");
    let guardian = kernel.start(&house);
    house.until("a life", || !house.thoughts().is_empty());
    none(&tag)?;
    let stopped = guardian.stop();
    must(stopped == 0, "the guardian did not stop in order")
}

/// Found by attacking: the lock a creature was known by could be unlocked, grown, opened to all and leased by it.
fn inherited(suite: &Suite, kernel: Kernel) -> Result<(), String> {
    let (house, _) = house(
        suite,
        "think x; creature/hostile file inherited && think done; creature/hostile file inherited || think refused; live",
        "",
    );
    let guardian = kernel.start(&house);
    house.until("an answer", || house.thoughts().len() == 2);
    let answer = house.thoughts()[1]["data"]["monologue"].clone();
    let lock = fs::metadata(house.path(".self/guardian/creature.lock")).unwrap();
    let held = fs::File::open(house.path(".self/guardian/creature.lock")).unwrap();
    let held = fs2::FileExt::try_lock_exclusive(&held).is_err();
    guardian.stop();
    must(answer == "refused", "WORKS")?;
    let mode = std::os::unix::fs::PermissionsExt::mode(&lock.permissions()) & 0o7777;
    must(lock.len() == 0 && mode == 0o600 && held, "is refused, and yet the lock is another")
}

/// Where nothing ends with its guardian, the next one ends it before anything else.
fn abandoned(suite: &Suite, kernel: Kernel) -> Result<(), String> {
    let (house, tag) = house(suite, "think x; creature/hostile endless chain TAG; live", "");
    let guardian = kernel.start(&house);
    house.until("the chain", || tagged(&tag) > 25);
    guardian.kill_only();
    if kernel.told == "namespace" {
        return until_none(&tag);
    }
    house.write_life("think y; live");
    house.commit("endless no more");
    let guardian = kernel.start(&house);
    house.until("the next life", || house.thoughts().iter().any(|thought| thought["life"] == 2));
    none(&tag)?;
    guardian.stop();
    Ok(())
}
