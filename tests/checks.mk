# checks.mk - what `make` can do besides building, running, testing and installing.
#
# make quick         builds without optimisation (build/quick) and runs the suites that notice most: for while one writes;
#                    suites='families:random_models/gemma2 edits' runs these in their place, by suite, test or row
# make asan tsan     the tests under sanitizers;      make fuzz: each target for FUZZ_SECONDS, or FUZZ_RUNS inputs if they take less
# make portable    the program without what Linux alone has (build/portable), and its tests: lib/engine/base/os.h
# make house         counts files, lines, long lines and functions, and names of files in several rooms
# make walls         checks which room may include which;   make lint: clang-tidy, cppcheck, gcc's analyzer
# make test-python   the module of data/python over the library as it is built here, if there is NumPy; make test also does
# make test-wheel    builds the wheel, and the same on what pip makes of it in a new environment
# make test-train    makes the built-in model induction again, and finds the heads that repeat a text: half a minute
# make test-ports    counts the mistakes in ports of models that diff finds, and names those it misses
# make test-rows     adds a kind, a format, a family, a container, a score, activations, their functions, a command
# make test-engine   compares what the engine of pages (make engine) answers with what the library does; make test also does
# make test-browser  tests the page of --format html in chromium, if it is installed
# make test-attack   fails and kills at every system call, mutates every input, compares ways to compute: tests/attack/README.md
# make test-sizes    whether twice as many things take each reader about twice as many steps
# make test-lanes    compares the vectors of each instruction set with plain loops: tests/lanes/lanes.c
# make test-schemas  all tests, with what the program writes as JSON compared with the schemas of help --json
# make test-often    runs=300 suites='...': runs each suite so often, beside other work, and says which failed, how often and why
# make test-install  installs into a folder whose name has a blank, looks at what is there, and takes it away again
# make test-kill     ends batches at 200 random moments and resumes them
# make test-bare     make run and make test, each the first thing on a fresh Debian in a chroot, release=bookworm or trixie, or
#                    on an Ubuntu, release=noble unsigned=1 (tests/bare.sh); commands='"make run"': only that;   arch=arm64: in a root
#                    of that architecture, under an emulator
# make arm           cross-compiles for AArch64, into build/arm;   make test-arm: its tests that compute under an emulator, and
#                    whether it writes the bytes that this machine's build does of every recorded model: tests/bits.py;
#                    make test-arm-quick: five suites and three models, four minutes of processor time with the build
# make test-cluster  runs the recipes of data/batch under GNU parallel, Slurm, mpirun and Snakemake, if installed
# make bench         measures how close each stage comes to the machine's limits, in one process
# make bench-products  the same of single products, beside libxsmm and oneDNN (libdnnl-dev)
# make bench-blocks  the same of weights in quantised blocks, beside F16
# make bench-kinds   measures what each kind of attention costs as the text grows
# make mutate        breaks lib and cmd in N=100 small ways, at random from SEED=1, and lists those that no test notices
# make transcripts   writes what the commands in tests/transcripts print now into them: read the difference before it is kept
# make coverage      how much of lib/ the tests run
# make gallery       draws the pictures of the documents, and a contact sheet of every kind to look at: build/release/sheet.html

# The first on the path may be a script that takes ten times as long to start.
python := $(firstword $(wildcard /usr/bin/python3) python3)
FUZZ_SECONDS ?= 10
FUZZ_RUNS    ?= -1

readers := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
# What several targets use.
shared := $(addprefix $(B)/tests/fuzz/,archive.o tokenizing.o)
$(B)/replay_%: $(B)/tests/fuzz/fuzz_%.o $(shared) $(B)/tests/fuzz/replay.o $(B)/tests/support/parsers.o $(B)/libattn.a
	$(call do,LINK $@) $(link) -o $@ $^ $(parsers) $(libs)
$(B)/fuzz_%: $(B)/tests/fuzz/fuzz_%.o $(shared) $(B)/tests/fuzz/mutate.o $(B)/tests/support/parsers.o $(B)/libattn.a
	$(call do,LINK $@) $(link) -fsanitize=fuzzer -o $@ $^ $(parsers) $(libs)

# Sanitizers map fixed addresses, which the address space randomization of some kernels may have taken: setarch -R turns it off.
steady := $(if $(filter asan tsan,$(flavour)),$(shell setarch -R true 2>/dev/null && echo setarch -R))
# Time limits are to end tests that hang, not to fail on a busy machine.
export CK_TIMEOUT_MULTIPLIER ?= 10
command := $(B)/$(if $(root),emulated,attn-cli)
tests-built: $(B)/attn-cli $(command) $(B)/attn-tests $(B)/bench-stages $(readers:%=$(B)/replay_%)
run-tests: tests-built
	@set -e; for r in $(readers); do $(steady) $(emulate) $(B)/replay_$$r tests/corpus/$$r/*; done
	@$(run_suites)
run-suites: $(command) $(B)/attn-tests $(B)/bench-stages
	@$(run_suites)
# While one writes: built without optimisation but for what computes, and the suites that notice most.
quick:
	@$(MAKE) --no-print-directory flavour=quick $(build)/quick/attn-cli run-suites suites='$(or $(suites),$(quick_suites))'
quick_suites := names additions family checkpoints:every_activation families:every_family_is_drawn families:random_models \
                init_family:the_command_knows_every_family
run_suites = ATTN_CLI=$(command) $(steady) $(emulate) $(B)/attn-tests $(suites)
$(B)/emulated: $(B)/attn-cli
	@printf '#!/bin/sh\nexec %s "%s" "$$@"\n' '$(emulate)' "$$(realpath $<)" >$@ && chmod +x $@

# The engine of pages, under node, beside the library: tests/engine/engine.mjs.
$(B)/fused.wasm: tests/engine/fused.c $(wildcard lib/engine/compute/*.h) $(E)/flags
	@mkdir -p $(E)/tests
	$(call do,WASM $<) $(wasm_cc) $(wasm_std) $(wasm_vec_wasm) -Os -c -o $(E)/tests/fused.o $<
	$(call do,LINK $@) $(wasm_cc) -o $@ $(E)/tests/fused.o -nostartfiles -Wl,--no-entry,--gc-sections,--strip-all,-z,stack-size=1048576
$(B)/answers: $(B)/tests/engine/answers.o $(B)/libattn.a
	$(call do,LINK $@) $(link) -o $@ $(binary) $(libs)
test-engine: $(B)/attn-cli $(B)/answers $(B)/engine.z
	@if [ ! -s $(B)/engine.z ]; then echo "test-engine: skipped, this build has no page engine (make engine)"; exit $${ATTN_SKIP_NOTHING:-0}; fi; \
	command -v node >/dev/null || { echo "test-engine: skipped, there is no node (sudo apt-get install nodejs)"; exit $${ATTN_SKIP_NOTHING:-0}; }; \
	$(MAKE) --no-print-directory $(B)/fused.wasm && node tests/engine/fused.mjs $(B)/fused.wasm && \
	node tests/engine/engine.mjs $(B)/engine.wasm $(B)/answers $(B)/attn-cli

# The tests run a program that lies between them and attn-cli, and compares.
test-schemas: tests-built $(B)/checked $(B)/schemas
	@rm -f $(B)/checked.log
	@ATTN_CLI=$(B)/checked $(B)/attn-tests $(suites); rc=$$?; $(B)/checked --report && exit $$rc
$(B)/checked: $(B)/tests/schemas/checked.o $(B)/tests/support/schema.o
	$(call do,LINK $@) $(link) -o $@ $^ -lcjson
$(B)/schemas: $(B)/attn-cli
	@mkdir -p $@
	$(call do,PRINT $@) for c in $$($< help --json | jq -r '.commands[].name'); do $< help $$c --json >$@/$$c.json || exit; done; touch $@

# For AArch64, by a cross compiler and with Debian's libraries for it.  The tests that compute run under an emulator, and all that
# it writes of recorded models (bits=NAME: only of some) is compared with this machine's.  An emulator computes each product by a
# function: what takes a second here takes it a minute or more.  So five suites are left out that would take it more than ten minutes
# each, identities, slopes, families, train_family and grad (suites='...' asks for them); bits.py compares all of these.
arm_suites := base num elementary rng boxmuller dtype dequantise vec microkernel gemm page_in scaled_dot_product attention heads \
    sinks reference seeds checkpoints students further trained predict training dump generate derivation \
    ablate metric cross derived kinds edits edits_golden edit_kinds scores by_hand tiny
test-arm: export CK_TIMEOUT_MULTIPLIER = 100
arm: $(build)/arm/root
	$(MAKE) flavour=arm all
test-arm: $(build)/arm/root $(B)/attn-cli
	$(MAKE) flavour=arm all run-suites suites='$(or $(suites),$(arm_suites))'
	$(python) -B tests/bits.py $(B)/attn-cli $(build)/arm/emulated $(bits)
# From vectors to whole runs, and weights that were stored in three ways: what takes seconds where each product is emulated.
test-arm-quick:
	$(MAKE) test-arm suites='vec scaled_dot_product attention seeds students' bits=gguf/
$(build)/arm/root:
	@tests/need.sh gcc-aarch64-linux-gnu qemu-user-static
	tests/foreign.sh arm64 $@ $(linked) $(linked_to_test)

asan tsan: export ASAN_OPTIONS = allocator_may_return_null=1
asan tsan: export CK_TIMEOUT_MULTIPLIER = 40
asan:
	$(MAKE) flavour=asan run-tests
	LIBXSMM_TARGET=generic $(MAKE) flavour=asan run-suites suites='attention heads run'
# All rows of a test, in CI, too.
tsan: export ATTN_TEST_SHARE = 1
# Only tests in which threads work together: all others would take many minutes more, and no fuzz target has threads.
tsan:
	$(MAKE) flavour=tsan run-suites suites='team microkernel gemm heads attention cross lines writers sinks training \
	    $(addsuffix :threads_change_no_bit,grad scores) run:threads_do_not_change_a_bit kinds:every_kind_keeps_its_bits \
	    slopes:threads_change_no_bit_and_times_multiplies batch:threads_and_company_change_nothing generate:draws_do_not_depend_on_threads'

portable:
	$(MAKE) flavour=portable all run-tests

fuzz:
	$(MAKE) flavour=fuzz CC=clang run-fuzz
run-fuzz: $(readers:%=run-fuzz-%)
run-fuzz-%: $(B)/fuzz_%
	@tests/fuzz/smoke.sh $(B) $* $(FUZZ_SECONDS) $(FUZZ_RUNS)

test-browser: $(B)/attn-cli
	@for p in python3 chromium chromedriver; do command -v $$p >/dev/null || { echo "test-browser: skipped, there is no $$p" \
	    "(sudo apt-get install python3 chromium chromium-driver)"; exit $${ATTN_SKIP_NOTHING:-0}; }; done; ATTN_CLI=$< $(python) -B tests/browser/test_page.py && \
	ATTN_CLI=$< $(python) -B tests/browser/test_live.py

test-python: $(B)/attn-cli $(B)/libattn.so
	@$(python) -c 'import numpy' 2>/dev/null || { echo "test-python: skipped, there is no NumPy (sudo apt-get install python3-numpy)"; \
	    exit $${ATTN_SKIP_NOTHING:-0}; }; ATTN_CLI="$$(realpath $<)" ATTN_LIBRARY="$$(realpath $(B)/libattn.so)" $(python) -B tests/python/test_module.py -b
# The same files give the same bytes.
test-wheel: wheel
	@$(MAKE) --no-print-directory $(B)/attn-cli
	@mkdir -p $(B)/again && $(call pack_wheel,$(B)/again) && cmp $(B)/*.whl $(B)/again/*.whl && rm -r $(B)/again
	@PYTHON=$(python) tests/python/test_wheel.sh $(B)

# Takes a minute or two; see tests/train/test_induction.c.
test-train: $(B)/attn-cli $(B)/attn-tests
	ATTN_SLOW=1 ATTN_CLI=$(B)/attn-cli $(B)/attn-tests repeats

# Half a minute; see tests/compare/test_ports.c.
test-ports: $(B)/attn-cli $(B)/attn-tests
	ATTN_PORTS=1 ATTN_CLI=$(B)/attn-cli $(B)/attn-tests ports

# Half a minute: it builds the program, without optimisation.
test-rows:
	$(python) -B tests/rows.py

test-kill: $(B)/attn-cli $(B)/attn-tests
	ATTN_KILLS=200 ATTN_CLI=$(B)/attn-cli $(B)/attn-tests batch_kill

# To find what fails now and then: slow runs show it sooner than quick ones, so more work at once than there are processors.
runs ?= 300
test-often: $(B)/attn-cli $(B)/attn-tests
	@ATTN_TEST_TIMES=$(runs) ATTN_TEST_JOBS=$${ATTN_TEST_JOBS:-$$((3 * $$(nproc)))} ATTN_CLI=$(B)/attn-cli $(B)/attn-tests $(suites)

# It builds for that folder: the next `make` builds for this prefix again.
test-install:
	+tests/install.sh

test-attack: $(B)/attn-cli $(B)/libattn.so $(B)/fault.so $(build)/attack/differential
	BUILD=$(build) tests/attack/attack.sh $(parts)
$(B)/fault.so: tests/attack/fault.c
	@mkdir -p $(@D)
	$(call do,LINK $@) $(CC) $(std) -fvisibility=default $(warn) $(CFLAGS) -shared -o $@ $< -ldl
$(build)/attack/differential: $(B)/tests/attack/differential.o $(B)/libattn.a
	@mkdir -p $(@D)
	$(call do,LINK $@) $(link) -o $@ $^ $(libs)

# Counts steps instead of seconds, which other work on the machine would change.
test-sizes:
	@$(MAKE) --no-print-directory flavour=steps $(build)/steps/attn-cli
	$(python) -B tests/sizes/sizes.py $(build)/steps/attn-cli
$(B)/tests/sizes/steps.o $(B)/tests/mutate/reached.o: flags :=        # which must not call itself

# The program stands alone, so that NEON can be tested on an x86 processor without the libraries of a whole build.
lanes_build = mkdir -p $(build)/lanes; $(1) $(std) $(warn) -O2 $(2) -o $(build)/lanes/$(3) tests/lanes/lanes.c -lm
test-lanes: test-lanes-generic test-lanes-avx2 test-lanes-avx512bw test-lanes-neon
test-lanes-%: FORCE
	@grep -qwE $(patsubst generic,'sse2|asimd',$*) /proc/cpuinfo || { echo "lanes: $* skipped, not in this processor"; exit 0; }; \
	    $(call lanes_build,$(CC),$(cflags_vec_$(patsubst avx512bw,avx512,$*)),$*) && $(build)/lanes/$*
test-lanes-neon: FORCE
	@for p in aarch64-linux-gnu-gcc $(or $(call emulator,aarch64),qemu-aarch64-static); do command -v $$p >/dev/null || { \
	    echo "lanes: neon skipped, there is no $$p (sudo apt-get install gcc-aarch64-linux-gnu qemu-user-static)"; \
	    exit $${ATTN_SKIP_NOTHING:-0}; }; done; \
	    $(call lanes_build,aarch64-linux-gnu-gcc,-static $(cflags_vec_neon),neon) && $(call emulator,aarch64) $(build)/lanes/neon && \
    $(call lanes_build,aarch64-linux-gnu-gcc,-static,neon-generic) && $(call emulator,aarch64) $(build)/lanes/neon-generic

test-cluster: $(B)/attn-cli
	-@tests/need.sh parallel openssh-server openssh-client slurm-wlm munge openmpi-bin snakemake
	@tests/cluster/cluster.sh $<

release ?= $(debian)
test-bare:
	@tests/bare.sh '$(release)' $(commands)

bench: $(B)/attn-cli $(B)/bench-stages
	@tests/bench/bench.sh $(B)/attn-cli
$(B)/tests/bench/stages/%.o: room := -O3 -Icmd/attn-cli -iquote tests/bench/stages
$(B)/bench-stages: $(call objects,tests/bench/stages/*.c) $(filter-out %/main.o,$(cmd_o)) $(B)/libattn.a
	$(call do,LINK $@) $(link) -o $@ $^ $(libs)
bench-kinds: $(B)/bench-kinds
	$<
bench-products: $(B)/bench-products
	$< 1
	$< 2
bench-blocks: $(B)/bench-blocks
	$< 1
	$< 2
$(B)/bench-blocks: $(B)/tests/support/in_blocks.o
$(B)/bench-kinds $(B)/bench-products $(B)/bench-blocks: $(B)/bench-%: $(B)/tests/bench/%.o $(B)/libattn.a
	$(call do,LINK $@) $(link) -o $@ $^ $(libs)
$(B)/bench-products: libs += $(wildcard /usr/lib/*/libdnnl.so)

transcripts: $(B)/attn-cli $(B)/attn-tests
	@ATTN_WRITE=1 ATTN_CLI=$< $(B)/attn-tests transcripts

coverage:
	@mkdir -p $(build)/coverage; find $(build)/coverage -name '*.gcda' -delete
	$(MAKE) flavour=coverage run-tests
	@tests/coverage.sh $(build)/coverage

# A run that was ended goes on; see tests/mutate/README.md.
N    ?= 100
SEED ?= 1
mutate:
	@nice -n 5 $(python) -B tests/mutate/mutate.py $(mutate_options) $(N) $(SEED)

house: $(B)/libattn.a $(B)/libattn.so
	@$(python) -B tests/house.py
	@$(python) -B tests/walls.py $^

walls: $(B)/libattn.a $(B)/libattn.so
	@$(python) -B tests/walls.py $^

# cppcheck, the longest of all, begins: at the end it would run alone.
lint: lint-cppcheck $(lib_o:$(B)/%.o=$(build)/lint/%) $(cmd_o:$(B)/%.o=$(build)/lint/%) $(build)/lint/models/index
lint-cppcheck:
	cppcheck --quiet --error-exitcode=1 --std=c11 -D_GNU_SOURCE -D__x86_64__ $(wings) -Icmd/attn-cli --enable=warning,performance,portability \
	    --inline-suppr lib cmd models
nodes  := 225000
$(build)/lint/%: %.c FORCE
	$(call do,LINT $<) tests/lint.sh $(nodes) $< $(std) -Icmd/attn-cli $(cflags_$(notdir $*))

gallery: $(B)/attn-cli
	data/gallery/draw.sh $< $(B)
	data/gallery/sheet.sh $< $(B)

.PHONY: quick portable tests-built run-tests run-suites test-engine test-browser test-python test-wheel test-ports \
    test-schemas test-rows \
    test-train test-often test-install test-kill test-attack test-sizes test-lanes test-cluster test-bare arm test-arm asan tsan fuzz run-fuzz bench \
    bench-kinds bench-products bench-blocks coverage transcripts mutate walls house test-arm-quick \
    lint lint-cppcheck gallery
