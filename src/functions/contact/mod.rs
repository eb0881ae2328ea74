//! Telephone numbers and e-mail addresses, the encodings that go into signatures of identities, and on what all values depend.

mod email;
mod fingerprint;
mod identity;
mod phone;
