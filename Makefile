# Thin on purpose: what each target does is in scripts/.
# Variables given to make (PG, MAJORS, ARCHES, PG_CONFIG, CASSERT, QUICK, ACCEPT, DESTDIR, KEEP, TORTURE, QUALITY_…) reach the scripts through the environment.

.DEFAULT_GOAL := help
TESTS ?=
TEST ?=

.PHONY: help all build install uninstall installcheck test test-all regress isolation script torture dev dev-stop demo demo-stop bench compare quality freeze packages release-check clean

help:
	@echo 'make build     [PG=15|16|17|18 | PG_CONFIG=path] release build of the extension'
	@echo 'make install   [PG_CONFIG=path] [DESTDIR=dir]   build and install into that PostgreSQL (15 to 18)'
	@echo 'make uninstall [PG_CONFIG=path] [DESTDIR=dir]   remove from that PostgreSQL what install has put there'
	@echo 'make installcheck [PG_CONFIG=path] [TESTS="a b"] tests against the extension as it is installed in a running server (PGHOST, PGPORT, PGUSER)'
	@echo 'make test      [PG=15|16|17|18 | PG_CONFIG=path] every check and test, in a scratch cluster'
	@echo '               [CASSERT=1]                      with a server that checks its assertions (15, 17 or 18), built from source once'
	@echo 'make test-all  [MAJORS="15 18 16 17"]           make test for each of them, two side by side'
	@echo 'make regress   TESTS="a b" [ACCEPT=1] [PG=…]    these of tests/sql; ACCEPT=1 takes their output as the expected one'
	@echo 'make isolation TESTS="a b" [ACCEPT=1] [PG=…]    these of tests/specs'
	@echo 'make script    TEST=a      [PG=…]               tests/a.test.sh'
	@echo 'make dev       [PG=…] [CASSERT=1]               a cluster that stays up, with which make regress and make isolation take seconds; make dev-stop ends it'
	@echo 'make torture   [TORTURE=minutes] [PG=…]         crashes, a standby, many sessions, canceled jobs, damaged pages; 30 minutes if not told'
	@echo 'make demo      [KEEP=1]                         demonstration in a scratch cluster; KEEP=1 leaves it running'
	@echo 'make demo-stop                                  stop and remove the cluster that KEEP=1 left'
	@echo 'make bench     [PG=15|16|17|18 | PG_CONFIG=path] benchmarks'
	@echo 'make compare   BASE=commit [ROUNDS=5] [ROWS=100000] [PG=…]  times with that commit and with this tree, and their ratios'
	@echo 'make quality   [QUALITY_MILLION=1] [PG=…]       how good the pairs of match models, measures of names and of kinds of errors are, on data with a known truth'
	@echo 'make freeze    [PG=15|18]                       keep what a release leaves behind, once for each of the two majors, before its tag'
	@echo 'make packages  [MAJORS="15 18"] [ARCHES=amd64]  Debian packages, RPMs, archives and images of a release, in target/packages, each tried'
	@echo 'make release-check                              whether versions, scripts, changes, packages and checksums agree'
	@echo 'QUICK=1 with build, regress, isolation or script: a build that compiles in less time and runs more slowly'
	@echo 'make clean                                      remove target/ (builds, downloads, test output)'

# What PGXN's client calls before "make install".
all: build

build:
	@scripts/build.sh

install:
	@scripts/install.sh

uninstall:
	@scripts/uninstall.sh

installcheck:
	@TESTS="$(TESTS)" scripts/installcheck.sh

test:
	@scripts/test.sh

test-all:
	@scripts/test-all.sh

regress:
	@scripts/one.sh regress $(TESTS)

isolation:
	@scripts/one.sh isolation $(TESTS)

script:
	@scripts/one.sh script $(TEST) $(TESTS)

torture:
	@scripts/torture.sh

demo:
	@scripts/demo.sh

demo-stop:
	@scripts/stop.sh demo

dev:
	@scripts/dev.sh

dev-stop:
	@scripts/stop.sh dev

bench:
	@scripts/bench.sh

compare:
	@scripts/compare.sh

quality:
	@scripts/quality.sh

freeze:
	@scripts/freeze.sh

packages:
	@scripts/release/packages.sh

release-check:
	@scripts/release/check.sh

clean:
	@scripts/clean.sh
