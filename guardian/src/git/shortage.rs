//! Whether what failed, git's library included, failed because the system is short of something.

use house::files;

/// Whether the system is short of something, of an error of any kind: what failed may do later as it is. Git's library has the system's errors as words alone.
pub fn is_of_shortage(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let words = |code: &i32| {
            let words = std::io::Error::from_raw_os_error(*code).to_string();
            words.split(" (os error").next().is_some_and(|words| cause.to_string().contains(words))
        };
        match cause.downcast_ref::<std::io::Error>() {
            Some(error) => files::is_short(error),
            None => cause.is::<git2::Error>() && files::SHORTAGES.iter().any(words),
        }
    })
}
