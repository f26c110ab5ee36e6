//! On a kernel without `openat2` folders are opened step by step: nothing leads out, and no link is followed.

use house::openat::Folder;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use trials::machines::conditions;

/// What is found of a path below `root`, with and without that call.
fn found(root: &Path, path: &str) -> [Result<String, ()>; 2] {
    let look = |root: &Path, path: &str| {
        let folder = Folder::open(root).unwrap().folder(Path::new(path)).map_err(drop)?;
        fs::read_to_string(folder.at("name")).map_err(drop)
    };
    let without = std::thread::scope(|scope| {
        let without = scope.spawn(|| {
            // The filter is this thread's alone.
            conditions::refuse_here(&[libc::SYS_openat2], libc::ENOSYS);
            look(root, path)
        });
        without.join().unwrap()
    });
    [look(root, path), without]
}

/// Found: without that call a start refused over edits that nobody had made.
#[test]
fn a_path_leads_to_the_same_folder_without_openat2_and_never_out() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("root");
    for folder in ["", "a", "a/b"] {
        fs::create_dir_all(root.join(folder)).unwrap();
        fs::write(root.join(folder).join("name"), format!("root/{folder}")).unwrap();
    }
    fs::create_dir(place.path().join("out")).unwrap();
    fs::write(place.path().join("out/name"), "out").unwrap();
    symlink("a", root.join("to_a")).unwrap();
    symlink("../out", root.join("to_out")).unwrap();
    symlink(place.path().join("out"), root.join("a/to_out")).unwrap();
    let out = place.path().join("out").display().to_string();
    for path in ["", ".", "a", "a/b", "a/./b", "./a"] {
        let expected = Ok(format!("root/{}", path.replace("./", "").trim_matches('.')));
        assert_eq!(found(&root, path), [expected.clone(), expected], "{path:?}");
    }
    for path in ["..", "../out", "a/../../out", "to_a", "to_a/b", "to_out", "a/to_out", "name", "none", &out]
    {
        assert_eq!(found(&root, path), [Err(()), Err(())], "{path:?}");
    }
}

#[test]
fn a_disk_that_is_mounted_within_is_no_folder_of_its_own_without_openat2() {
    let root = Path::new("/");
    for without in [false, true] {
        let looked = std::thread::spawn(move || {
            if without {
                conditions::refuse_here(&[libc::SYS_openat2], libc::ENOSYS);
            }
            let root = Folder::open(root).unwrap();
            let [proc, usr] = ["proc", "usr"].map(|name| root.inner(name.as_ref()).is_ok());
            (proc, usr)
        });
        assert!(!looked.join().unwrap().0, "without: {without}");
    }
}
