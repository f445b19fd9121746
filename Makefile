# function-aws-machinepool: `make help` lists what there is.
#
# Only Go, git and make are needed; python3 for test-aws and e2e, etcd for e2e, root on Debian for test-boot. Tools are
# pinned in modules of their own under tools/ and built once, from source, into $(CACHE)/bin. test/admission and test/e2e
# are modules of their own too: they need other libraries than the function.

# Where built things go. Point it elsewhere to share tools between checkouts.
CACHE := $(abspath $(or $(MACHINEPOOL_CACHE),.cache))
BIN   := $(CACHE)/bin

# What a command may be given on the command line.
GO         ?= go
TESTFLAGS  ?=
FUZZTIME   ?= 60s
BENCHFLAGS ?= -benchtime=1s
HISTORIES  ?= 10000
# A version of the Go module that carries https://vuln.go.dev. What passes must not depend on the day, so it is moved by hand.
VULNDB     ?= v0.0.0-20261105234957-e22db6528018
# Expanded once, so that what is printed is what is run.
SEED       := $(or $(SEED),$(shell date +%s))
VERSION    ?= v0.0.0-$(shell git describe --always --dirty 2>/dev/null || echo unknown)
ARCHS      ?= $(shell $(GO) env GOARCH)

CROSSPLANE_CLI  := $(BIN)/crossplane-cli
CROSSPLANE_CORE := $(BIN)/crossplane-core
CONTROLLER_GEN  := $(BIN)/controller-gen
GOLANGCI_LINT   := $(BIN)/golangci-lint
GOVULNCHECK     := $(BIN)/govulncheck
CONTROL_PLANE   := $(BIN)/kube-apiserver $(BIN)/kube-controller-manager $(BIN)/kubectl
PACKAGER        := $(BIN)/packager
FUNCTION        := $(BIN)/function
PROVIDERS       := $(addprefix $(BIN)/provider-aws-,autoscaling ec2 s3)

SHELL_SCRIPTS = $(shell git ls-files --cached --others --exclude-standard '*.sh' .ci/run)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

##@ See it

.PHONY: help
help: ## Show this help
	@echo 'A Crossplane function that turns a MachinePool into an AWS Auto Scaling group.'
	@echo 'Start with `make render`: it shows what the function makes of each example.'
	@awk 'BEGIN {FS = ":.*## "} \
	  /^##@ / {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: render
render: function $(CROSSPLANE_CLI) $(CROSSPLANE_CORE) ## Render example/ with the real Crossplane, no Docker (UPDATE=1 accepts changes)
	@$(GO) run ./test/render -function $(FUNCTION) -cli $(CROSSPLANE_CLI) -core $(CROSSPLANE_CORE) \
	  -out $(CACHE)/render $(if $(UPDATE),-update)

##@ Change it

.PHONY: test
test: ## Run every Go test (TESTFLAGS="-race -run Name")
	@status=0; for module in . test/admission; do \
	  echo "go -C $$module test $(TESTFLAGS) ./..." >&2; \
	  $(GO) -C $$module test $(TESTFLAGS) ./... || status=1; \
	done; exit $$status

.PHONY: test-aws
test-aws: ## Run the tests against a real moto server (needs python3)
	@MACHINEPOOL_CACHE=$(CACHE) GO=$(GO) test/aws/run.sh $(TESTFLAGS)

.PHONY: test-boot
test-boot: ## Boot the user data on a real cloud-init, in a chroot (needs root, installs with apt; BOOTFLAGS="-test.run Name")
	@MACHINEPOOL_CACHE=$(CACHE) test/boot/run.sh $(BOOTFLAGS)

.PHONY: e2e
e2e: package $(CROSSPLANE_CORE) $(CONTROL_PLANE) ## Run it in a real control plane (needs etcd and python3; TESTFLAGS="-run Name")
	@MACHINEPOOL_MOTO_PYTHON=$$(MACHINEPOOL_CACHE=$(CACHE) test/aws/moto/install.sh) && export MACHINEPOOL_MOTO_PYTHON && \
	MACHINEPOOL_CACHE=$(CACHE) $(GO) -C test/e2e test -tags e2e -count=1 -timeout 20m $(TESTFLAGS) . ./internal/...

.PHONY: e2e-provider
e2e-provider: package $(CROSSPLANE_CORE) $(BIN)/kube-apiserver $(BIN)/kube-controller-manager $(PROVIDERS) ## The same with the real provider-aws against moto (builds it, 40 minutes the first time)
	MACHINEPOOL_MOTO_PYTHON=$$(MACHINEPOOL_CACHE=$(CACHE) test/aws/moto/install.sh) && export MACHINEPOOL_MOTO_PYTHON && \
	  $(GO) -C test/e2e test -tags e2eprovider -count=1 -timeout 60m -v $(TESTFLAGS) ./provider

.PHONY: lint
lint: $(GOLANGCI_LINT) ## Lint the Go code, the language, and shell scripts if shellcheck is there (FIX=1 fixes what it can)
	@status=0; for module in . test/admission test/e2e tools/packager; do \
	  echo "golangci-lint run $$module/..." >&2; \
	  (cd $$module && $(GOLANGCI_LINT) run --allow-parallel-runners $(if $(FIX),--fix) ./...) || status=1; \
	done; \
	echo 'go run ./tools/prose' >&2; $(GO) run ./tools/prose || status=1; \
	if command -v shellcheck >/dev/null; then \
	  echo 'shellcheck $(SHELL_SCRIPTS)' >&2; shellcheck $(SHELL_SCRIPTS) || status=1; \
	else \
	  echo 'lint: shellcheck is not installed, so shell scripts were not checked.'; \
	fi; \
	exit $$status

.PHONY: vulncheck
vulncheck: function $(GOVULNCHECK) ## Look in the function for what is known to be vulnerable (VULNDB=latest asks what is known today)
	@$(GO) run ./tools/vulncheck -govulncheck $(GOVULNCHECK) -database $(VULNDB) $(FUNCTION)

.PHONY: generate
generate: $(CONTROLLER_GEN) ## Write deepcopy, the XRD, the Input's CRD and docs/api.md from the Go types
	$(CONTROLLER_GEN) object paths='./apis/...;./input/...'
	$(CONTROLLER_GEN) crd paths=./input/... output:crd:dir=package/input
	$(CONTROLLER_GEN) crd paths=./apis/... output:crd:dir=$(CACHE)/crd
	$(GO) run ./tools/xrd -crd $(CACHE)/crd/aws.machinepool.fn.crossplane.io_machinepools.yaml -xrd configuration/machinepools.yaml -input package/input/machinepool.fn.crossplane.io_inputs.yaml
	$(GO) run ./tools/apidoc -xrd configuration/machinepools.yaml -input package/input/machinepool.fn.crossplane.io_inputs.yaml -vocabulary apis/v1alpha1/vocabulary.go -out docs/api.md

.PHONY: fuzz
fuzz: ## Fuzz each fuzz target for FUZZTIME (60s)
	@set -e; targets=$$(git grep --untracked -hoE '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go' | sed 's/^func //' | sort -u); \
	if [ -z "$$targets" ]; then echo 'fuzz: no fuzz target found'; exit 1; fi; \
	for target in $$targets; do \
	  for file in $$(git grep --untracked -lE "^func $$target\(" -- '*_test.go'); do \
	    echo "fuzzing $$target in ./$$(dirname $$file) for $(FUZZTIME)"; \
	    $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "./$$(dirname $$file)"; \
	  done; \
	done

.PHONY: histories
histories: ## Hold a pool's six properties over HISTORIES (10000) random histories (SEED=n replays)
	@echo 'SEED=$(SEED)'
	GOGC=400 $(GO) test -run '^TestHistories$$' -count=1 -timeout 30m . -rapid.checks=$$(( $(HISTORIES) / 4 )) -rapid.seed=$(SEED)

.PHONY: soak
soak: ## The same over 1,000,000 histories, some hours (SEED=n replays)
	@echo 'SEED=$(SEED)'
	GOGC=800 $(GO) test -run '^TestHistories$$' -count=1 -timeout 0 -parallel 4 . -rapid.checks=250000 -rapid.seed=$(SEED)

.PHONY: mutants
mutants: ## Make the mistakes of docs/proof.md and expect the property that it names to fail
	$(GO) run ./test/mutants

.PHONY: bench
bench: ## Measure a run against a no-op, and calls to AWS per pool (BENCHFLAGS="-benchtime=5s -count=3")
	$(GO) test -run '^$$' -bench . -benchmem $(BENCHFLAGS) . ./internal/aws

##@ Ship it

.PHONY: package
package: $(CROSSPLANE_CLI) $(PACKAGER) ## Build both Crossplane packages, no Docker (ARCHS="amd64 arm64" VERSION=v1.2.3)
	@$(PACKAGER) -cli $(CROSSPLANE_CLI) -out $(patsubst $(CURDIR)/%,%,$(CACHE))/package -version $(VERSION) $(ARCHS)

.PHONY: verify
verify: generate lint vulncheck test histories test-aws test-boot render fuzz bench package e2e ## Everything before a pull request: all of the above

##@ Tools

.PHONY: tools
tools: $(CROSSPLANE_CLI) $(CROSSPLANE_CORE) $(CONTROL_PLANE) $(CONTROLLER_GEN) $(GOLANGCI_LINT) $(GOVULNCHECK) $(PACKAGER) ## Build every pinned tool now instead of on first use

.PHONY: clean
clean: ## Remove what was built, the tools included
	rm -rf $(CACHE)

# The function itself: Go decides what needs compiling.
.PHONY: function
function:
	@mkdir -p $(BIN)
	@[ -x $(FUNCTION) ] || echo 'building the function, about 2 minutes the first time ...'
	@$(GO) build -o $(FUNCTION) .

# build-tool NAME,MODULE,PACKAGE,DURATION,LDFLAGS makes $(BIN)/NAME from tools/MODULE,
# anew when its module changes.
define build-tool
$(BIN)/$(1): tools/$(2)/go.mod tools/$(2)/go.sum
	@mkdir -p $(BIN)
	@echo 'building $(1), about $(4) the first time ...'
	@cd tools/$(2) && $(GO) build -ldflags '-s -w $(5)' -o $$@ $(3)
	@touch $$@
endef

$(eval $(call build-tool,crossplane-cli,crossplane-cli,github.com/crossplane/cli/v2/cmd/crossplane,3 minutes))
$(eval $(call build-tool,crossplane-core,crossplane-core,github.com/crossplane/crossplane/v2/cmd/crossplane,2 minutes,-X github.com/crossplane/crossplane-runtime/v2/pkg/version.version=v2.3.4))
$(eval $(call build-tool,kube-apiserver,kubernetes,k8s.io/kubernetes/cmd/kube-apiserver,4 minutes,-X k8s.io/component-base/version.gitVersion=v1.35.4))
$(eval $(call build-tool,kube-controller-manager,kubernetes,k8s.io/kubernetes/cmd/kube-controller-manager,2 minutes,-X k8s.io/component-base/version.gitVersion=v1.35.4))
$(eval $(call build-tool,kubectl,kubernetes,k8s.io/kubernetes/cmd/kubectl,1 minute,-X k8s.io/component-base/version.gitVersion=v1.35.4))
$(eval $(call build-tool,controller-gen,controller-gen,sigs.k8s.io/controller-tools/cmd/controller-gen,1 minute))
$(eval $(call build-tool,golangci-lint,golangci-lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint,4 minutes))
$(eval $(call build-tool,govulncheck,govulncheck,golang.org/x/vuln/cmd/govulncheck,1 minute))
$(eval $(call build-tool,packager,packager,.,1 minute))
$(PACKAGER): $(wildcard tools/packager/*.go)

# The three share nearly all of their code: the second and the third are linked within a minute.
$(PROVIDERS): $(BIN)/provider-aws-%: test/e2e/provideraws/go.mod test/e2e/provideraws/go.sum
	@mkdir -p $(BIN)
	@echo 'building provider-aws-$*, about 40 minutes the first time ...'
	@cd test/e2e/provideraws && $(GO) build -ldflags '-s -w' -o $@ github.com/upbound/provider-aws/v2/cmd/provider/$*
	@touch $@
