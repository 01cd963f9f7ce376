# Two commands do all the set-up: `make demo` shows Syncline at work, `make test` proves it.

SHELL := /bin/bash -o pipefail
TOOL  := go tool -modfile=tools/go.mod
BIN   := bin

.PHONY: help
help: ## List the targets.
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## A hub, three members and two manager replicas on loopback; ONCE=1, MEMBERS=n, REPLICAS=n.
	@go build -o $(BIN)/demo ./test/demo && exec $(BIN)/demo $(if $(ONCE),--once) $(if $(MEMBERS),--members=$(MEMBERS)) $(if $(REPLICAS),--replicas=$(REPLICAS))

.PHONY: build
build: ## The manager and synclinectl, into bin/.
	go build -trimpath -o $(BIN)/ ./cmd/...

.PHONY: test
test: ## Everything: race detector, shuffled order, real control planes; one package at a time, so that none starves another.
	go run ./test/fleet/build
	go build -race ./...
	go test -race -shuffle=on -p=1 -timeout=40m ./...
	cd test/controlplane && CGO_ENABLED=0 go test -trimpath -vet=off ./...

.PHONY: e2e
e2e: ## The whole product on real control planes.
	go run ./test/fleet/build
	go test -race -count=1 -timeout=30m ./test/e2e/...

.PHONY: bench
bench: ## Figures as "name value unit" lines, ratios inside one run; ONLY=frozen,view for some.
	go run ./test/bench $(if $(ONLY),-only $(ONLY))

.PHONY: sim
sim: ## Random schedules of crashes, pauses, partitions and skewed clocks on virtual time; SCHEDULES=n.
	cd test/sim && go test -run '^(TestSchedules|TestMutants)$$' -count=1 -timeout=0 -schedules=$(or $(SCHEDULES),10000)

.PHONY: chaos
chaos: ## Three managers, 30 real members, and all that can befall managers; MEMBERS=n, ONLY=kill,stop for some.
	@go build -o $(BIN)/chaos ./test/chaos && exec $(BIN)/chaos $(if $(MEMBERS),--members=$(MEMBERS)) $(if $(ONLY),--only=$(ONLY))

.PHONY: truth
truth: ## Whether what is said of members is so: 600 objects change all the time, watches are late; SECONDS=n.
	@go build -o $(BIN)/truth ./test/truth && exec $(BIN)/truth $(if $(SECONDS),--seconds=$(SECONDS))

.PHONY: deflake
deflake: ## Repeat the tests until one fails: PKG=./... COUNT=20.
	go run ./test/fleet/build
	go test -race -shuffle=on -failfast -count=$(or $(COUNT),20) -timeout=120m $(or $(PKG),./...)

.PHONY: generate
generate: ## Make the generated files anew.
	$(TOOL) controller-gen object crd:maxDescLen=2000 paths=./api/... output:crd:dir=deploy/crds

.PHONY: format
format: ## Format the code.
	$(TOOL) golangci-lint fmt

.PHONY: lint
lint: ## Lint the code; the import direction is held here.
	$(TOOL) golangci-lint run ./...

.PHONY: tidy
tidy:
	go mod tidy
	cd tools && go mod tidy
	cd test/controlplane && go mod tidy

.PHONY: verify
verify: ## Generated files, formatting, lint, tidy modules: the tree is as it would be made.
	@before=$$(git status --porcelain; git diff | sha256sum); \
	$(MAKE) --no-print-directory generate format tidy lint || exit 1; \
	after=$$(git status --porcelain; git diff | sha256sum); \
	if [ "$$before" != "$$after" ]; then \
		echo "verify: these files are not as the tools make them; commit what make generate format tidy gives:"; \
		git status --porcelain; git diff --stat; exit 1; \
	fi; \
	if [ -n "$$CI" ] && [ -n "$$(git status --porcelain)" ]; then \
		echo "verify: the tree is not clean:"; git status --porcelain; exit 1; \
	fi; \
	echo "verify: generated files, formatting, lint and modules are as they should be"
