//! Remedies for the walls missing on this machine: found in what its kernel and container say, told in a sentence each.
//!
//! Finding reads the kernel's files; which remedy fits is decided from what was found alone.

use crate::landlock::{landlock_version, no_landlock};
use crate::level::{CALLS, FILES, Level, NETWORK, SIGNALS, TREE, VIEW};
use ground::files;
use nix::errno::Errno;
use std::path::{Path, PathBuf};

/// Facts about a machine that may keep walls from being put up.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    pub is_root: bool,
    /// AppArmor gives a plain user's namespace no rights (`kernel.apparmor_restrict_unprivileged_userns`, Ubuntu 23.10 on).
    pub apparmor: bool,
    /// A sysctl by which there are no namespaces, with the value that allows them.
    pub sysctl: Option<&'static str>,
    /// Inside a container, whose engine filters system calls and mounts.
    pub container: bool,
    /// Whether system calls of this process are filtered.
    pub filtered: bool,
    pub landlock: i64,
    /// Reason why there is no Landlock.
    pub no_landlock: Option<Errno>,
    /// The guardian's program, for a profile that names it.
    pub program: PathBuf,
}

impl Machine {
    pub fn look() -> Self {
        let says = |path: &str| files::system(path).unwrap_or_default().trim().to_owned();
        let sysctls = [
            ("/proc/sys/user/max_user_namespaces", "user.max_user_namespaces=15000"),
            ("/proc/sys/kernel/unprivileged_userns_clone", "kernel.unprivileged_userns_clone=1"),
        ];
        let landlock = landlock_version();
        let in_container = ["/.dockerenv", "/run/.containerenv"].iter().any(|mark| Path::new(mark).exists());
        Self {
            is_root: nix::unistd::geteuid().is_root(),
            apparmor: says("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1",
            sysctl: sysctls.iter().find(|(path, _)| says(path) == "0").map(|(_, value)| *value),
            container: in_container || std::env::var_os("container").is_some(),
            filtered: says("/proc/self/status")
                .lines()
                .any(|line| line.strip_prefix("Seccomp:").is_some_and(|mode| mode.trim() == "2")),
            landlock,
            no_landlock: (landlock == 0).then(no_landlock),
            program: std::env::current_exe().unwrap_or_default(),
        }
    }

    /// Says what to do about the walls that a level lacks, the likeliest cause first; empty where none is missing.
    pub fn remedies(&self, level: &Level) -> Vec<String> {
        let lacks = |walls: &[&str]| walls.iter().any(|wall| level.lacks(wall));
        let mut found = Vec::new();
        if lacks(&[TREE, VIEW]) || level.is_lesser(NETWORK) || level.is_lesser(TREE) {
            found.extend(self.namespaces());
        }
        if lacks(&[FILES, SIGNALS]) {
            found.push(self.landlock());
        }
        if lacks(&[CALLS]) {
            found.push("the kernel filters no system calls: it needs CONFIG_SECCOMP_FILTER".to_owned());
        }
        found
    }

    fn namespaces(&self) -> Vec<String> {
        let mut found = Vec::new();
        if self.container || self.filtered {
            // Docker's default profile allows mount, setns and unshare to CAP_SYS_ADMIN alone (Docker, Seccomp security
            // profiles); its masked paths keep a plain user's tree from a /proc of its own; podman takes `systempaths` too
            // (containers/podman, pkg/specgenutil).
            let more =
                if self.is_root { "--cap-add SYS_ADMIN" } else { "--security-opt systempaths=unconfined" };
            found.push(format!(
                "namespaces: the system calls for them are filtered, as in a container; start that with docker run \
                 --security-opt seccomp=unconfined --security-opt apparmor=unconfined {more} (podman has the same words), or \
                 live outside of one"
            ));
        }
        // Outside of a container these rules are the machine's, within one they come on top of its own.
        if self.apparmor && !self.is_root {
            found.push(format!(
                "namespaces: AppArmor gives them no rights here (kernel.apparmor_restrict_unprivileged_userns is 1); let \
                 this program have them: {}",
                profile(&self.program)
            ));
        }
        if let Some(sysctl) = self.sysctl.filter(|_| !self.is_root) {
            found
                .push(format!("namespaces: this kernel gives plain users none; `sudo sysctl {sysctl}` does"));
        }
        if found.is_empty() {
            let none =
                "namespaces: this kernel or its rules give none; a kernel with CONFIG_USER_NS, or root, does";
            found.push(none.to_owned());
        }
        found
    }

    fn landlock(&self) -> String {
        let why = match self.no_landlock {
            None => {
                return format!(
                    "Landlock: version {} is too old for all of it; Linux 6.12 has version 6",
                    self.landlock
                );
            }
            Some(Errno::EOPNOTSUPP) => {
                "is in this kernel and not switched on; put `landlock` first into its parameter `lsm=`"
            }
            Some(Errno::EPERM | Errno::EACCES) => {
                "is refused by a filter, as an old container engine's; a newer engine, or docker run --security-opt \
                 seccomp=unconfined, allows it"
            }
            Some(_) => {
                "is not in this kernel: Linux has it from 5.13 on with CONFIG_SECURITY_LANDLOCK, gVisor and kernels of its \
                 kind have none; let the house live in a virtual machine, or alone in this container"
            }
        };
        format!("Landlock {why}")
    }
}

/// A profile for AppArmor that gives one program the rights of a user namespace, and the commands that load it (apparmor.d(5);
/// Ubuntu, Restricted unprivileged user namespaces).
fn profile(program: &Path) -> String {
    format!(
        "printf 'abi <abi/4.0>,\\ninclude <tunables/global>\\nprofile feral \"{}\" flags=(unconfined) {{\\n  userns,\\n}}\\n' | \
         sudo tee /etc/apparmor.d/feral && sudo apparmor_parser -r /etc/apparmor.d/feral",
        program.display()
    )
}
