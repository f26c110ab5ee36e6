//! Exact amounts: which texts are one, and sums that are never rounded.
#![allow(clippy::unwrap_used)]

use house::decimal::Decimal;

fn amount(text: &str) -> Decimal {
    Decimal::read(text).unwrap()
}

#[test]
fn plain_decimal_texts_are_amounts_and_nothing_else_is() {
    let longest = format!("{}.{}", "9".repeat(38), "9".repeat(36));
    for (text, shown) in [
        ("0", "0"),
        ("0.0", "0"),
        ("7", "7"),
        ("0.050", "0.05"),
        ("1.000000000000000001", "1.000000000000000001"),
        (longest.as_str(), longest.as_str()),
    ] {
        assert_eq!(amount(text).to_string(), shown);
    }
    let (too_whole, too_fine) = ("1".repeat(39), format!("0.{}", "1".repeat(37)));
    for text in [
        "",
        ".",
        ".5",
        "5.",
        "-1",
        "+1",
        "-0",
        "1e3",
        "1E3",
        "1,5",
        "1_000",
        " 1",
        "1 ",
        "1\n",
        "1\0",
        "0x1",
        "007",
        "00",
        "00.5",
        "1.2.3",
        "NaN",
        "inf",
        "١",
        "１",
        "½",
        "0.5\u{200b}",
        &too_whole,
        &too_fine,
        "99999999999999999999999999999999999999999999999999999999999999999999999999999999",
    ] {
        assert!(Decimal::read(text).is_err(), "{text:?}");
    }
}

#[test]
fn sums_are_exact_and_never_wrap() {
    let wei = amount("0.000000000000000001");
    assert_eq!(amount("0.1").plus(amount("0.2")), Some(amount("0.3")));
    assert_eq!(amount("0.999999999999999999").plus(wei), Some(amount("1")));
    assert_eq!(amount("1").minus(wei), amount("0.999999999999999999"));
    assert_eq!(amount("1").minus(amount("2")), amount("0"));
    assert!(amount("2") > amount("1.999999999999999999") && amount("0.1") > amount("0.09"));
    let mut most = amount(&"9".repeat(38));
    let mut sums = 0;
    while let Some(sum) = most.plus(most) {
        (most, sums) = (sum, sums + 1);
    }
    assert_eq!(sums, 1, "2¹²⁸ is about 3.4 × 10³⁸");
}
