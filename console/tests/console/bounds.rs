//! What the broker writes is read here by no smaller measure than its own.

use trials::caps::cap;

#[test]
fn what_the_broker_writes_is_read_by_no_smaller_measure() {
    let brokers = cap("broker/src/ground/files.rs", "SMALL_FILE_BYTES");
    assert_eq!(cap("console/src/audit.rs", "ANCHOR_BYTES"), brokers, "anchor.json");
    assert!(cap("console/src/audit.rs", "LONGEST_LINE") >= cap("broker/src/ledger/chain.rs", "LONGEST_LINE"));
}
