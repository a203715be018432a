#!/bin/bash
# deb.sh DIR - installs the packages in DIR on a fresh Debian, uses them, and removes them: make test-deb runs it there.
set -euxo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
list() { find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /var -o -path /root \) -prune \
    -o -print | sort; }
packages=("$(realpath "$1")"/*.deb)
[ ${#packages[@]} = 3 ]

list >/tmp/before
apt-get -qq -y --no-install-recommends install "$(realpath "$1")"/attn-cli_*.deb >/dev/null
attn-cli run -s "Life is short, eat dessert first" --format screen
attn-cli info --check -m tiny | tail -n 1
cd /tmp
for i in $(seq 99); do echo "to be or not to be $i"; done >text
attn-cli batch -m tiny -f text -o batch.ndjson -q
attn-cli train -m tiny -f text --steps 2 -o trained -q
attn-cli run -s "one two" -o page.html
zgrep -q attn /usr/share/man/man1/attn-cli.1.gz
[ -s /usr/share/bash-completion/completions/attn-cli ]
cd -

apt-get -qq -y --no-install-recommends install "${packages[@]}" gcc libc6-dev pkg-config >/dev/null
cat >/tmp/use.c <<'C'
#include <attn.h>
#include <stdio.h>
int main(void)
{
    struct attn_err err = {0};
    struct attn_model *m = NULL;
    if (attn_model_open(&m, "tiny", &err))
        return fprintf(stderr, "%s\n", err.msg), 1;
    attn_model_close(m);
    return 0;
}
C
gcc -Wall -Werror -o /tmp/use /tmp/use.c $(pkg-config --cflags --libs attn)
ldd /tmp/use | grep -q libattn.so.0
/tmp/use
objdump -T /usr/bin/attn-cli /usr/lib/*/libattn.so.0 | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1

apt-get -qq -y purge attn-cli libattn0 libattn-dev gcc libc6-dev pkg-config >/dev/null
apt-get -qq -y --purge autoremove >/dev/null
list >/tmp/after
# What apt itself and the maintainer scripts of others keep may differ; nothing of ours may.
left=$(comm -13 /tmp/before /tmp/after | grep -i attn || true)
[ -z "$left" ]
left=$(dpkg -l | grep -i attn || true)
[ -z "$left" ]
