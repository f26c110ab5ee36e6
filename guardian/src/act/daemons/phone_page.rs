//! The owner's page beyond this machine: a program of its own, built and started only where `owner.toml` opens it.

use crate::act::around::Around;
use crate::act::daemons::jobs::PHONE_PAGE;
use anyhow::Result;
use house::bounds::{TOLD_CHARS, brief};
use house::files;
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;
use processes::trusted::{self, Trusted};

pub fn start(around: &mut Around) -> Result<Pid> {
    let extra = vec![("FERAL_PAGE", serde_json::to_string(&around.settings.page)?)];
    let log = Some(files::create(&around.house.phone_page_log())?);
    let (program, args) = (PHONE_PAGE.program(), vec!["serve".to_owned()]);
    trusted::start(&around.house, Trusted { program, args, extra, log, ..Trusted::default() })
}

/// Tells why it ended by itself, once for each reason.
pub fn ended(around: &mut Around, status: WaitStatus, asked: bool) {
    if asked {
        return;
    }
    let said = files::tail(&around.house.phone_page_log(), 4_096);
    let why = match said.trim().lines().last() {
        Some(last) => brief(last.trim_start_matches("page: "), TOLD_CHARS),
        None => format!("it ended: {status:?}"),
    };
    around.report.once(&format!("your page is not open beyond this machine: {why}; it is tried again"));
}
