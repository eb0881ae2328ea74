//! Telephone numbers, e-mail addresses and postal addresses: one form for what reaches the same person, and its parts.

mod address;
mod email;
mod phone;

pub use address::{address_parts, AddressParts, MAX_ADDRESS, MAX_ADDRESS_WORDS};
pub use email::{
    email, email_or_none, Email, EmailParts, FREE_PROVIDERS, PROVIDER_RULES, PUBLIC_SUFFIX_LIST,
};
pub use phone::{is_phone_region, phone, phone_or_none, phone_region, Phone, PHONE_METADATA};
