//! What becomes of entities when records change.

use base::Result;
use linkage::clusters::succession::NOWHERE;
use pgrx::pg_sys;

use super::super::fill::by_owner;
use super::super::stored::Register;
use super::component::{Component, EntityReader, Other, Reach};
use super::known_pairs;
use super::neighbours::{Loaded, Neighbours};
use super::table::EntityTable;
use super::turn::{await_others, join, Entering};
use crate::clusters::Method;
use pg::function::rows::text_datum;
use pg::key_table::KeyWriter;
use pg::row::Row;
use pg::snapshot::now;
use pg::sql;

/// A change that has begun, of which the register's keys do not know yet.
pub enum Begun<'r> {
    /// A record is entered, or was just entered, if it has an entity already.
    Enters(Entering<'r>, bool),
    /// Records are changed or deleted: those that were in pairs with them.
    Changes(Vec<pg_sys::Datum>),
}

impl Register {
    /// The least probability of a pair that is one of any of the register's entities.
    fn least(&self) -> Result<f64> {
        let least = self.entities()?.iter().map(|entities| entities.least);
        Ok(least.fold(f64::INFINITY, f64::min))
    }

    /// To be called before the keys of a row are changed.
    ///
    /// Errors: those of reading values; entities are not as they were made.
    pub fn begin_change(&self, old: Option<&Row>, new: Option<&Row>) -> Result<Begun<'_>> {
        if let (None, Some(id)) = (old, new.and_then(|row| row.get(self.key_number))) {
            let (bytes, _) = self.identity(id);
            let is_in = |entities| EntityReader::new(entities, &now()).of(id).is_some();
            let is_known = self.entities()?.iter().all(is_in);
            return Ok(Begun::Enters(Entering::begin(self, &bytes), is_known));
        }
        join(self);
        let mut near = Vec::new();
        // Where clusters depend on more than on who is connected, those around a record that goes may change, too.
        let is_simple = |entities: &EntityTable| {
            entities.method == Method::Components
                && entities.most == u32::MAX
                && entities.decisions.is_none()
        };
        if let Some(old) = old.filter(|_| !self.settings.is_empty()) {
            let entities = self.entities()?;
            if let (false, Some(id)) = (entities.iter().all(is_simple), old.get(self.key_number)) {
                let mut neighbours = Neighbours::new(self, &now());
                let record = Loaded::new(self, self.texts.of_row(old));
                let (bytes, _) = self.identity(id);
                let found = neighbours.of(&bytes, &record, self.least()?);
                near.extend(found.into_iter().map(|near| near.id));
            }
        }
        Ok(Begun::Changes(near))
    }

    /// To be called after the keys of a row were changed, or found to be there already if `is_same`.
    ///
    /// Errors: a deadlock; too many records hang together; those of reading values.
    pub fn end_change(
        &self,
        begun: Begun<'_>,
        old: Option<&Row>,
        new: Option<&Row>,
        is_same: bool,
    ) -> Result<()> {
        let id_of = |row: Option<&Row>| row.and_then(|row| row.get(self.key_number));
        let (old_id, new_id) = (id_of(old), id_of(new));
        let Some(id) = new_id.or(old_id) else {
            return Ok(());
        };
        known_pairs::changes(self, old_id, new_id);
        match begun {
            Begun::Enters(entering, true) if is_same => {
                known_pairs::clear();
                entering.end();
            }
            Begun::Enters(mut entering, is_known) => {
                let (bytes, _) = self.identity(id);
                let record = Neighbours::new(self, &now()).load(id, &bytes);
                let is_decided = || {
                    let all = self.entities()?.iter();
                    let mut decisions = all.filter_map(|entities| entities.decisions.as_ref());
                    Ok(decisions.any(|decisions| decisions.concerns(&self.text_of(id))))
                };
                let is_alone = match &record {
                    _ if is_known || is_decided()? => {
                        entering.join();
                        if let Some(record) = &record {
                            await_others(self, &bytes, record, self.least()?)?;
                        }
                        false
                    }
                    Some(record) => entering.is_alone(&bytes, record, self.least()?)?,
                    None => true,
                };
                for entities in self.entities()? {
                    match is_alone {
                        true => {
                            known_pairs::clear();
                            self.enter_alone(entities, id);
                        }
                        false => self.settle(entities, &[id], id)?,
                    }
                }
                entering.end();
            }
            Begun::Changes(mut seeds) => {
                seeds.extend(old_id);
                seeds.extend(new_id);
                if let Some(id) = new_id {
                    let (bytes, _) = self.identity(id);
                    let record = Neighbours::new(self, &now()).load(id, &bytes);
                    if let Some(record) = record {
                        await_others(self, &bytes, &record, self.least()?)?;
                    }
                }
                for entities in self.entities()? {
                    if let (Some(old), Some(new)) = (old_id, new_id) {
                        self.rename(entities, old, new);
                    }
                    self.settle(entities, &seeds, id)?;
                }
            }
        }
        Ok(())
    }

    /// Enters a record that makes no pair, unless it is not in the table any more.
    fn enter_alone(&self, entities: &EntityTable, id: pg_sys::Datum) {
        if !self.is_there(id) || EntityReader::new(entities, &now()).of(id).is_some() {
            return;
        }
        let entity = entities.new_entity();
        let mut writer = entities.by_key.write();
        writer.insert(&[Some(id), Some(pg_sys::Datum::from(entity))]);
        writer.write();
        drop(writer);
        self.tell(entities, id, entity, ("made", 1), &[]);
        entities.notify();
    }

    /// Whether the table has a record of this key now.
    fn is_there(&self, id: pg_sys::Datum) -> bool {
        let (mut reader, mut is_there) = (self.rows.read(&now()), false);
        reader.each_of(id, |_| {
            is_there = true;
            false
        });
        is_there
    }

    /// Lets a record that has got another key keep its entity.
    fn rename(&self, entities: &EntityTable, old: pg_sys::Datum, new: pg_sys::Datum) {
        // SAFETY: two keys of the register's type.
        if unsafe { self.key_type.is_same(old, new) } || self.is_there(old) {
            return;
        }
        let writer = entities.by_key.write();
        let mut reader = EntityReader::new(entities, &now());
        if let (Some((entity, tid)), None) = (reader.of(old), reader.of(new)) {
            drop(reader);
            // SAFETY: as above.
            unsafe { pg_sys::CommandCounterIncrement() };
            let values = [Some(new), Some(pg_sys::Datum::from(entity))];
            writer.update(tid, &values);
        }
    }

    /// Finds out what entities there are around these records, and writes what is otherwise than before. What has become
    /// of them is told, with the record that is the cause.
    ///
    /// Errors: too many records hang together; those of reading values.
    pub fn settle(
        &self,
        entities: &EntityTable,
        seeds: &[pg_sys::Datum],
        cause: pg_sys::Datum,
    ) -> Result<()> {
        // Rows stay where they are from here on.
        let writer = entities.by_key.write();
        known_pairs::begin(self);
        let now = now();
        let mut neighbours = Neighbours::new(self, &now);
        let lowest = self.entities()?.iter();
        let lowest = lowest.map(|entities| entities.method.least(entities.least));
        neighbours.keeps = Some(lowest.fold(f64::INFINITY, f64::min));
        let mut reader = EntityReader::new(entities, &now);
        let component = Component::gather(
            &mut neighbours,
            &mut reader,
            entities,
            seeds,
            (None, Reach::All),
        )?;
        drop((neighbours, reader));
        self.apply(entities, writer, &component, Some(cause))?;
        known_pairs::end(self);
        Ok(())
    }

    /// Writes what is otherwise than before. It is told if there is a record that is the cause.
    ///
    /// Errors: out of memory.
    pub fn apply(
        &self,
        entities: &EntityTable,
        mut writer: KeyWriter,
        component: &Component,
        cause: Option<pg_sys::Datum>,
    ) -> Result<()> {
        let outcome = component.outcome(self, entities)?;
        let all = outcome.entities();
        if all.iter().all(|entity| entity.change == "same") {
            return Ok(());
        }
        // What this command has written already can be changed by the next one only.
        // SAFETY: a trigger and a function that writes may begin another command.
        unsafe { pg_sys::CommandCounterIncrement() };
        let id_of =
            |entity: &super::component::Entity| entity.id.unwrap_or_else(|| entities.new_entity());
        let ids: Vec<i64> = all.iter().map(id_of).collect();
        for (place, &part) in outcome.order.iter().enumerate() {
            let part = &component.parts[part as usize];
            let Some(key) = part.id else { continue };
            let now = outcome.now[place];
            let entity = (now != NOWHERE).then(|| ids[now as usize]);
            match (part.was, entity) {
                (Some((was, _)), Some(entity)) if was == entity => (),
                (Some((_, tid)), Some(entity)) => {
                    writer.update(tid, &[Some(key), Some(pg_sys::Datum::from(entity))]);
                }
                (Some((_, tid)), None) => writer.delete(tid),
                (None, Some(entity)) => {
                    writer.insert(&[Some(key), Some(pg_sys::Datum::from(entity))]);
                }
                (None, None) => (),
            }
        }
        writer.write();
        drop(writer);
        let Some(cause) = cause else {
            return Ok(());
        };
        for (entity, &id) in all.iter().zip(&ids) {
            if entity.change == "same" {
                continue;
            }
            let other = |other: &Other| match *other {
                Other::Now(number) => ids[number as usize],
                Other::Ended(id) => id,
            };
            let mut others: Vec<i64> = entity.others.iter().map(other).collect();
            others.sort_unstable();
            self.tell(entities, cause, id, (entity.change, entity.size), &others);
        }
        entities.notify();
        Ok(())
    }

    /// Writes what has become of an entity.
    fn tell(
        &self,
        entities: &EntityTable,
        cause: pg_sys::Datum,
        entity: i64,
        (change, size): (&str, u32),
        others: &[i64],
    ) {
        // SAFETY: it reads the state of the transaction.
        let at = unsafe { pg_sys::GetCurrentTransactionStartTimestamp() };
        let row = [
            Some(pg_sys::Datum::from(entities.new_change())),
            Some(pg_sys::Datum::from(at)),
            Some(cause),
            Some(pg_sys::Datum::from(entity)),
            Some(text_datum(change.as_bytes())),
            Some(pg_sys::Datum::from(size as i32)),
            Some(int8_array(others)),
        ];
        let mut writer = entities.changes.write();
        writer.insert(&row);
        writer.write();
    }

    /// Ends all entities, as the register's table is emptied.
    ///
    /// Errors: a table has triggers, rules or the like, whose code would run as the register's owner.
    pub fn end_entities(&self) -> Result<()> {
        if self.settings.is_empty() {
            return Ok(());
        }
        join(self);
        for entities in self.entities()? {
            let (oid, changes) = (entities.oid(), entities.changes.oid);
            // An older snapshot may not see all entities that end.
            by_owner(self, changes, |session| {
                session.run_on_latest(&sql!(
                    "INSERT INTO {changes} (entity, change, size, others) \
                    SELECT DISTINCT entity, 'ended', 0, '{{}}'::pg_catalog.int8[] FROM {oid}"
                ))
            });
            by_owner(self, oid, |session| {
                session.run(&sql!("TRUNCATE {oid}"), &[])
            });
            entities.notify();
        }
        Ok(())
    }
}

/// An array of numbers, in the current memory context.
pub fn int8_array(numbers: &[i64]) -> pg_sys::Datum {
    let mut datums: Vec<pg_sys::Datum> = numbers.iter().map(|&n| pg_sys::Datum::from(n)).collect();
    // SAFETY: as many numbers as said, of 8 bytes passed by value.
    unsafe {
        let (datums, n) = (datums.as_mut_ptr(), datums.len() as i32);
        let align = b'd' as std::ffi::c_char;
        let array = pg_sys::construct_array(datums, n, pg_sys::INT8OID, 8, true, align);
        pg_sys::Datum::from(array)
    }
}
