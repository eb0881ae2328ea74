//! Roles that own secrets, or were granted the use of one. The tables have them as OIDs, and the server gives an OID once more
//! when the numbers have come round; a role that gets that of one which was dropped must get no secret with it.
//!
//! So each such role has a privilege on the table of grants: REFERENCES on its column `role`, which is good for nothing else.
//! As any privilege does, it keeps the role from being dropped, until it is taken back or DROP OWNED takes it away; and the
//! rights to secrets count only as long as it is there.

use pg::catalog::privileges::{self, role};
use pg::catalog::with_row;
use pg::relation::lock_name;
use pg::session::acting_user::as_owner;
use pg::session::Session;
use pg::sql;
use pg::values::varlena::Varlena;
use pgrx::pg_sys;

use super::tables::SecretTables;

/// The column `role` of the table of grants.
const ROLE: i16 = 2;

/// The superuser that the server was made with, whom nobody can drop.
const FIRST_SUPERUSER: usize = 10;

/// Privileges are the lower bits of an item, and the rights to give them the upper ones.
const OPTIONS: u32 = pg_sys::AclMode::BITS / 2;

/// The privilege of a role on the column, as the owner of the table has given it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    No,
    Yes,
    /// With the right to give it to others, as whoever has made the extension has it for restoring dumps.
    WithOption,
}

impl SecretTables {
    /// The role of an OID that a table has; the first superuser if that role was dropped, whoever has its OID by now.
    pub fn lasting(&self, role: pg_sys::Oid) -> pg_sys::Oid {
        match self.is_lasting(role) {
            true => role,
            false => pg_sys::Oid::from(FIRST_SUPERUSER as u32),
        }
    }

    /// Whether a role is still the one that a table has.
    pub fn is_lasting(&self, role: pg_sys::Oid) -> bool {
        self.needs_nothing(role) || self.held(role) != Held::No
    }

    /// Keeps a role from being dropped, before it gets a secret or a right to one. What another role of its OID had goes to the
    /// first superuser.
    ///
    /// Errors: there is no such role; those of GRANT.
    pub fn keep_role(&self, oid: pg_sys::Oid) {
        if self.needs_nothing(oid) {
            return;
        }
        self.lock_roles();
        if self.held(oid) != Held::No {
            return;
        }
        let (grants, values, role) = (self.grants.oid, self.values.oid, role(oid));
        let given = [(pg_sys::OIDOID, pg_sys::Datum::from(oid))];
        as_owner(self.role_owner(), || {
            let session = Session::begin(false);
            session.run(
                &sql!("DELETE FROM {grants} WHERE role OPERATOR(pg_catalog.=) $1"),
                &given,
            );
            let owned = sql!("WHERE owner OPERATOR(pg_catalog.=) $1");
            let number = sql!("SELECT pg_catalog.count(*) FROM {values} {owned}");
            if session.number(&number, &given) > 0 {
                // Uses are counted in the row itself, so that nobody may count while it moves.
                session.run(&sql!("LOCK TABLE {values} IN EXCLUSIVE MODE"), &[]);
                session.run(
                    &sql!("UPDATE {values} SET owner = {FIRST_SUPERUSER}::pg_catalog.oid {owned}"),
                    &given,
                );
            }
            session.run(&sql!("GRANT REFERENCES (role) ON {grants} TO {role}"), &[]);
        });
    }

    /// Lets roles be dropped that have neither a secret nor a right to one any more.
    ///
    /// Errors: those of REVOKE.
    pub fn release_roles(&self, roles: impl IntoIterator<Item = pg_sys::Oid>) {
        // SAFETY: a variable of the session.
        let is_read_committed =
            unsafe { pg_sys::XactIsoLevel } < pg_sys::XACT_REPEATABLE_READ as i32;
        for oid in roles {
            // What others have given it meanwhile would not be seen, and it keeps the privilege.
            if !is_read_committed || self.needs_nothing(oid) || !privileges::is_role(oid) {
                continue;
            }
            self.lock_roles();
            if self.held(oid) != Held::Yes {
                continue;
            }
            let (grants, values, role) = (self.grants.oid, self.values.oid, role(oid));
            let given = [(pg_sys::OIDOID, pg_sys::Datum::from(oid))];
            as_owner(self.role_owner(), || {
                let session = Session::begin(false);
                let number = sql!(
                    "SELECT (SELECT pg_catalog.count(*) FROM {grants} WHERE role OPERATOR(pg_catalog.=) $1) \
                    OPERATOR(pg_catalog.+) (SELECT pg_catalog.count(*) FROM {values} WHERE owner OPERATOR(pg_catalog.=) $1)"
                );
                if session.number(&number, &given) == 0 {
                    session.run(
                        &sql!("REVOKE REFERENCES (role) ON {grants} FROM {role}"),
                        &[],
                    );
                }
            });
        }
    }

    /// Nobody can drop them while the tables are there.
    fn needs_nothing(&self, role: pg_sys::Oid) -> bool {
        role.to_u32() as usize == FIRST_SUPERUSER || role == self.role_owner()
    }

    /// The owner of the table of grants.
    fn role_owner(&self) -> pg_sys::Oid {
        let owner = |_, class: &pg_sys::FormData_pg_class| class.relowner;
        // SAFETY: this cache has rows of pg_class, by OID.
        let owner = unsafe { with_row(pg_sys::SysCacheIdentifier::RELOID, self.grants.oid, owner) };
        owner.unwrap_or_default()
    }

    /// One transaction at a time changes the privileges of roles, since two that change a row of a catalog fail.
    fn lock_roles(&self) {
        lock_name(self.grants.oid, c"");
    }

    /// What privilege a role itself has on the column.
    fn held(&self, role: pg_sys::Oid) -> Held {
        let (owner, mut held) = (self.role_owner(), Held::No);
        // SAFETY: the cache has rows of pg_attribute, by the table and a number; the row stays until it is released. An ACL is
        // an array without NULLs, of as many items as it says, which stand behind its header.
        unsafe {
            let cache = pg_sys::SysCacheIdentifier::ATTNUM as i32;
            let (table, number) = (self.grants.oid.into(), pg_sys::Datum::from(ROLE));
            let row = pg_sys::SearchSysCache2(cache, table, number);
            if row.is_null() {
                return held;
            }
            let (mut is_null, number) = (false, pg_sys::Anum_pg_attribute_attacl as i16);
            let list = pg_sys::SysCacheGetAttr(cache, row, number, &mut is_null);
            if !is_null {
                let list = Varlena::aligned(list);
                let array: *mut pg_sys::ArrayType = list.pointer().cast();
                let (mut size, mut by_value, mut alignment) = (0, false, 0);
                let of_type = pg_sys::ACLITEMOID;
                pg_sys::get_typlenbyvalalign(of_type, &mut size, &mut by_value, &mut alignment);
                let (mut items, mut number) = (std::ptr::null_mut(), 0);
                let no_nulls = std::ptr::null_mut();
                let size = size.into();
                pg_sys::deconstruct_array(
                    array,
                    of_type,
                    size,
                    by_value,
                    alignment,
                    &mut items,
                    no_nulls,
                    &mut number,
                );
                for i in 0..number as usize {
                    let item = &*(*items.add(i)).cast_mut_ptr::<pg_sys::AclItem>();
                    let right = pg_sys::AclMode::from(pg_sys::ACL_REFERENCES);
                    let is_it = item.ai_grantee == role && item.ai_grantor == owner;
                    if is_it && item.ai_privs & right != 0 {
                        held = match item.ai_privs & right << OPTIONS != 0 {
                            true => Held::WithOption,
                            false => Held::Yes,
                        };
                    }
                }
            }
            pg_sys::ReleaseSysCache(row);
        }
        held
    }
}
