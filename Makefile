# make            the release build: build/release/attn-cli, libattn.a, libattn.so, man page, completions
# make engine     installs missing packages, and builds all with what computes in pages: lib/README.md; test, install and packages, too
# make run        installs missing packages, builds, and shows the attention of a sentence with the built-in model
# make test       installs missing packages, builds, and runs every test
# make install    to $(DESTDIR)$(prefix), or PREFIX; make uninstall, make clean.  V=1 shows commands.
# make build=DIR  the same as all of these, with everything that is made in DIR, where this folder may not be written
# make wheel      the Python module with library and program in one file for pip: data/python/README.md
# make help       prints these lines and the first ones of tests/checks.mk (sanitizers, fuzzing, attacks, benchmarks and more)
#                 and of data/packaging/packages.mk (a program that stands alone, Debian's packages)

flavour ?= release
# Where everything is made.
build   := build
ifneq ($(words $(build)),1)
$(error build=$(build): make cannot work in a folder whose name has blanks: name another one)
endif
ifeq ($(origin CC),default)
CC       = $(if $(filter arm,$(flavour)),aarch64-linux-gnu-)gcc
endif
CFLAGS  ?= $(if $(filter quick,$(flavour)),-O0,-O2) -g
# As many jobs as there are processors, and memory for the largest file in each, unless this make or one above it was told how
# many.  Several goals keep their order: `make clean all`.
told := $(word 2,$(MAKECMDGOALS))$(findstring -j,$(shell echo "$$MAKEFLAGS"))
ifeq ($(told),)
MAKEFLAGS += -j$(shell n=$$(getconf _NPROCESSORS_ONLN || echo 1); [ -r /proc/meminfo ] && awk -v n=$$(nproc || echo $$n) \
    '/^MemAvailable/ {m = int($$2 / 600000)} END {print (m > 0 && m < n) ? m : n}' /proc/meminfo || echo $$n)
endif
prefix  ?= $(or $(PREFIX),/usr/local)

bindir     = $(prefix)/bin
libdir     = $(prefix)/lib
includedir = $(prefix)/include
datadir    = $(prefix)/share
# Where fish looks: not below /usr/local.
fishdir    = $(if $(filter /usr/local/share,$(datadir)),/etc/fish/completions,$(datadir)/fish/vendor_completions.d)
docdir     = $(datadir)/doc/attn-cli
modelsdir  = $(datadir)/attn-cli/models
copyrights = $(foreach p,$(call for,x86_64,libxsmm-dev) libutf8proc-dev libpng-dev zlib1g-dev fonts-dejavu-core fonts-wqy-microhei,/usr/share/doc/$p/copyright)

# The processor of this machine, and the one that is compiled for: x86_64 or aarch64.  A bare machine has no compiler yet.
here    := $(shell uname -m)
machine := $(or $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null))),$(here))
# What the compiler says; without one nothing, as those goals that install it ask here first.
compiler := $(shell command -v $(firstword $(CC)) 2>/dev/null)
asked    = $(if $(compiler),$(shell $(1)))
for      = $(if $(filter $(1),$(machine)),$(2))
emulator = $(firstword $(foreach q,qemu-$(1)-static qemu-$(1),$(shell command -v $q)))
# For another machine than this: the folder its libraries were unpacked in, and what runs its programs here.
ifneq ($(machine),$(here))
root    := $(build)/$(flavour)/root
foreign := --sysroot=$(root)
emulate  = $(call emulator,$(machine)) -L $(abspath $(root))
# Its C library, too, in place of the cross compiler's, which may be older.
libc     := -B$(root)/usr/lib/$(machine)-linux-gnu/
endif

version := $(shell sed -n 's/^\#define ATTN_VERSION "\(.*\)"/\1/p' lib/attn.h)
# Portable is as release, without anything that Linux alone has: lib/engine/base/os.h.
defines_portable := -DATTN_PORTABLE
# Files include each other as "room/file.h", in whichever wing a room lies.
wings   := -Ilib $(patsubst lib/%/,-Ilib/%,$(wildcard lib/*/))
std     := -std=c11 -D_GNU_SOURCE $(wings) -ffp-contract=off -fvisibility=hidden -fPIC $(foreign) $(defines_$(flavour))
warn    := -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes $(if $(WERROR),-Werror)
# Where the compiler finds a library's archive, as not every linker looks for one by the name of its file.
archive  = $(call asked,$(CC) $(foreign) -print-file-name=lib$(1).a)
xsmm    := $(call for,x86_64,-lxsmm -lxsmmnoblas)
libs    := $(xsmm) $(call archive,utf8proc) -lcjson -lpng -lz -lpthread -lrt -ldl -lm
# The program starts a tenth faster without shared libraries that only pictures and archives need; shared=1 is for packages, which
# are to use the libraries of their system.
inside  := $(if $(shared),$(libs),$(subst -lpng -lz,$(call archive,png) $(call archive,z),$(libs)))
parsers := -lexpat -lgumbo
linked  := libcjson-dev libpng-dev zlib1g-dev libutf8proc-dev
linked_to_test := check libexpat1-dev libgumbo-dev

# Where the letters of pictures are cut from.
fonts        ?= /usr/share/fonts/truetype
font_sans    ?= $(fonts)/dejavu/DejaVuSans.ttf
font_mono    ?= $(fonts)/dejavu/DejaVuSansMono.ttf
font_chinese ?= $(fonts)/wqy/wqy-microhei.ttc

# A flavour is a directory under build/ with its own flags, which are added to the user's CFLAGS.
# Quick is compiled without optimisation, but for what multiplies.
flags_quick    := -fno-stack-protector
# Each start would read and search 10 MB of places in the source, and pointers to them: so what is undefined ends in a trap, whose
# place a debugger shows, and nothing is relocated.
flags_asan     := -O1 -g1 -fsanitize=address,undefined -fsanitize-undefined-trap-on-error -fno-omit-frame-pointer -fno-pic -no-pie
flags_tsan     := -O1 -g1 -fsanitize=thread
flags_fuzz     := -O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
flags_coverage := -O0 --coverage
flags_steps    := -O1 -g0 -fsanitize-coverage=trace-pc
flags_reach    := -O1 -fno-inline-functions-called-once -fsanitize-coverage=trace-pc
# For mutations: one object and two links for each, so without debugging information, and with the quicker linker.
flags_mutate   := -O1 -g0 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
    $(shell command -v ld.lld >/dev/null && echo -fuse-ld=lld)
flags          := $(flags_$(flavour))
pie            := $(if $(filter asan,$(flavour)),,-pie)
# Indirect jumps end where they may only.
branches_x86_64  := -fcf-protection
branches_aarch64 := -mbranch-protection=standard
# What makes a fault in the program hard to use, as far as the compiler has it.  Sanitizers find faults themselves, and fortified
# calls hide some from them.
ifeq ($(flags),)
fortify        := $(call asked,printf '\043include <features.h>\n__USE_FORTIFY_LEVEL' | $(CC) -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -E -P - 2>&1 | tail -n 1)
clash          := $(call asked,$(CC) -Werror -fstack-clash-protection -fsyntax-only -x c /dev/null 2>&1 || echo no)
hard           := -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(if $(filter 3,$(fortify)),3,2) $(branches_$(machine)) \
    $(if $(clash),,-fstack-clash-protection)
endif
# Which of these options the linker has, as GNU's and LLVM's have all: most often one link answers for them together.
knows = $(if $(compiler),$(shell t=$$(mktemp); try() { echo 'int main(void){return 0;}' | $(CC) $(foreign) $(LDFLAGS) -x c -o $$t - -Wl,--fatal-warnings "$$@" 2>/dev/null; }; \
    if try $(1); then echo $(1); else for o in $(1); do if try $$o; then echo $$o; fi; done; fi; rm -f $$t))
liked          := -Wl,-z,relro,-z,now -Wl,-z,pack-relative-relocs -Wl,-z,max-page-size=0x200000 -Wl,--as-needed -Wl,--exclude-libs,ALL
linker         := $(call knows,$(liked))
hard_link      := $(filter %now,$(linker))
as_needed      := $(filter %as-needed,$(linker))
hidden         := $(filter %ALL,$(linker))
# Some 6,000 pointers to strings take 2 KB in the file instead of 137, which a short run would read.
packed         := $(if $(flags),,$(filter %relocs,$(linker)))
# A short run reads 7 MB of code and built-in weights.  Linux maps 2 MB at a time instead of 64 KB where they begin at a multiple
# of that and the file lies in huge pages; on file systems that have them, it does if it was written in one piece.
huge           := $(filter %0x200000,$(linker))
in_one_piece    = dd if=$(1) of=$(2) bs=67108864 status=none

# Flags for single files, by their names without .c.
cflags_vec        := -O2 -fno-var-tracking
cflags_vec_avx2   := -mavx2 -mfma -mf16c
cflags_vec_avx512 := -mavx512f -mavx512bw -mavx512dq -mavx512vl $(cflags_vec_avx2)
cflags_vec_neon        := -DATTN_NEON
cflags_dequantise_neon := $(cflags_vec_neon) -fno-var-tracking
cflags_dequantise        := -fno-var-tracking
cflags_dequantise_avx2   := -fno-var-tracking $(cflags_vec_avx2)
cflags_dequantise_avx512 := -fno-var-tracking $(cflags_vec_avx512)
cflags_bf16_words := -mavx512bf16 $(cflags_vec_avx512)
cflags_bf16_dots  := $(cflags_bf16_words)
cflags_bf16_tiles := -mamx-tile -mamx-bf16 $(cflags_bf16_words)
cflags_rng         := -O3 -fno-math-errno -fno-trapping-math
cflags_num         := -O3 -fno-math-errno -fno-trapping-math
cflags_f32_avx2    := $(cflags_num) -mavx2 -mbmi -mbmi2 -mlzcnt -mtune=haswell
cflags_f32_avx512  := $(cflags_num) $(cflags_vec_avx512) -mbmi -mbmi2 -mlzcnt -mtune=skylake-avx512 -mprefer-vector-width=512
cflags_source      = -DATTN_MODELS_DIR='"$(modelsdir)"'
cflags_container_builtin = $(cflags_faces)
cflags_faces       = -DATTN_BUILT='"$(B)"'
cflags_language    = $(cflags_faces)
cflags_page_engine = $(cflags_faces)
# What version.c says; options that name this folder would make two folders two programs.
commit    = $(shell data/packaging/commit.sh)
told_flags = $(subst ',,$(subst ",\",$(filter-out -ffile-prefix-map=% -fdebug-prefix-map=% -fmacro-prefix-map=%,$(CFLAGS) $(flags))))
cflags_version     = -DATTN_COMMIT='"$(commit)"' -DATTN_FLAVOUR='"$(flavour)"' -DATTN_FLAGS='"$(strip $(told_flags))"'
room_compute      := -O3

B       := $(build)/$(flavour)
objects  = $(patsubst %.c,$(B)/%.o,$(wildcard $(1)))
# Files for one processor alone, by their names without .c.
only_x86_64  := f32_avx2 f32_avx512 vec_avx2 vec_avx512 dequantise_avx2 dequantise_avx512 bf16_words bf16_dots bf16_tiles microkernel
only_aarch64 := vec_neon dequantise_neon no_microkernel
only_wasm32  := vec_wasm page_os page_tree page_unicode no_writers page_file no_dump
absent  := $(foreach m,$(filter-out $(machine),x86_64 aarch64 wasm32),$(only_$m))
# Those that take longest begin, as otherwise one of them would be alone at the end.
long_o  := $(foreach l,dequantise_avx512 dequantise_avx2 vec_avx512 vec_avx2,$(B)/lib/engine/compute/$l.o)
lib_o   := $(filter-out $(foreach a,$(absent),$(B)/lib/%/$a.o),$(long_o) $(filter-out $(long_o),$(call objects,lib/*/*/*.c)))
cmd_o   := $(call objects,cmd/attn-cli/*.c cmd/attn-cli/*/*.c)
# Tests lie as the rooms of lib that they test; the other folders under tests/ are tools.
tested  := support cmd $(notdir $(patsubst %/,%,$(wildcard lib/*/*/)))
test_o  := $(foreach room,$(tested),$(call objects,tests/$(room)/*.c))
# What a flavour calls at each basic block that runs.
blocks_steps := $(B)/tests/sizes/steps.o
blocks_reach := $(B)/tests/mutate/reached.o
models  := $(wildcard models/*/*)
printed := $(addprefix $(B)/,attn-cli.1 attn-cli.bash _attn-cli attn-cli.fish)
link     = $(CC) $(CFLAGS) $(hard) $(hard_link) $(packed) $(flags) $(foreign) $(libc) $(LDFLAGS)
binary   = $(filter %.o,$^) $(filter %.a,$^)
do       = @$(if $(V),set -x,echo "  $(1)");

# ---- building ------------------------------------------------------------------------------

all: $(B)/attn-cli $(if $(pie),$(B)/libattn.so) $(B)/attn.pc $(printed)

$(B)/attn-cli: $(B)/libattn.a $(cmd_o) $(B)/objects
	$(call do,LINK $@) $(link) $(huge) $(pie) $(as_needed) -o $@.linked $(binary) $(inside)
	@rm -f $@ && $(call in_one_piece,$@.linked,$@) && chmod +x $@ && rm $@.linked
$(B)/libattn.a: $(lib_o) $(blocks_$(flavour)) $(B)/objects
	$(call do,AR $@) rm -f $@; ar rcs $@ $(binary)
$(B)/libattn.so: $(lib_o) $(B)/objects
	$(call do,LINK $@) $(link) -shared -Wl,-soname,libattn.so.0 $(hidden) $(as_needed) -o $@ $(binary) $(libs)
	@ln -sf libattn.so $@.0             # so that a program linked with it here runs here
$(B)/attn-tests: $(test_o) $(B)/libattn.a $(B)/objects | $(if $(root),,$(B)/fault.so)
	$(call do,LINK $@) $(link) -o $@ $(binary) -lcheck -lsubunit $(parsers) $(libs)
$(B)/lib/engine/compute/%.o: room := $(room_compute)
$(B)/cmd/%.o: room := -Icmd/attn-cli
$(B)/tests/%.o: room := -iquote tests/support
$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call do,CC $<) $(CC) $(std) $(warn) $(CFLAGS) $(hard) $(room) $(flags) $(cflags_$(notdir $*)) -MMD -MP -c -o $@ $<

# Programs that run during the build, in a build for this machine; not beside attn-cli, as cut is the name of another program.
tools := $(if $(root),$(build)/host,$(B))/tools
ifdef root
HOSTCC ?= gcc
$(addprefix $(tools)/,index cut pack unicode deflate): FORCE
	@$(MAKE) --no-print-directory flavour=host CC=$(HOSTCC) CFLAGS="-O2 -g" $@
$(tools)/cut: $(tools)/index            # one after the other: they share objects
$(tools)/pack: $(tools)/cut
$(tools)/unicode: $(tools)/pack
$(tools)/deflate: $(tools)/unicode
else
# But for what each commit changes.
base_o := $(filter-out %/version.o,$(filter $(B)/lib/engine/base/%,$(lib_o)))
$(addprefix $(tools)/,index cut pack unicode deflate):
	@mkdir -p $(@D)
	$(call do,LINK $@) $(link) -o $@ $(binary) $(libs)
endif

# What a short run would otherwise spend most of its time on: see lib/engine/text/index.h.
$(B)/tools/index: $(B)/models/index.o $(base_o) $(B)/lib/engine/text/vocab.o $(B)/lib/engine/text/merges.o $(B)/lib/engine/text/bytes.o $(blocks_$(flavour))
$(B)/tiny.index: $(tools)/index models/tiny/vocab.json models/tiny/merges.txt
	$(call do,INDEX $@) $^ >$@.new && mv $@.new $@
$(B)/lib/engine/model/container_builtin.o: $(models) $(B)/tiny.index

# The letters of pictures: parts of Debian's fonts, cut and packed.
$(B)/tools/cut: $(B)/data/fonts/cut.o $(base_o) $(addprefix $(B)/lib/show/picture/,truetype.o outline.o subset.o) $(blocks_$(flavour))
$(B)/sans.face $(B)/mono.face: $(tools)/cut data/fonts/latin.txt
$(B)/chinese.face: $(tools)/cut data/fonts/chinese.txt
$(B)/%.face:
	$(call do,CUT $@) $(tools)/cut $(font_$*) 0 $(filter %.txt,$^) >$@.new && mv $@.new $@
$(B)/lib/show/picture/faces.o: $(addprefix $(B)/,sans.face mono.face chinese.face)
$(B)/lib/show/picture/html.o: $(wildcard lib/show/picture/page/*)
$(B)/cmd/attn-cli/help_json.o: $(wildcard cmd/attn-cli/schemas/*)
$(B)/lib/show/picture/history.o: $(wildcard lib/show/picture/history/*) lib/show/picture/page/texts.js

# What is said in other languages: each .po is one.
$(B)/tools/pack: $(B)/data/lang/pack.o $(base_o) $(blocks_$(flavour))
$(B)/languages: $(tools)/pack $(sort $(wildcard data/lang/*.po))
	$(call do,PACK $@) $(tools)/pack $(filter %.po,$^) >$@.new && mv $@.new $@
$(B)/lib/show/language/language.o: $(B)/languages
$(B)/lib/engine/model/source.o $(B)/attn.pc: $(B)/directories

# ---- the engine of pages -------------------------------------------------------------------

# The library as WebAssembly, in pages that compute: what opens, runs and answers, without formats, pictures, fonts and models of
# its own.  It takes another compiler than all else; once it was built here, it follows what changes.
E            := $(B)/wasm
to_engine    := clang lld wasi-libc libclang-rt-dev-wasm32
engine_rooms := base table trace compute io model text attend run gradient ask language answers live
engine_also  := $(addprefix batch/,capture engine grids group summary writing) $(addprefix picture/,album figure_bars legend look \
    scale section wrap) $(addprefix sinks/,drawn formats grid merge_words print sink sink_json no_writers)
not_wasm32   := $(only_x86_64) $(filter-out no_microkernel,$(only_aarch64)) dump dump_directory dump_json dump_table dump_tensors \
    dump_run
engine_c     := $(foreach r,$(engine_rooms),$(wildcard lib/*/$r/*.c)) $(wildcard $(engine_also:%=lib/*/%.c))
engine_o     := $(patsubst %.c,$(E)/%.o,$(filter-out $(foreach n,$(not_wasm32),%/$n.c),$(engine_c)))
WASM_CC      ?= clang
wasm_cc      = $(WASM_CC) --target=wasm32-wasi -msimd128 -msign-ext -mnontrapping-fptoint
wasm_std     := -std=c11 -D_GNU_SOURCE -DATTN_PORTABLE $(addprefix -D_WASI_EMULATED_,MMAN SIGNAL PROCESS_CLOCKS GETPID) $(wings) \
    -isystem lib/engine/base/page -isystem $(E)/include -include lib/engine/base/page/missing.h -ffp-contract=off -fvisibility=hidden \
    -ffunction-sections -fdata-sections
# Where a page would wait; all else is small.
wasm_quick   := gemm gemm_item panels attention multi_head rows
wasm_vec_wasm := -DATTN_WASM
engine_exports := $(addprefix live_,room drop file ask answer answer_length array array_length)
wasm_link    := -nostartfiles -Wl,--no-entry,--gc-sections,--strip-all,--compress-relocations,--stack-first \
    -Wl,-z,stack-size=1048576,--max-memory=1073741824 \
    $(engine_exports:%=-Wl,--export-if-defined=%) -lwasi-emulated-process-clocks -lwasi-emulated-signal

engine:
	@tests/need.sh $(to_build) $(to_engine)
	@$(MAKE) --no-print-directory engine=yes all
$(E)/include/unicode.h: $(tools)/unicode $(E)/flags
	@mkdir -p $(@D)/cjson && cp /usr/include/utf8proc.h $(@D) && cp /usr/include/cjson/cJSON.h $(@D)/cjson
	$(call do,PRINT $@) $< >$@
$(E)/%.o: %.c $(E)/include/unicode.h $(E)/flags
	@mkdir -p $(@D)
	$(call do,WASM $<) $(wasm_cc) $(wasm_std) $(warn) -Wno-gnu-statement-expression $(if $(filter $(notdir $*),$(wasm_quick)),-Os,-Oz) $(wasm_$(notdir $*)) $(if $(filter %/version,$*),$(cflags_version)) -MMD -MP -c -o $@ $<
$(E)/lib/engine/base/version.o: $(B)/commit
$(B)/engine.wasm: $(engine_o) $(E)/flags
	$(call do,LINK $@) $(wasm_cc) -o $@ $(filter %.o,$^) $(wasm_link)
# What is in the program: nothing, until an engine was asked for.
ifneq ($(filter yes,$(engine))$(if $(filter no,$(engine)),,$(wildcard $(B)/engine.wasm)),)
$(B)/engine.z: $(tools)/deflate $(B)/engine.wasm
	$(call do,PACK $@) $(tools)/deflate <$(B)/engine.wasm >$@.new && mv $@.new $@
else ifneq ($(if $(filter release,$(flavour))$(filter no,$(engine)),,$(wildcard $(build)/release/engine.z)),)
$(B)/engine.z: $(build)/release/engine.z        # it is the same in each flavour
	@mkdir -p $(@D) && cp $< $@
else
$(B)/engine.z:
	@mkdir -p $(@D) && : >$@
endif
$(B)/lib/show/picture/page_engine.o: $(B)/engine.z
$(B)/tools/unicode: $(B)/data/engine/unicode.o $(blocks_$(flavour))
$(B)/tools/deflate: $(B)/data/engine/deflate.o $(blocks_$(flavour))

# These files record prefix, flags, list of objects and commit.  They are rewritten only when those change, so that only then
# everything that depends on them is made again.
stamps := $(addprefix $(B)/,directories flags objects commit wasm/flags)
by_file := $(sort $(filter-out cflags_source cflags_version,$(filter cflags_% flags_% room_% wasm_%,$(.VARIABLES))))
$(B)/directories: export now = $(libdir) $(includedir) $(modelsdir)
$(B)/commit: export now = $(commit)
$(B)/lib/engine/base/version.o: $(B)/commit
$(B)/flags: export now = $(CC) $(std) $(warn) $(CFLAGS) $(hard) $(hard_link) $(packed) $(flags) $(LDFLAGS) $(inside) $(libs) $(foreach v,$(filter-out wasm_%,$(by_file)),$v=$($v))
$(E)/flags: export now = $(wasm_cc) $(wasm_std) $(warn) $(wasm_link) $(foreach v,$(filter wasm_%,$(by_file)),$v=$($v))
$(B)/objects: export now = $(lib_o) $(cmd_o) $(test_o)
$(stamps): FORCE
	@mkdir -p $(@D) && printf '%s\n' "$$now" | cmp -s - $@ || { $(if $(filter $(B)/flags,$@),$(look) &&) printf '%s\n' "$$now" >$@; }
# Before anything is compiled by new flags: is there what it takes?
headers := png.h zlib.h utf8proc.h cjson/cJSON.h $(call for,x86_64,libxsmm.h)
look     = { printf '\043include <%s>\n' stdio.h $(headers) | $(CC) $(foreign) -E -o /dev/null - 2>/dev/null || \
    { echo 'attn-cli is compiled by $(CC), with $(headers), and not all of that is here.  `make run` installs missing packages.' >&2; \
    tests/need.sh --say $(to_build); exit 1; }; }

blank :=
spaced = $(subst $(blank) ,\ ,$(1))
define pc
Name: attn
Description: run GPT-style decoders and see everything attention does
Version: $(version)
Cflags: -I$(call spaced,$(includedir))
Libs: -L$(call spaced,$(libdir)) -lattn
Libs.private: $(xsmm) -lutf8proc -lcjson -lpng -lz -lpthread -lrt -ldl -lm
endef
export pc
$(B)/attn.pc:
	@echo "$$pc" >$@

# The program prints its own man page and completions.
$(B)/attn-cli.1: $(B)/attn-cli
	$(call do,PRINT $@) $(emulate) $< help --man >$@
$(B)/attn-cli.bash $(B)/_attn-cli $(B)/attn-cli.fish: $(B)/attn-cli
	$(call do,PRINT $@) $(emulate) $< help --completion $(or $(subst .,,$(suffix $@)),zsh) >$@

# ---- for Python ----------------------------------------------------------------------------

# Library and program as they are in release, but without what asks for a newer loader, and with the shared libraries that are not
# on every system beside them.
wheel  := $(B)/wheel
beside = $(foreach l,libcjson.so.1 libpng16.so.16,$(shell $(CC) $(foreign) -print-file-name=$l))
$(wheel)/%: private packed :=
$(wheel)/%: private hard_link += -Wl,-s -Wl,-rpath,'$$ORIGIN'
$(wheel)/libattn.so: $(lib_o) $(B)/objects
	@mkdir -p $(@D)
	$(call do,LINK $@) $(link) -shared -Wl,-soname,libattn.so.0 $(hidden) $(as_needed) -o $@ $(binary) $(libs)
$(wheel)/attn-cli: $(cmd_o) $(B)/libattn.a $(B)/objects
	@mkdir -p $(@D)
	$(call do,LINK $@) $(link) -pie $(as_needed) -o $@ $(binary) $(inside)
# Packs it into a folder.
pack_wheel = OBJDUMP=$$($(CC) -print-prog-name=objdump) $(python) -B data/python/wheel.py $(1) $(version) $(machine) \
    $(wheel)/libattn.so $(wheel)/attn-cli $(beside) LICENSE $(copyrights) /usr/share/doc/libcjson1/copyright
wheel:
	@tests/need.sh $(to_build) $(to_engine) python3
	@$(MAKE) --no-print-directory engine=yes packed-wheel
packed-wheel: $(wheel)/libattn.so $(wheel)/attn-cli
	@rm -f $(B)/*.whl
	$(call do,PACK $(B)/attn_cli-$(version).whl) $(call pack_wheel,$(B))

# ---- running and testing -------------------------------------------------------------------

to_build := gcc libc6-dev $(call for,x86_64,libxsmm-dev) $(linked) fonts-dejavu-core fonts-wqy-microhei
to_test  := $(linked_to_test) jq python3 nodejs

run:
	@tests/need.sh $(to_build)
	@$(MAKE) --no-print-directory $(B)/attn-cli || tests/full_disk.sh $(build)
	$(B)/attn-cli run --sentence "Life is short, eat dessert first" --format screen

test:
	@tests/need.sh $(to_build) $(to_test) $(to_engine)
	@$(MAKE) --no-print-directory engine=yes tests-built || tests/full_disk.sh $(build)
	@$(MAKE) --no-print-directory test-python
	@$(MAKE) --no-print-directory test-engine
	@$(MAKE) --no-print-directory run-tests

# ---- installing ----------------------------------------------------------------------------

# FILE:FOLDER/PLACE for everything that is installed but the links.
documents := README.md CHANGELOG.md LICENSE $(wildcard cmd/README.md lib/README.md tests/bench/README.md tests/attack/README.md \
    data/README.md data/batch/* data/python/README.md data/python/*.ipynb data/gallery/*.png data/gallery/*.svg \
    models/README.md models/*/README.md models/*/*.png)
placed = $(B)/attn-cli:bindir/attn-cli $(B)/libattn.a:libdir/libattn.a $(B)/libattn.so:libdir/libattn.so.$(version) \
    $(B)/attn.pc:libdir/pkgconfig/attn.pc $(foreach h,attn.h attn_ask.h attn_tools.h,lib/$h:includedir/$h) \
    $(B)/attn-cli.1:datadir/man/man1/attn-cli.1 $(B)/attn-cli.bash:datadir/bash-completion/completions/attn-cli \
    $(B)/_attn-cli:datadir/zsh/site-functions/_attn-cli $(B)/attn-cli.fish:fishdir/attn-cli.fish \
    $(foreach d,$(documents),$d:docdir/$d) \
    $(join $(copyrights),$(foreach n,$(call for,x86_64,libxsmm) utf8proc libpng zlib dejavu wqy-microhei,:docdir/$n.copyright)) \
    $(foreach m,$(models),$(m):datadir/attn-cli/$(m))
where  = $(foreach v,DESTDIR prefix bindir libdir includedir datadir docdir fishdir version,$v="$($v)")

# With what computes in pages, unless that is not wanted: its compilers may be missing.
install:
ifneq ($(engine),no)
	@tests/need.sh $(to_engine) || { echo 'or, without what computes in pages: make install engine=no' >&2; exit 1; }
endif
	@$(MAKE) --no-print-directory engine=$(or $(engine),yes) all
	@$(where) data/packaging/install.sh install $(placed)
uninstall:
	@$(where) data/packaging/install.sh uninstall $(placed)

clean:
	rm -rf $(if $(filter build,$(build)),build,$(patsubst %/objects,%,$(wildcard $(build)/*/objects)) \
	    $(addprefix $(build)/,attack cjson deb host lanes lint))

help:
	@for f in Makefile tests/checks.mk data/packaging/packages.mk; do sed '/^#/!Q; s/^# \{0,1\}//' $$f; done

include tests/checks.mk data/packaging/packages.mk
-include $(patsubst %.o,%.d,$(lib_o) $(cmd_o) $(test_o) $(engine_o) $(call objects,models/*.c data/*/*.c tests/bench/*/*.c) $(call objects,tests/fuzz/*.c tests/attack/*.c tests/schemas/*.c))
.PHONY: all engine run test wheel packed-wheel install uninstall clean help FORCE
.DELETE_ON_ERROR:
.SECONDARY:
