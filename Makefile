# `make` lists the targets.

FUZZTIME ?= 10s
RACE     := ./server/... ./cqltest/... ./protocol/... ./store/... ./internal/invariants
VERSION  ?=
TOOL     := go tool -modfile=.ci/tools/go.mod

# The packages with tests that are larger in `make full` than in `go test ./...`.
FULL     := ./server ./planner ./store ./store/nearest ./store/engine/badger ./store/engine/disk \
            ./compat_tests/crash ./compat_tests/mutations ./internal/nodes
STRIP    := -s -w $(if $(VERSION),-X main.version=$(VERSION))
BIN      := cqld

# The modules that depend on drivers and other clients, which cqld does not. cluster is another one.
MODULES := cqltest/gocqltest cqltest/gocqlv2test compat_tests/example compat_tests/drivers compat_tests/console

# Runs the tests of the store with the engine disk.
ON_DISK := -overlay store/engine/disk/testdata/store.json

# The supported systems besides linux/amd64.
SYSTEMS := linux/arm64 darwin/amd64 darwin/arm64 windows/amd64

.DEFAULT_GOAL := help
.PHONY: help build full cluster cluster-test cluster-scripts cluster-crash cluster-drivers cluster-suites cluster-bench cluster-real static cross test modules-test race lint generate generated fuzz check licences vulnerabilities vulnerability-list reproducible bench benchmarks properties histories crash soak damage hostile mutations release image drivers docs metadata containers console oracle oracle-stop scripts judge suites differ differ-guardrails

# A prefix for commands that need a real Cassandra 5.0 in $CASSANDRA_ADDR. It starts one unless one is running.
ORACLE := go run ./compat_tests/oracle run

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  \1	/p' $(MAKEFILE_LIST) | expand -t 14

build: ## build ./cqld
	go build -o $(BIN) .

static: ## build ./cqld as in the container image, and test that it needs no other file
	CGO_ENABLED=0 go build -trimpath -ldflags '$(STRIP)' -o $(BIN) .
	./compat_tests/image $(BIN)

release: ## build dist/: an archive for each platform with its licences, an SBOM, and checksums; VERSION names them
	rm -rf dist && mkdir dist
	@go run ./.ci/supply licences dist/LICENSES >/dev/null
	@set -e; for platform in linux/amd64 $(SYSTEMS); do \
		os=$${platform%/*} arch=$${platform#*/}; name=cqld_$(or $(VERSION),devel)_$${os}_$$arch; \
		binary=cqld; [ $$os != windows ] || binary=cqld.exe; \
		echo "$$name"; mkdir dist/$$name; cp README.md LICENSE CHANGELOG.md dist/LICENSES dist/$$name; \
		CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch go build -trimpath -ldflags '$(STRIP)' -o dist/$$name/$$binary .; \
		if [ $$os = windows ]; then (cd dist && python3 -m zipfile -c $$name.zip $$name); \
		else tar -C dist -czf dist/$$name.tar.gz $$name; fi; \
		rm -r dist/$$name; \
	done
	CGO_ENABLED=0 go build -trimpath -ldflags '$(STRIP)' -o dist/built .
	go run ./.ci/supply sbom dist/built dist/cqld_$(or $(VERSION),devel).cdx.json $(or $(VERSION),devel)
	rm dist/built
	cd dist && sha256sum cqld_* >SHA256SUMS && sha256sum --check --quiet SHA256SUMS

licences: ## check and list the licences of all modules
	go test ./.ci/supply
	go run ./.ci/supply licences
	@tool=$$(mktemp) && go build -o "$$tool" ./.ci/supply && code=0 && \
	for module in $(MODULES) cluster/cmd/cqld-cluster; do \
		echo "$$module:"; (cd $$module && "$$tool" licences) || code=1; \
	done; rm -f "$$tool"; exit $$code

VULNDB ?= https://vuln.go.dev

vulnerabilities: ## look for known vulnerabilities in called code; VULNDB is the address of the list
	@for module in . $(MODULES) cluster; do \
		echo "$$module:"; (cd $$module && go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 -db $(VULNDB) ./...) || exit 1; \
	done

vulnerability-list: ## build that list from a Go module, in ./vulndb: for VULNDB=file://$PWD/vulndb
	folder=$$(go mod download -json golang.org/x/vulndb@latest | sed -n 's/^.*"Dir": "\(.*\)".*/\1/p') && here=$$PWD && \
	cd "$$folder" && go run ./cmd/indexdb -vulns data/osv -out "$$here/vulndb"

reproducible: ## build the last commit twice, in different folders, and compare the binaries
	.ci/reproducible

image: ## build the container image cqld with Docker
	docker build --build-arg VERSION=$(VERSION) -t cqld$(if $(VERSION),:$(VERSION)) .

cross: ## build all packages of all modules for the other supported systems
	@for system in $(SYSTEMS); do \
		echo "go build ./... for $$system"; \
		for module in . $(MODULES); do \
			(cd $$module && CGO_ENABLED=0 GOOS=$${system%/*} GOARCH=$${system#*/} go build -trimpath ./...) || exit 1; \
		done; \
	done

test: ## run the tests
	go test ./...

full: ## run the tests at full size with all engines and with assertions, and the scripts in every mode
	TEST_CQLD_FULL=1 go test -tags invariants -count=1 -timeout 30m $(FULL)
	go test -count=1 ./compat_tests -run Scripts -every

modules-test: ## check and test the modules that depend on drivers: gocqltest, the example, Go drivers, histories
	@for module in $(MODULES); do \
		echo "== $$module"; (cd $$module && go vet -unreachable=false ./... && go test ./...) || exit 1; \
	done

cluster: ## build ./cqld-cluster, which has its data in a TiKV cluster
	cd cluster && CGO_ENABLED=0 go build -trimpath -ldflags '$(STRIP)' -o ../cqld-cluster ./cmd/cqld-cluster

cluster-test: ## check and test cqld-cluster on a mock, and on a TiKV cluster if CQLD_TIKV_PD names one
	check=$$($(TOOL) -n staticcheck) && cd cluster && go vet -unreachable=false ./... && "$$check" ./...
	cd cluster && CQLD_TIKV_PD= go test -timeout 10m ./...
	@if [ -n "$$CQLD_TIKV_PD" ]; then cd cluster && go test -v -count=1 -timeout 30m ./tikv/real; \
	else echo "CQLD_TIKV_PD names no placement driver: nothing was run on a real TiKV cluster"; fi

cluster-scripts: ## run the scripts on cqld-cluster in every mode; it takes more than an hour
	cd cluster && go test -timeout 60m -run '^TestScripts' ./cmd/cqld-cluster -all -every

cluster-crash: ## inject ROUNDS faults into three servers of cqld-cluster, their store and PD
	cd cluster && go run ./crash $(if $(filter command line environment,$(origin ROUNDS)),-rounds $(ROUNDS))

# Each connection goes to the next of three servers, whose store is another process.
cluster-drivers: ## run real drivers against three servers of cqld-cluster
	cd cluster && go run ./run sh -c 'compat_tests/drivers/run -a "$$CQL_ADDR" gocql python cqlsh java node rust'

cluster-suites: ## run gocql's test suites against three servers of cqld-cluster, and show failures
	cd cluster && go run ./run sh -c 'go run ./compat_tests/suites -here -addr "$$CQL_ADDR" gocql-v4 apache-gocql-v5'

cluster-bench: ## measure latency and CPU time of statements on cqld-cluster
	cd cluster && go run ./bench

cluster-real: ## test the cluster of deploy/compose.yaml with the official images of PD and TiKV; needs Docker
	deploy/try

race: ## run the tests of the concurrent packages under the race detector, with the assertions of internal/invariants
	go test -race -tags invariants -timeout 30m $(RACE)
	cd cqltest/gocqltest && go test -race ./...

lint: ## check formatting, vet and staticcheck
	@unformatted=$$($(TOOL) gofumpt -l $$(git ls-files -co --exclude-standard '*.go' | grep -v '^grammar/cql_')); \
	if [ -n "$$unformatted" ]; then echo "not formatted with gofumpt:"; echo "$$unformatted"; exit 1; fi
	go vet -unreachable=false ./... # ANTLR generates unreachable code
	@check=$$($(TOOL) -n staticcheck); for module in . $(MODULES); do \
		echo "staticcheck in $$module"; (cd $$module && "$$check" ./...) || exit 1; \
	done

generate: ## generate the parser from the grammar; needs Java and Maven
	go generate ./...

generated: ## check that the generated parser matches the grammar
	@kept=$$(mktemp -d) && cp grammar/*.go "$$kept" && go generate ./grammar && \
	for f in grammar/*.go; do cmp "$$f" "$$kept/$${f##*/}" || \
		{ echo "$$f does not match the grammar: run make generate"; rm -rf "$$kept"; exit 1; }; done; \
	rm -rf "$$kept"

# Go's fuzzer sometimes fails at its deadline without a failing input: "context deadline exceeded".
fuzz: ## run each fuzz target for FUZZTIME (10s)
	@log=$$(mktemp); \
	grep -rHo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | sed 's/:func / /' | sort | \
	while read -r file target; do \
		echo "== $$target in $${file%/*}"; \
		go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$${file%/*}" \
			>"$$log" 2>&1 </dev/null && tail -n 1 "$$log" || \
		{ grep -q '^    context deadline exceeded$$' "$$log" && ! grep -q 'Failing input' "$$log" && \
			echo "nothing found"; } || \
		{ cat "$$log"; exit 1; }; \
	done; code=$$?; rm -f "$$log"; exit $$code

check: lint generated test race fuzz ## the checks of CI, which also builds for each system and runs the drivers

BENCH_ROWS ?= 100000

bench: ## measure start, requests on BENCH_ROWS rows beside a server that does nothing, parsing, values and the store
	go run -C compat_tests/drivers ./bench -part start,growth:$(BENCH_ROWS),driver:$(BENCH_ROWS) -seconds 1
	go test -run '^$$' -bench 'FirstAnswer|ParallelTests|MillionRows|Hour|Template|Functions' -benchtime 20x ./cqltest
	go test -run '^$$' -bench . ./cql/parser ./cql/types ./planner/scope
	go test -run '^$$' -bench "Beside|Allocations|Growth|Durable|Queue|Purge|Definitions|Indexed|TextIndexes|ViewPage" -benchtime 1x $(ON_DISK) ./store

benchmarks: ## compare start, requests, growth, sustained load and memory with a real Cassandra, the shell with the cqlsh in $$CQLSH, and write BENCHMARKS.md
	$(ORACLE) go run -C compat_tests/drivers ./bench -report ../../BENCHMARKS.md

HISTORIES ?= 1000000

properties: ## compare a million pairs of values of each type, and their keys; a million histories of writes with a model
	go test -count=1 -run '^TestProperty' ./cql/types -pairs 1000000
	go test -count=1 -timeout 0 -v -run '^TestProperty' $(ON_DISK) ./store -histories $(HISTORIES) -seed $$(od -An -N4 -tu4 /dev/urandom)

ROUNDS ?= 200

histories: ## check that conditional writes and serial reads are linearizable, in ROUNDS (200) histories of 64 clients and 100 partitions, in memory and across kills
	go test -C compat_tests/drivers -count=1 -timeout 0 -v ./histories -rounds $(ROUNDS) -clients 64 -keys 100

crash: ## kill a server under writes, a hundred times for each --commitlog-sync, and check the data
	go run ./compat_tests/crash
	TEST_CQLD_FULL=1 TEST_CQLD_DISKS=1 go test -count=1 -timeout 60m -run TestFullDiskIsFreed ./compat_tests/crash

SEEDS ?= 1 2 3
FOR   ?= 10m
RATE  ?= 8

soak: ## write a mixed load for ten minutes with kills and restarts, and compare every row; SEEDS, FOR, RATE (MB per second)
	@for seed in $(SEEDS); do go run ./compat_tests/soak -seed $$seed -for $(FOR) -rate $(RATE) || exit 1; done
	TEST_CQLD_COMPACTED=$(FOR) go test -count=1 -timeout 0 -v -run '^TestBesideCompactions$$' ./store/engine/disk

damage: ## damage each file of data folders in many ways, open and repair them
	TEST_CQLD_MATRIX=all go test -count=1 -timeout 0 -run '^(TestRot.*|TestDamage.*|TestOtherDamage)$$' ./store/engine/badger ./store/engine/disk ./command

HOSTILE ?=

hostile: ## attack a server with hostile and unlucky clients next to a normal one; HOSTILE has flags, such as '-run unread -limit 512MiB'
	go run ./compat_tests/hostile $(HOSTILE)

MINUTES ?= 4

mutations: ## send a server malformed sessions, with and without TLS and logins, for MINUTES in total
	go run ./compat_tests/mutations -minutes $(MINUTES)

drivers: ## run real drivers against a server started for them
	compat_tests/drivers/run

PACKAGES ?=

docs: ## run the commands on README.md, CONTRIBUTING.md and the pages in docs; PACKAGES is a folder that compat_tests/drivers/run -w has filled
	go test ./.ci/docs
	go run ./.ci/docs $(if $(PACKAGES),-w $(PACKAGES))

containers: ## build the images, and run them alone, with compose and with the Testcontainers modules; needs Docker
	compat_tests/containers/run

SCREENSHOTS ?= $(CURDIR)/dist/console

console: ## test the console, also in Chromium, and save screenshots in SCREENSHOTS
	go test -count=1 ./server/console
	CONSOLE_SCREENSHOTS=$(SCREENSHOTS) go test -C compat_tests/console -count=1 -v ./...

metadata: ## compare drivers' metadata of cqld's schema with their metadata of Cassandra's
	$(ORACLE) compat_tests/drivers/run metadata-gocql metadata-python metadata-java

oracle: ## start a real Cassandra 5.0 on 127.0.0.1:19042; needs Java 17 and Maven
	go run ./compat_tests/oracle start

oracle-stop: ## stop it
	go run ./compat_tests/oracle stop

scripts: ## run the scripts in every mode; go test runs only some
	go test -count=1 ./compat_tests -run Scripts -every

judge: ## compare all recordings with a real Cassandra
	$(ORACLE) compat_tests/judge

suites: ## run the clients' own test suites against cqld and Cassandra, and write compat_tests/SUITES.md
	$(ORACLE) go run ./compat_tests/suites

differ: ## send the same random statements to cqld and Cassandra, and show the smallest script of each difference
	$(ORACLE) go run ./compat_tests/differ

# Limits that random statements reach, and a disabled feature.
GUARDRAILS := columns_per_table_warn_threshold=10; columns_per_table_fail_threshold=14; \
	column_value_size_warn_threshold=20B; column_value_size_fail_threshold=60B; \
	collection_size_warn_threshold=60B; collection_size_fail_threshold=200B; \
	items_per_collection_warn_threshold=2; items_per_collection_fail_threshold=4; \
	page_size_warn_threshold=3; page_size_fail_threshold=5; \
	partition_keys_in_select_warn_threshold=2; partition_keys_in_select_fail_threshold=4; \
	in_select_cartesian_product_warn_threshold=3; in_select_cartesian_product_fail_threshold=6; \
	unlogged_batch_across_partitions_warn_threshold=1; batch_size_warn_threshold=1KiB; batch_size_fail_threshold=2KiB; \
	read_before_write_list_operations_enabled=false

differ-guardrails: ## the same for guardrails, with low limits and ordinary users
	go run ./compat_tests/oracle -port 19242 -auth -settings '$(GUARDRAILS)' run go run ./compat_tests/differ -settings '$(GUARDRAILS)'
