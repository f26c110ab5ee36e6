//! A sweep after a life: who hides in the group of a process that is spared.

use crate::alone;
use nix::unistd::Pid;
use processes::hunt;
use std::os::unix::process::CommandExt;
use std::process::Command;

#[test]
// The sweep waits for them.
#[allow(clippy::zombie_processes)]
fn what_enters_the_group_of_a_spared_process_is_not_spared() {
    // It ends every child.
    if alone::runs("sweep::what_enters_the_group_of_a_spared_process_is_not_spared") {
        return;
    }
    hunt::adopt_orphans().unwrap();
    let sleep = || {
        let mut command = Command::new("sleep");
        command.arg("60");
        command
    };
    let broker = sleep().process_group(0).spawn().unwrap();
    let broker_pid = Pid::from_raw(broker.id() as i32);
    let hidden = sleep().process_group(broker_pid.as_raw()).spawn().unwrap();
    // Others are gone; the spared one is a child still, so the sweep does not end of its own.
    hunt::sweep(&[broker_pid], &mut Vec::new());
    assert!(!hunt::exists(hidden.id() as i32), "it lives on in the group of the broker");
    assert!(hunt::exists(broker.id() as i32), "what was to be spared is gone");
    hunt::sweep(&[], &mut Vec::new());
}
