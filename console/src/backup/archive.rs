//! The archive of a backup: a gzipped tar of regular files, the last of them `SHA256SUMS` over all before it.
//!
//! Invariant: nothing is believed of an archive that is read: names, kinds, sizes and sums are judged before anything of it
//! counts, and memory stays bounded whatever it says.

use super::parts;
use anyhow::{Context, Result, bail, ensure};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use house::printable::hex;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use tar::{Archive, Builder, EntryType, Header};

/// Names of what is no file of the house: what the backup is of, the repository as git's own bundle, the sums.
pub const ABOUT: &str = "house.json";
pub const BUNDLE: &str = "repository.bundle";
pub const SUMS: &str = "SHA256SUMS";
/// Most files in an archive.
pub const MOST_FILES: usize = 200_000;
/// Most bytes of all names together.
const MOST_NAMES_BYTES: usize = 32 << 20;
/// Most bytes of the list of sums, and of a name that has an entry of its own before its file.
const MOST_SUMS_BYTES: u64 = 64 << 20;
const MOST_NAME_BYTES: u64 = 4_097;
/// Most bytes behind the last file: blocks of nothing.
const MOST_REST_BYTES: u64 = 1 << 20;

pub struct Writer {
    builder: Builder<GzEncoder<BufWriter<File>>>,
    sums: String,
    at_s: u64,
    pub files: usize,
    pub bytes: u64,
}

/// Reads on, and sums what was read.
struct Summed<'a> {
    from: &'a mut dyn Read,
    sum: Sha256,
    bytes: u64,
}

impl Read for Summed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.sum.update(buffer.get(..read).unwrap_or_default());
        self.bytes += read as u64;
        Ok(read)
    }
}

impl Writer {
    pub fn new(file: File, at_s: u64) -> Self {
        let builder = Builder::new(GzEncoder::new(BufWriter::new(file), Compression::fast()));
        Self { builder, sums: String::new(), at_s, files: 0, bytes: 0 }
    }

    /// Adds a file of exactly so many bytes.
    pub fn add(&mut self, path: &str, runs: bool, bytes: u64, from: &mut dyn Read) -> Result<()> {
        ensure!(self.files < MOST_FILES, "the house has more than {MOST_FILES} files to take along");
        let mut from = from.take(bytes);
        let mut summed = Summed { from: &mut from, sum: Sha256::new(), bytes: 0 };
        let mut header = self.header(runs, bytes);
        self.builder
            .append_data(&mut header, path, &mut summed)
            .with_context(|| format!("failed to take {path} along"))?;
        ensure!(summed.bytes == bytes, "{path} became shorter while it was copied");
        let sum = hex(&summed.sum.finalize());
        self.sums.push_str(&format!("{sum}  {path}\n"));
        (self.files, self.bytes) = (self.files + 1, self.bytes + bytes);
        Ok(())
    }

    fn header(&self, runs: bool, bytes: u64) -> Header {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(if runs { 0o700 } else { 0o600 });
        header.set_mtime(self.at_s);
        header.set_size(bytes);
        header
    }

    /// Writes the sums and the end, onto the disk.
    pub fn finish(mut self) -> Result<()> {
        let sums = std::mem::take(&mut self.sums);
        let mut header = self.header(false, sums.len() as u64);
        self.builder.append_data(&mut header, SUMS, sums.as_bytes())?;
        let file = self.builder.into_inner()?.finish()?.into_inner().map_err(|error| error.into_error())?;
        Ok(file.sync_all()?)
    }
}

/// Contents of an archive that was read.
#[derive(Debug, Default)]
pub struct Held {
    pub files: usize,
    pub bytes: u64,
}

/// Reads an archive whole, each file handed to `each` as it comes; fails unless all of it is as its sums say. What `each` was
/// given counts only once this has returned.
pub fn read(
    file: &mut File,
    most_bytes: u64,
    mut each: impl FnMut(&str, bool, &mut dyn Read) -> Result<()>,
) -> Result<Held> {
    file.seek(SeekFrom::Start(0))?;
    let mut archive = Archive::new(GzDecoder::new(BufReader::new(file)));
    let (mut found, mut sums, mut name) = (BTreeMap::new(), None, None::<String>);
    let (mut told, mut names) = (Held::default(), 0_usize);
    for entry in archive.entries()?.raw(true) {
        let mut entry = entry.context("it is no backup, or it is cut off or damaged")?;
        let bytes = entry.header().entry_size()?;
        if entry.header().entry_type() == EntryType::GNULongName {
            ensure!(bytes <= MOST_NAME_BYTES && name.is_none(), "a name in it is too long");
            let mut text = Vec::new();
            entry.read_to_end(&mut text)?;
            text.truncate(text.iter().position(|byte| *byte == 0).unwrap_or(text.len()));
            name = Some(String::from_utf8(text).context("a name in it is no text")?);
            continue;
        }
        let path = match name.take() {
            Some(name) => name,
            None => String::from_utf8(entry.header().path_bytes().into_owned())
                .context("a name in it is no text")?,
        };
        ensure!(sums.is_none(), "there is more behind its sums");
        ensure!(entry.header().entry_type() == EntryType::Regular, "{path:?} in it is no regular file");
        if path == SUMS {
            ensure!(bytes <= MOST_SUMS_BYTES, "its list of sums is too long");
            let mut text = String::new();
            entry.read_to_string(&mut text)?;
            sums = Some(text);
            continue;
        }
        judge(&path)?;
        ensure!(!found.contains_key(&path), "{path} is in it twice");
        names += path.len();
        ensure!(names <= MOST_NAMES_BYTES, "its names alone are more than {} MiB", MOST_NAMES_BYTES >> 20);
        told.bytes = told.bytes.saturating_add(bytes);
        ensure!(
            told.bytes <= most_bytes,
            "it holds more than there is room for here, {} MiB",
            most_bytes >> 20
        );
        told.files += 1;
        ensure!(told.files <= MOST_FILES, "it holds more than {MOST_FILES} files");
        let runs = entry.header().mode()? & 0o100 != 0;
        let mut summed = Summed { from: &mut entry, sum: Sha256::new(), bytes: 0 };
        each(&path, runs, &mut summed)?;
        std::io::copy(&mut summed, &mut std::io::sink()).context("it is cut off or damaged")?;
        ensure!(summed.bytes == bytes, "it is cut off in {path}");
        let sum = hex(&summed.sum.finalize());
        found.insert(path, sum);
    }
    // To the end of the file, whose own sum stands there.
    let rest = std::io::copy(&mut archive.into_inner().take(MOST_REST_BYTES), &mut std::io::sink());
    ensure!(rest.context("it is cut off or damaged")? < MOST_REST_BYTES, "there is more behind its end");
    compare(&found, &sums.context("it has no sums: it is no backup, or it is cut off")?)?;
    Ok(told)
}

fn judge(path: &str) -> Result<()> {
    let ours = [ABOUT, BUNDLE].contains(&path) || parts::part(path) != parts::Part::Leave;
    if !parts::is_sound(path) {
        bail!("{path:?} in it is no path below a house");
    }
    ensure!(!parts::is_folder(path), "{path:?} in it is a folder of every house, and no file");
    ensure!(ours, "{path:?} in it belongs to no backup that this program makes");
    Ok(())
}

fn compare(found: &BTreeMap<String, String>, sums: &str) -> Result<()> {
    let mut named = 0;
    for line in sums.lines() {
        let (sum, path) = line.split_once("  ").context("its list of sums cannot be read")?;
        let there = found.get(path).with_context(|| format!("{path} is missing from it"))?;
        ensure!(there == sum, "{path} in it is damaged: its sum is another");
        named += 1;
    }
    ensure!(named == found.len(), "it holds files that its sums do not name");
    Ok(())
}

/// Copies everything into a file that has no name, and goes back to its beginning: what may change meanwhile is copied first.
pub fn spooled(from: &mut dyn Read, mut into: File, most: u64) -> Result<(File, u64)> {
    into.set_len(0)?;
    into.seek(SeekFrom::Start(0))?;
    let bytes = std::io::copy(&mut from.take(most), &mut into)?;
    into.flush()?;
    into.seek(SeekFrom::Start(0))?;
    Ok((into, bytes))
}
