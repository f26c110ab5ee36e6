//! Level of the walls on this machine: how each is held or why it is missing; as a line for people, or as an object.

use crate::landlock::landlock_version;
use crate::network::Network;
use serde_json::{Map, Value};

pub const TREE: &str = "tree";
pub const FILES: &str = "files";
pub const VIEW: &str = "view";
pub const NETWORK: &str = "network";
pub const SIGNALS: &str = "signals";
pub const CALLS: &str = "calls";
pub const CAPABILITIES: &str = "capabilities";
pub const LIMITS: &str = "limits";
pub const PROCESSES: &str = "processes";

/// Least Landlock version for each: truncation, ports, and signals together with abstract sockets.
const TRUNCATION: i64 = 3;
const PORTS: i64 = 4;
const SCOPES: i64 = 6;

#[derive(Clone, Debug, Default)]
pub struct Level {
    /// The owner turned the walls off; process trees are held together all the same.
    off: bool,
    walls: Vec<Wall>,
}

#[derive(Clone, Debug)]
struct Wall {
    name: &'static str,
    /// Means by which the wall is held, or the reason why it is missing.
    found: Result<String, String>,
}

impl Level {
    /// The walls as turned off by the owner.
    pub fn off() -> Self {
        Self { off: true, walls: vec![Wall { name: TREE, found: Ok("namespace".into()) }] }
    }

    /// The walls this kernel and these rights promise; a trial launch then finds which of them hold.
    pub fn hoped(network: &Network, no_group: Option<String>) -> Self {
        let version = landlock_version();
        let landlock = |least: i64, held: String| {
            let has = if version == 0 {
                "this kernel has no Landlock".into()
            } else {
                format!("Landlock {version} is too old")
            };
            if version >= least { Ok(held) } else { Err(has) }
        };
        let net = match (&network.space, &network.missing) {
            (Some(space), _) if space.user.is_some() => Ok("namespace, by a user namespace".into()),
            (Some(_), _) => Ok("namespace".into()),
            (None, why) => landlock(PORTS, "port".into()).map_err(|_| why.clone().unwrap_or_default()),
        };
        let processes = match no_group {
            Some(why) => Err(why),
            None if nix::unistd::geteuid().is_root() => Ok("counted by a group".into()),
            None => Ok("counted by user".into()),
        };
        let walls = [
            (TREE, Ok("namespace".into())),
            (FILES, landlock(1, format!("Landlock {version}"))),
            (VIEW, Ok("own mounts".into())),
            (NETWORK, net),
            (SIGNALS, landlock(SCOPES, "scoped".into())),
            (CALLS, Ok("filtered".into())),
            (CAPABILITIES, Ok("dropped".into())),
            (LIMITS, Ok("set".into())),
            (PROCESSES, processes),
        ];
        Self { off: false, walls: walls.map(|(name, found)| Wall { name, found }).to_vec() }
    }

    pub fn has(&self, name: &str) -> bool {
        self.walls.iter().any(|wall| wall.name == name && wall.found.is_ok())
    }

    /// Whether a wall is asked for and missing.
    pub fn lacks(&self, name: &str) -> bool {
        self.walls.iter().any(|wall| wall.name == name && wall.found.is_err())
    }

    /// Whether a wall is held by less than a namespace, where one could hold it.
    pub fn is_lesser(&self, name: &str) -> bool {
        self.walls.iter().any(|wall| {
            wall.name == name && !wall.found.as_ref().is_ok_and(|held| held.starts_with("namespace"))
        })
    }

    /// Notes how a wall is held, or why it is missing.
    pub fn find(&mut self, name: &str, found: Result<String, String>) {
        if let Some(wall) = self.walls.iter_mut().find(|wall| wall.name == name) {
            wall.found = found;
        }
    }

    /// Notes that a wall could not be put up. False if it was missing already: then another try would not help.
    pub fn lose(&mut self, name: &str, why: &str) -> bool {
        let Some(wall) = self.walls.iter_mut().find(|wall| wall.name == name && wall.found.is_ok()) else {
            return false;
        };
        wall.found = match (name, landlock_version() >= PORTS && wall.found.as_deref() != Ok("port")) {
            (NETWORK, true) => Ok("port".into()),
            _ => Err(why.to_owned()),
        };
        true
    }

    /// Each missing wall with the reason.
    pub fn missing(&self) -> Vec<String> {
        let missing = self
            .walls
            .iter()
            .filter_map(|wall| Some(format!("{} ({})", wall.name, wall.found.as_ref().err()?)));
        let mut missing: Vec<String> = missing.collect();
        let version = landlock_version();
        if self.has(FILES) && version < TRUNCATION {
            missing.push(format!("truncation (Landlock {version} does not see it)"));
        }
        missing
    }

    /// `full`, `partial: no …` or `off`.
    pub fn summary(&self) -> String {
        let missing = self.missing();
        if self.off {
            "off".into()
        } else if missing.is_empty() {
            "full".into()
        } else {
            format!("partial: no {}", missing.join(", no "))
        }
    }

    /// For people: the walls that hold, and prominently those that are missing.
    pub fn told(&self) -> String {
        let held = self
            .walls
            .iter()
            .filter_map(|wall| Some(format!("{}: {}", wall.name, wall.found.as_ref().ok()?)));
        let held = held.collect::<Vec<_>>().join(", ");
        let missing = self.missing();
        let off = "OFF: the creature runs with your rights; what it may touch is agreed, not enforced";
        let parts = [
            self.off.then(|| off.to_owned()),
            (!held.is_empty()).then_some(held),
            (!missing.is_empty()).then(|| format!("MISSING: {}", missing.join(", "))),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// For programs: each wall, and how it is held or `none: why`.
    pub fn as_json(&self) -> Value {
        let fields = self.walls.iter().map(|wall| {
            let found = wall.found.clone().unwrap_or_else(|why| format!("none: {why}"));
            (wall.name.to_owned(), Value::String(found))
        });
        Value::Object(fields.collect::<Map<_, _>>())
    }
}
