//! The autonomous state: what stands between the owner's word and the loop, in one short block.
