//! The primary key of a table's rows, as text.

use pgrx::{pg_sys, PgMemoryContexts};

use super::column as relation;
use crate::pg::ffi;
use crate::pg::node;

/// Columns of a primary key, in its order.
#[derive(Clone)]
pub struct PrimaryKey {
    pub columns: Vec<i16>,
}

impl PrimaryKey {
    /// `None` for a table without primary key.
    ///
    /// SAFETY: `table` is open and locked.
    pub unsafe fn of(table: pg_sys::Relation) -> Option<PrimaryKey> {
        // SAFETY: as promised by the caller; the lock keeps the table's indexes.
        unsafe {
            let list = pg_sys::RelationGetIndexList(table);
            let mut found = None;
            for index in node::oids(list) {
                let index = ffi::index_open(index, pg_sys::AccessShareLock as i32);
                let form = &*(*index).rd_index;
                if form.indisprimary {
                    let columns = form.indkey.values.as_slice(form.indnkeyatts as usize);
                    found = Some(PrimaryKey {
                        columns: columns.to_vec(),
                    });
                }
                pg_sys::index_close(index, pg_sys::AccessShareLock as i32);
            }
            pg_sys::list_free(list);
            found
        }
    }

    /// `(id)=(1)`, `(a, b)=(1,x)`
    pub fn shown(&self, table: pg_sys::Oid, text: &[u8]) -> Vec<u8> {
        let mut shown = b"(".to_vec();
        for (i, &column) in self.columns.iter().enumerate() {
            if i > 0 {
                shown.extend_from_slice(b", ");
            }
            shown.extend_from_slice(relation::column_name(table, column).as_bytes());
        }
        shown.extend_from_slice(b")=");
        let single = self.columns.len() == 1;
        if single {
            shown.push(b'(');
        }
        shown.extend_from_slice(text);
        if single {
            shown.push(b')');
        }
        shown
    }

    /// What casting the key to text gives; of several columns, the text of the row. Casts of others than superusers and
    /// `owner`, who has the guarded table, are left alone: the owner of a block list could have whoever enters a row run them.
    ///
    /// SAFETY: `slot` holds a row of `table`.
    pub unsafe fn text(
        &self,
        table: pg_sys::Oid,
        slot: *mut pg_sys::TupleTableSlot,
        owner: pg_sys::Oid,
    ) -> Vec<u8> {
        // The functions of the key's types leave memory behind.
        // SAFETY: as promised by the caller; what is returned is no memory of the server's.
        unsafe {
            PgMemoryContexts::new("bloom_ident key").switch_to(|_| {
                if let [column] = self.columns[..] {
                    let of_type = relation::column_type(table, column);
                    attribute(slot, column)
                        .map_or_else(Vec::new, |value| text_of(value, of_type, owner))
                } else {
                    self.row_text(slot)
                }
            })
        }
    }

    /// SAFETY: as for [`PrimaryKey::text`].
    unsafe fn row_text(&self, slot: *mut pg_sys::TupleTableSlot) -> Vec<u8> {
        // SAFETY: the new descriptor has as many columns as values.
        unsafe {
            let descriptor = pg_sys::CreateTemplateTupleDesc(self.columns.len() as i32);
            let (mut values, mut nulls) = (Vec::new(), Vec::new());
            for (i, &column) in self.columns.iter().enumerate() {
                let source = (*slot).tts_tupleDescriptor;
                pg_sys::TupleDescCopyEntry(descriptor, i as i16 + 1, source, column);
                let value = attribute(slot, column);
                nulls.push(value.is_none());
                values.push(value.unwrap_or(pg_sys::Datum::null()));
            }
            let row = pg_sys::heap_form_tuple(
                pg_sys::BlessTupleDesc(descriptor),
                values.as_mut_ptr(),
                nulls.as_mut_ptr(),
            );
            let row = pg_sys::HeapTupleHeaderGetDatum((*row).t_data);
            output(row, pg_sys::RECORDOID)
        }
    }
}

/// A column of a row, `None` for NULL.
///
/// SAFETY: `slot` holds a row with this column.
pub unsafe fn attribute(slot: *mut pg_sys::TupleTableSlot, column: i16) -> Option<pg_sys::Datum> {
    let mut null = false;
    // SAFETY: as promised by the caller.
    let value = unsafe { pg_sys::slot_getattr(slot, column.into(), &mut null) };
    (!null).then_some(value)
}

/// SAFETY: `value` is of this type.
unsafe fn text_of(value: pg_sys::Datum, of_type: pg_sys::Oid, owner: pg_sys::Oid) -> Vec<u8> {
    let mut function = pg_sys::InvalidOid;
    // SAFETY: as promised by the caller.
    unsafe {
        let base = pg_sys::getBaseType(of_type);
        let path = pg_sys::find_coercion_pathway(
            pg_sys::TEXTOID,
            base,
            pg_sys::CoercionContext::COERCION_EXPLICIT,
            &mut function,
        );
        match path {
            pg_sys::CoercionPathType::COERCION_PATH_RELABELTYPE => output(value, pg_sys::TEXTOID),
            pg_sys::CoercionPathType::COERCION_PATH_FUNC if is_trusted(function, owner) => {
                output(cast(function, value), pg_sys::TEXTOID)
            }
            _ => output(value, base),
        }
    }
}

/// Whether a superuser or `owner` has the function.
fn is_trusted(function: pg_sys::Oid, owner: pg_sys::Oid) -> bool {
    let none = pg_sys::Datum::null();
    // SAFETY: the key of the cache PROCOID is the OID; the column of the owner is an OID, never NULL.
    unsafe {
        let of = pg_sys::GetSysCacheOid(
            pg_sys::SysCacheIdentifier::PROCOID as i32,
            pg_sys::Anum_pg_proc_proowner as pg_sys::AttrNumber,
            pg_sys::Datum::from(function),
            none,
            none,
            none,
        );
        of != pg_sys::InvalidOid && (of == owner || pg_sys::superuser_arg(of))
    }
}

/// SAFETY: `function` is that of an explicit cast of the value's type to text.
unsafe fn cast(function: pg_sys::Oid, value: pg_sys::Datum) -> pg_sys::Datum {
    let collation = pg_sys::DEFAULT_COLLATION_OID;
    // The function of a cast may want to know the type modifier, and whether the cast is explicit.
    // SAFETY: as promised by the caller; as many arguments as it takes.
    unsafe {
        let (modifier, explicit) = (pg_sys::Datum::from(-1_i32), pg_sys::Datum::from(true));
        match pg_sys::get_func_nargs(function) {
            1 => ffi::OidFunctionCall1Coll(function, collation, value),
            2 => ffi::OidFunctionCall2Coll(function, collation, value, modifier),
            _ => ffi::OidFunctionCall3Coll(function, collation, value, modifier, explicit),
        }
    }
}

/// SAFETY: `value` is of this type.
unsafe fn output(value: pg_sys::Datum, of_type: pg_sys::Oid) -> Vec<u8> {
    let (mut function, mut varlena) = (pg_sys::InvalidOid, false);
    // SAFETY: as promised by the caller.
    unsafe {
        pg_sys::getTypeOutputInfo(of_type, &mut function, &mut varlena);
        let text = ffi::OidOutputFunctionCall(function, value);
        std::ffi::CStr::from_ptr(text).to_bytes().to_vec()
    }
}
