//! The house: real guardian, broker, console, channels and creature, behind walls, on instinct; paired with the owner.

use super::platform::{GROUP, Platform, TOKEN};
use super::relay::Relay;
use serde_json::Value;
use std::path::PathBuf;
use trials::model::asleep;
use trials::{Guardian, House, child_named, programs, said, send};

/// Ends are what the trial makes: however many, they are no crash loop.
const LIMITS: &str = "loop_deaths = 1000000\nlives_unblessed = 1000000\nchannels_beat_s = 30\n";

pub struct Place {
    pub house: House,
    pub guardian: Option<Guardian>,
    pub platform: Platform,
    pub relay: Relay,
}

impl Place {
    /// A house that lives, and is paired.
    pub fn found() -> Self {
        let house = House::new("exit 1").with_broker();
        house.write_life(&format!("exec {}", house.path("target/creature/the-real-one").display()));
        house.commit("the real creature");
        std::fs::create_dir_all(house.path("target/creature")).unwrap();
        programs::place(programs::creature(), &house.path("target/creature/the-real-one"));
        programs::place(
            &programs::broker().with_file_name("channels"),
            &house.folder.path().join("bin/channels"),
        );
        let platform = Platform::start(house.folder.path());
        let relay = Relay::to(platform.port);
        house.settings(&format!(
            "{LIMITS}{}[rest]\nshortest_s = 0\n[channels.telegram]\nurl = \"{}\"\ngroups = [\"{GROUP}\"]\nmessages_per_hour = 1000\n",
            asleep(),
            relay.url()
        ));
        house.write(".env", &format!("TELEGRAM_BOT_TOKEN={TOKEN}\n"));
        let mut place = Self { house, guardian: None, platform, relay };
        place.guardian = Some(place.house.start());
        place.pair();
        place
    }

    /// The owner sends the code that the console shows.
    fn pair(&self) {
        self.house.until("channels", || self.child("channels").is_some());
        self.house
            .until("a console", || said(&self.house.ask(&["channels", "pair", "telegram"])).contains("code"));
        let pairing: Value =
            serde_json::from_str(&self.house.read(".self/broker/channels/pairing.json")).unwrap();
        let code = pairing["code"].as_str().unwrap();
        self.house.until("a poll", || {
            self.platform.ask("polls", &serde_json::json!({})).is_some_and(|polls| polls.as_u64() > Some(0))
        });
        self.platform.say(super::platform::OWNER, code);
        self.house
            .until("the pairing", || self.house.read(".self/broker/channels/telegram.json").contains("1001"));
    }

    pub fn child(&self, name: &str) -> Option<i32> {
        let guardian = self.guardian.as_ref()?;
        child_named(guardian.acting(), name)
    }

    pub fn kill_child(&self, name: &str) -> bool {
        self.child(name).map(|pid| send("-KILL", pid)).is_some()
    }

    pub fn kill_creature(&self) -> bool {
        let pid = self.house.status()["creature_pid"].as_i64();
        pid.map(|pid| send("-KILL", pid as i32)).is_some()
    }

    /// Kills it as the kernel would, and starts another.
    pub fn kill_guardian(&mut self) {
        self.guardian.take().into_iter().for_each(Guardian::kill_only);
        self.guardian = Some(self.house.start());
    }

    /// Leaves the house's folder where it is, for whoever wants to know what happened.
    pub fn leave(mut self) -> PathBuf {
        self.guardian.take().map(Guardian::stop);
        self.platform.kill();
        let kept = std::env::temp_dir().join(format!("channels-kept-{}", std::process::id()));
        let _ = std::fs::rename(self.house.folder.path(), &kept);
        kept
    }
}
