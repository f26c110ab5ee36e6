//! Records from the newest back to the first, through every file that was moved aside; in blocks, never a file whole.

use house::records::LONGEST_LINE;
use std::collections::VecDeque;
use std::fs::File;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Bytes read at once; more where a line is longer.
const BLOCK_BYTES: u64 = 256 << 10;

/// A place before which to go on: the name of a file in the folder of state, and bytes from its beginning.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub file: String,
    pub at: u64,
}

impl Place {
    /// `memory.jsonl:123`.
    pub fn parse(text: &str) -> Option<Self> {
        let (file, at) = text.rsplit_once(':')?;
        Some(Self { file: file.to_owned(), at: at.parse().ok()? })
    }

    pub fn told(&self) -> String {
        format!("{}:{}", self.file, self.at)
    }
}

/// A line on the way back, and where it stands.
pub struct Line<'a> {
    pub file: &'a str,
    pub at: u64,
    pub bytes: &'a [u8],
}

/// A file's name, in its folder.
fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Passes the lines of these files, the newest first, from before a place on, until `take` breaks off or `most` bytes
/// were read. Blocks that are not `wanted` are passed over whole. Returns where to go on; `None` at the first line.
pub fn lines(
    files: Vec<PathBuf>,
    before: Option<&Place>,
    most: u64,
    wanted: impl Fn(&[u8]) -> bool,
    mut take: impl FnMut(&Line) -> ControlFlow<()>,
) -> Option<Place> {
    let mut files: VecDeque<PathBuf> = files.into();
    if let Some(before) = before {
        // A memory that was moved aside since is found by the next of its name.
        while files.len() > 1 && files.front().is_some_and(|path| name(path) != before.file) {
            files.pop_front();
        }
    }
    let (mut room, mut before) = (most, before.cloned());
    while let Some(path) = files.pop_front() {
        let file = name(&path);
        let Ok(Some(open)) = house::files::open(&path) else { continue };
        let bytes = open.metadata().map_or(0, |meta| meta.len());
        let mut end = before.take().filter(|it| it.file == file).map_or(bytes, |it| it.at.min(bytes));
        while end > 0 {
            if room == 0 {
                return Some(Place { file, at: end });
            }
            let Some((start, block)) = block(&open, end) else { break };
            room = room.saturating_sub(end - start);
            if wanted(&block)
                && let Some(at) = back(&file, start, &block, &mut take)
            {
                return Some(Place { file, at });
            }
            end = start;
        }
    }
    None
}

/// Whole lines that end at `end`, and where the first of them begins. Of a line that is too long, nothing.
fn block(file: &File, end: u64) -> Option<(u64, Vec<u8>)> {
    let mut reach = BLOCK_BYTES;
    loop {
        let start = end.saturating_sub(reach);
        let mut bytes = vec![0; usize::try_from(end - start).ok()?];
        file.read_exact_at(&mut bytes, start).ok()?;
        if start == 0 {
            return Some((0, bytes));
        }
        // The line that ends here may end with a newline, which begins none.
        let within = bytes.len().saturating_sub(1);
        let first = bytes.get(..within).and_then(|bytes| memchr::memchr(b'\n', bytes));
        match first {
            Some(newline) => {
                let from = newline + 1;
                return Some((start + from as u64, bytes.split_off(from)));
            }
            None if reach > LONGEST_LINE as u64 => return Some((start, Vec::new())),
            None => reach *= 4,
        }
    }
}

/// Takes the lines of a block from its end; where it was broken off.
fn back(
    file: &str,
    start: u64,
    block: &[u8],
    take: &mut impl FnMut(&Line) -> ControlFlow<()>,
) -> Option<u64> {
    let mut end = block.len();
    while end > 0 {
        let before = block.get(..end - 1).unwrap_or_default();
        let from = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let bytes = block.get(from..end).unwrap_or_default();
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let at = start + from as u64;
        if !bytes.is_empty() && take(&Line { file, at, bytes }).is_break() {
            return Some(at);
        }
        end = from;
    }
    None
}
