//! Who may do what with a relation.

use pgrx::pg_sys;

pub fn is_owner(relation: pg_sys::Oid, user: pg_sys::Oid) -> bool {
    // SAFETY: a catalog look-up by OID.
    unsafe {
        #[cfg(feature = "pg15")]
        return pg_sys::pg_class_ownercheck(relation, user);
        #[cfg(not(feature = "pg15"))]
        return pg_sys::object_ownercheck(pg_sys::RelationRelationId, relation, user);
    }
}

/// Whether row-level security hides rows of the table from the user.
pub fn has_policies_for(relation: pg_sys::Oid, user: pg_sys::Oid) -> bool {
    // SAFETY: a catalog look-up by OID.
    let state = unsafe { pg_sys::check_enable_rls(relation, user, true) };
    state == pg_sys::CheckEnableRlsResult::RLS_ENABLED as i32
}

/// Whether the user may SELECT the table, or at least these columns.
pub fn may_select(relation: pg_sys::Oid, columns: &[i16], user: pg_sys::Oid) -> bool {
    let select = pg_sys::AclMode::from(pg_sys::ACL_SELECT);
    let ok = pg_sys::AclResult::ACLCHECK_OK;
    // SAFETY: catalog look-ups by OID.
    unsafe {
        pg_sys::pg_class_aclcheck(relation, user, select) == ok
            || columns
                .iter()
                .all(|&c| pg_sys::pg_attribute_aclcheck(relation, c, user, select) == ok)
    }
}

/// Whether the user may look up names in the schema of the table.
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
