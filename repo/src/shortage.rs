//! Whether an error, libgit2's included, means that the system is short of something.

use house::files;

/// Whether an error of any kind means a shortage, so that the same step may succeed later. libgit2 reports system
/// errors only as text.
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
