//! The owner's channels: the program that talks with their chats; built and started only where `owner.toml` names one.
//!
//! Invariant: its token is in the broker's file before it starts, a new one each time, and gone when it has ended.

use crate::act::around::Around;
use crate::act::daemons::broker::Broker;
use crate::act::daemons::jobs::CHANNELS;
use crate::act::daemons::keep::Daemons;
use crate::act::daemons::table::THE_CHANNELS;
use anyhow::Result;
use house::clock::Millis;
use house::files::{self, Mark};
use house::{printable, records};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;
use processes::exits::describe;
use processes::trusted::{self, Trusted};
use serde_json::{Value, json};

#[derive(Default)]
pub struct Channels {
    restarts: u64,
    /// Trouble with their program, in a line for people; else empty.
    trouble: String,
    /// The mark of their lock as it was seen last, since when, and whether that is too long.
    beat: (Option<Mark>, Millis),
    is_hung: bool,
}

impl Channels {
    pub fn start(&mut self, broker: &mut Broker, around: &mut Around) -> Result<Pid> {
        let port = broker.door_of_channels()?;
        broker.tokens.for_channels(&around.house, port)?;
        let args = vec!["--house".into(), around.house.root().display().to_string()];
        let log = Some(files::append(&around.house.channels_log())?);
        // What they tell names commands as they are typed there: `/asks 12`.
        let extra = vec![(house::terminal::IN_WINDOW, "1".to_owned())];
        let start = Trusted { program: CHANNELS.program(), args, extra, log, ..Trusted::default() };
        let pid = trusted::start(&around.house, start)?;
        self.trouble.clear();
        self.beat.1 = around.now();
        Ok(pid)
    }

    /// Whether the program that runs has not touched its lock for too long.
    pub fn is_silent(&mut self, around: &Around) -> bool {
        let (mark, now) = (files::mark(&around.house.channels_lock()), around.now());
        if mark != self.beat.0 {
            self.beat = (mark, now);
        }
        self.is_hung = now.saturating_sub(self.beat.1) >= around.limits.channels_beat_ms;
        self.is_hung
    }

    /// `asked`: it was to end.
    pub fn ended(&mut self, broker: &mut Broker, around: &mut Around, status: WaitStatus, asked: bool) {
        broker.tokens.revoke_channels(&around.house);
        let is_hung = std::mem::take(&mut self.is_hung);
        if asked {
            return;
        }
        self.restarts += 1;
        let cause = if is_hung { "hung, and was killed".to_owned() } else { describe(status) };
        let said = files::tail(&around.house.channels_log(), 1_024);
        let said = printable::spelled(said.lines().last().unwrap_or_default());
        self.trouble = format!("the channels ended ({cause}) and are started again");
        around.report.once(&format!("{}; {said}", self.trouble));
        records::tell(&around.house, "channels_ended", json!({"cause": cause, "said": said}));
    }
}

impl Daemons {
    /// The channels' part of `guardian.json`: how far their program is; `null` where the owner named none.
    pub fn channels_told(&self, around: &Around) -> Value {
        let pid = self.all.get(THE_CHANNELS).and_then(|channels| channels.pid).map(Pid::as_raw);
        let Channels { restarts, trouble, .. } = &self.own.channels;
        let note = match (pid, self.troubles.get(CHANNELS.name)) {
            (Some(_), _) => "",
            _ if self.is_due(&CHANNELS) => "their program is being built",
            (None, Some(why)) => why,
            _ if !CHANNELS.program().is_file() => {
                "their program is not built: this guardian does not run from its source"
            }
            _ if trouble.is_empty() => "starting",
            _ => trouble,
        };
        let told = json!({"running": pid.is_some(), "pid": pid, "restarts": restarts, "note": note});
        if around.settings.has_channels { told } else { Value::Null }
    }
}
