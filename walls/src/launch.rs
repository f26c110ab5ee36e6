//! The launcher: a stage of the caller's own binary that puts the walls up around itself and executes another program.
//!
//! Invariant: a wall that was asked for and cannot be put up ends the launch; no program runs behind half of them.
//! The order matters: steps that need rights come before rights are dropped, steps that need calls before those are
//! refused.

use crate::STAGE;
use crate::spec::{Ceilings, Spec};
use crate::{calls, init, landlock, view};
use anyhow::{Context, Result};
use ground::files;
use nix::sched::{CloneFlags, setns};
use nix::sys::prctl;
use nix::sys::resource::{Resource, rlim_t, setrlimit};
use nix::sys::signal::Signal;
use std::ffi::OsString;
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// Exit status of a failed launch: the program has not been run.
pub const FAILED: u8 = 126;
/// The creature's out-of-memory score: the kernel ends it before its guardian and the owner's programs.
const OOM_SCORE: &str = "500";
/// The one capability root keeps: files of other owners in the repository are still the creature's.
const CAP_DAC_OVERRIDE: u32 = 1;
const CAPABILITY_VERSION: u32 = 0x2008_0522;

/// `wall SPEC -- PROGRAM ARGUMENT…`: executes the program, or says which wall failed and why. Without a program it
/// only tries the walls and ends. `say` prints one line to standard error.
pub fn launch(mut arguments: impl Iterator<Item = OsString>, say: impl FnOnce(&str)) -> ExitCode {
    let spec = arguments.next().unwrap_or_default();
    let failed = match serde_json::from_slice::<Spec>(spec.as_encoded_bytes()) {
        Ok(spec) => put_up(&spec).err().map(|(wall, error)| format!("{wall}: {error:#}")),
        Err(error) => Some(format!("spec: {error}")),
    };
    let failed = failed.or_else(|| {
        let program = arguments.nth(1)?;
        #[allow(clippy::disallowed_methods)]
        let error = Command::new(&program).args(arguments).exec();
        Some(format!("failed to run {}: {error}", program.to_string_lossy()))
    });
    let Some(failed) = failed else { return ExitCode::SUCCESS };
    say(&format!("{STAGE}: {failed}"));
    ExitCode::from(FAILED)
}

fn put_up(spec: &Spec) -> std::result::Result<(), (&'static str, anyhow::Error)> {
    let named = |wall| move |error| (wall, error);
    for group in &spec.groups {
        let joined =
            files::tell_kernel(group, "0").with_context(|| format!("failed to join {}", group.display()));
        joined.map_err(named("processes"))?;
    }
    enter(spec.user, CloneFlags::CLONE_NEWUSER).map_err(named("network"))?;
    enter(spec.net, CloneFlags::CLONE_NEWNET).map_err(named("network"))?;
    if spec.tree {
        init::enter(spec).map_err(named("tree"))?;
    } else {
        stay_bound(spec).map_err(named("tree"))?;
    }
    // A process may join any group of its own session, the guardian's too where the guardian started this one.
    let _ = nix::unistd::setsid();
    // A launch goes on where the score cannot be set.
    let _ = files::tell_kernel("/proc/self/oom_score_adj", OOM_SCORE);
    if let Some(view) = &spec.view {
        view::narrow(spec, view).map_err(named("view"))?;
    }
    if let Some(ceilings) = &spec.ceilings {
        limit(ceilings).map_err(named("limits"))?;
    }
    prctl::set_no_new_privs().context("failed to give up new privileges").map_err(named("capabilities"))?;
    if spec.capabilities {
        drop_capabilities().map_err(named("capabilities"))?;
    }
    if !spec.tree {
        // A change of capabilities clears the parent-death signal.
        stay_bound(spec).map_err(named("tree"))?;
    }
    close_others(&spec.kept).map_err(named("descriptors"))?;
    if spec.files || spec.scopes {
        landlock::shut(spec).map_err(named("files"))?;
    }
    if spec.calls {
        calls::filter(spec.net.is_some(), spec.tree).map_err(named("calls"))?;
    }
    Ok(())
}

/// Dies with the guardian. The check covers a guardian that ended before the kernel was told.
fn stay_bound(spec: &Spec) -> Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL).context("failed to bind this life to the guardian's")?;
    anyhow::ensure!(!spec.lifeline.is_some_and(init::is_cut_off), "the guardian that started this is gone");
    Ok(())
}

fn enter(descriptor: Option<RawFd>, kind: CloneFlags) -> Result<()> {
    let Some(descriptor) = descriptor else { return Ok(()) };
    // SAFETY: inherited open, and closed by nobody before this process executes another program.
    #[allow(unsafe_code)]
    let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
    setns(descriptor, kind).context("failed to enter the house's namespace")
}

fn limit(ceilings: &Ceilings) -> Result<()> {
    const MIB: u64 = 1 << 20;
    let wanted = [
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_NPROC, ceilings.processes),
        // Private writable memory. Address space is not bounded: programs reserve much of it and never use it.
        (Resource::RLIMIT_DATA, ceilings.memory_mib.saturating_mul(MIB)),
        (Resource::RLIMIT_NOFILE, ceilings.open_files),
        (Resource::RLIMIT_FSIZE, ceilings.file_mib.saturating_mul(MIB)),
    ];
    for (resource, most) in wanted {
        let (_, hard) = nix::sys::resource::getrlimit(resource).context("failed to read a limit")?;
        // A lower limit that is set already stays.
        let most = (most as rlim_t).min(hard);
        setrlimit(resource, most, most).with_context(|| format!("failed to limit {resource:?}"))?;
    }
    Ok(())
}

/// Drops all capabilities of this process and its children, except that root keeps access to the house's files.
fn drop_capabilities() -> Result<()> {
    let kept = if nix::unistd::geteuid().is_root() { 1_u32 << CAP_DAC_OVERRIDE } else { 0 };
    for capability in 0..64 {
        if capability < 32 && kept >> capability & 1 == 1 {
            continue;
        }
        // Fails for any user without the right to it, harmlessly: no-new-privileges has the same effect.
        // SAFETY: plain calls with numbers.
        #[allow(unsafe_code)]
        unsafe {
            libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
        }
    }
    // SAFETY: as above.
    #[allow(unsafe_code)]
    unsafe {
        libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    }
    let header = [CAPABILITY_VERSION, 0];
    // Effective, permitted and inheritable sets, first the lower then the upper half of the capability numbers.
    let mut sets = [0_u32; 6];
    // SAFETY: header and sets have the layout of the version named and outlive the calls.
    #[allow(unsafe_code)]
    let done = unsafe {
        libc::syscall(libc::SYS_capget, header.as_ptr(), sets.as_mut_ptr());
        let [_, permitted, ..] = sets;
        sets = [kept & permitted, kept & permitted, 0, 0, 0, 0];
        libc::syscall(libc::SYS_capset, header.as_ptr(), sets.as_ptr())
    };
    if done == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error()).context("failed to drop capabilities")
    }
}

/// Marks every descriptor beyond the standard three to close at exec, except those to keep.
fn close_others(kept: &[RawFd]) -> Result<()> {
    let mut kept: Vec<u32> =
        kept.iter().filter_map(|kept| u32::try_from(*kept).ok()).filter(|kept| *kept > 2).collect();
    kept.sort_unstable();
    let mut from = 3;
    for kept in kept.into_iter().chain([u32::MAX]) {
        let to = if kept == u32::MAX { kept } else { kept - 1 };
        // SAFETY: marks descriptors; none is closed before exec.
        #[allow(unsafe_code)]
        if from <= to
            && unsafe { libc::syscall(libc::SYS_close_range, from, to, libc::CLOSE_RANGE_CLOEXEC) } != 0
        {
            return Err(std::io::Error::last_os_error()).context("failed to close inherited descriptors");
        }
        from = kept.saturating_add(1);
    }
    Ok(())
}
