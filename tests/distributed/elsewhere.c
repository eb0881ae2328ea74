/*
 * A stand-in for distributed tables: a table that is named by the setting elsewhere.shell is an empty shell for queries, which read the rows of the one named by
 * elsewhere.rows in its place, by a custom scan of this module. Both are given by their names, and have the same columns.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "catalog/namespace.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "nodes/extensible.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

PG_MODULE_MAGIC;

/* An access method of its own, as far as anybody can tell. Indexes are made while tables are empty: heap's routine for it looks who calls. */
static double
build_nothing(Relation table, Relation index, struct IndexInfo *info, bool allow_sync, bool anyvisible, bool progress,
			  BlockNumber start, BlockNumber blocks, IndexBuildCallback callback, void *callback_state, TableScanDesc scan)
{
	return 0;
}

PG_FUNCTION_INFO_V1(other_handler);

Datum
other_handler(PG_FUNCTION_ARGS)
{
	static TableAmRoutine routine;

	routine = *GetHeapamTableAmRoutine();
	routine.index_build_range_scan = build_nothing;
	PG_RETURN_POINTER(&routine);
}

void		_PG_init(void);

static char *shell;
static char *rows;
static set_rel_pathlist_hook_type previous;

typedef struct
{
	CustomScanState css;
	Relation	table;
	TableScanDesc scan;
	TupleTableSlot *slot;
} Elsewhere;

static Oid
named(const char *name)
{
	if (name == NULL || name[0] == '\0')
		return InvalidOid;
	return RelnameGetRelid(name);
}

static void
begin(CustomScanState *node, EState *estate, int flags)
{
	Elsewhere  *state = (Elsewhere *) node;

	state->table = table_open(named(rows), AccessShareLock);
	state->slot = table_slot_create(state->table, NULL);
	state->scan = table_beginscan(state->table, estate->es_snapshot, 0, NULL);
}

static TupleTableSlot *
next(ScanState *node)
{
	Elsewhere  *state = (Elsewhere *) node;
	TupleTableSlot *to = node->ss_ScanTupleSlot;

	if (!table_scan_getnextslot(state->scan, ForwardScanDirection, state->slot))
		return ExecClearTuple(to);
	return ExecCopySlot(to, state->slot);
}

static bool
recheck(ScanState *node, TupleTableSlot *slot)
{
	return true;
}

static TupleTableSlot *
exec(CustomScanState *node)
{
	return ExecScan(&node->ss, next, recheck);
}

static void
end(CustomScanState *node)
{
	Elsewhere  *state = (Elsewhere *) node;

	table_endscan(state->scan);
	ExecDropSingleTupleTableSlot(state->slot);
	table_close(state->table, NoLock);
}

static void
rescan(CustomScanState *node)
{
	table_rescan(((Elsewhere *) node)->scan, NULL);
	ExecScanReScan(&node->ss);
}

static const CustomExecMethods exec_methods = {
	.CustomName = "Elsewhere",
	.BeginCustomScan = begin,
	.ExecCustomScan = exec,
	.EndCustomScan = end,
	.ReScanCustomScan = rescan,
};

static Node *
state_of(CustomScan *scan)
{
	Elsewhere  *state = (Elsewhere *) newNode(sizeof(Elsewhere), T_CustomScanState);

	state->css.methods = &exec_methods;
	return (Node *) state;
}

static const CustomScanMethods scan_methods = {"Elsewhere", state_of};

static Plan *
plan_of(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses, List *plans)
{
	CustomScan *scan = makeNode(CustomScan);

	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = extract_actual_clauses(clauses, false);
	scan->scan.scanrelid = rel->relid;
	scan->methods = &scan_methods;
	return &scan->scan.plan;
}

static const CustomPathMethods path_methods = {"Elsewhere", plan_of};

static void
pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	CustomPath *path;

	if (previous)
		previous(root, rel, rti, rte);
	if (rte->rtekind != RTE_RELATION || rte->relid != named(shell))
		return;
	path = makeNode(CustomPath);
	path->path.pathtype = T_CustomScan;
	path->path.parent = rel;
	path->path.pathtarget = rel->reltarget;
	path->path.rows = 1000;
	path->path.total_cost = 1000;
	path->methods = &path_methods;
	rel->pathlist = NIL;
	rel->partial_pathlist = NIL;
	add_path(rel, &path->path);
}

void
_PG_init(void)
{
	DefineCustomStringVariable("elsewhere.shell", "Table whose rows are elsewhere.", NULL, &shell, "", PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("elsewhere.rows", "Table that has them.", NULL, &rows, "", PGC_USERSET, 0, NULL, NULL, NULL);
	previous = set_rel_pathlist_hook;
	set_rel_pathlist_hook = pathlist;
}
