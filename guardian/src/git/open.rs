//! Opens the house's repository, or says what in it libgit2 does not know and what ends that.

use anyhow::Result;
use git2::Repository;
use house::House;

/// Extensions of a repository that libgit2 does not know, and what ends them (git's repository-version and `git refs`).
const REMEDIES: [(&str, &str); 3] = [
    (
        "extensions.refstorage",
        "`git refs migrate --ref-format=files` in the house turns it back; nothing is lost",
    ),
    (
        "extensions.compatobjectformat",
        "`git config --unset extensions.compatObjectFormat` in the house turns it off",
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
    }
    Repository::open(house.root()).map_err(|error| unopened(house, &error))
}

/// Why a repository cannot be opened, and what to do about it.
fn unopened(house: &House, error: &git2::Error) -> anyhow::Error {
    let place = house.root().display();
    let told = error.message().to_lowercase();
    let remedy = REMEDIES.iter().find(|(extension, _)| told.contains(extension));
    let then = remedy.map_or(String::new(), |(_, remedy)| format!("; {remedy}"));
    anyhow::anyhow!("failed to open the git repository at {place}: {}{then}", error.message())
}
