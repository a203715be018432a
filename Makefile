# make            the release build: build/release/attn-cli, libattn.a, libattn.so
# make run        installs missing packages, builds, and shows the attention of a sentence with the built-in model
# make test       installs missing packages, builds, and runs every test
# make asan tsan  the tests under sanitizers;      make fuzz: each fuzz target for FUZZ_SECONDS
# make walls      checks which directory may include which;   make lint: clang-tidy, cppcheck, gcc's analyzer
# make test-train    trains a model to repeat a text and finds the heads that do it: a minute
# make test-browser  tests the page of --format html in chromium, if it is installed
# make test-attack  fails and kills at every system call, mutates every input, compares ways to compute: tests/attack/README.md
# make test-sizes  whether twice as many things take each reader about twice as many steps
# make test-kill  ends batches at 200 random moments and resumes them
# make test-cluster  runs the recipes of data/batch under GNU parallel, Slurm, mpirun and Snakemake, if installed
# make bench      measures how close each stage comes to the machine's limits, in one process
# make bench-kinds  measures what each kind of attention costs as the text grows
# make mutate     breaks lib and cmd in N=100 small ways, at random from SEED=1, and lists those that no test notices
# make coverage   how much of lib/ the tests run
# make gallery    draws the pictures of README.md
# make install    to $(DESTDIR)$(prefix);          make uninstall, make clean.  V=1 shows commands.

ifeq ($(origin CC),default)
CC       = gcc
endif
CFLAGS  ?= -O2 -g
prefix  ?= /usr/local
flavour ?= release
FUZZ_SECONDS ?= 10
# The smoke test: the same inputs each time, so that a machine that passes it passes it again.  -1: until the time is up.
FUZZ_RUNS    ?= -1

bindir     = $(prefix)/bin
libdir     = $(prefix)/lib
includedir = $(prefix)/include
datadir    = $(prefix)/share
docdir     = $(datadir)/doc/attn-cli
modelsdir  = $(datadir)/attn-cli/models

version := $(shell sed -n 's/^\#define ATTN_VERSION "\(.*\)"/\1/p' lib/attn.h)
std     := -std=c11 -D_GNU_SOURCE -Ilib -ffp-contract=off -fvisibility=hidden -fPIC
warn    := -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes $(if $(WERROR),-Werror)
libs    := -lxsmm -lxsmmnoblas -l:libutf8proc.a -lcjson -lpng -lpthread -lrt -ldl -lm
parsers := -lexpat -lgumbo
to_test := check libexpat1-dev libgumbo-dev

# A flavour is a directory under build/ with its own flags, which are added to the user's CFLAGS.
flags_asan     := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
flags_tsan     := -O1 -fsanitize=thread
flags_fuzz     := -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
flags_coverage := -O0 --coverage
flags_steps    := -fsanitize-coverage=trace-pc
# For mutations: one object and two links for each, so without debugging information, and with the quicker linker.
flags_mutate   := -O1 -g0 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
    $(shell command -v ld.lld >/dev/null && echo -fuse-ld=lld)
flags          := $(flags_$(flavour))
# What makes a fault in the program hard to use.  Sanitizers find faults themselves, and fortified calls hide some from them.
hard           := $(if $(flags),,-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fcf-protection)
hard_link      := -Wl,-z,relro,-z,now

# Flags for single files, by their names without .c.
cflags_vec_avx2   := -mavx2 -mfma -mf16c
cflags_vec_avx512 := -mavx512f -mavx512bw -mavx512dq -mavx512vl $(cflags_vec_avx2)
cflags_pairs_dots  := -mavx512bf16 $(cflags_vec_avx512)
cflags_pairs_rows  := $(cflags_pairs_dots)
cflags_pairs_tiles := -mamx-tile -mamx-bf16
cflags_pairs_stream_dots  := $(cflags_pairs_dots)
cflags_pairs_stream_tiles := $(cflags_pairs_dots)
cflags_boxmuller   := -O3 -fno-math-errno -fno-trapping-math
cflags_rng         := -O3
cflags_f32         := -O3 -fno-math-errno -fno-trapping-math
cflags_f32_avx2    := $(cflags_f32) -mavx2 -mbmi -mbmi2 -mlzcnt -mtune=haswell
cflags_f32_avx512  := $(cflags_f32) $(cflags_vec_avx512) -mbmi -mbmi2 -mlzcnt -mtune=skylake-avx512 -mprefer-vector-width=512
cflags_source      = -DATTN_MODELS_DIR='"$(modelsdir)"'
room_compute      := -O3

B       := build/$(flavour)
objects  = $(patsubst %.c,$(B)/%.o,$(wildcard $(1)))
lib_o   := $(call objects,lib/*/*.c)
cmd_o   := $(call objects,cmd/attn-cli/*.c cmd/attn-cli/*/*.c)
test_o  := $(call objects,tests/*.c)
fuzz_o  := $(call objects,tests/fuzz/*.c)
readers := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
models  := $(wildcard models/*/*)
printed := $(addprefix $(B)/,attn-cli.1 attn-cli.bash _attn-cli attn-cli.fish)
link     = $(CC) $(CFLAGS) $(hard) $(hard_link) $(flags) $(LDFLAGS)
binary   = $(filter %.o %.a,$^)
do       = @$(if $(V),set -x,echo "  $(1)");

# ---- building ------------------------------------------------------------------------------

all: $(B)/attn-cli $(B)/libattn.so $(B)/attn.pc $(printed)

$(B)/attn-cli: $(cmd_o) $(if $(filter steps,$(flavour)),$(B)/steps.o) $(B)/libattn.a $(B)/objects
	$(call do,LINK $@) $(link) -pie -Wl,--as-needed -o $@ $(binary) $(libs)
$(B)/libattn.a: $(lib_o) $(B)/objects
	$(call do,AR $@) rm -f $@; ar rcs $@ $(binary)
$(B)/libattn.so: $(lib_o) $(B)/objects
	$(call do,LINK $@) $(link) -shared -Wl,-soname,libattn.so.0 -Wl,--exclude-libs,ALL -Wl,--as-needed -o $@ $(binary) $(libs)
$(B)/attn-tests: $(test_o) $(B)/libattn.a $(B)/objects
	$(call do,LINK $@) $(link) -o $@ $(binary) -lcheck -lsubunit $(parsers) $(libs)
$(B)/replay_%: $(B)/tests/fuzz/fuzz_%.o $(B)/tests/fuzz/archive.o $(B)/tests/fuzz/replay.o $(B)/tests/parsers.o $(B)/libattn.a
	$(call do,LINK $@) $(link) -o $@ $^ $(parsers) $(libs)
$(B)/fuzz_%: $(B)/tests/fuzz/fuzz_%.o $(B)/tests/fuzz/archive.o $(B)/tests/fuzz/mutate.o $(B)/tests/parsers.o $(B)/libattn.a
	$(call do,LINK $@) $(link) -fsanitize=fuzzer -o $@ $^ $(parsers) $(libs)

$(B)/lib/compute/%.o: room := $(room_compute)
$(B)/cmd/%.o: room := -Icmd/attn-cli
$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call do,CC $<) $(CC) $(std) $(warn) $(CFLAGS) $(hard) $(room) $(flags) $(cflags_$(notdir $*)) -MMD -MP -c -o $@ $<

$(B)/lib/model/builtin.o: $(models)
$(B)/lib/picture/html.o: $(wildcard lib/picture/page/*)
$(B)/lib/model/source.o $(B)/attn.pc: $(B)/directories

# These files record prefix, flags and list of objects.  They are rewritten only when those change, so that only then
# everything that depends on them is made again.
stamps := $(addprefix $(B)/,directories flags objects)
by_file := $(sort $(filter-out cflags_source,$(filter cflags_% flags_% room_%,$(.VARIABLES))))
$(B)/directories: export now = $(libdir) $(includedir) $(modelsdir)
$(B)/flags: export now = $(CC) $(std) $(warn) $(CFLAGS) $(hard) $(hard_link) $(flags) $(LDFLAGS) $(libs) $(foreach v,$(by_file),$v=$($v))
$(B)/objects: export now = $(lib_o) $(cmd_o) $(test_o)
$(stamps): FORCE
	@mkdir -p $(@D); printf '%s\n' "$$now" >$@.new; cmp -s $@.new $@ || cp $@.new $@

define pc
Name: attn
Description: run GPT-style decoders and see everything attention does
Version: $(version)
Cflags: -I$(includedir)
Libs: -L$(libdir) -lattn
Libs.private: -lxsmm -lxsmmnoblas -lutf8proc -lcjson -lpng -lpthread -lrt -ldl -lm
endef
export pc
$(B)/attn.pc:
	@echo "$$pc" >$@

# The program prints its own man page and completions.
$(B)/attn-cli.1: $(B)/attn-cli
	$(call do,PRINT $@) $< help --man >$@
$(B)/attn-cli.bash $(B)/_attn-cli $(B)/attn-cli.fish: $(B)/attn-cli
	$(call do,PRINT $@) $< help --completion $(or $(subst .,,$(suffix $@)),zsh) >$@

# The picture of the page needs chromium and is left as it is without it.
life := -m life -s "Life is short, eat dessert first"
gallery: $(B)/attn-cli
	@mkdir -p data/gallery
	$< run $(life) -o data/gallery/life.png
	$< run $(life) -o data/gallery/life.svg
	$< run -s "Lily lost her red ball, so she was sad" --layer 2 -o data/gallery/tiny.png
	$< run -m models/stacked -s "The cat sees the moth" -o data/gallery/stacked.png
	$< variants $(life) -o data/gallery/kinds.png
	$< run -m models/stacked -s "The cat sees the moth" -o $(B)/page.html
	! command -v chromium >/dev/null || chromium --headless --no-sandbox --hide-scrollbars --window-size=1200,1000 \
	    --screenshot=data/gallery/page.png "file://$(CURDIR)/$(B)/page.html#layer=1&head=2" 2>/dev/null

# ---- running and testing -------------------------------------------------------------------

# $(call need,PACKAGES): on Debian, installs missing packages and says so; never asks for a password.
define need
@command -v dpkg-query >/dev/null || exit 0; missing=; \
for p in $(1); do dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q ' installed$$' || missing="$$missing $$p"; done; \
test -n "$$missing" || exit 0; \
root=; test "$$(id -u)" = 0 || root='sudo -n'; \
$$root true 2>/dev/null || { echo "missing packages: sudo apt-get install$$missing" >&2; exit 1; }; \
echo "installing$$missing"; \
$$root env DEBIAN_FRONTEND=noninteractive sh -c \
    "apt-get -qq update; apt-get -qq -y --no-install-recommends install$$missing" </dev/null
endef
to_build := gcc libc6-dev libxsmm-dev libcjson-dev libpng-dev libutf8proc-dev

run:
	$(call need,$(to_build))
	@$(MAKE) --no-print-directory $(B)/attn-cli
	$(B)/attn-cli run --sentence "Life is short, eat dessert first"

test:
	$(call need,$(to_build) $(to_test))
	@$(MAKE) --no-print-directory run-tests

# Sanitizers map fixed addresses, which the address space randomization of some kernels may have taken: setarch -R turns it off.
steady := $(if $(filter asan tsan,$(flavour)),$(shell setarch -R true 2>/dev/null && echo setarch -R))
# Time limits are to end tests that hang, not to fail on a busy machine.
export CK_TIMEOUT_MULTIPLIER ?= 10
run-tests: $(B)/attn-cli $(B)/attn-tests $(readers:%=$(B)/replay_%)
	$(replay)
	ATTN_CLI=$(B)/attn-cli $(steady) $(B)/attn-tests $(suites)
replay = @set -e; for r in $(readers); do $(steady) $(B)/replay_$$r tests/corpus/$$r/*; done

# Each suite in a process of its own, in parallel under make -j.  Under sanitizers a process grows with each suite, until the
# fork before each test takes longer than the test.
every_suite := $(patsubst SUITE(%),%,$(shell cat tests/suites.inc))
run-suites: $(readers:%=$(B)/replay_%) $(addprefix run-suite-,$(or $(suites),$(every_suite)))
	$(replay)
run-suite-%: $(B)/attn-cli $(B)/attn-tests
	@ATTN_CLI=$(B)/attn-cli $(steady) $(B)/attn-tests $*

asan tsan: export ASAN_OPTIONS = allocator_may_return_null=1
asan tsan: export CK_TIMEOUT_MULTIPLIER = 40
asan:
	$(MAKE) flavour=asan run-suites
	LIBXSMM_TARGET=generic $(MAKE) flavour=asan run-suites suites='attention heads run'
# Only suites in which threads work together: all others would take ten minutes more.
tsan:
	$(MAKE) flavour=tsan run-suites suites='team gemm heads attention kinds cross run lines writers sinks grad training batch generate'

fuzz:
	$(MAKE) flavour=fuzz CC=clang run-fuzz
run-fuzz: $(readers:%=run-fuzz-%)
run-fuzz-%: $(B)/fuzz_%
	@c=$(B)/corpus/$*; rm -rf $$c && mkdir -p $$c && cp tests/corpus/$*/* $$c || exit; echo "  FUZZ $*"; \
	    $< -seed=1 -runs=$(FUZZ_RUNS) -max_total_time=$(FUZZ_SECONDS) -artifact_prefix=$(B)/ $$c >$$c.log 2>&1 || { tail -n 50 $$c.log; exit 1; }

test-browser: $(B)/attn-cli
	@for p in python3 chromium chromedriver; do command -v $$p >/dev/null || { echo "test-browser: skipped, there is no $$p" \
	    "(sudo apt-get install python3 chromium chromium-driver)"; exit $${ATTN_SKIP_NOTHING:-0}; }; done; ATTN_CLI=$< python3 -B tests/browser/test_page.py

# Takes a minute or two; see tests/test_induction.c.
test-train: $(B)/attn-cli $(B)/attn-tests
	ATTN_SLOW=1 ATTN_CLI=$(B)/attn-cli $(B)/attn-tests induction

test-kill: $(B)/attn-cli $(B)/attn-tests
	ATTN_KILLS=200 ATTN_CLI=$(B)/attn-cli $(B)/attn-tests batch_kill

test-attack: $(B)/attn-cli build/attack/fault.so build/attack/differential
	tests/attack/attack.sh $(parts)
build/attack/fault.so: tests/attack/fault.c
	@mkdir -p $(@D)
	$(call do,LINK $@) $(CC) $(std) -fvisibility=default $(warn) $(CFLAGS) -shared -o $@ $< -ldl
build/attack/differential: $(B)/tests/attack/differential.o $(B)/libattn.a
	@mkdir -p $(@D)
	$(call do,LINK $@) $(link) -o $@ $^ $(libs)

# Counts steps instead of seconds, which other work on the machine would change.
test-sizes:
	@$(MAKE) --no-print-directory flavour=steps build/steps/attn-cli
	python3 -B tests/sizes/sizes.py build/steps/attn-cli
build/steps/steps.o: tests/sizes/steps.c
	@mkdir -p $(@D)
	$(call do,CC $<) $(CC) $(std) $(warn) -O2 -c -o $@ $<

test-cluster: $(B)/attn-cli
	-$(call need,parallel openssh-server openssh-client slurm-wlm munge openmpi-bin snakemake)
	@tests/cluster/cluster.sh $<

bench: $(B)/attn-cli
	@tests/bench/bench.sh $(B)/attn-cli
bench-kinds: $(B)/bench-kinds
	$<
$(B)/bench-kinds: $(B)/tests/bench/kinds.o $(B)/libattn.a
	$(call do,LINK $@) $(link) -o $@ $^ $(libs)

coverage:
	@mkdir -p build/coverage; find build/coverage -name '*.gcda' -delete
	$(MAKE) flavour=coverage run-tests
	@find build/coverage/lib -name '*.gcda' -exec gcov -n {} + | awk -F '[:% ]+' '/^File/ {ours = /lib\//} \
	    /^Lines/ && ours {ours = 0; run += $$3 * $$5 / 100; all += $$5} END {printf "coverage of lib: %.1f%% of %d lines\n", 100 * run / all, all}'

# A run that was ended goes on; see tests/mutate/README.md.
N    ?= 100
SEED ?= 1
mutate:
	@nice -n 5 python3 -B tests/mutate/mutate.py $(mutate_options) $(N) $(SEED)

# ---- looking at the code -------------------------------------------------------------------

walls: $(B)/libattn.a $(B)/libattn.so
	@python3 -B tests/walls.py $^

# Left out: checks that are noise in C (Annex K and strlcpy; sizeof of arrays of pointers; strcmp as a truth value; bytes
# without a NUL; macros that hold initialisers) and those that our style contradicts (a condition may assign an error
# code; branches and adjacent parameters may look alike).
tidy := clang-analyzer-*,bugprone-*,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling
tidy := $(tidy),-clang-analyzer-security.insecureAPI.strcpy,-bugprone-sizeof-expression,-bugprone-suspicious-string-compare
tidy := $(tidy),-bugprone-not-null-terminated-result,-bugprone-macro-parentheses,-bugprone-assignment-in-if-condition
tidy := $(tidy),-bugprone-branch-clone,-bugprone-easily-swappable-parameters

# No -Wanalyzer-malloc-leak: gcc 12 loses track of memory whose address is stored in a table; `make asan` checks for leaks.
lint: $(lib_o:$(B)/%.o=build/lint/%) $(cmd_o:$(B)/%.o=build/lint/%)
	cppcheck --quiet --error-exitcode=1 --std=c11 -D_GNU_SOURCE -D__x86_64__ -Ilib -Icmd/attn-cli --enable=warning,performance,portability \
	    --inline-suppr lib cmd
# How many nodes clang's analyzer explores per function: 225000 is its default, which takes ten seconds for some files.
nodes  := 225000
build/lint/%: %.c FORCE
	$(call do,LINT $<) clang-tidy --quiet --warnings-as-errors='*' --checks='-*,$(tidy)' \
	    $(foreach w,-analyzer-config max-nodes=$(nodes),--extra-arg=-Xclang --extra-arg=$w) $< -- $(std) -Icmd/attn-cli $(cflags_$(notdir $*))
	@gcc $(std) -Icmd/attn-cli $(cflags_$(notdir $*)) -O1 -fanalyzer -Wno-analyzer-malloc-leak -Werror -c -o /dev/null $<

# ---- installing ----------------------------------------------------------------------------

# FILE:PLACE for everything that is installed but the links.
placed = $(B)/attn-cli:$(bindir)/attn-cli $(B)/libattn.a:$(libdir)/libattn.a $(B)/libattn.so:$(libdir)/libattn.so.$(version) \
    $(B)/attn.pc:$(libdir)/pkgconfig/attn.pc lib/attn.h:$(includedir)/attn.h \
    $(B)/attn-cli.1:$(datadir)/man/man1/attn-cli.1 \
    $(B)/attn-cli.bash:$(datadir)/bash-completion/completions/attn-cli \
    $(B)/_attn-cli:$(datadir)/zsh/site-functions/_attn-cli \
    $(B)/attn-cli.fish:$(datadir)/fish/vendor_completions.d/attn-cli.fish \
    $(foreach d,README.md CHANGELOG.md LICENSE cmd/README.md lib/README.md models/README.md tests/bench/README.md,$d:$(docdir)/$d) \
    /usr/share/doc/libxsmm-dev/copyright:$(docdir)/libxsmm.copyright \
    /usr/share/doc/libutf8proc-dev/copyright:$(docdir)/utf8proc.copyright \
    $(foreach m,$(models),$(m):$(datadir)/attn-cli/$(m)) \
    $(foreach r,$(wildcard data/batch/*),$(r):$(docdir)/$(r))
links  = $(DESTDIR)$(libdir)/libattn.so.0 $(DESTDIR)$(libdir)/libattn.so

install: all
	@set -e; for p in $(placed); do mode=644; case $$p in */attn-cli:*/bin/*|*.sh) mode=755;; esac; \
	    install -D -m $$mode "$${p%%:*}" "$(DESTDIR)$${p#*:}"; done
	for l in $(links); do ln -sf libattn.so.$(version) $$l; done
	test -n "$(DESTDIR)" || ldconfig || true

uninstall:
	rm -f $(links) $(foreach p,$(placed),"$(DESTDIR)$(lastword $(subst :, ,$(p)))")
	-cd $(DESTDIR)$(datadir) && rmdir $(sort $(dir $(models:%=attn-cli/%))) attn-cli/models attn-cli doc/attn-cli/data/batch doc/attn-cli/data doc/attn-cli/cmd doc/attn-cli/lib doc/attn-cli/models \
	    doc/attn-cli/tests/bench doc/attn-cli/tests doc/attn-cli

clean:
	rm -rf build

-include $(patsubst %.o,%.d,$(lib_o) $(cmd_o) $(test_o) $(fuzz_o) $(call objects,tests/attack/*.c))
.PHONY: all gallery run test run-tests run-suites test-browser test-train test-kill test-attack test-sizes test-cluster asan tsan fuzz run-fuzz bench bench-kinds \
    coverage mutate walls lint install uninstall clean FORCE
.DELETE_ON_ERROR:
.SECONDARY:
