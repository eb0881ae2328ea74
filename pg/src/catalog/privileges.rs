//! Who may do what with a relation.

use std::ffi::{CStr, CString};

use pgrx::pg_sys;

/// The user whose privileges count now.
pub fn current_user() -> pg_sys::Oid {
    // SAFETY: a variable of the session, which is set in a transaction.
    unsafe { pg_sys::GetUserId() }
}

/// The name of a role; its OID if there is none.
pub fn role(oid: pg_sys::Oid) -> CString {
    // SAFETY: a look-up in the catalog, which gives NULL or a new string.
    unsafe {
        let name = pg_sys::GetUserNameFromId(oid, true);
        match name.is_null() {
            true => CString::new(oid.to_u32().to_string()).expect("digits"),
            false => CStr::from_ptr(name).to_owned(),
        }
    }
}

/// Whether there is a role of an OID.
pub fn is_role(oid: pg_sys::Oid) -> bool {
    // SAFETY: a look-up in the catalog, which gives NULL or a new string.
    unsafe { !pg_sys::GetUserNameFromId(oid, true).is_null() }
}

/// Whether the user owns the relation, by a role or as a superuser.
pub fn is_owner(relation: pg_sys::Oid, user: pg_sys::Oid) -> bool {
    // SAFETY: a catalog look-up by OID.
    unsafe {
        #[cfg(feature = "pg15")]
        return pg_sys::pg_class_ownercheck(relation, user);
        #[cfg(not(feature = "pg15"))]
        return pg_sys::object_ownercheck(pg_sys::RelationRelationId, relation, user);
    }
}

/// Whether the user has a privilege, such as ACL_SELECT, on the whole relation.
pub fn may(relation: pg_sys::Oid, privilege: u32, user: pg_sys::Oid) -> bool {
    // SAFETY: a catalog look-up by OID.
    let result =
        unsafe { pg_sys::pg_class_aclcheck(relation, user, pg_sys::AclMode::from(privilege)) };
    result == pg_sys::AclResult::ACLCHECK_OK
}

/// Whether the user may SELECT the relation, or at least these columns.
pub fn may_select(relation: pg_sys::Oid, columns: &[i16], user: pg_sys::Oid) -> bool {
    may_in_columns(relation, pg_sys::ACL_SELECT, columns, user)
}

/// Whether the user may INSERT into the relation, or at least into these columns.
pub fn may_insert(relation: pg_sys::Oid, columns: &[i16], user: pg_sys::Oid) -> bool {
    may_in_columns(relation, pg_sys::ACL_INSERT, columns, user)
}

fn may_in_columns(
    relation: pg_sys::Oid,
    privilege: u32,
    columns: &[i16],
    user: pg_sys::Oid,
) -> bool {
    let mode = pg_sys::AclMode::from(privilege);
    may(relation, privilege, user)
        || columns.iter().all(|&column| {
            // SAFETY: a catalog look-up by OID and number.
            let result = unsafe { pg_sys::pg_attribute_aclcheck(relation, column, user, mode) };
            result == pg_sys::AclResult::ACLCHECK_OK
        })
}

/// Whether the user may UPDATE the relation, or at least these columns.
pub fn may_update(relation: pg_sys::Oid, columns: &[i16], user: pg_sys::Oid) -> bool {
    may_in_columns(relation, pg_sys::ACL_UPDATE, columns, user)
}

/// Whether the user may SELECT the relation, or one of its columns.
pub fn may_select_any(relation: pg_sys::Oid, user: pg_sys::Oid) -> bool {
    let select = pg_sys::AclMode::from(pg_sys::ACL_SELECT);
    // SAFETY: a catalog look-up by OID.
    let any = || unsafe {
        pg_sys::pg_attribute_aclcheck_all(relation, user, select, pg_sys::AclMaskHow::ACLMASK_ANY)
    };
    may(relation, pg_sys::ACL_SELECT, user) || any() == pg_sys::AclResult::ACLCHECK_OK
}

/// Whether row-level security hides rows of the table from the user.
pub fn has_policies_for(relation: pg_sys::Oid, user: pg_sys::Oid) -> bool {
    // SAFETY: a catalog look-up by OID.
    let state = unsafe { pg_sys::check_enable_rls(relation, user, true) };
    state == pg_sys::CheckEnableRlsResult::RLS_ENABLED as i32
}

/// Whether the user may look up names in the schema of the relation.
pub fn may_use_schema(relation: pg_sys::Oid, user: pg_sys::Oid) -> bool {
    let usage = pg_sys::AclMode::from(pg_sys::ACL_USAGE);
    // SAFETY: catalog look-ups by OID.
    unsafe {
        let schema = pg_sys::get_rel_namespace(relation);
        #[cfg(feature = "pg15")]
        let result = pg_sys::pg_namespace_aclcheck(schema, user, usage);
        #[cfg(not(feature = "pg15"))]
        let result = pg_sys::object_aclcheck(pg_sys::NamespaceRelationId, schema, user, usage);
        result == pg_sys::AclResult::ACLCHECK_OK
    }
}

/// Whether the current user may call a function in a plan. If not all may, another user gets another plan.
///
/// # Safety
/// `root` is of the planning.
pub unsafe fn may_execute(root: *mut pg_sys::PlannerInfo, function: pg_sys::Oid) -> bool {
    let execute = pg_sys::AclMode::from(pg_sys::ACL_EXECUTE);
    // SAFETY: the caller's; a catalog look-up by OID.
    unsafe {
        if super::has_own_privileges(function) {
            (*(*root).glob).dependsOnRole = true;
        }
        let user = pg_sys::GetUserId();
        #[cfg(feature = "pg15")]
        let result = pg_sys::pg_proc_aclcheck(function, user, execute);
        #[cfg(not(feature = "pg15"))]
        let result = pg_sys::object_aclcheck(pg_sys::ProcedureRelationId, function, user, execute);
        result == pg_sys::AclResult::ACLCHECK_OK
    }
}
