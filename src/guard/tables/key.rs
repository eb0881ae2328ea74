//! Primary keys, and the keys of rows as text.

use pgrx::pg_sys;

use crate::guard::row::Row;
use pg::memory::in_scratch;
use pg::output::text_form;
use pg::relation::OpenRelation;
use pg::{catalog, ffi};

/// The columns of a table's primary key, in its order.
#[derive(Clone)]
pub struct PrimaryKey {
    pub columns: Vec<i16>,
}

impl PrimaryKey {
    /// `None` for a table without primary key. The table is locked.
    pub fn of(table: &OpenRelation) -> Option<PrimaryKey> {
        let mut found = None;
        for oid in table.indexes() {
            let index = OpenRelation::index(oid, pg_sys::AccessShareLock);
            // SAFETY: an open index has its row of pg_index, with at least as many columns as key columns.
            let columns = unsafe {
                let form = &*index.rd_index;
                let columns = form.indkey.values.as_slice(form.indnkeyatts as usize);
                form.indisprimary.then(|| columns.to_vec())
            };
            found = found.or(columns);
        }
        found.map(|columns| PrimaryKey { columns })
    }

    /// `(id)=(1)`, `(a, b)=(1,x)`; `text` is what [`PrimaryKey::text`] gives.
    pub fn shown(&self, table: pg_sys::Oid, text: &[u8]) -> Vec<u8> {
        let mut shown = b"(".to_vec();
        for (i, &column) in self.columns.iter().enumerate() {
            if i > 0 {
                shown.extend_from_slice(b", ");
            }
            shown.extend_from_slice(catalog::column_name(table, column).as_bytes());
        }
        shown.extend_from_slice(b")=");
        let is_single = self.columns.len() == 1;
        if is_single {
            shown.push(b'(');
        }
        shown.extend_from_slice(text);
        if is_single {
            shown.push(b')');
        }
        shown
    }

    /// The key of a row, in the database's encoding: what its cast to text gives, or if it has several columns, the
    /// text of a row of them. A cast is used only if a superuser has made it, or `owner`, who owns the guarded table:
    /// with any other cast, the owner of a block list could run code as each user who enters a row.
    pub fn text(&self, row: &Row, owner: pg_sys::Oid) -> Vec<u8> {
        // The functions of the key's types may leave memory behind.
        in_scratch(c"bloom_ident key", || {
            let [column] = self.columns[..] else {
                return self.row_text(row);
            };
            let of_type = catalog::column_type(row.table_oid(), column);
            let text = row.get(column).map(|value| {
                // SAFETY: the value is of its column's type.
                unsafe { text_of(value, of_type, owner) }
            });
            text.unwrap_or_default()
        })
    }

    /// The text of a row of the key's columns.
    fn row_text(&self, row: &Row) -> Vec<u8> {
        let values = self.columns.iter().map(|&column| row.get(column));
        let (mut values, mut nulls): (Vec<_>, Vec<_>) = values
            .map(|value| (value.unwrap_or(pg_sys::Datum::null()), value.is_none()))
            .unzip();
        // SAFETY: the row's descriptor has the columns of the key. The new descriptor has as many columns as there are
        // values, and each is of the same type as its value.
        unsafe {
            let descriptor = pg_sys::CreateTemplateTupleDesc(self.columns.len() as i32);
            let source = (*row.slot).tts_tupleDescriptor;
            for (i, &column) in self.columns.iter().enumerate() {
                pg_sys::TupleDescCopyEntry(descriptor, i as i16 + 1, source, column);
            }
            let key = pg_sys::heap_form_tuple(
                pg_sys::BlessTupleDesc(descriptor),
                values.as_mut_ptr(),
                nulls.as_mut_ptr(),
            );
            let key = pg_sys::HeapTupleHeaderGetDatum((*key).t_data);
            text_form(key, pg_sys::RECORDOID)
        }
    }
}

/// The text of a value: what its cast to text gives, if the cast is trusted, else what its output function gives.
///
/// # Safety
/// `value` is of this type, and not NULL.
unsafe fn text_of(value: pg_sys::Datum, of_type: pg_sys::Oid, owner: pg_sys::Oid) -> Vec<u8> {
    let mut function = pg_sys::InvalidOid;
    // SAFETY: the value is of this type, so also of the type that it is a domain of. A value that is relabelled as text
    // has the bytes of a text. The function of a cast takes a value of this type and gives a text.
    unsafe {
        let base = pg_sys::getBaseType(of_type);
        let path = pg_sys::find_coercion_pathway(
            pg_sys::TEXTOID,
            base,
            pg_sys::CoercionContext::COERCION_EXPLICIT,
            &mut function,
        );
        match path {
            pg_sys::CoercionPathType::COERCION_PATH_RELABELTYPE => {
                text_form(value, pg_sys::TEXTOID)
            }
            pg_sys::CoercionPathType::COERCION_PATH_FUNC if is_trusted(function, owner) => {
                text_form(cast(function, value), pg_sys::TEXTOID)
            }
            _ => text_form(value, base),
        }
    }
}

/// Whether a superuser or `owner` owns the function.
fn is_trusted(function: pg_sys::Oid, owner: pg_sys::Oid) -> bool {
    let none = pg_sys::Datum::null();
    // SAFETY: the cache PROCOID has the OID as its only key; proowner is an OID, and never NULL.
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

/// # Safety
/// `function` is that of an explicit cast to text from the type of `value`, which is not NULL.
unsafe fn cast(function: pg_sys::Oid, value: pg_sys::Datum) -> pg_sys::Datum {
    let collation = pg_sys::DEFAULT_COLLATION_OID;
    // SAFETY: the function of a cast takes the value, and if it has more arguments, the type modifier and whether the
    // cast is explicit. It is given as many arguments as it takes.
    unsafe {
        let (modifier, explicit) = (pg_sys::Datum::from(-1_i32), pg_sys::Datum::from(true));
        match pg_sys::get_func_nargs(function) {
            1 => ffi::OidFunctionCall1Coll(function, collation, value),
            2 => ffi::OidFunctionCall2Coll(function, collation, value, modifier),
            _ => ffi::OidFunctionCall3Coll(function, collation, value, modifier, explicit),
        }
    }
}
