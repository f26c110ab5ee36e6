//! The heart's state, `.self/heart.json`: what it needs to run a blessed version without a steward, and what it tells meanwhile.

use crate::aside;
use crate::wire::{Record, Version};
use ground::{House, files, repair};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

const VERSION: u32 = 1;
/// A number that no count of lives and no time of the owner's comes to.
const MOST: u64 = 1 << 53;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    version: u32,
    /// The heart's own process.
    pub guardian_pid: i32,
    /// Sentence for the status while no steward is ready; else empty.
    pub told: String,
    /// Number of the last life.
    pub life: u64,
    /// Process of a stand-in's life; 0: none runs.
    #[serde(default)]
    pub stand_in: i32,
    pub record: Option<Record>,
}

impl Kept {
    /// Reads what a former heart kept; a file that cannot be understood is moved aside, and told of.
    pub fn load(house: &House) -> (Self, Option<String>) {
        let path = house.heart();
        let kept = match files::read_small(&path) {
            Ok(None) => Some(Self::default()),
            Ok(Some(bytes)) => serde_json::from_slice::<Self>(&bytes).ok().filter(Self::is_sound),
            Err(_) => None,
        };
        let told = kept.is_none().then(|| match repair::aside(house, &path) {
            Ok(to) => format!("{} cannot be understood and is moved to {}", path.display(), to.display()),
            Err(error) => format!("{} cannot be understood, nor moved aside: {error}", path.display()),
        });
        let guardian_pid = nix::unistd::getpid().as_raw();
        (
            Self {
                version: VERSION,
                guardian_pid,
                told: String::new(),
                stand_in: 0,
                ..kept.unwrap_or_default()
            },
            told,
        )
    }

    /// Whether its numbers can be counted with.
    fn is_sound(&self) -> bool {
        let times = self.record.iter().flat_map(|record| [record.grace_ms, record.parked_ms]);
        self.version == VERSION && times.chain([self.life]).all(|number| number < MOST)
    }

    /// Writes it, whole; a disk that does not answer holds nobody up. False where it is not known to be written.
    pub fn save(&self, house: &House, writer: &mut Option<Pid>) -> bool {
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        aside::work(writer, || files::replace(&house.heart(), &bytes).is_ok()) == Some(true)
    }
}

/// A stand-in's life, and all that it needs of the heart's state.
#[derive(Debug, Serialize, Deserialize)]
pub struct Plan {
    pub life: u64,
    pub version: Version,
    pub record: Record,
}

impl Plan {
    /// The newest version that may run; none where there is no such.
    pub fn of(kept: &Kept) -> Option<Self> {
        let record = kept.record.clone()?;
        let version = record.newest()?.clone();
        Some(Self { life: kept.life, version, record: Record { blessed: vec![], ..record } })
    }
}
