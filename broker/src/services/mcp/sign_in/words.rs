//! Failures of a sign-in in plain words.

use super::calls::Calls;
use house::bounds::brief;
use rmcp::transport::auth::AuthError;

pub const NO_PKCE: &str = "its sign-in does not say that it takes a proof of who began it (PKCE with S256), so a \
                           thief of the way back could sign in as you: it is not used";
pub const NO_METADATA: &str = "neither it nor its address says where one signs in";

/// Why a sign-in failed; the address that was refused on the way comes first.
pub fn told(error: &AuthError, calls: &Calls) -> String {
    if let Some(refused) = calls.refused() {
        return refused;
    }
    // Others are told in the maker's words.
    #[allow(clippy::wildcard_enum_match_arm)]
    let said = match error {
        AuthError::PkceUnsupported => NO_PKCE.to_owned(),
        AuthError::NoAuthorizationSupport => NO_METADATA.to_owned(),
        AuthError::AuthorizationServerMismatch { expected_issuer, received_issuer } => format!(
            "the way back comes from {received_issuer}, and the sign-in began at {expected_issuer}: another server may \
             have mixed itself in, so it is not used"
        ),
        AuthError::AuthorizationServerMissingIssuer { expected_issuer } => format!(
            "the way back does not say that it comes from {expected_issuer}, which promises to: another server may have \
             mixed itself in, so it is not used"
        ),
        AuthError::ProtectedResourceMetadataInvalid { reason, .. } => {
            format!("what it says of itself does not fit its address: {reason}")
        }
        AuthError::DiscoveryRequestFailed { source, .. } => source.to_string(),
        other => other.to_string(),
    };
    brief(&house::printable::flat(&said), 400)
}
