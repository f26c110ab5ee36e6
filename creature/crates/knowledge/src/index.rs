//! The index file: an SQLite database whose tables are rebuilt rather than mended.
//!
//! Papers are few and kept whole; of records only the words and the place are kept: the number of a row is made of
//! the number of its log and its offset in it, so that the newest come first without sorting.

use crate::{Error, SearchPaths};
use ground::files;
use rusqlite::{Connection, OpenFlags};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

/// The version of the tables below; an index of another version is built anew.
const VERSION: i64 = 1;

const TABLES: &str = "
    CREATE TABLE files (number INTEGER PRIMARY KEY, kind TEXT, path TEXT UNIQUE, stamp TEXT);
    CREATE VIRTUAL TABLE papers USING fts5(text, tokenize = 'porter unicode61 remove_diacritics 2');
    CREATE TABLE logs (number INTEGER PRIMARY KEY, head BLOB UNIQUE, low INTEGER, high INTEGER);
    CREATE VIRTUAL TABLE records USING fts5(text, content = '', columnsize = 0,
        tokenize = 'porter unicode61 remove_diacritics 2');";

/// An open index.
pub(crate) struct Index {
    pub(crate) database: Connection,
}

impl Index {
    /// Opens the index, or makes an empty one.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::file("create", folder))?;
        }
        clear(path)?;
        let flags = OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut database = Connection::open_with_flags(path, flags)?;
        database.busy_timeout(Duration::from_secs(5))?;
        // A journal beside the file, no shared memory, no temporary folder: only the folder of the index is ours.
        database.execute_batch(
            "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;
             PRAGMA cache_size = -16000;",
        )?;
        match database.pragma_query_value(None, "user_version", |row| row.get(0))? {
            VERSION => {}
            0 => {
                let making = database.transaction()?;
                making.execute_batch(TABLES)?;
                making.pragma_update(None, "user_version", VERSION)?;
                making.commit()?;
            }
            _ => return Err(Error::Stale),
        }
        Ok(Self { database })
    }

    /// Indexes what changed; returns how many bytes of records still wait.
    pub(crate) fn catch_up(&mut self, paths: &SearchPaths, most_bytes: u64) -> Result<u64, Error> {
        self.take_papers(paths)?;
        self.take_records(paths, most_bytes)
    }
}

/// Moves aside what is no file in the place of the index or of a file beside it: SQLite would wait on a pipe.
fn clear(path: &Path) -> Result<(), Error> {
    for ending in ["", "-journal", "-wal", "-shm"] {
        let file = path.with_extension(format!("sqlite{ending}"));
        if fs::symlink_metadata(&file).is_ok_and(|found| !found.is_file()) {
            let aside = path.with_extension(format!("garbage.sqlite{ending}"));
            let _ = files::remove(&aside);
            fs::rename(&file, aside).map_err(Error::file("set aside", &file))?;
        }
    }
    Ok(())
}

/// Renames an index that cannot be used to `*.garbage.sqlite`; only the last such index is kept.
pub(crate) fn set_aside(path: &Path) -> Result<(), Error> {
    let journal = path.with_extension("sqlite-journal");
    if let Err(error) = fs::remove_file(&journal)
        && error.kind() != ErrorKind::NotFound
    {
        return Err(Error::file("remove", &journal)(error));
    }
    fs::rename(path, path.with_extension("garbage.sqlite")).map_err(Error::file("set aside", path))
}
