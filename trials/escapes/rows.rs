//! The attempts: each a line of shell that ends with 0 when it worked. `hostile` is `hostile.c`, compiled.

/// Who can make it work without the wall, and where it makes sense.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum By {
    Anyone,
    /// Without the wall only root gets there.
    Root,
}

pub struct Row {
    pub name: &'static str,
    pub by: By,
    pub attempt: &'static str,
}

const fn row(name: &'static str, attempt: &'static str) -> Row {
    Row { name, by: By::Anyone, attempt }
}

const fn root(name: &'static str, attempt: &'static str) -> Row {
    Row { name, by: By::Root, attempt }
}

/// What later runs outside, or holds what the house remembers.
pub const WRITES: &[Row] = &[
    row("write a git hook", "echo x > .git/hooks/pre-commit"),
    row("write git's config", "echo '[core]' >> .git/config"),
    row("move a ref", "echo 1 > .git/refs/heads/main"),
    row("make a ref", "echo 1 > .git/refs/heads/mine"),
    row("take HEAD away", "rm .git/HEAD"),
    row("write a packed object", "echo x > .git/objects/pack/pack"),
    row("write the guardian's source", "echo x > guardian/src/main.rs"),
    row("plant a build script in the guardian", "echo x > guardian/build.rs"),
    row("plant a build script in the root", "echo x > build.rs"),
    row("plant cargo settings in the root", "mkdir -p .cargo && echo x > .cargo/config.toml"),
    row("plant a toolchain file in the root", "echo x > rust-toolchain.toml"),
    row("write the root manifest", "echo x >> Cargo.toml"),
    row("write the root lock file", "echo x >> Cargo.lock"),
    row("write a script", "echo x >> scripts/check"),
    row("replace the guardian's binary", "echo x > target/debug/guardian"),
    row("write the owner's settings", "echo 'walls = \"off\"' > owner.toml"),
    row("write its purpose", "echo x > PURPOSE.md"),
    row("write .env", "echo x >> .env"),
    row("let in another key", "echo x >> $OWNER/.ssh/authorized_keys"),
    row("write the owner's shell settings", "echo x >> $OWNER/.bashrc"),
    root("plant a cron job", "echo x > /etc/cron.d/.feral-escape && rm /etc/cron.d/.feral-escape"),
    root("write a file of the system", "touch /usr/lib/.feral-escape && rm /usr/lib/.feral-escape"),
    row("write to /tmp", "f=/tmp/feral-escape-$$; echo x > $f && rm $f"),
    row("write to shared memory", "f=/dev/shm/feral-escape-$$; echo x > $f && rm $f"),
    row("forge the guardian's state", "echo '{}' > .self/guardian/state.json.new"),
    row("take the guardian's lock away", "rm .self/guardian/lock"),
    row("replace a kept binary", "echo x > .self/guardian/binaries/tree"),
    row("forge guardian.json", "echo x > .self/guardian.json"),
    row("forge the deaths", "echo x >> .self/deaths.jsonl"),
    row("forge the owner's words", "echo x >> .self/inbox.jsonl"),
    row("forge the ledger", "echo x >> .self/ledger.jsonl"),
    row("shorten the ledger", "hostile file truncate .self/ledger.jsonl"),
    row("raise the budget", "echo x > .self/budget.json"),
    row("approve an ask", "echo x >> .self/asks.jsonl"),
    row("approve an ask at the broker", "echo x >> .self/broker/answers.jsonl"),
    row("write another life's log", "echo x >> .self/log/life-1.log"),
    row("make a file in the state", "echo x > .self/mine && rm .self/mine"),
    row("write cargo's settings for the next build", "echo x > target/creature/cargo-home/config.toml"),
    row("plant beside what cargo builds", "echo x > target/creature/mine && rm target/creature/mine"),
    row(
        "replace a folder of its own by a link",
        "rm -rf .self/mind && ln -s $OWNER .self/mind; rc=$?; rm -f .self/mind; exit $rc",
    ),
    row("write through a link of its own", "ln -sf $OWNER/.bashrc self/link && echo x >> self/link"),
    row("rename a file out", "cp creature/file creature/out && hostile file rename creature/out $OWNER/out"),
    row(
        "rename a file in",
        "cp $OWNER/notes/diary.txt $OWNER/in && hostile file rename $OWNER/in creature/in",
    ),
    row(
        "exchange two files",
        "hostile file exchange creature/file PURPOSE.md && hostile file exchange creature/file PURPOSE.md",
    ),
    row("link a file out", "hostile file link creature/file $OWNER/linked"),
    row("link a file in", "rm -f creature/linked; hostile file link $OWNER/.bashrc creature/linked"),
    row("truncate a file of the owner's", "hostile file truncate $OWNER/.bashrc"),
    row("open a file of the owner's to all", "hostile file chmod $OWNER/.ssh/id"),
    row("make a file of the repository executable", "hostile file chmod guardian/src/main.rs"),
    row("change the times of the owner's file", "hostile file touch $OWNER/.bashrc"),
    root("give a file away", "hostile file chown $OWNER/.bashrc"),
    root("give a file of its own away", "touch creature/given && hostile file chown creature/given"),
    row(
        "make a program that runs as its owner",
        "cp /bin/true creature/true && hostile file setuid creature/true",
    ),
    row("make a file that is born so", "hostile file born_setuid creature/born"),
    row(
        "make a program that runs as its group",
        "cp /bin/true creature/true && hostile file setgid creature/true",
    ),
    row("make a file that is born so for its group", "hostile file born_setgid creature/born"),
    root("make a device", "rm -f creature/device; hostile file device creature/device"),
    row("write by an inherited descriptor", "hostile file descriptor $LEAK"),
    root("write the kernel's settings", "hostile file write /proc/sys/kernel/core_pattern"),
    root("drop the kernel's caches", "hostile file write /proc/sys/vm/drop_caches"),
    root(
        "leave its group of processes",
        "hostile file write /sys/fs/cgroup/pids/cgroup.procs || hostile file write /sys/fs/cgroup/cgroup.procs",
    ),
];

pub const READS: &[Row] = &[
    row("read .env", "grep -q secret .env"),
    row("read .env.local", "grep -q secret .env.local"),
    row("read a private key", "cat $OWNER/.ssh/id"),
    row("read the owner's home", "cat $OWNER/notes/diary.txt"),
    row("list the owner's home", "ls $OWNER/notes"),
    row("read cargo's credentials", "cat $OWNER/.cargo/credentials.toml"),
    root("read the shadow file", "cat /etc/shadow"),
    row("read the broker's tokens", "cat .self/broker/tokens.json"),
    row("read the broker's tokens beside the state", "cat .self-broker/tokens.json"),
    row("read the guardian's state", "cat .self/guardian/state.json"),
    row("read through a link of its own", "ln -sf $OWNER/.ssh/id self/key && cat self/key"),
    row("read by another's root", "cat /proc/$VICTIM/root$OWNER/.ssh/id"),
    row("read another's environment", "grep -q SECRET /proc/$VICTIM/environ"),
    row("read another's memory as a file", "hostile process mem $VICTIM $SECRET_AT"),
    row("read another's map of memory", "cat /proc/$VICTIM/maps"),
    row("learn what another has open", "readlink /proc/$VICTIM/fd/1"),
    row("read another's working directory", "ls /proc/$VICTIM/cwd/"),
    row("read its starter's environment", "cat /proc/$ME/environ"),
    row("open what its starter has open", "cat /proc/$ME/fd/0"),
    root("read the kernel's log", "hostile file read /dev/kmsg"),
    row("open a terminal", "hostile file read /dev/ptmx"),
];

pub const PROCESSES: &[Row] = &[
    row("signal a process", "hostile process kill $VICTIM"),
    row("signal its starter", "hostile process kill $ME"),
    row("enter a process group", "hostile process enter $VICTIM"),
    row("signal by thread", "hostile process tgkill $VICTIM"),
    row("signal a process group", "hostile process group $VICTIM"),
    row("signal by descriptor", "hostile process pidfd $VICTIM"),
    row("queue a signal", "hostile process queue $VICTIM"),
    row("take another's descriptor", "hostile process getfd $VICTIM"),
    row("trace a process", "hostile process trace $VICTIM"),
    row("read another's memory", "hostile process vm_read $VICTIM $SECRET_AT"),
    row("write another's memory", "hostile process vm_write $VICTIM $SECRET_AT"),
    row("compare two processes", "hostile process kcmp $VICTIM"),
    row("set another's limits", "hostile process limit $VICTIM"),
    row("set another's priority", "hostile process priority $VICTIM"),
    row("bind another to a processor", "hostile process affinity $VICTIM"),
    root("enter another's network", "hostile process setns $VICTIM net"),
    row("allocate memory shared by number", "hostile kernel shared x"),
];

pub const NETWORK: &[Row] = &[
    row("connect by TCP", "hostile network tcp 127.0.0.1 $TCP"),
    row("connect by TCP over IPv6", "hostile network tcp6 ::1 $TCP6"),
    row("connect to the broker's port elsewhere", "hostile network tcp 127.0.0.2 $TCP2"),
    row("connect by multipath TCP", "hostile network mptcp 127.0.0.1 $TCP"),
    row("connect with the first packet", "hostile network fastopen 127.0.0.1 $TCP"),
    row("send a datagram", "hostile network udp 127.0.0.1 $UDP"),
    row("send a datagram over IPv6", "hostile network udp6 ::1 $UDP"),
    row("ask a name server", "hostile network udp 127.0.0.1 53"),
    row("connect to a socket file", "hostile network unix $OWNER/socket"),
    row("connect to an abstract socket", "hostile network abstract $ABSTRACT"),
    row("connect a pair anew", "hostile network pair $OWNER/datagrams"),
    row("open a netlink socket", "hostile network socket 16 3 0"),
    row("open a vsock socket", "hostile network socket 40 1 0"),
    row("open a key socket", "hostile network socket 38 5 0"),
    root("open a raw socket", "hostile network socket 2 3 1"),
    root("open a packet socket", "hostile network socket 17 3 0"),
    row("open an SCTP socket", "hostile network socket 2 1 132"),
];

pub const KERNEL: &[Row] = &[
    row("use io_uring", "hostile kernel io_uring"),
    row("load a BPF program", "hostile kernel bpf"),
    row("count events of the processor", "hostile kernel perf"),
    row("handle its own page faults", "hostile kernel userfaultfd"),
    row("use the kernel's keys", "hostile kernel keyctl"),
    row("add a key", "hostile kernel add_key"),
    row("open a file by handle", "hostile kernel handle"),
    row("watch all files", "hostile kernel fanotify"),
    root("mount", "hostile kernel mount"),
    root("mount by the new calls", "hostile kernel fsopen"),
    root("take a copy of a mount", "hostile kernel open_tree"),
    root("unmount", "hostile kernel unmount"),
    root("change the root of all", "hostile kernel pivot"),
    root("change its root", "hostile kernel chroot"),
    row("make a user namespace", "hostile kernel unshare"),
    root("make a network", "hostile kernel unshare_net"),
    row("be born in a user namespace", "hostile kernel clone"),
    row("the same by the newer call", "hostile kernel clone3"),
    row("take off protections of memory", "hostile kernel personality"),
    row("gain privileges by exec", "hostile kernel privileges"),
    root("load a module", "hostile kernel module"),
    root("load a kernel", "hostile kernel kexec"),
    root("restart the machine", "hostile kernel reboot"),
    root("swap", "hostile kernel swap"),
    root("rename the machine", "hostile kernel hostname"),
    root("set the clock", "hostile kernel clock"),
    row("type for another", "hostile kernel keystroke"),
    row("lease the inbox", "hostile descriptor lease .self/inbox.jsonl"),
    row("lease a file of git's", "hostile descriptor lease .git/HEAD"),
    row("lease the owner's settings", "hostile descriptor lease owner.toml"),
    row("lease a file of its own", "echo x > creature/leased && hostile descriptor lease creature/leased"),
    row("hold a folder by a delegation", "hostile descriptor delegation self"),
    row("have signals sent of changes", "hostile descriptor notify self"),
    row("have signals sent of a descriptor", "hostile descriptor owner owner.toml"),
    row("choose the signal of a descriptor", "hostile descriptor signal owner.toml"),
    row("have signals sent of a socket", "hostile descriptor group owner.toml"),
    #[cfg(target_arch = "x86_64")]
    row("call by the x32 numbers", "hostile kernel x32"),
    #[cfg(target_arch = "x86_64")]
    row("call as a 32-bit program", "hostile kernel i386"),
    row("allocate more than a process may", "hostile resource memory"),
    row("open more files than a process may", "hostile resource files"),
    row("write a larger file than a process may", "hostile resource large"),
];

/// Where no namespace can be had: the port, and nothing else.
pub const SHARED_NETWORK: &[Row] = &[
    row("connect to another port", "hostile network tcp 127.0.0.1 $TCP"),
    row("connect to another port over IPv6", "hostile network tcp6 ::1 $TCP6"),
    row("connect by multipath TCP to another port", "hostile network mptcp 127.0.0.1 $TCP"),
    row("connect with the first packet to another port", "hostile network fastopen 127.0.0.1 $TCP"),
    row("send a datagram from the shared network", "hostile network udp 127.0.0.1 $UDP"),
    row("connect to an abstract socket of the shared network", "hostile network abstract $ABSTRACT"),
    row("listen on the shared network", "hostile network listen x"),
];

/// What must go on working inside.
pub const ALLOWED: &[Row] = &[
    row(
        "write its source",
        "echo x > creature/src/lib.rs && mv creature/src/lib.rs creature/lib.rs && rm creature/lib.rs",
    ),
    row("write its papers", "echo x >> self/diary.md"),
    row("write its memory", "echo x >> .self/memory.jsonl && echo x > .self/heartbeat"),
    row("write its mind", "echo x > .self/mind/new && mv .self/mind/new .self/mind/request.json"),
    row(
        "build",
        "mkdir -p target/creature/debug/deps && echo x > target/creature/debug/deps/x && ln -f target/creature/debug/deps/x target/creature/debug/x",
    ),
    row(
        "read the house",
        "cat README.md PURPOSE.md owner.toml .git/HEAD guardian/src/main.rs .self/ledger.jsonl && ls .",
    ),
    row("run a program of its own", "cp /bin/true .self/workspace/mine && .self/workspace/mine"),
    row("use its own temporary folder", "echo x > .self/workspace/tmp/x"),
    row("signal its own", "sleep 5 & kill $!"),
    row("start many", "for i in 1 2 3 4 5 6 7 8 9; do /bin/true & done; wait"),
    row("reach the broker", "hostile network tcp 127.0.0.1 $BROKER"),
    row("listen on its own loopback", "hostile network listen x"),
    row("lock and copy a descriptor", "hostile descriptor lock creature/file"),
];

/// What works where one wall is missing, because no other holds it and no narrower grant exists: `docs/walls.md` says so.
pub const FALLS: &[(&str, &[&str])] = &[
    (
        "files",
        &[
            "read a private key",
            "read the owner's home",
            "list the owner's home",
            "read cargo's credentials",
            "read the shadow file",
            "read through a link of its own",
            "open a terminal",
        ],
    ),
    (
        "view",
        &[
            "open a file of the owner's to all",
            "make a file of the repository executable",
            "change the times of the owner's file",
            "read the guardian's state",
        ],
    ),
    (
        "calls",
        &[
            "make a program that runs as its owner",
            "make a file that is born so",
            "make a program that runs as its group",
            "make a file that is born so for its group",
            "allocate memory shared by number",
            "send a datagram",
            "send a datagram over IPv6",
            "ask a name server",
            "connect to a socket file",
            "connect a pair anew",
            "open a netlink socket",
            "open a vsock socket",
            "open a key socket",
            "open an SCTP socket",
            "use io_uring",
            "load a BPF program",
            "count events of the processor",
            "handle its own page faults",
            "use the kernel's keys",
            "add a key",
            "open a file by handle",
            "watch all files",
            "unmount",
            "make a user namespace",
            "be born in a user namespace",
            "the same by the newer call",
            "take off protections of memory",
            "load a module",
            "load a kernel",
            "type for another",
            "lease the inbox",
            "lease a file of git's",
            "lease the owner's settings",
            "lease a file of its own",
            "hold a folder by a delegation",
            "have signals sent of changes",
            "have signals sent of a descriptor",
            "choose the signal of a descriptor",
            "have signals sent of a socket",
            "call by the x32 numbers",
            "call as a 32-bit program",
        ],
    ),
    // A plain user has no mounts of its own without a network of its own: both are of one user namespace.
    (
        "network",
        &[
            "read the guardian's state",
            "open a file of the owner's to all",
            "make a file of the repository executable",
            "change the times of the owner's file",
        ],
    ),
    ("capabilities", &["give a file of its own away"]),
    (
        "limits",
        &[
            "allocate more than a process may",
            "open more files than a process may",
            "write a larger file than a process may",
        ],
    ),
];
