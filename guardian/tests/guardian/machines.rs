//! Machines as their owners have them: each of the table is a test, by its name.

use guardian::act::made::Made;
use std::fs;
use trials::{House, SOUND, machines};

/// A test for each, that holds the machine of its name.
macro_rules! each {
    ($($name:ident)*) => { $(#[test] fn $name() { machines::hold(stringify!($name)); })* };
}

/// The same names as data.
macro_rules! names {
    ($($name:ident)*) => { &[$(stringify!($name)),*] };
}

macro_rules! machines {
    ($take:ident) => {
        $take! {
            nohup
            umask_000
            two_work_trees
            bare_environment
            split_index
            split_index_meanwhile
            sparse_index
            sparse_checkout
            shallow_clone
            partial_clone
            reftable
            sha256
            signing_without_a_key
            hooks_that_refuse
            submodule
            loose_objects
            target_noexec
            state_noexec
            house_read_only
            house_of_another
            no_temporary_folder
            home_unset
            home_read_only
            home_closed
            no_inodes
            quota
            fake_ip
            docker_root
            docker_user
            namespaces_by_name_only
            no_landlock_no_namespaces
            no_landlock_no_namespaces_root
            landlock_filtered
            cargo_configuration_above
            build_dir
            flags_in_the_environment
            linker_missing
            linker_elsewhere
            vendored
            offline
            toolchain_changes
        }
    };
}

machines!(each);

const TESTED: &[&str] = machines!(names);

#[test]
fn every_machine_of_the_table_is_tested() {
    assert_eq!(machines::all().map(|machine| machine.name).collect::<Vec<_>>(), TESTED);
}

/// Found: with `CARGO_TARGET_DIR` set or a triple configured, no broker was ever built.
#[test]
fn a_program_is_known_by_its_sources_wherever_it_was_built() {
    let house = House::new(SOUND);
    let at = tempfile::tempdir().unwrap();
    let here = house::House::new(&house.root);
    let program = |folder: &str, sources: &str| {
        let folder = at.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        let program = folder.join("guardian");
        fs::write(program.with_extension("d"), format!("{}: {sources}\n", program.display())).unwrap();
        program
    };
    fs::write(at.path().join(".rustc_info.json"), "{}").unwrap();
    let ours = house.root.join("guardian/src/main.rs").display().to_string();
    let made = Made::of(&here, &program("debug", &ours)).unwrap();
    assert_eq!((made.profile.as_str(), made.target.as_path(), made.triple), ("dev", at.path(), None));
    let made = Made::of(&here, &program("riscv64-a-triple/release", &ours)).unwrap();
    assert_eq!((made.profile.as_str(), made.target.as_path()), ("release", at.path()));
    assert!(
        made.args("broker").join(" ").ends_with("--target riscv64-a-triple"),
        "{:?}",
        made.args("broker")
    );
    assert_eq!(Made::of(&here, &program("other", "/elsewhere/guardian/src/main.rs")), None);
}
