//! A small disk of a test's own: frozen, or with few inodes.

use std::fs::File;
use std::io::Read;
use std::process::{Child, Command, Stdio};

/// A small disk that is thawed and taken away however the test ends.
pub struct Disk {
    folder: tempfile::TempDir,
    /// Holds the disk frozen until this process lets go of it, or ends in whatever way.
    freezer: Option<Child>,
}

impl Disk {
    /// Nothing where no such disk can be had: not root, or no loop device.
    pub fn new(options: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("image");
        File::create(&image).unwrap().set_len(96 << 20).unwrap();
        std::fs::create_dir(folder.path().join("at")).unwrap();
        let done = |program: &str, args: &[&str]| {
            let output = Command::new(program).args(args).current_dir(folder.path()).output();
            output.is_ok_and(|output| output.status.success())
        };
        let made = done("mkfs.ext4", &[options, &["-q", "image"]].concat())
            && done("mount", &["-o", "loop", "image", "at"]);
        made.then_some(Self { folder, freezer: None })
    }

    pub fn at(&self) -> std::path::PathBuf {
        self.folder.path().join("at")
    }

    pub fn freeze(&mut self) {
        let holds =
            "exec 3<\"$0\"; fsfreeze -f \"$0\" && echo frozen; read _; exec fsfreeze -u /proc/self/fd/3";
        let mut command = Command::new("setsid");
        command.args(["sh", "-c", holds]).arg(self.at()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut freezer = command.spawn().unwrap();
        let mut said = [0; 6];
        freezer.stdout.as_mut().unwrap().read_exact(&mut said).unwrap();
        self.freezer = Some(freezer);
    }

    pub fn thaw(&mut self) {
        if let Some(mut freezer) = self.freezer.take() {
            drop(freezer.stdin.take());
            freezer.wait().unwrap();
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.thaw();
        let _ = Command::new("umount").arg("-l").arg(self.at()).status();
    }
}
