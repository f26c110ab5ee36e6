//! How names are resolved: what the doctor says of it. What the broker does then stands in its own tests.

use super::conditions::{Condition, Mount};
use super::{Ends, Machine, Seen, line, not_here, said};
use crate::{House, SOUND};
use std::fs;

pub const MACHINES: &[Machine] = &[Machine::new(
    "fake_ip",
    "every name resolves to 198.18.0.0/15 (fake-IP DNS, as Clash has it)",
    Ends::Waits,
    fake_ip,
)];

/// Found: pages, services and search were refused as private, and the doctor was silent.
fn fake_ip() -> Seen {
    let hosts = tempfile::NamedTempFile::new().unwrap();
    fs::write(hosts.path(), "127.0.0.1 localhost\n198.18.0.5 index.crates.io\n").unwrap();
    let condition = Condition {
        mounts: vec![Mount::Other(hosts.path().to_owned(), "/etc/hosts".into())],
        ..Condition::default()
    };
    if !condition.can_be_made() {
        return not_here("no mounts of a process's own can be made here");
    }
    let house = House::new(SOUND);
    let doctor = || said(&condition.command(&house, &["doctor"]).output().unwrap());
    let told = doctor();
    let seen = line(&told, &["odd", "names", "198.18.0.5", "fake-IP DNS", "refused"]);
    line(&told, &["fake_ip = true under [dns] in owner.toml"]);
    house.settings("[dns]\nfake_ip = true");
    line(&doctor(), &["ok", "names", "let through by [dns] fake_ip"]);
    let guardian = house.start_by(condition.command(&house, &[]));
    house.until("a blessing", || house.status()["blessed"] == true);
    guardian.stop();
    Seen::So(seen)
}
