//! The house's own network: a namespace whose loopback holds only the broker's port and the creature's own listeners.
//!
//! Invariant: the guardian never enters it; a short-lived process makes it and passes its descriptors back.
//! Absent on purpose: routes, other addresses, name resolution. Without a namespace the port is on the machine's
//! loopback.

use anyhow::{Context, Result, bail};
use ground::files;
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::{AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType};
use nix::sys::socket::{recvmsg, sendmsg, socketpair};
use nix::unistd::{getegid, geteuid};
use std::fs::File;
use std::io::{IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The network on which the creature reaches the broker.
pub struct Network {
    /// The broker's port: on loopback, in the namespace where there is one. Kept open for the guardian's whole life.
    pub listener: TcpListener,
    pub port: u16,
    /// `None`: the creature shares the machine's network, restricted by rules on ports alone.
    pub space: Option<Space>,
    /// Reason why there is no namespace.
    pub missing: Option<String>,
}

/// Namespaces to enter before exec: first the user namespace, where one was needed.
pub struct Space {
    pub net: OwnedFd,
    pub user: Option<OwnedFd>,
}

/// Makes the network. Without `apart`, or where no namespace can be had, the port is on the machine's own loopback.
pub fn make(apart: bool) -> Result<Network> {
    let mut missing = None;
    if apart {
        match namespace(false).or_else(|_| namespace(true)) {
            Ok((listener, space)) => return found(listener, Some(space), None),
            Err(error) => missing = Some(format!("{error:#}")),
        }
    }
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("failed to bind a port on loopback")?;
    found(listener, None, missing)
}

fn found(listener: TcpListener, space: Option<Space>, missing: Option<String>) -> Result<Network> {
    let port = listener.local_addr().context("failed to read the port on loopback")?.port();
    Ok(Network { listener, port, space, missing })
}

/// Forks a process that makes the namespace, binds the listener in it, sends the descriptors back and ends without
/// exec.
fn namespace(with_user: bool) -> Result<(TcpListener, Space)> {
    let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)
        .context("failed to make a pair of sockets")?;
    let mut command = Command::new("/proc/self/exe");
    // SAFETY: the child is a copy of a process with one thread; glibc and musl keep allocation usable after such a
    // fork.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(move || {
            make_inside(with_user, theirs.as_raw_fd()).map_err(|error| told(&error))?;
            libc::_exit(0)
        });
    }
    #[allow(clippy::disallowed_methods)]
    let mut child = command.spawn().context("no network namespace can be made")?;
    drop(command);
    let received = receive(ours.as_raw_fd());
    let _ = child.wait();
    let mut descriptors = received?.into_iter();
    let (Some(listener), Some(net)) = (descriptors.next(), descriptors.next()) else {
        bail!("the namespace's descriptors did not arrive");
    };
    Ok((TcpListener::from(listener), Space { net, user: descriptors.next() }))
}

/// The kernel's word for a failure: nothing else of an error comes through to the process that forked this one.
fn told(error: &anyhow::Error) -> std::io::Error {
    let found = error.chain().find_map(|cause| {
        let by_name = cause.downcast_ref::<nix::Error>().map(|errno| *errno as i32);
        by_name.or_else(|| cause.downcast_ref::<std::io::Error>()?.raw_os_error())
    });
    std::io::Error::from_raw_os_error(found.unwrap_or(libc::EPERM))
}

fn make_inside(with_user: bool, out: RawFd) -> Result<()> {
    let (user, group) = (geteuid(), getegid());
    let flags = CloneFlags::CLONE_NEWNET;
    unshare(if with_user { flags | CloneFlags::CLONE_NEWUSER } else { flags })?;
    if with_user {
        files::tell_kernel("/proc/self/setgroups", "deny")?;
        files::tell_kernel("/proc/self/uid_map", format!("{user} {user} 1"))?;
        files::tell_kernel("/proc/self/gid_map", format!("{group} {group} 1"))?;
    }
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    loopback_up(listener.as_raw_fd())?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let net = files::open_system(File::options().read(true), "/proc/self/ns/net")?;
    let user = if with_user {
        Some(files::open_system(File::options().read(true), "/proc/self/ns/user")?)
    } else {
        None
    };
    let mut descriptors = vec![listener.as_raw_fd(), net.as_raw_fd()];
    descriptors.extend(user.as_ref().map(AsRawFd::as_raw_fd));
    send(out, &descriptors)
}

/// Passes descriptors to the process at the other end of a Unix socket.
pub fn send(out: RawFd, descriptors: &[RawFd]) -> Result<()> {
    let rights = [ControlMessage::ScmRights(descriptors)];
    sendmsg::<()>(out, &[IoSlice::new(b"!")], &rights, MsgFlags::empty(), None)
        .context("failed to pass descriptors on")?;
    Ok(())
}

fn loopback_up(socket: RawFd) -> std::io::Result<()> {
    let up = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the request is zeroed, named and read by one call on a socket that is open.
    #[allow(unsafe_code)]
    let done = unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
            *to = *from as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = up;
        libc::ioctl(socket, libc::SIOCSIFFLAGS, &request)
    };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Waits for descriptors from the other end; none if that is closed.
pub fn receive(from: RawFd) -> Result<Vec<OwnedFd>> {
    let (mut byte, mut space) = ([0_u8], nix::cmsg_space!([RawFd; 3]));
    let mut into = [IoSliceMut::new(&mut byte)];
    let message = recvmsg::<()>(from, &mut into, Some(&mut space), MsgFlags::MSG_CMSG_CLOEXEC)
        .context("the namespace's descriptors did not arrive")?;
    let mut descriptors = Vec::new();
    for part in message.cmsgs().context("failed to read the namespace's descriptors")? {
        if let ControlMessageOwned::ScmRights(raw) = part {
            // SAFETY: the kernel has just made these descriptors for this process; nobody else owns them.
            #[allow(unsafe_code)]
            descriptors.extend(raw.into_iter().map(|raw| unsafe { OwnedFd::from_raw_fd(raw) }));
        }
    }
    Ok(descriptors)
}
