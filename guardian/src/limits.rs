//! Every number the guardian lives by, once; the owner may change them under `[limits]` in `owner.toml`.

use house::clock::Millis;
use serde::Deserialize;

/// Deadlines, rests and counts. Durations are written in seconds in `owner.toml` and kept in milliseconds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// A build: a cold one on a small machine. Past it the build is killed and is the code's fault.
    #[serde(rename = "build_s", deserialize_with = "seconds")]
    pub build_ms: Millis,
    /// From exec to the first beat.
    #[serde(rename = "boot_s", deserialize_with = "seconds")]
    pub boot_ms: Millis,
    /// The silence that means hung.
    #[serde(rename = "beat_s", deserialize_with = "seconds")]
    pub beat_ms: Millis,
    /// Beats without a finished turn for this long mean hung: the longest rest and the longest stage.
    #[serde(rename = "standstill_s", deserialize_with = "seconds")]
    pub standstill_ms: Millis,
    /// Beats since the first one before a commit is trusted; a completed thought is asked as well.
    #[serde(rename = "probation_s", deserialize_with = "seconds")]
    pub probation_ms: Millis,
    /// Between SIGTERM and SIGKILL: time to finish a line of memory.
    #[serde(rename = "grace_s", deserialize_with = "seconds")]
    pub grace_ms: Millis,
    /// First rest after a death; doubles to `rest_longest_s`, reset only by a settled life.
    #[serde(rename = "rest_s", deserialize_with = "seconds")]
    pub rest_ms: Millis,
    #[serde(rename = "rest_longest_s", deserialize_with = "seconds")]
    pub rest_longest_ms: Millis,
    /// Boots a commit has to earn its blessing.
    pub tries: u32,
    /// Code deaths of a blessed commit within the window that make a crash loop; three times as many in three times as
    /// long if it lives longer than that, or the machine kills.
    pub loop_deaths: u32,
    #[serde(rename = "loop_window_s", deserialize_with = "seconds")]
    pub loop_window_ms: Millis,
    /// Deaths within one spell of the machine's are one occasion when lives are weighed against each other.
    #[serde(rename = "spell_s", deserialize_with = "seconds")]
    pub spell_ms: Millis,
    /// How long parked lasts, and how long a settled life stays in safe mode before a normal one is tried.
    #[serde(rename = "parked_s", deserialize_with = "seconds")]
    pub parked_ms: Millis,
    /// Lives in a row without a blessing before the bottom rung is taken: breaks loops of loops.
    pub lives_unblessed: u32,
    /// Between two looks at the heartbeat file while nothing else is due.
    #[serde(rename = "look_s", deserialize_with = "seconds")]
    pub look_ms: Millis,
    /// Below this much free space a death is blamed on the disk. Mebibytes.
    pub disk_free_mib: u64,
    /// Above this size memory is moved aside between lives. Mebibytes.
    pub memory_mib: u64,
    /// Above this size the build folder is cleared before a build, looked at once an hour. Mebibytes.
    pub target_mib: u64,
    /// Processes and threads of the creature and its builds at once.
    #[serde(deserialize_with = "at_least::<_, 32>")]
    pub processes: u64,
    /// Private memory of one process: past it allocations fail. A linker at work takes the most. Mebibytes.
    #[serde(deserialize_with = "at_least::<_, 256>")]
    pub memory_per_process_mib: u64,
    /// Open files of one process.
    #[serde(deserialize_with = "at_least::<_, 64>")]
    pub open_files: u64,
    /// The largest file one process may write. Mebibytes.
    #[serde(deserialize_with = "at_least::<_, 16>")]
    pub file_mib: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            build_ms: 15 * 60_000,
            boot_ms: 30_000,
            beat_ms: 30_000,
            standstill_ms: 150 * 60_000,
            probation_ms: 30_000,
            grace_ms: 10_000,
            rest_ms: 1_000,
            rest_longest_ms: 5 * 60_000,
            tries: 3,
            loop_deaths: 3,
            loop_window_ms: 10 * 60_000,
            spell_ms: 60 * 60_000,
            parked_ms: 10 * 60_000,
            lives_unblessed: 28,
            look_ms: 1_000,
            disk_free_mib: 64,
            memory_mib: 4_096,
            target_mib: 10_240,
            processes: 1_024,
            memory_per_process_mib: 8_192,
            open_files: 4_096,
            file_mib: 4_096,
        }
    }
}

/// Rungs of the ladder, the bottom one counted.
pub const RUNGS: usize = 8;
/// Life logs kept. Beyond them the oldest go; what killed a life stands in `deaths.jsonl`.
pub const LIFE_LOGS: usize = 50;
/// Largest file that is committed or kept under a ref, in bytes: read whole, and git keeps it for ever. What is larger
/// makes way for `kept/`, unread.
pub const KEPT_FILE_BYTES: u64 = 64 << 20;
/// Files and folders that are committed or kept under a ref at once, and their bytes. A folder that holds more makes way
/// whole, unread; a commit of more is refused.
pub const KEPT_ENTRIES: usize = 250_000;
pub const KEPT_BYTES: u64 = 1 << 30;
/// Longest path of a name that is committed, from the root of the repository. Linux opens 4,095 bytes, macOS 1,023; the
/// rest is for where it is checked out.
pub const KEPT_PATH_BYTES: usize = 900;
/// Largest life log kept while it is written, in bytes; past it the log is emptied, its end kept aside.
pub const LIFE_LOG_BYTES: u64 = 64 << 20;
/// End of a log that goes into the evidence of a death, in bytes.
pub const LOG_TAIL_BYTES: u64 = 4_096;
/// Between two looks at the size of the build folder: a walk over some ten thousand files.
pub const TARGET_LOOK_MS: Millis = 60 * 60_000;
/// Largest document that is written to be read back by that measure, in bytes: room for what is added in between.
pub const DOCUMENT_BYTES: usize = 192 << 10;

fn seconds<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Millis, D::Error> {
    let seconds = f64::deserialize(source)?;
    if (0.0..=31_536_000.0).contains(&seconds) {
        Ok((seconds * 1_000.0) as Millis)
    } else {
        Err(serde::de::Error::custom("must be between 0 and 31536000 seconds"))
    }
}

/// Below it no cargo builds, so no creature lives.
fn at_least<'de, D: serde::Deserializer<'de>, const LEAST: u64>(source: D) -> Result<u64, D::Error> {
    let number = u64::deserialize(source)?;
    if number >= LEAST {
        Ok(number)
    } else {
        Err(serde::de::Error::custom(format_args!("must be at least {LEAST}")))
    }
}
