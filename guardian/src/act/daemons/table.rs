//! The table of the owner's daemons: of each its program, when it is wanted, how it is started and watched, and its rests.
//!
//! Another daemon is another row, and a file of its own only where something about it is.

use crate::act::around::Around;
use crate::act::daemons::broker::Broker;
use crate::act::daemons::channels::Channels;
use crate::act::daemons::jobs::{BROKER, CHANNELS, CONSOLE, PHONE_PAGE, Package};
use crate::act::daemons::notices::Notices;
use crate::act::daemons::window::Window;
use crate::act::daemons::{phone_page, small};
use crate::decide::revival::Pace;
use crate::limits::Limits;
use anyhow::Result;
use house::clock::Millis;
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;

/// State that some daemons have of their own.
pub struct Own {
    pub broker: Broker,
    pub window: Window,
    pub notices: Notices,
    pub channels: Channels,
}

/// Row of a daemon: all are started, watched, started again and ended by the same steps.
pub struct Row {
    /// Its name for people, in a warning that it could not be started.
    pub name: &'static str,
    /// The package of which its program is made; `None`: it is a stage of the guardian's own program.
    pub package: Option<&'static Package>,
    /// Whether it gives way to its program made anew; the owner may just be typing at the window.
    pub is_swapped: bool,
    /// Whether there is anything for it to do: where there is not, none is started.
    pub is_wanted: fn(&Own, &Around) -> bool,
    pub start: fn(&mut Own, &mut Around) -> Result<Pid>,
    /// Whether the one that runs does nothing any more: it is killed.
    pub is_silent: fn(&mut Own, &Around) -> bool,
    /// Handles its end; true: it is started again without a rest. The last argument: it was asked to end.
    pub ended: fn(&mut Own, &mut Around, WaitStatus, bool) -> bool,
    pub pace: fn(&Limits) -> Pace,
}

/// The places of the daemons in the table.
pub const THE_BROKER: usize = 0;
pub const THE_WINDOW: usize = 1;
pub const THE_NOTICES: usize = 2;
pub const THE_CHANNELS: usize = 3;
pub const THE_PAGE: usize = 4;

pub static DAEMONS: [Row; 6] = [
    Row {
        name: "broker",
        package: Some(&BROKER),
        is_swapped: true,
        is_wanted: |own, _| own.broker.found,
        start: |own, around| own.broker.start(around),
        is_silent: |_, _| false,
        ended: |own, around, status, asked| {
            own.broker.ended(around, status, asked);
            false
        },
        pace: |_| Pace::USUAL,
    },
    Row {
        name: "window",
        package: Some(&CONSOLE),
        is_swapped: false,
        is_wanted: |own, around| own.window.wanted && around.lives,
        start: |own, around| own.window.start(around),
        is_silent: |own, _| own.window.is_silent(),
        ended: |own, around, status, _| own.window.ended(around, status),
        pace: |_| Pace { shortest_ms: 10_000, longest_ms: 60_000, ..Pace::USUAL },
    },
    Row {
        name: "notices",
        package: Some(&CONSOLE),
        is_swapped: true,
        is_wanted: |_, around| around.settings.notices.wanted(),
        start: |own, around| own.notices.start(around),
        is_silent: |_, _| false,
        ended: |_, _, _, _| false,
        pace: |_| Pace { shortest_ms: 1_000, longest_ms: 60_000, ..Pace::USUAL },
    },
    Row {
        name: "channels",
        package: Some(&CHANNELS),
        is_swapped: true,
        is_wanted: |_, around| around.settings.has_channels,
        start: |own, around| own.channels.start(&mut own.broker, around),
        is_silent: |own, around| own.channels.is_silent(around),
        ended: |own, around, status, asked| {
            own.channels.ended(&mut own.broker, around, status, asked);
            false
        },
        pace: |_| Pace { shortest_ms: 1_000, longest_ms: 60_000, ..Pace::USUAL },
    },
    Row {
        name: "page beyond this machine",
        package: Some(&PHONE_PAGE),
        is_swapped: true,
        is_wanted: |_, around| around.settings.page.listen.is_some(),
        start: |_, around| phone_page::start(around),
        is_silent: |_, _| false,
        ended: |_, around, status, asked| {
            phone_page::ended(around, status, asked);
            false
        },
        pace: |_| Pace { shortest_ms: 1_000, longest_ms: 60_000, ..Pace::USUAL },
    },
    Row {
        name: "keeping the repository small",
        package: None,
        is_swapped: false,
        is_wanted: |_, around| around.lives && !around.builds,
        start: |_, around| small::start(around),
        is_silent: |_, _| false,
        ended: |_, around, status, _| {
            small::ended(around, status);
            false
        },
        pace: |limits| every(limits.git_small_ms),
    },
];

/// The pace of a daemon that has something to do now and then: a first build has the machine to itself.
fn every(ms: Millis) -> Pace {
    Pace { first_ms: ms.min(10 * 60_000), shortest_ms: ms, longest_ms: ms, ..Pace::USUAL }
}
