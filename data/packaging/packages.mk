# packages.mk - the program as others take it.
#
# make static       one file that needs nothing of the system, its SHA-256, and what went into it: build/release/static
#                   after make arm, make flavour=arm static wheel for AArch64: build/arm; an emulator then tries it
# make test-static  tries it in an empty chroot;  make test-twice: whether another directory builds the same bytes
# make deb          Debian's packages attn-cli, libattn0 and libattn-dev: build/deb;  make test-deb: on a fresh Debian,
#                   debian=bookworm or trixie

S       := $(B)/static
static  := attn-cli-$(version)-linux-$(machine)

static:
	@tests/need.sh $(to_build) $(to_engine) $(if $(CJSON_C),,dpkg-dev)
	@$(MAKE) --no-print-directory engine=yes $(addprefix $(S)/,$(static) $(static).cdx.json $(static).copyright SHA256SUMS)
	@cd $(S) && ls -l $(static) && cat SHA256SUMS

# Debian has no libcjson.a: cjson.sh says where its source comes from.  CJSON_C=FILE is one that is here.
$(build)/cjson/cJSON.c:
	$(call do,FETCH $@) data/packaging/cjson.sh $(@D) $(CJSON_C)
$(S)/cJSON.o: $(build)/cjson/cJSON.c $(B)/flags
	@mkdir -p $(@D)
	$(call do,CC $<) $(CC) $(std) $(CFLAGS) $(hard) $(flags) -DCJSON_HIDE_SYMBOLS -c -o $@ $<

# What is linked is listed, as that is what the program holds.
$(S)/$(static): $(cmd_o) $(B)/libattn.a $(S)/cJSON.o $(B)/objects
	$(call do,LINK $@) $(link) $(huge) -static-pie -s -Wl,--trace -o $@.linked $(binary) \
	    $(filter-out -lcjson,$(inside)) >$(S)/linked
	@rm -f $@ && $(call in_one_piece,$@.linked,$@) && chmod +x $@ && rm $@.linked
$(S)/$(static).cdx.json $(S)/$(static).copyright: $(S)/$(static) $(build)/cjson/cJSON.c data/packaging/contents.sh
	$(call do,LIST $@) ROOT=$(root) BUILD=$(build) data/packaging/contents.sh $(suffix $@) $< $(version) $(S)/linked \
	    $(font_sans) $(font_mono) $(font_chinese) >$@
$(S)/SHA256SUMS: $(addprefix $(S)/,$(static) $(static).cdx.json $(static).copyright)
	@cd $(@D) && sha256sum $(notdir $^) >$(@F)

test-static: static
	@$(MAKE) --no-print-directory flavour=release $(build)/release/attn-cli
	@BUILD=$(build) tests/static.sh $(S)/$(static) $(if $(root),$(firstword $(emulate)))
test-twice: static
	@BUILD=$(build) tests/twice.sh $(S)/$(static)

deb:
	@tests/need.sh build-essential debhelper $(to_build) $(to_engine)
	@BUILD=$(build) data/packaging/deb.sh $(version)
test-deb: deb
	@carry=$(build)/deb tests/bare.sh $(or $(debian),bookworm) "tests/deb.sh $(build)/deb"

.PHONY: static test-static test-twice deb test-deb
