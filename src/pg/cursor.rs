//! Queries that run as the caller, by a cursor, so that memory is needed for some rows at a time only.

use std::ffi::{CStr, CString};

use pgrx::pg_sys;

use crate::pairs::records::{qualified, quoted};
use crate::pg::{check_for_interrupts, ffi};
use crate::types::Varlena;

/// A query, in the database's encoding. Nothing in it may depend on the search_path.
pub struct Sql(Vec<u8>);

impl Sql {
    pub fn new(text: &str) -> Sql {
        Sql(text.as_bytes().to_vec())
    }

    pub fn text(mut self, text: &str) -> Sql {
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    /// An identifier.
    pub fn name(mut self, name: &CStr) -> Sql {
        self.0.extend_from_slice(quoted(name).to_bytes());
        self
    }

    /// Identifiers with commas between them.
    pub fn names<'a>(self, names: impl IntoIterator<Item = &'a CStr>) -> Sql {
        let names = names.into_iter().enumerate();
        names.fold(self, |sql, (i, name)| {
            sql.text(if i > 0 { ", " } else { "" }).name(name)
        })
    }

    /// A locked relation, with its schema.
    pub fn relation(mut self, oid: pg_sys::Oid) -> Sql {
        self.0.extend_from_slice(qualified(oid).to_bytes());
        self
    }
}

/// An open cursor, and the SPI connection that it has to itself.
pub struct Cursor {
    portal: pg_sys::Portal,
    batch: i64,
    outside: pg_sys::MemoryContext,
}

/// A row of a cursor.
#[derive(Clone, Copy)]
pub struct Row {
    tuple: pg_sys::HeapTuple,
    columns: pg_sys::TupleDesc,
}

impl Row {
    /// The value of column `i`, from 0; `None` for NULL. It lives as long as the call that got the row.
    pub fn datum(self, i: usize) -> Option<pg_sys::Datum> {
        let mut is_null = false;
        // SAFETY: the row is there until the next batch; the server checks the number.
        let datum =
            unsafe { pg_sys::SPI_getbinval(self.tuple, self.columns, i as i32 + 1, &mut is_null) };
        (!is_null).then_some(datum)
    }
}

impl Cursor {
    /// Runs a query, reading only, with the caller's privileges and snapshot. `batch` rows are fetched at a time.
    ///
    /// Errors: as the query.
    pub fn open(sql: Sql, arguments: &[(pg_sys::Oid, pg_sys::Datum)], batch: i64) -> Cursor {
        let sql = CString::new(sql.0).expect("no zero byte in a name");
        let (mut types, mut values): (Vec<_>, Vec<_>) = arguments.iter().copied().unzip();
        // SAFETY: the protocol of the SPI; as many values as types, none of them NULL.
        unsafe {
            let outside = pg_sys::CurrentMemoryContext;
            ffi::SPI_connect();
            let portal = ffi::SPI_cursor_open_with_args(
                std::ptr::null(),
                sql.as_ptr(),
                arguments.len() as i32,
                types.as_mut_ptr(),
                values.as_mut_ptr(),
                std::ptr::null(),
                true,
                0,
            );
            Cursor {
                portal,
                batch,
                outside,
            }
        }
    }

    /// The output of column `i`, from 0. It lives as long as the cursor.
    pub fn output(&self, i: usize) -> Output {
        // SAFETY: an open cursor has a descriptor; the server gives no type for a column that is not there.
        let type_oid = unsafe { pg_sys::SPI_gettypeid((*self.portal).tupDesc, i as i32 + 1) };
        assert_ne!(type_oid, pg_sys::InvalidOid, "columns as queried");
        Output::new(type_oid)
    }

    /// Gives every row to `each`, and closes the cursor. `each` allocates in the memory context in which the cursor was
    /// opened, so files that it opens outlive the connection.
    pub fn each(self, mut each: impl FnMut(Row)) {
        // SAFETY: the protocol of the SPI. Rows are freed batch by batch.
        unsafe {
            loop {
                ffi::SPI_cursor_fetch(self.portal, true, self.batch);
                let fetched = pg_sys::SPI_processed as usize;
                if fetched == 0 {
                    break;
                }
                let table = &*pg_sys::SPI_tuptable;
                let before = pg_sys::MemoryContextSwitchTo(self.outside);
                for i in 0..fetched {
                    check_for_interrupts();
                    each(Row {
                        tuple: *table.vals.add(i),
                        columns: table.tupdesc,
                    });
                }
                pg_sys::MemoryContextSwitchTo(before);
                pg_sys::SPI_freetuptable(pg_sys::SPI_tuptable);
            }
            ffi::SPI_cursor_close(self.portal);
            ffi::SPI_finish();
        }
    }
}

/// How values of a type are shown.
pub struct Output {
    function: pg_sys::FmgrInfo,
    /// The value is its own text.
    plain: bool,
    /// Memory for a value.
    scratch: pg_sys::MemoryContext,
}

impl Output {
    fn new(type_oid: pg_sys::Oid) -> Output {
        let mut function = pg_sys::FmgrInfo::default();
        // SAFETY: a type that exists; the context goes with the connection.
        unsafe {
            let (mut oid, mut is_varlena) = (pg_sys::InvalidOid, false);
            pg_sys::getTypeOutputInfo(type_oid, &mut oid, &mut is_varlena);
            pg_sys::fmgr_info(oid, &mut function);
            let base = pg_sys::getBaseType(type_oid);
            Output {
                function,
                plain: base == pg_sys::TEXTOID || base == pg_sys::VARCHAROID,
                scratch: pg_sys::AllocSetContextCreateInternal(
                    pg_sys::CurrentMemoryContext,
                    c"text form of a value".as_ptr(),
                    pg_sys::ALLOCSET_SMALL_MINSIZE as usize,
                    pg_sys::ALLOCSET_SMALL_INITSIZE as usize,
                    pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
                ),
            }
        }
    }

    /// Gives the bytes of a value's text form, in the database's encoding.
    pub fn show<T>(&mut self, value: pg_sys::Datum, to: impl FnOnce(&[u8]) -> T) -> T {
        // SAFETY: a value of the type; what its output function leaves behind is freed.
        unsafe {
            if self.plain {
                return to(Varlena::of(value).bytes());
            }
            let before = pg_sys::MemoryContextSwitchTo(self.scratch);
            let text = ffi::OutputFunctionCall(&mut self.function, value);
            pg_sys::MemoryContextSwitchTo(before);
            let result = to(CStr::from_ptr(text).to_bytes());
            pg_sys::MemoryContextReset(self.scratch);
            result
        }
    }
}
