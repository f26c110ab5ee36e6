//! The guardian's sections of `owner.toml`: its limits, and what the owner adds to the walls.

use super::forms::Form;
use super::key::Shape::{Amount, Count, List, Text};
use super::key::{Shape, WITHOUT_END, section};
use crate::clock::Millis;
use std::path::PathBuf;

const SECONDS: Shape = Amount(0.0, 31_536_000.0);
const NUMBER: Shape = Count(0, WITHOUT_END);
const SMALL: Shape = Count(0, u32::MAX as u64);

section! {
    /// Every number the guardian lives by that the owner may change.
    Limits {
        /// seconds a build may take, and the tests that run beside a newborn; past it a build is the code's fault
        build_ms("build_s", with seconds): Millis = 15 * 60_000, SECONDS;
        /// seconds from start to the first heartbeat
        boot_ms("boot_s", with seconds): Millis = 30_000, SECONDS;
        /// seconds of silence that mean hung
        beat_ms("beat_s", with seconds): Millis = 30_000, SECONDS;
        /// seconds of silence that mean hung, of the program of your [channels](channels.md)
        channels_beat_ms("channels_beat_s", with seconds): Millis = 120_000, SECONDS;
        /// seconds of beating without a finished turn that mean hung: the longest rest and the longest stage fit
        standstill_ms("standstill_s", with seconds): Millis = 150 * 60_000, SECONDS;
        /// seconds a commit must live, and think once, before it is trusted; a self-edit's long tests must have
        /// passed as well
        probation_ms("probation_s", with seconds): Millis = 30_000, SECONDS;
        /// seconds between SIGTERM and SIGKILL: time to finish a line of memory
        grace_ms("grace_s", with seconds): Millis = 10_000, SECONDS;
        /// seconds of the first rest after a death; doubles to `rest_longest_s`, reset only by a settled life
        rest_ms("rest_s", with seconds): Millis = 1_000, SECONDS;
        /// seconds of the longest rest after a death
        rest_longest_ms("rest_longest_s", with seconds): Millis = 5 * 60_000, SECONDS;
        /// lives a commit has to earn its trust
        tries: u32 = 3, SMALL;
        /// so many deaths of a trusted commit within `loop_window_s`: put back; three times as many in three times as
        /// long once it has shown that it lives
        loop_deaths: u32 = 3, SMALL;
        /// seconds in which `loop_deaths` make a crash loop
        loop_window_ms("loop_window_s", with seconds): Millis = 10 * 60_000, SECONDS;
        /// seconds after a death in which further ones count as the same, when a commit's deaths are weighed against
        /// how long those before it lived
        spell_ms("spell_s", with seconds): Millis = 60 * 60_000, SECONDS;
        /// seconds between tries when nothing lives any more, and of a settled life in safe mode before a normal one
        /// is tried
        parked_ms("parked_s", with seconds): Millis = 10 * 60_000, SECONDS;
        /// lives in a row without trust, whatever the cause: back to the first commit
        lives_unblessed: u32 = 28, SMALL;
        /// seconds between looks at the heartbeat
        look_ms("look_s", with seconds): Millis = 1_000, SECONDS;
        /// MiB free below which a death is blamed on the disk
        disk_free_mib: u64 = 64, NUMBER;
        /// MiB above which `.self/memory.jsonl` is moved aside between lives
        memory_mib: u64 = 4_096, NUMBER;
        /// MiB above which `target/creature` is cleared before a build; kept binaries lie elsewhere
        target_mib: u64 = 10_240, NUMBER;
        /// loose objects in git from which on they are packed; nothing is pruned, and `gc.auto = 0` in git's own settings
        /// keeps them as they are
        git_loose: u64 = 2_048, Count(1, WITHOUT_END);
        /// seconds between looks at how many there are, and how many packs and refs
        git_small_ms("git_small_s", with seconds): Millis = 6 * 60 * 60_000, SECONDS;
        /// processes and threads of the creature and its builds at once; with fewer no cargo builds
        processes: u64 = 1_024, Count(32, WITHOUT_END);
        /// MiB of memory of its own that one process may take; shared memory (`MAP_SHARED`, `memfd_create`) is not counted, see [walls](walls.md#boundaries); a linker takes the most
        memory_per_process_mib: u64 = 8_192, Count(256, WITHOUT_END);
        /// files one process may have open
        open_files: u64 = 4_096, Count(64, WITHOUT_END);
        /// MiB of the largest file one process may write
        file_mib: u64 = 4_096, Count(16, WITHOUT_END);
    }
}

section! {
    /// The owner's additions to the walls' rules.
    Sandbox {
        /// folders the creature may read and run programs from, beyond its house and the system; absolute
        read: Vec<PathBuf> = vec![], List(&Text(Form::Folder));
    }
}
