#!/bin/sh
# install.sh install|uninstall FILE:FOLDER/PLACE... - puts files of a build where they belong below DESTDIR, or
# takes them away.
#
# FOLDER is the name of a variable of the environment, bindir, libdir, includedir, datadir, docdir or fishdir, whose
# value may have blanks.  `version` is that of the library.  What is taken away takes the folders below prefix along
# that it leaves empty.
set -eu
what=$1
shift
to() { eval "printf '%s' \"\${DESTDIR-}\${${1%%/*}}/${1#*/}\""; }

# What documents link to, as far as it lies beside them.
beside()
{
    for pair; do
        case $pair in *:docdir/*) printf '%s ' "${pair#*:docdir/}";; esac
    done
}

install_files()
{
    documents=$(beside "$@")
    for pair; do
        place=$(to "${pair##*:}")
        mode=644
        case $pair in */attn-cli:bindir/* | *.sh) mode=755;; esac
        install -D -m $mode /dev/null "$place"
        case $pair in
        *.md:docdir/*)
            awk -v at="${pair#*:docdir/}" -v there="$documents" -f data/packaging/links.awk "${pair%:*}" >"$place";;
        *) dd if="${pair%:*}" of="$place" bs=67108864 status=none;;     # in one piece, for file systems with huge pages
        esac
    done
    for link in libattn.so.0 libattn.so; do ln -sf "libattn.so.$version" "$(to libdir/$link)"; done
}

say_where()
{
    below=${DESTDIR-}
    printf 'installed attn-cli %s\n' "$version"
    printf '  %-12s %s\n' program "$below$bindir/attn-cli" \
        library "$below$libdir: libattn.so, libattn.a, pkgconfig/attn.pc" \
        headers "$below$includedir: attn.h, attn_ask.h, attn_tools.h" documents "$below$docdir" \
        models "$below$datadir/attn-cli/models" \
        'man page' "$below$datadir/man/man1/attn-cli.1" completions "$below$datadir, $below$fishdir"
    [ -z "$below" ] || return 0
    ldconfig 2>/dev/null || true
    case :$PATH: in *":$bindir:"*) return;; esac
    printf 'for this shell: export PATH="%s:$PATH" XDG_DATA_DIRS="%s:${XDG_DATA_DIRS:-/usr/local/share:/usr/share}"\n' \
        "$bindir" "$datadir"
}

# Of each path the folders above it, deepest first, up to prefix, as long as they are empty.
empty_folders()
{
    dir=$1
    while dir=${dir%/*}; do
        case $dir in
        "${DESTDIR-}$prefix" | "${DESTDIR-}$prefix"/*) rmdir "$dir" 2>/dev/null || return 0;;
        *) return 0;;
        esac
    done
}

uninstall_files()
{
    for pair in "$@" x:libdir/libattn.so.0 x:libdir/libattn.so; do
        place=$(to "${pair##*:}")
        rm -f "$place"
        empty_folders "$place"
    done
    printf 'removed attn-cli %s from %s\n' "$version" "${DESTDIR-}$prefix"
}

case $what in
install) install_files "$@"; say_where;;
uninstall) uninstall_files "$@";;
esac
