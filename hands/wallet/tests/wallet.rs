//! What of the wallet needs no node: amounts, fees, requests, the key's file, and a journal that is cut at any byte.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

use alloy_primitives::{Address, U256};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use wallet::amount;
use wallet::fee::{Fee, Prices};
use wallet::journal::{FILE, Journal, Step};
use wallet::key::{self, Key};
use wallet::settings::Settings;
use wallet::transfer::Transfer;

const FRIEND: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const PASSWORD: &str = "testpassword";
const WALLET: &str = "node = \"http://127.0.0.1:8545\"\nchain = 31337\n[tokens.BUCK]\n\
    contract = \"0x5FbDB2315678afecb367f032d93F642f64180aa3\"\ndecimals = 6\n";
/// The test vector of https://ethereum.org/developers/docs/data-structures-and-encoding/web3-secret-storage
/// (PBKDF2-SHA-256), whose key has this address.
const VECTOR: &str = r#"{"crypto":{"cipher":"aes-128-ctr","cipherparams":{"iv":"6087dab2f9fdbbfaddc31a909735c1e6"},
    "ciphertext":"5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46","kdf":"pbkdf2","kdfparams":{"c":262144,
    "dklen":32,"prf":"hmac-sha256","salt":"ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd"},
    "mac":"517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2"},
    "id":"3198bc9c-6672-5ab3-d995-4942343ae5b6","version":3}"#;
const VECTOR_KEY: &str = "7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d";

#[test]
fn amounts_are_exact_both_ways() {
    for (text, decimals, units) in [
        ("1", 18, "1000000000000000000"),
        ("0.000000000000000001", 18, "1"),
        ("12.345678", 6, "12345678"),
        ("0.10", 1, "1"),
        ("7", 0, "7"),
        (
            "115792089237316195423570985008687907853269984665640564039457.584007913129639935",
            18,
            &U256::MAX.to_string(),
        ),
    ] {
        let units: U256 = units.parse().unwrap();
        assert_eq!(amount::read(text, decimals), Ok(units), "{text}");
        assert_eq!(amount::read(&amount::shown(units, decimals), decimals), Ok(units));
    }
    for (text, decimals) in [
        ("", 18),
        ("-1", 18),
        ("+1", 18),
        ("1e18", 18),
        ("0x1", 18),
        (" 1", 18),
        ("1.", 18),
        (".1", 18),
        ("01", 18),
        ("1,0", 18),
        ("1_0", 18),
        ("١", 18),
        ("0.0000000000000000001", 18),
        ("0.1", 0),
        ("1.1.1", 18),
        ("115792089237316195423570985008687907853269984665640564039457.584007913129639936", 18),
    ] {
        assert!(amount::read(text, decimals).is_err(), "{text:?}");
    }
}

#[test]
fn gas_at_its_cap_is_never_more_than_was_allowed() {
    let mut seed = 1_u64;
    let mut next = |most: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 20) % most
    };
    let (mut within, mut beyond) = (0, 0);
    for _ in 0..100_000 {
        let prices = Prices { base: u128::from(next(1 << 40)), tip: u128::from(next(1 << 34)) };
        let (most, estimate) = (U256::from(next(1 << 44)) * U256::from(1 << 20), 21_000 + next(1 << 20));
        match Fee::within(most, estimate, prices) {
            Ok(fee) => {
                assert!(fee.most() <= most && fee.gas_limit >= estimate && fee.tip <= fee.per_gas);
                assert!(fee.per_gas >= prices.base + prices.tip, "a block of now takes it");
                within += 1;
            }
            Err(needed) => {
                assert!(needed > most);
                assert!(Fee::within(needed, estimate, prices).is_ok(), "what it names is enough");
                beyond += 1;
            }
        }
    }
    assert!(within > 1_000 && beyond > 1_000, "{within} {beyond}");
    assert!(
        Fee::within(U256::MAX, u64::MAX, Prices { base: u128::MAX, tip: u128::MAX }).is_ok(),
        "nothing wraps"
    );
}

#[test]
fn a_request_is_read_strictly() {
    let settings = Settings::read(WALLET).unwrap();
    let own: Address = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC".parse().unwrap();
    let read = |given: Value| {
        let mut asked = json!({"to": FRIEND, "amount": "1", "max_fee": "0.001"});
        given.as_object().unwrap().iter().for_each(|(name, value)| asked[name] = value.clone());
        Transfer::read(asked.as_object().cloned().unwrap(), own, &settings)
    };
    let token = read(json!({"token": "BUCK", "amount": "2.5"})).unwrap();
    let call = token.call(own);
    let data = call["data"].as_str().unwrap();
    assert_eq!((token.amount, token.value()), (U256::from(2_500_000), U256::ZERO));
    assert_eq!(call["to"], json!(settings.tokens["BUCK"].contract));
    assert_eq!(data.len(), 2 + 2 * (4 + 32 + 32));
    assert!(
        data.starts_with("0xa9059cbb00000000000000000000000070997970") && data.ends_with("2625a0"),
        "{data}"
    );
    assert_eq!(read(json!({})).unwrap().call(own)["data"], "0x", "coin goes with no data");
    for (given, word) in [
        (json!({"to": FRIEND.to_lowercase()}), "checksum"),
        (json!({"to": FRIEND.replacen("0x", "0X", 1)}), "checksum"),
        (json!({"to": format!(" {FRIEND}")}), "checksum"),
        (json!({"to": own.to_string()}), "this wallet"),
        (json!({"to": "0x5FbDB2315678afecb367f032d93F642f64180aa3"}), "contract of a token"),
        (json!({"token": "buck"}), "no token"),
        (json!({"token": ""}), "no token"),
        (json!({"amount": 1}), "text"),
        (json!({"amount": "0"}), "nothing"),
        (json!({"max_fee": null}), "text"),
        (json!({"data": "0x"}), "unknown field"),
        (json!({"gas": "1"}), "unknown field"),
    ] {
        assert!(read(given.clone()).unwrap_err().contains(word), "{given}: {:?}", read(given.clone()));
    }
}

#[test]
fn settings_with_a_mistake_are_refused_whole() {
    for (from, to) in [
        ("http://127.0.0.1:8545", "http://example.org"),
        ("http://127.0.0.1:8545", "http://127.0.0.1.example.org"),
        ("http://127.0.0.1:8545", "ftp://127.0.0.1"),
        ("chain = 31337", "chain = 0"),
        ("0x5FbDB", "0x5fbdb"),
        ("decimals = 6", "decimals = 77"),
        ("[tokens.BUCK]", "[tokens.ETH]"),
        ("decimals = 6", "decimals = 6\nowner = \"me\""),
        ("chain = 31337", "chain = 31337\nfee = 5"),
    ] {
        assert!(Settings::read(&WALLET.replace(from, to)).is_err(), "{to}");
    }
    assert!(Settings::read(&WALLET.replace("http://127.0.0.1:8545", "https://example.org/key")).is_ok());
}

#[test]
fn a_key_is_kept_encrypted_opens_again_and_is_never_written_over() {
    let home = tempfile::tempdir().unwrap();
    let made = Key::make(home.path(), PASSWORD).unwrap();
    let path = home.path().join(key::FILE);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(Key::open(home.path(), PASSWORD).unwrap().address(), made.address());
    let told = |tried: anyhow::Result<Key>| format!("{:#}", tried.err().unwrap());
    assert!(told(Key::open(home.path(), "another password")).contains("does not open"));
    let kept = std::fs::read(&path).unwrap();
    assert!(told(Key::make(home.path(), PASSWORD)).contains("never written over"));
    assert!(told(Key::import(home.path(), VECTOR_KEY, PASSWORD)).contains("never written over"));
    assert_eq!(std::fs::read(&path).unwrap(), kept);
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1, "nothing is left lying about");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert!(told(Key::open(home.path(), PASSWORD)).contains("chmod 600"));
}

#[test]
fn keys_of_other_wallets_are_taken_in() {
    let address = |given: &str| {
        let home = tempfile::tempdir().unwrap();
        let key = Key::import(home.path(), given, PASSWORD)?;
        let left = std::fs::read_dir(home.path()).unwrap().count();
        assert_eq!((Key::open(home.path(), PASSWORD)?.address(), left), (key.address(), 1));
        anyhow::Ok(key.address().to_string().to_lowercase())
    };
    for given in [VECTOR.to_owned(), VECTOR_KEY.to_owned(), format!("0x{VECTOR_KEY}\n")] {
        assert_eq!(address(&given).unwrap(), "0x008aeeda4d805471df9b2a5b0f38a0c3bcba786b");
    }
    for given in
        ["", "0x12", &"f".repeat(64), &"0".repeat(64), &"é".repeat(32), "{}", &VECTOR.replace("517e", "517f")]
    {
        assert!(address(given).is_err(), "{given}");
    }
}

fn reserved() -> Step {
    let text = |text: &str| text.to_owned();
    Step::Reserved {
        at_s: 1,
        to: text(FRIEND),
        amount: text("1"),
        symbol: text("ETH"),
        max_fee: text("0.001"),
    }
}

fn signed(hash: &str) -> Step {
    Step::Signed { hash: hash.to_owned(), raw: "0x02".to_owned(), most: U256::from(7), per_gas: 1 }
}

/// Three transfers: one in a block, one refused whose nonce the third has.
fn written(home: &Path) {
    let mut journal = Journal::open(home).unwrap();
    let steps = [
        (
            0,
            vec![
                reserved(),
                signed("0xa"),
                Step::Sent,
                Step::Mined { succeeded: true, block: "1".into(), fee: "5".into() },
            ],
        ),
        (1, vec![reserved(), signed("0xb"), Step::Refused { why: "underpriced".into() }]),
        (1, vec![reserved(), signed("0xc"), Step::Sent]),
    ];
    for (nonce, steps) in steps {
        assert_eq!(journal.free_nonce(nonce, 0), nonce);
        let number = journal.reserve(nonce, steps[0].clone()).unwrap();
        for step in &steps[1..] {
            assert_eq!(journal.free_nonce(nonce, 0), nonce + 1, "what may still happen has its nonce alone");
            journal.step(number, step.clone()).unwrap();
        }
    }
}

#[test]
fn a_journal_that_is_cut_at_any_byte_forgets_no_signed_transfer() {
    let home = tempfile::tempdir().unwrap();
    written(home.path());
    let path = home.path().join(FILE);
    let whole = std::fs::read_to_string(&path).unwrap();
    // Each is a few syncs: all places in a line, and some of the lines before it.
    for cut in (0..whole.len()).step_by(5).chain(whole.len() - 60..=whole.len()) {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let lines: Vec<&str> =
            whole[..cut].split_inclusive('\n').filter(|line| line.ends_with('\n')).collect();
        let journal = Journal::open(home.path()).unwrap();
        let hashes: Vec<String> =
            journal.newest().filter_map(|kept| Some(kept.signed()?.0.to_owned())).collect();
        for (hash, number) in [("0xa", 1), ("0xb", 2), ("0xc", 3)] {
            let was = lines.iter().any(|line| line.contains(hash));
            assert_eq!(hashes.iter().any(|known| known == hash), was, "{cut}");
            let open = journal.get(number).is_some_and(|kept| kept.is_open());
            assert!(!open || was, "what was never signed is void after a start");
        }
        // As it was left, whatever is added next.
        drop(journal);
        let mut journal = Journal::open(home.path()).unwrap();
        let number = journal.reserve(9, reserved()).unwrap();
        journal.step(number, signed("0xd")).unwrap();
        assert!(Journal::open(home.path()).unwrap().get(number).unwrap().is_open());
    }
    std::fs::write(&path, whole.replacen("\"step\"", "\"stop\"", 1)).unwrap();
    assert!(Journal::open(home.path()).is_err(), "a damaged line is not guessed at");
}
