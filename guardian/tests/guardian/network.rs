//! The house's own network: what listens in it, and who can reach that.

use std::net::TcpStream;
use std::os::fd::AsFd;
use walls::network;

#[test]
fn a_door_in_a_namespace_is_reached_from_inside_alone() {
    let made = network::make(true).unwrap();
    let Some(space) = made.space else { panic!("no namespace can be had here: {:?}", made.missing) };
    let address = ("127.0.0.1", made.port);
    // A port of this number may be open on our own loopback as well; whoever listens there is another.
    let _ = TcpStream::connect(address);
    made.listener.set_nonblocking(true).unwrap();
    assert!(made.listener.accept().is_err(), "it is not on our own loopback");
    made.listener.set_nonblocking(false).unwrap();
    // Another user's namespace can only be entered by a process of one thread.
    assert!(space.user.is_none() || !nix::unistd::geteuid().is_root());
    if space.user.is_none() {
        let reached = std::thread::spawn(move || {
            nix::sched::setns(space.net.as_fd(), nix::sched::CloneFlags::CLONE_NEWNET).unwrap();
            TcpStream::connect(address).is_ok()
        });
        assert!(reached.join().unwrap());
        assert!(made.listener.accept().is_ok());
    }
}

#[test]
fn without_a_namespace_the_door_is_on_loopback() {
    let made = network::make(false).unwrap();
    assert!(made.space.is_none() && made.missing.is_none());
    assert!(TcpStream::connect(("127.0.0.1", made.port)).is_ok());
}
