//! What is no backup, and a restore that is killed: neither harms the house that is there.

use crate::copied::{backed_up, both, held, lived_in, restored};
use flate2::write::GzEncoder;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;
use tar::{Builder, EntryType, Header};

/// The same archive with entries added by `more`, its sums made to fit.
fn forged(file: &Path, name: &str, more: impl Fn(&mut Builder<GzEncoder<fs::File>>)) -> PathBuf {
    let to = file.with_file_name(name);
    let mut builder =
        Builder::new(GzEncoder::new(fs::File::create(&to).unwrap(), flate2::Compression::fast()));
    let held = held(file);
    for (path, bytes) in held.iter().filter(|(path, _)| *path != "SHA256SUMS") {
        put(&mut builder, path, EntryType::Regular, bytes, bytes.len() as u64);
    }
    more(&mut builder);
    let sums = &held["SHA256SUMS"];
    put(&mut builder, "SHA256SUMS", EntryType::Regular, sums, sums.len() as u64);
    builder.into_inner().unwrap().finish().unwrap().flush().unwrap();
    to
}

/// An entry as it says of itself, whatever the library thinks of the name.
fn put(builder: &mut Builder<GzEncoder<fs::File>>, path: &str, kind: EntryType, bytes: &[u8], says: u64) {
    let mut header = Header::new_gnu();
    header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(0o600);
    header.set_size(says);
    if matches!(kind, EntryType::Symlink | EntryType::Link) {
        header.set_link_name("/etc/passwd").unwrap();
    }
    header.set_cksum();
    builder.append(&header, bytes).unwrap();
}

#[test]
fn a_hostile_or_damaged_archive_is_refused_before_anything_is_touched() {
    let house = lived_in();
    let file = backed_up(&house, "copy.tar.gz", &[]);
    let regular = EntryType::Regular;
    let cases: [(&str, &str, EntryType); 9] = [
        ("up", ".self/workspace/../../../../stolen", regular),
        ("root", "/tmp/stolen", regular),
        ("git", ".git/hooks/post-checkout", regular),
        ("code", "guardian/src/main.rs", regular),
        ("link", ".self/workspace/link", EntryType::Symlink),
        ("hard", ".self/workspace/hard", EntryType::Link),
        ("device", ".self/workspace/device", EntryType::Char),
        ("pipe", ".self/workspace/pipe", EntryType::Fifo),
        ("unsummed", ".self/workspace/more", regular),
    ];
    let mut files: Vec<PathBuf> = cases
        .iter()
        .map(|(name, path, kind)| forged(&file, name, |builder| put(builder, path, *kind, b"", 0)))
        .collect();
    // A name that would fill the memory, a size that would fill the disk, a file twice.
    let long = vec![b'a'; 1 << 20];
    files.push(forged(&file, "long", |builder| {
        put(builder, "././@LongLink", EntryType::GNULongName, &long, 1 << 20)
    }));
    files.push(forged(&file, "large", |builder| {
        put(builder, ".self/workspace/large", regular, b"few", 1 << 50)
    }));
    files.push(forged(&file, "twice", |builder| put(builder, ".self/memory.jsonl", regular, b"{}\n", 3)));
    // Cut off, and one bit flipped in each of many places.
    let bytes = fs::read(&file).unwrap();
    for (name, bytes) in [("cut", &bytes[..bytes.len() / 2]), ("empty", &bytes[..0])] {
        files.push(file.with_file_name(name));
        fs::write(files.last().unwrap(), bytes).unwrap();
    }
    let unpacked = |bytes: &[u8]| {
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(bytes).read_to_end(&mut text).map(|_| text).ok()
    };
    for at in (40..bytes.len() - 8).step_by(bytes.len() / 12) {
        let whole = &bytes;
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x10;
        // Found: a bit of the packing that stands for nothing, as the code of a letter that does not occur.
        if unpacked(&bytes) == unpacked(whole) {
            continue;
        }
        files.push(file.with_file_name(format!("flipped-{at}")));
        fs::write(files.last().unwrap(), bytes).unwrap();
    }
    let before =
        (house.git(&["rev-parse", "HEAD"]), house.read(".self/memory.jsonl"), house.read("self/diary.md"));
    for file in &files {
        let output = restored(&house, file);
        assert_eq!(output.status.code(), Some(1), "{}: {}", file.display(), both(&output));
        assert!(both(&output).contains("nothing of it was put in place"), "{}", both(&output));
        assert!(!house.path(".self/guardian/restore").exists(), "{}", file.display());
    }
    let after =
        (house.git(&["rev-parse", "HEAD"]), house.read(".self/memory.jsonl"), house.read("self/diary.md"));
    assert_eq!(before, after);
    assert!(!house.folder.path().join("stolen").exists());
}

/// Killed at moments spread over all of it, a restore leaves the house of before or the one of the backup, which lives.
#[test]
fn a_restore_that_is_killed_leaves_the_old_house_or_the_new_one() {
    const STEPS: u32 = 24;
    let house = lived_in();
    let file = backed_up(&house, "copy.tar.gz", &[]);
    let (old, new) = ("a later page\n", "what it wrote, not committed\n");
    let begin = || {
        house.write("self/diary.md", old);
        house.write(".self/workspace/later", "made later");
        let mut command = house.command(&["restore", file.to_str().unwrap()]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let began = Instant::now();
    assert!(begin().wait().unwrap().success());
    let whole = began.elapsed();
    for step in 0..=STEPS {
        let mut child = begin();
        if step < STEPS {
            // Not a wait for something: where it is killed is the point.
            std::thread::sleep(whole * step / (STEPS - 4));
            let _ = child.kill();
        }
        child.wait().unwrap();
        let decided = house.path(".self/guardian/restore/plan.json").exists();
        let diary = house.read("self/diary.md");
        assert!(decided || diary == new || diary == old, "{diary:?} at step {step}");
        let expected = if decided || diary == new { new } else { old };
        assert!(step < STEPS || expected == new && !decided, "the last one was let finish");
        let guardian = house.start();
        house.until(&format!("a life after a kill at step {step}"), || {
            house.status()["guardian_pid"] == guardian.pid() && house.status()["creature_pid"].is_number()
        });
        assert_eq!(guardian.stop(), 0);
        assert_eq!(house.read("self/diary.md"), expected, "step {step}, decided {decided}");
        assert_eq!(
            house.path(".self/workspace/later").exists(),
            expected == old,
            "step {step}, decided {decided}"
        );
        assert!(!house.path(".self/guardian/restore/plan.json").exists());
    }
}
