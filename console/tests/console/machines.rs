//! Machines as their owners have them: each of the table is a test, by its name.

use trials::machines;

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
