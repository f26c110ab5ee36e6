//! Opens the house's repository, or says what in it libgit2 does not know and what ends that.

use anyhow::Result;
use git2::{ConfigLevel, Repository};
use house::House;
use nix::errno::Errno;
use nix::unistd::{AccessFlags, access};

/// Extensions of a repository that libgit2 does not know, and their remedies (git's repository-version and `git refs`).
const REMEDIES: [(&str, &str); 4] = [
    (
        "extensions.refstorage",
        "`git refs migrate --ref-format=files` in the house turns it back, where no other work tree hangs on the \
         repository; nothing is lost",
    ),
    (
        "extensions.compatobjectformat",
        "`git config --unset extensions.compatObjectFormat` in the house turns it off",
    ),
    (
        "object format",
        "its names are SHA-256; in the house, `git init -q -b \"$(git branch --show-current)\" --object-format=sha1 ../as-sha1 && git fast-export --all | \
         git -C ../as-sha1 fast-import --quiet && git -C ../as-sha1 reset -q --hard` makes the same house with SHA-1",
    ),
    ("extensions.", "clone the house anew by a plain `git clone`"),
];

/// Opens the house's repository as libgit2 is set up for it.
pub fn opened(house: &House) -> Result<Repository> {
    // The owner may keep the repository under another user; refusing it would protect nothing.
    #[allow(unsafe_code)]
    // SAFETY: called before any other use of libgit2, which no other thread makes.
    unsafe {
        git2::opts::set_verify_owner_validation(false)?;
        libgit2_sys::git_libgit2_opts(libgit2_sys::GIT_OPT_ENABLE_FSYNC_GITDIR as libc::c_int, 1);
        // A partial clone lacks old contents, which nothing here reads: those of HEAD were fetched to check it out.
        git2::opts::set_extensions(&["partialclone"])?;
        // Git passes over settings in a home it may not look into, as after `sudo -u` or under a service; libgit2 gives up.
        if !std::env::home_dir().is_some_and(|home| access(&home, AccessFlags::X_OK) != Err(Errno::EACCES)) {
            for of_home in [ConfigLevel::Global, ConfigLevel::XDG] {
                git2::opts::set_search_path(of_home, "")?;
            }
        }
    }
    Repository::open(house.root()).map_err(|error| unopened(house, &error))
}

/// Kinds of index that libgit2 does not know, and their remedies (gitformat-index(5), `link` and `sdir`).
const INDEXES: [(&str, &str); 2] = [
    ("'link'", "git config core.splitIndex false && git update-index --no-split-index"),
    ("'sdir'", "git sparse-checkout reapply --no-sparse-index"),
];

/// Why git's index cannot be brought along with the house's commits: the owner's next one would then undo them.
pub fn unread_index(git: &Repository) -> Option<String> {
    let error = git.index().and_then(|mut index| index.read(true)).err()?;
    let (_, remedy) = INDEXES.iter().find(|(kind, _)| error.message().contains(kind))?;
    Some(format!(
        "git's index is of a kind that cannot be kept in step: {}; `{remedy}` ends that",
        error.message()
    ))
}

/// Why a repository cannot be opened, and what to do about it.
fn unopened(house: &House, error: &git2::Error) -> anyhow::Error {
    let place = house.root().display();
    let told = error.message().to_lowercase();
    let remedy = REMEDIES.iter().find(|(extension, _)| told.contains(extension));
    let then = remedy.map_or(String::new(), |(_, remedy)| format!("; {remedy}"));
    anyhow::anyhow!("failed to open the git repository at {place}: {}{then}", error.message())
}
