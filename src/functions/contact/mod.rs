//! Telephone numbers, e-mail addresses and postal addresses, the encodings that go into signatures of identities, and
//! on what all values depend.

mod address;
mod email;
mod fingerprint;
mod identity;
mod phone;
