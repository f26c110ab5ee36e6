//! Nothing, as `workspace-hack` is: for the two programs that call and are called, broker and console.
