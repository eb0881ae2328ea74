//! What a session remembers of a secret and a schema: keys, and the bits of tokens.

use std::cell::RefCell;
use std::ffi::{CStr, CString};

use base::{Error, Result};
use clk::{check_value, read_json, Encoder, Hardening, Schema};
use pg::catalog::privileges::role;
use pg::error::{raise, OrRaise};
use pg::message::words;
use pg::values::jsonb::JsonObject;
use pg::values::text::{to_database, utf8};
use pgrx::{pg_sys, PgLogLevel};
use signature::filter::Shape;

use super::moment::Moment;
use super::secrets::KnownSecret;
use super::tables::SecretTables;
use super::uses::CountedUses;
use pg::error::{sql_error, Tell};

/// Bytes that an encoder may use to remember tokens.
const MEMORY: usize = 1 << 20;

/// Encoders that a session keeps: more than most tables have encoded columns, whose triggers take turns for each row.
const KEPT: usize = 16;

/// A secret and a schema, ready to encode.
pub struct ReadyEncoder {
    table: pg_sys::Oid,
    name: CString,
    /// The schema as it is stored, and the hardening; empty for none.
    schema: Vec<u8>,
    hardening: Vec<u8>,
    pub encoder: Encoder,
    pub shape: Shape,
    /// The names of the features that are hashed, in the database's encoding; empty for others.
    pub names: Vec<Vec<u8>>,
    /// Those of the members that are the salt.
    pub salt: Vec<Vec<u8>>,
    /// When rights were looked at last, and whose.
    checked: (Moment, pg_sys::Oid),
    secret: KnownSecret,
    /// That of its bytes.
    check_value: u64,
    tid: pg_sys::ItemPointerData,
    uses: CountedUses,
    /// Whose uses these are.
    counted_for: pg_sys::Oid,
}

pg::session_state! {
    static READY: RefCell<Vec<ReadyEncoder>> = RefCell::default();
    "keys of secrets, and bits of tokens" by "secret and schema" until "four others, or the secret is another one"
        bytes |ready| ready.borrow().len() * MEMORY;
}

impl ReadyEncoder {
    fn new(tables: &SecretTables, name: &CString, given: &GivenSchema<'_>) -> ReadyEncoder {
        let secret = tables.known(name);
        tables.check_use(&secret, given.user);
        let (mut bytes, tid) = tables.value(&secret);
        let made = || -> Result<(Encoder, Shape)> {
            let value = |of: GivenJson<'_>, what: &str| read_json(&of.text(), what);
            let schema = Schema::new(&value(given.schema, "linkage schema")?)?;
            let hardening = match given.hardening {
                Some(hardening) => Hardening::new(&value(hardening, "hardening")?)?,
                None => Hardening::default(),
            };
            let encoder = Encoder::new(schema, hardening, &bytes, MEMORY)?;
            let shape = encoder.shape()?;
            Ok((encoder, shape))
        };
        let (encoder, shape) = made().or_raise();
        let check_value = check_value(&bytes);
        bytes.fill(0);
        let names = encoder.schema().features();
        let names = names.map(|(name, hashed)| match hashed {
            true => to_database(name),
            false => Vec::new(),
        });
        ReadyEncoder {
            table: tables.secrets.oid,
            name: name.clone(),
            schema: given.schema.bytes().to_vec(),
            hardening: given.hardening_bytes().to_vec(),
            salt: encoder.hardening().salt().map(to_database).collect(),
            names: names.collect(),
            encoder,
            shape,
            checked: (Moment::now(), given.user),
            secret,
            check_value,
            tid,
            uses: CountedUses::default(),
            counted_for: given.user,
        }
    }

    /// Whether the secret is still the one that it was, and may be used; looked at once a command.
    ///
    /// Errors: the user may not use it any more; it is gone.
    fn is_current(&mut self, tables: &SecretTables, user: pg_sys::Oid) -> bool {
        let now = (Moment::now(), user);
        if self.checked == now {
            return true;
        }
        let secret = tables.known(&self.name);
        tables.check_use(&secret, user);
        // It may have come anew, or be gone. Its check value is of its bytes, since whoever restores a dump may write another
        // one to the table of names.
        let (mut bytes, tid) = tables.value(&secret);
        let is_same = check_value(&bytes) == self.check_value;
        bytes.fill(0);
        if !is_same {
            return false;
        }
        self.tid = tid;
        self.secret = secret;
        self.checked = now;
        true
    }

    /// Counts a use by a user, each by himself; when that is written down, rights are looked at once more, since a command
    /// may run for long.
    ///
    /// Errors: the user may not use it any more; it is gone.
    fn count(&mut self, tables: &SecretTables, user: pg_sys::Oid) {
        if self.counted_for != user {
            (self.counted_for, self.uses) = (user, CountedUses::default());
        }
        let counted = self.uses.count(tables, &self.secret, &mut self.tid);
        let Some(uses) = counted else {
            return;
        };
        tables.check_use(&tables.known(&self.name), user);
        if types::settings::logs_secrets() {
            let (name, user) = (&self.name, role(user));
            sql_error(
                pgrx::PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION,
                words!("secret \"{name}\" is used by role \"{user}\""),
            )
            .detail(format!("The next {uses} uses at most are not told of."))
            .send(PgLogLevel::LOG);
        }
    }
}

/// JSON as it was given: as a value, or as its text in the database's encoding.
#[derive(Clone, Copy)]
pub enum GivenJson<'g> {
    Object(&'g JsonObject<'g>),
    Text(&'g CStr),
}

impl GivenJson<'_> {
    /// What tells one from another.
    fn bytes(&self) -> &[u8] {
        match self {
            GivenJson::Object(object) => object.bytes(),
            GivenJson::Text(text) => text.to_bytes(),
        }
    }

    fn text(&self) -> String {
        match self {
            GivenJson::Object(object) => object.text(),
            GivenJson::Text(text) => utf8(text.to_bytes()).unwrap_or_default(),
        }
    }
}

/// A linkage schema and a hardening, and whose rights to the secret count.
pub struct GivenSchema<'g> {
    pub schema: GivenJson<'g>,
    pub hardening: Option<GivenJson<'g>>,
    pub user: pg_sys::Oid,
}

impl GivenSchema<'_> {
    fn hardening_bytes(&self) -> &[u8] {
        self.hardening.as_ref().map_or(&[], GivenJson::bytes)
    }
}

/// Calls `run` with what a session has of a secret and a schema, and counts a use.
///
/// Errors: there is no such secret, or it may not be used; the schema is none; those of `run`.
pub fn with_encoder<T>(
    tables: &SecretTables,
    name: &CString,
    given: &GivenSchema<'_>,
    run: impl FnOnce(&mut ReadyEncoder) -> T,
) -> T {
    // What is borrowed would stay so after an error, so it is taken out.
    let at = |ready: &ReadyEncoder| {
        ready.table == tables.secrets.oid
            && ready.name == *name
            && ready.schema == given.schema.bytes()
            && ready.hardening == given.hardening_bytes()
    };
    let known = READY.with_borrow_mut(|all| {
        let found = all.iter().position(at);
        found.map(|found| all.remove(found))
    });
    let mut ready = match known {
        Some(mut known) => match known.is_current(tables, given.user) {
            true => known,
            false => ReadyEncoder::new(tables, name, given),
        },
        None => ReadyEncoder::new(tables, name, given),
    };
    ready.count(tables, given.user);
    let done = run(&mut ready);
    READY.with_borrow_mut(|all| {
        all.insert(0, ready);
        all.truncate(KEPT);
    });
    done
}

/// The error of a record that has no member of a name.
pub fn no_member(name: &[u8]) -> ! {
    raise(
        &Error::data_exception(words!("record has no member \"{name}\""))
            .detail("The linkage schema, or the hardening, names it.")
            .hint("Give null, or an empty text, for a value that is missing."),
    )
}
