//! ALTER TABLE … SET UNLOGGED and SET LOGGED: a register's tables are logged if the register's table is, and not otherwise. Else
//! one of them would be empty after a crash, and the other one would not.

use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::ERRCODE_INVALID_OBJECT_DEFINITION;

use super::stored::Register;
use pg::error::{raise, sql_error};
use pg::message::words;
use pg::relation::OpenRelation;
use pg::session::Session;
use pg::{catalog, sql};

/// Whether a table is logged; `None` if there is none of this OID.
fn is_logged(table: pg_sys::Oid) -> Option<bool> {
    let table = OpenRelation::find(table, pg_sys::AccessShareLock)?;
    Some(table.form().relpersistence as u8 == pg_sys::RELPERSISTENCE_PERMANENT)
}

impl Register {
    /// The tables of keys and entities that are logged and the register's table is not, or the other way round.
    pub fn otherwise_logged(&self) -> Vec<pg_sys::Oid> {
        let wanted = is_logged(self.relation);
        let entities = self.settings.iter();
        let mut tables = vec![self.keys.oid];
        tables.extend(entities.flat_map(|settings| settings.tables(self.oid)));
        tables.retain(|&table| is_logged(table).is_some_and(|is| Some(is) != wanted));
        tables
    }

    /// Errors: there are such tables.
    pub fn check_logged(&self) {
        let Some(&table) = self.otherwise_logged().first() else {
            return;
        };
        let name = catalog::quoted(self.oid);
        let (is, other) = match is_logged(table) {
            Some(true) => ("logged", "unlogged"),
            _ => ("unlogged", "logged"),
        };
        raise(
            &sql_error(
                ERRCODE_INVALID_OBJECT_DEFINITION,
                words!(
                    "table \"{table}\" of register \"{self.oid}\" is {is}, and table \"{self.relation}\" is {other}"
                ),
            )
            .detail("A crash would empty one of them, or has done so, and leave the other one as it is.")
            .hint(words!(
                "SELECT * FROM bloom_register_check('{name}', repair => true)"
            )),
        );
    }

    /// Makes them like the register's table. That is locked against writers.
    pub fn mend_logged(&self, session: &Session) {
        let how = match is_logged(self.relation) {
            Some(true) => "LOGGED",
            _ => "UNLOGGED",
        };
        for table in self.otherwise_logged() {
            session.run(&sql!("ALTER TABLE {table} SET {how}"), &[]);
        }
    }
}
