//! What the guardian takes of `owner.toml`; which mistakes there are is the house's to test.

use guardian::limits::Limits;
use guardian::settings::{self, Settings};
use walls::Choice;

#[test]
fn what_is_valid_is_taken() {
    assert_eq!(settings::read("").unwrap(), Settings::default());
    let text = "walls = \"required\"\ntaint = \"allow\"\n[limits]\nbeat_s = 3\nprocesses = 64\nfile_mib = 16\n\
                [sandbox]\nread = [\"/opt/tools\"]\n[rest]\nlongest_s = 9999999\n[self_edit]\nbuild_s = 1\n";
    let settings = settings::read(text).unwrap();
    assert_eq!((settings.walls, settings.sandbox.read.len()), (Choice::Required, 1));
    assert_eq!(settings.limits, Limits { beat_ms: 3_000, processes: 64, file_mib: 16, ..Limits::default() });
}
